//! Waits in collectives with a root, in programs that note themselves when they came and left: who moves much stays
//! for who takes it, and who moves little for the ranks by which it goes.

use topas_tests::mpi_installation::Mpi;
use topas_tests::waits::{Ranks, holds, holds_on, profile, under_each};

/// Rounds of a case: each rank is late with each root.
const ROUNDS: u32 = 18;

fn waited(found: &Ranks, rank: u32, routine: &str) -> f64 {
    found.get(&(rank, routine.to_owned())).map_or(0.0, |known| known.waits[2])
}

#[test]
fn who_moves_much_to_a_root_or_from_it_stays_for_who_takes_it() {
    under_each(
        Mpi::installed("who_moves_much_to_a_root_or_from_it_stays_for_who_takes_it"),
        "rooted",
        |mpi, program| {
            for case in ["large", "scatter", "bcast", "reduce", "started"] {
                holds(mpi, program, case, 3, ROUNDS);
            }
            // Each rank waits for the root in two thirds of the rounds, 15 ms each.
            let found = profile(&holds(mpi, program, "late_root", 3, ROUNDS));
            for rank in 0..3 {
                let seconds = waited(&found, rank, "Gatherv");
                assert!(seconds > 0.15, "rank {rank}: {seconds} s under {}", mpi.name());
            }
            // Those who only give little go on at once: just the root waits.
            holds(mpi, program, "small", 3, ROUNDS);
        },
    );
}

/// Small data go by trees of ranks: some wait for others than the root.
#[test]
fn who_moves_little_waits_for_ranks_by_which_it_goes() {
    under_each(
        Mpi::installed("who_moves_little_waits_for_ranks_by_which_it_goes"),
        "rooted",
        |mpi, program| {
            let found = profile(&holds(mpi, program, "trees", 4, 2 * ROUNDS));
            for routine in ["Bcast", "Reduce"] {
                // Of four ranks one is behind another one, which is late in a third of the rounds, or is so itself.
                let seconds: f64 = (1..4).map(|rank| waited(&found, rank, routine)).sum();
                assert!(seconds > 0.06, "{routine}: {seconds} s under {}", mpi.name());
            }
        },
    );
}

/// The same with ranks on several hosts, whose clocks differ by 1,234 s and 20 ppm.
#[test]
fn between_hosts_who_moves_much_stays_for_who_takes_it() {
    under_each(
        Mpi::installed_with("between_hosts_who_moves_much", &["unshare", "hostname"]),
        "rooted",
        |mpi, program| {
            for case in ["large", "bcast", "small"] {
                holds_on(mpi, Some(2), &[], program, case, 3, ROUNDS);
            }
            let found = profile(&holds_on(mpi, Some(3), &[], program, "late_root", 3, ROUNDS));
            for rank in 0..3 {
                let seconds = waited(&found, rank, "Gatherv");
                assert!(seconds > 0.15, "rank {rank}: {seconds} s under {}", mpi.name());
            }
        },
    );
}
