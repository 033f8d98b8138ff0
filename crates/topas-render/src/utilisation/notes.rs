//! What stands below the tables: what 100 % are, what is not in them, and why.

use topas_data::{PeriodStep, UtilisationReport};

use super::{counted_periods, offset, partition, step_words};
use crate::number::pe_hours;
use crate::wording::runs;

/// The notes, in their order.
pub(super) fn notes(report: &UtilisationReport) -> Vec<String> {
    let mut notes = vec![format!(
        "PE-h used: PEs x wall clock time of {}, spread over the time each ran.",
        runs(report.runs.runs)
    )];
    if report.step == PeriodStep::HourOfWeek {
        notes.push(
            "Of each hour of the week: the sum over all hours of its kind in these days."
                .to_owned(),
        );
    }
    notes.push(capacity(report));
    let unknown = report.periods.iter().filter(|period| period.all.available.is_none()).count();
    if report.has_capacity && unknown > 0 {
        notes.push(format!(
            "- : the capacity of all or a part of {} of {} is not known, so they have no share, and \
             neither has the sum.",
            unknown,
            counted_periods(report)
        ));
    }
    notes.extend(without_capacity(report));
    notes.extend(beyond(report));
    if report.shown().any(|period| period.partial) {
        notes.push(format!(
            "* : the log begins or ends in this {}, so it was used more than is known here.",
            step_words(report)
        ));
    }
    notes.push(zone(report));
    if report.outside.0 > 0 {
        notes.push(format!("Outside of these periods: {} PE-h.", pe_hours(report.outside)));
    }
    if report.impossible.runs > 0 {
        notes.push(format!(
            "! Not counted: {} with impossible times ({} PE-h).",
            runs(report.impossible.runs),
            pe_hours(report.impossible.time)
        ));
    }
    notes
}

/// What 100 % are.
fn capacity(report: &UtilisationReport) -> String {
    match (report.has_capacity, report.machine_given) {
        (false, _) => "No capacity is known, so there are no shares. Write `capacity =` into \
                       topas.conf, or give --capacity: a number of PEs, or NODESxPES."
            .to_owned(),
        (true, true) => "available: PEs of the machine x length of the period.".to_owned(),
        (true, false) => {
            "available: PEs of all partitions with a capacity x length of the period.".to_owned()
        }
    }
}

/// Partitions that ran something and whose capacity is not known.
fn without_capacity(report: &UtilisationReport) -> Option<String> {
    if !report.has_capacity || report.machine_given {
        return None;
    }
    let sums = report.partitions.iter().zip(&report.sums);
    let without: Vec<String> = sums
        .filter(|(_, cell)| cell.available.is_none() && cell.used.0 > 0)
        .map(|(name, cell)| format!("{} ({} PE-h)", partition(name), pe_hours(cell.used)))
        .collect();
    (!without.is_empty()).then(|| {
        format!(
            "! PE-h used also has runs of partitions whose capacity is not known, at least not all \
             the time: {}.",
            without.join(", ")
        )
    })
}

/// Periods in which more was used than was available.
fn beyond(report: &UtilisationReport) -> Option<String> {
    let is_beyond = |cell: &topas_data::UsedCell| cell.available.is_some_and(|of| cell.used > of);
    let beyond = |period: &&topas_data::UsedPeriod| {
        is_beyond(&period.all) || period.partitions.iter().any(is_beyond)
    };
    let periods = report.periods.iter().filter(beyond).count();
    (periods > 0).then(|| {
        format!(
            "! {} of {} used more than was available. Likely reasons: the capacity is too small, \
             or its date is late; programs ran more ranks than there are PEs (hyper-threads); \
             clocks of nodes are wrong.",
            periods,
            counted_periods(report)
        )
    })
}

/// What local time the periods are of.
fn zone(report: &UtilisationReport) -> String {
    let zone = report.zone;
    let (low, high) = zone.ahead;
    let ahead = if low == high {
        format!("UTC{}", offset(low))
    } else {
        format!("UTC{} and UTC{}", offset(low), offset(high))
    };
    let mut text = format!("Local time: {ahead}");
    text += if zone.own { ", the zone of this machine" } else { ", the zone that the lines tell" };
    if zone.agreed < zone.of {
        text += &format!(
            "; the local time of {} of {} is of another zone",
            zone.of - zone.agreed,
            runs(zone.of)
        );
    }
    text + "."
}
