//! Every collective and neighbourhood function, in all its roles: what arrives is seen in its
//! buffers, what is sent is what the table says, which `mpi_table` holds against what arrives.

use std::collections::BTreeMap;

use topas_mpi_table::{FunctionClass, Way, find};
use topas_tests::mpi_installation::Mpi;
use topas_tests::mpi_program::amounts::{chosen, invisible, total};
use topas_tests::mpi_program::calls::{RANKS, program, said};
use topas_tests::mpi_program::version;

use super::launch::{Names, Program, other_calls};

/// Bytes that were sent and received by calls of one function on one rank.
fn moved(path: &std::path::Path) -> BTreeMap<(usize, &'static str), (u64, u64)> {
    let mut all: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for calls in said(path) {
        for (rank, call) in calls.iter().enumerate() {
            let (function, _) = find(&call.function).expect("a function of the table");
            let bytes = |n: i64| u64::try_from(n).expect("bytes");
            let arrives = if invisible(function, call) {
                bytes(total(function, call, Way::Received))
            } else {
                bytes(call.one("changed"))
            };
            let sum = all.entry((rank, function.name)).or_default();
            sum.0 += bytes(total(function, call, Way::Sent));
            sum.1 += arrives;
        }
    }
    all
}

/// What a binding of Fortran cannot do: the same calls of a program in Fortran fail, too, without
/// any library in front of MPI.
fn broken(mpi: Mpi, names: Names) -> &'static [(&'static str, &'static str)] {
    match (mpi, names) {
        // 4.1.4 frees the list that it made of Fortran's datatypes at the return of the call, and
        // reads it when the request is done (memory checkers show both).
        (Mpi::OpenMpi, Names::Fortran | Names::F08) => &[
            ("MPI_Ialltoallw", "intra"),
            ("MPI_Ialltoallw", "inter"),
            ("MPI_Ineighbor_alltoallw", "graph"),
            ("MPI_Ineighbor_alltoallw", "line"),
        ],
        // 4.0.2 copies as many datatypes as its own group has processes, not the other one: of
        // three, two, and reads beyond. Of any topology it asks for the neighbours of a graph.
        (Mpi::Mpich, Names::F08) => &[
            ("MPI_Alltoallw", "inter"),
            ("MPI_Ialltoallw", "inter"),
            ("MPI_Alltoallw_init", "inter"),
            ("MPI_Neighbor_alltoallw", "line"),
            ("MPI_Ineighbor_alltoallw", "line"),
            ("MPI_Neighbor_alltoallw_init", "line"),
        ],
        _ => &[],
    }
}

#[test]
fn collectives_are_counted_to_the_byte() {
    let mut complaints = Vec::new();
    for mpi in Mpi::installed("collectives_are_counted_to_the_byte") {
        let all = chosen(version(mpi));
        for names in Names::ALL {
            let text = program(mpi, &all, broken(mpi, names));
            let program = Program::new(mpi, names, &text, &[]);
            let path = program.path("said");
            let ranks = program.profiled(RANKS, &[path.to_str().expect("a path")]);
            let moved = moved(&path);
            for (i, rank) in ranks.iter().enumerate() {
                let mut complain = |what: String| {
                    complaints.push(format!("{} {names:?} rank {i}: {what}", mpi.name()));
                };
                other_calls(rank, names).into_iter().for_each(&mut complain);
                let functions = rank.profile.functions.iter().filter(|(name, _)| {
                    let (function, _) = find(name).expect("a function of the table");
                    matches!(
                        function.class,
                        FunctionClass::Collective(_) | FunctionClass::Neighborhood(_)
                    )
                });
                for (name, counts) in functions {
                    let (sent, received) = moved.get(&(i, *name)).copied().unwrap_or_default();
                    if (counts.sent.bytes, counts.received.bytes) != (sent, received) {
                        complain(format!(
                            "{name}: {sent} B out, {received} B in, counted {}, {}",
                            counts.sent.bytes, counts.received.bytes
                        ));
                    }
                }
            }
            println!("{} {names:?}: {} functions", mpi.name(), moved.len());
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
