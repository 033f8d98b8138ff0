//! One time for the processes of all hosts.

use std::collections::BTreeMap;

use topas_mpi_profile::facts::HostClock;

use crate::trace::{HostTicks, TraceProcess};

/// The latest moment that is told, in ns: 104 days. Scripts have no larger integers, and a damaged log
/// may tell of any time.
const LATEST: u64 = 1 << 53;

/// Parts of a drift that is told in 1e-9.
const BILLION: i128 = 1_000_000_000;

/// The time of a process: nanoseconds since the first call of the first rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowClock<'l> {
    /// The process by whose moments ticks are told; None if no moments are known
    told_by: Option<&'l TraceProcess>,
    /// What is added to the clock of the host
    offset: i128,
    /// Nanoseconds in a tick as a fraction of 2^60, to divide once and not for each call; None if it is
    /// 16 ns or longer
    scale: Option<u64>,
}

/// The binary digits of [`RowClock::scale`] behind the point.
const SCALE_DIGITS: u32 = 60;

impl RowClock<'_> {
    /// A tick in nanoseconds since the origin; 0 before the origin.
    pub(super) fn nanoseconds(&self, tick: u64) -> u64 {
        u64::try_from(self.since_origin(tick).max(0)).unwrap_or(LATEST).min(LATEST)
    }

    /// The same, negative before the origin.
    fn since_origin(&self, tick: u64) -> i128 {
        let own = self.told_by.map_or(tick, |process| self.of_host(process, tick));
        i128::from(own) + self.offset
    }
}

impl<'l> RowClock<'l> {
    fn new(told_by: Option<&'l TraceProcess>, offset: i128, drift: i64) -> RowClock<'l> {
        let scale = told_by.and_then(|process| {
            let HostTicks { first, latest } = process.ticks;
            let length = u128::from(latest.monotonic.checked_sub(first.monotonic)?) << SCALE_DIGITS;
            let scale = length.checked_div(latest.ticks.checked_sub(first.ticks)?.into())?;
            // A log may tell of any drift: no product of two numbers of 64 bits is too large.
            let scale = i128::from(u64::try_from(scale).ok()?);
            (scale - scale * i128::from(drift) / BILLION).try_into().ok()
        });
        RowClock { told_by, offset, scale }
    }

    /// A tick in ns of the clock of the host, at most 1 ns less than [`TraceProcess::nanoseconds`].
    fn of_host(&self, process: &TraceProcess, tick: u64) -> u64 {
        let first = process.ticks.first;
        match (self.scale, tick.checked_sub(first.ticks)) {
            (Some(scale), Some(since)) => {
                let since = (u128::from(since) * u128::from(scale)) >> SCALE_DIGITS;
                first.monotonic.saturating_add(u64::try_from(since).unwrap_or(u64::MAX))
            }
            _ => process.nanoseconds(tick),
        }
    }
}

/// How the clocks of the hosts of a run are put beside each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostClocks {
    /// There is one host
    #[default]
    One,
    /// By their time of day, which is as good as the hosts keep it
    TimeOfDay,
    /// As the ranks have compared them at the end
    Compared {
        /// How far they may be from the truth, in nanoseconds
        error: u64,
    },
}

impl HostClocks {
    /// What both ways together are worth.
    pub(super) fn or_worse(self, other: HostClocks) -> HostClocks {
        use HostClocks::{Compared, One, TimeOfDay};
        match (self, other) {
            (TimeOfDay, _) | (_, TimeOfDay) => TimeOfDay,
            (Compared { error: a }, Compared { error: b }) => Compared { error: a.max(b) },
            (Compared { error }, One) | (One, Compared { error }) => Compared { error },
            (One, One) => One,
        }
    }

    /// How much later than its arrival a message may seem to be sent, in nanoseconds.
    pub(super) fn tolerance(self) -> u64 {
        const OF_A_HOST: u64 = 1000;
        const OF_TIME_OF_DAY: u64 = 1_000_000;
        match self {
            HostClocks::One => OF_A_HOST,
            HostClocks::TimeOfDay => OF_TIME_OF_DAY,
            // Either side may be wrong.
            HostClocks::Compared { error } => error.min(LATEST) * 2 + OF_A_HOST,
        }
    }
}

/// Puts the clocks of the processes of a world beside those of other worlds: by a host on which both have processes, else
/// by the time of day.
pub(super) fn put_beside(
    known: &[(&TraceProcess, RowClock<'_>)],
    own: &[&TraceProcess],
    clocks: &mut [RowClock<'_>],
) -> HostClocks {
    let host = |process: &TraceProcess| process.facts.value("host").to_owned();
    let clocked = || own.iter().zip(clocks.iter()).filter(|(process, _)| process.has_clock());
    let on_host = |name: String| {
        known.iter().find(|(process, _)| process.has_clock() && host(process) == name)
    };
    let shared =
        clocked().find_map(|(process, clock)| Some((process, clock, on_host(host(process))?)));
    let (later, kind) = if let Some((process, clock, (_, beside))) = shared {
        // The processes of a host count the same ticks.
        let tick = process.first_moment().ticks;
        (beside.since_origin(tick) - clock.since_origin(tick), HostClocks::One)
    } else {
        let ahead = |process: &TraceProcess, clock: &RowClock<'_>| {
            let first = process.first_moment();
            i128::from(first.realtime) - clock.since_origin(first.ticks)
        };
        let first = known.iter().find(|(process, _)| process.has_clock());
        let (Some((process, clock)), Some((other, beside))) = (clocked().next(), first) else {
            return HostClocks::One;
        };
        (ahead(process, clock) - ahead(other, beside), HostClocks::TimeOfDay)
    };
    for clock in clocks {
        clock.offset += later;
    }
    kind
}

/// The clock of each process, and how hosts were put beside each other. Their monotonic clocks begin
/// with their starts, so that without a comparison the time of day is all that two hosts have in common.
pub(super) fn clocks<'l>(processes: &[&'l TraceProcess]) -> (Vec<RowClock<'l>>, HostClocks) {
    let clocked = || processes.iter().copied().filter(|process| process.has_clock());
    let mut hosts: BTreeMap<&str, Vec<i128>> = BTreeMap::new();
    for process in clocked() {
        let first = process.first_moment();
        let ahead = i128::from(first.realtime) - i128::from(first.monotonic);
        hosts.entry(process.facts.value("host")).or_default().push(ahead);
    }
    for ahead in hosts.values_mut() {
        ahead.sort_unstable();
    }
    let compared: Option<Vec<HostClock>> = clocked().map(TraceProcess::host_clock).collect();
    let kind = match compared.as_ref().and_then(|all| all.iter().map(|one| one.error).max()) {
        _ if hosts.len() <= 1 => HostClocks::One,
        Some(error) => HostClocks::Compared { error },
        None => HostClocks::TimeOfDay,
    };
    // What is added to the clock of a host, and how much faster it runs.
    let differs = |process: &TraceProcess| match (kind, process.host_clock()) {
        (HostClocks::One, _) => (0, 0),
        (HostClocks::Compared { .. }, Some(HostClock { ahead, drift, .. })) => {
            let HostTicks { first, latest } = process.ticks;
            let length = i128::from(latest.monotonic) - i128::from(first.monotonic);
            (i128::from(ahead) + length * i128::from(drift) / BILLION, drift)
        }
        _ => {
            let all = hosts.get(process.facts.value("host"));
            (all.and_then(|all| all.get(all.len() / 2)).copied().unwrap_or(0), 0)
        }
    };
    let began = |process: &TraceProcess| i128::from(process.began()) + differs(process).0;
    let origin = clocked().map(began).min().unwrap_or(0);
    let clock = |process: &&'l TraceProcess| {
        // The processes of a host count the same ticks.
        let donor = if process.has_clock() { Some(*process) } else { clocked().next() };
        let (offset, drift) = donor.map_or((0, 0), differs);
        RowClock::new(donor, donor.map_or(0, |_| offset - origin), drift)
    };
    (processes.iter().map(clock).collect(), kind)
}
