//! What the page says of ranks whose log cannot be read in full.

use topas_mpi_data::{RankDamage, Timeline, TimelineRow};

use crate::wording::count;

/// Most ranks of which a note tells one by one.
const MOST_TOLD: usize = 8;

/// Whether waits may be due to ranks of which something is missing.
pub(super) fn is_damaged(timeline: &Timeline<'_>) -> bool {
    !timeline.damage.is_empty()
        || timeline.missing_ranks > 0
        || timeline.is_cut && lacking(timeline) > 0
}

/// How many ranks are damaged or not there. Of a log that was cut, a rank is whole if it came to `MPI_Finalize`: the facts
/// that would tell how many calls it had may be in what was cut off.
fn lacking(timeline: &Timeline<'_>) -> u64 {
    let is_whole = |place: usize| {
        let mut own = timeline.rows.iter().filter(|row| row.process == place);
        !timeline.is_cut || timeline.is_damaged(place) || own.any(|row| row.has_finalized)
    };
    let cut = (0..timeline.processes.len()).filter(|place| !is_whole(*place)).count() as u64;
    timeline.damage.len() as u64 + timeline.missing_ranks + cut
}

/// The sentence in the place of the one for whom the ranks waited.
pub(super) fn unknown_waits(timeline: &Timeline<'_>) -> String {
    let lacking = lacking(timeline);
    format!(
        "For whom the ranks waited is not known: of {lacking} of {}, the log is damaged or not there.",
        count(timeline.ranks_of_launch(), "rank")
    )
}

/// What cannot be read, a paragraph each.
pub(super) fn notes(timeline: &Timeline<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if timeline.is_cut {
        let missing = match timeline.missing_ranks {
            0 if is_damaged(timeline) => String::new(),
            0 => " All ranks of the launch are there, each up to MPI_Finalize.".to_owned(),
            ranks => format!(" {} of the launch are not there.", count(ranks, "rank")),
        };
        notes.push(format!("A log was cut after it was written.{missing}"));
    }
    let told: Vec<String> =
        timeline.damage.iter().take(MOST_TOLD).map(RankDamage::to_string).collect();
    if told.is_empty() {
        return notes;
    }
    let more = match timeline.damage.len() - told.len() {
        0 => String::new(),
        more => format!("; and more of {}", count(more as u64, "other rank")),
    };
    notes.push(format!(
        "The log is damaged: {}{more}. Waits for these ranks, and what they did then, are not known.",
        told.join("; ")
    ));
    notes
}

/// What stands behind the name of a row whose log is damaged.
pub(super) fn mark(timeline: &Timeline<'_>, row: &TimelineRow) -> &'static str {
    if timeline.is_damaged(row.process) { " (damaged)" } else { "" }
}
