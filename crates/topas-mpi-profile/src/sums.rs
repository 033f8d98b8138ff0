//! Sums of a rank, of a host's ranks, of all. Integers, so that they are exact and do not
//! depend on the order in which ranks are added.

use crate::layout::{
    BINS, Beside, Block, COUNTERS, FUNCTIONS, Header, Moment, ROW_MISSED, Row, WAITED, WaitTicks,
    Waits, flag,
};
use crate::routine::{SIZE_CLASSES, SizeClass, class, name};

/// The length of a tick, from two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickLength {
    ticks: u64,
    nanoseconds: u64,
}

impl TickLength {
    /// By what two clocks counted between two moments. All times are 0 if no tick went by.
    pub const fn between(from: &Moment, to: &Moment) -> TickLength {
        TickLength {
            ticks: to.ticks.saturating_sub(from.ticks),
            nanoseconds: to.monotonic.saturating_sub(from.monotonic),
        }
    }

    /// Of a mapped file: by its first and its latest moment.
    pub const fn of(header: &Header) -> TickLength {
        TickLength::between(&header.began, &header.latest)
    }

    /// Nanoseconds in ticks, rounded down; 0 if no time went by.
    pub const fn ticks_in(&self, nanoseconds: u64) -> u64 {
        if self.nanoseconds == 0 {
            return 0;
        }
        (nanoseconds as u128 * self.ticks as u128 / self.nanoseconds as u128) as u64
    }

    /// Ticks in nanoseconds, rounded down.
    pub const fn nanoseconds(&self, ticks: u64) -> u64 {
        if self.ticks == 0 {
            return 0;
        }
        (ticks as u128 * self.nanoseconds as u128 / self.ticks as u128) as u64
    }
}

/// One function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoutineSums {
    /// Calls
    pub calls: u128,
    /// Nanoseconds in them
    pub nanoseconds: u128,
    /// Nanoseconds of the longest
    pub longest: u64,
    /// Sum of count arguments
    pub count: u128,
    /// Messages sent, blocks put or written
    pub sends: u128,
    /// Bytes in them
    pub sent: u128,
    /// Messages received, blocks got or read
    pub receives: u128,
    /// Bytes in them
    pub received: u128,
    /// Ranks that called it
    pub ranks: u64,
    /// Bits of [`Beside::flags`]
    pub flags: u32,
}

/// Calls that waited for one kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitedSums {
    /// Calls
    pub calls: u128,
    /// Nanoseconds in them
    pub nanoseconds: u128,
}

/// Why calls of one function waited. What is left of its time is transfer and other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitSums {
    /// The sender was late
    pub late: WaitedSums,
    /// The receiver was late
    pub late_receiver: WaitedSums,
    /// Others came to the collective later
    pub collective: WaitedSums,
    /// The other side is on another node, or does not measure: not known
    pub elsewhere: WaitedSums,
    /// Not known for sure
    pub unsure: WaitedSums,
    /// Calls that were too short to look: at most so much of them were waits
    pub below: WaitedSums,
}

/// Figures of [`WaitSums`].
pub const WAIT_FIGURES: usize = 6;

impl WaitSums {
    /// All zero.
    pub const NONE: WaitSums = {
        const ZERO: WaitedSums = WaitedSums { calls: 0, nanoseconds: 0 };
        WaitSums {
            late: ZERO,
            late_receiver: ZERO,
            collective: ZERO,
            elsewhere: ZERO,
            unsure: ZERO,
            below: ZERO,
        }
    };

    /// All figures, in the order of lines.
    pub fn figures(&self) -> [&WaitedSums; WAIT_FIGURES] {
        let WaitSums { late, late_receiver, collective, elsewhere, unsure, below } = self;
        [late, late_receiver, collective, elsewhere, unsure, below]
    }

    /// The same, to be changed.
    pub fn figures_mut(&mut self) -> [&mut WaitedSums; WAIT_FIGURES] {
        let WaitSums { late, late_receiver, collective, elsewhere, unsure, below } = self;
        [late, late_receiver, collective, elsewhere, unsure, below]
    }

    /// Nanoseconds in which nothing happened but waiting for others.
    pub fn waited(&self) -> u128 {
        self.late.nanoseconds + self.late_receiver.nanoseconds + self.collective.nanoseconds
    }

    /// Nanoseconds of which it is not known whether they were waits.
    pub fn unknown(&self) -> u128 {
        self.elsewhere.nanoseconds + self.unsure.nanoseconds
    }

    /// Whether there is nothing to be told.
    pub fn is_empty(&self) -> bool {
        *self == WaitSums::NONE
    }

    /// Adds the same function of other ranks.
    pub fn merge(&mut self, other: &WaitSums) {
        for (to, from) in self.figures_mut().into_iter().zip(other.figures()) {
            to.calls += from.calls;
            to.nanoseconds += from.nanoseconds;
        }
    }
}

impl WaitedSums {
    /// Of ticks.
    pub fn of(ticks: &WaitTicks, tick: &TickLength) -> WaitedSums {
        WaitedSums { calls: ticks.calls.into(), nanoseconds: tick.nanoseconds(ticks.ticks).into() }
    }
}

/// Sums over ranks; of one rank, if it is the only one.
///
/// A rank is added by [`Sums::row`] and its like for each thread, then [`Sums::rank`]. That is
/// done into empty sums; more ranks are added by [`Sums::merge`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// Ranks
    pub ranks: u64,
    /// Nanoseconds from the entry of the first call of MPI to the end
    pub wall: u128,
    /// The longest of a rank
    pub wall_max: u64,
    /// Nanoseconds in calls, of all threads
    pub mpi: u128,
    /// The most of a rank
    pub mpi_max: u64,
    /// The least of a rank
    pub mpi_min: u64,
    /// The longest time of a rank that was outside of calls, in nanoseconds: without pauses, and
    /// by the thread that was in calls the longest
    pub outside_max: u64,
    /// Nanoseconds that the measurement took itself
    pub overhead: u128,
    /// Nanoseconds in which it was paused
    pub paused: u128,
    /// Nanoseconds of processor time of the processes since measuring began; 0 if that is not known
    pub processor: u128,
    /// How often they were interrupted in favour of others
    pub interruptions: u128,
    /// Most processors of a node; 0 if that is not known
    pub processors: u32,
    /// Most threads of a rank that called MPI
    pub threads: u64,
    /// Highest level of threads that was provided: 0 to 3
    pub level: u32,
    /// Bits of [`crate::layout::language`]
    pub languages: u32,
    /// Bits of [`flag`]
    pub flags: u64,
    /// Events in calls
    pub inside: [u128; COUNTERS],
    /// Events outside of calls
    pub outside: [u128; COUNTERS],
    /// By [`crate::layout::Waited`]
    pub waited: [WaitedSums; WAITED],
    /// By class, what was sent and what was received: messages by size
    pub sizes: [[[u128; BINS]; 2]; SIZE_CLASSES],
    /// By number of the function
    pub routines: [RoutineSums; FUNCTIONS],
    /// By number of the function
    pub waits: [WaitSums; FUNCTIONS],
}

impl Sums {
    /// Whether ranks have started processes.
    pub fn starts_worlds(&self) -> bool {
        let spawns = [&b"Comm_spawn"[..], b"Comm_spawn_multiple"];
        let mut called = self.routines.iter().enumerate().filter(|(_, routine)| routine.calls > 0);
        called.any(|(number, _)| spawns.contains(&name(number)))
    }

    /// Of no rank. All zero.
    pub const fn new() -> Sums {
        const NONE: RoutineSums = RoutineSums {
            calls: 0,
            nanoseconds: 0,
            longest: 0,
            count: 0,
            sends: 0,
            sent: 0,
            receives: 0,
            received: 0,
            ranks: 0,
            flags: 0,
        };
        Sums {
            ranks: 0,
            wall: 0,
            wall_max: 0,
            mpi: 0,
            mpi_max: 0,
            mpi_min: 0,
            outside_max: 0,
            overhead: 0,
            paused: 0,
            processor: 0,
            interruptions: 0,
            processors: 0,
            threads: 0,
            level: 0,
            languages: 0,
            flags: 0,
            inside: [0; COUNTERS],
            outside: [0; COUNTERS],
            waited: [WaitedSums { calls: 0, nanoseconds: 0 }; WAITED],
            sizes: [[[0; BINS]; 2]; SIZE_CLASSES],
            routines: [NONE; FUNCTIONS],
            waits: [WaitSums::NONE; FUNCTIONS],
        }
    }

    /// Makes it that of no rank. By parts, and without writing what is zero: a whole one on the
    /// stack would be large, and pages that are not there stay so.
    pub fn clear(&mut self) {
        (self.ranks, self.wall, self.wall_max) = (0, 0, 0);
        (self.mpi, self.mpi_max, self.mpi_min, self.outside_max) = (0, 0, 0, 0);
        (self.overhead, self.paused, self.threads) = (0, 0, 0);
        (self.processor, self.interruptions, self.processors) = (0, 0, 0);
        (self.level, self.languages, self.flags) = (0, 0, 0);
        self.inside.fill(0);
        self.outside.fill(0);
        self.waited.fill(WaitedSums::default());
        for bin in self.sizes.iter_mut().flatten().flatten() {
            if *bin != 0 {
                *bin = 0;
            }
        }
        for routine in &mut self.routines {
            if !routine.is_empty() {
                *routine = RoutineSums::default();
            }
        }
        for waits in &mut self.waits {
            if !waits.is_empty() {
                *waits = WaitSums::NONE;
            }
        }
    }

    /// A row of a thread: its nanoseconds.
    pub fn row(&mut self, function: usize, row: &Row, beside: &Beside, tick: &TickLength) -> u64 {
        let Some(to) = self.routines.get_mut(function) else {
            return 0;
        };
        let nanoseconds = tick.nanoseconds(row.ticks);
        to.calls += u128::from(row.calls);
        to.nanoseconds += u128::from(nanoseconds);
        to.longest = to.longest.max(tick.nanoseconds(row.longest));
        to.count += u128::from(row.count);
        to.sends += u128::from(row.sends);
        to.sent += u128::from(row.sent);
        to.receives += u128::from(row.receives);
        to.received += u128::from(row.received);
        to.flags |= beside.flags;
        self.mpi += u128::from(nanoseconds);
        nanoseconds
    }

    /// Sizes of messages of a function: what was sent, or received.
    pub fn sizes(&mut self, class: SizeClass, received: bool, bins: &[u64; BINS]) {
        let to = self.sizes.get_mut(class as usize).and_then(|c| c.get_mut(usize::from(received)));
        for (to, bin) in to.into_iter().flatten().zip(bins) {
            if *bin != 0 {
                *to += u128::from(*bin);
            }
        }
    }

    /// All that a thread counted; nanoseconds of its calls.
    pub fn thread(&mut self, block: &Block, tick: &TickLength) -> u64 {
        let mut inside = 0;
        let rows = block.rows.iter().zip(&block.beside);
        for (number, (row, beside)) in rows.enumerate() {
            if row.calls == 0 && row.sends == 0 && row.receives == 0 && beside.flags == 0 {
                continue;
            }
            inside += self.row(number, row, beside, tick);
            let Some(class) = class(number) else {
                continue;
            };
            for (received, which) in [(false, beside.sent), (true, beside.received)] {
                if let Some(bins) = histogram(block, which) {
                    self.sizes(class, received, bins);
                }
            }
        }
        for (to, from) in self.waited.iter_mut().zip(&block.waiting) {
            to.calls += u128::from(from.calls);
            to.nanoseconds += u128::from(tick.nanoseconds(from.ticks));
        }
        for (to, from) in self.inside.iter_mut().zip(&block.counted) {
            *to += u128::from(*from);
        }
        for (to, from) in self.outside.iter_mut().zip(&block.outside) {
            *to += u128::from(*from);
        }
        self.threads += 1;
        inside
    }

    /// Why the rank waited.
    pub fn wait_rows(&mut self, waits: &Waits, tick: &TickLength) {
        for (function, to) in self.waits.iter_mut().enumerate() {
            let Some(row) = waits.row(function) else { continue };
            *to = WaitSums {
                late: WaitedSums::of(&row.late, tick),
                late_receiver: WaitedSums::of(&row.late_receiver, tick),
                collective: WaitedSums::of(&row.collective, tick),
                elsewhere: WaitedSums::of(&row.elsewhere, tick),
                unsure: WaitedSums::of(&row.unsure, tick),
                below: WaitedSums::of(&row.below, tick),
            };
        }
    }

    /// Why calls of all functions waited.
    pub fn all_waits(&self) -> WaitSums {
        let mut all = WaitSums::NONE;
        self.waits.iter().for_each(|waits| all.merge(waits));
        all
    }

    /// After all of its threads: what else is known of the rank. `busiest` are the nanoseconds in
    /// calls of the thread that has most of them, `end` is the tick at which measuring ended.
    pub fn rank(&mut self, header: &Header, end: u64, busiest: u64, tick: &TickLength) {
        self.ranks = 1;
        let since = |from: u64| end.saturating_sub(from);
        let wall = tick.nanoseconds(since(header.began.ticks));
        let mut paused = header.paused;
        if header.paused_since != 0 {
            paused = paused.saturating_add(since(header.paused_since));
        }
        let paused = tick.nanoseconds(paused);
        let mut calls = 0;
        for routine in &mut self.routines {
            // What is zero is not written: it may be in a page that is not there.
            if routine.calls > 0 {
                routine.ranks = 1;
            }
            calls += routine.calls;
            if routine.flags & ROW_MISSED != 0 {
                self.flags |= flag::ROWS_MISSED;
            }
        }
        self.wall = wall.into();
        self.wall_max = wall;
        self.mpi_max = u64::try_from(self.mpi).unwrap_or(u64::MAX);
        self.mpi_min = self.mpi_max;
        self.outside_max = wall.saturating_sub(paused).saturating_sub(busiest);
        let of_calls = calls.saturating_mul(header.call_cost.into()) / 256;
        let own = u128::from(header.own_ticks) + of_calls;
        self.overhead = tick.nanoseconds(u64::try_from(own).unwrap_or(u64::MAX)).into();
        self.paused = paused.into();
        self.level = header.level;
        self.languages |= header.languages;
        self.flags |= header.flags;
    }

    /// Adds other ranks.
    pub fn merge(&mut self, other: &Sums) {
        if other.ranks == 0 {
            return;
        }
        self.mpi_min =
            if self.ranks == 0 { other.mpi_min } else { self.mpi_min.min(other.mpi_min) };
        self.ranks += other.ranks;
        self.wall += other.wall;
        self.wall_max = self.wall_max.max(other.wall_max);
        self.mpi += other.mpi;
        self.mpi_max = self.mpi_max.max(other.mpi_max);
        self.outside_max = self.outside_max.max(other.outside_max);
        self.overhead += other.overhead;
        self.paused += other.paused;
        self.processor += other.processor;
        self.interruptions += other.interruptions;
        self.processors = self.processors.max(other.processors);
        self.threads = self.threads.max(other.threads);
        self.level = self.level.max(other.level);
        self.languages |= other.languages;
        self.flags |= other.flags;
        add(&mut self.inside, &other.inside);
        add(&mut self.outside, &other.outside);
        for (to, from) in self.waited.iter_mut().zip(&other.waited) {
            to.calls += from.calls;
            to.nanoseconds += from.nanoseconds;
        }
        for (to, from) in self.sizes.iter_mut().flatten().zip(other.sizes.iter().flatten()) {
            add(to, from);
        }
        for (to, from) in self.routines.iter_mut().zip(&other.routines) {
            if !from.is_empty() {
                to.merge(from);
            }
        }
        for (to, from) in self.waits.iter_mut().zip(&other.waits) {
            if !from.is_empty() {
                to.merge(from);
            }
        }
    }
}

impl Default for Sums {
    fn default() -> Self {
        Sums::new()
    }
}

impl RoutineSums {
    /// Whether there is nothing to be told.
    pub fn is_empty(&self) -> bool {
        *self == RoutineSums::default()
    }

    /// Adds the same function of other ranks.
    pub fn merge(&mut self, other: &RoutineSums) {
        self.calls += other.calls;
        self.nanoseconds += other.nanoseconds;
        self.longest = self.longest.max(other.longest);
        self.count += other.count;
        self.sends += other.sends;
        self.sent += other.sent;
        self.receives += other.receives;
        self.received += other.received;
        self.ranks += other.ranks;
        self.flags |= other.flags;
    }
}

/// The histogram with a number plus 1, if there is one.
pub fn histogram(block: &Block, number: u16) -> Option<&[u64; BINS]> {
    block.sizes.get(usize::from(number).checked_sub(1)?)
}

fn add<const N: usize>(to: &mut [u128; N], from: &[u128; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        if *from != 0 {
            *to += from;
        }
    }
}
