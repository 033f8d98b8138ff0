//! A log of many launches, 50 of them at a time, two lines each, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use topas_format::MAX_LINE;
use topas_format::civil::Civil;
use topas_format::escape::Name;
use topas_format::event::Metric;
use topas_format::field::{Lang, Lib, Mhz, Mode, Npes, Operations};
use topas_format::line::{Line, Writer};
use topas_format::number::{Count, Micros};

/// Launches that run at a time.
const RUNNING: usize = 50;

/// Random numbers, the same for the same seed (splitmix64).
pub struct Random(u64);

impl Random {
    /// Those of `seed`.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A line to come.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    /// µs since 1970-01-01
    end: u64,
    id: u64,
    pe: u32,
    npes: u32,
    wall: u64,
    upper: bool,
    program: u64,
}

/// Lines without end.
pub struct Log {
    random: Random,
    events: BinaryHeap<Reverse<Event>>,
    text: Vec<u8>,
}

impl Log {
    /// A log that begins on 1 November 2026.
    pub fn new(seed: u64) -> Self {
        let mut log = Log {
            random: Random::new(seed),
            events: BinaryHeap::new(),
            text: Vec::with_capacity(MAX_LINE),
        };
        for _ in 0..RUNNING {
            log.launch(1_793_491_200_000_000);
        }
        log
    }

    /// A launch: its two lines end within 3 s of each other.
    fn launch(&mut self, start: u64) {
        let random = &mut self.random;
        let npes = 4 << random.below(8);
        let pe = 1 + random.below(u64::from(npes) / 2 - 1) as u32;
        let upper_pe = npes / 2 + random.below(u64::from(npes) / 2 - 1) as u32;
        let magnitude = 14 + random.below(13);
        let wall = 10_000 + random.below(1 << magnitude);
        let id = random.next();
        let program = random.below(40) * random.below(40);
        for (upper, pe) in [(false, pe), (true, upper_pe)] {
            // Below a second clocks and ranks differ a little, in longer runs more.
            let wall = wall + random.below(wall.min(3_000_000) / 8 + 1);
            let end = start + wall;
            self.events.push(Reverse(Event { end, id, pe, npes, wall, upper, program }));
        }
    }

    /// The next line, with its newline.
    pub fn line(&mut self) -> &[u8] {
        let Some(Reverse(event)) = self.events.pop() else { return &[] };
        if self.events.len() < 2 * RUNNING - 1 {
            let pause = self.random.below(200_000);
            self.launch(event.end + pause);
        }
        self.write(&event);
        &self.text
    }

    fn write(&mut self, event: &Event) {
        let random = &mut self.random;
        let program = event.program;
        let (user, exe) = (format!("user{:03}", program % 211), format!("solver_{}", program * 7));
        let node = format!("node{:04}", event.id % 1200);
        let id = format!("{:016x}", event.id);
        // Some programs count nothing, as on machines whose counters are closed.
        let counted = program % 9 != 4;
        let rate = 1 + random.below(1 + program * 5);
        let count = if counted { Count::Exact(event.wall * rate) } else { Count::Missing };
        let metric = if event.upper { Metric::IntOps } else { Metric::FpOps };
        let when = Civil::from_seconds((event.end / 1_000_000) as i64);
        let line = Line {
            date: when.date,
            time: when.time,
            user: Name::new(user.as_bytes()),
            exe: Name::new(exe.as_bytes()),
            pe: event.pe,
            npes: Npes(Some(event.npes)),
            mhz: Mhz(Some(2596)),
            mode: if program.is_multiple_of(3) { Mode::Interactive } else { Mode::Batch },
            lang: [Lang::F90, Lang::C, Lang::Cxx, Lang::F90, Lang::F77][(program % 5) as usize],
            lib: [Lib::Mpi, Lib::Mpi, Lib::Mpi, Lib::Sma, Lib::None][(program / 5 % 5) as usize],
            user_time: Micros(event.wall / 1000 * 970),
            sys_time: Micros(event.wall / 1000 * 11),
            wall_time: Micros(event.wall),
            ops: Operations { metric, count },
            l1_miss: if counted { Count::Exact(event.wall * 3) } else { Count::Missing },
            id: Name::new(id.as_bytes()),
        };
        let mut buf = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buf, &line);
        writer.number(b"t", event.end / 1_000_000);
        writer.number(b"uid", 20_000 + program % 211);
        writer.name(b"host", node.as_bytes());
        writer.number(b"job", 1_000_000 + event.id % 4_000_000);
        writer.number(b"step", 0);
        writer.name(b"end", b"exit:0");
        if counted {
            writer.number(b"cyc", event.wall * 2596);
            writer.number(b"ins", event.wall * 3120);
        } else {
            writer.name(b"why", b"f:pmu,m:pmu");
        }
        writer.number(b"rss", 4096 * (20_000 + program * 100));
        self.text.clear();
        self.text.extend_from_slice(writer.finish().text());
    }
}
