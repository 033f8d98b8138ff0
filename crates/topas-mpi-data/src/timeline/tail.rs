//! What is known of a thread behind its last event: of a rank that was killed, the call in which it was, or that it was
//! outside of MPI; and the time of which nothing is known.

use super::clock::RowClock;
use super::rows::TimelineRow;
use super::states::TimeClass;
use crate::trace::TraceProcess;

/// How exactly the kernel notes when a process ended: within so many ns.
const NOTED_WITHIN: u64 = 1_000_000_000;

/// Moments that are no further from each other are the same: both were rounded.
const ROUNDED: u64 = 1000;

/// A time behind the last event of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailPart {
    /// What the thread did
    pub class: TimeClass,
    /// When that began, in ns since the origin
    pub began: u64,
    /// When it ended
    pub ended: u64,
    /// The routine, of a call that did not end
    pub routine: Option<u16>,
}

impl TailPart {
    /// Its length in ns.
    pub const fn time(&self) -> u64 {
        self.ended - self.began
    }
}

/// The parts of the time behind the last event, one after the other.
struct Tail {
    parts: Vec<TailPart>,
    done: u64,
    /// When the run ended
    end: u64,
}

impl Tail {
    fn add(&mut self, class: TimeClass, until: u64, routine: Option<u16>) {
        let ended = until.min(self.end);
        if ended > self.done {
            self.parts.push(TailPart { class, began: self.done, ended, routine });
            self.done = ended;
        }
    }
}

/// What is known of a row behind its last event, in a run that ended at `run_ended`.
pub(super) fn tail_of(
    process: &TraceProcess,
    clock: &RowClock<'_>,
    row: &TimelineRow,
    run_ended: u64,
) -> Vec<TailPart> {
    let done = row.blocks.last().map_or_else(|| row.began(), |block| block.ended);
    let mut tail = Tail { parts: Vec::new(), done, end: run_ended };
    if let Some(until) = row.lost_until {
        tail.add(TimeClass::NotInLog, until, None);
    }
    if !process.is_unfinished() && row.inside.is_none() {
        return tail.parts;
    }
    let ended = process.facts.value("ended").parse().ok();
    let ended: Option<u64> = ended.map(|tick| clock.nanoseconds(tick));
    let between = match row.lost_until {
        Some(_) => TimeClass::NotInLog,
        None => row.class_between(),
    };
    match row.inside {
        Some((routine, began)) => {
            tail.add(between, began, None);
            let class = TimeClass::of_standing_routine(&process.routine(routine));
            tail.add(class, ended.unwrap_or(run_ended), Some(routine));
        }
        // Of several threads, the facts do not tell which one was in which call.
        None if process.threads().count() == 1 && process.facts.value("inside").is_empty() => {
            let latest = clock.nanoseconds(process.latest_moment().ticks);
            tail.add(between, ended.unwrap_or(latest), None);
        }
        None => {}
    }
    if process.was_lost() {
        let until = ended.map_or(run_ended, |ended| ended.saturating_add(NOTED_WITHIN));
        if until.min(run_ended) > tail.done.saturating_add(ROUNDED) {
            tail.add(TimeClass::NotInLog, until, None);
        }
    }
    tail.parts
}
