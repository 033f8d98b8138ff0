//! How ticks are told in nanoseconds: by one process for all of its host.
//!
//! A process reads ticks and clock one after the other, and may be interrupted in between. Told by moments
//! of its own, its calls would lie some microseconds, seldom milliseconds, beside those of others, and
//! messages would seem to arrive before they were sent. The processes of a host count the same ticks.

use std::collections::BTreeMap;

use topas_mpi_profile::layout::Moment;
use topas_mpi_profile::sums::TickLength;

use super::TraceProcess;

/// Processes of hosts that only have the same name count other ticks. So far the moments of processes of
/// one host may be apart, in ns.
const SAME_HOST: u64 = 10_000_000;

/// Two moments by which ticks are told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostTicks {
    pub(crate) first: Moment,
    pub(crate) latest: Moment,
}

impl HostTicks {
    /// Whether they are two.
    pub(crate) const fn are_known(&self) -> bool {
        self.latest.ticks > self.first.ticks && self.latest.monotonic > self.first.monotonic
    }

    const fn span(&self) -> u64 {
        self.latest.ticks.saturating_sub(self.first.ticks)
    }

    /// The length of a tick in ns; 1 if that is not known.
    pub(crate) fn length(&self) -> f64 {
        if !self.are_known() {
            return 1.0;
        }
        (self.latest.monotonic - self.first.monotonic) as f64 / self.span() as f64
    }

    /// A tick in ns of the monotonic clock of the host; the tick itself if that is not known.
    pub(crate) const fn nanoseconds(&self, tick: u64) -> u64 {
        if !self.are_known() {
            return tick;
        }
        let length = TickLength::between(&self.first, &self.latest);
        let since = length.nanoseconds(tick.saturating_sub(self.first.ticks));
        let before = length.nanoseconds(self.first.ticks.saturating_sub(tick));
        self.first.monotonic.saturating_add(since).saturating_sub(before)
    }
}

/// Tells the ticks of the processes of a host by the two moments that are the furthest apart.
pub(super) fn share(processes: &mut [TraceProcess]) {
    let mut hosts: BTreeMap<String, HostTicks> = BTreeMap::new();
    for process in &mut *processes {
        process.ticks = HostTicks { first: process.facts.began, latest: process.facts.latest };
        let host = process.facts.value("host");
        if process.ticks.are_known() && !host.is_empty() {
            let longest = hosts.entry(host.to_owned()).or_insert(process.ticks);
            if process.ticks.span() > longest.span() {
                *longest = process.ticks;
            }
        }
    }
    for process in processes {
        let Some(shared) = hosts.get(process.facts.value("host")) else { continue };
        let own = process.facts.began;
        if shared.nanoseconds(own.ticks).abs_diff(own.monotonic) <= SAME_HOST {
            process.ticks = *shared;
        }
    }
}
