//! The first sentence: which rank makes the others wait.

use std::fmt::Write as _;

use super::{command, directory};

/// Ranks that are late one after the other exchange their places in sums.
const NOT_TOLD_APART: &str = "The sums of a run do not tell which of them is late where; an event log of the whole run does: topas-run --mpi=log,waits.";

/// A rank of a made profile: what it computes in seconds, and for whom it waits how long.
pub type MadeRank = (f64, &'static [(u32, f64)]);

/// What is said first of a launch whose ranks are these, each 10 s long, all waiting in `Recv`.
fn first_lines(ranks: &[MadeRank]) -> String {
    first_lines_with(ranks, "")
}

/// The same, where rank 0 also calls this routine, for 8 s of its time in MPI.
fn first_lines_with(ranks: &[MadeRank], routine: &str) -> String {
    let all = shown(&profile(ranks, "Recv", routine), &["--mpi"]);
    all.lines().take(10).collect::<Vec<_>>().join("\n")
}

/// The profile of these ranks, which wait in a routine, and of which rank 0 also calls another one.
pub fn profile(ranks: &[MadeRank], waits_in: &str, routine: &str) -> String {
    let mut text = String::new();
    let count = ranks.len();
    for (rank, (computes, waits)) in ranks.iter().enumerate() {
        let mpi = 10.0 - computes;
        let late = waits.iter().fold(0.0, |sum, (_, time)| sum + time);
        let _ = write!(
            text,
            "2026/11/24 10:50:41 topas-mpi #0 made {count} 9eb2e2e308beb768 v=1 of=rank line=1/1 \
             t=1795517441 uid=0 end=finalize host=n1 rank={rank} pid={} ranks=1 wall=10 wallmax=10 \
             mpisum={mpi} mpimax={mpi} mpimin={mpi} usemax={computes} over=0.001 thr=1 lang=c \
             late={late} latercv=0 coll=0 f={waits_in}:10:{mpi}:1:10:::10:80 \
             l={waits_in}:10:{late}:0:0:0:0:0:0:0:0:0:0",
            100 + rank
        );
        if rank == 0 && !routine.is_empty() {
            let _ = write!(text, " f={routine}:10:8:1:0:::0:0");
        }
        for (peer, time) in *waits {
            let _ = write!(text, " b={peer}:10:{time}:0:0:0:0");
        }
        text += "\n";
    }
    text
}

/// The search in such a profile, with a hundred times as many calls.
pub fn searched(profile: &str) -> String {
    words(&shown(&profile.replace("Recv:10:", "Recv:1000:"), &["--why"]))
}

pub fn shown(profile: &str, args: &[&str]) -> String {
    let dir = directory(topas_testkit::with_lengths(profile));
    let file = dir.path().join("topas.out");
    let args = [args, &[file.to_str().unwrap()]].concat();
    let output = command(dir.path(), &args).env("COLUMNS", "80").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_rank_that_computes_longest_is_named_and_not_those_that_wait_for_it() {
    // A pipeline: rank 1 is slow, 2 waits for it, 3 for 2, and in the end all for 3.
    let ranks: [MadeRank; 4] =
        [(1.0, &[(3, 8.0)]), (9.0, &[(3, 0.5)]), (1.0, &[(1, 7.0)]), (1.0, &[(2, 6.5)])];
    let text = words(&first_lines(&ranks));
    let first = "Rank 1 makes the others wait: rank 2 waits 7.000 s for it, mostly in Recv because it \
                 sends late; the delay reaches rank 3, for which the others wait 8.500 s, 21.25% of";
    assert!(text.contains(first), "{text}");
    assert!(
        text.contains("Rank 1 computes 9.000 s outside of MPI, the others 1.000 s on"),
        "{text}"
    );
}

#[test]
fn a_rank_that_is_late_by_itself_is_named_at_once() {
    let ranks: [MadeRank; 3] = [(1.0, &[(2, 7.0)]), (1.0, &[(2, 6.0), (0, 1.0)]), (9.0, &[])];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("The others wait 13.000 s for rank 2, 43.33% of"), "{text}");
    assert!(
        text.contains("Rank 2 computes 9.000 s outside of MPI, the others 1.000 s on average."),
        "{text}"
    );
}

/// A rank that gathers from all waits for the late one most, and for the others a little.
#[test]
fn a_rank_that_waits_for_one_above_all_hands_its_delay_on() {
    let gathers = &[(1, 2.5), (2, 1.0), (3, 1.0)];
    let ranks: [MadeRank; 4] = [(1.0, gathers), (7.0, &[]), (1.0, &[(0, 6.0)]), (1.0, &[(0, 6.5)])];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("Rank 1 makes the others wait: rank 0 waits 2.500 s for it"), "{text}");
    let gathers = &[(1, 1.5), (2, 1.5), (3, 1.5)];
    let ranks: [MadeRank; 4] = [(1.0, gathers), (7.0, &[]), (1.0, &[(0, 6.0)]), (1.0, &[(0, 6.5)])];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("The others wait 12.500 s for rank 0"), "{text}");
}

#[test]
fn where_ranks_take_turns_no_chain_is_followed() {
    let ranks: [MadeRank; 2] = [(5.0, &[(1, 4.0)]), (5.0, &[(0, 4.5)])];
    let text = words(&first_lines(&ranks));
    let told = "The ranks wait for each other in turn, 42.50% of the time of all ranks: 4.500 s for rank 0, 4.000 s \
                for rank 1. No rank causes most of it.";
    assert!(text.contains(told), "{text}");
    // Where one waits much longer, the other is late.
    let ranks: [MadeRank; 2] = [(5.0, &[(1, 2.0)]), (5.0, &[(0, 4.5)])];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("The others wait 4.500 s for rank 0"), "{text}");
    assert!(
        text.contains("because the ranks take turns, or because it lacks a processor in MPI."),
        "{text}"
    );
}

/// In a ring without a late rank some more than half of the waits begin in one of them by chance.
#[test]
fn a_ring_of_ranks_that_are_alike_accuses_none() {
    let ring: [MadeRank; 4] = [
        (8.0, &[(1, 1.375), (3, 0.25)]),
        (8.0, &[(0, 0.125), (2, 1.625), (3, 0.25)]),
        (8.0, &[(0, 0.125), (1, 0.125), (3, 1.625)]),
        (8.0, &[(0, 1.625), (1, 0.125), (2, 0.125)]),
    ];
    let text = words(&first_lines(&ring));
    let told = "The ranks wait for each other in turn, 18.44% of the time of all ranks: 2.125 s for rank 3";
    assert!(text.contains(told), "{text}");
    let text = searched(&profile(&ring, "Recv", ""));
    assert!(text.contains("1. ranks that wait for late senders: it costs"), "{text}");
    assert!(text.contains("No rank is late for most of it: 4 ranks"), "{text}");
}

/// A token goes round: that one rank computes a little longer than the others explains nothing of their waits.
#[test]
fn who_computes_a_little_longer_begins_no_delay() {
    let ring: [MadeRank; 4] =
        [(2.0, &[(3, 6.25)]), (2.25, &[(0, 6.25)]), (2.0, &[(1, 6.375)]), (2.0, &[(2, 6.5)])];
    let text = words(&first_lines(&ring));
    let told = "The ranks wait for each other in turn, 63.44% of the time of all ranks: 6.500 s for rank 2";
    assert!(text.contains(told), "{text}");
}

/// A thread that waits for another one of its rank waits for no other rank.
#[test]
fn what_threads_wait_for_their_own_rank_is_no_wait_for_others() {
    let alone: [MadeRank; 2] = [(5.0, &[(0, 4.0)]), (5.0, &[(1, 4.0)])];
    let text = words(&first_lines(&alone));
    assert!(text.contains("hardly wait for each other: 0.00% of"), "{text}");
    let text = searched(&profile(&alone, "Recv", ""));
    assert!(!text.contains("1. ranks that wait"), "{text}");
}

/// Each rank is late in a quarter of the steps, in a ring that ends with a barrier: all wait as long, and sums lead from each
/// to rank 3, as it was in a run.
#[test]
fn ranks_that_are_late_for_many_steps_in_turn_accuse_none() {
    let ranks: [MadeRank; 4] = [
        (1.25, &[(1, 0.0625), (2, 0.875), (3, 2.3125)]),
        (1.375, &[(0, 1.8125), (2, 0.1875), (3, 1.0)]),
        (1.375, &[(0, 1.0), (1, 1.5625), (3, 0.1875)]),
        (1.375, &[(0, 0.125), (1, 0.625), (2, 1.75)]),
    ];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("The ranks wait for each other in turn, "), "{text}");
    assert!(text.contains("3.500 s for rank 3"), "{text}");
}

/// What a rank waited together with those that wait for it then does not make it late.
#[test]
fn a_wait_of_all_delays_none_of_them() {
    let ranks: [MadeRank; 4] = [
        (3.0, &[(2, 2.0)]),
        (3.0, &[(0, 3.5), (2, 2.0)]),
        (3.0, &[(0, 3.5)]),
        (3.0, &[(0, 3.0), (2, 2.0)]),
    ];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("The others wait 10.000 s for rank 0"), "{text}");
    // Nor does a rank delay itself by waiting for who waits for it.
    let ranks: [MadeRank; 2] = [(5.0, &[(1, 5.0)]), (4.0, &[(0, 2.9)])];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("The others wait 5.000 s for rank 1"), "{text}");
}

/// In a ring each rank hands the delay of one on, and none is late for most of the waits.
#[test]
fn waits_are_followed_to_the_rank_in_which_they_begin() {
    let ring: [MadeRank; 4] =
        [(0.7, &[(3, 6.0)]), (0.7, &[(0, 4.0)]), (7.0, &[(1, 0.1)]), (0.7, &[(2, 5.0)])];
    let text = searched(&profile(&ring, "Recv", ""));
    let told = "1. ranks that wait for late senders, rank 2: it costs 37.8% of the wall clock time, 3.775 s";
    assert!(text.contains(told), "{text}");
    let told = "Most of it begins in rank 2, and is handed on from rank to rank: that rank computes 7.000 s, the \
                others 700.0 ms on average.";
    assert!(text.contains(told), "{text}");
    let told = "If no rank were late, the run might be shorter by up to 6.000 s.";
    assert!(text.contains(told), "{text}");
    assert!(text.contains("the lines of the source (topas-run --mpi=waits,paths tells)"), "{text}");
    // The first sentence says so, too, where it names the rank.
    let own: [MadeRank; 4] =
        [(0.7, &[(3, 5.0)]), (0.7, &[(0, 4.0)]), (7.0, &[]), (0.7, &[(2, 6.0)])];
    let text = words(&shown(&profile(&own, "Recv", ""), &["--mpi"]));
    let told = "Rank 2 makes the others wait, mostly in Recv because it sends late. Of 15.000 s that the ranks wait for \
                each other, 37.50% of the time of all ranks, 15.000 s begin in it, followed from rank to rank.";
    assert!(text.contains(told), "{text}");
    // Where all wait for all alike, it begins in none.
    let all: [MadeRank; 3] =
        [(5.0, &[(1, 2.0), (2, 2.0)]), (5.0, &[(0, 2.0), (2, 2.0)]), (5.0, &[(0, 2.0), (1, 2.0)])];
    let text = searched(&profile(&all, "Recv", ""));
    assert!(text.contains("1. ranks that wait for late senders: it costs"), "{text}");
    assert!(
        text.contains("No rank is late for most of it: 3 ranks are late for at least"),
        "{text}"
    );
    let text = words(&shown(&profile(&all, "Recv", ""), &["--mpi"]));
    let told = "The ranks wait for each other in turn, 40.00% of the time of all ranks: 4.000 s for rank 0";
    assert!(text.contains(told), "{text}");
}

#[test]
fn threads_wait_no_longer_than_they_run() {
    let ranks: [MadeRank; 2] = [(1.0, &[(1, 18.0)]), (9.0, &[])];
    let threads = profile(&ranks, "Recv", "").replace(" thr=1 ", " thr=2 ");
    let text = words(&shown(&threads, &["--mpi"]));
    assert!(text.contains("45.00% of the time of all threads"), "{text}");
    let text = searched(&threads);
    assert!(text.contains("it costs 45.0% of the wall clock time"), "{text}");
    assert!(
        text.contains("Shares and means are those of the 4 threads that called MPI."),
        "{text}"
    );
    assert!(text.contains("Rank 1 is late in 100.0% of this time."), "{text}");
}

/// The same where two threads of each rank make half of the calls each.
fn by_two_threads(ranks: &[MadeRank]) -> String {
    let mut text = profile(ranks, "Recv", "").replace(" thr=1 ", " thr=2 ");
    for (computes, _) in ranks {
        let outside = 10.0 - (10.0 - computes) / 2.0;
        text = text.replace(&format!(" usemax={computes} "), &format!(" usemax={outside} "));
    }
    text
}

/// What a thread waits delays no other thread of its rank, so nobody says that no rank causes most of it. Where one of them
/// makes all calls, it delays the rank.
#[test]
fn delays_of_ranks_of_several_threads_are_said_not_to_be_followed() {
    let ranks: [MadeRank; 3] = [(5.0, &[(2, 2.0)]), (5.0, &[(0, 0.125)]), (5.0, &[(1, 2.0)])];
    let told = "48.48% of what they wait for each other. Where waits begin is not followed from rank to rank";
    let text = words(&shown(&by_two_threads(&ranks), &["--mpi"]));
    assert!(text.contains(told) && !text.contains("waits itself"), "{text}");
    // One that waits itself may be late because of that.
    let waits: [MadeRank; 3] = [(5.0, &[(2, 2.0)]), (5.0, &[(2, 2.5)]), (5.0, &[(1, 2.0)])];
    let text = words(&shown(&by_two_threads(&waits), &["--mpi"]));
    let told = "because it sends late. Rank 2 waits itself, 2.000 s for rank 1, and may be late because of that. Where waits \
                begin is not followed";
    assert!(text.contains(told) && text.matches("not followed").count() == 1, "{text}");
    let text = words(&first_lines(&ranks));
    assert!(!text.contains("not followed"), "{text}");
    let one_calls = profile(&ranks, "Recv", "").replace(" thr=1 ", " thr=2 ");
    let text = words(&shown(&one_calls, &["--mpi"]));
    let told = "Of 4.125 s that the ranks wait for each other, 6.88% of the time of all threads, 4.124 s begin in it, followed";
    assert!(text.contains(told) && !text.contains("not followed"), "{text}");
    let which = "The sums of a run do not tell which thread of a rank waits";
    assert!(text.contains(which) && !words(&first_lines(&ranks)).contains(which), "{text}");
}

#[test]
fn of_short_waits_nobody_is_accused() {
    let ranks: [MadeRank; 2] = [(9.0, &[(1, 0.3)]), (9.0, &[])];
    let text = words(&first_lines(&ranks));
    let told = "Ranks wait little for each other: 1.50% of the time of all ranks, most of it for rank 1 (0.300 s).";
    assert!(text.contains(told), "{text}");
}

/// Where ranks are in calls of which nobody tells for whom they wait, nobody says that they do not wait.
#[test]
fn waits_that_are_not_told_are_not_taken_for_none() {
    let alone: [MadeRank; 2] = [(1.0, &[]), (9.5, &[])];
    let text = words(&first_lines_with(&alone, "Win_lock"));
    let told = "As far as that is told, ranks hardly wait for each other: 0.00% of the time of all ranks. But \
                40.00% of it is in calls of which it is not known for whom they wait, most of that in Win_lock. Rank 1 \
                computes longest, 9.500 s outside of MPI, the others 1.000 s on average.";
    assert!(text.contains(told), "{text}");
    // Of collectives of neighbours it is told.
    for text in [first_lines(&alone), first_lines_with(&alone, "Neighbor_alltoall")] {
        assert!(words(&text).contains("Ranks hardly wait for each other: 0.00% of"), "{text}");
    }
    // A rank that polls makes the others wait.
    let polls: [MadeRank; 3] = [(1.0, &[]), (9.0, &[(0, 0.9)]), (1.0, &[(0, 8.0)])];
    let text = words(&first_lines_with(&polls, "Testsome"));
    let told = "it does not compute longer, and is late because it waits itself: it is 8.000 s in calls of which \
                it is not known for whom they wait, most of that in Testsome.";
    assert!(text.contains(told), "{text}");
}

/// Who posts a window or ends an access late sends no message, and waits for it are told once.
#[test]
fn a_rank_that_is_late_at_windows_is_named() {
    let ranks: [MadeRank; 3] = [(1.0, &[(2, 7.0)]), (1.0, &[(2, 6.0)]), (9.0, &[])];
    for (routine, why) in [
        ("Win_start", "because it posts its window late"),
        ("Win_complete", "because it posts its window late"),
        ("Win_wait", "because it ends its access late"),
        ("Win_lock", "because it gives its lock back late"),
    ] {
        let profile = profile(&ranks, routine, "");
        let text = words(&shown(&profile, &["--mpi"]));
        let told = format!(
            "The others wait 13.000 s for rank 2, 43.33% of the time of all ranks, mostly in {routine} {why}."
        );
        assert!(text.contains(&told), "{text}");
        // 13 of 19 s are these waits, and the rest is of windows.
        let text = words(&shown(&profile, &["--why"]));
        assert!(text.contains("ranks that wait for late senders"), "{text}");
        let windows = "20.0% of the time of the ranks goes into the synchronisation of windows";
        assert!(text.contains(windows), "{text}");
    }
}

/// A rank that ends the launch is told first, in all views.
#[test]
fn a_rank_that_ends_its_launch_is_told_first() {
    let ranks: [MadeRank; 3] = [(1.0, &[(2, 7.0)]), (1.0, &[(2, 6.0)]), (9.0, &[])];
    let ended = |how: &[&str]| {
        let lines = profile(&ranks, "Recv", "");
        let lines = lines.lines().zip(how);
        let lines = lines.map(|(line, how)| line.replace("end=finalize", &format!("end={how}")));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    let told = |lines: &str, first: &str| {
        for args in [&["--mpi"], &["--why"]] {
            let text = words(&shown(lines, args));
            assert!(text.contains(first), "{args:?}: {text}");
        }
    };
    let exit = ended(&["lost", "exit", "lost"]);
    told(&exit, "Rank 1 ended by exit or the end of main, without MPI_Finalize: launchers end the");
    let abort = ended(&["lost", "lost", "abort:4"]);
    told(&abort, "Rank 2 called MPI_Abort with code 4, which ended the launch.");
    // A program that never calls MPI_Finalize ends in this way.
    let text = words(&shown(&ended(&["exit", "exit", "exit"]), &["--mpi"]));
    assert!(!text.contains("launchers end"), "{text}");
}

/// Ranks 0, 1, and 2 were late in three thirds of a run, for 0.4, 0.8, and 1.2 s, in a ring of exchanges before a barrier (sums
/// of a run under Open MPI). These sums lead to rank 2 alone, which others cannot have waited for for so long.
#[test]
fn ranks_that_were_late_one_after_the_other_share_the_waits() {
    let ranks: [MadeRank; 4] = [
        (0.75, &[(1, 0.0), (2, 0.875), (3, 1.25)]),
        (1.125, &[(0, 0.375), (2, 0.0), (3, 1.25)]),
        (1.5, &[(0, 0.125), (1, 1.0), (3, 0.0)]),
        (0.25, &[(0, 0.125), (1, 0.25), (2, 2.125)]),
    ];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("The others wait 3.000 s for rank 2"), "{text}");
    // A third of 7.375 s.
    let second = "Rank 1 makes others wait, too: 2.456 of the 7.375 s that the ranks wait for each other begin in it.";
    assert!(text.contains(second), "{text}");
    assert!(!text.contains("followed from rank to rank"), "{text}");
}

/// A rank for which most is waited, and which computes no longer than others, hands on what begins in one that does.
#[test]
fn a_rank_that_hands_a_delay_on_is_not_charged_with_it() {
    let handed = |by_it: f64| -> String {
        let waits: &'static [(u32, f64)] = &[(3, 2.0), (1, 0.4)];
        let ranks: [MadeRank; 4] = [(1.0, waits), (5.0, &[]), (1.0, waits), (by_it, &[(1, 1.0)])];
        first_lines(&ranks)
    };
    let text = words(&handed(1.0));
    assert!(text.contains("Rank 1 makes the others wait, mostly in Recv"), "{text}");
    assert!(text.contains("Of 5.800 s that the ranks wait for each other"), "{text}");
    // One that computes longer itself is charged.
    let text = words(&handed(5.0));
    assert!(text.contains("The others wait 4.000 s for rank 3"), "{text}");
}

/// What the rank that was lost first did before its end is no measure of what the others compute.
#[test]
fn a_rank_that_died_is_no_measure_of_the_others() {
    let ranks: [MadeRank; 4] = [(1.0, &[(2, 4.0)]), (9.0, &[]), (3.0, &[]), (1.0, &[(2, 4.0)])];
    let lines = profile(&ranks, "Recv", "");
    let lines = lines.lines().enumerate().map(|(rank, line)| {
        // Rank 1 ended a second before the others.
        let (died, last) = if rank == 1 { (1, "") } else { (5, "Recv") };
        let line = line.replace("end=finalize", "end=lost");
        format!("{line} z=1795517431:1795517440:179551744{died}:{last}:0\n")
    });
    let text = words(&shown(&lines.collect::<String>(), &["--mpi"]));
    assert!(text.contains("Rank 1 was lost first"), "{text}");
    let computes = "Rank 2 computes 3.000 s outside of MPI, the others 1.000 s on average.";
    assert!(text.contains(computes), "{text}");
    assert!(!text.contains("computes longest") && !text.contains("computes as long"), "{text}");
}

/// Who keeps the processor while it waits has the most CPU time, and not the most work.
#[test]
fn cpu_time_of_waiting_is_no_load() {
    let imbalance = |computes: [f64; 2]| {
        let ranks: [MadeRank; 2] = [(computes[0], &[(1, 0.9)]), (computes[1], &[])];
        let dir = directory(topas_testkit::with_lengths(&profile(&ranks, "Recv", "")));
        let pes: String = [9.0, 2.0]
            .iter()
            .enumerate()
            .map(|(pe, cpu)| {
                format!(
                    "2026/11/24 10:50:41 #0 made {pe} 2 t450 I c mpi {cpu} 0.0 10.000 f=- - 9eb2e2e308beb768 v=1 \
                     t=1795517441 uid=0 end=exit:0 why=f:pmu,m:pmu host=n1 via=run\n"
                )
            })
            .collect();
        std::fs::write(dir.path().join("pes.out"), topas_testkit::with_lengths(&pes)).unwrap();
        let files = ["topas.out", "pes.out"].map(|name| dir.path().join(name));
        let mut view = command(dir.path(), &["--why"]);
        let output = view.args(&files).env("COLUMNS", "80").output().unwrap();
        words(&String::from_utf8(output.stdout).unwrap())
    };
    let text = imbalance([9.0, 2.0]);
    assert!(text.contains("PE 0 has the most CPU time"), "{text}");
    let text = imbalance([2.0, 9.0]);
    assert!(!text.contains("PE 0"), "{text}");
    assert!(text.contains("Ruled out: load imbalance"), "{text}");
}

/// What nobody knows of is neither ruled out nor passed over.
#[test]
fn what_is_not_known_is_not_ruled_out() {
    let ranks: [MadeRank; 2] = [(9.0, &[]), (1.0, &[])];
    let lines = profile(&ranks, "Recv", "");
    // 8 s of calls whose other side does not measure.
    let lines = lines.replace("l=Recv:10:0:0:0:0:0:0:0:0:0:0", "l=Recv:0:0:0:0:0:0:100:4:0:0:0:0");
    let text = words(&shown(&lines, &["--mpi"]));
    let told = "As far as that is told, ranks hardly wait for each other: 0.00% of the time of all ranks. But \
                40.00% of it is in calls of which it is not known for whom they wait, most of that in Recv.";
    assert!(text.contains(told), "{text}");
    let text = searched(&lines);
    let told = "Not ruled out, because it is not known for whom the ranks waited in 40.0% of their time: ranks that \
                wait for late senders;";
    assert!(text.contains(told), "{text}");
    assert!(!text.contains("Ruled out: ranks that wait for late senders"), "{text}");
}

/// What a blocking send takes beside waits may be waiting for its receiver.
#[test]
fn what_sends_may_hold_is_not_ruled_out() {
    let ranks: [MadeRank; 2] = [(9.0, &[]), (1.0, &[])];
    let text = searched(&profile(&ranks, "Send", ""));
    let told = "Not ruled out, because it is not known for whom the ranks waited in 50.0% of their time: ranks that \
                wait for late receivers; receivers that cannot keep up; ranks that wait for others in several ways.";
    assert!(text.contains(told), "{text}");
    let ruled_out = "; ranks that wait for late senders; ranks that wait in collectives;";
    assert!(text.contains(ruled_out), "{text}");
}

/// Where most of the time is in MPI_Init, nobody is sent to look at what the ranks compute.
#[test]
fn a_short_run_is_told_to_be_one() {
    let ranks: [MadeRank; 2] = [(1.0, &[]), (1.0, &[])];
    let text = searched(&profile(&ranks, "Init", ""));
    let told = "Nothing was found that costs much but MPI_Init and MPI_Finalize, which take 90.0% of the time of the \
                ranks. The ranks compute for 10.0% of their time.";
    assert!(text.contains(told), "{text}");
    assert!(!text.contains("look at what the ranks compute"), "{text}");
}

/// Of a rank that is late for most of the waits it is told, too, what those wait that wait for who waits for it.
#[test]
fn what_a_late_rank_delays_by_others_is_told() {
    let ranks: [MadeRank; 4] =
        [(7.0, &[]), (1.0, &[(0, 6.0)]), (1.0, &[(0, 2.0), (1, 4.0)]), (1.0, &[(0, 6.0)])];
    let text = words(&first_lines(&ranks));
    let told = "The others wait 14.000 s for rank 0, 35.00% of the time of all ranks, mostly in Recv because it sends late. \
                Of 18.000 s that the ranks wait for each other, 45.00% of the time of all ranks, 18.000 s begin in it, \
                followed from rank to rank.";
    assert!(text.contains(told), "{text}");
    assert!(!text.contains("makes others wait, too"), "{text}");
}

/// A rank for which the others wait, and which waits itself for one of a world that was started: for half of what each of them
/// waits, or less.
#[test]
fn a_rank_that_waits_for_another_world_is_told_to_wait_itself() {
    let ranks: [MadeRank; 4] =
        [(1.0, &[(1, 3.0)]), (2.0, &[(0, 0.125)]), (1.0, &[(1, 3.0)]), (1.0, &[(1, 3.0)])];
    let first = |seconds: &str| {
        let outside = format!(" bx=05b9cbe4cfb460cc:c:2:30:{seconds}:0:0:0:0 b=0:");
        words(&shown(&profile(&ranks, "Recv", "").replacen(" b=0:", &outside, 1), &["--mpi"]))
    };
    let computes = "Rank 1 computes 2.000 s outside of MPI, the others 1.000 s on average";
    let told = format!("{computes}: it waits itself, 1.500 s for rank 2 of ");
    let text = first("1.5");
    assert!(text.contains(&told) && text.contains(", because it sends late."), "{text}");
    let text = first("1.25");
    assert!(text.contains(&format!("{computes}.")), "{text}");
}

/// Rank 0 collects what the others give, and waits most for the one whose turn it is first: it is the only one that waits, and the
/// others compute as long.
#[test]
fn a_rank_that_only_collects_is_told_to_be_the_one_that_waits() {
    let ranks: [MadeRank; 4] =
        [(0.5, &[(1, 6.0), (2, 1.0)]), (8.0, &[]), (7.75, &[(0, 0.125)]), (8.0, &[(0, 0.125)])];
    let text = words(&first_lines(&ranks));
    let told = "Rank 0 waits 6.000 s for rank 1, 15.00% of the time of all ranks, mostly in Recv because it sends late.";
    assert!(text.contains(told), "{text}");
    let told = "Ranks 2-3 compute as long, so rank 0 would wait for them as well.";
    assert!(text.contains(told), "{text}");
    // One of the others computes less.
    let ranks: [MadeRank; 4] =
        [(0.5, &[(1, 6.0), (2, 1.0)]), (8.0, &[]), (4.0, &[(0, 0.125)]), (8.0, &[(0, 0.125)])];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("Rank 3 computes as long.") && !text.contains("as well"), "{text}");
    assert!(!text.contains(NOT_TOLD_APART), "{text}");
}

/// A second rank is told if it computes longer, and not if the delay of the first passes through it.
#[test]
fn a_second_late_rank_is_told() {
    let ranks: [MadeRank; 4] = [
        (7.0, &[(3, 1.5)]),
        (2.0, &[(0, 5.0), (3, 1.5)]),
        (2.0, &[(0, 5.0), (3, 1.5)]),
        (4.0, &[(0, 5.0)]),
    ];
    let second = "Rank 3 makes others wait, too: 4.500 of the 19.500 s that the ranks wait for each other begin in it.";
    let text = words(&shown(&profile(&ranks, "Recv", ""), &["--mpi"]));
    assert!(text.starts_with("made ") && text.contains(" s for rank 0, "), "{text}");
    assert!(text.contains(second) && text.contains(NOT_TOLD_APART), "{text}");
    let text = searched(&profile(&ranks, "Recv", ""));
    assert!(text.contains(second) && text.contains(NOT_TOLD_APART), "{text}");
    let mut alike = ranks;
    alike[3].0 = 2.0;
    let text = words(&shown(&profile(&alike, "Recv", ""), &["--mpi"]));
    assert!(text.contains(" s for rank 0, ") && !text.contains("wait, too"), "{text}");
    assert!(!text.contains(NOT_TOLD_APART), "{text}");
}

/// A rank for which others wait flushes a window, while the one that computes calls no MPI.
#[test]
fn who_is_held_up_is_not_the_late_one() {
    let ranks: [MadeRank; 4] = [(1.0, &[]), (3.0, &[(0, 3.0)]), (3.0, &[(0, 3.0)]), (9.0, &[])];
    let told = "Rank 3 probably makes the others wait: it computes 9.000 s outside of MPI, the others 2.333 s on average, \
                and what these have begun with it may not go on meanwhile. The waits that are known, 6.000 s, 15.00% of the \
                time of all ranks, are for rank 0, but that one is itself in calls for 8.000 s of which it is not known for \
                whom they wait, most of that in Win_flush.";
    let text = words(&first_lines_with(&ranks, "Win_flush"));
    assert!(text.contains(told), "{text}");
    let text = searched(&profile(&ranks, "Recv", "Win_flush"));
    assert!(text.contains("ranks that wait for late senders, rank 3: "), "{text}");
    // What it does in MPI otherwise leads nowhere.
    let text = words(&first_lines_with(&ranks, "Type_commit"));
    assert!(text.contains("s for rank 0, ") && !text.contains("probably"), "{text}");
}

/// Two ranks are late crosswise, one before a Reduce and a Bcast, the other in a ring (sums of a run under Open MPI).
#[test]
fn of_ranks_that_sums_exchange_a_log_is_said_to_tell_more() {
    let ranks: [MadeRank; 4] =
        [(2.0, &[(3, 2.0)]), (1.0, &[(3, 0.5), (0, 0.75)]), (1.0, &[(3, 0.5)]), (2.0, &[(0, 1.0)])];
    let text = words(&first_lines(&ranks));
    let told = "Rank 0 computes as long. Rank 0 makes others wait, too: 1.750 of the 4.750 s that the ranks wait for each other \
                begin in it. The sums of a run do not tell";
    assert!(text.contains("s for rank 3") && text.contains(told), "{text}");
    assert!(text.contains(NOT_TOLD_APART), "{text}");
}

/// A delay is followed through a thousand ranks.
#[test]
fn a_long_pipeline_is_followed_to_its_beginning() {
    const RANKS: u32 = 1_000;
    let waits = |rank: u32| &*Box::leak(vec![(rank - 1, 6.0)].into_boxed_slice());
    let first: MadeRank = (8.0, &[]);
    let others = (1..RANKS).map(|rank| (1.0, waits(rank)));
    let ranks: Vec<MadeRank> = std::iter::once(first).chain(others).collect();
    let text = words(&first_lines(&ranks));
    let told = "Rank 0 makes the others wait, mostly in Recv because it sends late. Of 5994.000 s that the ranks wait for \
                each other, 59.94% of the time of all ranks, 5994.000 s begin in it";
    assert!(text.contains(told), "{text}");
}

/// A rank that is far ahead of all others is not acquitted, though it is waited for in less than half of the time.
#[test]
fn a_rank_that_is_ahead_of_all_others_is_told_with_the_next() {
    let ranks: [MadeRank; 4] = [
        (1.0, &[(1, 0.9), (2, 2.0), (3, 1.0)]),
        (1.0, &[(0, 0.9), (2, 2.0), (3, 1.0)]),
        (3.0, &[(3, 0.5)]),
        (1.0, &[(0, 0.9), (1, 1.0), (2, 2.0)]),
    ];
    // Delays of threads are not followed from rank to rank.
    let text = words(&shown(&by_two_threads(&ranks), &["--mpi"]));
    let told = "The others wait 6.000 s for rank 2, 7.50% of the time of all threads, mostly in Recv because it sends \
                late. That is 49.18% of what they wait for each other, more than for any other rank: next is rank 3 with \
                20.49%.";
    assert!(text.contains(told), "{text}");
}

/// In a call on a window nobody sends: the table says what its late sender is.
#[test]
fn the_late_sender_of_a_lock_is_explained() {
    let ranks: [MadeRank; 2] = [(1.0, &[(1, 7.0)]), (9.0, &[])];
    let said = |routine: &str| words(&shown(&profile(&ranks, routine, ""), &["--mpi", "--waits"]));
    let (lock, message) = (said("Win_lock"), said("Recv"));
    let note = "\"Late sender\" is in Win_lock a rank that gives its lock back late.";
    assert!(lock.contains(note), "{lock}");
    assert!(!message.contains("\"Late sender\""), "{message}");
}

/// Sums tell nothing of time: of two ranks that compute as long, the waits of one may hide those for the other.
#[test]
fn another_rank_that_computes_as_long_or_longest_is_told() {
    let made = |ranks: [MadeRank; 4]| words(&first_lines(&ranks));
    let two = made([(1.0, &[(3, 6.0), (1, 2.0)]), (8.25, &[]), (1.0, &[(3, 6.0)]), (8.5, &[])]);
    assert!(two.contains("The others wait 12.000 s for rank 3"), "{two}");
    assert!(two.contains(" Rank 1 computes as long."), "{two}");
    let one = made([(1.0, &[(3, 6.0)]), (7.0, &[]), (1.0, &[(3, 6.0)]), (8.5, &[])]);
    assert!(one.contains("The others wait 12.000 s for rank 3"), "{one}");
    assert!(!one.contains("as long"), "{one}");
    // Rank 1 computes while the others are in what they have begun with it.
    let held = made([(2.0, &[(3, 4.0)]), (6.0, &[]), (2.0, &[(3, 4.0)]), (2.0, &[])]);
    assert!(held.contains("The others wait 8.000 s for rank 3"), "{held}");
    assert!(
        held.contains(" Rank 1 computes longest, 6.000 s: while a rank calls no MPI,"),
        "{held}"
    );
}
