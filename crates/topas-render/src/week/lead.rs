//! The first lines of a mail: the essence, against the user's own past and against others.

use serde_json::{Value, json};
use topas_data::{LEAST_OTHERS, PeTime, WEEKS_BEFORE};

use super::WeekMail;
use crate::number::{NONE, pe_hours, percent_of, short, signed_percent};
use crate::wording::runs;

/// One line with the numbers that matter most, for the subject.
pub(super) fn headline(mail: &WeekMail<'_>) -> String {
    let mut text = format!("{} PE-h", pe_hours(mail.user.now.share.time));
    let measures = mail.report.plan().measures();
    if let Some(rate) = mail.user.now.mean(&measures, RATE) {
        text += &format!(", {} MFlop/s per PE", short(rate));
    }
    let times = &mail.profiles.times;
    if times.wall > 0 {
        text += &format!(", {} in MPI", percent_of(times.mpi, times.wall));
    }
    text
}

/// A row of the essence.
struct LeadRow {
    what: &'static str,
    unit: &'static str,
    now: String,
    before: String,
    note: String,
}

impl From<LeadRow> for Value {
    fn from(row: LeadRow) -> Value {
        let LeadRow { what, unit, now, before, note } = row;
        json!({ "what": what, "unit": unit, "now": now, "before": before, "note": note })
    }
}

/// The rows: this week, the mean of the weeks before, and what to compare with.
pub(super) fn rows(mail: &WeekMail<'_>) -> Vec<Value> {
    let mut rows = vec![time(mail), share(mail)];
    rows.extend([rate(mail), misses(mail), in_mpi(mail), failed(mail)]);
    rows.into_iter().map(Value::from).collect()
}

/// The user's hours. Of the time before, those of as many days as this time has, from the day on
/// from which the log knows runs.
fn time(mail: &WeekMail<'_>) -> LeadRow {
    let (now, before) = (mail.user.now.share, mail.user.before.share);
    let (days, known) = (mail.report.plan().days(), mail.report.known_before());
    let (mean, of) = match known {
        0 => (NONE.to_owned(), "before: the log has no runs".to_owned()),
        _ => {
            let mean = before.time.0 * u128::from(days) / u128::from(known);
            let of = match known == days * WEEKS_BEFORE as u64 {
                true if days == 7 => format!("mean of {WEEKS_BEFORE} weeks"),
                true => format!("mean of {WEEKS_BEFORE} such times"),
                false => format!("mean of {days} days of the {known} that the log knows"),
            };
            (pe_hours(PeTime(mean)), format!("before: {of}"))
        }
    };
    LeadRow {
        what: "PE-hours",
        unit: "PE-h",
        now: pe_hours(now.time),
        before: mean,
        note: format!("{}; {of}", runs(now.runs)),
    }
}

fn share(mail: &WeekMail<'_>) -> LeadRow {
    let now = mail.user.now.share.time;
    let (of, whole) = match mail.available.filter(|available| available.0 > 0) {
        Some(available) => ("that the machine had", available),
        None => ("of all runs in the log", mail.report.total.time),
    };
    let before = match (mail.available, mail.available_before) {
        (Some(_), None) => NONE.to_owned(),
        (Some(_), Some(had)) => percent_of(mail.user.before.share.time.0, had.0),
        (None, _) => percent_of(mail.user.before.share.time.0, mail.report.total_before.time.0),
    };
    LeadRow {
        what: "share of the machine",
        unit: "",
        now: percent_of(now.0, whole.0),
        before,
        note: format!("of {} PE-h {of}", pe_hours(whole)),
    }
}

/// Places of the measures of the plan: the rate of operations, and cache misses by operations.
pub(super) const RATE: usize = 0;
pub(super) const MISSES: usize = 1;

/// The mean of a measure of the plan, this week and before.
fn measured(mail: &WeekMail<'_>, place: usize) -> (String, String, String) {
    let measures = mail.report.plan().measures();
    let now = mail.user.now.mean(&measures, place);
    let before = mail.user.before.mean(&measures, place);
    let shown = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), short);
    let mut notes = Vec::new();
    if let (Some(now), Some(before)) = (now, before.filter(|before| *before > 0.0)) {
        notes.push(format!("{} against before", signed_percent(now / before - 1.0)));
    }
    let sample = &mail.user.now.samples[place];
    let without = sample.without().runs;
    if without > 0 {
        notes.push(format!("not measured in {} of {}", without, runs(mail.user.now.share.runs)));
    }
    (shown(now), shown(before), notes.join("; "))
}

fn rate(mail: &WeekMail<'_>) -> LeadRow {
    let (now, before, note) = measured(mail, RATE);
    LeadRow { what: "floating point rate", unit: "MFlop/s per PE", now, before, note }
}

fn misses(mail: &WeekMail<'_>) -> LeadRow {
    let (now, before, note) = measured(mail, MISSES);
    LeadRow { what: "L1 cache misses", unit: "misses per operation", now, before, note }
}

fn in_mpi(mail: &WeekMail<'_>) -> LeadRow {
    let (times, before) = (&mail.profiles.times, &mail.times_before);
    let (now, mut note) = match times.launches {
        0 => (NONE.to_owned(), "no run had an MPI profile".to_owned()),
        launches => (
            percent_of(times.mpi, times.wall),
            format!("of the time of {launches} profiled of {}", runs(mail.user.now.share.runs)),
        ),
    };
    if before.launches > 0 {
        let of = runs(mail.user.before.share.runs);
        note += &format!("; before: of {} profiled of {of}", before.launches);
    }
    let before = percent_of(before.mpi, before.wall);
    LeadRow { what: "time in MPI", unit: "", now, before, note }
}

fn failed(mail: &WeekMail<'_>) -> LeadRow {
    let text = |ended: &topas_data::FailureRate| match ended.known {
        0 => NONE.to_owned(),
        known => format!("{} of {known}", ended.failed),
    };
    let (now, before) = (&mail.user.now.ended, &mail.user.before.ended);
    let note = match now.unknown {
        0 => String::new(),
        unknown => format!("of {} it is not known", runs(unknown)),
    };
    LeadRow { what: "failed runs", unit: "", now: text(now), before: text(before), note }
}

/// What the quantities are.
pub(super) fn definitions(mail: &WeekMail<'_>) -> Vec<Value> {
    let define = |term: &str, text: String| json!({ "term": term, "text": text });
    let mut all = vec![
        define("PE-hours", "Number of PEs (ranks) times the wall clock time of a run.".to_owned()),
        define(
            "share of the machine",
            match mail.available {
                Some(_) => "Your PE-hours by those that the machine had in this time.".to_owned(),
                None => "Your PE-hours by those of all measured runs; the site has not told how \
                         many PEs the machine has."
                    .to_owned(),
            },
        ),
    ];
    for measure in mail.report.plan().measures() {
        all.push(define(
            &format!("{} ({})", measure.heading, measure.unit),
            measure.about.to_owned(),
        ));
    }
    all.push(define(
        "time in MPI",
        "Wall clock time of all ranks in calls of MPI by the time since the first call, of runs \
         with an MPI profile (topas-run --mpi)."
            .to_owned(),
    ));
    all.push(define(
        "comparable runs",
        format!(
            "Runs of others in this time, in the same language and of a similar number of PEs \
             (powers of two); told only if {LEAST_OTHERS} or more other users have some."
        ),
    ));
    all
}
