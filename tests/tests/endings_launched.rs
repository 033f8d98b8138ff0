//! Ways to end under the launchers of real MPIs: the line of the rank that ends, of the other
//! measuring rank, and that launcher and program say and return what they do without the
//! module.

use std::path::Path;
use std::sync::Mutex;
use std::thread;

use topas_tests::ending::{Language, Twins, log_target, masked, status};
use topas_tests::mpi::{Mpi, launched};
use topas_tests::running::Run;
use topas_tests::site::Site;
use topas_tests::skip::{note, skip};

/// A way to end.
struct Case {
    /// Languages it is for.
    languages: &'static str,
    /// Name of the way and its number, then `within` MPI or `after` it, and the rank that
    /// ends so. Of ranks 0, 1, 2 the latter two measure.
    words: &'static str,
    /// `end` of the lines of ranks 1 and 2, `-` for none, under Open MPI; `|` between what
    /// both may happen.
    open_mpi: &'static str,
    /// The same under MPICH.
    mpich: &'static str,
}

const fn case(
    languages: &'static str,
    words: &'static str,
    open_mpi: &'static str,
    mpich: &'static str,
) -> Case {
    Case { languages, words, open_mpi, mpich }
}

/// Open MPI ends the other ranks by SIGTERM and, a second later, SIGKILL; hydra by SIGKILL.
const CASES: &[Case] = &[
    // All ranks leave MPI; the last of them ends.
    case("c c++ fortran", "exit 0 after 1", "exit:0 exit:0", "exit:0 exit:0"),
    case("c c++ fortran", "exit 3 after 1", "exit:3 exit:0", "exit:3 exit:0"),
    case("c c++", "abort 1 after 1", "abort exit:0", "abort exit:0"),
    case("c", "segv 1 after 1", "sig:11 exit:0", "sig:11 exit:0"),
    case("c++", "throw 1 after 1", "abort exit:0", "abort exit:0"),
    case("fortran", "stop_number 3 after 1", "exit:3 exit:0", "exit:3 exit:0"),
    case("fortran", "error_stop_number 4 after 1", "exit:4 exit:0", "exit:4 exit:0"),
    case("c", "_exit 3 after 1", "- exit:0", "- exit:0"),
    case("c", "raise 9 after 1", "- exit:0", "- exit:0"),
    // A rank ends within MPI, the others wait.
    case("c c++ fortran", "no_finalize 0 within 1", "exit:0 sig:15", "exit:0 -"),
    case("c c++ fortran", "exit 3 within 1", "exit:3 sig:15", "exit:3 -"),
    case("c c++", "segv 1 within 1", "sig:11 sig:15", "sig:11 -"),
    case("fortran", "segv 1 within 1", "- sig:15", "- -"),
    case("c", "fpe 1 within 1", "sig:8 sig:15", "sig:8 -"),
    case("c", "bus 1 within 1", "sig:7 sig:15", "sig:7 -"),
    case("c c++", "abort 1 within 1", "abort sig:15", "abort -"),
    case("c++", "throw 1 within 1", "abort sig:15", "abort -"),
    case("fortran", "stop 3 within 1", "exit:0 sig:15", "exit:0 -"),
    case("fortran", "error_stop_number 4 within 1", "exit:4 sig:15", "exit:4 -"),
    case("fortran", "open_missing 2 within 1", "exit:2 sig:15", "exit:2 -"),
    case("fortran", "call_abort 2 within 1", "- sig:15", "- -"),
    case("c fortran", "raise 15 within 1", "sig:15 sig:15", "sig:15 -"),
    case("c", "raise 2 within 1", "- sig:15", "- -"),
    // UCX, below MPICH, has a use for SIGHUP.
    case("c", "raise 1 within 1", "sig:1 sig:15", "exit:0 -"),
    case("c", "raise 9 within 1", "- sig:15", "- -"),
    case("c", "_exit 3 within 1", "- sig:15", "- -"),
    case("c", "quick_exit 3 within 1", "exit:3 sig:15", "exit:3 -"),
    case("c", "cpu_limit 1 within 1", "sig:24 sig:15", "sig:24 -"),
    case("c", "exec_other 3 within 1", "- sig:15", "- -"),
    // A rank that does not measure ends, and takes the others with it.
    case("c", "segv 1 within 0", "sig:15 sig:15", "- -"),
    case("c", "exit 3 within 0", "sig:15 sig:15", "- -"),
    case("c", "raise 9 within 0", "sig:15 sig:15", "- -"),
    // MPI_Abort, in a measuring rank and in another: it ends its own rank by _exit.
    case("c c++ fortran", "mpi_abort 3 within 1", "- sig:15|-", "- -"),
    case("c", "mpi_abort 3 within 0", "sig:15|- sig:15|-", "- -"),
    case("c fortran", "mpi_error 3 within 1", "- sig:15|-", "- -"),
    // The launcher gets a signal.
    case("c", "launcher 15 within 0", "sig:15|- sig:15|-", "sig:15|- sig:15|-"),
    case("c", "launcher 2 within 0", "sig:15|- sig:15|-", "- -"),
];

/// How often both are launched until they agree once. Launchers are not of one mind: without
/// the module, hydra reports an abort of a rank as SIGTERM once in three times, and Open MPI
/// now and then loses a message.
const TRIES: usize = 8;

/// Launches that wait for each other's second of grace need no processor.
const AT_ONCE: usize = 4;

fn run_all(mpi: Mpi) {
    if mpi.real("mpiexec").is_none() {
        return skip("endings under launchers", &format!("no mpiexec.{}", mpi.name()));
    }
    for language in [Language::C, Language::Cxx, Language::Fortran] {
        let twins = Twins::with_mpi(language, mpi);
        let cases =
            CASES.iter().filter(|case| case.languages.split(' ').any(|l| l == language.name()));
        let (left, wrong) = (Mutex::new(cases), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    loop {
                        let Some(case) = left.lock().unwrap().next() else { break };
                        let found = fault(&twins, language, mpi, case);
                        wrong.lock().unwrap().extend(found);
                    }
                });
            }
        });
        let wrong = wrong.into_inner().unwrap();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }
}

/// What is not as the case says, or not as without the module.
fn fault(twins: &Twins, language: Language, mpi: Mpi, case: &Case) -> Option<String> {
    let name = format!("{} {} {}", mpi.name(), language.name(), case.words);
    let expected = if mpi == Mpi::OpenMpi { case.open_mpi } else { case.mpich };
    let (first, second) = expected.split_once(' ').expect("both measuring ranks");
    // The one thing that is lost: see report_signals() in the module.
    let unreported = mpi == Mpi::OpenMpi && case.words.contains(" after ");
    let (mut without, mut with) = (Vec::new(), Vec::new());
    let mut too_late = 0;
    'tries: for _ in 0..TRIES {
        let pair = twins.pair(|dir, log| launch(twins, mpi, case.words, dir, log));
        for (rank, allowed) in [(1, first), (2, second)] {
            let end = match pair.ends_of(rank)[..] {
                [] => "-",
                [end] => end,
                _ => "two lines",
            };
            // On a busy machine SIGKILL may come before the rank got to what SIGTERM asked for.
            if end == "-" && allowed == "sig:15" && too_late < 2 {
                too_late += 1;
                note(&name, &format!("rank {rank} was killed before it had written its line"));
                continue 'tries;
            }
            if !allowed.split('|').any(|allowed| allowed == end) {
                return Some(format!("{name}: rank {rank}: {end}, not {allowed}"));
            }
        }
        without.push(seen(&pair.bare, unreported));
        with.push(seen(&pair.linked, unreported));
        if with.iter().any(|outcome| without.contains(outcome)) {
            return None;
        }
    }
    Some(format!("{name}: with the module {with:#?}\nwithout {without:#?}"))
}

/// `mpiexec -n 3 ./program WORDS`, by the drop-in launcher, whose pid the ranks are told.
fn launch(twins: &Twins, mpi: Mpi, words: &str, dir: &Path, log: &Path) -> Run {
    let mut launch = mpi.driver(Site::shared(), &twins.scratch, "sh");
    let script = "LAUNCHER=$$ exec mpiexec -n 3 ./program \"$@\"";
    launch.args(["-c", script, "sh"]).args(words.split(' ')).current_dir(dir);
    launch.env("TOPAS_PE", "1,2").env("TOPAS_LOG", log_target(log));
    launched(&twins.scratch, &mut launch)
}

/// Launcher's status, and the output of program, libraries and launcher in any order;
/// without Open MPI's report of a fault if that is gone.
fn seen(run: &Run, unreported: bool) -> (String, Vec<String>, Vec<String>) {
    let sorted = |text: String| {
        let mut lines = masked(&text);
        lines.retain(|line| !(unreported && line.starts_with('[') && line.contains(":#] ")));
        lines.sort();
        lines
    };
    (status(run), sorted(run.out()), sorted(run.err()))
}

#[test]
fn under_open_mpi() {
    run_all(Mpi::OpenMpi);
}

#[test]
fn under_mpich() {
    run_all(Mpi::Mpich);
}
