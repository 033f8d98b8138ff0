//! What `--why` says that could be gained, of made profiles.

use super::culprit::{MadeRank, profile, searched, shown};

/// A master waits for its workers, which hardly wait: no more could be gained than that, and nobody is late.
#[test]
fn what_a_master_waits_for_work_is_no_loss() {
    let farm: [MadeRank; 4] =
        [(1.0, &[(1, 6.0), (2, 2.0)]), (9.0, &[(0, 0.3)]), (9.5, &[(0, 0.2)]), (9.25, &[(0, 0.1)])];
    let text = searched(&profile(&farm, "Recv", ""));
    let told = "Also: Rank 0 computed for 1.000 s only, and waited for the others for 8.000 s. These computed for 9.250 s \
                on average, and waited for 200.0 ms, 2.0% of their time: if no rank were late, the run would be shorter by \
                no more.";
    assert!(text.contains(told), "{text}");
    assert!(!text.contains("1. ranks that"), "{text}");
    // Workers that wait for the master do so for no more than they wait: that could be gained.
    let slow: [MadeRank; 4] =
        [(2.0, &[(1, 5.0), (2, 1.0)]), (9.0, &[(0, 0.9)]), (9.0, &[(0, 0.8)]), (8.75, &[(0, 0.7)])];
    let text = searched(&profile(&slow, "Recv", ""));
    assert!(text.contains("1. ranks that wait for late senders"), "{text}");
    assert!(text.contains("the run might be shorter by up to 800.0 ms."), "{text}");
    // Who computes longest of all is late, however little it waits.
    let late: [MadeRank; 4] =
        [(1.0, &[(3, 6.0)]), (4.0, &[(3, 5.0)]), (4.0, &[(3, 5.0)]), (9.0, &[(0, 0.1)])];
    let text = searched(&profile(&late, "Recv", ""));
    assert!(text.contains("1. ranks that wait for late senders, rank 3"), "{text}");
    assert!(text.contains("the run might be shorter by up to 5.000 s."), "{text}");
}

/// What could be gained is what an even spread saves of what ranks compute, if that is more than they wait on average, also
/// where a second thread of the ranks called MPI; and the data tell the same as the words.
#[test]
fn an_even_spread_saves_what_a_rank_computes_beyond_the_mean() {
    // Two pairs that have nothing to do with each other.
    let pairs: [MadeRank; 4] = [(2.5, &[(1, 5.0)]), (8.0, &[]), (2.5, &[(3, 2.0)]), (7.0, &[])];
    let made = profile(&pairs, "Recv", "");
    let text = searched(&made);
    assert!(text.contains("it costs 17.5% of the wall clock time, 1.750 s"), "{text}");
    assert!(text.contains("the run might be shorter by up to 3.000 s."), "{text}");
    let json = shown(&made.replace("Recv:10:", "Recv:1000:"), &["--why", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let first = &told["findings"][0];
    let number = |key: &str| first[key].as_f64().expect("a number");
    assert_eq!(["cost_s", "saving_s"].map(number), [1.75, 3.0]);
    assert_eq!(["cost_share", "saving_share"].map(number), [0.175, 0.3]);
    // Costs are then means of threads, one of which waits for nobody.
    let text = searched(&made.replace(" thr=1 ", " thr=2 "));
    assert!(text.contains("it costs 8.8% of the wall clock time, 875.0 ms"), "{text}");
    assert!(text.contains("the run might be shorter by up to 3.000 s."), "{text}");
}
