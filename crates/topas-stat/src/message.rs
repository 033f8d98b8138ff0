//! What `topas-stat` says on standard error.

use topas_data::{AskAnswer, Inputs, Tally};
use topas_render::looked_at;
use topas_terminal::Tool;

/// This tool.
pub const TOOL: Tool = Tool("topas-stat");

/// There is nothing to report on: all is outside the period, or not selected.
pub fn no_runs<F>(outside: u64, answer: &AskAnswer<F>, inputs: &Inputs) {
    let tally = &answer.tally;
    let is = |count: u64, what: &str| match count {
        1 => format!("1 {what} is"),
        n => format!("{n} {what}s are"),
    };
    let of_them = [
        (tally.skipped(), "skipped"),
        (tally.foreign.lines(), "foreign"),
        (tally.profile, "of MPI profiles"),
        (tally.blank + tally.comments, "blank or comments"),
    ];
    let looked_at = looked_at(inputs, tally.lines(), &of_them);
    let unwanted = [(answer.unwanted, "line"), (answer.unwanted_runs, "run")];
    let mut why: Vec<String> = unwanted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|&(count, what)| format!("{} not selected", is(count, what)))
        .collect();
    match outside {
        0 => {}
        1 => why.push("1 run is outside the period".to_owned()),
        n => why.push(format!("{n} runs are outside the period")),
    }
    why.extend(
        topas_render::set_aside(answer.aside)
            .map(|text| text.trim_start_matches("! ").trim_end_matches('.').to_owned()),
    );
    let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) };
    TOOL.say(&format!("no runs{why}; looked at {looked_at}"));
}

/// What was found in directories and is not read.
pub fn passed_over(inputs: &Inputs) {
    if let Some(text) = topas_render::passed_over(inputs) {
        TOOL.write(&format!("{}: warning: {text}", TOOL.0));
    }
}

/// Lines that were skipped, with the first of them; foreign lines.
pub fn skipped(tally: &Tally) {
    if let Some(text) = topas_render::skipped(tally) {
        TOOL.write(&format!("{}: warning: {text}", TOOL.0));
    }
}
