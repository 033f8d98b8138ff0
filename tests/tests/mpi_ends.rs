//! How programs end, with the MPI profile and without: launcher and program say and return the
//! same, and what was counted so far is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use topas_tests::build::source;
use topas_tests::expected::Expected;
use topas_tests::mpi_installation::{Mpi, launched_to_any_end};
use topas_tests::profile::{Places, build, library, outcome, spool_files};
use topas_tests::rates::LaunchRates;
use topas_tests::running::{Run, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::note;

const RANKS: u32 = 3;

/// A way to end and the rank that does, -1 for all; what became of its profile, and of those of the
/// others. `running` is what stands there when a process ends without a word; `|` between what may
/// be.
const CASES: &[(&str, &str, &str)] = &[
    ("return -1", "exit|running", ""),
    ("exit 1", "exit", "running"),
    ("exit -1", "exit|running", ""),
    ("_exit 1", "running", "running"),
    ("quick_exit 1", "running", "running"),
    ("abort 1", "running", "running"),
    ("mpi_abort 1", "abort:7", "running"),
    ("mpi_abort -1", "abort:7|running", ""),
    ("thread_abort 1", "abort:7", "running"),
    ("mpi_error 1", "running", "running"),
    ("segv 1", "running", "running"),
    ("segv -1", "running", ""),
    ("term 1", "running", "running"),
    ("term -1", "running", ""),
    ("int 1", "running", "running"),
    ("kill 1", "running", "running"),
    ("kill -1", "running", ""),
    ("exec 1", "running", "running"),
    // At the time limit of a job.
    ("launcher_term 0", "running", "running"),
];

/// Launches that wait for each other's second of grace need no processor.
const AT_ONCE: usize = 3;

/// How a launch ended, and the lines it wrote.
type LaunchOutcome = (String, Vec<String>, Vec<String>);

struct Ends {
    mpi: Mpi,
    scratch: Scratch,
    program: PathBuf,
    expected: Expected,
}

impl Ends {
    fn new(mpi: Mpi) -> Ends {
        let scratch = Scratch::new();
        let program = scratch.path().join("ends");
        let file = "faults/ends.c";
        let options = ["-O1", "-Wall", "-Wextra", "-Werror", "-pthread"];
        build(mpi, "mpicc", &[file], &options, &program);
        let text = fs::read_to_string(source(file)).expect("program");
        let expected = Expected::read(&text).expect("directives");
        Ends { mpi, scratch, program, expected }
    }

    /// `mpiexec -n 3 PROGRAM WORDS`, with its profile or without; ranks are told the launcher's
    /// pid.
    fn launch(&self, words: &str, places: Option<&Places>) -> Run {
        let mut launch = self.mpi.launch_bare(&self.scratch, 1);
        let path = launch.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path);
        let path = path.expect("a path").to_owned();
        launch = self.mpi.driver(Site::shared(), &self.scratch, "sh");
        launch.env("PATH", path);
        self.mpi.considerate(&mut launch);
        let script = format!("LAUNCHER=$$ exec mpiexec -n {RANKS} \"$@\"");
        launch.args(["-c", &script, "sh"]);
        match places {
            Some(places) => launch.args(places.words(&[&library(Site::shared())])),
            None => launch.arg("env"),
        };
        launch.arg(&self.program).args(words.split(' ')).current_dir(self.scratch.path());
        launched_to_any_end(&self.scratch, &mut launch)
    }

    /// What a launch with the library told; an error if what was counted is not as the case says.
    fn profiled(&self, case: &(&str, &str, &str)) -> Result<LaunchOutcome, String> {
        let (words, acting, others) = *case;
        let acting_rank: Option<u32> = words.split_once(' ').expect("a rank").1.parse().ok();
        let spools = tempfile::tempdir_in(self.scratch.path()).expect("directory");
        let spool = spools.path().join("spool");
        fs::create_dir(&spool).expect("directory");
        let places = Places { spool, out: spools.path().join("profile.out") };
        let told = outcome(&self.launch(words, Some(&places)));
        let counted = places.spooled();
        let faults = self.expected.faults(&counted, "");
        if !faults.is_empty() {
            return Err(faults);
        }
        for one in &counted {
            let acts = acting_rank.is_none_or(|rank| rank == one.rank);
            let allowed = if acts { acting } else { others };
            if !allowed.split('|').any(|end| end == one.end) {
                return Err(format!("rank {}: {}, not {allowed}", one.rank, one.end));
            }
        }
        if places.out.exists() {
            return Err("a data file without MPI_Finalize".to_owned());
        }
        Ok(told)
    }

    /// What is not as the case says, or not as without the library.
    fn fault(&self, case: &(&str, &str, &str)) -> Result<(), String> {
        let without = || outcome(&self.launch(case.0, None));
        if without() == self.profiled(case)? {
            return Ok(());
        }
        LaunchRates::compare(|| Ok((without(), self.profiled(case)?)))
    }
}

fn all_ends(mpi: Mpi) {
    let ends = Ends::new(mpi);
    let (left, wrong) = (Mutex::new(CASES.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(case) = left.lock().unwrap().next() else { break };
                    if let Err(what) = ends.fault(case) {
                        let name = format!("{} under {}", case.0, ends.mpi.name());
                        wrong.lock().unwrap().push(format!("{name}: {what}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn under_open_mpi() {
    Mpi::installed("ends").into_iter().filter(|mpi| *mpi == Mpi::OpenMpi).for_each(all_ends);
}

#[test]
fn under_mpich() {
    Mpi::installed("ends").into_iter().filter(|mpi| *mpi == Mpi::Mpich).for_each(all_ends);
}

/// A good end leaves a data file and no mapped file.
#[test]
fn a_good_end_leaves_nothing_behind() {
    for mpi in Mpi::installed("good end") {
        let ends = Ends::new(mpi);
        let places = Places::new(&ends.scratch);
        let without = ends.launch("finalize", None);
        let with = ends.launch("finalize", Some(&places));
        assert_eq!(outcome(&with), outcome(&without));
        assert_eq!(spool_files(&places.spool), Vec::<PathBuf>::new(), "under {}", mpi.name());
        let counted = places.counted();
        assert_eq!(ends.expected.faults(&counted, ""), "", "under {}", mpi.name());
        for one in counted {
            assert_eq!(one.end, "finalize");
            assert_eq!(one.routine("Finalize").calls, 1);
        }
    }
}

/// What ranks keep on a node may be of a launch of another directory.
#[test]
fn a_launch_of_another_directory_is_not_taken_for_one_of_this() {
    for mpi in Mpi::installed("launches of other directories") {
        let ends = Ends::new(mpi);
        let [there, here] = ["there", "here"].map(|name| ends.scratch.sub(name));
        let places = Places { spool: ends.scratch.sub("spool"), out: there.join("topas-mpi.out") };
        ends.launch("mpi_abort 1", Some(&places));
        let view = |dir: &Path, args: &[&str]| {
            let mut view = ends.scratch.command(Site::shared().tool("topasview"));
            run(view.env("TOPAS_MPI_SPOOL", &places.spool).current_dir(dir).args(args))
        };
        let says = "called MPI_Abort with code 7";
        for option in ["--mpi", "--why"] {
            let text = view(&there, &[option]).good().out();
            assert!(text.contains(says), "{option} under {}: {text}", mpi.name());
            let text = view(&here, &[option]).ends(3).err();
            assert!(text.contains("of other directories"), "{option}: {text}");
        }
        let list = view(&here, &["--mpi", "--list", "--csv"]).good().out();
        let begun = there.canonicalize().expect("a directory").display().to_string();
        let ends = |text: &str| text.trim_end().ends_with(&begun);
        assert!(ends(&list), "{begun} under {}: {list}", mpi.name());
        let table = view(&here, &["--mpi", "--list"]).good().out();
        assert!(ends(&table), "{begun} under {}: {table}", mpi.name());
        let id = list.lines().last().and_then(|line| line.split(',').next()).expect("an id");
        let text = view(&here, &["--mpi", "--launch", id]).good().out();
        assert!(text.contains(says), "under {}: {text}", mpi.name());
    }
}

/// What is counted can be seen while the program runs.
#[test]
fn a_running_program_shows_its_counts() {
    for mpi in Mpi::installed("live view") {
        let ends = Ends::new(mpi);
        let places = Places::new(&ends.scratch);
        let mut launch = mpi.launch_bare(&ends.scratch, RANKS);
        launch.args(places.words(&[&library(Site::shared())])).arg(&ends.program).arg("wait");
        launch.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = launch.spawn().expect("launch");
        let begun = Instant::now();
        let faults = loop {
            let faults = ends.expected.faults(&places.spooled_so_far(), "");
            if faults.is_empty() || begun.elapsed() > Duration::from_secs(60) {
                break faults;
            }
            thread::sleep(Duration::from_millis(20));
        };
        let counted = places.spooled();
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("launcher");
        let ended = child.wait().expect("launcher");
        note("live view", &format!("launcher of {}: {ended}", mpi.name()));
        assert_eq!(faults, "", "under {}", mpi.name());
        assert!(counted.iter().all(|one| one.end == "running" && one.ranks == RANKS));
    }
}
