//! Waits in functions in which groups make communicators, and for what `MPI_Comm_idup` has started, in programs that
//! note themselves when they came: the seconds of the profile are those of the notes.

use topas_tests::mpi_installation::Mpi;
use topas_tests::waits::{holds, holds_on, profile, under_each};

/// Of each case the routine that waits.
const CASES: [(&str, &str); 3] =
    [("groups", "Comm_create_group"), ("between", "Intercomm_create"), ("started", "Wait")];

#[test]
fn who_makes_a_communicator_waits_for_who_comes_last() {
    under_each(
        Mpi::installed("who_makes_a_communicator_waits_for_who_comes_last"),
        "makers",
        |mpi, program| {
            for (case, routine) in CASES {
                let text = holds(mpi, program, case, 3, 36);
                // Each rank waits 15 ms for a late one in eight rounds at least, and for less where it is held up itself.
                for rank in 0..3 {
                    let found = profile(&text)[&(rank, routine.to_owned())];
                    assert!(found.waits[2] > 0.05, "{case} under {}: {found:?}", mpi.name());
                }
            }
        },
    );
}

/// The same with ranks on several hosts, whose clocks differ by 1,234 s and 20 ppm.
#[test]
fn between_hosts_who_makes_a_communicator_waits_for_who_comes_last() {
    under_each(
        Mpi::installed_with("between_hosts_who_makes", &["unshare", "hostname"]),
        "makers",
        |mpi, program| {
            for (case, routine) in CASES {
                let text = holds_on(mpi, Some(2), &[], program, case, 3, 36);
                for rank in 0..3 {
                    let found = profile(&text)[&(rank, routine.to_owned())];
                    assert!(found.waits[2] > 0.05, "{case} under {}: {found:?}", mpi.name());
                }
            }
        },
    );
}
