//! Whom the page of time lines calls late, of ranks that are late for a part of the waits each.

use serde_json::Value;

use super::timeline_lacks::{page_of, rank_log_of};

/// The page of so many ranks that call barriers, for each of which one of them comes so many ms later than the others.
fn page(ranks: u32, late: &[(u32, u64)]) -> (String, Value) {
    let log = |rank: u32| {
        let mut done = 0;
        let calls: Vec<(u64, u64)> = late
            .iter()
            .map(|(who, by)| {
                let began = done + 10;
                done = began + by;
                (if rank == *who { done } else { began }, done + 1)
            })
            .collect();
        rank_log_of((rank, ranks), &calls, 0, "")
    };
    page_of(&(0..ranks).map(log).collect::<Vec<_>>())
}

/// Each delay makes all other ranks wait.
#[test]
fn a_rank_with_less_than_half_of_the_delays_is_not_late_for_most_of_it() {
    let (page, facts) = page(4, &[(0, 360), (1, 240), (2, 210), (3, 190)]);
    let words = "No rank is late for most of it; most delays arose in rank 0 (1.080 s, 36.0 %) and rank 1 (0.720 s, 24.0 %).";
    assert!(page.contains(words) && !page.contains("is late:"), "{page:.4000}");
    assert!(facts["late"].is_null() && !page.contains("Go to rank"), "{}", facts["late"]);
    // Of two that have nearly all, none has most.
    let (page, _) = self::page(4, &[(0, 480), (1, 460), (2, 60)]);
    let words = "No rank is late for most of it; most delays arose in rank 0 (1.440 s, 48.0 %) and rank 1 (1.380 s, 46.0 %).";
    assert!(page.contains(words), "{page:.4000}");
    // What two of many have is not most of it.
    let (page, _) = self::page(6, &[(0, 200), (1, 200), (2, 200), (3, 200), (4, 200)]);
    let words = "No rank is late for most of it; the largest delays arose in rank 0 (1.000 s, 20.0 %) and rank 1";
    assert!(page.contains(words), "{page:.4000}");
}

#[test]
fn a_rank_with_most_of_the_delays_is_late_and_so_is_the_next() {
    for (first, second) in [(600, 400), (510, 490)] {
        let (page, facts) = page(4, &[(2, first), (1, second)]);
        let told = |ms: u64| format!("{:.3} s", 3.0 * ms as f64 / 1e3);
        let words = format!(
            "Rank 2 is late: {} of this, {}.0 %, are delays that arose there, and {}, {}.0 %, in rank 1.",
            told(first),
            first / 10,
            told(second),
            second / 10
        );
        assert!(page.contains(&words), "{page:.4000}");
        assert!(facts["late"] == 2 && page.contains("Go to rank 2"), "{}", facts["late"]);
    }
}
