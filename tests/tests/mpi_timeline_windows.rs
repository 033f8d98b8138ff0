//! Time lines of programs that post and start windows: each rank waits in the event log for as long as the
//! profile of the same run has measured, and the page names the rank that was late.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, event_log, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

/// What a profile tells of the waits of a rank for late senders, in all routines, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Late {
    waited: f64,
    /// Of calls that were too short, and of those of which nothing is known
    open: f64,
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// By rank, as the lines of ranks say.
fn measured(profile: &str) -> BTreeMap<u64, Late> {
    let mut all: BTreeMap<u64, Late> = BTreeMap::new();
    let mut rank = u64::MAX;
    for line in profile.lines().filter(|line| line.contains(" of=rank ")) {
        for (key, value) in line.split(' ').filter_map(|word| word.split_once('=')) {
            match key {
                "rank" => rank = number(value) as u64,
                "l" => {
                    // Name, then calls and seconds: late sender, late receiver, collective, not sure, not
                    // measured, too short.
                    let seconds: Vec<f64> =
                        value.split(':').skip(2).step_by(2).map(number).collect();
                    let late = all.entry(rank).or_default();
                    late.waited += seconds[0];
                    late.open += seconds[3] + seconds[4] + seconds[5];
                }
                _ => {}
            }
        }
    }
    all
}

/// What is told of a run with an event log.
struct Logged {
    page: String,
    profile: String,
    why: String,
}

fn logged(mpi: Mpi, program: &Path, ranks: u32, case: &str, rounds: &str) -> Logged {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let notes = scratch.path().join("notes");
    let [program, notes] = [program, &notes].map(|path| path.to_str().expect("a path"));
    let words = ["TOPAS_MPI_LOG=yes", "TOPAS_MPI_WAITS=yes", program, case, notes, rounds];
    profiled(mpi, &scratch, ranks, &words, &places).good();
    let log = event_log(places.out.parent().expect("a directory"));
    let shown = |option: &str| {
        let mut view = scratch.command(Site::shared().tool("topasview"));
        run(view.args([option, "--quiet"]).arg(&log)).good().out()
    };
    let (page, why) = (shown("--timeline"), shown("--why"));
    let profile = fs::read_to_string(&places.out).expect("a profile");
    Logged { page, profile, why }
}

/// What the script of a page has to know.
fn facts(page: &str) -> Value {
    let text = page.split_once("id=\"facts\" type=\"application/json\">").expect("facts").1;
    serde_json::from_str(text.split_once("</script>").expect("an end").0).expect("JSON")
}

/// Seconds that each row of a page waited for late senders.
fn told(page: &str) -> Vec<f64> {
    const LATE_SENDER: usize = 2;
    let facts = facts(page);
    assert_eq!(facts["classes"][LATE_SENDER], "wait for late sender");
    let rows = facts["rows"].as_array().expect("rows").iter();
    rows.map(|row| row["times"][LATE_SENDER].as_f64().expect("ns") / 1e9).collect()
}

#[test]
fn the_log_tells_the_waits_at_windows_that_were_measured() {
    const RANKS: u32 = 3;
    for mpi in Mpi::installed("the_log_tells_the_waits_at_windows_that_were_measured") {
        let scratch = Scratch::new();
        let c = scratch.path().join("windows");
        let fortran = scratch.path().join("fortran");
        build(mpi, "mpicc", &["waits/windows.c"], &["-O1"], &c);
        build(mpi, "mpifort", &["waits/windows.f90"], &["-O1"], &fortran);
        let cases = ["posts", "completes", "targets", "any", "both", "plain", "part", "early"];
        let cases = cases.map(|case| (&c, case, RANKS)).into_iter();
        for (program, case, ranks) in cases.chain([(&fortran, "fortran", 2)]) {
            let Logged { page, profile, .. } = logged(mpi, program, ranks, case, "40");
            let (told, measured) = (told(&page), measured(&profile));
            let said = || format!("{case} under {}: {told:?} s of {measured:?}", mpi.name());
            assert_eq!(told.len(), ranks as usize, "{}", said());
            for (rank, told) in (0..).zip(&told) {
                let own = measured.get(&rank).copied().unwrap_or_default();
                // The profile does not look at short calls.
                let apart = (told - own.waited).abs();
                assert!(apart <= 0.01 * own.waited + own.open + 1e-3, "{}", said());
            }
            let all: f64 = told.iter().sum();
            assert_eq!(all > 0.02, case != "early", "{}", said());
            // All is told, as the profile tells all.
            assert!(!page.contains("could not be told"), "{}", said());
            assert!(!page.contains("does not tell apart"), "{}", said());
            println!("{}", said());
        }
    }
}

/// Calls while measuring is paused are not in the log. The log never tells a wait for them that was none, because the
/// events have the numbers of epochs.
#[test]
fn a_log_without_some_calls_tells_no_other_waits() {
    for mpi in Mpi::installed("a_log_without_some_calls_tells_no_other_waits") {
        let scratch = Scratch::new();
        let program = scratch.path().join("windows");
        build(mpi, "mpicc", &["waits/windows.c"], &["-O1"], &program);
        let Logged { page, profile, .. } = logged(mpi, &program, 3, "paused", "40");
        let (told, measured) = (told(&page), measured(&profile));
        let said = format!("under {}: {told:?} s of {measured:?}", mpi.name());
        for (rank, told) in (0..).zip(&told) {
            let own = measured.get(&rank).copied().unwrap_or_default();
            assert!(*told <= 1.01 * own.waited + own.open + 1e-3, "{said}");
        }
        assert!(page.contains("could not be told"), "{said}");
        assert!(told.iter().sum::<f64>() > 0.0, "{said}");
    }
}

/// The rank that posts late is named, in the page and by the search for bottlenecks.
#[test]
fn the_rank_that_posts_late_is_named() {
    const TIMES: usize = 6;
    /// So many that the waits are enough to be told: a second.
    const ROUNDS: &str = "700";
    for mpi in Mpi::installed("the_rank_that_posts_late_is_named") {
        let scratch = Scratch::new();
        let program = scratch.path().join("windows");
        build(mpi, "mpicc", &["waits/windows.c"], &["-O1"], &program);
        // Where other programs take the processors, all ranks are late.
        let named = |_: &usize| {
            let Logged { page, why, .. } = logged(mpi, &program, 3, "posts", ROUNDS);
            let is_named = page.contains("Rank 0 is late") && why.contains("arise in rank 0");
            if !is_named {
                eprintln!("under {}: {why}", mpi.name());
            }
            is_named
        };
        assert!((0..TIMES).any(|time| named(&time)), "under {}", mpi.name());
    }
}
