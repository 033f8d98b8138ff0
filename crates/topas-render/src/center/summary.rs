//! The short summary, as Figure 5 of R. Rabenseifner, "Automatic MPI Counter Profiling" (2000), and
//! how the time passed.

use topas_data::{FigureValue, PeTime, ReportTable};

use super::{Asked, Part, PartTable, Shown};
use crate::document::Document;
use crate::number::{NONE, grouped, pe_hours, percent_of, seconds, short};
use crate::period::period_words;
use crate::picture::{Weight, bars};
use crate::row::named;
use crate::wording::{count, runs};

/// How many of the first rows have this share of the time, in percent, and the share they have.
fn leaders(table: &ReportTable, percent: u128) -> (usize, String) {
    let all = table.of.time.0;
    let mut sum = 0;
    for (at, row) in table.rows.iter().enumerate() {
        sum += row.share.time.0;
        if sum * 100 >= all * percent {
            return (at + 1, percent_of(sum, all));
        }
    }
    (table.rows.len(), percent_of(sum, all))
}

pub(super) fn part(shown: &Shown<'_, '_>) -> Part {
    let center = shown.center;
    let report = center.report();
    let total = report.total;
    let users = shown.by_time(Asked::Users);
    let programs = shown.by_time(Asked::Programs);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
    row("time", period_words(center.period));
    row("analyzed runs", grouped(&total.runs.to_string()));
    row("PE-hours", format!("{} PE-h", grouped(&pe_hours(total.time))));
    row("share of the machine", machine(center.available, total.time));
    row("users", grouped(&users.rows.len().to_string()));
    row("programs", grouped(&programs.rows.len().to_string()));
    row("PEs per run", mean_pes(shown.by_time(Asked::Pes)));
    for percent in [50, 95] {
        let (number, share) = leaders(users, percent);
        row(
            &format!("users with {percent}% of the PE-hours"),
            format!("the first {number} have {share}"),
        );
    }
    row("failed runs", failed(users));
    for (what, asked) in [("language", Asked::Languages), ("MP library", Asked::Libraries)] {
        for of in shown.by_time(asked).rows.iter().take(6) {
            // Programs without a library have none; nothing is unknown.
            let value = named(&of.labels[0], false).name;
            let name = format!("{what} {}", if value == NONE { "none" } else { &value });
            let hours = percent_of(of.share.time.0, total.time.0);
            let number = percent_of(of.share.runs.into(), total.runs.into());
            row(&name, format!("{hours} of the PE-hours, {number} of the runs"));
        }
    }
    let times = center.profiles.sum.times;
    if times.launches > 0 {
        mpi(shown, &mut row);
    }
    let (first, share) = leaders(users, 50);
    let mut part = Part::new("summary", "Summary");
    part.sentence = format!(
        "{} of {} used {} PE-h; {} of it is of {}.",
        grouped(&runs(total.runs)),
        grouped(&count(users.rows.len() as u64, "user")),
        grouped(&pe_hours(total.time)),
        share,
        if first == 1 { "one user".to_owned() } else { format!("{first} users") }
    );
    part.tables.push(PartTable {
        caption: "Summary".to_owned(),
        headings: vec!["quantity", "value"],
        rows,
        bars: Vec::new(),
        marked: Vec::new(),
    });
    part.notes.extend(
        crate::skipped::skipped(center.tally)
            .map(|text| text.lines().next().unwrap_or_default().to_owned()),
    );
    part
}

fn machine(available: Option<PeTime>, used: PeTime) -> String {
    match available {
        Some(of) if of.0 > 0 => {
            let had = grouped(&pe_hours(of));
            format!("{} of {had} PE-h that it had", percent_of(used.0, of.0))
        }
        _ => format!("{NONE} (capacity is not set in topas.conf)"),
    }
}

/// The mean over runs, and weighted by PE-time.
fn mean_pes(table: &ReportTable) -> String {
    let (mut runs, mut pes, mut time, mut weighted) = (0u128, 0u128, 0.0, 0.0);
    for row in &table.rows {
        let Ok(npes) = named(&row.labels[0], false).name.parse::<u64>() else { continue };
        runs += u128::from(row.share.runs);
        pes += u128::from(row.share.runs) * u128::from(npes);
        time += row.share.time.0 as f64;
        weighted += row.share.time.0 as f64 * npes as f64;
    }
    if runs == 0 || time == 0.0 {
        return NONE.to_owned();
    }
    format!("{}, {} weighted by time", short(pes as f64 / runs as f64), short(weighted / time))
}

fn failed(table: &ReportTable) -> String {
    let (mut failed, mut known, mut unknown) = (0, 0, 0);
    for row in &table.rows {
        if let Some(FigureValue::Failures(rate)) = row.figures.first() {
            failed += rate.failed;
            known += rate.known;
            unknown += rate.unknown;
        }
    }
    match known {
        0 => NONE.to_owned(),
        _ => {
            let share = percent_of(failed.into(), known.into());
            let others = match unknown {
                0 => String::new(),
                _ => format!("; of {} it is not known", grouped(&runs(unknown))),
            };
            let [failed, known] = [failed, known].map(|of: u64| grouped(&of.to_string()));
            format!("{failed} of {known}, {share}{others}")
        }
    }
}

/// What the MPI profiles say.
fn mpi(shown: &Shown<'_, '_>, row: &mut impl FnMut(&str, String)) {
    let sum = &shown.center.profiles.sum;
    let times = sum.times;
    let all = shown.center.report().total.time.0.saturating_mul(1000);
    row(
        "profiled launches",
        format!(
            "{}, {} of the PE-hours",
            grouped(&times.launches.to_string()),
            percent_of(times.wall, all)
        ),
    );
    row(
        "time in MPI",
        format!(
            "{} s = {} of the profiled time",
            grouped(&seconds(times.mpi, 0)),
            percent_of(times.mpi, times.wall)
        ),
    );
    if sum.with_waits.launches > 0 {
        let waited = sum.total.waits.all().waited();
        row(
            "waiting for other ranks",
            format!(
                "{} s = {} of the time of the {} launches that told waits apart",
                grouped(&seconds(waited, 0)),
                percent_of(waited, sum.with_waits.wall),
                grouped(&sum.with_waits.launches.to_string())
            ),
        );
    }
    row("used MPI routines", sum.total.routines.len().to_string());
}

/// How the time passed.
pub(super) fn course(shown: &Shown<'_, '_>) -> Part {
    let mut part = Part::new("course", "PE-hours over time");
    let Some(table) = shown.time().filter(|table| !table.rows.is_empty()) else {
        part.sentence = "There are no runs.".to_owned();
        return part;
    };
    let of = super::step(shown.center.period);
    let most = table.rows.iter().max_by_key(|row| row.share.time);
    let least = table.rows.iter().min_by_key(|row| row.share.time);
    if let (Some(most), Some(least)) = (most, least) {
        let words = |row: &topas_data::ReportRow| {
            format!(
                "{} ({} PE-h)",
                named(&row.labels[0], false).name,
                grouped(&pe_hours(row.share.time))
            )
        };
        part.sentence = format!(
            "The {of} with the most PE-hours is {}, that with the least {}.",
            words(most),
            words(least)
        );
    }
    part.charts.push(bars(&document(shown, std::slice::from_ref(table)), table, Weight::Time));
    part
}

/// A document for pictures.
pub(super) fn document<'d>(shown: &'d Shown<'_, '_>, tables: &'d [ReportTable]) -> Document<'d> {
    Document {
        report: shown.center.report(),
        tables,
        tally: shown.center.tally,
        unwanted: 0,
        unwanted_runs: 0,
        aside: 0,
        coverage: None,
    }
}
