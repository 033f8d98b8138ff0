//! `topas-stat`: usage statistics of a center from the TOPAS log.
#![forbid(unsafe_code)]

mod args;
mod exit;
mod message;
mod reading;

use std::process::ExitCode;

use topas_data::Statistics;
use topas_terminal::Printed;

use crate::args::Options;
use crate::message::TOOL;

fn main() -> ExitCode {
    let options = match args::parse() {
        Ok(options) => options,
        Err(code) => return code.into(),
    };
    let reading = reading::read(&options);
    reading.report_problems(&options);
    let mut statistics = Statistics::new(options.bucket);
    let mut outside = 0u64;
    reading.joiner.runs(|run| {
        if options.period.contains(run) {
            statistics.add(run);
        } else {
            outside += 1;
        }
    });
    let text = options.format.form().render(&statistics);
    if TOOL.print(text.as_bytes()) == Printed::Failed {
        return exit::INPUT.into();
    }
    exit_code(&options, reading.unreadable, statistics.total.runs, outside).into()
}

fn exit_code(options: &Options, unreadable: usize, runs: u64, outside: u64) -> u8 {
    if runs == 0 && !options.quiet {
        message::no_runs(outside);
    }
    match (unreadable, runs) {
        (1.., _) => exit::INPUT,
        (0, 0) => exit::NO_RUNS,
        (0, _) => exit::OK,
    }
}
