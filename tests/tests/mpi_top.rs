//! `topas-top` on running programs: of one that hangs it names the ranks, their calls and the rank
//! that is waited for.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use topas_tests::mpi::Mpi;
use topas_tests::profile::{Places, build, library};
use topas_tests::running::{Run, run};
use topas_tests::site::{Scratch, Site};

/// `topas-top` on the mapped files of these places.
fn top(scratch: &Scratch, places: &Places, args: &[&str]) -> Run {
    let mut top = scratch.command(Site::shared().tool("topas-top"));
    run(top.arg("--spool").arg(&places.spool).args(args))
}

#[test]
fn a_program_that_hangs_is_named() {
    for mpi in Mpi::installed("a_program_that_hangs_is_named") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("hang");
        build(mpi, "mpicc", &["paths/hang.c"], &[], &program);
        let none = top(&scratch, &places, &["--once"]);
        assert_eq!(none.code(), 3, "{}", none.err());
        assert!(none.err().contains("no program of yours runs"), "{}", none.err());
        let mut launch = mpi.launch_bare(&scratch, 3);
        launch.args(places.words(&[&library(Site::shared())])).arg(&program);
        launch.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = launch.spawn().expect("launch");
        let begun = Instant::now();
        let last = loop {
            let shown = top(&scratch, &places, &["--once"]);
            let found = shown.out().contains("No call has ended for");
            if found || begun.elapsed() > Duration::from_secs(60) {
                break shown.out();
            }
            thread::sleep(Duration::from_millis(50));
        };
        let csv = top(&scratch, &places, &["--csv", "--sort", "now", "--filter", "MPI_Recv"]);
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("launcher");
        child.wait().expect("launcher");
        let name = mpi.name();
        assert!(last.contains("rank 0 in MPI_Recv with 1 for "), "under {name}: {last}");
        assert!(last.contains("ranks 1, 2 in MPI_Bcast with 0 for "), "under {name}: {last}");
        assert!(last.starts_with("hang  3 of 3 ranks here"), "under {name}: {last}");
        let rows: Vec<String> = csv.good().out().lines().map(str::to_owned).collect();
        assert_eq!(rows.len(), 2, "under {name}: {rows:?}");
        assert!(rows[1].starts_with("0,") && rows[1].contains("MPI_Recv with 1"), "{rows:?}");
        // The longest call of those that stand still had lasted a second when it was named.
        let seconds = last
            .split("No call has ended for ")
            .nth(1)
            .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        let seconds = seconds.unwrap_or_else(|| panic!("under {name}: {last}"));
        assert!(seconds >= 1.0, "{seconds} under {name}: {last}");
    }
}
