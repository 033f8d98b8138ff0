//! What `topas-stat` says on standard error.

use topas_data::Tally;
use topas_terminal::Tool;

/// This tool.
pub const TOOL: Tool = Tool("topas-stat");

/// There is nothing to report on: all is outside the period, or not selected.
pub fn no_runs(outside: u64, unwanted: u64) {
    let is = |count: u64, what: &str| match count {
        1 => format!("1 {what} is"),
        n => format!("{n} {what}s are"),
    };
    TOOL.say(&match (outside, unwanted) {
        (0, 0) => "no runs".to_owned(),
        (0, _) => format!("no runs: {} not selected", is(unwanted, "line")),
        (1, _) => "no runs: 1 is outside --since and --until".to_owned(),
        (n, _) => format!("no runs: {n} are outside --since and --until"),
    });
}

/// Lines that were skipped, with the first of them.
pub fn skipped(tally: &Tally) {
    if let Some(text) = topas_render::skipped(tally) {
        TOOL.write(&format!("{}: warning: {text}", TOOL.0));
    }
}
