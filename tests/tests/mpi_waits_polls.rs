//! Programs that ask again and again until a message is there: what they waited is what they noted.

use std::fs;

use serde_json::Value;
use topas_tests::launched_again::launched_again;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::waits::{Known, number, profile, truth, view};

/// Calls of a routine of rank 1, and seconds in them, by the profile.
fn time_in(text: &str, routine: &str) -> (f64, f64) {
    let lines = text.lines().filter(|line| line.contains(" of=rank "));
    let (mut rank, mut calls, mut seconds) = (0, 0.0, 0.0);
    for word in lines.flat_map(|line| line.split(' ')) {
        if let Some(value) = word.strip_prefix("rank=") {
            rank = number(value);
        }
        let row = word.strip_prefix("f=").and_then(|row| row.strip_prefix(routine));
        if let Some(row) = row.and_then(|row| row.strip_prefix(':')).filter(|_| rank == 1) {
            let mut figures = row.split(':').map(number::<f64>);
            calls += figures.next().unwrap_or(0.0);
            seconds += figures.next().unwrap_or(0.0);
        }
    }
    (calls, seconds)
}

/// Rank 1 in a case: seconds.
struct Polled {
    /// In words
    what: String,
    /// Noted inside of calls until the other side began. The program's own looks at the clock, which are longer
    /// than many of these calls, are a part of that.
    waited: f64,
    /// In calls, by the profile, without all that was noted in calls after the other side had begun: so much is a wait at
    /// least
    least: f64,
    /// In calls, by the profile
    time: f64,
    /// Waited, by the profile
    told: f64,
    found: Known,
}

fn polled(mpi: Mpi, scratch: &Scratch, program: &str, case: &str) -> Polled {
    let places = Places::new(scratch);
    places.clear();
    let notes = scratch.path().join("notes");
    let words = ["TOPAS_MPI_WAITS=yes", program, case, notes.to_str().expect("path"), "60"];
    let ended = profiled(mpi, scratch, 2, &words, &places).good();
    let out = ended.out();
    let line = out.lines().find(|line| line.starts_with("truth 1 ")).expect("truth");
    let asked: f64 = number(line.split(' ').nth(7).expect("seconds"));
    let ((_, routine), truth) = truth(&out).into_iter().next().expect("truth");
    let text = fs::read_to_string(&places.out).expect("profile");
    let found = profile(&text).get(&(1, routine.clone())).copied().unwrap_or_default();
    let (calls, time) = time_in(&text, &routine);
    // The way from the function of C back to the program in Fortran is a part of its call, and of no wait.
    let way = if case == "fortran" { 50e-9 * calls } else { 0.0 };
    let place = if case == "collective" { 2 } else { 0 };
    let (waited, told) = (truth.waits[place], found.waits[place]);
    let least = time - (asked - truth.waits[1]) - way;
    let what = format!(
        "{case} under {}: {told} s told, {least} to {waited} s are true, of {time} s of {routine}, {found:?}",
        mpi.name()
    );
    Polled { what, waited, least, time, told, found }
}

/// Each part of the seconds in calls that ask is told once, as far as the sender had not begun; what is not
/// told that may be said so.
#[test]
fn who_polls_waits_for_late_senders() {
    for mpi in Mpi::installed("who_polls_waits_for_late_senders") {
        let scratch = Scratch::new();
        let [c, fortran] = ["polls", "polls_f"].map(|name| scratch.path().join(name));
        build(mpi, "mpicc", &["waits/polls.c"], &["-O1"], &c);
        build(mpi, "mpifort", &["waits/polls.f90"], &["-O1"], &fortran);
        for case in [
            "fortran",
            "spin",
            "sparse",
            "wild",
            "size",
            "any",
            "some",
            "all",
            "probe",
            "mprobe",
            "collective",
            "parts",
        ] {
            // Partitioned messages came with MPI 4.
            if case == "parts" && mpi != Mpi::Mpich {
                continue;
            }
            let program = if case == "fortran" { &fortran } else { &c };
            let program = program.to_str().expect("path");
            let right = (0..TIMES).any(|_| is_right(&polled(mpi, &scratch, program, case), case));
            assert!(right, "{case} under {}: never right", mpi.name());
        }
    }
}

/// A rank that loses its processor between its own look at the clock and that of the library has noted another
/// truth: then a case is run again.
const TIMES: usize = 8;

fn is_right(of: &Polled, case: &str) -> bool {
    let Polled { what, waited, least, time, told, found } = of;
    println!("{what}");
    assert!(*told <= time + 1e-6, "{what}");
    let apart = waited / 50.0 + 0.001;
    let known = told + found.unknown + found.below;
    // Rank 0 is late by 4 ms each time. Between the calls of one case rank 1 does something else for most of that.
    let is_much = *told > if case == "sparse" { 0.0 } else { time / 5.0 };
    *told <= waited + apart && known + apart >= *least && is_much
}

/// What people are shown: the rank that sends late, and where. If others take the processors, a rank may be late at another
/// place for once.
#[test]
fn the_first_sentence_names_whom_a_rank_polls_for() {
    for mpi in Mpi::installed("the_first_sentence_names_whom_a_rank_polls_for") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("polls");
        build(mpi, "mpicc", &["waits/polls.c"], &["-O1", "-g"], &program);
        let notes = scratch.path().join("notes");
        let [program, notes] = [&program, &notes].map(|path| path.to_str().expect("path"));
        let variables = ["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes"];
        let words = [&variables[..], &[program, "spin", notes, "200"]].concat();
        launched_again(|| {
            places.clear();
            profiled(mpi, &scratch, 2, &words, &places).good();
            let shown = view(&scratch, &places.out, &[]);
            let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            let wanted = [
                " s for rank 0, ",
                "mostly in Test because it sends late.",
                "They wait for it in Test, from one (polls.c:",
                "it sends in Send, from late (polls.c:",
            ];
            match wanted.into_iter().find(|said| !text.contains(said)) {
                None => Ok(()),
                Some(missing) => Err(format!("no {missing:?} under {}:\n{shown}", mpi.name())),
            }
        });
    }
}

/// A rank that collects messages, and what it does between its questions.
struct Collected {
    /// The first sentence, without the line breaks, and the findings of `--why`
    said: String,
    why: Value,
    /// Seconds between questions of rank 0 in vain, as it noted itself, also after rank 1 had sent
    noted: f64,
    /// The same until the ranks for which it asked sent, by the profile, and as many in which rank 0 slept
    between: f64,
    asleep: f64,
}

fn collected(mpi: Mpi, scratch: &Scratch, program: &str, routine: &str, way: &str) -> Collected {
    let places = Places::new(scratch);
    places.clear();
    let words = ["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes", program, routine, way, "40"];
    let out = profiled(mpi, scratch, 4, &words, &places).good().out();
    let line = out.lines().find(|line| line.starts_with("truth 0 ")).expect("truth");
    let shown = view(scratch, &places.out, &["--waits", "--json"]);
    let waits: Value = serde_json::from_str(&shown).expect("JSON");
    let asked = waits["waits"]["asked_in_vain"].as_array().expect("pairs").clone();
    let of_rank_0 = asked.iter().filter(|pair| pair["asks"] == 0);
    let sum = |key: &str| -> f64 {
        of_rank_0.clone().map(|pair| pair[key].as_f64().expect("seconds")).sum()
    };
    let mut why = scratch.command(Site::shared().tool("topasview"));
    let why = run(why.args(["--why", "--json"]).arg(&places.out)).good().out();
    Collected {
        said: waits["waits"]["sentence"].as_str().expect("words").to_owned(),
        why: serde_json::from_str(&why).expect("JSON"),
        noted: number(line.split(' ').nth(3).expect("seconds")),
        between: sum("between_seconds"),
        asleep: sum("asleep_seconds"),
    }
}

/// Whether a rank is the one that makes the others wait.
fn is_charged(said: &str, rank: u32) -> bool {
    let one_waits = said.strip_prefix("Rank ").and_then(|rest| rest.split_once(" waits "));
    let one_waits = one_waits.is_some_and(|(who, _)| who.bytes().all(|byte| byte.is_ascii_digit()));
    said.starts_with(&format!("Rank {rank} makes the others wait"))
        || (one_waits || said.starts_with("The others wait "))
            && said.contains(&format!(" s for rank {rank}, "))
}

/// Whether the rank that is late is named. On a loaded machine another one may lack a processor for so long that it is late by
/// itself. What a collector did between its questions is always told as it is.
fn names_the_late_one(of: &Collected, what: &str, sleeps: bool, late: u32) -> bool {
    let Collected { said, why, noted, between, asleep } = of;
    let what = format!("{what}: {noted} s noted, {between} s between, {asleep} s asleep: {said}");
    println!("{what}");
    assert!(*between <= noted + 0.01, "{what}");
    if sleeps {
        assert!(*between > 0.0 && *asleep >= between / 2.0 && *asleep <= between + 1e-6, "{what}");
    } else {
        assert!(*asleep <= between / 10.0, "{what}");
    }
    let findings = why["findings"].as_array().expect("findings");
    let accused = ["late-senders", "late-to-collectives", "mixed-waits"];
    let accuses = |finding: &&Value| accused.iter().any(|rule| finding["rule"] == *rule);
    let mut found = findings.iter().filter(accuses).map(|finding| &finding["where"]);
    is_charged(said, late) && found.all(|who| *who == format!("rank {late}"))
}

/// Who collects messages and sleeps between its questions waits for their sender; who computes between them is late
/// itself.
#[test]
fn a_collector_that_sleeps_is_told_from_one_that_computes() {
    for mpi in Mpi::installed("a_collector_that_sleeps_is_told_from_one_that_computes") {
        let scratch = Scratch::new();
        let program = scratch.path().join("collects");
        build(mpi, "mpicc", &["waits/collects.c"], &["-O1", "-g"], &program);
        let program = program.to_str().expect("path");
        for routine in ["Testsome", "Testany", "Testall", "Iprobe"] {
            for (way, late) in [("sleeps", 1), ("sleeps,2", 1), ("computes", 0)] {
                let what = format!("{routine} {way} under {}", mpi.name());
                let is_named = (0..TIMES).any(|_| {
                    let of = collected(mpi, &scratch, program, routine, way);
                    names_the_late_one(&of, &what, late == 1, late)
                });
                assert!(is_named, "{what}: never named");
            }
        }
    }
}

/// What a rank does between its questions counts where the kernel is not asked, too, because little time lies between them.
#[test]
fn what_a_collector_does_between_quick_questions_counts() {
    for mpi in Mpi::installed("what_a_collector_does_between_quick_questions_counts") {
        let scratch = Scratch::new();
        let program = scratch.path().join("collects");
        build(mpi, "mpicc", &["waits/collects.c"], &["-O1", "-g"], &program);
        let program = program.to_str().expect("path");
        for routine in ["Testsome", "Iprobe"] {
            let Collected { said, noted, between, asleep, .. } =
                collected(mpi, &scratch, program, routine, "passes");
            let what = format!(
                "{routine} under {}: {noted} s noted, {between} s between, {asleep} s asleep: {said}",
                mpi.name()
            );
            println!("{what}");
            // The way from a question to the pause is part of the time between them.
            assert!(between >= noted / 3.0 - 0.01 && between <= 1.5 * noted + 0.01, "{what}");
            assert!(asleep <= between / 5.0 + 0.001, "{what}");
        }
    }
}
