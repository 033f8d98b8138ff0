//! What the page says of times of which the log tells little: calls that were overwritten, and the ends of ranks that
//! were killed.

use topas_mpi_data::{TimeClass, Timeline, TimelineRow};

use super::words::{name, percent, rank_name, seconds, sum};
use crate::wording::count;

/// Most ranks that are named in a note.
const MOST_NAMED: usize = 20;

/// Most rows of which it is told how much of their time is in the log.
const MOST_COVERED: usize = 8;

/// If the log lacks more of the time of all ranks, this is told first.
const MUCH: f64 = 0.5;

/// The time of a row of which the log has events, in ns.
pub(super) fn known(row: &TimelineRow) -> u64 {
    let is_known = |(class, _): &(usize, &u64)| *class != TimeClass::NotInLog as usize;
    sum(row.times.iter().enumerate().filter(is_known).map(|(_, time)| *time))
}

/// The time of all rows together, in ns: what the log has of it, and all of it.
pub(super) fn known_and_all(timeline: &Timeline<'_>) -> (u64, u64) {
    let all = sum(timeline.rows.iter().flat_map(|row| row.times));
    (sum(timeline.rows.iter().map(known)), all)
}

/// The time of a row of which the log has events, in ns, and what that is called.
pub(super) fn of_row(row: &TimelineRow) -> (u64, &'static str) {
    match row.times[TimeClass::NotInLog as usize] {
        0 => (known(row), "its time"),
        _ => (known(row), "its time that the log has"),
    }
}

fn is_overwritten(timeline: &Timeline<'_>) -> bool {
    let mut threads = timeline.processes.iter().flat_map(|(_, process)| process.threads());
    threads.any(|thread| thread.overwritten > 0)
}

/// How much of the time of the ranks is in a log that has little of it because calls were overwritten.
pub(super) fn coverage(timeline: &Timeline<'_>) -> Option<String> {
    let (here, all) = known_and_all(timeline);
    if !is_overwritten(timeline) || here as f64 > MUCH * all as f64 {
        return None;
    }
    let one = |row: &TimelineRow| {
        let life = sum(row.times.into_iter());
        let (here, life) = (seconds(timeline, known(row)), seconds(timeline, life));
        format!("{here} s of {life} s of rank {}", name(timeline, row))
    };
    let told: Vec<String> = timeline.rows.iter().take(MOST_COVERED).map(one).collect();
    let more = if timeline.rows.len() > MOST_COVERED { "; the table tells the others" } else { "" };
    Some(format!(
        "The log has {} % of the time of the ranks, because their oldest calls were overwritten: {}{more}.",
        percent(here, all),
        told.join(", ")
    ))
}

/// That calls were overwritten; None if none were.
pub(super) fn overwritten(timeline: &Timeline<'_>) -> Option<String> {
    is_overwritten(timeline).then(|| {
        "The oldest calls of some threads were overwritten: their log was full. That time is hatched, as not in the \
         log. topas-run --mpi=log:SIZE keeps more of them."
            .to_owned()
    })
}

/// The ranks that ended without `MPI_Finalize`, and how their ends are drawn; None if all came to it.
pub(super) fn ended_early(timeline: &Timeline<'_>) -> Option<String> {
    let early: Vec<String> = timeline
        .processes
        .iter()
        .enumerate()
        .filter(|(_, (_, process))| process.is_unfinished())
        .map(|(place, _)| rank_name(timeline, place))
        .collect();
    if early.is_empty() {
        return None;
    }
    let more = if early.len() > MOST_NAMED { ", ..." } else { "" };
    let lost = timeline.processes.iter().any(|(_, process)| process.was_lost());
    let noted = match lost {
        true => {
            " The kernel tells to a second when a rank was killed: the call may have lasted up to 1 s longer, and what of that \
                 second lies in the run is hatched, as not in the log."
        }
        false => "",
    };
    Some(format!(
        "{} ended without MPI_Finalize: {}{more}. The call in which a rank was at its end has no event. It counts until \
         then, as a wait if it waits for other ranks, but the log does not tell for whom.{noted}",
        count(early.len() as u64, "rank"),
        early.get(..MOST_NAMED).unwrap_or(&early).join(", ")
    ))
}
