//! Collectives that are prepared once and started again and again.

use topas_tests::waits::{holds, installed_mpi_4, profile, under_each};

#[test]
fn persistent_collectives_wait_for_the_last_start() {
    let mpis = installed_mpi_4("persistent_collectives_wait_for_the_last_start");
    under_each(mpis, "persistent", |mpi, program| {
        for case in ["world", "duplicate", "neighbours"] {
            let text = holds(mpi, program, case, 4, 60);
            let waits: f64 = profile(&text).values().map(|known| known.waits[2]).sum();
            assert!(waits > 0.1, "{case} under {}: {waits} s", mpi.name());
        }
    });
}
