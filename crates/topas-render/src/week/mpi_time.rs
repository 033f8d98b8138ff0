//! MPI in a user's week: the table of routines of Figure 4 of R. Rabenseifner, "Automatic MPI
//! Counter Profiling" (2000), and why ranks waited.

use serde_json::{Value, json};
use topas_chart::Screen;

use super::{MAIL_WIDTH, WeekMail};
use crate::mpi_views::{
    UNCALIBRATED, Views, language_words, mpi_share_words, overhead_words, seconds_and_hours,
};
use crate::number::{percent_of, seconds};
use crate::wording::count;

/// From this share of the time in MPI on the line is marked: three tenths.
const CRITICAL: u128 = 30;

/// Headings of the cells behind the mark.
const HEADINGS: [&str; 13] = [
    "MPI routine",
    "calls",
    "calls per PE",
    "sum of time s",
    "time per call us",
    "sum of counts",
    "transferred bytes",
    "bytes per call",
    "latency us",
    "bandwidth MB/s",
    "latency time s",
    "transfer time s",
    "idle, sync time s",
];

/// What is told of MPI; null without a profile.
pub(super) fn values(mail: &WeekMail<'_>) -> Value {
    let sum = mail.profiles;
    if sum.is_empty() {
        return Value::Null;
    }
    let profile = sum.profile();
    let screen = Screen { width: MAIL_WIDTH, unicode: false, color: false };
    let views = Views {
        profile: &profile,
        calibration: mail.calibration,
        processors: None,
        replay: None,
        paths: None,
        worlds: Default::default(),
        order: crate::mpi_views::MpiOrder::default(),
        screen,
    };
    let table = views.routines();
    let total = &sum.total;
    let is_critical = total.mpi * 100 >= total.wall * CRITICAL && total.wall > 0;
    let line = |mark: &str, text: String| json!({ "mark": mark, "text": text });
    let mut lines = vec![
        line("", format!("analyzed launches with an MPI profile: {}", sum.times.launches)),
        line("", format!("sum of used PEs: {}", total.ranks)),
        line("", format!("used MPI routines: {}", total.routines.len())),
        line("", format!("sum of application time: {}", seconds_and_hours(total.wall))),
        line("", format!("sum of MPI time: {}", seconds_and_hours(total.mpi))),
        line(if is_critical { "(2)" } else { "" }, mpi_share_words(total)),
        line("", overhead_words(total)),
    ];
    lines.extend(language_words(sum.languages()).map(|text| line("", text)));
    let told = if mail.calibration.is_some() { HEADINGS.len() + 1 } else { UNCALIBRATED };
    let rows: Vec<Value> = table
        .rows
        .iter()
        .map(|row| json!({ "critical": !row[0].is_empty(), "mark": row[0], "cells": row[1..told] }))
        .collect();
    json!({
        "share": percent_of(total.mpi, total.wall),
        "launches": sum.times.launches,
        "lines": lines,
        "table": table.text,
        "headings": HEADINGS[..told - 1],
        "rows": rows,
        "notes": table.notes,
    })
}

/// Why ranks waited; null if no run told it.
pub(super) fn waits(mail: &WeekMail<'_>) -> Value {
    let times = mail.profiles.with_waits;
    if times.launches == 0 {
        return Value::Null;
    }
    let all = mail.profiles.total.waits.all();
    let row = |what: &str, ns: u128| {
        json!({
            "what": what,
            "seconds": format!("{} s", seconds(ns, 3)),
            "of_mpi": percent_of(ns, times.mpi),
            "of_time": percent_of(ns, times.wall),
        })
    };
    json!({
        "launches": times.launches,
        "of": format!(
            "{} with waits told apart: {} s in MPI, {} s in all",
            count(times.launches, "launch").replace("launchs", "launches"),
            seconds(times.mpi, 3),
            seconds(times.wall, 3)
        ),
        "rows": [
            row("for senders that were late", all.late.nanoseconds),
            row("for receivers that were late", all.late_receiver.nanoseconds),
            row("for the last of a collective", all.collective.nanoseconds),
            row("not known", all.unknown()),
        ],
    })
}
