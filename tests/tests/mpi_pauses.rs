//! Time in which real programs paused measuring: it is told as that by the log and by all that reads it, and is no
//! computing.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, event_log, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

/// The class of a time in which measuring was paused, as the page numbers classes.
const PAUSED: usize = 10;

/// By how much a pause may be longer by the program's own stamps, in s: calls lie in between, and the machine does
/// much else.
const NEAR: f64 = 0.02;

#[test]
fn a_pause_is_told_in_c_and_fortran() {
    for mpi in Mpi::installed("a_pause_is_told_in_c_and_fortran") {
        for (tool, source) in [("mpicc", "log/pauses.c"), ("mpif90", "log/pauses.f90")] {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let exe = scratch.path().join("pauses");
            build(mpi, tool, &[source], &["-O1"], &exe);
            let exe = exe.to_str().expect("a path");
            let said =
                profiled(mpi, &scratch, 2, &["TOPAS_MPI_LOG=yes", exe], &places).good().out();
            let stamps: BTreeMap<u64, f64> = said
                .lines()
                .filter_map(|line| line.strip_prefix("paused ")?.split_once(' '))
                .map(|(rank, length)| {
                    (rank.parse().expect("a rank"), length.trim().parse().expect("seconds"))
                })
                .collect();
            assert_eq!(stamps.len(), 2, "{said}");
            let what = format!("{source} under {}: {said}", mpi.name());
            let log = event_log(places.out.parent().expect("a directory"));
            let told = |name: &str, args: &[&str]| {
                let mut command = scratch.command(Site::shared().tool(name));
                run(command.args(args).arg(&log)).good().out()
            };
            let near = |seconds: f64, rank: u64| {
                let own = stamps[&rank];
                assert!(seconds <= own && seconds > own - NEAR, "{seconds} s of {own}: {what}");
            };
            // One event for the pause: of two in one another, the second is in the pause.
            let events = told("topas-mpi", &["trace", "--events"]);
            let cells = events.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let cells: Vec<_> = cells.filter(|cells| cells[2] == "pause").collect();
            assert_eq!(
                cells.iter().map(|cells| cells[0]).collect::<Vec<_>>(),
                ["0", "1"],
                "{what}"
            );
            assert!(cells.iter().all(|cells| cells[7].is_empty()), "no tag: {what}");
            let chrome: Value =
                serde_json::from_str(&told("topas-mpi", &["trace", "--chrome"])).expect("JSON");
            let events = chrome["traceEvents"].as_array().expect("events");
            let pauses: Vec<&Value> =
                events.iter().filter(|event| event["cat"] == "pause").collect();
            assert_eq!(pauses.len(), 2, "{what}");
            for pause in pauses {
                let rank = pause["pid"].as_u64().expect("a rank");
                near(pause["dur"].as_f64().expect("us") / 1e6, rank);
            }
            let replay: Value =
                serde_json::from_str(&told("topas-mpi", &["replay", "--json"])).expect("JSON");
            let paused = replay["paused_seconds"].as_f64().expect("seconds");
            let own: f64 = stamps.values().sum();
            assert!(paused <= own && paused > own - 2.0 * NEAR, "{paused} s: {what}");
            // What was computed then is in no figure.
            let sum = &replay["sum"]["measured"];
            let computing = sum["computing_seconds"].as_f64().unwrap_or(f64::NAN);
            assert!(computing < own, "{computing} s of computing: {what}");
            let page = told("topasview", &["--timeline"]);
            let facts =
                page.split_once("id=\"facts\" type=\"application/json\">").expect("facts").1;
            let facts = facts.split_once("</script>").expect("an end").0;
            let facts: Value = serde_json::from_str(facts).expect("JSON");
            assert_eq!(facts["classes"][PAUSED], "measuring paused", "{what}");
            for (rank, row) in (0..).zip(facts["rows"].as_array().expect("rows")) {
                near(row["times"][PAUSED].as_f64().expect("ns") / 1e9, rank);
            }
            let base = scratch.path().join("paraver");
            told("topas-mpi", &["trace", "--paraver", base.to_str().expect("a path")]);
            let states = fs::read_to_string(base.with_extension("prv")).expect("states");
            let paused =
                states.lines().filter(|line| line.starts_with("1:") && line.ends_with(":18"));
            assert_eq!(paused.count(), 2, "{what}");
        }
    }
}
