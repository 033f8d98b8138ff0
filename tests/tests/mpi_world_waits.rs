//! Waits of ranks for ranks of another world: of one that they started, or that started theirs.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use topas_tests::build::source;
use topas_tests::installation::{Installation, MpiKind, Through};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, library};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::note;

/// Seconds that the late one of `farm.c` sleeps in one of its parts.
const SLEPT: f64 = 0.2;

/// The profiles of a program that starts further ranks of itself, and what it said; None if this MPI cannot start any.
fn started(
    mpi: &Installation,
    scratch: &Scratch,
    name: &str,
    words: &[&str],
) -> Option<(Places, String)> {
    let program = scratch.path().join(name);
    let mut driver = mpi.command(Site::shared(), scratch, Through::Bare, "mpicc");
    driver.args(["-O2", "-g"]).arg(source(&format!("spawn/{name}.c"))).arg("-o").arg(&program);
    let lib = mpi.tool("mpiexec")?.parent().and_then(Path::parent)?.join("lib");
    if !mpi.name.ends_with("-of-debian") {
        driver.arg(format!("-Wl,-rpath,{}", lib.display()));
    }
    run(&mut driver).good();
    let launch = || {
        let mut launch = mpi.command(Site::shared(), scratch, Through::Bare, "mpiexec");
        launch.args(["-n", "2"]).current_dir(scratch.path());
        launch
    };
    if mpi.kind != MpiKind::OpenMpi && run(launch().arg(&program).args(words)).code() != 0 {
        note(&mpi.name, "starts no processes");
        return None;
    }
    let places = Places::new(scratch);
    let mut measured = launch();
    measured.envs(places.variables()).env("LD_PRELOAD", library(Site::shared()));
    measured.env("TOPAS_MPI_WAITS", "yes").arg(&program).args(words);
    let said = launched(scratch, &mut measured).good().out();
    Some((places, said))
}

/// What topasview says of waits in the launches of a file: those that a launcher started first.
fn launches(scratch: &Scratch, places: &Places) -> Vec<Value> {
    let view = |args: &[&str]| {
        let mut view = scratch.command(Site::shared().tool("topasview"));
        view.env("LC_ALL", "C.UTF-8").args(args).arg(&places.out);
        let told = run(&mut view).good().out();
        serde_json::from_str::<Value>(&told).expect("JSON")
    };
    let why = view(&["--why", "--json"]);
    let worlds = why["worlds"].as_array().expect("worlds").iter();
    let ids = std::iter::once(&why["launch"]["id"]).chain(worlds.map(|of| &of["launch"]["id"]));
    let of =
        |id: &Value| view(&["--mpi", "--waits", "--json", "--launch", id.as_str().expect("an id")]);
    ids.map(of).collect()
}

/// How long a rank waited for a rank of another world, in s: for late senders, late receivers, in collectives.
fn waited(launch: &Value, by: u32, of: u32, is_parent: bool) -> [f64; 3] {
    let pairs = launch["waits"]["outside_pairs"].as_array().expect("pairs");
    let is_it =
        |pair: &&Value| pair["waits"] == by && pair["rank"] == of && pair["is_parent"] == is_parent;
    let kinds = ["late_sender_seconds", "late_receiver_seconds", "collective_seconds"];
    let found = pairs.iter().find(is_it);
    kinds.map(|kind| found.and_then(|pair| pair[kind].as_f64()).unwrap_or(0.0))
}

/// The share of the time in a routine of which nothing is known.
fn unknown(launch: &Value, routine: &str) -> f64 {
    let routines = launch["waits"]["routines"].as_array().expect("routines");
    let of = routines.iter().find(|of| of["name"] == routine).expect("the routine");
    let [all, unknown] = ["seconds", "not_measured_seconds"].map(|key| of[key].as_f64().unwrap());
    unknown / all
}

/// Waits of both worlds, beside what the program saw by its own clock.
fn both_worlds_tell_what_they_waited(mpi: &Installation, words: &[&str]) {
    let scratch = Scratch::new();
    let Some((places, said)) = started(mpi, &scratch, "farm", words) else { return };
    let name = &mpi.name;
    let seen: BTreeMap<String, f64> = said
        .lines()
        .filter_map(|line| line.rsplit_once(' '))
        .filter_map(|(key, seconds)| Some((key.to_owned(), seconds.parse().ok()?)))
        .collect();
    let seen = |key: &str| *seen.get(key).unwrap_or_else(|| panic!("{name}: no {key}: {said}"));
    let told = launches(&scratch, &places);
    let [starters, started] = &told[..] else { panic!("{name}: {told:#?}") };
    // No wait is longer than the calls in which it was, and hardly shorter than what the late one slept.
    let is_right = |what: &str, waited: f64, most: f64, least: f64| {
        let fits = waited >= least && waited <= 1.05 * most + 0.01;
        assert!(fits, "{name}: {what}: {waited} s, {least} to {most}: {told:#?}\n{said}");
    };
    let [late, _, collective] = waited(starters, 0, 1, false);
    let most = seen("starters 0 late") + seen("starters 0 split");
    is_right("late senders", late, most, SLEPT / 2.0);
    let [_, late_receiver, _] = waited(started, 0, 1, true);
    is_right("late receivers", late_receiver, seen("started 0 latercv"), SLEPT / 2.0);
    // Rank 0 of the starters also waits where both worlds merge and split, and where all groups add up.
    is_right("collectives", collective, f64::INFINITY, SLEPT / 2.0);
    let [.., collective] = waited(starters, 1, 1, false);
    is_right("collectives of rank 1", collective, f64::INFINITY, SLEPT / 2.0);
    let sums: f64 = (0..2).map(|by| waited(started, by, 0, true)[2]).sum();
    is_right("sums of both groups", sums, f64::INFINITY, SLEPT / 4.0);
    for (launch, routines) in
        [(starters, &["Recv", "Barrier", "Allreduce"][..]), (started, &["Barrier", "Allreduce"])]
    {
        for routine in routines {
            let share = unknown(launch, routine);
            assert!(share < 0.1, "{name}: {share} of {routine} is not known: {told:#?}");
        }
    }
    // Whose rank that is is said in words, too.
    let mut view = scratch.command(Site::shared().tool("topasview"));
    let id = starters["launch"]["id"].as_str().expect("an id");
    view.env("COLUMNS", "200").env("LC_ALL", "C.UTF-8");
    let text = run(view.args(["--mpi", "--launch", id]).arg(&places.out)).good().out();
    assert!(text.contains("1 of farm (started by rank 1)"), "{name}: {text}");
    // What that rank does is known of its own world.
    assert!(text.contains("Rank 1 of farm (started by rank 1) computes "), "{name}: {text}");
    let mut view = scratch.command(Site::shared().tool("topasview"));
    let id = started["launch"]["id"].as_str().expect("an id");
    view.env("COLUMNS", "200").env("LC_ALL", "C.UTF-8");
    let text = run(view.args(["--mpi", "--waits", "--launch", id]).arg(&places.out)).good().out();
    assert!(text.contains("1 of the world that started this one"), "{name}: {text}");
}

#[test]
fn ranks_wait_for_ranks_that_they_started() {
    if let Some(mpi) = Installation::of_debian(Mpi::OpenMpi) {
        both_worlds_tell_what_they_waited(&mpi, &["any"]);
    }
}

#[test]
#[ignore = "cargo xtask test --all-mpi"]
fn ranks_of_many_mpis_wait_for_ranks_that_they_started() {
    for mpi in Installation::all().expect("MPIs") {
        // Of messages from anybody between worlds MPICH 5.0 loses some.
        both_worlds_tell_what_they_waited(&mpi, &[]);
    }
}

#[test]
fn of_two_worlds_that_start_at_once_each_is_told_by_itself() {
    let Some(mpi) = Installation::of_debian(Mpi::OpenMpi) else { return };
    let scratch = Scratch::new();
    let Some((places, _)) = started(&mpi, &scratch, "pairs", &[]) else { return };
    let told = launches(&scratch, &places);
    let starters = &told[0];
    let [late, ..] = waited(starters, 1, 0, false);
    assert!(late >= SLEPT / 4.0, "{late}: {told:#?}");
    // Each rank tells another launch.
    let pairs = starters["waits"]["outside_pairs"].as_array().expect("pairs");
    let of = |by: u32| pairs.iter().find(|pair| pair["waits"] == by).map(|pair| &pair["launch"]);
    assert_ne!(of(0), of(1), "{told:#?}");
    assert!(unknown(starters, "Recv") < 0.1, "{told:#?}");
}
