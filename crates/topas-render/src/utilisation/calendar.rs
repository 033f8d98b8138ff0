//! Periods as a calendar.

use topas_chart::{Calendar, CalendarCell, Caption};
use topas_data::{PeriodStep, UsedPeriod, UtilisationReport};

use super::{available, between, notes, share, step_words};
use crate::number::pe_hours;

/// Days as cells by week and day of the week; hours by day and hour of the day; hours of the week by
/// hour and day of the week; weeks and months by year. Without a capacity the colour is the share of the period in which most was used.
pub fn calendar(report: &UtilisationReport) -> Calendar {
    let mut places = Vec::new();
    let (rows, columns) = match report.step {
        PeriodStep::Day => days(report, &mut places),
        PeriodStep::Hour => hours(report, &mut places),
        PeriodStep::HourOfWeek => week(report, &mut places),
        PeriodStep::Week | PeriodStep::Month => years(report, &mut places),
    };
    let most = report.periods.iter().map(|period| period.all.used.0).max().unwrap_or(0);
    let percent = |period: &UsedPeriod| {
        let of = match (report.has_capacity, period.all.available) {
            (true, available) => available?.0,
            (false, _) => most,
        };
        (of > 0).then(|| period.all.used.0 as f64 / of as f64 * 100.0)
    };
    let note = |period: &UsedPeriod| match period.all.available {
        Some(_) => format!(
            "{}: {} of {} PE-h ({})",
            period.name,
            pe_hours(period.all.used),
            available(&period.all),
            share(&period.all)
        ),
        None => format!("{}: {} PE-h", period.name, pe_hours(period.all.used)),
    };
    let step = step_words(report);
    let periods = report.periods.iter().zip(&places);
    let cells = periods.map(|(period, &(column, row))| CalendarCell {
        column,
        row,
        percent: percent(period),
        note: note(period),
    });
    let mut seen = std::collections::BTreeSet::new();
    // An hour that clocks repeat has one cell, that of the first.
    let cells: Vec<CalendarCell> =
        cells.filter(|cell| seen.insert((cell.column, cell.row))).collect();
    let subtitle = between(report).unwrap_or_default();
    let mut notes = notes::notes(report);
    notes.retain(|note| !note.starts_with('*'));
    if report.step == PeriodStep::Hour && cells.len() < report.periods.len() {
        notes.push("Of an hour that clocks repeat, the first is shown.".to_owned());
    }
    let name = if report.has_capacity {
        format!("PE-hours used in percent of those available, each {step}")
    } else {
        format!("PE-hours used in percent of the {step} with the most")
    };
    let title = if report.has_capacity { "Utilisation" } else { "PE-hours used" };
    Calendar {
        caption: Caption { title: format!("{title} by {step}"), subtitle, notes },
        rows,
        columns,
        name,
        cells,
        unknown: "capacity not known".to_owned(),
    }
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Columns and rows of cells.
type Names = (Vec<String>, Vec<String>);

/// Weeks, which are named by the month that begins in them, by days of the week.
fn days(report: &UtilisationReport, places: &mut Vec<(usize, usize)>) -> Names {
    let mut columns: Vec<String> = Vec::new();
    let mut named = None;
    for period in &report.periods {
        let month = (period.day.year, period.day.month);
        if period.weekday == 0 || columns.is_empty() {
            columns.push(String::new());
        }
        if named != Some(month) {
            named = Some(month);
            if let Some(name) = columns.last_mut() {
                *name = format!("{:04}-{:02}", month.0, month.1);
            }
        }
        places.push((columns.len() - 1, period.weekday.into()));
    }
    (WEEKDAYS.map(str::to_owned).to_vec(), columns)
}

/// Days of the week by hours of the day.
fn week(report: &UtilisationReport, places: &mut Vec<(usize, usize)>) -> Names {
    places.extend(report.periods.iter().map(|at| (at.hour.unwrap_or(0).into(), at.weekday.into())));
    (WEEKDAYS.map(str::to_owned).to_vec(), (0..24).map(|hour| format!("{hour:02}")).collect())
}

/// Days by hours of the day.
fn hours(report: &UtilisationReport, places: &mut Vec<(usize, usize)>) -> Names {
    let mut columns: Vec<String> = Vec::new();
    let mut last = None;
    for period in &report.periods {
        if last != Some(period.day) {
            let first_of_month = last.is_none() || period.day.day == 1;
            let day = period.day;
            columns.push(match (first_of_month, period.weekday) {
                (true, _) => format!("{:04}-{:02}-{:02}", day.year, day.month, day.day),
                (false, 0) => format!("{:02}-{:02}", day.month, day.day),
                _ => String::new(),
            });
            last = Some(day);
        }
        places.push((columns.len() - 1, period.hour.unwrap_or(0).into()));
    }
    ((0..24).map(|hour| format!("{hour:02}")).collect(), columns)
}

/// Weeks or months by year.
fn years(report: &UtilisationReport, places: &mut Vec<(usize, usize)>) -> Names {
    let mut rows: Vec<String> = Vec::new();
    for period in &report.periods {
        let (year, number) = period.name.split_once('-').unwrap_or((&period.name, "1"));
        if rows.last().is_none_or(|row| row != year) {
            rows.push(year.to_owned());
        }
        let number: usize = number.trim_start_matches('W').parse().unwrap_or(1);
        places.push((number - 1, rows.len() - 1));
    }
    let columns = match report.step {
        PeriodStep::Week => (1..=53)
            .map(|week| if week % 4 == 1 { format!("W{week:02}") } else { String::new() })
            .collect(),
        _ => (1..=12).map(|month| format!("{month:02}")).collect(),
    };
    (rows, columns)
}
