//! Whom the page of time lines calls late, of ranks that are late for a part of the waits each.

use std::fs;

use serde_json::Value;

use super::culprit::{MadeRank, profile};
use super::shown;
use super::timeline_lacks::{page_of, rank_log_of};

/// The page of so many ranks that call barriers, for each of which one of them comes so many ms later than the others.
fn page(ranks: u32, late: &[(u32, u64)]) -> (String, Value) {
    page_of(&logs(ranks, late))
}

/// Their logs.
fn logs(ranks: u32, late: &[(u32, u64)]) -> Vec<Vec<u8>> {
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
    (0..ranks).map(log).collect()
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

/// In a token ring chance decides in which rank most delays seem to arise: the sums of the profile tell that none is late.
#[test]
fn ranks_that_wait_in_turn_by_the_profile_have_no_late_one() {
    let logs = logs(4, &[(2, 600), (0, 100), (1, 100), (3, 70)]);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("run.n1.trace"), logs.concat()).unwrap();
    let late = |page: &str| page.contains("Rank 2 is late: 1.800 s of this, 69.0 %");
    assert!(late(&shown(dir.path(), &["--timeline"])));
    let ranks: [MadeRank; 4] =
        [(9.0, &[(3, 0.65)]), (9.0, &[(0, 0.65)]), (9.0, &[(1, 0.65)]), (9.0, &[(2, 0.65)])];
    let ring = profile(&ranks, "Barrier", "").replace("9eb2e2e308beb768", "made-up");
    fs::write(dir.path().join("run.out"), topas_testkit::with_lengths(&ring)).unwrap();
    let page = shown(dir.path(), &["--timeline"]);
    let words = "By the profile, they wait for each other in turn; most delays arose in rank 2 (1.800 s, 69.0 %) and ";
    assert!(page.contains(words) && !page.contains("is late:"), "{page:.4000}");
    // The sums of a rank for which the others wait do not say so.
    let ranks: [MadeRank; 4] =
        [(9.0, &[(2, 0.85)]), (9.0, &[(2, 0.85)]), (9.9, &[]), (9.0, &[(2, 0.85)])];
    let star = profile(&ranks, "Barrier", "").replace("9eb2e2e308beb768", "made-up");
    fs::write(dir.path().join("run.out"), topas_testkit::with_lengths(&star)).unwrap();
    assert!(late(&shown(dir.path(), &["--timeline"])));
}

/// What is told first of ranks that wait, in one line.
fn first_words(dir: &std::path::Path) -> String {
    let told = shown(dir, &["--mpi", "run.out"]);
    let words = told.split("\n\n").nth(1).expect("a sentence");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// By the sums of this profile all wait for rank 2, as where one passes on what another began: the log beside the profile
/// tells where it began, in the same numbers as the page, if it has the waits that were measured.
#[test]
fn the_first_sentence_goes_by_the_log_beside_the_profile() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("run.n1.trace");
    const ONE_SECOND: &[(u32, f64)] = &[(2, 1.0)];
    const TWO_SECONDS: &[(u32, f64)] = &[(2, 2.0)];
    let write = |to_two: &'static [(u32, f64)]| {
        let ranks: [MadeRank; 4] = [(7.0, to_two), (8.0, &[(2, 0.5)]), (9.0, &[]), (7.0, to_two)];
        let text = profile(&ranks, "Barrier", "").replace("9eb2e2e308beb768", "made-up");
        fs::write(dir.path().join("run.out"), topas_testkit::with_lengths(&text)).unwrap();
    };
    write(ONE_SECOND);
    let by_sums = first_words(dir.path());
    assert!(by_sums.starts_with("The others wait 2.500 s for rank 2,"), "{by_sums}");
    fs::write(&log, logs(4, &[(2, 600), (1, 400)]).concat()).unwrap();
    let by_log = first_words(dir.path());
    for part in [
        "Rank 2 makes the others wait",
        "Of 2.500 s that the ranks wait for each other, ",
        " 1.800 s begin in it, followed from rank to rank.",
        "Rank 1 makes others wait, too: 1.200 of the 2.500 s that the ranks wait for each other begin in it.",
    ] {
        assert!(by_log.contains(part), "{part}: {by_log}");
    }
    let page = shown(dir.path(), &["--timeline"]);
    let words = "Rank 2 is late: 1.800 s of this, 60.0 %, are delays that arose there, and 1.200 s, 40.0 %, in rank 1.";
    assert!(page.contains(words), "{page:.4000}");
    // A log that tells half of the waits says nothing of the rest, and none of another launch says anything.
    write(TWO_SECONDS);
    assert!(first_words(dir.path()).starts_with("The others wait 4.500 s for rank 2,"));
    write(ONE_SECOND);
    let other = logs(4, &[(2, 600), (1, 400)]).concat();
    fs::write(&log, &other[..other.len() / 2]).unwrap();
    assert_eq!(first_words(dir.path()), by_sums, "the log is cut");
}
