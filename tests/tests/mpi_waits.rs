//! Why ranks wait, in programs that note themselves when they did what: the seconds of the profile
//! are those of the notes.

use std::fs;

use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, build, event_logs, library, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::waits::{
    PretendedHosts, Ranks, holds, holds_on, number, profile, truth, under_each, view,
};

#[path = "mpi_waits/absences.rs"]
mod absences;
#[path = "mpi_waits/exchanges.rs"]
mod exchanges;
#[path = "mpi_waits/locks.rs"]
mod locks;
#[path = "mpi_waits/neighbors.rs"]
mod neighbors;
#[path = "mpi_waits/persistent.rs"]
mod persistent;

#[test]
fn waits_are_those_that_the_program_noted() {
    under_each(
        Mpi::installed("waits_are_those_that_the_program_noted"),
        "waits",
        |mpi, program| {
            for (case, ranks, rounds) in [
                ("recv", 2, 20),
                ("small", 2, 20),
                ("receiver", 2, 24),
                ("wait", 2, 20),
                ("waitall", 2, 20),
                ("order", 2, 16),
                ("any", 3, 30),
                ("ring", 3, 12),
                ("collectives", 3, 60),
                ("cancelled", 2, 20),
                ("started", 3, 60),
                ("held up", 3, 48),
                ("groups", 3, 45),
                ("made", 2, 30),
                ("early", 3, 20),
                // Of these nothing is told.
                ("overtakes", 2, 10),
            ] {
                holds(mpi, program, case, ranks, rounds);
            }
        },
    );
}

/// The same in calls of rarer kinds: requests that are started again, tested and freed, scans,
/// collectives of neighbours, two threads, and what came with MPI 4.
#[test]
fn waits_of_rarer_calls_are_those_that_the_program_noted() {
    for mpi in Mpi::installed("waits_of_rarer_calls_are_those_that_the_program_noted") {
        let scratch = Scratch::new();
        let program = scratch.path().join("kinds");
        build(mpi, "mpicc", &["waits/kinds.c"], &["-O1", "-pthread"], &program);
        let program = program.to_str().expect("path");
        for (case, ranks, rounds) in [
            ("startall", 2, 20),
            ("tests", 2, 24),
            ("freed", 2, 20),
            ("scans", 3, 40),
            ("neighbours", 3, 20),
            ("threads", 2, 20),
            ("fourth", 2, 24),
        ] {
            holds(mpi, program, case, ranks, rounds);
        }
    }
}

/// Two threads that send with one tag may take each other's stamps: what they wait is then told as not
/// known for sure, and never as more than it was. The program itself sees each message once.
#[test]
fn threads_with_one_key_are_uncertain() {
    const ROUNDS: u32 = 300;
    for mpi in Mpi::installed("threads_with_one_key_are_uncertain") {
        let scratch = Scratch::new();
        let program = scratch.path().join("kinds");
        build(mpi, "mpicc", &["waits/kinds.c"], &["-O1", "-pthread"], &program);
        let places = Places::new(&scratch);
        let [program, notes] =
            [program, scratch.path().join("notes")].map(|path| path.display().to_string());
        let rounds = ROUNDS.to_string();
        let words = ["TOPAS_MPI_WAITS=yes", &program, "onekey", &notes, &rounds];
        let ended = profiled(mpi, &scratch, 2, &words, &places).good();
        let key = (1, "Recv".to_owned());
        let truth = truth(&ended.out())[&key];
        let found = profile(&fs::read_to_string(&places.out).expect("profile"))[&key];
        let said = format!("{found:?} of {truth:?} under {}", mpi.name());
        assert_eq!(truth.calls, 2 * ROUNDS, "{said}");
        let (least, most) = (found.waits[0], found.waits[0] + found.unknown + found.below);
        // A message that takes the stamp of another one moves a wait by what lies between the two.
        let apart = 0.05 + truth.waits[0] / 10.0;
        assert!(truth.waits[0] > least - apart && truth.waits[0] < most + apart, "{said}");
        println!("{said}");
    }
}

/// The same with ranks on several hosts, whose clocks differ by 1,234 s and 20 ppm.
#[test]
fn waits_between_hosts_are_those_that_the_program_noted() {
    for mpi in Mpi::installed_with("waits_between_hosts", &["unshare", "hostname"]) {
        let scratch = Scratch::new();
        let program = scratch.path().join("waits");
        build(mpi, "mpicc", &["waits/waits.c"], &["-O1"], &program);
        let program = program.to_str().expect("path");
        for (case, hosts, ranks, rounds) in [
            ("recv", 2, 2, 1_500),
            ("recv", 2, 3, 40),
            ("receiver", 2, 2, 24),
            ("wait", 2, 2, 20),
            ("waitall", 2, 2, 20),
            ("order", 2, 2, 16),
            ("any", 2, 3, 30),
            ("ring", 3, 3, 12),
            ("collectives", 2, 3, 60),
            ("started", 2, 3, 40),
        ] {
            holds_on(mpi, Some(hosts), &[], program, case, ranks, rounds);
        }
        let program = scratch.path().join("windows");
        build(mpi, "mpicc", &["waits/windows.c"], &["-O1"], &program);
        holds_on(mpi, Some(2), &[], program.to_str().expect("path"), "plain", 3, 40);
    }
}

/// The event logs of hosts tell how their clocks differ. These hosts have one clock in truth.
#[test]
fn event_logs_of_hosts_tell_how_far_apart_their_clocks_are() {
    for mpi in Mpi::installed_with("event_logs_of_hosts", &["unshare", "hostname"]) {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("waits");
        build(mpi, "mpicc", &["waits/waits.c"], &["-O1"], &program);
        let notes = scratch.path().join("notes");
        let hosts = PretendedHosts::new(2, &places);
        let mut words = vec!["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_LOG=yes"];
        words.extend(hosts.words());
        let [program, notes] = [&program, &notes].map(|path| path.to_str().expect("path"));
        words.extend([program, "recv", notes, "20"]);
        profiled(mpi, &scratch, 2, &words, &places).good();
        let logs = event_logs(scratch.path());
        assert_eq!(logs.len(), 2, "one for each host: {logs:?}");
        for log in &logs {
            let bytes = fs::read(log).expect("event log");
            let facts = String::from_utf8_lossy(&bytes);
            let clock =
                facts.lines().find_map(|line| line.strip_prefix("clock ")).expect("a clock");
            let [ahead, error, drift]: [i64; 3] =
                clock.split(' ').map(number).collect::<Vec<_>>().try_into().expect("three numbers");
            // What a test makes of a clock is rounded twice.
            assert!(ahead.abs() <= error + 1_000, "under {}: {clock}", mpi.name());
            assert!(drift.abs() <= 100_000, "under {}: {clock}", mpi.name());
        }
        let mut view = scratch.command(Site::shared().tool("topasview"));
        let page = run(view.arg("--timeline").args(&logs)).good().out();
        assert!(page.contains("The clocks of the hosts were compared"), "under {}", mpi.name());
    }
}

/// The patterns by which analysis tools are tried, each with the only ranks that can make others wait,
/// and how; no ranks where who is last is left to chance. Of collectives from a root another rank can, too, by which the
/// root's data go, if a loaded machine lets that come later: for a small part.
const PATTERNS: [(&str, &str, &[u64]); 10] = [
    ("late_sender", "late_sender_seconds", &[0, 2]),
    ("late_receiver", "late_receiver_seconds", &[1, 3]),
    ("imbalance_at_mpi_barrier", "collective_seconds", &[]),
    ("imbalance_at_mpi_alltoall", "collective_seconds", &[]),
    ("late_broadcast", "collective_seconds", &[1]),
    ("late_scatter", "collective_seconds", &[1]),
    ("late_scatterv", "collective_seconds", &[1]),
    ("early_reduce", "collective_seconds", &[]),
    ("early_gather", "collective_seconds", &[]),
    ("early_gatherv", "collective_seconds", &[]),
];

#[test]
fn the_patterns_of_tools_are_found_with_their_seconds_and_ranks() {
    for mpi in Mpi::installed("the_patterns_of_tools_are_found_with_their_seconds_and_ranks") {
        let scratch = Scratch::new();
        let program = scratch.path().join("patterns");
        build(mpi, "mpicc", &["waits/patterns.c"], &["-O1"], &program);
        let program = program.to_str().expect("path");
        for (place, (case, seconds, ranks)) in PATTERNS.into_iter().enumerate() {
            if !mpi.takes(place) && ranks.is_empty() {
                continue;
            }
            once(|| {
                let profile = scratch.path().join(case);
                fs::write(&profile, holds(mpi, program, case, 4, 20)).expect("profile");
                let text = view(&scratch, &profile, &["--waits", "--json"]);
                let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                let waited_for = json["waits"]["waited_for"].as_array().expect("ranks");
                let waited = |of: &serde_json::Value| of[seconds].as_f64().expect("seconds");
                let all: f64 = waited_for.iter().map(waited).sum();
                let small = if seconds.starts_with("coll") { all / 20.0 } else { 0.0 };
                let culprits: Vec<u64> = waited_for
                    .iter()
                    .filter(|of| waited(of) > small)
                    .map(|of| of["rank"].as_u64().expect("rank"))
                    .collect();
                let known = |rank| ranks.is_empty() || ranks.contains(rank);
                let right = !culprits.is_empty() && culprits.iter().all(known);
                right.then_some(()).ok_or_else(|| format!("{case} under {}: {text}", mpi.name()))
            });
        }
    }
}

/// The same in Fortran.
#[test]
fn waits_of_fortran_are_those_that_the_program_noted() {
    for mpi in Mpi::installed("waits_of_fortran_are_those_that_the_program_noted") {
        let scratch = Scratch::new();
        let program = scratch.path().join("late");
        build(mpi, "mpifort", &["waits/late.f90"], &["-O1"], &program);
        holds(mpi, program.to_str().expect("path"), "fortran", 2, 40);
    }
}

/// What a rank waited in a routine for late senders, as a profile says.
fn late(found: &Ranks, rank: u32, routine: &str) -> f64 {
    found.get(&(rank, routine.to_owned())).map_or(0.0, |known| known.waits[0])
}

/// Whether something holds in one of some runs: a rank that had no processor came late itself.
fn once(mut holds: impl FnMut() -> Result<(), String>) {
    const TIMES: usize = 8;
    let mut said = String::new();
    for _ in 0..TIMES {
        match holds() {
            Ok(()) => return,
            Err(why) => said = why,
        }
    }
    panic!("{said}");
}

/// Whoever posts a window late makes those wait that access it, and whoever ends an access late the one
/// whose window it is: each in the call in which the MPI lets it wait, and for the last one.
#[test]
fn waits_at_windows_are_those_that_the_program_noted() {
    const RANKS: u32 = 3;
    const ROUNDS: u32 = 40;
    for mpi in Mpi::installed("waits_at_windows_are_those_that_the_program_noted") {
        let scratch = Scratch::new();
        let program = scratch.path().join("windows");
        build(mpi, "mpicc", &["waits/windows.c"], &["-O1"], &program);
        let program = program.to_str().expect("path");
        // Who waits, in which call, how many milliseconds in each round, and for whom.
        for (case, rank, routine, length, culprit) in [
            ("posts", 2, "Win_start", 2.0, 0),
            ("completes", 0, "Win_wait", 4.0, 2),
            ("targets", 2, "Win_start", 6.0, 0),
            ("part", 2, "Win_start", 2.0, 1),
        ] {
            once(|| {
                let text = holds(mpi, program, case, RANKS, ROUNDS);
                let waited = late(&profile(&text), rank, routine);
                let file = scratch.path().join(case);
                fs::write(&file, text).expect("profile");
                let text = view(&scratch, &file, &["--waits", "--json"]);
                let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                let pairs = json["waits"]["pairs"].as_array().expect("pairs");
                let of_rank = pairs.iter().filter(|pair| pair["waits"] == rank);
                let seconds = |pair: &&serde_json::Value| {
                    pair["late_sender_seconds"].as_f64().expect("seconds").to_bits()
                };
                let longest = of_rank.max_by_key(seconds).map(|pair| &pair["rank"]);
                let right = longest.is_some_and(|rank| *rank == culprit)
                    && waited > 0.4e-3 * length * f64::from(ROUNDS);
                right
                    .then_some(())
                    .ok_or(format!("{case} under {}: {waited} s, {text}", mpi.name()))
            });
        }
        for case in ["any", "both", "paused"] {
            holds(mpi, program, case, RANKS, 2 * ROUNDS);
        }
        let text = holds(mpi, program, "early", RANKS, ROUNDS);
        let found = profile(&text);
        for rank in 0..RANKS {
            for routine in ["Win_start", "Win_complete", "Win_wait"] {
                // Less than a single one of the waits of the other cases.
                let waited = late(&found, rank, routine);
                assert!(waited < 1e-3, "{routine} of {rank} under {}: {waited}", mpi.name());
            }
        }
    }
}

/// An MPI may let a rank wait for the post where its access ends.
#[test]
fn a_wait_for_a_post_is_told_where_the_access_ends() {
    const ROUNDS: u32 = 40;
    under_each(
        Mpi::installed("a_wait_for_a_post_is_told_where_the_access_ends"),
        "windows",
        |mpi, program| {
            // By messages Open MPI 4 lets it wait there; others never look at the variable.
            let variables = ["OMPI_MCA_osc=pt2pt"];
            once(|| {
                let text = holds_on(mpi, None, &variables, program, "plain", 3, ROUNDS);
                let found = profile(&text);
                let [start, complete] =
                    ["Win_start", "Win_complete"].map(|routine| late(&found, 1, routine));
                let right = start + complete > 0.8e-3 * f64::from(ROUNDS);
                let said = format!("under {}: {start} s, and {complete} s at its end", mpi.name());
                println!("{said}");
                right.then_some(()).ok_or(said)
            });
        },
    );
}

/// The same in Fortran.
#[test]
fn waits_at_windows_in_fortran_are_those_that_the_program_noted() {
    for mpi in Mpi::installed("waits_at_windows_in_fortran") {
        let scratch = Scratch::new();
        let program = scratch.path().join("windows");
        build(mpi, "mpifort", &["waits/windows.f90"], &["-O1"], &program);
        once(|| {
            let text = holds(mpi, program.to_str().expect("path"), "fortran", 2, 40);
            let found = profile(&text);
            let waited = [(0, "Win_wait"), (1, "Win_start")]
                .map(|(rank, routine)| late(&found, rank, routine));
            let right = waited.iter().all(|waited| *waited > 0.03);
            right.then_some(()).ok_or(format!("under {}: {waited:?} s", mpi.name()))
        });
    }
}

/// A rank that has no library is not waited for, and nothing is said of messages with it, or of its
/// window. What a rank knew when it ended without a word is not lost.
#[test]
fn a_rank_without_the_library_is_not_measured() {
    for mpi in Mpi::installed("a_rank_without_the_library_is_not_measured") {
        for (source, case, routine) in [
            ("waits/waits.c", "recv", "Recv,"),
            ("waits/windows.c", "posts", "Win_start,"),
            ("waits/neighbors.c", "ring", "Neighbor_allgather,"),
        ] {
            without_the_library(mpi, source, case, routine);
        }
    }
}

/// The row of a routine in which all ranks wait for rank 0, which has the library or not.
fn without_the_library(mpi: Mpi, source: &str, case: &str, routine: &str) {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let program = scratch.path().join("waits");
    build(mpi, "mpicc", &[source], &["-O1"], &program);
    let script = scratch.path().join("one.sh");
    let off = "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 0) export TOPAS_MPI=no;; esac";
    fs::write(&script, format!("{off}\nexec \"$@\"\n")).expect("script");
    let notes = scratch.path().join("notes");
    let [script, program, notes] =
        [&script, &program, &notes].map(|path| path.to_str().expect("path"));
    let waits = "TOPAS_MPI_WAITS=yes";
    for (front, measured) in [(&["sh", script][..], false), (&[], true)] {
        places.clear();
        let mut words = vec![waits];
        words.extend(front);
        words.extend([program, case, notes, "20", "_exit"]);
        profiled(mpi, &scratch, 2, &words, &places);
        let rows = view(&scratch, &places.spool, &["--waits", "--csv"]);
        let row = rows.lines().find(|row| row.starts_with(routine)).expect("the routine");
        let cells: Vec<f64> = row.split(',').skip(1).map(number).collect();
        let (waited, unknown) = (cells[2..5].iter().sum::<f64>(), cells[5]);
        let known = if measured { waited > 0.0 } else { waited == 0.0 && unknown > 0.0 };
        assert!(known, "{case}, {measured} under {}: {rows}", mpi.name());
    }
}

/// Who broadcasts while a rank is not yet in MPI, looks for it in vain. Later it is found, and not
/// taken for a rank of another node.
#[test]
fn a_rank_that_comes_to_mpi_late_is_found() {
    const RANKS: u32 = 3;
    for mpi in Mpi::installed("a_rank_that_comes_to_mpi_late_is_found") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let [program, slow] = ["late_start", "slow.so"].map(|name| scratch.path().join(name));
        build(mpi, "mpicc", &["waits/late_start.c"], &["-O1"], &program);
        build(mpi, "mpicc", &["waits/late_start.c"], &["-DSLOW", "-shared", "-fPIC"], &slow);
        let mut launch = mpi.launch_bare(&scratch, RANKS);
        launch.args(places.words(&[&library(Site::shared()), &slow]));
        launch.arg("TOPAS_MPI_WAITS=yes").arg(&program).current_dir(scratch.path());
        launched(&scratch, &mut launch).good();
        let found = profile(&fs::read_to_string(&places.out).expect("profile"));
        for rank in 0..RANKS {
            let known = found[&(rank, "Allreduce".to_owned())];
            assert_eq!(known.unknown, 0.0, "rank {rank} under {}: {known:?}", mpi.name());
            let waits = known.waits[2] > 0.1;
            assert!(waits || rank == 1, "rank {rank} under {}: {known:?}", mpi.name());
        }
    }
}

/// What people are shown: the rank that makes the others wait, and parts that add up.
#[test]
fn the_first_sentence_names_the_rank() {
    for mpi in Mpi::installed("the_first_sentence_names_the_rank") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("waits");
        build(mpi, "mpicc", &["waits/waits.c"], &["-O1"], &program);
        let notes = scratch.path().join("notes");
        let [program, notes] = [&program, &notes].map(|path| path.to_str().expect("path"));
        // Long enough that MPI's own beginning is not most of the time.
        let words = ["TOPAS_MPI_WAITS=yes", program, "recv", notes, "400"];
        profiled(mpi, &scratch, 2, &words, &places).good();
        let view = |args: &[&str]| view(&scratch, &places.out, args);
        for args in [&[][..], &["--waits"]] {
            let shown = view(args);
            let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            let sentence = " s for rank 0, ";
            assert!(words.contains(sentence), "{args:?} under {}:\n{shown}", mpi.name());
            assert!(words.contains("mostly in Recv because it sends late"), "{shown}");
        }
        let rows = view(&["--waits", "--csv"]);
        for row in rows.lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            // As whole numbers of nanoseconds: the parts are the whole.
            let ns = |cell: &str| (number::<f64>(cell) * 1e9).round() as i64;
            assert_eq!(cells[3..8].iter().map(|cell| ns(cell)).sum::<i64>(), ns(cells[2]), "{row}");
        }
        let json: serde_json::Value = serde_json::from_str(&view(&["--waits", "--json"])).unwrap();
        assert_eq!(json["waits"]["waited_for"][0]["rank"], 0, "{json}");
        let pairs = json["waits"]["pairs"].as_array().expect("pairs");
        assert!(pairs.iter().any(|pair| pair["waits"] == 1 && pair["rank"] == 0), "{json}");
    }
}
