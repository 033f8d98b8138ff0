//! From the command line to what is computed.

use std::fmt::Display;

use topas_data::field::Field;
use topas_data::measure::{BucketSize, Measure, ScaleKind};
use topas_data::{
    Expression, Figure, Period, ReportPlan, Selection, SortKey, TableOrder, TableSide,
};

use crate::args::{Percent, SelectionArgs, StatOptions, TableArgs};
use crate::exit;
use crate::message::TOOL;

/// Says what is wrong with the command line.
pub fn wrong(what: impl Display, hint: &str) -> u8 {
    TOOL.error(&what, None, hint);
    exit::USAGE
}

/// What is to be computed, and in what order it is shown. What is wrong is said; the Err is
/// then the exit code.
pub fn plan(line: &StatOptions) -> Result<(ReportPlan, TableOrder), u8> {
    let period = period(&line.selection)?;
    let mut plan = ReportPlan::new(selection(&line.selection)?, period);
    let names = &line.tables.measure;
    if let Some((_, name)) = names.iter().enumerate().find(|(at, n)| names[..*at].contains(n)) {
        let what = format!("--measure: '{name}' is given twice");
        return Err(wrong(what, "name each measure once"));
    }
    let (figures, measures): (Vec<_>, Vec<_>) =
        names.iter().partition(|name| Figure::named(name).is_ok());
    figures.iter().filter_map(|name| Figure::named(name).ok()).for_each(|f| plan.figure(f));
    let measures = measures.into_iter().map(|name| measure("--measure", name));
    let mut measures = measures.collect::<Result<Vec<_>, u8>>()?;
    let sorted = line.tables.sort.as_deref().and_then(|name| Measure::named(name).ok());
    measures.extend(sorted.filter(|measure| !measures.contains(measure)));
    tables(&mut plan, &line.tables, &measures)?;
    scales(&mut plan, &line.tables)?;
    if line.shares.percent != Percent::All && !plan.has_crossed_table() {
        let what = "--percent: no table is by two names";
        return Err(wrong(what, "cross two names with --by NAME,NAME"));
    }
    let order = order(&line.tables, &measures, &plan)?;
    Ok((plan, TableOrder { percent: line.shares.percent.into(), ..order }))
}

/// The days that count.
pub fn period(args: &SelectionArgs) -> Result<Period, u8> {
    let period = args.period.days();
    if period.is_reversed() {
        return Err(wrong("--since is after --until", "give the earlier day to --since"));
    }
    Ok(period)
}

/// A plan without tables of the lines that are selected, of all days; and the days.
pub fn selected(line: &StatOptions) -> Result<(ReportPlan, Period), u8> {
    let period = period(&line.selection)?;
    Ok((ReportPlan::new(selection(&line.selection)?, Period::default()), period))
}

/// The measure of this name, which an option gave. What is wrong is said; the Err is then the exit
/// code.
pub fn measure(option: &str, name: &str) -> Result<&'static Measure, u8> {
    Measure::named(name).map_err(|similar| {
        if Field::named(name).is_ok() {
            let hint = format!(
                "fields go with --by {name}, with --where, and with --runs --columns {name}"
            );
            return wrong(format!("{option}: '{name}' is a field and no measure"), &hint);
        }
        let similar = similar.or_else(|| Figure::named(name).err().flatten());
        let similar = similar.map_or_else(String::new, |name| format!("; did you mean '{name}'?"));
        let what = format!("{option}: no measure is called '{name}'{similar}");
        wrong(what, "--list-measures shows all measures")
    })
}

/// The lines that count.
pub fn selection(args: &SelectionArgs) -> Result<Selection, u8> {
    selection_with(args, &args.conditions, "--where")
}

/// As [`selection`], with the conditions that another option gave. What is wrong is said; the Err is
/// then the exit code.
pub fn selection_with(
    args: &SelectionArgs,
    conditions: &[String],
    option: &str,
) -> Result<Selection, u8> {
    let mut selection = if args.accelerators.with_accelerators {
        Selection::with_accelerators()
    } else {
        Selection::default()
    };
    let mode: Vec<String> = args.mode.iter().cloned().collect();
    for (name, values) in [
        ("user", &args.user),
        ("exe", &args.exe),
        ("lang", &args.lang),
        ("lib", &args.mplib),
        ("mode", &mode),
    ] {
        if let (Ok(field), false) = (Field::named(name), values.is_empty()) {
            selection.and(Expression::any_of(&field, values));
        }
    }
    let pes = [("npes >=", args.min_pes), ("npes <=", args.max_pes)];
    let pes = pes.iter().filter_map(|(test, n)| n.map(|n| format!("{test} {n}")));
    for text in conditions.iter().cloned().chain(pes) {
        match Expression::of_runs(&text) {
            Ok(expression) => selection.and(expression),
            Err(error) => {
                let marked = error.marked(&text).replace('\n', "\n  ");
                return Err(wrong(format!("{option}: {error}\n  {marked}"), &error.hint));
            }
        }
    }
    Ok(selection)
}

/// The tables of `--by`; without, those of the paper, or the distributions of `--measure`.
fn tables(
    plan: &mut ReportPlan,
    args: &TableArgs,
    measures: &[&'static Measure],
) -> Result<(), u8> {
    const HINT: &str = "--list-fields and --list-measures show all names";
    let mut by: Vec<Vec<String>> =
        args.by.iter().map(|names| names.split(',').map(str::to_owned).collect()).collect();
    if by.is_empty() {
        let first = match measures {
            [] => vec!["mflops".to_owned()],
            _ => measures.iter().map(|measure| measure.name.to_owned()).collect(),
        };
        by = first.into_iter().chain(["lang", "lib"].map(str::to_owned)).map(|n| vec![n]).collect();
    }
    for names in by {
        let table = names.iter().map(|name| TableSide::named(name)).collect::<Result<Vec<_>, _>>();
        let table = table.map_err(|unknown| wrong(format!("--by: {unknown}"), HINT))?;
        plan.table(&table, measures)
            .map_err(|error| wrong(format!("--by {}: {error}", names.join(",")), HINT))?;
    }
    Ok(())
}

/// `--bucket`, `--upper` and `--log-scale`, for the measures that tables are by.
fn scales(plan: &mut ReportPlan, args: &TableArgs) -> Result<(), u8> {
    if args.log_scale {
        for (_, scale) in plan.scales() {
            scale.kind = ScaleKind::Logarithmic;
        }
    }
    for (option, values) in [("--bucket", &args.bucket), ("--upper", &args.upper)] {
        for value in values {
            let (of, number) = match value.split_once('=') {
                Some((name, number)) => (Some(measure(option, name)?), number),
                None => (None, value.as_str()),
            };
            let number: BucketSize = number.parse().map_err(|error| {
                let unit = of.map_or("MFlop/s", |measure| measure.unit);
                let hint = format!("{option} takes a number of {unit}, such as 50 or mflops=50");
                wrong(format!("{option}: invalid value '{value}': {error}"), &hint)
            })?;
            let mut used = false;
            for (_, scale) in plan.scales().filter(|(m, _)| of.is_none_or(|of| *m == of)) {
                match option {
                    "--bucket" => scale.kind = ScaleKind::Linear(number),
                    _ => scale.upper = Some(number),
                }
                used = true;
            }
            if !used {
                let what = format!("{option} {value}: no table is by such a measure");
                return Err(wrong(what, "ask for a table with --by MEASURE"));
            }
        }
    }
    Ok(())
}

fn order(
    args: &TableArgs,
    measures: &[&'static Measure],
    plan: &ReportPlan,
) -> Result<TableOrder, u8> {
    let sort = match args.sort.as_deref() {
        None => None,
        Some("name") => Some(SortKey::Name),
        Some("runs") => Some(SortKey::Runs),
        Some("time") => Some(SortKey::Time),
        Some(name) => match measures.iter().find(|measure| measure.name == name) {
            Some(measure) => Some(SortKey::Mean(measure)),
            None if plan.figures().any(|figure| figure.name() == name) => {
                Figure::named(name).ok().map(SortKey::Figure)
            }
            None => {
                let what = format!("--sort: '{name}' is none of name, runs, time, or --measure");
                return Err(wrong(what, &format!("add --measure {name}")));
            }
        },
    };
    let top = args.top.map(Into::into);
    let min_runs = args.min_runs.map_or(0, Into::into);
    Ok(TableOrder { sort, reverse: args.reverse, top, min_runs, ..TableOrder::default() })
}
