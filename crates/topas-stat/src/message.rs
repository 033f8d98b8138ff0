//! What is said on standard error, all in one form.

use std::fmt::Display;
use std::io::{Write, stderr};

use topas_data::Tally;

/// Standard error may be closed; that must not end the program.
fn say(text: &str) {
    let _ = stderr().lock().write_all(text.as_bytes());
}

/// `topas-stat: error: what`, its cause, a hint.
pub fn error(what: &dyn Display, cause: Option<&dyn Display>, hint: &str) {
    let cause = cause.map(|cause| format!("  cause: {cause}\n")).unwrap_or_default();
    say(&format!("topas-stat: error: {what}\n{cause}  hint: {hint}\n"));
}

/// What is wrong with the command line.
pub fn usage(error: &clap::Error) {
    let text = error.render().to_string();
    let text = text.trim_end().replace("For more information, try", "  hint: try");
    say(&format!("topas-stat: {text}\n"));
}

/// There is nothing to report on.
pub fn no_runs(outside: u64) {
    say(&match outside {
        0 => "topas-stat: no runs\n".to_owned(),
        1 => "topas-stat: no runs: 1 is outside --since and --until\n".to_owned(),
        n => format!("topas-stat: no runs: {n} are outside --since and --until\n"),
    });
}

/// Lines that were skipped, with the first of them.
pub fn skipped(tally: &Tally) {
    let skipped = tally.skipped();
    if skipped == 0 {
        return;
    }
    let reasons: Vec<String> =
        tally.problems().map(|(problem, count)| format!("{count} {}", problem.words())).collect();
    let mut text = format!(
        "topas-stat: warning: {skipped} of {} lines skipped: {}\n",
        tally.lines(),
        reasons.join(", ")
    );
    for example in tally.examples() {
        let words = example.problem.words();
        text += &format!("  {}:{}: {words}: {}\n", example.source, example.line, example.text);
    }
    say(&text);
}
