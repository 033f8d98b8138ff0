//! The log of a center as it might be: three partitions bought in different years, a few codes
//! that take most of the time, users of whom most do little, rates about log-normal.

use topas_format::MAX_LINE;
use topas_format::civil::Civil;
use topas_format::escape::Name;
use topas_format::event::Metric;
use topas_format::field::{Lang, Lib, Mhz, Mode, Npes, Operations};
use topas_format::line::{Line, Writer};
use topas_format::number::{Count, Micros};

use crate::synthetic::Random;

/// A time in s since 1970-01-01.
#[derive(Clone, Copy)]
pub struct Span {
    pub begin: u64,
    pub length: u64,
}

/// 92 days from 1 August 2026 on.
const SUMMER: Span = Span { begin: 1_785_542_400, length: 92 * 86_400 };

/// Longest run that the batch system allows, in µs.
const LIMIT: f64 = 86_400e6;

/// Processors of one kind.
struct Partition {
    name: &'static str,
    mhz: u32,
    cores: u32,
    nodes: u64,
    /// What codes reach on it, in MFlop/s per PE
    rate: f64,
    weight: u64,
}

const PARTITIONS: [Partition; 3] = [
    Partition { name: "cpu19", mhz: 2400, cores: 48, nodes: 620, rate: 260.0, weight: 46 },
    Partition { name: "cpu21", mhz: 2250, cores: 128, nodes: 310, rate: 480.0, weight: 33 },
    Partition { name: "cpu24", mhz: 3100, cores: 96, nodes: 220, rate: 900.0, weight: 21 },
];

/// A program, and how it is used.
pub struct Code {
    pub exe: &'static str,
    pub lang: Lang,
    lib: Lib,
    cc: &'static str,
    pub mpi: &'static str,
    /// Share of the partition's rate that it reaches
    speed: f64,
    /// Power of two of its usual number of PEs
    size: u64,
    /// Usual time in minutes
    minutes: f64,
    users: u64,
    weight: u64,
}

/// The columns of the table below in the order of [`Code`].
type Row = (&'static str, Lang, Lib, &'static str, &'static str, f64, u64, f64, u64, u64);

const GCC: &str = "GCC:_(GNU)_12.3.0";
const IFX: &str =
    "Intel(R)_Fortran_Compiler_for_applications_running_on_Intel(R)_64,_Version_2024.1.0";
const CLANG: &str = "clang_version_17.0.6";
const OPEN_MPI: &str = "Open_MPI_v4.1.6";
const MPICH: &str = "MPICH_Version:4.1.2";
const INTEL: &str = "Intel(R)_MPI_Library_2021.12";

#[rustfmt::skip]
const CODES: [Row; 16] = [
    ("climate_atm", Lang::F90, Lib::Mpi, IFX, INTEL, 0.80, 8, 150.0, 9, 80),
    ("ocean3", Lang::F90, Lib::Mpi, GCC, OPEN_MPI, 0.55, 8, 120.0, 7, 60),
    ("carpar", Lang::F90, Lib::Mpi, IFX, INTEL, 1.55, 7, 95.0, 21, 120),
    ("qcd_hmc", Lang::C, Lib::Mpi, GCC, OPEN_MPI, 1.90, 8, 110.0, 6, 60),
    ("md_bio", Lang::Cxx, Lib::Mpi, CLANG, OPEN_MPI, 1.25, 7, 100.0, 26, 140),
    ("cfd_les", Lang::F90, Lib::Mpi, GCC, MPICH, 0.45, 8, 80.0, 14, 80),
    ("fem_solve", Lang::Cxx, Lib::Mpi, GCC, OPEN_MPI, 0.22, 6, 75.0, 18, 100),
    ("nbody_tree", Lang::C, Lib::Sma, GCC, OPEN_MPI, 0.70, 8, 120.0, 4, 45),
    ("pic2d", Lang::F90, Lib::Mpi, IFX, INTEL, 0.38, 8, 100.0, 5, 40),
    ("lattice", Lang::Cxx, Lib::Mpi, CLANG, MPICH, 0.95, 7, 90.0, 8, 50),
    ("seismic", Lang::F77, Lib::Mpi, GCC, OPEN_MPI, 0.60, 7, 95.0, 3, 25),
    ("ensemble", Lang::F90, Lib::None, GCC, "-", 0.30, 6, 70.0, 12, 60),
    ("scf_dft", Lang::F90, Lib::Mpi, IFX, INTEL, 1.35, 6, 95.0, 19, 110),
    ("graph_bfs", Lang::C, Lib::Mpi, GCC, MPICH, 0.02, 7, 12.0, 5, 30),
    ("train_net", Lang::Cxx, Lib::Mpi, GCC, OPEN_MPI, 2.40, 5, 150.0, 9, 35),
    ("a.out", Lang::F90, Lib::Mpi, GCC, OPEN_MPI, 0.35, 4, 4.0, 60, 190),
];

/// A run that ended.
pub struct Run {
    /// µs since 1970-01-01
    pub end: u64,
    pub id: u64,
    pub user: u64,
    partition: usize,
    pub code: Code,
    pub npes: u32,
    /// µs
    pub wall: u64,
    /// Operations per µs and PE
    pub rate: f64,
    counted: bool,
    batch: bool,
    pub how: &'static str,
}

/// Lines of `runs` runs, two each, in order of time.
pub fn lines(runs: u64, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut lines = Vec::new();
    for number in 0..runs {
        let run = Run::new(&mut random, number, SUMMER);
        // Ranks end within some tenths of a second.
        for (upper, later) in [(false, 0), (true, random.below(300_000))] {
            lines.push((run.end + later, run.line(&mut random, upper, later)));
        }
    }
    lines.sort_by_key(|(end, _)| *end);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// From 0 to below 1.
pub fn unit(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1u64 << 53) as f64
}

/// Normally distributed with mean 0 and standard deviation 1, nearly: the sum of twelve.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| unit(random)).sum::<f64>() - 6.0
}

/// The index of a weight, as often as it is large.
fn choose(random: &mut Random, weights: impl Iterator<Item = u64> + Clone) -> usize {
    let mut at = random.below(weights.clone().sum());
    weights
        .into_iter()
        .take_while(|&weight| {
            let beyond = at >= weight;
            at = at.saturating_sub(weight);
            beyond
        })
        .count()
}

/// A second in which somebody starts something: more by day, less at weekends.
fn start(random: &mut Random, span: Span) -> u64 {
    loop {
        let second = span.begin + random.below(span.length);
        // 1970 began on a Thursday.
        let (day, hour) = ((second / 86_400 + 3) % 7, second / 3600 % 24);
        let weekend = if day >= 5 { 0.45 } else { 1.0 };
        let daytime = if (8..19).contains(&hour) { 1.0 } else { 0.4 };
        if unit(random) < weekend * daytime {
            return second;
        }
    }
}

impl Run {
    /// Run of this number in a time.
    pub fn new(random: &mut Random, number: u64, span: Span) -> Self {
        let partition = choose(random, PARTITIONS.iter().map(|p| p.weight));
        let row = CODES[choose(random, CODES.iter().map(|row| row.9))];
        let (exe, lang, lib, cc, mpi, speed, size, minutes, users, weight) = row;
        let code = Code { exe, lang, lib, cc, mpi, speed, size, minutes, users, weight };
        // Of the users of a code the first do most.
        let user = ((unit(random) * unit(random) * code.users as f64) as u64) * 16
            + code.weight % 16
            + code.size;
        let spread = random.below(5);
        let npes = 1u32 << (code.size + spread).saturating_sub(2).clamp(2, 12);
        let mut wall = code.minutes * 60e6 * (1.1 * normal(random)).exp();
        let mut how = match random.below(100) {
            0..=4 => "exit:1",
            5..=6 => "sig:11",
            7 => "sig:6",
            _ => "exit:0",
        };
        if how != "exit:0" {
            wall *= 0.1;
        }
        if wall > LIMIT {
            (wall, how) = (LIMIT, "sig:15");
        }
        let rate = PARTITIONS[partition].rate * code.speed * (0.45 * normal(random)).exp();
        let wall = wall.max(200_000.0) as u64;
        let end = loop {
            let end = start(random, span) * 1_000_000 + wall;
            if end < (span.begin + span.length) * 1_000_000 {
                break end;
            }
        };
        Run {
            end,
            id: (number << 20) ^ 0x5eed_0000_0000,
            user,
            partition,
            npes,
            wall,
            // Half of what two units of four doubles do in a cycle is out of reach.
            rate: rate.min(f64::from(PARTITIONS[partition].mhz) * 8.0),
            counted: random.below(100) >= 4,
            batch: code.size > 4 || random.below(3) > 0,
            how,
            code,
        }
    }

    /// The line of one of two PEs, so many µs later.
    pub fn line(&self, random: &mut Random, upper: bool, later: u64) -> Vec<u8> {
        let Run { code, npes, .. } = self;
        let partition = &PARTITIONS[self.partition];
        let half = u64::from(npes / 2);
        let pe =
            if upper { half + random.below(half - 1) } else { 1 + random.below(half - 1) } as u32;
        let wall = self.wall + later;
        let noise = 1.0 + 0.02 * normal(random);
        let per_us = if upper { 900.0 } else { self.rate } * noise;
        let count =
            if self.counted { Count::Exact((per_us * wall as f64) as u64) } else { Count::Missing };
        let misses = match self.counted {
            true => Count::Exact((wall as f64 * 4.0 / (0.4 + code.speed) * noise) as u64),
            false => Count::Missing,
        };
        let busy = (wall as f64 * (0.985 - 0.02 * unit(random))) as u64;
        let node = (self.id >> 20) % partition.nodes;
        let host = format!("{}-{:03}", partition.name, node + u64::from(pe / partition.cores));
        let (user, id) = (format!("u{:04}", self.user), format!("{:x}", self.id));
        let end = self.end + later;
        let when = Civil::from_seconds((end / 1_000_000) as i64);
        let line = Line {
            date: when.date,
            time: when.time,
            user: Name::new(user.as_bytes()),
            exe: Name::new(code.exe.as_bytes()),
            pe,
            npes: Npes(Some(*npes)),
            mhz: Mhz(Some(partition.mhz)),
            mode: if self.batch { Mode::Batch } else { Mode::Interactive },
            lang: code.lang,
            lib: code.lib,
            user_time: Micros(busy),
            sys_time: Micros(busy / 90),
            wall_time: Micros(wall),
            ops: Operations { metric: if upper { Metric::IntOps } else { Metric::FpOps }, count },
            l1_miss: misses,
            id: Name::new(id.as_bytes()),
        };
        let mut buf = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buf, &line);
        writer.number(b"t", end / 1_000_000);
        writer.number(b"uid", 20_000 + self.user);
        writer.name(b"host", host.as_bytes());
        writer.name(b"part", partition.name.as_bytes());
        writer.number(b"job", 4_000_000 + (self.id >> 20));
        writer.number(b"step", 0);
        writer.name(b"end", self.how.as_bytes());
        writer.name(b"cc", code.cc.as_bytes());
        if code.mpi != "-" {
            writer.name(b"mpi", code.mpi.as_bytes());
        }
        if self.counted {
            writer.number(b"cyc", busy * u64::from(partition.mhz));
            writer.number(b"ins", (busy as f64 * f64::from(partition.mhz) * noise * 1.3) as u64);
        } else {
            writer.name(b"why", b"f:pmu,m:pmu");
        }
        writer.number(b"rss", 4096 * (30_000 + 20_000 * code.size));
        writer.finish().text().to_vec()
    }
}
