//! Locks of windows that another rank holds.

use topas_tests::mpi_installation::Mpi;
use topas_tests::waits::{holds, profile, under_each};

/// Who holds a lock beside which there cannot be another is waited for, until that is given back.
#[test]
fn a_lock_is_waited_for_until_it_is_given_back() {
    under_each(
        Mpi::installed("a_lock_is_waited_for_until_it_is_given_back"),
        "locks",
        |mpi, program| {
            for case in ["created", "allocated"] {
                let text = holds(mpi, program, case, 3, 72);
                let found = profile(&text);
                for (routine, least) in [("Win_lock", 0.005), ("Win_lock_all", 0.0005)] {
                    let known = found[&(0, routine.to_owned())];
                    assert!(known.waits[0] > least, "{case} under {}: {known:?}", mpi.name());
                }
            }
        },
    );
}
