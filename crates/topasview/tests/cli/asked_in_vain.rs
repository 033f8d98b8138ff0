//! Ranks that ask in vain for messages, and sleep or compute between their questions: which rank is named.

use super::culprit::{MadeRank, profile, shown, words};

/// Rank 0 is 8 s outside of MPI, between questions for messages of rank 1, and all wait for rank 0. `asked` is what
/// its record says of the time between its questions.
fn collector(asked: &str) -> String {
    let ranks: [MadeRank; 4] =
        [(8.0, &[(1, 0.1)]), (9.0, &[(0, 0.5)]), (1.0, &[(0, 7.5)]), (1.0, &[(0, 7.0)])];
    profile(&ranks, "Recv", "").replacen(" b=1:", &format!(" {asked} b=1:"), 1)
}

#[test]
fn a_collector_that_sleeps_hands_its_delay_on() {
    let lines = collector("a=1:10:7.5:7.25");
    let text = words(&shown(&lines, &["--mpi"]));
    let told = "Rank 1 makes the others wait: rank 0 waits 7.350 s for it (7.250 s of that asleep between calls that \
                asked in vain), mostly in Recv because it sends late; the others wait 15.000 s for rank 0, 37.50%";
    assert!(text.contains(told), "{text}");
    assert!(text.contains("Rank 1 computes 9.000 s outside of MPI, the others 0.917 s"), "{text}");
    // What it computes is told in the table, too.
    let text = words(&shown(&lines, &["--mpi", "--waits"]));
    assert!(text.contains(" 0.750000"), "{text}");
    assert!(
        text.contains("it computes s others asleep s 0 0.750000 0.000000 1 9.000000 7.250000"),
        "{text}"
    );
    // Also of a rank for which nobody waited in a call.
    let other = words(&shown(&collector("a=2:10:7.5:7.25"), &["--mpi", "--waits"]));
    assert!(other.contains(" 2 0.000000 0.000000 0.000000 0.000000 "), "{other}");
    assert!(other.contains(" 2 1.000000 7.250000 "), "{other}");
    let text = words(&shown(&lines.replace("Recv:10:", "Recv:1000:"), &["--why"]));
    assert!(text.contains("late senders, rank 1:"), "{text}");
    let told = "Rank 0 slept for 7.250 s between calls that asked in vain, most of it for rank 1.";
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_collector_that_computes_keeps_its_name() {
    let lines = collector("a=1:10:7.5:0.5");
    let text = words(&shown(&lines, &["--mpi"]));
    assert!(text.contains("The others wait 15.000 s for rank 0, 37.50%"), "{text}");
    let told = "Rank 0 computes 7.500 s outside of MPI (7.000 s of that between calls that asked in vain for what others had \
                not begun, most of all rank 1), the others 3.667 s on average.";
    assert!(text.contains(told), "{text}");
    // Without the record nothing of that is known.
    let text = words(&shown(&collector(""), &["--mpi"]));
    assert!(text.contains("Rank 0 computes 8.000 s outside of MPI, the others 3.667 s"), "{text}");
    assert!(!text.contains("in vain"), "{text}");
}

/// Who only asks and sleeps waits, though hardly in MPI: each of a ring for the one before, and the first for rank 3.
#[test]
fn ranks_that_sleep_between_their_questions_wait() {
    let ranks: [MadeRank; 4] =
        [(9.0, &[(3, 0.125)]), (9.0, &[(0, 0.125)]), (9.0, &[(1, 0.125)]), (9.0, &[])];
    let mut lines = profile(&ranks, "Test", "");
    for peer in [3, 0, 1] {
        let asked = format!(" a={peer}:10:8:7.5 b={peer}:");
        lines = lines.replacen(&format!(" b={peer}:"), &asked, 1);
    }
    let text = words(&shown(&lines, &["--mpi"]));
    let told = "Rank 3 makes the others wait: rank 0 waits 7.625 s for it (7.500 s of that asleep between calls that asked \
                in vain), mostly in Test because it sends late; rank 1 waits 7.625 s for rank 0, 19.06% of the time of \
                all ranks. Of 22.875 s that the ranks wait for each other, 57.19% of the time of all ranks, 22.875 s begin in \
                it, followed from rank to rank. They sleep 22.500 s of the 22.875 s that they wait for each other between calls that ask in vain.";
    assert!(text.contains(told), "{text}");
}

/// Rank 0 does nothing but ask rank 3 again and again, and its loop is outside of MPI for most of that time: what it delays is followed to
/// rank 3.
#[test]
fn a_loop_that_asks_computes_nothing() {
    let ranks: [MadeRank; 4] =
        [(6.0, &[(3, 4.0)]), (1.0, &[(0, 9.0)]), (1.0, &[(0, 9.0)]), (9.0, &[(0, 0.5)])];
    let lines = profile(&ranks, "Iprobe", "");
    // So many calls that each is 130 ns outside of MPI, or of which each is some microseconds there.
    for (calls, told) in [
        ("46000000", "Rank 3 makes the others wait: rank 0 waits 4.000 s for it, mostly in Iprobe"),
        ("1000000", "The others wait 18.500 s for rank 0, 46.25% of the time of all ranks"),
    ] {
        let lines = lines.replacen("Iprobe:10:", &format!("Iprobe:{calls}:"), 1);
        let text = words(&shown(&lines, &["--mpi"]));
        assert!(text.contains(told), "{calls}: {text}");
    }
}

/// A tight loop: what was measured between the questions is the way from one to the next, and the rest is computed.
#[test]
fn the_way_from_one_question_to_the_next_is_what_was_measured() {
    let ranks: [MadeRank; 2] = [(8.0, &[(1, 1.5)]), (9.5, &[(0, 0.001)])];
    let first = |asked: &str| {
        let lines = profile(&ranks, "Test", "").replacen("Test:10:", "Test:80000000:", 1);
        words(&shown(&lines.replacen(" b=1:", &format!(" {asked} b=1:"), 1), &["--mpi"]))
    };
    let text = first("a=1:10:5:0");
    let told = "From calls that ask in vain to the next ones they take 5.000 s more, in which they compute nothing.";
    assert!(text.contains(told), "{text}");
    assert!(text.contains("the others 3.000 s on average"), "{text}");
    // Each takes 30 ns at least, however few asked in vain, and 130 ns at most.
    assert!(first("a=1:10:0.5:0").contains("the others 5.600 s on average"));
    let lines = profile(&ranks, "Test", "").replacen("Test:10:", "Test:20000000:", 1);
    let text = words(&shown(&lines.replacen(" b=1:", " a=1:10:5:0 b=1:", 1), &["--mpi"]));
    assert!(text.contains("the others 5.400 s on average"), "{text}");
}

/// Of ranks that do something between their questions, and hardly wait in MPI, it is said how long that took, and for whom.
#[test]
fn what_ranks_do_between_their_questions_is_told_where_they_hardly_wait() {
    let ranks: [MadeRank; 4] =
        [(9.0, &[(2, 0.01)]), (9.0, &[(2, 0.01)]), (9.0, &[]), (9.0, &[(1, 0.01)])];
    let first = |between: [(u32, u32); 3]| {
        let mut lines = profile(&ranks, "Test", "");
        for ((peer, seconds), after) in between.into_iter().zip([2, 2, 1]) {
            let asked = format!(" a={peer}:10:{seconds}:0 b={after}:");
            lines = lines.replacen(&format!(" b={after}:"), &asked, 1);
        }
        words(&shown(&lines, &["--mpi"]))
    };
    let told = " For 15.000 s, 37.50% of it, they were outside of MPI between calls that asked in vain for what others had \
                not begun, 12.000 s of that for rank 2: they computed meanwhile, or only passed time.";
    let text = first([(2, 6), (2, 6), (1, 3)]);
    assert!(text.contains(told), "{text}");
    let text = first([(2, 1), (2, 1), (1, 1)]);
    assert!(text.contains("hardly wait") && !text.contains("in vain"), "{text}");
}

/// Where ranks wait little, or for one rank, the others may have passed their time between their questions: no wait is ruled out then. The
/// way from one question to the next, 130 ns each, is no such time.
#[test]
fn what_ranks_do_between_their_questions_is_told_beside_little_waits() {
    let said = |waits: &'static [(u32, f64)], calls: u32| {
        let ranks: [MadeRank; 4] = [(9.0, waits), (9.0, waits), (9.0, &[]), (9.0, &[])];
        let asked = format!("f=Test:{calls}:");
        let lines = profile(&ranks, "Test", "").replace("f=Test:10:", &asked);
        let lines = lines.replace(" b=2:", " a=2:10:6:0 b=2:");
        [&["--mpi"][..], &["--why"]].map(|args| words(&shown(&lines, args)))
    };
    let waits = "Ranks wait little for each other: 1.50% of the time of all ranks, most of it for rank 2 (0.600 s).";
    let told = "For 12.000 s, 30.00% of the time of all ranks, they were outside of MPI between calls that asked in vain for what \
                others had not begun, 12.000 s of that for rank 2: they computed meanwhile, or only passed time.";
    let [mpi, why] = said(&[(2, 0.3)], 10);
    assert!(mpi.contains(&format!("{waits} {told}")), "{mpi}");
    let nothing = "The ranks are outside of MPI for 90.0% of their time, but for 30.0% of their time between calls that asked in vain";
    let also = "Also: For 30.0% of the time of all ranks they were outside of MPI between calls that asked in vain for what others \
                had not begun: they computed meanwhile, or only passed time. Rank 1 did so for longest, 6.000 s, most of that for \
                rank 2.";
    assert!(why.contains(nothing) && why.contains(also), "{why}");
    let ruled_out = why.split_once("Ruled out: ").expect("some are").1;
    for open in ["again and again", "late senders", "wait in collectives", "compute longer"] {
        assert!(!ruled_out.contains(open), "{open}: {why}");
    }
    // Half of it, or three quarters, is the longest way from one question to the next.
    let [mpi, _] = said(&[(2, 0.3)], 23_076_923);
    assert!(mpi.contains(told), "{mpi}");
    let [mpi, _] = said(&[(2, 0.3)], 34_615_384);
    assert!(mpi.contains("For 6.000 s, 15.00% of the time of all ranks, they were"), "{mpi}");
    let [mpi, why] = said(&[(2, 0.3)], 50_000_000);
    assert!(mpi.contains(waits) && !mpi.contains("in vain"), "{mpi}");
    assert!(!why.contains("in vain") && why.contains("ranks that ask again and again"), "{why}");
    // One rank is named, and the others ask.
    let [mpi, _] = said(&[(2, 0.9)], 10);
    let told = told.replace("they were outside", "the others were outside");
    assert!(mpi.contains(" s for rank 2") && mpi.contains(&told), "{mpi}");
}
