//! Calls that send and receive messages of many sizes, some of which go without their receiver.

use topas_tests::mpi_installation::Mpi;
use topas_tests::waits::holds_on;
use topas_tests::waits::under_each;

/// A rank that is late for both sides of an exchange is a late sender, whatever the size, and a receiver that is
/// later than the sender is one only where the message needs it. What needs its receiver differs from MPI to MPI.
#[test]
fn a_receiver_is_late_only_for_messages_that_need_it() {
    under_each(
        Mpi::installed("a_receiver_is_late_only_for_messages_that_need_it"),
        "exchanges",
        |mpi, program| {
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
        },
    );
}

/// Open MPI ends an exchange of short messages when its receiver comes, which tells that when its own call is over: after
/// the sender has gone on.
#[test]
fn an_exchange_that_stays_for_a_receiver_waits_for_it() {
    under_each(
        Mpi::installed("an_exchange_that_stays_for_a_receiver_waits_for_it"),
        "exchanges",
        |mpi, program| {
            for bytes in [8, 800] {
                let bytes = format!("BYTES={bytes}");
                holds_on(mpi, None, &[&bytes], program, "ring", 3, 40);
            }
        },
    );
}
