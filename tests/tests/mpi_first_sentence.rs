//! Which rank makes the others wait, and where in its code, as the first sentence of `topasview --mpi` tells it of
//! programs in which that is known.

use topas_tests::launched_again::launched_again;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::site::Scratch;
use topas_tests::waits::view;

/// Launches a program on so many ranks, until its first lines are right. They sleep where others compute, so that two processors
/// are enough but for the waits themselves.
fn launched(
    mpi: Mpi,
    source: &str,
    ranks: u32,
    variables: &[&str],
    is_right: impl Fn(&str) -> Result<(), String>,
) {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let program = scratch.path().join("program");
    build(mpi, "mpicc", &[source], &["-O1", "-g", "-pthread"], &program);
    let program = program.to_str().expect("path");
    let command = [variables, &[program, "40"]].concat();
    launched_again(|| {
        places.clear();
        profiled(mpi, &scratch, ranks, &command, &places).good();
        let shown = view(&scratch, &places.out, &[]);
        let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        is_right(&text).map_err(|wrong| format!("{wrong} under {}:\n{shown}", mpi.name()))
    });
}

/// The same with four ranks, until the first lines have all of some words.
fn said(mpi: Mpi, source: &str, variables: &[&str], words: &[&str]) {
    launched(mpi, source, 4, variables, |text| {
        match words.iter().find(|word| !text.contains(**word)) {
            None => Ok(()),
            Some(lacks) => Err(format!("no {lacks:?}")),
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

/// A rank does not wait for what it did itself before it sent the message for which the late one waited: of the 160 ms of a
/// round, 100 begin in rank 1, and 60 in rank 0, as the event log tells.
#[test]
fn what_comes_behind_a_message_of_the_one_that_waits_is_told_apart() {
    for mpi in Mpi::installed("what_comes_behind_a_message_of_the_one_that_waits_is_told_apart") {
        let variables = ["TOPAS_MPI_LOG=yes", "TOPAS_MPI_WAITS=yes"];
        launched(mpi, "waits/common_past.c", 3, &variables, |text| {
            let number = |before: &str| {
                let (_, behind) = text.split_once(before).ok_or(format!("no {before:?}"))?;
                let word = behind.split(' ').next().unwrap_or_default();
                word.parse::<f64>().map_err(|_| format!("{word:?} is no number"))
            };
            let all =
                number("Rank 1 makes the others wait, mostly in Recv because it sends late. Of ")?;
            let second = number("Rank 0 makes others wait, too: ")?;
            match second / all {
                0.34..0.41 => Ok(()),
                share => Err(format!("{share:.3} of the waits begin in rank 0, not 0.375")),
            }
        });
    }
}
