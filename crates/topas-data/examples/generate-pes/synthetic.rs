//! The lines of all PEs of a launch, with an imbalance put in.
//!
//! A PE has work and a speed; it is busy for one by the other. A program that synchronises
//! ends everywhere when its last PE is done, and the others sleep until then.

use topas_format::MAX_LINE;
use topas_format::civil::Civil;
use topas_format::escape::Name;
use topas_format::event::Metric;
use topas_format::field::{Lang, Lib, Mhz, Mode, Npes, Operations};
use topas_format::line::{Line, Writer};
use topas_format::number::{Count, Micros};

/// Who is slower, or has more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imbalance {
    /// Nobody
    None,
    /// One PE is slower
    SlowPe(u32),
    /// All PEs of a host are slower
    SlowHost(u32),
    /// All PEs on a NUMA node of every host are slower
    SlowNuma(u32),
    /// Every PE with an odd number is slower
    TwoSpeeds,
    /// One PE has more work
    MoreWork(u32),
}

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Launch id
    pub id: String,
    /// Seconds since 1970-01-01 at which it ended
    pub end: u64,
    /// Number of PEs
    pub pes: u32,
    /// PEs of a host
    pub per_host: u32,
    /// NUMA nodes of a host
    pub numa: u32,
    /// Time an undisturbed PE is busy in µs
    pub busy: u64,
    /// Standard deviation of the speeds as a share of it
    pub noise: f64,
    /// Share by which the imbalance slows, or adds work
    pub effect: f64,
    /// The imbalance
    pub imbalance: Imbalance,
    /// Whether all PEs end together
    pub synchronised: bool,
    /// Whether counters were to be had
    pub counted: bool,
    /// Seed of the noise
    pub seed: u64,
}

impl Default for Launch {
    fn default() -> Self {
        Launch {
            id: "5c3a-7".to_owned(),
            end: 1_795_161_662,
            pes: 64,
            per_host: 8,
            numa: 2,
            busy: 40_000_000,
            noise: 0.01,
            effect: 0.3,
            imbalance: Imbalance::None,
            synchronised: true,
            counted: true,
            seed: 1,
        }
    }
}

/// Random numbers, the same for the same seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normally distributed with mean 0 and standard deviation 1 (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// What a PE did.
struct Busy {
    busy: u64,
    wall: u64,
    operations: u64,
}

impl Launch {
    /// All lines, each with its newline, by PE.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.pes as usize * 280);
        self.each(|line| text.extend_from_slice(line));
        text
    }

    /// Gives each line, with its newline.
    pub fn each(&self, mut line: impl FnMut(&[u8])) {
        let mut random = Random(self.seed);
        let busy: Vec<(f64, f64)> =
            (0..self.pes).map(|pe| self.busy_time(pe, &mut random)).collect();
        let last = busy.iter().map(|(busy, _)| *busy).fold(0.0, f64::max);
        for (pe, (busy, work)) in (0..).zip(busy) {
            // Processes do not start in the same moment.
            let wall = if self.synchronised { last } else { busy } + random.unit() * 2000.0;
            let did = Busy { busy: busy as u64, wall: wall as u64, operations: work as u64 };
            self.write(pe, &did, &mut line);
        }
    }

    /// Time in µs that a PE is busy, and its operations.
    fn busy_time(&self, pe: u32, random: &mut Random) -> (f64, f64) {
        let is_slow = match self.imbalance {
            Imbalance::None | Imbalance::MoreWork(_) => false,
            Imbalance::SlowPe(slow) => pe == slow,
            Imbalance::SlowHost(host) => pe / self.per_host == host,
            Imbalance::SlowNuma(node) => self.node(pe) == node,
            Imbalance::TwoSpeeds => pe % 2 == 1,
        };
        let more = if self.imbalance == Imbalance::MoreWork(pe) { 1.0 + self.effect } else { 1.0 };
        let slower = if is_slow { 1.0 + self.effect } else { 1.0 };
        // 96 operations per µs; half of the noise is in the work.
        let work = self.busy as f64 * 96.0 * more * (1.0 + self.noise / 2.0 * random.normal());
        (work / 96.0 * slower * (1.0 + self.noise * random.normal()), work)
    }

    fn node(&self, pe: u32) -> u32 {
        pe % self.per_host * self.numa / self.per_host
    }

    fn write(&self, pe: u32, did: &Busy, line: &mut impl FnMut(&[u8])) {
        let when = Civil::from_seconds(self.end as i64);
        let count = |n: u64| if self.counted { Count::Exact(n) } else { Count::Missing };
        let tokens = Line {
            date: when.date,
            time: when.time,
            user: Name::new(b"mohr"),
            exe: Name::new(b"cpmd"),
            pe,
            npes: Npes(Some(self.pes)),
            mhz: Mhz(Some(2596)),
            mode: Mode::Batch,
            lang: Lang::F90,
            lib: Lib::Mpi,
            user_time: Micros(did.busy / 100 * 97),
            sys_time: Micros(did.busy / 100 * 3),
            wall_time: Micros(did.wall),
            ops: Operations { metric: Metric::FpOps, count: count(did.operations) },
            l1_miss: count(did.operations / 37),
            id: Name::new(self.id.as_bytes()),
        };
        let mut buf = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buf, &tokens);
        writer.number(b"t", self.end);
        writer.number(b"uid", 20_017);
        writer.name(b"host", format!("node{:04}", pe / self.per_host).as_bytes());
        writer.number(b"job", 4_711_042);
        writer.name(b"end", b"exit:0");
        writer.number(b"cpu", u64::from(pe % self.per_host));
        writer.number(b"numa", self.node(pe).into());
        if self.counted {
            writer.number(b"cyc", did.busy / 100 * 97 * 2596);
            writer.number(b"ins", did.operations * 30);
        } else {
            writer.name(b"why", b"f:pmu,m:pmu");
        }
        writer.number(b"rss", 4096 * (120_000 + u64::from(pe % 7) * 100));
        line(writer.finish().text());
    }
}
