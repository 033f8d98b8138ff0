//! Waits in programs that note themselves when they did what: the seconds of the profile are those of the notes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::mpi_installation::Mpi;
use crate::profile::{Places, build, profiled};
use crate::running::run;
use crate::site::{Scratch, Site};

/// Seconds: late sender, late receiver, collective.
pub type Waits = [f64; 3];

/// What is known of a routine of a rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// What was waited for
    pub waits: Waits,
    /// How many calls the program noted
    pub calls: u32,
    /// Seconds of which nothing is known
    pub unknown: f64,
    /// Seconds of calls that were too short
    pub below: f64,
    /// Of a program's notes: seconds more that may be waits for ranks which called no MPI
    pub held: f64,
}

/// By rank and routine.
pub type Ranks = BTreeMap<(u32, String), Known>;

/// Builds the program `waits/NAME.c` under each of these MPIs, and calls a function with its path.
pub fn under_each(
    mpis: impl IntoIterator<Item = Mpi>,
    name: &str,
    mut check: impl FnMut(Mpi, &str),
) {
    for mpi in mpis {
        let scratch = Scratch::new();
        let program = scratch.path().join(name);
        build(mpi, "mpicc", &[&format!("waits/{name}.c")], &["-O1"], &program);
        check(mpi, program.to_str().expect("path"));
    }
}

/// The installed MPIs of version 4 of the standard, which has persistent collectives and partitioned messages; that others
/// are left out is said.
pub fn installed_mpi_4(test: &str) -> impl Iterator<Item = Mpi> {
    Mpi::installed(test).into_iter().filter(move |mpi| {
        let has = *mpi == Mpi::Mpich;
        if !has {
            println!("note: {test}: {} is older than version 4 of the standard", mpi.name());
        }
        has
    })
}

/// A number in a text.
pub fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// `truth RANK ROUTINE CALLS LATE RECEIVER COLLECTIVE TIME [HELD]`
pub fn truth(out: &str) -> Ranks {
    let lines = out.lines().filter_map(|line| line.strip_prefix("truth "));
    let known = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let waits = [3, 4, 5].map(|at| number(words[at]));
        let held = words.get(7).map_or(0.0, |held| number(held));
        let known = Known { waits, calls: number(words[2]), held, ..Known::default() };
        ((number(words[0]), words[1].to_owned()), known)
    };
    lines.map(known).collect()
}

/// What the lines of ranks say; and that no part is negative or more than the whole.
pub fn profile(text: &str) -> Ranks {
    let mut all = Ranks::new();
    let mut times: BTreeMap<(u32, String), f64> = BTreeMap::new();
    let mut rank = u32::MAX;
    for line in text.lines().filter(|line| line.contains(" of=rank ")) {
        for (key, value) in line.split(' ').filter_map(|word| word.split_once('=')) {
            let fields: Vec<&str> = value.split(':').collect();
            match key {
                "rank" => rank = number(value),
                "f" => {
                    times.insert((rank, fields[0].to_owned()), number(fields[2]));
                }
                "l" => {
                    let seconds: Vec<f64> =
                        fields[1..].chunks(2).map(|pair| number(pair[1])).collect();
                    let known = Known {
                        waits: [seconds[0], seconds[1], seconds[2]],
                        calls: 0,
                        unknown: seconds[3] + seconds[4],
                        below: seconds[5],
                        held: 0.0,
                    };
                    all.insert((rank, fields[0].to_owned()), known);
                }
                _ => {}
            }
        }
    }
    for (key, known) in &all {
        let parts = known.waits.iter().sum::<f64>() + known.unknown;
        assert!(parts <= times[key] + 1e-9, "{key:?}: {known:?} of {} s", times[key]);
    }
    all
}

/// A launch whose ranks are in turns on several hosts, with clocks of their own.
pub struct PretendedHosts([String; 4]);

impl PretendedHosts {
    /// So many hosts.
    pub fn new(count: u32, places: &Places) -> PretendedHosts {
        let script = crate::build::source("waits/host.sh");
        let [script, spool] = [&script, &places.spool].map(|path| path.display().to_string());
        PretendedHosts(["sh".to_owned(), script, count.to_string(), spool])
    }

    /// The words in front of a program.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// How far a profile may be from the truth: a thousandth, what was too short to look at, and 2 us of
/// each call, because the program reads its clock a little earlier.
fn allowed(truth: &Known, found: &Known, place: usize) -> f64 {
    truth.waits[place] / 1_000.0 + found.below + 2e-6 * f64::from(truth.calls)
}

/// The profile of a case that is run until each of its figures was the truth once, at most some
/// times: a rank that loses its processor between its own look at the clock and that of the library
/// has noted another truth.
/// No figure may ever be far from it, but for what the profile says that it does not know, as of
/// hosts whose clocks could not be compared well enough because a rank had no processor.
pub fn holds(mpi: Mpi, program: &str, case: &str, ranks: u32, rounds: u32) -> String {
    holds_on(mpi, None, &[], program, case, ranks, rounds)
}

/// The same, with ranks in turns on so many hosts, and with these variables.
pub fn holds_on(
    mpi: Mpi,
    hosts: Option<u32>,
    variables: &[&str],
    program: &str,
    case: &str,
    ranks: u32,
    rounds: u32,
) -> String {
    const TIMES: usize = 8;
    let mut apart: BTreeMap<((u32, String), usize), String> = BTreeMap::new();
    for time in 0..TIMES {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let notes = scratch.path().join("notes");
        let rounds = rounds.to_string();
        let mut words = [&["TOPAS_MPI_WAITS=yes"], variables].concat();
        let front = hosts.map(|hosts| PretendedHosts::new(hosts, &places));
        words.extend(front.iter().flat_map(PretendedHosts::words));
        words.extend([program, case, notes.to_str().expect("path"), &rounds]);
        let ended = profiled(mpi, &scratch, ranks, &words, &places).good();
        let truth = truth(&ended.out());
        assert!(!truth.is_empty(), "{case} under {}: {}", mpi.name(), ended.out());
        let text = fs::read_to_string(&places.out).expect("profile");
        let found = profile(&text);
        for (key, truth) in &truth {
            let found = found.get(key).copied().unwrap_or_default();
            if hosts.is_some() && key.1 == "Scan" {
                // Each rank waits for others: of several hosts that is told as not measured.
                assert!(found.waits[2] == 0.0, "{case} under {}: {found:?}", mpi.name());
                continue;
            }
            for place in 0..3 {
                let more = found.waits[place] - truth.waits[place];
                let held = if place == 2 { truth.held } else { 0.0 };
                let difference = (-more).max(more - held);
                let said = || format!("{found:?} of {truth:?}");
                let far = truth.waits[place] / 10.0 + 0.1;
                let unknown =
                    if truth.waits[place] > found.waits[place] { found.unknown } else { 0.0 };
                assert!(
                    difference < far + unknown,
                    "{case} under {}: {key:?}: {}",
                    mpi.name(),
                    said()
                );
                // Clocks of hosts that share processors are compared no better than that.
                let clocks = hosts.map_or(0.0, |_| 3e-5 * f64::from(truth.calls));
                if difference <= allowed(truth, &found, place) + clocks {
                    apart.remove(&(key.clone(), place));
                } else if time == 0 {
                    apart.insert((key.clone(), place), said());
                }
            }
        }
        if apart.is_empty() {
            return text;
        }
    }
    panic!("{case} under {}: {apart:#?}", mpi.name());
}

/// `topasview --mpi` of a file or of a directory of mapped files.
pub fn view(scratch: &Scratch, input: &Path, args: &[&str]) -> String {
    let mut view = scratch.command(Site::shared().tool("topasview"));
    view.env("COLUMNS", "120").arg("--mpi").args(args).arg(input);
    run(&mut view).good().out()
}
