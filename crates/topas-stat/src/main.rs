//! `topas-stat`: usage statistics of a center from the TOPAS log.
#![forbid(unsafe_code)]

mod args;
mod asked;
mod check;
mod compare;
mod exit;
mod form;
mod message;
mod one_run;
mod output;
mod reading;
mod runs;
mod sacct;
mod utilisation;

use std::process::ExitCode;

use topas_config::{Conf, Environment};
use topas_data::{LogReport, believe};
use topas_terminal::Printed;

use crate::message::TOOL;
use crate::reading::StatReading;

fn main() -> ExitCode {
    match run() {
        Ok(code) | Err(code) => code.into(),
    }
}

/// The exit code; the Err is one whose reason has been said.
fn run() -> Result<u8, u8> {
    let line = args::parse()?;
    if line.list_fields || line.list_measures {
        let list = if line.list_fields { topas_render::fields() } else { topas_render::measures() };
        return Ok(printed(TOOL.print(list.as_bytes())));
    }
    let env = Environment::of_process();
    believe(Conf::of_this_program(&env).log_owner());
    if line.check {
        return check::run(&line, &env);
    }
    let jobs = sacct::jobs(&line)?;
    if let Some(jobs) = jobs.filter(|_| line.sacct.coverage) {
        return sacct::coverage(&line, &env, jobs);
    }
    if line.utilisation.is_asked() {
        return utilisation::run(&line, &env);
    }
    if line.compare.is_given() {
        return compare::run(&line, &env);
    }
    if line.runs.runs {
        return runs::run(&line, &env);
    }
    if let Some(name) = line.runs.name() {
        return one_run::run(&line, name, &env);
    }
    let (plan, order) = asked::plan(&line)?;
    let (reading, coverage) = match jobs {
        Some(jobs) => sacct::read(&line, &plan, &env, jobs)?,
        None => (reading::read(&line, &plan, &env)?, None),
    };
    let mut written = output::write(&line.output, &env, &reading, &order, coverage.as_ref());
    if let Some(coverage) = coverage.filter(|_| written == Printed::Done) {
        written = sacct::note(&line, &env, &coverage);
    }
    if written == Printed::Failed {
        return Ok(exit::INPUT);
    }
    Ok(exit_code(line.quiet, &reading))
}

fn printed(printed: Printed) -> u8 {
    match printed {
        Printed::Done => exit::OK,
        Printed::Failed => exit::INPUT,
    }
}

fn exit_code(quiet: bool, reading: &StatReading<LogReport<'_>>) -> u8 {
    let report = &reading.answer.fold;
    if report.total.runs == 0 && !quiet {
        message::no_runs(report.outside, &reading.answer, &reading.inputs);
    }
    match (reading.unreadable, report.total.runs) {
        (1.., _) => exit::INPUT,
        (0, 0) => exit::NO_RUNS,
        (0, _) => exit::OK,
    }
}
