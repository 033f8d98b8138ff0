//! Which rank makes the others wait, and where in its code, as the first sentence of `topasview --mpi` tells it of
//! programs in which that is known.

use topas_tests::launched_again::launched_again;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::site::Scratch;
use topas_tests::waits::view;

/// Launches a program on four ranks, until the sentence has all of some words. They sleep where others compute, so that two
/// processors are enough but for the waits themselves.
fn said(mpi: Mpi, source: &str, variables: &[&str], words: &[&str]) {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let program = scratch.path().join("program");
    build(mpi, "mpicc", &[source], &["-O1", "-g", "-pthread"], &program);
    let program = program.to_str().expect("path");
    let command = [variables, &[program, "40"]].concat();
    launched_again(|| {
        places.clear();
        profiled(mpi, &scratch, 4, &command, &places).good();
        let shown = view(&scratch, &places.out, &[]);
        let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        match words.iter().find(|word| !text.contains(**word)) {
            None => Ok(()),
            Some(lacks) => Err(format!("no {lacks:?} under {}:\n{shown}", mpi.name())),
        }
    });
}

/// Nearly as long as for what a rank sends, another one waits until it receives.
#[test]
fn places_of_two_kinds_of_wait_are_named() {
    for mpi in Mpi::installed("places_of_two_kinds_of_wait_are_named") {
        let variables = ["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes"];
        let words = [
            "rank 2",
            " wait for it in Recv, from main (pipeline.c:",
            " wait for it in Send, from main (pipeline.c:",
        ];
        said(mpi, "waits/pipeline.c", &variables, &words);
    }
}

/// A rank whose first thread joins one that waited for another rank is late because of that one, as the event
/// log tells.
#[test]
fn a_rank_that_joins_a_thread_hands_on_what_this_waited() {
    for mpi in Mpi::installed("a_rank_that_joins_a_thread_hands_on_what_this_waited") {
        let variables = ["TOPAS_MPI_LOG=yes", "TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes"];
        let words = [
            "Rank 2 makes the others wait",
            "They wait for it in Sendrecv, from exchange (joins.c:",
        ];
        said(mpi, "waits/joins.c", &variables, &words);
    }
}
