//! Utilisation by period: for people, as CSV, as JSON, and as a calendar.

mod calendar;
mod notes;

use serde_json::{Map, Value, json};
use topas_data::{PeTime, PeriodStep, UsedCell, UsedPeriod, UtilisationReport};
use topas_format::shown::Shown;

use crate::csv;
use crate::figure::iso_day;
use crate::number::{NONE, pe_hours, pe_seconds, percentage};
use crate::text::{columns, cut, right};
use crate::wording::{PROSE_WIDTH, TEXT_WIDTH, capital, count, hanging};

pub use calendar::calendar;

/// Value of the key `schema` of the object.
pub const UTILISATION_SCHEMA: &str = "topas.utilisation/1";

/// The same in each line of [`json_lines`].
pub const UTILISATION_ROW_SCHEMA: &str = "topas.utilisation.row/1";

/// Width of a column of the text that shows the share of a partition.
const PARTITION: usize = 8;

/// What runs without a partition are called.
const NO_PARTITION: &str = "(none)";

/// The name of a partition, as people read it.
fn partition(name: &[u8]) -> String {
    if name.is_empty() { NO_PARTITION.to_owned() } else { Shown(name).to_string() }
}

/// Used by available in percent, `-` where that is not known. What is little is not nothing.
fn share(cell: &UsedCell) -> String {
    let percent = cell.available.and_then(|of| percentage(cell.used.0, of.0, 1));
    match percent {
        None => NONE.to_owned(),
        Some(text) if text == "0.0" && cell.used.0 > 0 => "<0.1%".to_owned(),
        Some(text) => text + "%",
    }
}

fn available(cell: &UsedCell) -> String {
    cell.available.map_or_else(|| NONE.to_owned(), pe_hours)
}

/// Whether the columns of partitions tell anything that the machine does not.
fn has_partitions(report: &UtilisationReport) -> bool {
    report.partitions.iter().any(|name| !name.is_empty())
}

/// How the figures of a row are written.
struct UtilisationLayout {
    /// Columns of the PE-hours
    hours: usize,
    /// Columns of shares
    share: usize,
    /// Without hundredths, where the room is small
    rounded: bool,
    /// With what was available, which the share tells, too
    available: bool,
}

impl UtilisationLayout {
    /// Columns in front of figures and between them.
    const GAPS: usize = 4;

    /// For names of so many columns in lines of so many.
    fn new(report: &UtilisationReport, names: usize, width: usize) -> Self {
        let roomy = UtilisationLayout { hours: 13, share: 7, rounded: false, available: true };
        if names + roomy.columns() <= width {
            return roomy;
        }
        let cells = report.periods.iter().map(|period| &period.all).chain([&report.all]);
        let cells = cells.chain(&report.sums);
        let widest = |cell: &UsedCell| {
            let available = cell.available.map_or(0, |time| whole_hours(time).len());
            whole_hours(cell.used).len().max(available)
        };
        let hours = cells.map(widest).max().unwrap_or(0).max("available".len());
        let close = UtilisationLayout { hours, share: 7, rounded: true, available: true };
        let fits = names + close.columns() <= width;
        UtilisationLayout { available: fits, ..close }
    }

    fn columns(&self) -> usize {
        let columns = if self.available { 2 } else { 1 };
        columns * self.hours + self.share + Self::GAPS
    }

    /// PE-hours used, those available, and the share.
    fn figures(&self, cell: &UsedCell) -> String {
        let hours = if self.rounded { whole_hours } else { pe_hours };
        let available = cell.available.map_or_else(|| NONE.to_owned(), hours);
        self.row(&hours(cell.used), &available, &share(cell))
    }

    fn row(&self, used: &str, available: &str, share: &str) -> String {
        let UtilisationLayout { hours, share: shares, .. } = *self;
        if self.available {
            format!("{used:>hours$} {available:>hours$} {share:>shares$}")
        } else {
            format!("{used:>hours$} {share:>shares$}")
        }
    }

    fn heading(&self) -> String {
        self.row("PE-h used", "available", "Share")
    }
}

/// PE-hours without hundredths. What is little is not nothing.
fn whole_hours(time: PeTime) -> String {
    let hour = 3_600_000_000;
    match time.0 / hour + u128::from(time.0 % hour >= hour / 2) {
        0 if time.0 > 0 => "<1".to_owned(),
        hours => hours.to_string(),
    }
}

/// The report for people, in lines of so many columns; None: 80, and all partitions.
pub fn text(report: &UtilisationReport, width: Option<usize>) -> String {
    let (all_columns, prose) = (width.unwrap_or(usize::MAX), width.unwrap_or(TEXT_WIDTH));
    let step = step_words(report);
    let Some(between) = between(report) else { return "no runs\n".to_owned() };
    let mut out = hanging(&format!("Utilisation by {step}, {between}"), prose, 4);
    out.push('\n');
    let names = period_names(report);
    let width = names.iter().map(String::len).max().unwrap_or(0).max(step.len());
    let mut heading = format!("{:<width$}", capital(&step));
    let layout = UtilisationLayout::new(report, width, all_columns);
    let room = all_columns.saturating_sub(width + layout.columns()) / (PARTITION + 1);
    // Which share a partition has is of use only where its capacity is known.
    let shown: Vec<usize> = (0..report.partitions.len())
        .filter(|&at| report.periods.iter().any(|period| period.partitions[at].available.is_some()))
        .take(room)
        .collect();
    heading += &format!("  {}", layout.heading());
    for &at in &shown {
        heading.push(' ');
        heading += &right(&cut(&partition(&report.partitions[at]), PARTITION), PARTITION);
    }
    line(&mut out, &heading);
    for (period, name) in report.shown().zip(names) {
        let mut row = format!("{name:<width$}{} ", if period.partial { "*" } else { " " });
        row += &layout.figures(&period.all);
        for &at in &shown {
            row.push(' ');
            row += &right(&share(&period.partitions[at]), PARTITION);
        }
        line(&mut out, &row);
    }
    if report.rows.len() < report.periods.len() {
        line(&mut out, &format!("... {} of {}", report.rows.len(), counted_periods(report)));
    }
    let mut row = format!("{:<width$}  {}", "Sum", layout.figures(&report.all));
    for &at in &shown {
        row.push(' ');
        row += &right(&share(&report.sums[at]), PARTITION);
    }
    line(&mut out, &row);
    if has_partitions(report) {
        partitions(&mut out, report, all_columns);
    }
    out.push('\n');
    for note in notes::notes(report) {
        out += &hanging(&note, prose.min(PROSE_WIDTH), 4);
    }
    out
}

fn partitions(out: &mut String, report: &UtilisationReport, most: usize) {
    let heading = "Partition";
    let layout = UtilisationLayout::new(report, heading.len(), most);
    let room = most.saturating_sub(layout.columns()).clamp(heading.len(), 36);
    let names: Vec<String> =
        report.partitions.iter().map(|name| cut(&partition(name), room)).collect();
    let width = names.iter().map(|name| columns(name)).max().unwrap_or(0).max(heading.len());
    out.push('\n');
    let heading = format!("{heading:<width$}  {}", layout.heading());
    line(out, &heading);
    for (name, cell) in names.iter().zip(&report.sums) {
        let blanks = " ".repeat(width - columns(name));
        line(out, &format!("{name}{blanks}  {}", layout.figures(cell)));
    }
}

fn line(out: &mut String, text: &str) {
    *out += text.trim_end();
    out.push('\n');
}

/// The names of the periods that are shown; an hour that clocks repeat also has its offset from UTC.
fn period_names(report: &UtilisationReport) -> Vec<String> {
    let periods = &report.periods;
    let name = |(at, period): (usize, &UsedPeriod)| {
        let is_same = |at: usize| periods.get(at).is_some_and(|other| other.name == period.name);
        let twice = is_same(at + 1) || at.checked_sub(1).is_some_and(is_same);
        let ahead = if twice { format!(" {}", offset(period.ahead)) } else { String::new() };
        period.name.clone() + &ahead
    };
    report.rows.iter().filter_map(|&at| Some((at, periods.get(at)?))).map(name).collect()
}

/// From when to when: `2026-01 to 2026-12`; None without periods.
fn between(report: &UtilisationReport) -> Option<String> {
    let (first, last) = (report.periods.first()?, report.periods.last()?);
    Some(match (report.step, report.days) {
        (PeriodStep::HourOfWeek, Some((first, last))) => {
            format!("{} to {}", iso_day(first), iso_day(last))
        }
        _ => format!("{} to {}", first.name, last.name),
    })
}

/// What a period is called: `month`, `hour of week`.
fn step_words(report: &UtilisationReport) -> String {
    report.step.name().replace('-', " ")
}

/// How many periods there are: `12 months`, `168 hours of the week`.
fn counted_periods(report: &UtilisationReport) -> String {
    match report.step {
        PeriodStep::HourOfWeek => {
            format!("{} of the week", count(report.periods.len() as u64, "hour"))
        }
        step => count(report.periods.len() as u64, step.name()),
    }
}

/// Seconds as `+01:00`.
pub(crate) fn offset(seconds: i64) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// When a period begins: `2026-11-20T08:00:00+01:00`.
fn begin(period: &UsedPeriod) -> String {
    let day = period.day;
    let local = (period.begin + period.ahead).rem_euclid(86_400) / 60;
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:00{}",
        day.year,
        day.month,
        day.day,
        local / 60,
        local % 60,
        offset(period.ahead)
    )
}

/// What a row is of: the machine, or a partition.
fn rows<'r>(
    report: &'r UtilisationReport,
    period: &'r UsedPeriod,
) -> impl Iterator<Item = (Option<String>, &'r UsedCell)> {
    let name = |name: &[u8]| Shown(name).to_string();
    let parts = report.partitions.iter().map(move |part| Some(name(part))).zip(&period.partitions);
    let parts = parts.filter(move |_| has_partitions(report));
    std::iter::once((None, &period.all)).chain(parts)
}

/// A line for each period of the machine and of each partition.
pub fn csv(report: &UtilisationReport) -> String {
    let mut out = "period,begin,seconds,scope,partition,used_pe_seconds,available_pe_seconds,\
                   share_percent,partial\n"
        .to_owned();
    for period in report.shown() {
        for (name, cell) in rows(report, period) {
            let scope = if name.is_some() { "partition" } else { "machine" };
            let share = cell.available.and_then(|of| percentage(cell.used.0, of.0, 4));
            out += &[
                period.name.clone(),
                begin(period),
                period.seconds.to_string(),
                scope.to_owned(),
                csv::field(&name.unwrap_or_default()),
                pe_seconds(cell.used),
                cell.available.map(pe_seconds).unwrap_or_default(),
                share.unwrap_or_default(),
                u8::from(period.partial).to_string(),
            ]
            .join(",");
            out.push('\n');
        }
    }
    out
}

/// One object, schema `topas.utilisation/1`.
pub fn json(report: &UtilisationReport) -> String {
    let periods: Vec<Value> = report
        .shown()
        .map(|period| {
            let mut object = about(period);
            object.extend(figures_json(&period.all));
            object.insert("partitions".to_owned(), parts_json(report, &period.partitions));
            Value::Object(object)
        })
        .collect();
    let mut sum = figures_json(&report.all);
    sum.insert("partitions".to_owned(), parts_json(report, &report.sums));
    let zone = report.zone;
    let object = json!({
        "schema": UTILISATION_SCHEMA,
        "step": report.step.name(),
        "runs": report.runs.runs,
        "pe_seconds": report.runs.time.seconds(),
        "outside_pe_seconds": report.outside.seconds(),
        "impossible": {
            "runs": report.impossible.runs,
            "pe_seconds": report.impossible.time.seconds(),
        },
        "zone": { "of_this_machine": zone.own, "agreed_runs": zone.agreed, "runs": zone.of },
        "capacity_known": report.has_capacity,
        "sum": sum,
        "periods": periods,
    });
    format!("{object:#}\n")
}

/// An object for each period of the machine and of each partition, one a line.
pub fn json_lines(report: &UtilisationReport) -> String {
    let mut out = String::new();
    for period in report.shown() {
        for (name, cell) in rows(report, period) {
            let mut object = Map::new();
            object.insert("schema".to_owned(), UTILISATION_ROW_SCHEMA.into());
            object.insert("step".to_owned(), report.step.name().into());
            object.extend(about(period));
            let scope = if name.is_some() { "partition" } else { "machine" };
            object.insert("scope".to_owned(), scope.into());
            object.insert("partition".to_owned(), json!(name));
            object.extend(figures_json(cell));
            out += &Value::Object(object).to_string();
            out.push('\n');
        }
    }
    out
}

fn about(period: &UsedPeriod) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("period".to_owned(), period.name.clone().into());
    object.insert("begin".to_owned(), begin(period).into());
    object.insert("seconds".to_owned(), period.seconds.into());
    object.insert("partial".to_owned(), period.partial.into());
    object
}

fn figures_json(cell: &UsedCell) -> Map<String, Value> {
    let share = cell.available.and_then(|of| percentage(cell.used.0, of.0, 4));
    let share: Option<f64> = share.and_then(|text| text.parse().ok());
    let mut object = Map::new();
    object.insert("used_pe_seconds".to_owned(), json!(cell.used.seconds()));
    object.insert("available_pe_seconds".to_owned(), json!(cell.available.map(PeTime::seconds)));
    object.insert("share_percent".to_owned(), json!(share));
    object
}

fn parts_json(report: &UtilisationReport, cells: &[UsedCell]) -> Value {
    if !has_partitions(report) {
        return Value::Array(Vec::new());
    }
    let parts = report.partitions.iter().zip(cells).map(|(name, cell)| {
        let mut object = Map::new();
        object.insert("partition".to_owned(), Shown(name).to_string().into());
        object.extend(figures_json(cell));
        Value::Object(object)
    });
    Value::Array(parts.collect())
}
