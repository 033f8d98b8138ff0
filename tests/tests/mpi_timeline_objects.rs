//! Time lines of programs with communicators, windows and files: a click on a call tells by its name, or by what made
//! it, on which of them the call was.

use std::path::Path;

use serde_json::Value;
use topas_testkit::browser::{measured_in_browser, page_with_reader};
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, event_log, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 3;

/// A routine, the bytes that a call of it moved, and what is said of the object that the call was on.
const CALLS: [(&str, u64, &str, &str); 6] = [
    ("MPI_Allreduce", 8, "Communicator", "columns <of> the matrix, and \"all\""),
    ("MPI_Allreduce", 16, "Communicator", "made by MPI_Comm_split"),
    ("MPI_Put", 24, "Window", "halo of the western boundary"),
    ("MPI_Put", 32, "Window", "made by MPI_Win_create"),
    ("MPI_File_write_at", 40, "File", "result.dat"),
    ("MPI_File_write_at_all", 48, "File", "result.dat"),
];

/// The page of a run of the program, and the events that its log has.
fn logged(mpi: Mpi, compiler: &str, source: &str) -> (Scratch, String, String) {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let exe = scratch.path().join("objects");
    build(mpi, compiler, &[source], &["-O1"], &exe);
    let file = scratch.path().join("result.dat");
    let [exe, file] = [&exe, &file].map(|path| path.to_str().expect("a path"));
    let words = ["TOPAS_MPI_LOG=yes", "TOPAS_MPI_WAITS=yes", exe, file];
    profiled(mpi, &scratch, RANKS, &words, &places).good();
    let log = event_log(places.out.parent().expect("a directory"));
    let shown = |name: &str, args: &[&str]| {
        run(scratch.command(Site::shared().tool(name)).args(args).arg(&log)).good().out()
    };
    let page = shown("topasview", &["--timeline"]);
    let events = shown("topas-mpi", &["trace", "--events"]);
    (scratch, page, events)
}

/// What the script of a page has to know.
fn facts(page: &str) -> Value {
    let text = page.split_once("id=\"facts\" type=\"application/json\">").expect("facts").1;
    serde_json::from_str(text.split_once("</script>").expect("an end").0).expect("JSON")
}

#[test]
fn calls_name_the_communicators_windows_and_files_that_they_are_on() {
    for mpi in Mpi::installed("calls_name_the_objects_that_they_are_on") {
        for (compiler, source) in
            [("mpicc", "timeline/objects.c"), ("mpifort", "timeline/objects.f90")]
        {
            let (_scratch, page, events) = logged(mpi, compiler, source);
            let facts = facts(&page);
            let what = format!("{source} under {}: {events}", mpi.name());
            for (routine, bytes, kind, name) in CALLS {
                let bytes = bytes.to_string();
                let own = events.lines().map(|event| event.split(',').collect::<Vec<_>>());
                let own: Vec<_> =
                    own.filter(|event| event[2] == routine && event[8] == bytes).collect();
                assert_eq!(own.len(), RANKS as usize, "{routine} {bytes}: {what}");
                for event in own {
                    let told = match name.strip_prefix("made by ") {
                        Some(maker) => (&facts["worlds"][0]["makers"][event[10]], maker),
                        None => (&facts["worlds"][0]["names"][event[10]], name),
                    };
                    assert_eq!(told.0, told.1, "{routine} {bytes}: {facts} {what}");
                }
                let tables = facts["routines"].as_array().expect("tables");
                let rows = tables.iter().flat_map(|table| table.as_object().expect("a table"));
                let (_, row) = rows.into_iter().find(|(_, row)| row[0] == routine).expect("a row");
                assert_eq!(
                    ["Communicator", "Window", "File"][row[2].as_u64().unwrap() as usize],
                    kind
                );
            }
        }
    }
}

/// Chooses the calls of the first rank one after the other, and leaves what is said of each.
const CLICKS: &str = r#"
  const seen = { calls: [] };
  const run = async () => {
    await drawn();
    key("ArrowDown");
    await wait(100);
    for (let i = 0; i < 40; i++) {
      key("n");
      await wait(50);
      const terms = [...$("call").querySelectorAll("dt")];
      seen.calls.push(Object.fromEntries(terms.map(term => [term.textContent, term.nextElementSibling.textContent])));
    }
  };
  leave(run, seen);
"#;

#[test]
#[ignore = "cargo xtask test --browser"]
fn a_click_on_a_call_names_what_the_call_is_on() {
    for mpi in Mpi::installed("a_click_on_a_call_names_what_the_call_is_on") {
        let (scratch, page, _) = logged(mpi, "mpicc", "timeline/objects.c");
        let page = page_with_reader(&page, CLICKS);
        let options = ["--window-size=1280,900", "--virtual-time-budget=10000000"];
        let told = measured_in_browser(scratch.path(), &page, &options);
        assert_eq!(told["errors"], Value::Array(Vec::new()), "{}: {told}", mpi.name());
        let calls = told["calls"].as_array().expect("calls");
        for (routine, bytes, kind, name) in CALLS {
            let is_own =
                |call: &&Value| call["Call"] == routine && call["Sent"] == format!("{bytes} B");
            let own = calls.iter().find(is_own);
            let own = own.unwrap_or_else(|| panic!("{routine} {bytes}: {told:#}"));
            let words = own[kind].as_str().unwrap_or_else(|| panic!("{routine}: {own:#}"));
            match name.strip_prefix("made by ") {
                Some(_) => assert!(words.contains(name) && words.starts_with("number "), "{own:#}"),
                None => assert_eq!(words, name, "{own:#}"),
            }
        }
        let path: &Path = scratch.path();
        assert!(path.join("result.dat").exists());
    }
}
