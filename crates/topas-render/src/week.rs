//! The week of a user in words, for the mail that tells it: every value as text with its unit, in
//! an object that the templates of a center show as they like.
//!
//! What was not measured is `-`, and what cannot be compared says why.

mod comparison;
mod lead;
mod mpi_time;
mod programs;

use serde_json::{Value, json};
use topas_data::field::{FieldKind, Value as FieldValue, label};
use topas_data::{PeTime, Period, RunRecord, WeekReport, WeekUser, WeekUserId};
use topas_findings::RuleFinding;
use topas_format::civil::{Civil, Date};
use topas_mpi_data::{Calibration, LaunchTimes, ProfileSum};

use crate::period::period_words;
use crate::wording::{clean, count, named};

/// Columns of a line of a text: what every reader of mails shows without breaking it.
pub const MAIL_WIDTH: usize = 72;

/// Programs that are told one by one.
pub const MOST_PROGRAMS: usize = 10;

/// Findings of a mail.
pub const MOST_FINDINGS: usize = 3;

/// A finding, and the run that it is of.
pub struct WeekFinding<'w> {
    /// The run
    pub run: &'w RunRecord,
    /// What is to be said of it
    pub finding: RuleFinding,
}

impl WeekFinding<'_> {
    /// PE-time that could be saved, in PE x s; 0 if that is not known.
    pub fn cost(&self) -> f64 {
        self.finding.seconds.unwrap_or(0.0) * f64::from(self.run.booked)
    }
}

/// What a mail tells.
pub struct WeekMail<'w> {
    /// The week of all users
    pub report: &'w WeekReport<'w>,
    /// Whose mail it is
    pub id: &'w WeekUserId,
    /// The user's runs
    pub user: &'w WeekUser,
    /// The user's name, as the system knows it or as the lines have it
    pub name: &'w str,
    /// What the week is called, such as `2026-W47`
    pub week: &'w str,
    /// PE-time that the machine had in the week; None if that is not known
    pub available: Option<PeTime>,
    /// The same of the days before that the log knows
    pub available_before: Option<PeTime>,
    /// The user's MPI profiles
    pub profiles: &'w ProfileSum,
    /// Times of the user's launches with an MPI profile before
    pub times_before: LaunchTimes,
    /// What routines of MPI cost on this machine
    pub calibration: Option<&'w Calibration>,
    /// What is to be said of runs, the most important first
    pub findings: &'w [WeekFinding<'w>],
    /// How the user says that no more mails are wanted
    pub opt_out: &'w str,
}

impl WeekMail<'_> {
    /// The object that templates show. Its keys are described in topas-report(1).
    pub fn values(&self) -> Value {
        let shown = &self.findings[..self.findings.len().min(MOST_FINDINGS)];
        json!({
            "user": clean(self.name.as_bytes()),
            "week": self.week,
            "days": period_words(self.report.plan().week),
            "days_before": period_words(self.report.plan().before),
            "runs": self.user.now.share.runs,
            "programs_run": self.user.programs.values().filter(|of| of.now.share.runs > 0).count(),
            "headline": lead::headline(self),
            "lead": lead::rows(self),
            "comparison": comparison::values(self),
            "programs": programs::rows(self),
            "rest": programs::rest(self),
            "mpi": mpi_time::values(self),
            "waits": mpi_time::waits(self),
            "findings": shown.iter().map(finding).collect::<Vec<_>>(),
            "more_findings": self.findings.len() - shown.len(),
            "definitions": lead::definitions(self),
            "opt_out": self.opt_out,
        })
    }
}

/// A finding and its run.
fn finding(of: &WeekFinding<'_>) -> Value {
    let run = of.run;
    let mut value = crate::finding::json(&of.finding);
    let when = date_time_of(run.ended);
    let pes = run.npes.map_or_else(String::new, |npes| format!(" on {}", count(npes.into(), "PE")));
    let id = match &*run.job {
        [] => format!("launch {}", named(&run.id)),
        job => format!("job {}", named(job)),
    };
    if let Some(object) = value.as_object_mut() {
        object.insert("run".into(), format!("{}{pes}, {when}, {id}", named(&run.exe)).into());
        object.insert("text".into(), crate::finding::sentence(&of.finding).into());
        object.insert("exe".into(), named(&run.exe).into());
        object.insert("launch".into(), named(&run.id).into());
    }
    value
}

/// A day and a time of µs since 1970, local time of the site.
fn date_time_of(micros: i128) -> String {
    Civil::from_seconds(micros.div_euclid(1_000_000) as i64).to_string()
}

/// What a period is called: the week, the month, the year, or its days.
pub fn period_name(period: Period) -> String {
    let (Some(since), Some(until)) = (period.since, period.until) else {
        return period_words(period);
    };
    let days = until.days() - since.days() + 1;
    let next = Date::from_days(until.days() + 1);
    if days == 7 && (since.days() + 3).rem_euclid(7) == 0 {
        // By the week of ISO 8601 of the Monday: 2026-W47.
        return label(FieldKind::Week, &FieldValue::whole(since.days()));
    }
    if (since.day, next.day) == (1, 1) && days <= 31 {
        return format!("{:04}-{:02}", since.year, since.month);
    }
    if (since.day, since.month, next.day, next.month) == (1, 1, 1, 1) && days <= 366 {
        return format!("{:04}", since.year);
    }
    period_words(period)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(since: (u16, u8, u8), until: (u16, u8, u8)) -> Period {
        let date = |(year, month, day)| Some(Date { year, month, day });
        Period { since: date(since), until: date(until) }
    }

    #[test]
    fn periods_have_names() {
        for (since, until, name) in [
            ((2026, 11, 16), (2026, 11, 22), "2026-W47"),
            ((2026, 12, 28), (2027, 1, 3), "2026-W53"),
            ((2024, 12, 30), (2025, 1, 5), "2025-W01"),
            ((2026, 11, 1), (2026, 11, 30), "2026-11"),
            ((2026, 1, 1), (2026, 12, 31), "2026"),
            ((2026, 11, 17), (2026, 11, 23), "2026/11/17 to 2026/11/23"),
        ] {
            assert_eq!(period_name(period(since, until)), name);
        }
    }
}
