//! What stands below the tables: what percentages are of, what marks mean, what is odd.

use std::collections::BTreeSet;

use topas_data::field::FieldScope;
use topas_data::measure::{Measure, Sample, ScaleKind};
use topas_data::{Fault, PercentOf, Period, Problem, Share, TableSide};

use super::{figures, heading};
use crate::document::Document;
use crate::endings;
use crate::number::{exact, hours, percentage, significant};
use crate::period::period_words;
use crate::row::table_name;
use crate::wording::{COUNTING_NEEDS, count, hanging, runs};

/// Blanks before the further lines of a note.
const INDENT: usize = 4;

/// Writes the notes, in lines of `width`.
pub(super) fn write(out: &mut String, document: &Document<'_>, width: usize) {
    let report = document.report;
    let mut note = |text: String| *out += &hanging(&text, width, INDENT);
    let by: Vec<&Measure> = in_order(document, |by| match by {
        TableSide::Measure(measure) => Some(*measure),
        TableSide::Field(_) => None,
    });
    for measure in &by {
        note(format!("{}: {}", measure.heading, about(measure)));
    }
    scales(&mut note, document);
    left_out(&mut note, document);
    percentages(&mut note, document);
    let of_rank = |by: &TableSide| match by {
        TableSide::Field(field) if field.scope() == FieldScope::Rank => Some(heading(by)),
        _ => None,
    };
    for heading in in_order(document, of_rank) {
        note(format!("{heading}: of a run, that of the line with the lowest PE."));
    }
    for measure in &by {
        let Some(sample) = report.sample(measure) else { continue };
        below(&mut note, document, measure, sample);
    }
    figures::notes(&mut note, document);
    let columns: BTreeSet<&str> =
        document.tables.iter().flat_map(|t| &t.columns).map(|measure| measure.name).collect();
    for (measure, sample) in report.measures().filter(|(m, _)| columns.contains(m.name)) {
        column(&mut note, measure, sample, by.contains(&measure));
    }
    if !columns.is_empty() {
        let estimated = |sample: &Sample| sample.quartiles().is_some_and(|(_, is)| is);
        let rows = || document.tables.iter().flat_map(|table| &table.rows);
        if rows().any(|row| row.samples.iter().any(estimated)) {
            let few = topas_data::measure::FEW;
            note(format!("~ : quartiles of more than {few} runs are off by up to 0.4%"));
        }
        note("Quartiles: Hyndman-Fan type 7, each run counted once.".to_owned());
    }
    selected(document).into_iter().for_each(&mut note);
    document.report.gaps.iter().flat_map(endings::notes).for_each(&mut note);
    remarks(&mut note, document);
}

/// What percentages are of.
fn percentages(note: &mut impl FnMut(String), document: &Document<'_>) {
    let total = document.report.total;
    let mut of_all = true;
    for table in document.tables {
        let side = match (table.percent, &table.by[..]) {
            (PercentOf::Row, [row, ..]) => row,
            (PercentOf::Column, [_, column]) => column,
            _ => continue,
        };
        of_all = false;
        note(format!(
            "{}: Num% of the Of runs of each {}, Time% of their Of PE x wall clock (h:mm:ss).",
            table_name(table),
            heading(side)
        ));
    }
    let (all, time) = (runs(total.runs), hours(total.time));
    note(if of_all {
        format!("Num% of {all}, Time% of {time} PE x wall clock (h:mm:ss).")
    } else {
        format!("In all {all} and {time} PE x wall clock (h:mm:ss).")
    });
}

/// How much of the log the report is of, where that is not all.
pub(crate) fn selected(document: &Document<'_>) -> Vec<String> {
    let (runs, outside) = (document.unwanted_runs, document.report.outside);
    let period = document.report.period();
    let mut texts = selected_of(document.tally.good, document.unwanted, runs, outside, period);
    texts.extend(set_aside(document.aside));
    texts
}

/// Runs that a condition on a rate of the processor leaves out because they used an accelerator.
pub fn set_aside(aside: u64) -> Option<String> {
    let (are, them) = if aside == 1 { ("is", "it") } else { ("are", "them") };
    (aside > 0).then(|| {
        format!(
            "! {} used an accelerator and {are} not selected, because a condition asks for a rate \
             of the processor; --with-accelerators adds {them}.",
            runs(aside)
        )
    })
}

/// The same by the numbers of good lines, of lines and of runs that were not selected, and of runs
/// outside the period.
pub(crate) fn selected_of(
    good: u64,
    unwanted: u64,
    unwanted_runs: u64,
    outside: u64,
    period: Period,
) -> Vec<String> {
    let mut texts = Vec::new();
    if unwanted > 0 {
        texts.push(format!("Of {} of {good} lines, which were selected.", good - unwanted));
    }
    match unwanted_runs {
        0 => {}
        1 => texts.push("Without 1 run that was not selected.".to_owned()),
        n => texts.push(format!("Without {n} runs that were not selected.")),
    }
    let days = period_words(period);
    match outside {
        0 => {}
        n => texts.push(format!("Without {} outside the days selected, {days}.", runs(n))),
    }
    texts
}

/// Of each measure whose buckets are logarithmic because of the data: what linear ones would be.
fn scales(note: &mut impl FnMut(String), document: &Document<'_>) {
    let mut said = BTreeSet::new();
    for table in document.tables {
        for (by, settled) in table.by.iter().zip(&table.scales) {
            let (TableSide::Measure(measure), Some(settled)) = (by, settled) else { continue };
            let (ScaleKind::Logarithmic, Some((size, rows))) = (settled.scale.kind, settled.linear)
            else {
                continue;
            };
            if said.insert(measure.name) {
                let size = exact(size.millionths().into(), 6);
                note(format!(
                    "{}: logarithmic buckets, because the data would fill {} of {size} \
                     (--bucket {}={size}).",
                    measure.heading,
                    count(rows as u64, "bucket"),
                    measure.name
                ));
            }
        }
    }
}

/// Of each table by periods, how many are left out in long gaps.
fn left_out(note: &mut impl FnMut(String), document: &Document<'_>) {
    for table in document.tables {
        for (by, axis) in table.by.iter().zip(&table.axes) {
            let (TableSide::Field(field), Some(axis)) = (by, axis) else { continue };
            if !axis.breaks.is_empty() {
                note(format!(
                    "{}: without {} that have no runs, in {}.",
                    field.heading(),
                    count(axis.left_out, &field.title()),
                    count(axis.breaks.len() as u64, "gap"),
                ));
            }
        }
    }
}

/// The measures that tables are by, each once.
fn in_order<'t, T: PartialEq>(
    document: &Document<'t>,
    of: impl Fn(&'t TableSide) -> Option<T>,
) -> Vec<T> {
    let mut found = Vec::new();
    for value in document.tables.iter().flat_map(|table| &table.by).filter_map(of) {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// What a measure is, in short.
fn about(measure: &Measure) -> String {
    match measure.name {
        // The words of the first reports.
        "mflops" => "MFlop/s per PE, over the wall clock time.".to_owned(),
        _ => format!("{}. {}", measure.unit, measure.about),
    }
}

/// Below a table by a measure: what its percentages are of, and the runs without a value.
fn below(
    note: &mut impl FnMut(String),
    document: &Document<'_>,
    measure: &Measure,
    sample: &Sample,
) {
    let total = document.report.total;
    let valued = sample.valued;
    let value = if measure.name == "mflops" { "rate" } else { "value" };
    if valued.runs < total.runs {
        note(format!(
            "Under {}: Num% of {} with a {value}, Time% of their {}.",
            measure.heading,
            runs(valued.runs),
            hours(valued.time)
        ));
    }
    without(note, measure, sample);
    estimates(note, sample);
}

fn without(note: &mut impl FnMut(String), measure: &Measure, sample: &Sample) {
    for (share, why) in [(sample.uncounted, measure.uncounted), (sample.zero, measure.zero)] {
        let Share { runs: count, .. } = share;
        if count > 0 {
            note(format!("- : {} {why} (not measured)", runs(count)));
        }
    }
    if sample.uncounted.runs > 0 && sample.valued.runs == 0 && measure.is_of_processor() {
        note(format!("Next: {COUNTING_NEEDS}"));
    }
    let accelerated = sample.accelerated.runs;
    if accelerated > 0 {
        let are = if accelerated == 1 { "is" } else { "are" };
        note(format!(
            "- : {} used an accelerator and {are} in no rate of the processor; \
             --with-accelerators adds {}.",
            runs(accelerated),
            if accelerated == 1 { "it" } else { "them" }
        ));
    }
}

fn estimates(note: &mut impl FnMut(String), sample: &Sample) {
    let estimated = sample.estimated.runs;
    if estimated > 0 {
        let counts = if estimated == 1 { "an estimate" } else { "estimates" };
        note(format!("~ : {} counted by {counts}", runs(estimated)));
    }
}

/// Of a measure in columns: what mean and sum are, how much of the sum its error is of.
fn column(note: &mut impl FnMut(String), measure: &Measure, sample: &Sample, known: bool) {
    let heading = measure.heading;
    if !known {
        note(format!("{heading}: {}", about(measure)));
        without(note, measure, sample);
        estimates(note, sample);
    }
    let (sum_of, unit) = measure.sum;
    let Some(sum) = sample.sum(measure) else {
        if sample.is_overflown() {
            note(format!("{heading}: its sums are too large to be shown."));
        } else if sum_of.is_empty() && sample.valued.runs > 0 {
            note(format!("{heading}: mean per run; it has no sum."));
        }
        return;
    };
    if !measure.is_extrapolated() {
        note(format!("{heading}: mean per run; sum of {sum_of} in {unit}."));
        return;
    }
    note(format!(
        "{heading}: mean weighted as the sums are; sum of {sum_of} in {unit}, extrapolated from \
         {} of {} PEs in {}.",
        sum.pes,
        sum.all_pes,
        runs(sum.runs)
    ));
    let part = |spread: topas_data::measure::Spread| match sum.value {
        0.0 => "0".to_owned(),
        value => significant(100.0 * spread.part / value, 3),
    };
    note(match sum.spread {
        None => format!("{heading}: no run has two values, so the error of its sum is not known."),
        Some(spread) if spread.runs < sum.runs => format!(
            "+/- : standard error of the sum by the spread between measuring PEs; * : known of \
             {} with two values, {}% of the sum of {heading}.",
            runs(spread.runs),
            part(spread)
        ),
        Some(_) => "+/- : standard error of the sum by the spread between measuring PEs".to_owned(),
    });
}

/// What is odd about lines and runs.
fn remarks(note: &mut impl FnMut(String), document: &Document<'_>) {
    let remarks = &document.report.remarks;
    let torn: u64 = document
        .tally
        .problems()
        .filter(|(p, _)| matches!(p, Problem::Unfinished | Problem::Fault(Fault::length)))
        .map(|(_, count)| count)
        .sum();
    let lines = |n: u64| count(n, "line");
    let total = runs(document.report.total.runs);
    let single = percentage(remarks.single.into(), document.report.total.runs.into(), 2);
    let single = single.unwrap_or_default();
    for (count, text) in [
        (
            remarks.single,
            format!(
                "{} of two PEs or more with one line, {single}% of {total}",
                runs(remarks.single)
            ),
        ),
        (remarks.duplicates, format!("{} there twice, counted once", lines(remarks.duplicates))),
        (torn, format!("{} torn (cut, or mixed with another), skipped", lines(torn))),
        (
            remarks.zone,
            format!("{} with a clock jump: t= and local time disagree", lines(remarks.zone)),
        ),
        (remarks.span, format!("{} with impossible times", lines(remarks.span))),
        (remarks.apart, format!("{} on nodes whose clocks disagree", runs(remarks.apart))),
    ] {
        if count > 0 {
            note(format!("! : {text}"));
        }
    }
}
