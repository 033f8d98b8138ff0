//! How a reader goes from call to call of a row by the keyboard: the view follows, and at its ends the row says so.

use std::fs;

use serde_json::Value;
use topas_mpi_data::{CallEvent, TraceLog, TraceSkips};

use super::page::measured_as_read;
use super::shown;
use super::synthetic_trace::SyntheticTrace;

/// How often the view is made narrower, until it has a few calls of rank 0.
const ZOOMS: usize = 11;

/// Numbers of seconds in a text.
fn seconds(text: &str) -> Vec<f64> {
    let words: Vec<&str> = text.split([' ', ';', ',', ':', '(']).collect();
    let is_seconds = |pair: &[&str]| pair[1] == "s";
    words
        .windows(2)
        .filter(|pair| is_seconds(pair))
        .filter_map(|pair| pair[0].parse().ok())
        .collect()
}

#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_goes_from_call_to_call() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    SyntheticTrace::default().write(&mut bytes).unwrap();
    let path = dir.path().join("run.trace");
    fs::write(&path, bytes).unwrap();
    let page = shown(dir.path(), &["--timeline"]);
    let log = TraceLog::open(&path).unwrap();
    let origin = log.processes.iter().map(|process| process.began()).min().unwrap();
    let mut calls: Vec<(f64, f64)> = Vec::new();
    for process in &log.processes {
        let each = |_, event: &CallEvent| {
            let moment = |tick| (process.nanoseconds(tick) - origin) as f64 / 1e9;
            calls.push((moment(event.began), moment(event.ended)));
            Ok(())
        };
        log.events(process, &mut TraceSkips::default(), each).unwrap();
    }
    let script = include_str!("timeline_steps.js").replace("ZOOMS", &ZOOMS.to_string());
    measured_as_read(&page, &script, |seen, what| {
        assert_eq!(seen["errors"], Value::Array(Vec::new()), "{what}");
        let text = |key: &str| seen[key].as_str().unwrap_or_default().to_owned();
        // Of a narrow view, the number of its calls is told: to a digit of the moments that are shown.
        let narrow = text("narrow");
        let told: f64 =
            narrow.split_once("); ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
        let span = seconds(&narrow);
        let digit = (span[1] - span[0]) / 100.0;
        let count = |by: f64| {
            let is_in = |call: &&(f64, f64)| call.1 > span[0] - by && call.0 < span[1] + by;
            calls.iter().filter(is_in).count() as f64
        };
        assert!(count(-digit) <= told && told <= count(digit), "{told}: {what}");
        assert!(told < 200.0, "{told}: {what}");
        let steps = seen["steps"].as_array().unwrap();
        let mut last = -1.0;
        for step in steps {
            let (said, view) = (step[0].as_str().unwrap(), step[1].as_str().unwrap());
            assert!(said.starts_with("rank 0 at ") && said.contains(": MPI_"), "{said}: {what}");
            let (moment, view) = (seconds(said)[0], seconds(view));
            let digit = (view[1] - view[0]) / 100.0;
            assert!(moment >= last, "{said} behind {last}: {what}");
            assert!(
                moment >= view[0] - digit && moment <= view[1] + digit,
                "{said}: {view:?}: {what}"
            );
            last = moment;
        }
        assert!(last > span[1], "the view has followed: {what}");
        assert_eq!(text("back"), steps[0][0].as_str().unwrap(), "as many calls back: {what}");
        assert_eq!(text("behind"), "rank 0: there is no further call in the log", "{what}");
        assert_eq!(text("before"), "rank 0: there is no earlier call in the log", "{what}");
        assert!(
            text("last").contains("MPI_Finalize") && text("first").contains("MPI_Init"),
            "{what}"
        );
    });
}
