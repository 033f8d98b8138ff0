//! Distributions: rates by language, processor and library as in Figures 1 and 2 of B. Mohr,
//! "TOPAS" (1999), time by the length and the size of runs as in Figures 6 to 8 of R. Rabenseifner,
//! "Automatic MPI Counter Profiling" (2000).

use topas_chart::{Arrangement, AxisUnit, BarPlaces, Bars, Quantity, Series};
use topas_data::measure::Bounds;
use topas_data::{Label, ReportTable};

use super::summary::document;
use super::{Asked, Part, PartTable, Shown};
use crate::number::{grouped, pe_hours, percent_of, short};
use crate::picture::{Weight, bars};
use crate::row::named;

pub(super) fn parts(shown: &Shown<'_, '_>) -> Vec<Part> {
    vec![
        rates(shown, Asked::RatesByLanguage, "rates-lang", "Rates by language", "language"),
        rates(
            shown,
            Asked::RatesByProcessor,
            "rates-cpu",
            "Rates by type of processor",
            "type of processor",
        ),
        rates(
            shown,
            Asked::RatesByLibrary,
            "rates-lib",
            "Rates by message passing library",
            "message passing library",
        ),
        hours(shown),
        sizes(shown),
    ]
}

/// The first bucket up to which half of the weight of a table lies, and the first label of the
/// second side with most of the weight.
fn middle(table: &ReportTable, weight: impl Fn(&topas_data::ReportRow) -> u128) -> Option<String> {
    let counted = || table.rows.iter().filter(|row| row.counts);
    let all: u128 = counted().map(&weight).sum();
    let mut sum = 0;
    for label in &table.sides[0] {
        sum += counted().filter(|row| row.labels[0] == *label).map(&weight).sum::<u128>();
        if all > 0 && sum * 2 >= all {
            return match label {
                Label::Bucket(Bounds::Between(_, to)) => Some(short(*to as f64 / 1e6)),
                Label::Bucket(Bounds::Zero) => Some("0".to_owned()),
                _ => None,
            };
        }
    }
    None
}

/// The label of the second side with the most of the time, and its share.
fn strongest(table: &ReportTable) -> Option<(String, String)> {
    let time = |label: &Label| -> u128 {
        let rows = table.rows.iter().filter(|row| row.counts && row.labels.get(1) == Some(label));
        rows.map(|row| row.share.time.0).sum()
    };
    let label = table.sides.get(1)?.iter().max_by_key(|label| time(label))?;
    (table.of.time.0 > 0)
        .then(|| (named(label, false).name, percent_of(time(label), table.of.time.0)))
}

fn rates(
    shown: &Shown<'_, '_>,
    asked: Asked,
    id: &'static str,
    title: &'static str,
    what: &str,
) -> Part {
    let mut part = Part::new(id, title);
    let table = shown.table(asked);
    if table.of.runs == 0 {
        part.sentence = "No run has a floating point rate.".to_owned();
        return part;
    }
    let mut sentences = Vec::new();
    if let Some(bound) = middle(table, |row| row.share.time.0) {
        sentences.push(format!(
            "Half of the PE-hours are of runs with less than {bound} MFlop/s per PE."
        ));
    }
    if let Some((name, share)) = strongest(table) {
        sentences.push(format!("By {what}, {name} has the most PE-hours, {share}."));
    }
    part.sentence = sentences.join(" ");
    part.charts.push(bars(&document(shown, std::slice::from_ref(table)), table, Weight::Runs));
    part
}

/// PE-hours per run.
fn hours(shown: &Shown<'_, '_>) -> Part {
    let mut part = Part::new("hours", "PE-hours per run");
    let table = shown.table(Asked::HoursByLanguage);
    if table.of.runs == 0 {
        part.sentence = "There are no runs.".to_owned();
        return part;
    }
    let median = |of: Option<String>| of.unwrap_or_else(|| "more than is shown".to_owned());
    let (runs, time) =
        (middle(table, |row| row.share.runs.into()), middle(table, |row| row.share.time.0));
    part.sentence = format!(
        "Half of the runs take less than {} PE-h, but half of the PE-hours are of runs of up to {} \
         PE-h.",
        median(runs),
        median(time)
    );
    part.charts.push(bars(&document(shown, std::slice::from_ref(table)), table, Weight::Time));
    part
}

/// Number of PEs: Figure 8.
fn sizes(shown: &Shown<'_, '_>) -> Part {
    let mut part = Part::new("sizes", "Number of PEs");
    let table = shown.table(Asked::Sizes);
    let Some(most) = table.rows.iter().max_by_key(|row| row.share.time) else {
        part.sentence = "There are no runs.".to_owned();
        return part;
    };
    part.sentence = format!(
        "Most of the PE-hours, {}, are of runs on {} PEs; these are {} of the runs.",
        percent_of(most.share.time.0, table.of.time.0),
        named(&most.labels[0], false).name,
        percent_of(most.share.runs.into(), table.of.runs.into())
    );
    let names = table.rows.iter().map(|row| named(&row.labels[0], false).name).collect();
    let mut chart = Bars::new(
        BarPlaces::Categories(names),
        Quantity::new("number of PEs", AxisUnit::Count),
        Quantity::new("Share", AxisUnit::Percent),
    );
    chart.arrangement = Arrangement::Beside;
    let percent = |part: u128, whole: u128| (whole > 0).then(|| 100.0 * part as f64 / whole as f64);
    chart.series = vec![
        Series::new(
            "of the PE-hours",
            table.rows.iter().map(|row| percent(row.share.time.0, table.of.time.0)),
        ),
        Series::new(
            "of the runs",
            table.rows.iter().map(|row| percent(row.share.runs.into(), table.of.runs.into())),
        ),
    ];
    chart.caption.title = "PE-hours and runs by number of PEs".to_owned();
    chart.caption.notes = vec![format!(
        "100% are {} PE-h and {} runs.",
        grouped(&pe_hours(table.of.time)),
        grouped(&table.of.runs.to_string())
    )];
    part.charts.push(chart);
    let most = table.rows.iter().map(|row| row.share.time.0).max().unwrap_or(0);
    part.tables.push(PartTable {
        caption: "By number of PEs".to_owned(),
        headings: vec!["PEs", "runs", "of the runs", "PE-h", "of the PE-h", "MFlop/s per PE"],
        rows: table.rows.iter().map(|row| super::users::cells(table, row, 1)).collect(),
        bars: table.rows.iter().map(|row| super::users::bar(row.share.time.0, most)).collect(),
        marked: Vec::new(),
    });
    part
}
