//! How the user's runs stand among comparable runs of others, in sentences.

use serde_json::{Value, json};
use topas_data::{LEAST_OTHERS, MPI_SHARE, Reference};

use super::WeekMail;
use super::lead::{MISSES, RATE};
use crate::number::short;
use crate::wording::{clean, count};

/// The class of the runs that are compared, what is to be said, and bars of the rates.
pub(super) fn values(mail: &WeekMail<'_>) -> Value {
    let Some(class) = mail.user.main_class() else { return Value::Null };
    let (text, bars) = rates(mail, class);
    let sentences = [Some(text), misses(mail, class), mpi_share(mail, class)];
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    json!({ "class": clean(class), "bars": bars, "sentences": sentences, "text": sentences.join(" ") })
}

/// A sentence about rates, and their bars.
fn rates(mail: &WeekMail<'_>, class: &[u8]) -> (String, Vec<Value>) {
    let shown = clean(class);
    let Some((own, own_runs)) = mail.user.own_median(class, RATE) else {
        let why = format!("none of your runs ({shown}) has a rate");
        return (format!("No comparison of rates with others: {why}."), Vec::new());
    };
    let Some(of) = mail.report.reference(mail.id, class, RATE) else {
        let why = format!(
            "fewer than {LEAST_OTHERS} other users ran comparable programs ({shown}) in this time"
        );
        return (format!("No comparison of rates with others: {why}."), Vec::new());
    };
    let stands = match own {
        own if own >= of.upper_quarter => "You are in the top quarter.",
        own if own >= of.median => "You are above the median.",
        _ => "You are below the median.",
    };
    let text = format!(
        "Comparable runs ({shown}): the median of your {} is {} MFlop/s per PE, that of {} is {}, and \
         a quarter of them reaches {}. {stands}",
        count(own_runs as u64, "run"),
        short(own),
        those_of(&of, "run"),
        short(of.median),
        short(of.upper_quarter)
    );
    // Lengths of bars, in percent of the longest.
    let most = own.max(of.upper_quarter).max(f64::MIN_POSITIVE);
    let bar = |name: &str, value: f64| {
        let percent = (100.0 * value / most).round().clamp(0.0, 100.0) as u64;
        json!({ "name": name, "value": short(value), "percent": percent })
    };
    let bars = vec![
        bar("you", own),
        bar("median of others", of.median),
        bar("top quarter of others", of.upper_quarter),
    ];
    (text, bars)
}

/// Runs of others: `12 runs of 5 other users`.
fn those_of(of: &Reference, what: &str) -> String {
    format!("{} of {} other users", count(of.runs as u64, what), of.users)
}

/// Cache misses, of which fewer are better; None where too few others have some.
fn misses(mail: &WeekMail<'_>, class: &[u8]) -> Option<String> {
    let (own, _) = mail.user.own_median(class, MISSES)?;
    let of = mail.report.reference(mail.id, class, MISSES)?;
    Some(format!(
        "L1 misses per operation: the median of your runs is {}, that of {} is {}, and a quarter \
         of them has {} or fewer.",
        short(own),
        those_of(&of, "run"),
        short(of.median),
        short(of.lower_quarter)
    ))
}

/// The share of time in MPI, of which less is better; None if none of the user's runs was profiled.
/// Of several classes with profiles that with most of the user's time is compared.
fn mpi_share(mail: &WeekMail<'_>, class: &[u8]) -> Option<String> {
    let profiled = mail.user.main_class_with(MPI_SHARE)?;
    let (own, runs) = mail.user.own_median(profiled, MPI_SHARE)?;
    let shown = |value: f64| short(value) + "%";
    let of_class = match profiled == class {
        true => String::new(),
        false => format!(" ({})", clean(profiled)),
    };
    let own_runs = count(runs as u64, "profiled run");
    let own = format!("Time in MPI{of_class}: the median of your {own_runs} is {}", shown(own));
    Some(match mail.report.reference(mail.id, profiled, MPI_SHARE) {
        None => format!("{own}; fewer than {LEAST_OTHERS} other users profiled comparable runs."),
        Some(of) => format!(
            "{own}, that of {} is {}, and a quarter of them has {} or less.",
            those_of(&of, "profiled run"),
            shown(of.median),
            shown(of.lower_quarter)
        ),
    })
}
