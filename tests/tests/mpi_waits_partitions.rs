//! Waits for partitioned messages, in a program that notes itself when it gave away the last partition.

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::build;
use topas_tests::site::Scratch;
use topas_tests::waits::{holds, profile};

#[test]
fn who_is_late_with_the_last_partition_is_waited_for() {
    for mpi in Mpi::installed("who_is_late_with_the_last_partition_is_waited_for") {
        // Partitioned messages came with MPI 4.
        if mpi != Mpi::Mpich {
            continue;
        }
        let scratch = Scratch::new();
        let program = scratch.path().join("parts");
        build(mpi, "mpicc", &["waits/parts.c"], &["-O1"], &program);
        let text = holds(mpi, program.to_str().expect("path"), "parts", 2, 40);
        let found = profile(&text)[&(1, "Wait".to_owned())];
        // The last partition is late by 2 ms, in 30 of 40 rounds inside of Wait.
        assert!(found.waits[0] > 0.05, "under {}: {found:?}", mpi.name());
    }
}
