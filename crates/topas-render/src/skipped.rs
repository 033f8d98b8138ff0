//! Bad lines in words.

use topas_data::Tally;

/// How many lines were skipped and why, and below it the first of them; None if none was.
pub fn skipped(tally: &Tally) -> Option<String> {
    let skipped = tally.skipped();
    if skipped == 0 {
        return None;
    }
    let reasons: Vec<String> =
        tally.problems().map(|(problem, count)| format!("{count} {}", problem.words())).collect();
    let mut text =
        format!("{skipped} of {} lines skipped: {}\n", tally.lines(), reasons.join(", "));
    for example in tally.examples() {
        let words = example.problem.words();
        text += &format!("  {}:{}: {words}: {}\n", example.source, example.line, example.text);
    }
    Some(text)
}
