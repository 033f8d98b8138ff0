//! Ranks that wait for ever, and ranks that were killed: what `topasview --mpi`, `--why` and
//! `topas-top` say first of them, with the lines of the source.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::spool_files;
use topas_tests::started::{Started, line, signal};

/// The cell of a column of a rank's row of `topas-top --csv`.
fn cell(csv: &str, rank: u32, column: &str) -> String {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place = header.iter().position(|name| *name == column).expect("the column");
    let own = rank.to_string();
    lines.find(|row| row[0] == own).expect("the row")[place].to_owned()
}

#[test]
fn sends_in_a_circle_are_told_as_a_deadlock() {
    for mpi in Mpi::installed("sends_in_a_circle_are_told_as_a_deadlock") {
        let started = Started::new(mpi, "faults/deadlock.c", "circle");
        let place = line("deadlock.c", "circle");
        let name = mpi.name();
        let top = started.standstill();
        let sends = [(0, 1), (1, 2), (2, 0)];
        let is_whole = |text: &str| {
            for (rank, to) in sends {
                let send = format!("rank {rank} in MPI_Send to {to} at circle ({place}) for ");
                assert!(text.contains(&send), "{send} under {name}: {text}");
            }
            let circle = "Ranks 0-2 each wait for the next, 0 -> 1 -> 2 -> 0: the program may hang in a deadlock.";
            assert!(text.contains(circle), "under {name}: {text}");
        };
        is_whole(&top);
        assert!(!top.contains(": it costs "), "under {name}: {top}");
        let row = format!("!! at circle ({place})");
        assert_eq!(top.matches(&row).count(), sends.len(), "under {name}: {top}");
        let csv = started.tool("topas-top", &["--csv"]).good().out();
        let open: f64 = cell(&csv, 1, "open %").parse().expect("a share");
        assert!(open > 0.0 && open <= 100.0, "under {name}: {csv}");

        let first = started.first_words(&["--mpi"]);
        assert!(first.starts_with("No call has ended for "), "under {name}: {first}");
        is_whole(&first);
        let waits = started.said("topasview", &["--mpi", "--waits"]);
        assert!(!waits.contains("hardly wait"), "under {name}: {waits}");
        assert!(!waits.contains("mostly waiting for a processor"), "under {name}: {waits}");
        assert!(waits.contains("Why a call waits is told when it ends"), "under {name}: {waits}");
        assert_eq!(
            started.first_words(&["--why"]),
            "The program still runs: figures are of until now."
        );
        // The same of what this node keeps, without a name.
        let why = started.said("topasview", &["--why"]);
        is_whole(&why);
        assert!(why.contains("The program still runs"), "under {name}: {why}");
        assert!(!why.contains(": it costs ") && !why.contains("Ruled out"), "{why}");

        // Whichever was first means nothing.
        started.end_from_outside();
        for words in ["--mpi", "--why"] {
            let first = started.first_words(&[words]);
            assert!(first.starts_with("No call had ended for at least "), "under {name}: {first}");
            assert!(first.contains(" when ranks 0-2 ended at "), "under {name}: {first}");
            let circle = "So ranks 0-2 each waited for the next, 0 -> 1 -> 2 -> 0: the program may have hung in a deadlock,";
            assert!(first.contains(circle), "under {name}: {first}");
        }
        let why = started.said("topasview", &["--why"]);
        assert!(!why.contains(": it costs ") && !why.contains("Ruled out"), "under {name}: {why}");
        assert!(why.contains("where no call has ended for so long"), "under {name}: {why}");
    }
}

/// `topas-top` names the ranks that hang, and their calls, within two seconds from when the program by its own stamp came to
/// the first of these. What else runs on the machine may make it later, in a launch.
#[test]
fn a_hang_is_told_within_two_seconds() {
    const LAUNCHES: usize = 4;
    for mpi in Mpi::installed("a_hang_is_told_within_two_seconds") {
        let hang = || {
            let started = Started::new(mpi, "faults/deadlock.c", "stamped");
            let top = started.standstill();
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time");
            let stamp = fs::read_to_string(started.scratch.path().join("program.stamp"));
            let begun = Duration::from_nanos(stamp.expect("a stamp").parse().expect("ns"));
            for send in
                ["rank 0 in MPI_Send to 1", "rank 1 in MPI_Send to 2", "rank 2 in MPI_Send to 0"]
            {
                assert!(top.contains(send), "{send} under {}: {top}", mpi.name());
            }
            now.saturating_sub(begun)
        };
        // What is told before a second is over would be told of ranks that are only late.
        let within = Duration::from_secs(1)..Duration::from_secs(2);
        let mut told = Vec::new();
        while told.len() < LAUNCHES && !told.last().is_some_and(|time| within.contains(time)) {
            told.push(hang());
        }
        let last = told.last().expect("a launch");
        assert!(within.contains(last), "under {}: {told:?}", mpi.name());
        println!("{}: told after {told:?}", mpi.name());
    }
}

/// Ranks that are through with their work are in `MPI_Finalize`, and not outside of MPI.
#[test]
fn ranks_in_finalize_are_told_to_be_there() {
    for mpi in Mpi::installed("ranks_in_finalize_are_told_to_be_there") {
        let started = Started::new(mpi, "faults/deadlock.c", "finalize");
        let name = mpi.name();
        let place = format!("rank 2 in MPI_Finalize at main ({}) for ", line("deadlock.c", "end"));
        let top = started.standstill();
        assert!(top.contains(&place), "under {name}: {top}");
        assert!(top.contains("0 -> 1 -> 0"), "under {name}: {top}");
        let first = started.first_words(&["--mpi"]);
        assert!(first.contains(&place), "under {name}: {first}");
        started.end_from_outside();
        let first = started.first_words(&["--mpi"]);
        assert!(first.starts_with("No call had ended for at least "), "under {name}: {first}");
        assert!(first.contains(&place), "under {name}: {first}");
        // That time is none in which it computes.
        let unended = started.said("topasview", &["--mpi"]);
        assert!(unended.contains("Finalize 1 call, "), "under {name}: {unended}");

        let started = Started::new(mpi, "faults/deadlock.c", "ending");
        let waits =
            "They wait for rank 1, which is outside of MPI: it computes, or the program may hang.";
        let top = started.standstill();
        assert!(top.contains(waits), "under {name}: {top}");
        let first = started.first_words(&["--mpi"]);
        assert!(first.contains(waits), "under {name}: {first}");
        drop(started);

        let started = Started::new(mpi, "faults/deadlock.c", "gone");
        let top = started.standstill();
        let circle = "Ranks 0 and 2 each wait for the next, 0 -> 2 -> 0: the program may hang in a deadlock.";
        assert!(top.contains(circle), "under {name}: {top}");
    }
}

/// Ranks that are all in collective operations hang because these do not match.
#[test]
fn collectives_that_do_not_match_are_told() {
    for mpi in Mpi::installed("collectives_that_do_not_match_are_told") {
        let cases = [
            (
                "mismatch",
                "All ranks are in collective operations, but not in the same one: they must call those of a \
                 communicator in the same order.",
            ),
            (
                "order",
                "All ranks are in MPI_Barrier, which does not end: they may have called it for different communicators, \
                 or one of them a collective operation more than others.",
            ),
        ];
        for (case, told) in cases {
            let started = Started::new(mpi, "faults/deadlock.c", case);
            let name = mpi.name();
            let top = started.standstill();
            assert!(top.contains(told), "{case} under {name}: {top}");
            let first = started.first_words(&["--mpi"]);
            assert!(first.contains(told), "{case} under {name}: {first}");
            // The barrier of this case is called by a function that others call, too.
            let has_caller = first.contains("called by order (deadlock.c:");
            assert_eq!(has_caller, case == "order", "{case} under {name}: {first}");
            started.end_from_outside();
            for words in ["--mpi", "--why"] {
                let first = started.first_words(&[words]);
                assert!(
                    first.starts_with("No call had ended for at least "),
                    "{case}, {name}: {first}"
                );
                assert!(first.contains(told), "{case} under {name}: {first}");
            }
        }
    }
}

/// A call that waits for requests names nobody: whose messages have not come is known from what both sides have counted.
#[test]
fn messages_that_are_not_sent_and_not_received_are_told() {
    for mpi in Mpi::installed("messages_that_are_not_sent_and_not_received_are_told") {
        let name = mpi.name();
        let place = line("deadlock.c", "requests");
        let started = Started::new(mpi, "faults/deadlock.c", "requests");
        let is_whole = |text: &str, wait: &str| {
            for (rank, other) in [(0, 1), (1, 0)] {
                let waits = format!(
                    "rank {rank} in MPI_Waitall, for which rank {other} has not sent a message with tag 7, at requests \
                     ({place}) for "
                );
                assert!(text.contains(&waits), "{waits} under {name}: {text}");
            }
            let circle = format!("anks 0-1 each {wait} for the next, 0 -> 1 -> 0: the program ");
            assert!(text.contains(&circle), "under {name}: {text}");
        };
        is_whole(&started.standstill(), "wait");
        is_whole(&started.first_words(&["--mpi"]), "wait");
        let json = started.said("topasview", &["--mpi", "--json"]);
        assert!(
            json.contains("\"awaited\": [ { \"of_world\": false, \"rank\": 1, \"tag\": 7 } ]"),
            "{name}: {json}"
        );
        started.end_from_outside();
        is_whole(&started.first_words(&["--why"]), "waited");
        let out = started.places.out.display().to_string();
        started.tool("topas-mpi", &["collect", "--no-log", "--out", &out]).good();
        let text = started.tool("topasview", &["--mpi", &out]).good().out();
        let first = text.split("\n\n").nth(1).unwrap_or_default();
        is_whole(&first.split_whitespace().collect::<Vec<_>>().join(" "), "waited");

        for (case, waits) in [
            (
                "tags",
                "rank 1 in MPI_Recv with tag 12 from 0, which has sent a message with tag 11 that is not received,",
            ),
            (
                "elsewhere",
                "rank 1 in MPI_Recv with tag 12 from 0, which has sent a message with tag 12 on another communicator that is \
                 not received,",
            ),
            (
                "duplicate",
                "rank 1 in MPI_Recv with tag 12 from 0 of its communicator, while a message with tag 11 from rank 0 is not received,",
            ),
            (
                "sender",
                "rank 1 in MPI_Wait, for which rank 0 has not sent a message with tag 9, but rank 2 a message with tag 9,",
            ),
            (
                "large",
                "rank 2 in MPI_Wait, for whose message with tag 5 rank 0 has posted no receive,",
            ),
        ] {
            let place = if case == "duplicate" { "tags" } else { case };
            let waits = format!("{waits} at {place} ({}) for ", line("deadlock.c", place));
            let started = Started::new(mpi, "faults/deadlock.c", case);
            started.standstill();
            let first = started.first_words(&["--mpi"]);
            assert!(first.contains(&waits), "under {name}: {first}");
        }
    }
}

/// A rank that asks for ever goes on, and has not failed.
#[test]
fn a_rank_that_asks_for_ever_is_told_to_ask() {
    for mpi in Mpi::installed("a_rank_that_asks_for_ever_is_told_to_ask") {
        let started = Started::new(mpi, "faults/deadlock.c", "asking");
        let name = mpi.name();
        let place = |mark| format!("at asking ({})", line("deadlock.c", mark));
        let barrier = format!("ranks 0 and 2 in MPI_Barrier {} for ", place("last"));
        let begun = Instant::now();
        let mut first = String::new();
        while !first.contains(&barrier) && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(200));
            first = started.first_words(&["--mpi"]);
        }
        let asks = format!("rank 1 asking again and again by MPI_Iprobe {}", place("probe"));
        assert!(first.contains(&barrier) && first.contains(&asks), "under {name}: {first}");
        let top = started.tool("topas-top", &["--once"]).good().out();
        assert!(top.contains(&barrier) && top.contains(&asks), "under {name}: {top}");
        started.end_from_outside();
        let asked = format!(
            "rank 1 asking again and again, until the end, by MPI_Iprobe {}",
            place("probe")
        );
        for words in ["--mpi", "--why"] {
            let first = started.first_words(&[words]);
            assert!(first.starts_with("Ranks 0 and 2 had been in a call for "), "{name}: {first}");
            assert!(first.contains(&barrier) && first.contains(&asked), "under {name}: {first}");
            assert!(first.contains("So the program may have hung"), "under {name}: {first}");
        }
    }
}

#[test]
fn a_rank_for_which_all_others_wait_is_named() {
    for mpi in Mpi::installed("a_rank_for_which_all_others_wait_is_named") {
        let name = mpi.name();
        let started = Started::new(mpi, "faults/deadlock.c", "computing");
        let place = line("deadlock.c", "barrier");
        let top = started.standstill();
        let first = started.first_words(&["--mpi"]);
        for text in [&top, &first] {
            let barrier = format!("ranks 0 and 2 in MPI_Barrier at computing ({place}) for ");
            assert!(text.contains(&barrier), "under {name}: {text}");
            assert!(text.contains("rank 1 outside of MPI, without a new call for "), "{text}");
            let waits = "They wait for rank 1, which is outside of MPI: it computes, or the program may hang.";
            assert!(text.contains(waits), "under {name}: {text}");
        }
        assert!(!top.contains(": it costs "), "under {name}: {top}");
        drop(started);

        let started = Started::new(mpi, "faults/deadlock.c", "collective");
        let (message, sum) = (line("deadlock.c", "message"), line("deadlock.c", "sum"));
        started.standstill();
        let first = started.first_words(&["--mpi"]);
        let receive = format!("rank 1 in MPI_Recv from 0 at collective ({message}) for ");
        assert!(first.contains(&receive), "under {name}: {first}");
        let sum = format!("ranks 0 and 2 in MPI_Allreduce at collective ({sum}) for ");
        assert!(first.contains(&sum), "under {name}: {first}");
        assert!(first.contains("0 -> 1 -> 0: the program may hang"), "under {name}: {first}");
        drop(started);

        // One of the others waits in a collective of a part.
        let started = Started::new(mpi, "faults/deadlock.c", "part");
        started.standstill();
        let first = started.first_words(&["--mpi"]);
        let reduce = format!(
            "rank 0 in MPI_Reduce with root 0 of its communicator at part ({}) for ",
            line("deadlock.c", "part")
        );
        assert!(first.contains(&reduce) && first.contains("rank 1 outside of MPI, "), "{first}");
        assert!(first.contains("They wait for rank 1, which is outside of MPI"), "{name}: {first}");
    }
}

/// Which rank of the world a call names by its rank in another communicator nobody knows: if all others wait, it is one of these.
#[test]
fn a_circle_through_another_communicator_is_told() {
    for mpi in Mpi::installed("a_circle_through_another_communicator_is_told") {
        let started = Started::new(mpi, "faults/deadlock.c", "probing");
        let place = line("deadlock.c", "probing");
        let probe = format!(
            "rank 2 in MPI_Probe with tag 9 from 0 of its communicator at probing ({place}) for "
        );
        let is_whole = |text: &str, circle: &str| {
            assert!(text.contains(&probe) && text.contains(circle), "under {}: {text}", mpi.name());
        };
        let circle = "The others all wait for rank 2, and it for one of them: the program may hang in a deadlock.";
        is_whole(&started.standstill(), circle);
        is_whole(&started.first_words(&["--mpi"]), circle);
        started.end_from_outside();
        let out = started.places.out.display().to_string();
        started.tool("topas-mpi", &["collect", "--no-log", "--out", &out]).good();
        let text = started.tool("topasview", &["--why", &out]).good().out();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        is_whole(
            &text,
            "So the others all waited for rank 2, and it for one of them: the program may have hung",
        );
    }
}

#[test]
fn ranks_that_have_not_posted_a_window_are_named() {
    for mpi in Mpi::installed("ranks_that_have_not_posted_a_window_are_named") {
        let name = mpi.name();
        let place = line("deadlock.c", "start");
        let started = Started::new(mpi, "faults/deadlock.c", "window");
        let top = started.standstill();
        let first = started.first_words(&["--mpi"]);
        for text in [&top, &first] {
            let start = format!(
                "rank 0 in MPI_Win_start, for which rank 2 has not posted, at window ({place}) for "
            );
            assert!(text.contains(&start), "under {name}: {text}");
            let waits = "They wait for rank 2, which is outside of MPI";
            assert!(text.contains(waits), "under {name}: {text}");
        }
        drop(started);
        let started = Started::new(mpi, "faults/deadlock.c", "windows");
        started.standstill();
        let first = started.first_words(&["--mpi"]);
        let start = "rank 0 in MPI_Win_start, for which ranks 1-2 have not posted, at window (";
        assert!(first.contains(start), "under {name}: {first}");
        assert!(!first.contains("They wait for rank"), "under {name}: {first}");
    }
}

#[test]
fn the_rank_that_was_killed_is_named_first() {
    for mpi in Mpi::installed("the_rank_that_was_killed_is_named_first") {
        let name = mpi.name();
        let started = Started::new(mpi, "faults/killed.c", "");
        let still = started.standstill();
        assert!(still.contains("They wait for rank 2, which is outside of MPI"), "{name}: {still}");
        // A launcher that sees one end ends the others: MPICH in the same moment.
        let ranks = started.processes();
        let launchers = started.launchers(&ranks);
        signal(&launchers, Signal::SIGSTOP);
        signal(&ranks[2..], Signal::SIGKILL);
        let begun = Instant::now();
        let mut top = String::new();
        while !top.contains("Rank 2 was lost") && begun.elapsed() < Duration::from_secs(60) {
            top = started.tool("topas-top", &["--once"]).out();
            thread::sleep(Duration::from_millis(100));
        }
        assert!(top.contains("Other ranks of the launch still run."), "under {name}: {top}");
        assert!(!top.contains(": it costs "), "under {name}: {top}");
        thread::sleep(Duration::from_secs(2));
        signal(&ranks[..2], Signal::SIGKILL);
        signal(&launchers, Signal::SIGKILL);
        started.wait_for_the_end();
        let place = line("killed.c", "swap");
        let is_whole = |text: &str| {
            let lost = "Rank 2 was lost first: it ended without a word on ";
            assert!(text.starts_with(lost), "under {name}: {text}");
            let last =
                format!("outside of MPI, after MPI_Sendrecv at swap ({place}), its last call");
            assert!(text.contains(&last), "under {name}: {text}");
            let others = format!(
                "The others ended because of that: rank 0 in MPI_Sendrecv from 2 at swap ({place}) for "
            );
            assert!(text.contains(&others), "under {name}: {text}");
        };
        is_whole(&started.first_words(&["--mpi"]));
        is_whole(&started.first_words(&["--why"]));
        let why = started.said("topasview", &["--why"]);
        assert!(why.contains("Rank 2 was lost first") && !why.contains("(sure)"), "{why}");
        let line = started.tool("topasview", &["--timeline", "--html", "page.html"]);
        assert_eq!(line.code(), 3, "under {name}: {}", line.err());
        assert!(line.err().contains("3 ranks keep the profile of program"), "{}", line.err());
        assert!(line.err().contains("topas-mpi collect --spool "), "{}", line.err());

        let out = started.places.out.display().to_string();
        let collect = started.tool("topas-mpi", &["collect", "--no-log", "--out", &out]);
        collect.good();
        assert_eq!(spool_files(&started.places.spool), <[PathBuf; 0]>::default());
        for words in ["--mpi", "--why"] {
            let text = started.tool("topasview", &[words, &out]).good().out();
            let first = text.split("\n\n").nth(1).unwrap_or_default();
            is_whole(&first.split_whitespace().collect::<Vec<_>>().join(" "));
            assert!(!text.contains("(sure)"), "under {name}: {text}");
        }
    }
}

#[test]
fn the_rank_that_crashed_is_named_though_its_launcher_ends_the_others_at_once() {
    for mpi in Mpi::installed("the_rank_that_crashed_is_named") {
        let name = mpi.name();
        // In which order the others end is as it comes.
        for _ in 0..5 {
            let mut started = Started::new(mpi, "faults/killed.c", "crash");
            assert!(!started.child.wait().expect("end").success(), "under {name}");
            started.wait_for_the_end();
            let is_whole = |text: &str| {
                let lost = "Rank 2 was lost first: it ended without a word on ";
                assert!(text.starts_with(lost), "under {name}: {text}");
                assert!(text.contains("The others ended "), "under {name}: {text}");
            };
            is_whole(&started.first_words(&["--mpi"]));
            is_whole(&started.first_words(&["--why"]));
            let out = started.places.out.display().to_string();
            started.tool("topas-mpi", &["collect", "--no-log", "--out", &out]).good();
            let text = started.tool("topasview", &["--mpi", &out]).good().out();
            let first = text.split("\n\n").nth(1).unwrap_or_default();
            is_whole(&first.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}

/// A rank that is killed in a long call while another one computes looks as if its program had hung: it is named all the same.
#[test]
fn a_rank_that_was_killed_in_a_long_call_is_named() {
    for mpi in Mpi::installed("a_rank_that_was_killed_in_a_long_call_is_named") {
        let name = mpi.name();
        let started = Started::new(mpi, "faults/deadlock.c", "computing");
        started.standstill();
        // The kernel notes the second of an end.
        thread::sleep(Duration::from_secs(3));
        signal(&started.processes()[..1], Signal::SIGKILL);
        started.wait_for_the_end();
        for words in ["--mpi", "--why"] {
            let first = started.first_words(&[words]);
            // A launcher may take its time to end the others: then that is the cause, or the rank ends in an earlier second.
            let later = [
                "The others ended because of that: ",
                "the program may have hung: ranks 0 and 2 had been in a call for ",
            ];
            let is_first = first.starts_with("Rank 0 was lost first: it ended without a word on ")
                && later.iter().any(|words| first.contains(words));
            let hung = first.starts_with("Ranks 0 and 2 had been in a call for ")
                && first.contains("So the program may have hung, and was ended from outside.")
                && first.contains(
                    "Or rank 0, which ended first, was killed alone, and the others ended because of that.",
                );
            assert!(is_first || hung, "under {name}: {first}");
        }
    }
}
