//! Waits for partitioned messages, in a program that notes itself when it gave away the last partition.

use topas_tests::waits::{holds, installed_mpi_4, profile, under_each};

#[test]
fn who_is_late_with_the_last_partition_is_waited_for() {
    let mpis = installed_mpi_4("who_is_late_with_the_last_partition_is_waited_for");
    under_each(mpis, "parts", |mpi, program| {
        let text = holds(mpi, program, "parts", 2, 40);
        let found = profile(&text)[&(1, "Wait".to_owned())];
        // The last partition is late by 2 ms, in 30 of 40 rounds inside of Wait.
        assert!(found.waits[0] > 0.05, "under {}: {found:?}", mpi.name());
    });
}
