//! Calls that send and receive messages of many sizes, some of which go without their receiver.

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::build;
use topas_tests::site::Scratch;
use topas_tests::waits::holds_on;

/// A rank that is late for both sides of an exchange is a late sender, whatever the size, and a receiver that is
/// later than the sender is one only where the message needs it. What needs its receiver differs from MPI to MPI.
#[test]
fn a_receiver_is_late_only_for_messages_that_need_it() {
    for mpi in Mpi::installed("a_receiver_is_late_only_for_messages_that_need_it") {
        let scratch = Scratch::new();
        let program = scratch.path().join("exchanges");
        build(mpi, "mpicc", &["waits/exchanges.c"], &["-O1"], &program);
        let program = program.to_str().expect("path");
        for (bytes, cases) in [
            // Messages so small are taken for such that go, until some were seen to wait.
            (1_000, &["tie", "seen"][..]),
            (6_400, &["tie", "gap", "seen"]),
            (20_000, &["tie", "gap", "seen"]),
            (1_000_000, &["tie", "gap", "seen"]),
        ] {
            for case in cases {
                let bytes = format!("BYTES={bytes}");
                let said = holds_on(mpi, None, &[&bytes], program, case, 2, 20);
                assert!(said.contains(" l="), "{case} of {bytes}: {said}");
            }
        }
    }
}
