//! `topas-stat --compare`.

use std::io::stdout;

use topas_chart::{Chart, Screen, Size};
use topas_config::Environment;
use topas_data::field::Field;
use topas_data::measure::Measure;
use topas_data::{
    CompareKey, CompareOrder, ComparePlan, CompareReport, Period, ReportPlan, TableSide,
};
use topas_format::civil::Date;
use topas_render::{CompareDocument, period_words};
use topas_terminal::{Look, Printed};

use crate::args::StatOptions;
use crate::asked::{self, wrong};
use crate::form::Format;
use crate::message::TOOL;
use crate::output::{save_pictures, text_width};
use crate::reading::read_as;
use crate::{exit, message};

/// Rows of a table for people, unless `--top` says another number.
const TOP: usize = 20;

/// The forms that a comparison has.
const FORMS: [Format; 7] = [
    Format::Text,
    Format::Csv,
    Format::Json,
    Format::Jsonl,
    Format::Gnuplot,
    Format::R,
    Format::Bars,
];

/// Compares the runs of two periods or selections: the exit code.
pub fn run(line: &StatOptions, env: &Environment) -> Result<u8, u8> {
    line.output.form.is_one_of(&FORMS, "--compare")?;
    let (plan, sides) = plan(line)?;
    let order = order(line)?;
    let read = read_as(line, &plan, env, |lines| lines, || CompareReport::new(&plan))?;
    let report = &read.answer.fold;
    let runs: u64 = report.sides.iter().map(|side| side.total.runs).sum();
    if runs == 0 {
        if !line.quiet {
            message::no_runs(report.sides[0].outside, &read.answer, &read.inputs);
        }
        return Ok(if read.unreadable > 0 { exit::INPUT } else { exit::NO_RUNS });
    }
    let tables = report.tables(&order);
    let document = CompareDocument {
        report,
        tables: &tables,
        sides: &sides,
        tally: &read.answer.tally,
        top: line.tables.top.map_or(TOP, Into::into),
    };
    if write(line, env, &document) == Printed::Failed || read.unreadable > 0 {
        return Ok(exit::INPUT);
    }
    Ok(exit::OK)
}

/// Both plans, and what each is of in words.
fn plan(line: &StatOptions) -> Result<(ComparePlan, [String; 2]), u8> {
    let args = &line.compare;
    let mut period = asked::period(&line.selection)?;
    let other = args.compare.unwrap_or(period);
    if let (Some(before), true) = (args.compare, period == Period::default()) {
        // What came after it.
        let next = before.until.map(|day| Date::from_days(day.days() + 1));
        period = Period { since: next, until: None };
    }
    if period == other && args.compare_where.is_empty() {
        let what = "--compare: both sides are of the same period";
        return Err(wrong(what, "name the other period with --since, --until or --period"));
    }
    let own = asked::selection(&line.selection)?;
    let (conditions, option) = if args.compare_where.is_empty() {
        (&line.selection.conditions, "--where")
    } else {
        (&args.compare_where, "--compare-where")
    };
    let others = asked::selection_with(&line.selection, conditions, option)?;
    if !args.compare_where.is_empty() && (own.is_of_ranks() || others.is_of_ranks()) {
        let what = "--compare-where: a field of single ranks cannot tell two sides apart";
        return Err(wrong(what, "compare by fields that are the same on all ranks of a run"));
    }
    let plans = [ReportPlan::new(own, period), ReportPlan::new(others, other)];
    let words = |period: Period, conditions: &[String]| {
        let mut words = vec![period_words(period)];
        words.extend(conditions.iter().cloned());
        words.join(", ")
    };
    let is_of_both = args.compare_where.is_empty();
    let sides = if is_of_both {
        [words(period, &[]), words(other, &[])]
    } else {
        [words(period, &line.selection.conditions), words(other, &args.compare_where)]
    };
    let plans = plans.map(|mut plan| tables(line, &mut plan).map(|()| plan));
    let [one, two] = plans;
    Ok((ComparePlan::new([one?, two?]), sides))
}

fn tables(line: &StatOptions, plan: &mut ReportPlan) -> Result<(), u8> {
    const MEASURES: [&str; 3] = ["wall", "mflops", "pe_hours"];
    let tables = &line.tables;
    let names: Vec<&str> = if tables.measure.is_empty() {
        MEASURES.to_vec()
    } else {
        tables.measure.iter().map(String::as_str).collect()
    };
    let measures: Vec<&'static Measure> = names
        .into_iter()
        .map(|name| asked::measure("--measure", name))
        .collect::<Result<_, u8>>()?;
    let by = if tables.by.is_empty() { vec!["exe".to_owned()] } else { tables.by.clone() };
    for names in by {
        let side = |name: &str| match Field::named(name) {
            Ok(field) => Ok(TableSide::Field(field)),
            Err(unknown) => {
                let what = format!("--by: {unknown}");
                Err(wrong(what, "a comparison is by fields; --list-fields shows all names"))
            }
        };
        let sides = names.split(',').map(side).collect::<Result<Vec<_>, u8>>()?;
        plan.table(&sides, &measures).map_err(|error| {
            wrong(format!("--by {names}: {error}"), "--list-fields shows all names")
        })?;
    }
    Ok(())
}

fn order(line: &StatOptions) -> Result<CompareOrder, u8> {
    let sort = match line.tables.sort.as_deref() {
        None | Some("change") => CompareKey::Change,
        Some("ratio") => CompareKey::Ratio,
        Some("difference") => CompareKey::Difference,
        Some("name") => CompareKey::Name,
        Some("runs") => CompareKey::Runs,
        Some("time") => CompareKey::Time,
        Some(key) => {
            let what = format!("--sort: a comparison is not sorted by '{key}'");
            return Err(wrong(what, "take change, ratio, difference, name, runs or time"));
        }
    };
    Ok(CompareOrder { sort, reverse: line.tables.reverse })
}

fn write(line: &StatOptions, env: &Environment, document: &CompareDocument<'_>) -> Printed {
    let args = &line.output;
    if let Some(table) = document.tables.first()
        && (args.svg.is_some() || args.png.is_some())
        && let Some(printed) = save_pictures(args, &document.bars(table).picture(Size::default()))
    {
        return printed;
    }
    let text = match args.form.chosen() {
        Format::Csv => document.csv(),
        Format::Json => document.json(),
        Format::Jsonl => document.json_lines(),
        Format::Gnuplot => document.gnuplot(),
        Format::R => document.r(),
        Format::Bars => {
            let Look { width, color, unicode, .. } = Look::of(env, args.color, &stdout());
            let screen = Screen { width, unicode, color };
            let charts = document.tables.iter().map(|table| document.bars(table).terminal(screen));
            charts.collect::<Vec<_>>().join("\n")
        }
        _ => document.text(text_width(args, env)),
    };
    TOOL.print(text.as_bytes())
}
