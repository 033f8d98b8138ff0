//! Worlds of spawned processes: which rank of which world started them, and where in the source.

use serde_json::Value;
use topas_tests::build::source;
use topas_tests::installation::{Installation, MpiKind, Through};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, build, library};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::note;

/// What topasview says; words alone, whatever the lines are.
fn view(scratch: &Scratch, places: &Places, args: &[&str]) -> String {
    let mut view = scratch.command(Site::shared().tool("topasview"));
    view.env("COLUMNS", "200").env("LC_ALL", "C.UTF-8").args(args).arg(&places.out);
    let told = run(&mut view).good().out();
    if args.contains(&"--json") {
        told
    } else {
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// MPIs that can start processes: MPICH of Debian cannot, whatever the program.
fn starters(test: &str) -> impl Iterator<Item = Mpi> {
    Mpi::installed(test).into_iter().filter(|mpi| mpi.name() != "mpich")
}

/// The profiles of a master of two ranks and of its workers, in one file.
fn started(mpi: Mpi, scratch: &Scratch, driver: &str, source: &str) -> Places {
    let (master, worker) = (scratch.path().join("master"), scratch.path().join("worker"));
    build(mpi, driver, &[&format!("spawn/{source}")], &["-O2", "-g"], &master);
    build(mpi, "mpicc", &["spawn/worker.c"], &["-O2", "-g"], &worker);
    let places = Places::new(scratch);
    let [master, worker] = [&master, &worker].map(|path| path.to_str().expect("path"));
    // Processes that are started have the environment of the launcher, not that of the ranks.
    let mut launch = mpi.launch_bare(scratch, 2);
    launch.envs(places.variables()).env("LD_PRELOAD", library(Site::shared()));
    launch.env("TOPAS_MPI_WAITS", "yes").env("TOPAS_MPI_PATHS", "4");
    launched(scratch, launch.args([master, worker]).current_dir(scratch.path())).good();
    places
}

#[test]
fn every_world_is_told_with_what_started_it() {
    for mpi in starters("every_world_is_told_with_what_started_it") {
        let scratch = Scratch::new();
        let places = started(mpi, &scratch, "mpicc", "master.c");
        let told = json(&view(&scratch, &places, &["--why", "--json"]));
        // The run is that of the master, though its workers may have ended later.
        assert_eq!(told["launch"]["exe"], "master", "{told:#}");
        let worlds = told["worlds"].as_array().expect("worlds");
        let of = |key: &'static str| {
            worlds.iter().map(|world| world["started"][key].clone()).collect::<Vec<_>>()
        };
        assert_eq!(of("world"), [1, 2, 1], "{told:#}");
        assert_eq!(of("rank"), [1, 0, 1], "{told:#}");
        let calls = of("call");
        let call = |place: usize| calls[place].as_str().expect("words");
        assert!(call(0).contains("MPI_Comm_spawn, from start_workers (master.c:11)"), "{told:#}");
        assert!(call(1).contains("MPI_Comm_spawn_multiple, from main (worker.c:20)"), "{told:#}");
        for (world, ranks) in worlds.iter().zip([2, 1, 2]) {
            assert_eq!(world["launch"]["pes"], ranks, "{told:#}");
            assert_eq!(world["launch"]["exe"], "worker", "{told:#}");
        }
        // What is found in a world of its own is told with it.
        for world in [&worlds[0], &worlds[2]] {
            // On a machine with other work, nobody can be sure, and the start takes long.
            let list = |kind: &str| world[kind].as_array().expect("a list").clone();
            let told_of = [list("findings"), list("unsure")].concat();
            let is_late =
                |one: &Value| one["rule"] == "late-to-collectives" && one["where"] == "rank 1";
            assert!(told_of.iter().any(is_late), "{told:#}");
        }
        let text = view(&scratch, &places, &["--why"]);
        let line = "World 3: worker, 1 PEs, ";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("started by rank 0 of world 2 by MPI_Comm_spawn_multiple"), "{text}");
        // A world by itself says where it comes from, and the master what it started.
        let id = worlds[0]["launch"]["id"].as_str().expect("an id");
        let master = told["launch"]["id"].as_str().expect("an id");
        let text = view(&scratch, &places, &["--mpi", "--launch", id]);
        let line = format!(
            "Rank 1 of master, launch {master}, started this world by MPI_Comm_spawn, from \
             start_workers (master.c:11)."
        );
        assert!(text.contains(&line), "{text}");
        let text = view(&scratch, &places, &["--mpi", "--launch", master]);
        assert!(
            text.contains("Rank 1 started 2 ranks of worker 2 times by MPI_Comm_spawn"),
            "{text}"
        );
        let told = json(&view(&scratch, &places, &["--mpi", "--json", "--launch", master]));
        let started = told["launch"]["started"].as_array().expect("a list");
        assert_eq!(started[0]["launch"], id, "{told:#}");
        assert_eq!(told["launch"]["spawned"], Value::Null, "{told:#}");
    }
}

#[test]
fn a_master_in_fortran_tells_what_it_started() {
    for mpi in starters("a_master_in_fortran_tells_what_it_started") {
        let scratch = Scratch::new();
        let places = started(mpi, &scratch, "mpifort", "master.f90");
        let told = json(&view(&scratch, &places, &["--why", "--json"]));
        let world = &told["worlds"][0];
        assert_eq!(world["started"]["rank"], 1, "{told:#}");
        let call = world["started"]["call"].as_str().expect("words");
        assert!(call.starts_with("MPI_Comm_spawn, from "), "{call}");
        assert!(call.contains("master.f90:"), "{call}");
        let id = told["launch"]["id"].as_str().expect("an id");
        let text = view(&scratch, &places, &["--mpi", "--launch", id]);
        assert!(text.contains("Rank 1 started 2 ranks of worker by MPI_Comm_spawn"), "{text}");
    }
}

/// Two launches at once whose ranks start processes at once: each world is told with the launch from which it came, though
/// only the launcher may tell which that is.
fn worlds_of_two_launches_are_told_apart(mpi: &Installation) {
    let scratch = Scratch::new();
    let program = scratch.path().join("pairs");
    let mut driver = mpi.command(Site::shared(), &scratch, Through::Bare, "mpicc");
    driver.args(["-O2", "-g"]).arg(source("spawn/pairs.c")).arg("-o").arg(&program);
    let lib = mpi.tool("mpiexec").and_then(|tool| Some(tool.parent()?.parent()?.join("lib")));
    if !mpi.name.ends_with("-of-debian") {
        driver.arg(format!("-Wl,-rpath,{}", lib.expect("a directory").display()));
    }
    run(&mut driver).good();
    let all = ["first", "second"].map(|name| {
        let places = Places::new(&scratch);
        Places { out: scratch.path().join(name), ..places }
    });
    let launch = |places: &Places| {
        let mut launch = mpi.command(Site::shared(), &scratch, Through::Bare, "mpiexec");
        launch.args(["-n", "2"]).envs(places.variables());
        launch.env("LD_PRELOAD", library(Site::shared())).arg(&program);
        launch.current_dir(scratch.path()).spawn().expect("launch")
    };
    let ended = all.each_ref().map(launch).map(|mut child| child.wait().expect("end").success());
    if mpi.kind != MpiKind::OpenMpi && ended.contains(&false) {
        return note(&mpi.name, "starts no processes");
    }
    assert_eq!(ended, [true; 2], "{}", mpi.name);
    let why = |words: &[&str]| {
        let mut view = scratch.command(Site::shared().tool("topasview"));
        view.args(["--why", "--json"]).args(words);
        json(&run(&mut view).good().out())
    };
    let outs = all.each_ref().map(|places| places.out.to_str().expect("path"));
    for out in outs {
        let alone = why(&[out]);
        let id = alone["launch"]["id"].as_str().expect("an id");
        assert_eq!(alone["launch"]["pes"], 2, "{}: {alone:#}", mpi.name);
        let told = why(&["--launch", id, outs[0], outs[1]]);
        let worlds = told["worlds"].as_array().expect("worlds");
        let of: Vec<_> = worlds.iter().map(|world| &world["started"]["world"]).collect();
        assert_eq!(of, [1, 1], "{}: {told:#}", mpi.name);
        let calls: Vec<_> =
            worlds.iter().filter_map(|world| world["started"]["call"].as_str()).collect();
        assert_eq!(calls, ["MPI_Comm_spawn"; 2], "{}: {told:#}", mpi.name);
    }
}

#[test]
fn worlds_of_two_launches_at_once_are_told_apart() {
    if let Some(mpi) = Installation::of_debian(Mpi::OpenMpi) {
        worlds_of_two_launches_are_told_apart(&mpi);
    }
}

#[test]
#[ignore = "cargo xtask test --all-mpi"]
fn worlds_of_two_launches_of_many_mpis_are_told_apart() {
    for mpi in Installation::all().expect("MPIs") {
        worlds_of_two_launches_are_told_apart(&mpi);
    }
}
