//! What the page says of ranks whose log cannot be read in full.

use topas_mpi_data::{RankDamage, Timeline, TimelineRow};

use crate::wording::count;

/// Most ranks of which a note tells one by one.
const MOST_TOLD: usize = 8;

/// Whether waits may be due to ranks of which something is missing.
pub(super) fn is_damaged(timeline: &Timeline<'_>) -> bool {
    timeline.is_cut || !timeline.damage.is_empty()
}

/// The sentence in the place of the one for whom the ranks waited.
pub(super) fn unknown_waits(timeline: &Timeline<'_>) -> String {
    let size = timeline.processes.len() as u64 + timeline.missing_ranks;
    let damaged = timeline.damage.len() as u64;
    let lacking = damaged + timeline.missing_ranks;
    format!(
        "For whom the ranks waited is not known: of {lacking} of {}, the log is damaged or not there.",
        count(size, "rank")
    )
}

/// What cannot be read, a paragraph each.
pub(super) fn notes(timeline: &Timeline<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if timeline.is_cut {
        let missing = match timeline.missing_ranks {
            0 => String::new(),
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
