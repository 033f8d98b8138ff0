//! `topas-stat --utilisation`.

use topas_chart::{Chart, Size};
use topas_config::{Conf, Environment};
use topas_data::{
    Capacity, CapacityLine, Utilisation, UtilisationQuestion, UtilisationReport, clock,
};
use topas_render::{set_aside, utilisation};
use topas_terminal::Printed;

use crate::args::StatOptions;
use crate::asked::{selected, wrong};
use crate::exit;
use crate::form::Format;
use crate::message::{self, TOOL};
use crate::output::{save_pictures, screen, text_width};
use crate::reading::read_as;

/// The forms that it has.
const FORMS: [Format; 5] = [Format::Text, Format::Csv, Format::Json, Format::Jsonl, Format::Bars];

/// Shows how much of the machine was used: the exit code. The Err is one whose reason has been
/// said.
pub fn run(line: &StatOptions, env: &Environment) -> Result<u8, u8> {
    let step = line.utilisation.step();
    line.output.form.is_one_of(&FORMS, "--utilisation")?;
    let conf = Conf::of_this_program(env);
    let capacity = capacity(&line.utilisation.capacity, &conf)?;
    let (plan, days) = selected(line)?;
    let fold = || Utilisation::new(plan.selection().key_len());
    let reading = read_as(line, &plan, env, UtilisationQuestion::new, fold)?;
    if let Some(text) = set_aside(reading.answer.aside).filter(|_| !line.quiet) {
        TOOL.say(&text);
    }
    let is_whole = plan.selection().is_all() && !line.selection.mine;
    let answer = reading.answer;
    let nothing = answer.fold.is_empty();
    if nothing && !line.quiet {
        message::no_runs(0, &answer, &reading.inputs);
    }
    let report = answer.fold.report(step, days, &capacity, &clock::zone_rule(), is_whole);
    let mut report = report.map_err(|error| {
        TOOL.error(&error, None, "select days with --since and --until, or take longer periods");
        exit::INPUT
    })?;
    if let Some(by_share) = by_share(line, &report)? {
        let top = line.tables.top.map_or(usize::MAX, Into::into);
        report.sort(by_share, line.tables.reverse, top);
    }
    if show(line, env, &report) == Printed::Failed {
        return Ok(exit::INPUT);
    }
    Ok(match (reading.unreadable, nothing) {
        (1.., _) => exit::INPUT,
        (0, true) => exit::NO_RUNS,
        (0, false) => exit::OK,
    })
}

/// Whether periods are sorted by their share of what was available and not by the PEs that were busy;
/// None if they stay in the order of time.
fn by_share(line: &StatOptions, report: &UtilisationReport) -> Result<Option<bool>, u8> {
    let tables = &line.tables;
    match tables.sort.as_deref() {
        None if tables.top.is_none() && !tables.reverse => Ok(None),
        None => Ok(Some(report.has_capacity)),
        Some("share") => Ok(Some(true)),
        Some("time") => Ok(Some(false)),
        Some(other) => {
            let what = format!("--sort: '{other}' is no order of periods");
            Err(wrong(what, "with --utilisation write --sort share or --sort time"))
        }
    }
}

/// What was available: `--capacity`, else that of topas.conf.
fn capacity(given: &[String], conf: &Conf) -> Result<Capacity, u8> {
    if given.is_empty() {
        return Ok(Capacity::new(conf.capacity()));
    }
    let lines = given.iter().map(|text| {
        CapacityLine::parse(text.as_bytes()).ok_or_else(|| {
            let what = format!("--capacity: invalid value '{text}'");
            wrong(what, "write it as '2048', 'batch 128x48' or '2026-06-01 batch 160x48'")
        })
    });
    Ok(Capacity::new(lines.collect::<Result<Vec<_>, u8>>()?))
}

fn show(line: &StatOptions, env: &Environment, report: &UtilisationReport) -> Printed {
    let args = &line.output;
    let chart = || utilisation::calendar(report);
    if (args.svg.is_some() || args.png.is_some()) && !report.periods.is_empty() {
        let picture = chart().picture(Size::default());
        if let Some(printed) = save_pictures(args, &picture) {
            return printed;
        }
    }
    let text = match args.form.chosen() {
        Format::Csv => utilisation::csv(report),
        Format::Json => utilisation::json(report),
        Format::Jsonl => utilisation::json_lines(report),
        Format::Bars => chart().terminal(screen(args, env)),
        _ => utilisation::text(report, text_width(args, env)),
    };
    TOOL.print(text.as_bytes())
}
