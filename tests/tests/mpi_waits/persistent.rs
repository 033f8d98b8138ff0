//! Collectives that are prepared once and started again and again.

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::build;
use topas_tests::site::Scratch;
use topas_tests::waits::{holds, profile};

#[test]
fn persistent_collectives_wait_for_the_last_start() {
    for mpi in Mpi::installed("persistent_collectives_wait_for_the_last_start") {
        // They came with MPI 4.
        if mpi != Mpi::Mpich {
            continue;
        }
        let scratch = Scratch::new();
        let program = scratch.path().join("persistent");
        build(mpi, "mpicc", &["waits/persistent.c"], &["-O1"], &program);
        let program = program.to_str().expect("path");
        for case in ["world", "duplicate", "neighbours"] {
            let text = holds(mpi, program, case, 4, 60);
            let waits: f64 = profile(&text).values().map(|known| known.waits[2]).sum();
            assert!(waits > 0.1, "{case} under {}: {waits} s", mpi.name());
        }
    }
}
