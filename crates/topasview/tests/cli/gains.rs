//! What `--why` says that could be gained, and how much of it is in a routine, of made profiles.

use super::culprit::{MadeRank, profile, searched, shown, words};

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
    // A root that comes early to a collective is no master: it does what all do.
    let mut root = profile(&farm, "Reduce", "").replace("Reduce:10:", "Reduce:1000:");
    for (rank, late) in [8.0, 0.3, 0.2, 0.1].iter().enumerate() {
        root = root.replacen(
            &format!(" late={late} latercv=0 coll=0 "),
            &format!(" late=0 latercv=0 coll={late} "),
            1,
        );
        root = root.replacen(
            &format!("l=Reduce:1000:{late}:0:0:0:0:"),
            &format!("l=Reduce:0:0:0:0:1000:{late}:"),
            1,
        );
        assert!(root.contains(&format!("coll={late}")), "{rank}: {root}");
    }
    let text = words(&shown(&root, &["--why"]));
    assert!(
        text.contains("1. ranks that wait in collectives") && !text.contains("Also: Rank 0"),
        "{text}"
    );
    // Workers that wait for the master do so for no more than they wait: that could be gained.
    let slow: [MadeRank; 4] =
        [(2.0, &[(1, 5.0), (2, 1.0)]), (9.0, &[(0, 0.9)]), (9.0, &[(0, 0.8)]), (8.75, &[(0, 0.7)])];
    let text = searched(&profile(&slow, "Recv", ""));
    assert!(text.contains("1. ranks that wait for late senders"), "{text}");
    assert!(text.contains("the run might be shorter by up to 800.0 ms."), "{text}");
    // Workers may have more or less to do: the slow one is not late for the master, nor is a normal one.
    let uneven: [MadeRank; 4] =
        [(0.5, &[(1, 4.0), (2, 4.0)]), (5.5, &[(0, 0.1)]), (5.5, &[(0, 0.1)]), (9.0, &[(0, 0.1)])];
    let text = searched(&profile(&uneven, "Recv", ""));
    assert!(text.contains("Also: Rank 0 computed for 500.0 ms only"), "{text}");
    assert!(!text.contains("ranks that wait for late senders: it costs"), "{text}");
    assert!(!text.contains("ranks that wait for late senders, rank"), "{text}");
    // Who computes longest of all is late, however little it waits.
    let late: [MadeRank; 4] =
        [(1.0, &[(3, 6.0)]), (4.0, &[(3, 5.0)]), (4.0, &[(3, 5.0)]), (9.0, &[(0, 0.1)])];
    let text = searched(&profile(&late, "Recv", ""));
    assert!(text.contains("1. ranks that wait for late senders, rank 3"), "{text}");
    assert!(text.contains("the run might be shorter by up to 5.000 s."), "{text}");
}

/// A thread that waits for requests all the time hides what its rank computes: nothing is said of that, nor promised.
#[test]
fn of_a_rank_with_a_thread_that_serves_requests_nothing_is_promised() {
    let ranks: [MadeRank; 2] = [(0.5, &[(1, 9.0)]), (0.5, &[(0, 1.0)])];
    let one = profile(&ranks, "Recv", "");
    let two = one.replace(" thr=1 ", " thr=2 ");
    let views = |made: &str| words(&shown(made, &["--mpi", "--waits"]));
    let unseen = "No efficiencies: a thread of a rank is in MPI nearly all the time, as one that waits for requests";
    let text = words(&shown(&two, &["--mpi"]));
    assert!(text.contains(unseen) && !text.contains("load balance"), "{text}");
    assert!(views(&two).contains("it computes s 1 - 0 - "), "{}", views(&two));
    assert!(views(&one).contains("it computes s 1 0.500000 0 0.500000 "), "{}", views(&one));
    let text = searched(&two);
    for part in [
        "May be: ranks that wait for late senders, rank 1",
        "Of 2 ranks one of several threads is in MPI nearly all the time, as one that waits for requests: what that waits \
         may cost nothing.",
        "How much could be saved is not known.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        searched(&one).contains("1. ranks that wait for late senders, rank 1"),
        "{}",
        searched(&one)
    );
    let json = shown(&two.replace("Recv:10:", "Recv:1000:"), &["--why", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let first = &told["unsure"][0];
    assert!(first["cost_s"].is_number() && first["saving_s"].is_null(), "{first}");
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

/// A routine has most of the waits only if half of them is in it.
#[test]
fn waits_in_many_routines_are_not_mostly_in_one() {
    let ranks: [MadeRank; 3] = [(1.0, &[(2, 6.0)]), (1.0, &[(2, 6.0)]), (9.0, &[])];
    let made = profile(&ranks, "Recv", "");
    let one = "f=Recv:10:9:1:10:::10:80 l=Recv:10:6:0:0:0:0:0:0:0:0:0:0";
    assert!(made.contains(one), "{made}");
    let waits = |recv: &str, wait: &str| {
        let many = format!(
            "f=Probe:10:3:1:10:::10:80 f=Recv:1000:3:1:10:::10:80 f=Wait:10:3:1:10:::10:80 \
             l=Probe:10:1.5:0:0:0:0:0:0:0:0:0:0 l=Recv:1000:{recv}:0:0:0:0:0:0:0:0:0:0 \
             l=Wait:10:{wait}:0:0:0:0:0:0:0:0:0:0"
        );
        let made = made.replace(one, &many);
        (words(&shown(&made, &["--mpi"])), words(&shown(&made, &["--why"])))
    };
    let (mpi, why) = waits("2.5", "2");
    assert!(mpi.contains(", longest in Recv because it sends late."), "{mpi}");
    assert!(why.contains("1. ranks that wait for late senders, rank 2"), "{why}");
    assert!(!why.contains("Most of it is in"), "{why}");
    let (mpi, why) = waits("3", "1.5");
    assert!(mpi.contains(", mostly in Recv because it sends late."), "{mpi}");
    assert!(why.contains("Most of it is in MPI_Recv."), "{why}");
}
