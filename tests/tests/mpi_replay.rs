//! Replays of real runs: what is computed is what the program computed, and the perfect network leaves
//! only waits that no network can spare.

use std::fs;
use std::path::Path;

use topas_testkit::WrittenJson;
use topas_tests::build::source;
use topas_tests::expected::Expected;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, event_log, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

fn replayed(scratch: &Scratch, log: &Path, args: &[&str]) -> serde_json::Value {
    let mut tool = scratch.command(Site::shared().tool("topas-mpi"));
    let told = run(tool.args(["replay", "--json"]).args(args).arg(log)).good();
    serde_json::from_str(&told.out()).expect("JSON")
}

/// The replay of a program of the Grindstone suite under an MPI, and what the program says.
fn grindstone(
    mpi: Mpi,
    name: &str,
    args: Option<&[&str]>,
    more: &[&str],
) -> (serde_json::Value, String, Scratch) {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let file = format!("grindstone/{name}.c");
    let text = fs::read_to_string(source(&file)).expect("program");
    let expected = Expected::read(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let program = scratch.path().join(name);
    build(mpi, "mpicc", &[&file], &["-O1"], &program);
    let mut words = vec!["TOPAS_MPI_LOG=yes"];
    words.extend(more);
    words.push(program.to_str().expect("path"));
    match args {
        Some(args) => words.extend(args),
        None => words.extend(expected.args.iter().map(String::as_str)),
    }
    let out = profiled(mpi, &scratch, expected.ranks, &words, &places).good().out();
    let log = event_log(places.out.parent().expect("a directory"));
    (replayed(&scratch, &log, &[]), out, scratch)
}

fn number(json: &serde_json::Value) -> f64 {
    json.as_f64().unwrap_or_else(|| panic!("no number: {json}"))
}

/// Ranks that take turns: on the perfect network the run is as long as all turns together.
#[test]
fn turns_stay_turns_on_the_perfect_network() {
    for mpi in Mpi::installed("turns_stay_turns_on_the_perfect_network") {
        for more in [&[][..], &["TOPAS_MPI_WAITS=yes"]] {
            // Four ranks, 40 rounds of 4 ms, of which each works in 10.
            let (told, _, scratch) = grindstone(mpi, "diffuse_procedure", Some(&["40", "4"]), more);
            let model = number(&told["elapsed"]["model_seconds"]);
            let measured = number(&told["elapsed"]["measured_seconds"]);
            // A rank that lost its processor while it worked worked longer.
            assert!(model > 0.158 && model <= measured * 1.01, "{}: {told}", mpi.name());
            let factors = &told["efficiencies"];
            let of = |name: &str| number(&factors[name]);
            let product =
                of("load_balance") * of("serialisation_efficiency") * of("transfer_efficiency");
            assert!((product - of("parallel_efficiency")).abs() < 1e-9, "{factors}");
            assert!(of("serialisation_efficiency") < 0.6, "{}: {factors}", mpi.name());
            assert_eq!(told["as_measured"], serde_json::json!([]), "{}", mpi.name());
            assert_eq!(told["ranks"].as_array().map(Vec::len), Some(4));
            let log = event_log(scratch.path());
            // The view of efficiencies says how these are had.
            let mut view = scratch.command(Site::shared().tool("topasview"));
            view.args(["--mpi", "--efficiency"]).arg(scratch.path().join("profile.out"));
            let text = run(view.env("COLUMNS", "400")).good().out();
            let command = format!("topas-mpi replay {}", log.display());
            assert_eq!(text.matches(&command).count(), 2, "{}: {text}", mpi.name());
            // Twice as fast: half as long.
            let fast = replayed(&scratch, &log, &["--cpu", "2"]);
            let half = number(&fast["elapsed"]["model_seconds"]);
            assert!((half - model / 2.0).abs() < 0.01 * model, "{half} of {model}");
            // Each of 40 barriers takes at least two messages of 10 ms more.
            let slow = replayed(&scratch, &log, &["--latency", "10000"]);
            let longer = number(&slow["elapsed"]["model_seconds"]) - model;
            assert!((longer - 0.8).abs() < 0.01, "{longer} s longer");
        }
    }
}

/// Waits of ranks that take turns are no matter of how the work is divided: the findings say so. Where others take the processors,
/// some ranks compute longer indeed, and the turns are told beside that.
#[test]
fn ranks_that_take_turns_are_told_to() {
    for mpi in Mpi::installed("ranks_that_take_turns_are_told_to") {
        let (.., scratch) =
            grindstone(mpi, "diffuse_procedure", Some(&["200", "6"]), &["TOPAS_MPI_WAITS=yes"]);
        let mut why = scratch.command(Site::shared().tool("topasview"));
        why.arg("--why").arg(scratch.path().join("profile.out")).arg(event_log(scratch.path()));
        let text = run(&mut why).good().out();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_disturbed = text.contains("The ranks had a processor for ");
        let told = match is_disturbed && !text.contains("the ranks compute alike") {
            false => "%), and depend on each other in turn (serialisation ",
            true => "(serialisation), because ranks need in turn what others compute.",
        };
        assert!(text.contains(told), "{}: {text}", mpi.name());
    }
}

/// Every message of programs that send in many ways finds its receiver.
#[test]
fn messages_of_real_programs_find_their_receivers() {
    for mpi in Mpi::installed("messages_of_real_programs_find_their_receivers") {
        for (name, args, messages) in [
            ("intensive_server", &["10", "1"][..], 60),
            ("wrong_way", &["3", "100"], 303),
            ("big_message", &["5", "100000"], 10),
            ("small_messages", &["500", "100"], 1500),
        ] {
            let (told, ..) = grindstone(mpi, name, Some(args), &[]);
            let of = &told["messages"];
            assert_eq!(of["sent"], messages, "{name} under {}: {told:#}", mpi.name());
            assert_eq!(of["received"], messages, "{name} under {}: {told:#}", mpi.name());
            assert_eq!(of["left"], 0, "{name}");
            assert_eq!(told["as_measured"], serde_json::json!([]), "{name} under {}", mpi.name());
        }
        // Requests, communicators, roots, tags and sources that are left open.
        for more in [&["TOPAS_MPI_LOG=yes"][..], &["TOPAS_MPI_LOG=yes", "TOPAS_MPI_WAITS=yes"]] {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let exe = scratch.path().join("calls");
            build(mpi, "mpicc", &["log/calls.c"], &["-O2"], &exe);
            let directory = scratch.path().to_str().expect("a path").to_owned();
            let mut words = more.to_vec();
            words.extend([exe.to_str().expect("a path"), &directory, "100"]);
            profiled(mpi, &scratch, 3, &words, &places).good();
            let log = event_log(places.out.parent().expect("a directory"));
            let told = replayed(&scratch, &log, &[]);
            let of = &told["messages"];
            assert_eq!((&of["sent"], &of["left"]), (&1200.into(), &0.into()), "{told:#}");
            assert_eq!(of["received"], 1200, "{} {more:?}: {told:#}", mpi.name());
            assert_eq!(told["as_measured"], serde_json::json!([]), "{} {more:?}", mpi.name());
        }
    }
}

/// All keys of the JSON stand in the manual; persistent requests take as long as measured.
#[test]
fn the_manual_describes_the_json() {
    let Some(&mpi) = Mpi::installed("the_manual_describes_the_json").first() else { return };
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let exe = scratch.path().join("kinds");
    build(mpi, "mpicc", &["waits/kinds.c"], &["-O1", "-pthread"], &exe);
    let notes = scratch.path().join("notes");
    let [exe, notes] = [&exe, &notes].map(|path| path.to_str().expect("a path"));
    let words = ["TOPAS_MPI_LOG=yes", exe, "startall", notes, "5"];
    profiled(mpi, &scratch, 2, &words, &places).good();
    let log = event_log(places.out.parent().expect("a directory"));
    let told = replayed(&scratch, &log, &[]);
    assert_eq!(told["as_measured"][0]["reason"], "persistent", "{told:#}");
    let mut written = WrittenJson::default();
    written.add(&told.to_string());
    // A rank that is left out.
    let mut bytes = fs::read(&log).expect("the log");
    let events = bytes.chunks(65_536).position(|block| block[10] == 1).expect("events");
    bytes[events * 65_536 + 130] ^= 1;
    fs::write(&log, &bytes).expect("written");
    let mut tool = scratch.command(Site::shared().tool("topas-mpi"));
    written.add(&run(tool.args(["replay", "--json"]).arg(&log)).out());
    written.hold_all_but(&["topas.mpi.list/1"], "topas-mpi", &[]);
}

/// What is no log, and a launch that is not there, is told; text and CSV have all ranks.
#[test]
fn a_replay_tells_what_is_wrong() {
    let name = "a_replay_tells_what_is_wrong";
    let Some(mpi) = Mpi::installed(name).into_iter().next() else { return };
    let (_, _, scratch) = grindstone(mpi, "random_barrier", Some(&["8", "1"]), &[]);
    let log = event_log(scratch.path());
    let tool = || scratch.command(Site::shared().tool("topas-mpi"));
    let told = run(tool().arg("replay").arg(&log)).good().out();
    for part in ["network perfect", "serialisation", "MPI_Barrier", "Not modelled: "] {
        assert!(told.contains(part), "{part} in {told}");
    }
    let csv = run(tool().args(["replay", "--csv"]).arg(&log)).good().out();
    assert_eq!(csv.lines().count(), 5, "{csv}");
    let routines = run(tool().args(["replay", "--csv", "--routines"]).arg(&log)).good().out();
    assert!(routines.contains("MPI_Barrier,32,"), "{routines}");
    let none = run(tool().args(["replay", "--launch", "no"]).arg(&log));
    assert_eq!(none.code(), 1);
    assert!(none.err().contains("no launch no in the logs"), "{}", none.err());
    let foreign = run(tool().arg("replay").arg("/bin/sh"));
    assert_eq!(foreign.code(), 1);
    assert!(foreign.err().contains("/bin/sh holds no event log"), "{}", foreign.err());
    let wrong = run(tool().args(["replay", "--bandwidth", "0"]).arg(&log));
    assert_eq!(wrong.code(), 2);
}
