//! `topas-stat --check`.

use topas_config::Environment;
use topas_data::check::check;
use topas_data::{Inputs, Source};
use topas_terminal::{Printed, Progress};

use crate::args::StatOptions;
use crate::exit;
use crate::form::Format;
use crate::message::TOOL;
use crate::reading::{failed, resources, temporary_failed};

/// Checks the logs that are named: the exit code.
pub fn run(line: &StatOptions, env: &Environment) -> Result<u8, u8> {
    let resources = resources(line, env)?;
    let inputs = Inputs::new(&line.inputs);
    inputs.failed.iter().for_each(failed);
    if inputs.sources.contains(&Source::Stdin) {
        let what = "--check reads its files twice, and standard input can be read once";
        TOOL.error(&what, None, "name the log or a directory of logs");
        return Err(exit::USAGE);
    }
    let mut progress = Progress::new(TOOL, line.quiet);
    let findings = check(&inputs.sources, &resources, |source, bytes| {
        progress.at(|| format!("{source}: {} MB checked", bytes / 1_000_000));
    });
    progress.clear();
    let findings = findings.map_err(|error| temporary_failed(&error))?;
    findings.failed.iter().for_each(failed);
    let unreadable = inputs.failed.len() + findings.failed.len();
    let shown = match line.output.form.chosen() {
        Format::Json => topas_render::check::json(&findings, &inputs),
        _ => topas_render::check::text(&findings, &inputs),
    };
    if TOOL.print(shown.as_bytes()) == Printed::Failed || unreadable > 0 {
        return Ok(exit::INPUT);
    }
    Ok(if findings.has_faults() { exit::FINDINGS } else { exit::OK })
}
