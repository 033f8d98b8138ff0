//! The first sentence: which rank makes the others wait.

use std::fmt::Write as _;

use super::{command, directory};

/// A rank of a made profile: what it computes in seconds, and for whom it waits how long.
type MadeRank = (f64, &'static [(u32, f64)]);

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
fn profile(ranks: &[MadeRank], waits_in: &str, routine: &str) -> String {
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

fn shown(profile: &str, args: &[&str]) -> String {
    let dir = directory(topas_testkit::with_lengths(profile));
    let file = dir.path().join("topas.out");
    let args = [args, &[file.to_str().unwrap()]].concat();
    let output = command(dir.path(), &args).env("COLUMNS", "80").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn words(text: &str) -> String {
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
    let gathers = &[(1, 2.0), (2, 1.5), (3, 1.5)];
    let ranks: [MadeRank; 4] = [(1.0, gathers), (7.0, &[]), (1.0, &[(0, 6.0)]), (1.0, &[(0, 6.5)])];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("The others wait 12.500 s for rank 0"), "{text}");
}

#[test]
fn where_ranks_take_turns_no_chain_is_followed() {
    let ranks: [MadeRank; 2] = [(5.0, &[(1, 4.0)]), (5.0, &[(0, 4.5)])];
    let text = words(&first_lines(&ranks));
    assert!(text.contains("The others wait 4.500 s for rank 0"), "{text}");
    assert!(text.contains("or because the ranks take turns."), "{text}");
}

/// Where ranks are in calls of which nobody tells for whom they wait, nobody says that they do not wait.
#[test]
fn waits_that_are_not_told_are_not_taken_for_none() {
    let alone: [MadeRank; 2] = [(1.0, &[]), (9.5, &[])];
    let text = words(&first_lines_with(&alone, "Win_lock"));
    let told = "As far as that is told, ranks hardly wait for each other: 0.00% of the time of all ranks. But \
                40.00% of it is in calls of which it is not known for whom they wait, most of that in Win_lock.";
    assert!(text.contains(told), "{text}");
    let text = words(&first_lines(&alone));
    assert!(text.contains("Ranks hardly wait for each other: 0.00% of"), "{text}");
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
