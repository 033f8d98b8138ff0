//! Ranks that compute while what they have begun with others is under way.

use std::fs;

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, profiled};
use topas_tests::site::Scratch;
use topas_tests::waits::{number, profile, under_each, view};

use super::once;

/// Most MPIs do nothing outside of calls: the others wait for the rank that computes, though all have begun in time. Open MPI
/// then keeps short messages, too; MPICH lets them go, and the others wait for those of the next round.
#[test]
fn a_rank_that_computes_meanwhile_makes_the_others_wait() {
    const RANKS: u32 = 3;
    const LATE: u32 = 1;
    let mpis = Mpi::installed("a_rank_that_computes_meanwhile_makes_the_others_wait");
    under_each(mpis, "overlaps", |mpi, program| {
        for case in ["messages", "sum", "short", "persistent"] {
            once(|| {
                let scratch = Scratch::new();
                let places = Places::new(&scratch);
                let late = LATE.to_string();
                let words = ["TOPAS_MPI_WAITS=yes", program, case, &late, "60"];
                let out = profiled(mpi, &scratch, RANKS, &words, &places).good().out();
                let found = profile(&fs::read_to_string(&places.out).expect("profile"));
                let shown = view(&scratch, &places.out, &["--waits"]);
                let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
                let said = format!("{case} under {}: {out} {found:?} {shown}", mpi.name());
                let mut is_right = shown.contains(&format!("ank {LATE} makes the others wait"))
                    || shown.contains(&format!(" s for rank {LATE}, "));
                for line in out.lines().filter_map(|line| line.strip_prefix("in ")) {
                    let (rank, time) = line.split_once(' ').expect("rank and seconds");
                    let (rank, time): (u32, f64) = (number(rank), number(time));
                    let waits = found.get(&(rank, "Waitall".to_owned()));
                    let waited = waits.map_or(0.0, |known| known.waits.iter().sum());
                    assert!(waited <= time + 1e-3, "{said}");
                    is_right &= rank == LATE || waited > 0.8 * time && waited > 0.7;
                }
                is_right.then_some(()).ok_or(said)
            });
        }
    });
}
