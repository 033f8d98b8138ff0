//! The same program with and without the module: what it, its user and the kernel notice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_testkit::pmu::{self, PmuAnswer, PmuPlan};
use topas_tests::alone::{quiet, rank};
use topas_tests::build::{by_driver, plain};
use topas_tests::ending::is_caught;
use topas_tests::mpi_installation::{Mpi, emulate_rank, launched};
use topas_tests::running::{have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// A C program without the module and with it, under the same name in two directories.
struct TransparentPair {
    scratch: Scratch,
    bare: PathBuf,
    linked: PathBuf,
}

impl TransparentPair {
    fn of(source: &str) -> TransparentPair {
        let scratch = Scratch::new();
        let (bare, linked) = (scratch.sub("bare"), scratch.sub("linked"));
        plain(Site::shared(), source, true, &bare.join("program"));
        plain(Site::shared(), source, false, &linked.join("program"));
        TransparentPair { scratch, bare, linked }
    }

    /// Rank `rank` of 8, of which 1 and 2 measure, started as `./program` in `dir`.
    fn rank(&self, dir: &Path, rank: u32) -> Command {
        let mut command = self.scratch.command("./program");
        command.current_dir(dir).env("TOPAS_PE", "1,2");
        emulate_rank(&mut command, rank, 8, KEY);
        command
    }
}

/// The lines of a probe but for the one documented marker; the marker's line apart.
fn seen(output: &[u8]) -> (Vec<String>, Vec<String>) {
    let text = String::from_utf8_lossy(output);
    text.lines().map(str::to_owned).partition(|line| !line.starts_with(MARKER))
}

/// What a probe on a measuring rank sees where it sees these lines without the module: a
/// handler where the default was to end, and a stack for it.
fn with_handlers(lines: Vec<String>) -> Vec<String> {
    let changed = |line: String| {
        let signal = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        if line.starts_with("signal stack ") {
            "signal stack flags 0".to_owned()
        } else if signal.is_some_and(is_caught) {
            // SA_RESTORER, SA_ONSTACK, SA_SIGINFO: no call is restarted, none is interrupted.
            line.replace(" default flags 0 ", " handler flags 0xc000004 ")
        } else {
            line
        }
    };
    lines.into_iter().map(changed).collect()
}

const MARKER: &str = "environment TOPAS_RANK=";

#[test]
fn the_program_sees_the_same_process() {
    let pair = TransparentPair::of("c/probe.c");
    for rank in 0..8 {
        let bare = run(&mut pair.rank(&pair.bare, rank)).ends(42);
        let linked = run(&mut pair.rank(&pair.linked, rank)).ends(42);
        let measures = rank == 1 || rank == 2;
        let ((mut expected, none), (got, marker)) = (seen(&bare.stdout), seen(&linked.stdout));
        if measures {
            assert!(expected.iter().any(|line| line.starts_with("signal 15 default flags 0 ")));
            expected = with_handlers(expected);
        }
        assert_eq!(got, expected, "rank {rank}");
        assert_eq!((none.len(), marker.len()), (0, usize::from(measures)), "rank {rank}");
        assert_eq!((linked.err().as_str(), bare.err().as_str()), ("", ""));
        assert_eq!(pair.scratch.take_log().len(), usize::from(measures), "rank {rank}");
    }
}

/// With counters that open: their descriptors are out of the way.
#[test]
fn counters_take_no_low_descriptor() {
    let pair = TransparentPair::of("c/probe.c");
    let plan = PmuPlan::new().others(PmuAnswer::count(5));
    for rank in [1, 2, 3] {
        let bare = pmu::run(&plan, pair.rank(&pair.bare, rank)).expect("the stand-in");
        let linked = pmu::run(&plan, pair.rank(&pair.linked, rank)).expect("the stand-in");
        let opened = linked.calls.iter().filter(|call| call.is_open()).count();
        assert_eq!(opened > 0, rank != 3, "rank {rank} opened {opened} events");
        assert_eq!(linked.exit_code(), 42);
        let mut expected = seen(&bare.stdout).0;
        if rank != 3 {
            expected = with_handlers(expected);
        }
        assert_eq!(seen(&linked.stdout).0, expected, "rank {rank}");
    }
}

/// A program and its children see the marker of a measuring rank and nothing else, and a
/// privileged or switched-off program not even that.
#[test]
fn off_means_off() {
    let pair = TransparentPair::of("c/probe.c");
    for value in ["off", "no", "0"] {
        let bare = run(pair.rank(&pair.bare, 1).env("TOPAS", value)).ends(42);
        let linked = run(pair.rank(&pair.linked, 1).env("TOPAS", value)).ends(42);
        assert_eq!(linked.out(), bare.out(), "TOPAS={value}");
        assert_eq!(pair.scratch.take_log().len(), 0, "TOPAS={value}");
    }
}

/// By the drop-in name of a launcher a rank gets the environment that the real one gives
/// it, but for the documented variable.
#[test]
fn the_drop_in_launcher_changes_no_environment() {
    let scratch = Scratch::new();
    let site = Site::shared();
    for mpi in Mpi::installed("the_drop_in_launcher_changes_no_environment") {
        let environment = |launch: &mut Command| {
            let run = launched(&scratch, launch.arg("env").env("TOPAS_LOG", "")).good();
            let entry = |line: &str| {
                let (name, value) = line.split_once('=').unwrap_or((line, ""));
                let fresh = NEW_IN_EACH_LAUNCH.iter().any(|start| name.starts_with(start));
                (name.to_owned(), if fresh { String::new() } else { value.to_owned() })
            };
            run.out().lines().map(entry).collect::<BTreeMap<_, _>>()
        };
        for switch in ["on", "off"] {
            let mut expected = environment(mpi.launch_bare(&scratch, 1).env("TOPAS", switch));
            let mut got = environment(mpi.launch(site, &scratch, 1).env("TOPAS", switch));
            let path = format!("{}:{}", site.wrappers().display(), expected["PATH"]);
            expected.insert("PATH".to_owned(), path);
            let id = got.remove("TOPAS_LAUNCH_ID").is_some();
            assert_eq!(id, mpi == Mpi::Mpich && switch == "on", "{} {switch}", mpi.name());
            // What is the same need not be shown.
            expected.retain(|name, value| match got.remove(name) {
                Some(other) if other == *value => false,
                Some(other) => got.insert(name.clone(), other).is_none(),
                None => true,
            });
            let case = format!("{} TOPAS={switch}", mpi.name());
            assert!(got == expected, "{case}: a rank gets {got:#?}\nin place of {expected:#?}");
        }
    }
}

/// Beginnings of the names of variables whose values are new in each launch.
const NEW_IN_EACH_LAUNCH: [&str; 6] =
    ["PMI", "OMPI_MCA_orte_", "OMPI_MCA_ess_", "OMPI_FILE_LOCATION", "HYDI_", "_"];

/// Signals, descriptors, limits and the mask of a rank are those the real launcher gives it.
#[test]
fn the_drop_in_launcher_changes_no_disposition() {
    let scratch = Scratch::new();
    let site = Site::shared();
    let probe = scratch.path().join("probe");
    plain(site, "c/probe.c", true, &probe);
    for mpi in Mpi::installed("the_drop_in_launcher_changes_no_disposition") {
        let seen = |launch: &mut Command| {
            let run = launched(&scratch, launch.arg(&probe)).ends(42);
            let kept = |line: &&str| !line.starts_with("environment ");
            run.out().lines().filter(kept).map(str::to_owned).collect::<Vec<_>>()
        };
        let expected = seen(&mut mpi.launch_bare(&scratch, 1));
        assert!(expected.iter().any(|line| line.starts_with("signal 13 ")), "{expected:?}");
        assert_eq!(seen(&mut mpi.launch(site, &scratch, 1)), expected, "{}", mpi.name());
    }
}

/// Programs of real MPIs: the same output and exit code with `TOPAS=off` at link time.
#[test]
fn output_and_exit_code_of_mpi_programs() {
    let site = Site::shared();
    for mpi in Mpi::installed("output_and_exit_code_of_mpi_programs") {
        for (tool, source, args, code) in [
            ("mpicc", "c/cg.c", &["60"][..], 0),
            ("mpicc", "c/cg.c", &["0"], 2),
            ("mpif90", "f90/heat.f90", &["64", "8"], 0),
            ("mpicxx", "cxx/hello.cc", &[], 0),
        ] {
            let scratch = Scratch::new();
            let (bare, linked) = (scratch.path().join("bare"), scratch.path().join("linked"));
            let mut off = by_driver(site, &scratch, mpi, tool, source, &bare);
            run(off.env("TOPAS", "off")).good();
            run(&mut by_driver(site, &scratch, mpi, tool, source, &linked)).good();
            assert_ne!(fs::read(&bare).unwrap(), fs::read(&linked).unwrap(), "{source}");
            let output = |program: &Path| {
                let mut launch = mpi.launch(site, &scratch, 4);
                let run = launched(&scratch, launch.arg(program).args(args)).ends(code);
                // Ranks come in any order, and times differ.
                let mut lines: Vec<_> = run.out().lines().map(str::to_owned).collect();
                lines.retain(|line| !line.contains(": time"));
                lines.sort();
                lines
            };
            let case = format!("{} {source} {args:?}", mpi.name());
            let expected = output(&bare);
            assert_eq!(scratch.take_log().len(), 0, "{case}: without the module");
            assert_eq!(output(&linked), expected, "{case}");
            if code == 0 {
                assert_eq!(scratch.take_log().len(), 2, "{case}");
            }
        }
    }
}

/// Names of the system calls of a command, in order, by strace.
fn system_calls(command: &Command, scratch: &Scratch) -> Vec<String> {
    let report = scratch.path().join("calls");
    let mut strace = scratch.command("strace");
    strace.arg("-f").arg("-o").arg(&report).arg("--").arg(command.get_program());
    strace.args(command.get_args());
    strace.current_dir(command.get_current_dir().expect("directory of the program"));
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            strace.env(name, value);
        }
    }
    run(&mut strace).good();
    names_in(&report)
}

fn names_in(report: &Path) -> Vec<String> {
    let text = fs::read_to_string(report).expect("report of strace");
    let name = |line: &str| {
        let call = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        call.split_once('(').map(|(name, _)| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// Whether strace works here.
fn can_trace(test: &str) -> bool {
    let works = have("strace")
        && run(topas_tests::running::command("strace").args(["-o", "/dev/null", "true"])).code()
            == 0;
    if !works {
        skip(test, "strace does not work here");
    }
    works
}

#[test]
fn a_rank_that_does_not_measure_makes_no_system_call() {
    if !can_trace("a_rank_that_does_not_measure_makes_no_system_call") {
        return;
    }
    let pair = TransparentPair::of("c/empty.c");
    let slurm = |command: &mut Command| {
        for (name, value) in [
            ("SLURM_PROCID", "3"),
            ("SLURM_STEP_NUM_TASKS", "8"),
            ("SLURM_STEP_ID", "0"),
            ("SLURM_JOB_ID", "12"),
            ("SLURM_CLUSTER_NAME", "c"),
        ] {
            command.env(name, value);
        }
    };
    let calls = |dir: &Path, slurm: Option<&dyn Fn(&mut Command)>| {
        let mut command = pair.scratch.command("./program");
        command.current_dir(dir).env("TOPAS_PE", "1,2");
        match slurm {
            Some(set) => set(&mut command),
            None => emulate_rank(&mut command, 3, 8, KEY),
        }
        system_calls(&command, &pair.scratch)
    };
    let open_mpi = calls(&pair.bare, None);
    assert!(open_mpi.len() > 10 && open_mpi.contains(&"execve".to_owned()), "{open_mpi:?}");
    assert_eq!(calls(&pair.linked, None), open_mpi, "Open MPI");
    assert_eq!(calls(&pair.linked, Some(&slurm)), calls(&pair.bare, Some(&slurm)), "srun");
    // A measuring rank does make calls, so the comparison can fail.
    let measuring = system_calls(&pair.rank(&pair.linked, 1), &pair.scratch);
    assert!(measuring.len() > open_mpi.len() && measuring.contains(&"perf_event_open".to_owned()));
    // Neither does a program without a launcher.
    let alone = |dir: &Path| {
        let mut command = pair.scratch.command("./program");
        command.current_dir(dir);
        system_calls(&command, &pair.scratch)
    };
    assert_eq!(alone(&pair.linked), alone(&pair.bare), "no launcher");
}

/// Hydra gives its ranks no id: with one of the drop-in a rank only asks whose its socket is,
/// without it the proxy is found by at most four calls.
#[test]
fn system_calls_under_hydra() {
    let test = "system_calls_under_hydra";
    if !can_trace(test) || Mpi::Mpich.real("mpiexec").is_none() {
        return skip(test, "needs strace and MPICH");
    }
    let pair = TransparentPair::of("c/empty.c");
    let trace = |dir: &Path, id: Option<&str>| {
        let script = "exec strace -o $REPORTS/calls.$PMI_RANK ./program";
        let mut launch = Mpi::Mpich.launch_bare(&pair.scratch, 8);
        launch.args(["sh", "-c", script]).current_dir(dir);
        launch.env("REPORTS", pair.scratch.path()).env("TOPAS_PE", "1,2");
        launch.env("TOPAS_LOG", pair.scratch.log_target());
        if let Some(id) = id {
            launch.env("TOPAS_LAUNCH_ID", id);
        }
        launched(&pair.scratch, &mut launch).good();
        let report = |rank: u32| names_in(&pair.scratch.path().join(format!("calls.{rank}")));
        (0..8).map(report).collect::<Vec<_>>()
    };
    let (bare, unnamed, named) =
        (trace(&pair.bare, None), trace(&pair.linked, None), trace(&pair.linked, Some("5f")));
    assert_eq!(pair.scratch.take_log().len(), 4);
    for rank in [0, 3, 4, 5, 6, 7] {
        let with_one: Vec<_> = named[rank].iter().filter(|call| *call != "getsockopt").collect();
        assert_eq!(with_one, bare[rank].iter().collect::<Vec<_>>(), "rank {rank} with an id");
        assert_eq!(named[rank].len(), bare[rank].len() + 1, "rank {rank} with an id");
        let more = unnamed[rank].len() - bare[rank].len();
        assert!((1..=4).contains(&more), "rank {rank}: {more} more: {:?}", unnamed[rank]);
    }
}

/// A process that was restored from a checkpoint may lack what the kernel had mapped into it, and
/// the loader still names it. It ends as it would without TOPAS, and leaves its line.
#[test]
fn without_the_kernels_own_object() {
    let scratch = Scratch::new();
    let [linked, bare] = [false, true].map(|bare| {
        let program = scratch.path().join(if bare { "bare" } else { "linked" });
        plain(Site::shared(), "c/unmaps_vdso.c", bare, &program);
        program
    });
    let log = format!("file:{}", scratch.log().display());
    quiet(&run(&mut rank(&bare, &log)));
    assert!(scratch.take_log().is_empty());
    let loads = Site::shared().tool("topas-run");
    let mut loaded = rank(&loads, &log);
    loaded.arg(&bare);
    for mut measured in [rank(&linked, &log), loaded] {
        quiet(&run(&mut measured));
        let lines = scratch.take_log();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].extra("end"), "exit:3", "{}", lines[0].text);
    }
}
