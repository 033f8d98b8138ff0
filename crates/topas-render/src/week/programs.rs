//! The programs of a week.

use std::cmp::Reverse;

use serde_json::{Value, json};
use topas_data::{PeTime, WeekProgram};

use super::{MOST_PROGRAMS, WeekMail};
use crate::number::{NONE, pe_hours, percent_of, short, signed_percent};
use crate::wording::named;

/// Programs with runs in the week, that with most PE-time first.
fn sorted<'m>(mail: &'m WeekMail<'_>) -> Vec<(&'m [u8], &'m WeekProgram)> {
    let programs = mail.user.programs.iter().map(|(exe, program)| (&**exe, program));
    let mut all: Vec<_> = programs.filter(|(_, program)| program.now.share.runs > 0).collect();
    all.sort_by_key(|(exe, program)| (Reverse(program.now.share.time), *exe));
    all
}

/// A row for each of the first programs.
pub(super) fn rows(mail: &WeekMail<'_>) -> Vec<Value> {
    let all = sorted(mail);
    let most = all.first().map_or(0, |(_, program)| program.now.share.time.0);
    all.iter().take(MOST_PROGRAMS).map(|(exe, program)| row(mail, exe, program, most)).collect()
}

fn row(mail: &WeekMail<'_>, exe: &[u8], program: &WeekProgram, most: u128) -> Value {
    let measures = mail.report.plan().measures();
    let (now, before) = (&program.now, &program.before);
    let shown = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), short);
    let change = match (now.mean(&measures, 0), before.mean(&measures, 0)) {
        (Some(now), Some(before)) if before > 0.0 => signed_percent(now / before - 1.0),
        _ if before.share.runs == 0 => "new".to_owned(),
        _ => NONE.to_owned(),
    };
    let others = program.main_class().and_then(|class| mail.report.reference(mail.id, class, 0));
    let times = mail.profiles.by_exe.get(exe);
    let in_mpi = times.filter(|times| times.wall > 0);
    let bar = (now.share.time.0 * 200 + most).checked_div(2 * most).unwrap_or(0);
    json!({
        "exe": named(exe),
        "runs": now.share.runs,
        "pes": program.pes.map_or_else(|| NONE.to_owned(), |(least, most)| match least == most {
            true => least.to_string(),
            false => format!("{least}-{most}"),
        }),
        "pe_hours": pe_hours(now.share.time),
        "percent": percent_of(now.share.time.0, mail.user.now.share.time.0),
        "bar": u64::try_from(bar).unwrap_or(100).min(100),
        "mflops": shown(now.mean(&measures, 0)),
        "change": change,
        "others": others.map_or_else(|| NONE.to_owned(), |others| short(others.median)),
        "l1": shown(now.mean(&measures, 1)),
        "mpi": in_mpi.map_or_else(|| NONE.to_owned(), |times| percent_of(times.mpi, times.wall)),
        "failed": match now.ended.known {
            0 => NONE.to_owned(),
            _ => now.ended.failed.to_string(),
        },
    })
}

/// What the other programs are together; null if there are none.
pub(super) fn rest(mail: &WeekMail<'_>) -> Value {
    let all = sorted(mail);
    let rest = all.get(MOST_PROGRAMS..).unwrap_or_default();
    if rest.is_empty() {
        return Value::Null;
    }
    let time: u128 = rest.iter().map(|(_, program)| program.now.share.time.0).sum();
    let runs: u64 = rest.iter().map(|(_, program)| program.now.share.runs).sum();
    json!({
        "programs": rest.len(),
        "runs": runs,
        "pe_hours": pe_hours(PeTime(time)),
        "percent": percent_of(time, mail.user.now.share.time.0),
    })
}
