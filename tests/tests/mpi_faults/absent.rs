//! Launches in which some ranks have no library, or come by ways on which it is hard to tell that they have it.

use std::fs;

use topas_tests::alone::can_mount;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, library};
use topas_tests::running::{Run, have};
use topas_tests::site::Site;
use topas_tests::skip::skip;

use super::{FaultProgram, text};

/// Longest `MPI_Finalize` in s: on a busy machine, and far from the 30 s that ranks wait if they know nothing.
const LONGEST: f64 = 5.0;

fn some_ranks(mpi: Mpi) -> (FaultProgram, Places) {
    let program = FaultProgram::new(mpi, "mpicc", "some_ranks.c", &["-O1", "-Wall", "-Werror"]);
    let places = Places::new(&program.scratch);
    (program, places)
}

/// Launches three ranks by some words, and one by others.
#[track_caller]
fn launch(program: &FaultProgram, three: &[String], one: &[String]) -> Run {
    let mut launch = program.mpi.launch_bare(&program.scratch, 3);
    launch.args(three).arg(&program.path).args([":", "-n", "1"]).args(one).arg(&program.path);
    launched(&program.scratch, launch.current_dir(program.scratch.path())).good()
}

/// Seconds that the ranks say were in `MPI_Finalize`, the longest.
#[track_caller]
fn longest(run: &Run) -> f64 {
    let out = run.out();
    let seconds = out.lines().filter_map(|line| line.strip_suffix(" s")?.rsplit(' ').next());
    let seconds: Vec<f64> = seconds.map(|text| text.parse().expect("seconds")).collect();
    assert_eq!(seconds.len(), 4, "ranks that said how long it took: {out}");
    seconds.into_iter().fold(0.0, f64::max)
}

/// Whether the data file has a record of all ranks at the end.
fn is_common(places: &Places) -> bool {
    let text = fs::read_to_string(&places.out).expect("data file");
    text.lines().any(|line| line.contains(" of=run line="))
}

#[test]
fn ranks_without_the_library_are_not_waited_for() {
    let nothing = ["env".to_owned()];
    for mpi in Mpi::installed("ranks without the library") {
        for more in
            [&[][..], &["TOPAS_MPI_WAITS=yes"], &["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_LOG=yes"]]
        {
            let (program, places) = some_ranks(mpi);
            let mut with = places.words(&[&library(Site::shared())]);
            with.extend(more.iter().map(|&word| word.to_owned()));
            for (three, one, ranks) in [(&with[..], &nothing[..], 0..3), (&nothing, &with, 3..4)] {
                let case = format!("{ranks:?} with {more:?} under {}", mpi.name());
                let run = launch(&program, three, one);
                assert!(longest(&run) < LONGEST, "{case}: {}", run.out());
                let counted = places.counted();
                let found: Vec<_> = counted.iter().map(|counted| counted.rank).collect();
                assert_eq!(found, ranks.clone().collect::<Vec<_>>(), "{case}");
                for counted in counted {
                    assert_eq!(counted.routine("Allreduce").calls, 20, "{case}");
                }
                assert!(!is_common(&places), "{case}");
                // Rank 0 says it once for the subtotal and once for the end, and the MPI says nothing.
                let err = run.err();
                let said =
                    err.lines().filter(|line| line.ends_with(": some ranks are not profiled"));
                let (said, rest) =
                    (said.count(), err.lines().filter(|l| !l.starts_with("topas-mpi: ")));
                assert_eq!(said, if ranks.contains(&0) { 2 } else { 0 }, "{case}: {err}");
                assert_eq!(rest.count(), 0, "{case}: {err}");
                places.clear();
            }
        }
    }
}

#[test]
fn a_rank_that_comes_late_is_not_taken_for_one_without() {
    for mpi in Mpi::installed("late rank") {
        let (program, places) = some_ranks(mpi);
        let with = places.words(&[&library(Site::shared())]);
        let late: Vec<_> = ["sh", "-c", "sleep 2; exec \"$@\"", "sh"].map(str::to_owned).into();
        let run = launch(&program, &with, &[late, with.clone()].concat());
        assert!(is_common(&places), "under {}: {}", mpi.name(), run.err());
        assert_eq!(run.err(), "", "under {}", mpi.name());
    }
}

/// As in a container: ranks do not see how many have the library.
#[test]
fn ranks_with_other_semaphores_are_not_taken_for_ones_without() {
    let test = "ranks with other semaphores";
    if !can_mount(test) {
        return;
    }
    if !have("unshare") {
        return skip(test, "no unshare on this machine");
    }
    // MPICH with ranks apart does not end in the surroundings of this test, nor does it without the library.
    for mpi in Mpi::installed(test).into_iter().filter(|mpi| *mpi == Mpi::OpenMpi) {
        let (program, places) = some_ranks(mpi);
        let with = places.words(&[&library(Site::shared())]);
        let apart: Vec<_> = ["unshare", "--ipc"].map(str::to_owned).into();
        let apart = [apart, with.clone()].concat();
        for three in [&with, &apart] {
            let run = launch(&program, three, &apart);
            assert!(
                is_common(&places),
                "{text} under {}: {}",
                mpi.name(),
                run.err(),
                text = text(&program.path)
            );
            places.clear();
        }
    }
}
