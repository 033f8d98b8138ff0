//! MPI at a center: routines with transfer and idle time, groups of routines, the full table, as in
//! Figures 10 to 13 of R. Rabenseifner, "Automatic MPI Counter Profiling" (2000).

use topas_chart::{AxisUnit, BarPlaces, Bars, Quantity, Screen, Series};

use super::{Part, PartTable, Shown};
use crate::mpi_views::{RoutineTime, Views};
use crate::number::{grouped, percent_of, short};
use crate::wording::PROSE_WIDTH;

/// Routines with less than this share of the time in MPI are one bar: three in a thousand.
const SMALL: f64 = 0.003;

/// Routines in a picture.
const DRAWN: usize = 19;

pub(super) fn parts(shown: &Shown<'_, '_>) -> Vec<Part> {
    let sum = &shown.center.profiles.sum;
    if sum.is_empty() {
        let mut part = Part::new("mpi", "MPI");
        part.sentence = "No run of this time has an MPI profile. topas-run --mpi makes one, and \
                         mpi_link in topas.conf makes one of every program."
            .to_owned();
        return vec![part];
    }
    let profile = sum.profile();
    let screen = Screen { width: PROSE_WIDTH, unicode: true, color: false };
    let views = Views {
        profile: &profile,
        calibration: shown.center.calibration,
        processors: None,
        replay: None,
        paths: None,
        worlds: Default::default(),
        order: crate::mpi_views::MpiOrder::default(),
        screen,
    };
    let table = views.routines();
    let mut routines = picture(&table.times);
    routines.tables.push(PartTable {
        caption: "MPI routines".to_owned(),
        headings: vec![
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
        ],
        marked: (0..table.rows.len()).filter(|&at| !table.rows[at][0].is_empty()).collect(),
        rows: table
            .rows
            .into_iter()
            .map(|[_, name, numbers @ ..]| {
                let numbers = numbers.iter().map(|number| grouped(number));
                std::iter::once(name).chain(numbers).collect()
            })
            .collect(),
        bars: Vec::new(),
    });
    routines.notes = table.notes;
    vec![routines, groups(shown)]
}

/// Figure 10.
fn picture(times: &[RoutineTime]) -> Part {
    let mut part = Part::new("mpi", "MPI routines");
    let all: f64 = times.iter().map(|routine| routine.time).sum();
    let large = |routine: &&RoutineTime| routine.time >= all * SMALL && routine.time > 0.0;
    let drawn: Vec<&RoutineTime> = times.iter().filter(large).take(DRAWN).collect();
    let rest = all - drawn.iter().map(|routine| routine.time).sum::<f64>();
    if let Some(first) = drawn.first() {
        let share = if all > 0.0 { 100.0 * first.time / all } else { 0.0 };
        part.sentence = format!(
            "{share:.1}% of the time in MPI is spent in {}; {} routines have {:.1}% of it.",
            first.name,
            drawn.len(),
            if all > 0.0 { 100.0 * (all - rest) / all } else { 0.0 }
        );
    }
    let known = drawn.iter().any(|routine| routine.transfer.is_some());
    let mut names: Vec<String> = drawn.iter().map(|routine| routine.name.clone()).collect();
    names.push("other".to_owned());
    let mut chart = Bars::new(
        BarPlaces::Categories(names),
        Quantity::new("MPI routine", AxisUnit::Count),
        Quantity::new("Time of all ranks", AxisUnit::Plain("h")),
    );
    let hours = |seconds: f64| Some(seconds / 3600.0);
    let transfer = |routine: &&RoutineTime| {
        let of = routine.transfer?.min(routine.time);
        hours(of)
    };
    let others = |routine: &&RoutineTime| match routine.transfer {
        Some(transfer) => hours((routine.time - transfer).max(0.0)),
        None => None,
    };
    let unknown = |routine: &&RoutineTime| match routine.transfer {
        Some(_) => None,
        None => hours(routine.time),
    };
    if known {
        let none = || std::iter::once(None);
        chart.series = vec![
            Series::new(
                "transfer and latency (estimate)",
                drawn.iter().map(transfer).chain(none()),
            ),
            Series::new("idle, synchronization", drawn.iter().map(others).chain(none())),
            Series::new(
                "not estimated",
                drawn.iter().map(unknown).chain(std::iter::once(hours(rest))),
            ),
        ];
    } else {
        let times = drawn.iter().map(|routine| hours(routine.time));
        chart.series = vec![Series::new("", times.chain(std::iter::once(hours(rest))))];
    }
    chart.caption.title = "Time in MPI routines".to_owned();
    chart.caption.notes =
        vec![format!("All routines together: {} h.", grouped(&short(all / 3600.0)))];
    part.charts.push(chart);
    part
}

/// Figure 11.
fn groups(shown: &Shown<'_, '_>) -> Part {
    let profiles = shown.center.profiles;
    let all = profiles.sum.times;
    let mut groups: Vec<_> = profiles.groups.iter().collect();
    groups.sort_by_key(|(name, times)| (std::cmp::Reverse(times.wall), **name));
    let mut part = Part::new("mpi-groups", "Groups of MPI routines");
    if let Some((name, times)) = groups.first() {
        part.sentence = format!(
            "Programs that call {name} functions have {} of the profiled time.",
            percent_of(times.wall, all.wall)
        );
    }
    part.tables.push(PartTable {
        caption: "Which groups of MPI routines programs call".to_owned(),
        headings: vec!["group", "launches", "of the launches", "weighted by PE-hours"],
        rows: groups
            .iter()
            .map(|(name, times)| {
                vec![
                    (**name).to_owned(),
                    grouped(&times.launches.to_string()),
                    percent_of(times.launches.into(), all.launches.into()),
                    percent_of(times.wall, all.wall),
                ]
            })
            .collect(),
        bars: groups.iter().map(|(_, times)| super::users::bar(times.wall, all.wall)).collect(),
        marked: Vec::new(),
    });
    part.notes.push(format!(
        "100% are {} launches with an MPI profile.",
        grouped(&all.launches.to_string())
    ));
    part
}
