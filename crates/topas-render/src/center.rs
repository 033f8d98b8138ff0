//! What a center is told of a week, a month or a year: parts with a sentence that says what to
//! see, a picture, a table.
//!
//! The questions are those of [`topas_data::ReportPlan`], as `topas-stat` asks them, so the figures
//! are the same.

mod changes;
mod distributions;
mod mpi_routines;
mod summary;
mod users;

use topas_chart::Bars;
use topas_data::{
    CompareTable, Figure, LogReport, PeTime, Period, PlanError, ReportPlan, ReportTable, Selection,
    SortKey, TableOrder, TableSide, Tally,
};
use topas_mpi_data::{Calibration, CenterProfiles};

use topas_data::measure::Measure;

/// Users and programs that have rows of their own.
pub const MOST_ROWS: usize = 50;

/// Rows of a crossed table that have a colour of their own.
const MOST_SERIES: usize = 8;

/// A table of a part.
pub struct PartTable {
    /// What it is of
    pub caption: String,
    /// Of its columns
    pub headings: Vec<&'static str>,
    /// Cells of each row; the first names it
    pub rows: Vec<Vec<String>>,
    /// The length of a bar behind the name of each row, in percent of the longest
    pub bars: Vec<u64>,
    /// Rows that are to be looked at, by their places
    pub marked: Vec<usize>,
}

/// A part of what is told.
pub struct Part {
    /// Its name in a page
    pub id: &'static str,
    /// Its heading
    pub title: &'static str,
    /// What to see
    pub sentence: String,
    /// Pictures
    pub charts: Vec<Bars>,
    /// Tables
    pub tables: Vec<PartTable>,
    /// What is to be known of them
    pub notes: Vec<String>,
}

impl Part {
    fn new(id: &'static str, title: &'static str) -> Self {
        Part {
            id,
            title,
            sentence: String::new(),
            charts: Vec::new(),
            tables: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// What is asked of the log, in the order of [`Asked`], and in questions of their own: the rows of
/// a question are counted by all its fields together, and there would be as many as runs.
const TABLES: [&[&[&str]]; 2] = [
    &[
        &["mflops", "lang"],
        &["mflops", "cputype"],
        &["mflops", "lib"],
        &["pe_hours", "lang"],
        &["npes_class"],
        &["npes"],
        &["lang"],
        &["lib"],
    ],
    &[&["user"], &["exe"]],
];

/// How many questions [`plans`] has.
pub const QUESTIONS: usize = TABLES.len() + 1;

/// The measures of rows.
const MEASURES: [&str; 3] = ["mflops", "ipc", "l1_per_op"];

/// Places in the tables of all questions.
#[derive(Clone, Copy)]
enum Asked {
    RatesByLanguage,
    RatesByProcessor,
    RatesByLibrary,
    HoursByLanguage,
    Sizes,
    Pes,
    Languages,
    Libraries,
    Users,
    Programs,
}

/// The questions of a period; the last is how the time passed, by days or by months.
///
/// # Errors
///
/// [`PlanError`] if a name were none of a field or measure.
pub fn plans(period: Period) -> Result<[ReportPlan; QUESTIONS], PlanError> {
    let [ways, people] = TABLES;
    Ok([plan(period, ways)?, plan(period, people)?, plan(period, &[&[step(period)]])?])
}

/// A question of a period. In a log of years most lines are far from a week or a month.
fn plan_of(period: Period) -> ReportPlan {
    let mut plan = ReportPlan::new(Selection::default(), period);
    if step(period) == "day" {
        plan.only_near();
    }
    plan
}

/// A question with these tables.
fn plan(period: Period, tables: &[&[&str]]) -> Result<ReportPlan, PlanError> {
    let mut plan = plan_of(period);
    plan.figure(Figure::Failures);
    let measures: Vec<_> = MEASURES.iter().filter_map(|name| Measure::named(name).ok()).collect();
    for names in tables {
        let by = names.iter().map(|name| TableSide::named(name)).collect::<Result<Vec<_>, _>>()?;
        let columns = if by.len() == 1 { &measures[..] } else { &[] };
        plan.table(&by, columns)?;
    }
    Ok(plan)
}

/// The questions of the regression alarm, of one of both sides.
///
/// # Errors
///
/// As [`plans`].
pub fn change_plan(period: Period) -> Result<ReportPlan, PlanError> {
    let mut plan = plan_of(period);
    let by = [TableSide::named("user")?, TableSide::named("exe")?];
    let measures: Vec<_> =
        ["mflops", "wall"].iter().filter_map(|name| Measure::named(name).ok()).collect();
    plan.table(&by, &measures)?;
    Ok(plan)
}

/// What time passes by: days of a week or a month, months of more.
fn step(period: Period) -> &'static str {
    match (period.since, period.until) {
        (Some(since), Some(until)) if until.days() - since.days() <= 62 => "day",
        _ => "month",
    }
}

/// What is known of a center in a period.
pub struct Center<'c> {
    /// The period
    pub period: Period,
    /// The answers to [`plans`]; the runs of all are the same
    pub reports: &'c [LogReport<'c>; QUESTIONS],
    /// The lines that were read
    pub tally: &'c Tally,
    /// The answers to [`change_plan`], of this period and of the time before it; empty if there
    /// are no runs before
    pub changes: &'c [CompareTable],
    /// The time before it, in words
    pub before: &'c str,
    /// The MPI profiles
    pub profiles: &'c CenterProfiles,
    /// What routines of MPI cost on this machine
    pub calibration: Option<&'c Calibration>,
    /// PE-time that the machine had; None if that is not known
    pub available: Option<PeTime>,
}

impl Center<'_> {
    /// The answer that tells what all runs are together.
    fn report(&self) -> &LogReport<'_> {
        let [report, ..] = self.reports;
        report
    }

    /// The tables of all questions.
    fn tables(&self, order: &TableOrder) -> Vec<ReportTable> {
        self.reports.iter().flat_map(|report| report.tables(order)).collect()
    }
}

/// A center with its tables in both orders.
struct Shown<'c, 'r> {
    center: &'r Center<'c>,
    /// Rows as pictures show them
    tables: Vec<ReportTable>,
    /// All rows, those with most time first
    by_time: Vec<ReportTable>,
}

impl Shown<'_, '_> {
    fn by_time(&self, asked: Asked) -> &ReportTable {
        &self.by_time[asked as usize]
    }

    fn table(&self, asked: Asked) -> &ReportTable {
        &self.tables[asked as usize]
    }

    fn time(&self) -> Option<&ReportTable> {
        self.tables.last()
    }
}

/// All parts, in their order.
pub fn parts(center: &Center<'_>) -> Vec<Part> {
    let order = TableOrder { sort: Some(SortKey::Time), ..TableOrder::default() };
    let few = TableOrder { top: Some(MOST_SERIES), ..TableOrder::default() };
    let plain = center.tables(&TableOrder::default());
    let cut = center.tables(&few);
    // Only crossed tables have colours that run out.
    let tables = plain
        .into_iter()
        .zip(cut)
        .map(|(all, few)| if all.by.len() > 1 { few } else { all })
        .collect();
    let shown = Shown { center, tables, by_time: center.tables(&order) };
    let mut parts = vec![summary::part(&shown), summary::course(&shown)];
    parts.extend(distributions::parts(&shown));
    parts.extend(users::parts(&shown));
    parts.extend(mpi_routines::parts(&shown));
    parts.push(changes::part(&shown));
    parts
}
