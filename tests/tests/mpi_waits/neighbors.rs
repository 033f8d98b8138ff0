//! Waits in collectives of neighbours: for the last of the neighbours from whom data come, and for nobody
//! else.

use std::fs;

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::build;
use topas_tests::site::Scratch;

use topas_tests::waits::{Ranks, holds, holds_on, profile, view};

use super::once;

/// A rank waits so long for the late one in each round, in seconds.
const LATE: f64 = 2e-3;

/// Seconds that a rank waited in collectives of neighbours, all of which have `Neighbor` in their names.
fn waited(found: &Ranks, rank: u32) -> f64 {
    let of_rank =
        found.iter().filter(|((of, routine), _)| *of == rank && routine.contains("eighbor"));
    of_rank.map(|(_, known)| known.waits[2]).sum()
}

/// The program, built for an MPI.
fn program(mpi: Mpi, scratch: &Scratch) -> String {
    let program = scratch.path().join("neighbors");
    build(mpi, "mpicc", &["waits/neighbors.c"], &["-O1"], &program);
    program.display().to_string()
}

/// Rank 0 is late: its neighbours wait for it, and no other rank does.
#[test]
fn only_neighbors_of_a_late_rank_wait_for_it() {
    const ROUNDS: u32 = 40;
    for mpi in Mpi::installed("only_neighbors_of_a_late_rank_wait_for_it") {
        let scratch = Scratch::new();
        let program = program(mpi, &scratch);
        let cases: [(&str, u32, &[u32]); 7] = [
            ("ring", 2, &[1]),
            ("ring", 4, &[1, 3]),
            ("ring", 8, &[1, 7]),
            ("grid", 4, &[1, 2]),
            ("hub", 3, &[2]),
            ("pairs", 4, &[1]),
            ("line", 3, &[1]),
        ];
        for (case, ranks, neighbors) in cases {
            once(|| {
                let text = holds(mpi, &program, case, ranks, ROUNDS);
                let found = profile(&text);
                let file = scratch.path().join(case);
                fs::write(&file, text).expect("profile");
                let text = view(&scratch, &file, &["--waits", "--json"]);
                let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                let pairs = json["waits"]["pairs"].as_array().expect("pairs");
                let for_late = |rank: u32| {
                    let pair = pairs.iter().find(|pair| pair["waits"] == rank && pair["rank"] == 0);
                    pair.and_then(|pair| pair["collective_seconds"].as_f64()).unwrap_or(0.0)
                };
                let all = LATE * f64::from(ROUNDS);
                // Others may wait for ranks that had no processor, but not for this one.
                let right = (1..ranks).all(|rank| {
                    if neighbors.contains(&rank) {
                        waited(&found, rank) > 0.6 * all && for_late(rank) > 0.6 * all
                    } else {
                        for_late(rank) < 0.3 * all
                    }
                });
                let said = || {
                    let all: Vec<f64> = (1..ranks).map(for_late).collect();
                    format!("{case} of {ranks} under {}: {all:?} s, {text}", mpi.name())
                };
                right.then_some(()).ok_or_else(said)
            });
        }
    }
}

/// Ranks come to collectives of several communicators whenever they like, complete them later, and make so many
/// communicators that not all of their neighbours can be kept.
#[test]
fn waits_for_neighbors_are_those_that_the_program_noted() {
    for mpi in Mpi::installed("waits_for_neighbors_are_those_that_the_program_noted") {
        let scratch = Scratch::new();
        let program = program(mpi, &scratch);
        for (case, ranks, rounds) in
            [("any", 2, 40), ("any", 4, 40), ("started", 3, 60), ("many", 3, 120)]
        {
            holds(mpi, &program, case, ranks, rounds);
        }
    }
}

/// The same between hosts: a rank tells its arrivals those to whom its data go.
#[test]
fn waits_for_neighbors_on_other_hosts_are_those_that_the_program_noted() {
    for mpi in Mpi::installed_with("waits_for_neighbors_on_other_hosts", &["unshare", "hostname"]) {
        let scratch = Scratch::new();
        let program = program(mpi, &scratch);
        for (case, hosts, ranks, rounds) in
            [("ring", 2, 4, 20), ("pairs", 2, 4, 20), ("any", 2, 3, 40), ("started", 3, 3, 40)]
        {
            holds_on(mpi, Some(hosts), &[], &program, case, ranks, rounds);
        }
    }
}

/// The same in Fortran, also in a call that completes what was started.
#[test]
fn waits_for_neighbors_in_fortran_are_those_that_the_program_noted() {
    const ROUNDS: u32 = 40;
    for mpi in Mpi::installed("waits_for_neighbors_in_fortran") {
        let scratch = Scratch::new();
        let program = scratch.path().join("neighbors");
        build(mpi, "mpifort", &["waits/neighbors.f90"], &["-O1"], &program);
        once(|| {
            let text = holds(mpi, program.to_str().expect("path"), "fortran", 3, ROUNDS);
            let found = profile(&text);
            let waited = ["Neighbor_allgather", "Neighbor_alltoall", "Wait"]
                .map(|routine| found[&(1, routine.to_owned())].waits[2]);
            let right = waited.iter().all(|waited| *waited > 0.6 * LATE * f64::from(ROUNDS));
            right.then_some(()).ok_or(format!("under {}: {waited:?} s", mpi.name()))
        });
    }
}
