//! `topasview --mpi` on profiles of real runs: what was done is what it shows, at the end and while
//! the program runs.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, library, profiled};
use topas_tests::running::{Run, run};
use topas_tests::site::{Scratch, Site};

const RANKS: usize = 4;

/// What `output/ring.c` does: messages to the next rank, and sums over all.
const MESSAGES: usize = 7;
const BYTES: usize = 100;
const SUMS: usize = 3;

/// `topasview --mpi`, with the mapped files of these places only.
fn view(scratch: &Scratch, places: &Places, args: &[&str]) -> Run {
    let mut view: Command = scratch.command(Site::shared().tool("topasview"));
    view.env("TOPAS_MPI_SPOOL", &places.spool).env("COLUMNS", "120").env("LC_ALL", "C.UTF-8");
    run(view.current_dir(scratch.path()).arg("--mpi").args(args))
}

/// Rows of a matrix: the column of that name by rank.
fn column(matrix: &str, name: &str) -> Vec<String> {
    let mut lines = matrix.lines().skip(1);
    let header = lines.next().expect("a header");
    let place = header.split_whitespace().position(|column| column == name);
    let place = place.unwrap_or_else(|| panic!("no column {name}: {header}"));
    let cell = |line: &str| line.split_whitespace().nth(place).expect("a cell").to_owned();
    lines.map(cell).collect()
}

#[test]
fn what_ranks_did_is_what_is_shown() {
    for mpi in Mpi::installed("what_ranks_did_is_what_is_shown") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let ring = scratch.path().join("ring");
        build(mpi, "mpicc", &["output/ring.c"], &[], &ring);
        let words = ["TOPAS_MPI_PEERS=yes", "TOPAS_MPI_COMMS=yes", ring.to_str().expect("path")];
        profiled(mpi, &scratch, RANKS as u32, &words, &places).good();
        let file = places.out.to_str().expect("path");
        let shown = |args: &[&str]| {
            let mut all = args.to_vec();
            all.push(file);
            let shown = view(&scratch, &places, &all).good();
            assert_eq!(shown.err(), "", "{args:?} under {}", mpi.name());
            shown.out()
        };
        let matrix = |which| shown(&["--no-heading", "--matrix", which]);

        let (sends, receives) = (matrix("sends"), matrix("receives"));
        let bytes = format!("{}", (MESSAGES * BYTES) as f64 / 1e3);
        for (matrix, name, value) in [
            (&sends, "sendrecv", MESSAGES.to_string()),
            (&receives, "sendrecv", MESSAGES.to_string()),
            (&sends, "allreduce", SUMS.to_string()),
            (&matrix("sent"), "sendrecv", bytes.clone()),
            (&matrix("received"), "sendrecv", bytes),
        ] {
            assert_eq!(column(matrix, name), vec![value; RANKS], "{name} under {}", mpi.name());
        }

        let peers = shown(&["--peers", "--csv"]);
        for rank in 0..RANKS {
            let next = (rank + 1) % RANKS;
            let row = format!("\n{rank},{next},{MESSAGES},{},", MESSAGES * BYTES);
            assert!(peers.contains(&row), "{row} under {}: {peers}", mpi.name());
        }
        let comms = shown(&["--comms", "--csv"]);
        let world = comms.lines().find(|line| line.starts_with("MPI_COMM_WORLD,"));
        let world = world.unwrap_or_else(|| panic!("under {}: {comms}", mpi.name()));
        assert_eq!(world.split(',').nth(1), Some(&*RANKS.to_string()), "{comms}");

        // What it says of efficiencies are shares, however busy the machine is.
        let efficiency = shown(&["--efficiency", "--csv"]);
        let shares: Vec<f64> = efficiency
            .lines()
            .skip(1)
            .filter_map(|line| line.split(',').nth(1)?.parse().ok())
            .collect();
        assert_eq!(shares.len(), 3, "{efficiency}");
        assert!(shares.iter().all(|share| (0.0..=100.0).contains(share)), "{efficiency}");
        let overview = shown(&[]);
        let words = ["ring of ", &format!(", {RANKS} ranks on "), "ended by MPI_Finalize"];
        for words in words {
            assert!(overview.contains(words), "{words} under {}: {overview}", mpi.name());
        }
        svg(&scratch, &places, file);
    }
}

fn svg(scratch: &Scratch, places: &Places, file: &str) {
    for view_of in ["--peers", "--sizes", "--efficiency"] {
        let shown = view(scratch, places, &[view_of, "--svg", "-", file]).good();
        assert!(shown.out().starts_with("<svg"), "{view_of}: {}", shown.out());
    }
}

/// A directory of mapped files, and one of them, are read as what they are: their size is
/// 1 GiB each, most of it holes.
#[test]
fn mapped_files_are_told_from_text() {
    for mpi in Mpi::installed("mapped_files_are_told_from_text") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("ends");
        build(mpi, "mpicc", &["faults/ends.c"], &["-O1", "-pthread"], &program);
        let words = [program.to_str().expect("path"), "_exit", "-1"];
        profiled(mpi, &scratch, 2, &words, &places);
        let elsewhere = Places::new(&Scratch::new());
        let spool = places.spool.to_str().expect("path");
        let files = topas_tests::profile::spool_files(&places.spool);
        assert_eq!(files.len(), 2, "under {}", mpi.name());
        for (input, ranks) in
            [(spool, "2 of 2 ranks"), (files[0].to_str().expect("path"), "1 of 2")]
        {
            let begun = Instant::now();
            let shown = view(&scratch, &elsewhere, &["--list", input]).good();
            assert!(begun.elapsed() < Duration::from_secs(10), "{input}: {:?}", begun.elapsed());
            assert!(shown.out().contains("ends"), "{ranks}: {}{}", shown.out(), shown.err());
        }
    }
}

/// Without a file it is what ranks have counted so far, and in which call they are.
#[test]
fn a_running_launch_is_seen() {
    for mpi in Mpi::installed("a_running_launch_is_seen") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("late");
        build(mpi, "mpicc", &["view/late.c"], &[], &program);
        let none = view(&scratch, &places, &[]);
        assert_eq!(none.code(), 3, "{}", none.err());
        let mut launch = mpi.launch_bare(&scratch, 3);
        launch.args(places.words(&[&library(Site::shared())])).arg(&program);
        launch.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = launch.spawn().expect("launch");
        let begun = Instant::now();
        let waiting = |out: &str| {
            let row =
                out.lines().find(|line| line.starts_with("Barrier ") && line.ends_with(" 1-2"));
            row.is_some()
        };
        let last = loop {
            let shown = view(&scratch, &places, &[]);
            if waiting(&shown.out()) || begun.elapsed() > Duration::from_secs(60) {
                break shown;
            }
            thread::sleep(Duration::from_millis(50));
        };
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("launcher");
        child.wait().expect("launcher");
        let out = last.out();
        assert!(waiting(&out), "ranks 1 and 2 wait, under {}:\n{out}{}", mpi.name(), last.err());
        assert!(out.contains("; running\n") && out.contains("Seen while it runs"), "{out}");
        assert!(last.err().contains("of 1 launch, 1 running"), "{}", last.err());
    }
}
