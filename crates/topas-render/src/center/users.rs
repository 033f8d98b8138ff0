//! Users and programs with their time and rates: Figures 9 and 14 of R. Rabenseifner, "Automatic
//! MPI Counter Profiling" (2000).

use topas_chart::{AxisUnit, BarPlaces, Bars, Quantity, Series};
use topas_data::{FigureValue, Label, ReportRow, ReportTable};
use topas_mpi_data::LaunchTimes;

use super::{Asked, MOST_ROWS, Part, PartTable, Shown};
use crate::number::{NONE, grouped, pe_hours, percent_of, short};
use crate::row::named;
use crate::wording::count;

/// Users in a picture.
const DRAWN: usize = 16;

/// The cells of a row: name, runs and their share, PE-hours and their share, and so many of the
/// measures.
pub(super) fn cells(table: &ReportTable, row: &ReportRow, measures: usize) -> Vec<String> {
    let mut cells = vec![
        named(&row.labels[0], false).name,
        grouped(&row.share.runs.to_string()),
        percent_of(row.share.runs.into(), table.of.runs.into()),
        grouped(&pe_hours(row.share.time)),
        percent_of(row.share.time.0, table.of.time.0),
    ];
    for at in 0..measures {
        cells.push(mean(table, row, at).map_or_else(|| NONE.to_owned(), short));
    }
    cells
}

/// The mean of a measure of a row, by the place of its column.
fn mean(table: &ReportTable, row: &ReportRow, at: usize) -> Option<f64> {
    let (sample, measure) = (row.samples.get(at)?, table.columns.get(at)?);
    sample.mean(measure).map(|mean| mean.value)
}

/// The length of a bar in percent of the longest.
pub(super) fn bar(part: u128, most: u128) -> u64 {
    let percent = (part * 200 + most).checked_div(2 * most).unwrap_or(0);
    u64::try_from(percent).unwrap_or(100).min(100)
}

fn failed(row: &ReportRow) -> String {
    match row.figures.first() {
        Some(FigureValue::Failures(rate)) if rate.known > 0 => {
            percent_of(rate.failed.into(), rate.known.into())
        }
        _ => NONE.to_owned(),
    }
}

pub(super) fn parts(shown: &Shown<'_, '_>) -> Vec<Part> {
    let profiles = shown.center.profiles;
    let of_user = |name: &[u8]| profiles.by_user.get(name).copied();
    let of_exe = |name: &[u8]| profiles.sum.by_exe.get(name).copied();
    vec![
        table(shown, Asked::Users, "users", "Users", "user", &of_user),
        table(shown, Asked::Programs, "programs", "Programs", "program", &of_exe),
        rates(shown),
    ]
}

fn in_mpi(times: Option<LaunchTimes>) -> String {
    match times.filter(|times| times.wall > 0) {
        Some(times) => percent_of(times.mpi, times.wall),
        None => NONE.to_owned(),
    }
}

fn name_of(row: &ReportRow) -> &[u8] {
    match row.labels.first() {
        Some(Label::Value(name)) => name.as_bytes(),
        _ => b"",
    }
}

/// Sorted by time.
fn table(
    shown: &Shown<'_, '_>,
    asked: Asked,
    id: &'static str,
    title: &'static str,
    one: &'static str,
    times: &dyn Fn(&[u8]) -> Option<LaunchTimes>,
) -> Part {
    let table = shown.by_time(asked);
    let mut part = Part::new(id, title);
    let Some(first) = table.rows.first() else {
        part.sentence = "There are no runs.".to_owned();
        return part;
    };
    let half = table.of.time.0 / 200;
    let large = table.rows.iter().filter(|row| row.share.time.0 > half).count();
    part.sentence = format!(
        "{} used the most, {} of the PE-hours; {} used more than half a percent each.",
        named(&first.labels[0], false).name,
        percent_of(first.share.time.0, table.of.time.0),
        count(large as u64, one)
    );
    let drawn: Vec<&ReportRow> = table.rows.iter().take(DRAWN).collect();
    let mut chart = Bars::new(
        BarPlaces::Categories(drawn.iter().map(|row| named(&row.labels[0], false).name).collect()),
        Quantity::new(one, AxisUnit::Count),
        Quantity::new("Share of the PE-hours", AxisUnit::Percent),
    );
    let percent =
        |part: u128| (table.of.time.0 > 0).then(|| 100.0 * part as f64 / table.of.time.0 as f64);
    chart.series = vec![Series::new("", drawn.iter().map(|row| percent(row.share.time.0)))];
    chart.caption.title = format!("The {} with the most PE-hours", count(drawn.len() as u64, one));
    chart.caption.notes = vec![format!("100% are {} PE-h.", grouped(&pe_hours(table.of.time)))];
    part.charts.push(chart);
    let rows = table.rows.iter().take(MOST_ROWS);
    let cells = |row: &ReportRow| {
        let mut cells = cells(table, row, 3);
        cells.push(in_mpi(times(name_of(row))));
        cells.push(failed(row));
        cells
    };
    part.tables.push(PartTable {
        caption: format!("{title}, sorted by PE-hours"),
        headings: vec![
            one,
            "runs",
            "of the runs",
            "PE-h",
            "of the PE-h",
            "MFlop/s per PE",
            "IPC",
            "L1 misses per op",
            "time in MPI",
            "failed",
        ],
        rows: rows.clone().map(cells).collect(),
        bars: rows.map(|row| bar(row.share.time.0, first.share.time.0)).collect(),
        marked: Vec::new(),
    });
    if let Some(rest) = table.rows.get(MOST_ROWS..).filter(|rest| !rest.is_empty()) {
        let time = rest.iter().map(|row| row.share.time.0).sum();
        part.notes.push(format!(
            "{} more with {} of the PE-hours are not shown; topas-stat --by {} has all.",
            count(rest.len() as u64, one),
            percent_of(time, table.of.time.0),
            TableNames(table)
        ));
    }
    part.notes.push(
        "Time in MPI is of launches with an MPI profile; - is not measured. Means are weighted by \
         PE x time."
            .to_owned(),
    );
    part
}

/// What a table is by, as an option of topas-stat.
struct TableNames<'t>(&'t ReportTable);

impl std::fmt::Display for TableNames<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&crate::row::table_name(self.0))
    }
}

/// Users sorted by rate, among those that matter: the lower part of Figure 14.
fn rates(shown: &Shown<'_, '_>) -> Part {
    let table = shown.by_time(Asked::Users);
    let mut part = Part::new("user-rates", "Users by rate");
    let mut rated: Vec<(f64, &ReportRow)> = table
        .rows
        .iter()
        .take(DRAWN)
        .filter_map(|row| mean(table, row, 0).map(|rate| (rate, row)))
        .collect();
    rated.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let (Some((high, fastest)), Some((low, slowest))) = (rated.first(), rated.last()) else {
        part.sentence = "No user with much time has a floating point rate.".to_owned();
        return part;
    };
    part.sentence = format!(
        "Of the {} with the most PE-hours, {} reaches {} MFlop/s per PE and {} {}.",
        count(rated.len() as u64, "user"),
        named(&fastest.labels[0], false).name,
        short(*high),
        named(&slowest.labels[0], false).name,
        short(*low)
    );
    let mut chart = Bars::new(
        BarPlaces::Categories(
            rated.iter().map(|(_, row)| named(&row.labels[0], false).name).collect(),
        ),
        Quantity::new("user", AxisUnit::Count),
        Quantity::new("Rate", AxisUnit::Plain("MFlop/s per PE")),
    );
    chart.series = vec![Series::new("", rated.iter().map(|(rate, _)| Some(*rate)))];
    chart.caption.title = "Floating point rates of the users with the most PE-hours".to_owned();
    part.charts.push(chart);
    part
}
