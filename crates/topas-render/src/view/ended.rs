//! How the PEs ended that did not die first.

use topas_data::pes::{PeEnding, PeEndings, PeTable};
use topas_findings::ending_words;

use super::verdict::NAMED;
use crate::wording::{clean, count, some_pes};

/// In sentences; the signals of a launcher are told as such.
pub(super) fn others_ended(table: &PeTable, endings: &PeEndings) -> String {
    let first = endings.first.and_then(|row| table.rows.get(row as usize));
    let mut sentences = Vec::new();
    if endings.same_second > 0 {
        sentences.push(format!(
            "{} failed in the same second; the wall clock times tell which was first.",
            count(endings.same_second as u64, "other PE")
        ));
    }
    let mut parts = Vec::new();
    for ending in &endings.all {
        let is_first = first.is_some_and(|pe| table.ending(pe) == &*ending.end);
        let others = ending.count - usize::from(is_first);
        if others > 0 {
            parts.push(part(ending, others, is_first, first.is_some()));
        }
    }
    let parts = parts.join(", ");
    let rest = (table.rows.len() - usize::from(first.is_some())) as u64;
    match first {
        Some(_) if rest == 0 => {}
        Some(_) => sentences.push(format!("Of the other {}, {parts}.", count(rest, "PE"))),
        None => sentences.push(format!(
            "No PE failed by itself. Of {}, {parts}: the launcher, the batch system or the user sent \
             the signal.",
            count(rest, "PE")
        )),
    }
    let without = &table.without;
    if let Some(missing) = without.missing.filter(|&missing| missing > 0 && !without.of_log) {
        let missing = count(missing.into(), "PE");
        sentences.push(format!("{missing} left no line, so one of them may have died before."));
    }
    sentences.join(" ")
}

/// How many ended in a way: `60 ended with others by sig:15 (SIGTERM)`.
fn part(ending: &PeEnding, others: usize, is_first: bool, one_failed: bool) -> String {
    let end = clean(ending_words(&ending.end).as_bytes());
    // Of the PEs that ended as the first did, that one is named already.
    let these =
        if is_first { String::new() } else { format!(" (PEs {})", some_pes(&ending.pes, NAMED)) };
    if ending.end.is_empty() {
        return format!("{others} do not tell how they ended{these}");
    }
    if ending.well {
        format!("{others} ended well ({end})")
    } else if ending.from_outside && one_failed {
        format!("{others} ended with others, by {end}{these}")
    } else if ending.from_outside {
        format!("{others} were ended from outside, by {end}{these}")
    } else {
        format!("{others} failed, too: {end}{these}")
    }
}
