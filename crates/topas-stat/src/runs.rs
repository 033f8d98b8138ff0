//! `topas-stat --runs`.

use std::cell::RefCell;

use topas_config::Environment;
use topas_data::{
    OwnLines, PlanError, RunColumn, RunListAnswer, RunListError, RunListPlan, list_runs,
};
use topas_render::runs::{ALL_COLUMNS, RunListForm, RunListWriter, USUAL_COLUMNS};
use topas_terminal::{Printed, Progress};

use crate::args::StatOptions;
use crate::form::Format;
use crate::message::{self, TOOL};
use crate::output::text_width;
use crate::reading::{self, failed, inputs, resources};
use crate::{asked, exit};

/// Lists runs: the exit code. The Err is one, too, and the reason has been said.
pub fn run(line: &StatOptions, env: &Environment) -> Result<u8, u8> {
    let form = form(line, env)?;
    let own = line.selection.mine.then(OwnLines::of_caller);
    let plan = plan(line, own, form)?;
    let resources = resources(line, env)?;
    let mut inputs = inputs(line, plan.own.as_ref(), env)?;
    reading::keep_stdin(&mut inputs, &resources, line.quiet)?;
    inputs.failed.iter().for_each(failed);
    let sources = &inputs.sources;
    let progress = RefCell::new(Progress::new(TOOL, line.quiet));
    let mut writer = RunListWriter::new(&plan, form);
    let mut printed = Printed::Done;
    let answer = list_runs(
        sources,
        &plan,
        &resources,
        |place| progress.borrow_mut().at(|| reading::words(place, sources.len())),
        |rows| {
            progress.borrow_mut().clear();
            if printed == Printed::Done {
                printed = TOOL.print(writer.portion(rows).as_bytes());
            }
        },
    );
    progress.borrow_mut().clear();
    let answer = answer.map_err(|error| no_list(&error))?;
    answer.asked.failed.iter().for_each(failed);
    if !line.quiet {
        message::passed_over(&inputs);
        message::skipped(&answer.asked.tally);
    }
    if printed == Printed::Done {
        printed = TOOL.print(writer.end(&answer).as_bytes());
    }
    let RunListAnswer { total, outside, asked, .. } = &answer;
    if total.runs == 0 && !line.quiet {
        message::no_runs(*outside, asked, &inputs);
    }
    Ok(match (inputs.failed.len() + answer.asked.failed.len(), total.runs) {
        _ if printed == Printed::Failed => exit::INPUT,
        (1.., _) => exit::INPUT,
        (0, 0) => exit::NO_RUNS,
        (0, _) => exit::OK,
    })
}

/// The form of the list.
fn form(line: &StatOptions, env: &Environment) -> Result<RunListForm, u8> {
    let form = line.output.form.chosen();
    if line.output.svg.is_some() || line.output.png.is_some() {
        return Err(asked::wrong("--runs makes no picture", "pictures are of tables: --by exe"));
    }
    match form {
        Format::Text => Ok(RunListForm::Text(text_width(&line.output, env))),
        Format::Csv => Ok(RunListForm::Csv),
        Format::Json => Ok(RunListForm::Json),
        Format::Jsonl => Ok(RunListForm::JsonLines),
        _ => {
            let what = "--runs has the forms text, csv, json and jsonl";
            Err(asked::wrong(what, "gnuplot and R read --csv"))
        }
    }
}

fn plan(line: &StatOptions, own: Option<OwnLines>, form: RunListForm) -> Result<RunListPlan, u8> {
    let named = |option: &str, name: &str| {
        RunColumn::named(name).map_err(|unknown: PlanError| {
            let hint = "--list-fields and --list-measures show all names; ended, started, wall \
                        and lines are columns as well";
            asked::wrong(format!("{option}: {unknown}"), hint)
        })
    };
    let given: Vec<&str> = line.runs.columns.iter().map(String::as_str).collect();
    let names: &[&str] = match (&given[..], form) {
        ([], RunListForm::Text(Some(_))) => &USUAL_COLUMNS,
        ([], _) => &ALL_COLUMNS,
        (given, _) => given,
    };
    let mut columns: Vec<RunColumn> = Vec::new();
    for name in names {
        let column = named("--columns", name)?;
        if columns.contains(&column) {
            let what = format!("--columns: '{name}' is given twice");
            return Err(asked::wrong(what, "name each column once"));
        }
        columns.push(column);
    }
    let sort = named("--sort", line.tables.sort.as_deref().unwrap_or("ended"))?;
    Ok(RunListPlan {
        selection: asked::selection(&line.selection)?,
        own,
        period: asked::period(&line.selection)?,
        columns,
        sort,
        reverse: line.tables.reverse,
        top: line.tables.top.map(Into::into),
    })
}

/// Says why there is no list: the exit code.
fn no_list(error: &RunListError) -> u8 {
    match error {
        RunListError::Ask(error) => reading::no_answer(error),
        RunListError::Runs { .. } => {
            TOOL.error(error, None, "show the first N of them by --top N, or allow more --memory");
            exit::INPUT
        }
    }
}
