//! Programs that ask again and again until a message is there: what they waited is what they noted.

use std::fs;

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::site::Scratch;
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

/// What people are shown: the rank that sends late, and where.
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
        profiled(mpi, &scratch, 2, &words, &places).good();
        let shown = view(&scratch, &places.out, &[]);
        let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [
            " s for rank 0, ",
            "mostly in Test because it sends late.",
            "They wait for it in Test, from one (polls.c:",
            "it sends in Send, from late (polls.c:",
        ] {
            assert!(text.contains(said), "no {said:?} under {}:\n{shown}", mpi.name());
        }
    }
}
