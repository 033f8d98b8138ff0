//! The test executables of the workspace: built by one call of Cargo, run several at a time.
//!
//! `cargo test` runs one after the other. Most of them wait for launchers and compilers for a good
//! part of their time, so two at a time need less of it. Each one's output is kept in a file and
//! shown when it has ended, so that the lines of one stand together.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::outcome::{TestCount, ignored_tests, processor_time};
use crate::process::{cargo, root, target_dir};

/// Executables that run at the same time. Each runs as many of its tests at once as there are
/// processors; more of both does not help where ranks wait for each other actively.
const AT_ONCE: usize = 2;

/// What runs first: its test installs what the others of its package test. Beside it run the tests of
/// the crates, which need no installation.
const FIRST: &str = "tests/src/lib.rs";

/// Where the crates are.
const CRATES: &str = "crates/";

/// What runs by itself, at the end, because it compares times, or because it fills the machine.
const ALONE: [&str; 6] = [
    "crates/topas-data/tests/limits.rs",
    "crates/topas-testkit/tests/pmu.rs",
    "tests/tests/all_pe_many.rs",
    "tests/tests/mpi_killed.rs",
    "tests/tests/mpi_view.rs",
    "tests/tests/view.rs",
];

/// What takes longest of the crates and of the end-to-end tests, in this order. Begun early, none of
/// them is left to run alone at the end.
const LONG: [&str; 16] = [
    "crates/topas-chart/tests/pictures.rs",
    "crates/topas-data/tests/joining.rs",
    "crates/topas-log/tests/interrupted.rs",
    "tests/tests/mpi_others/main.rs",
    "tests/tests/mpi_calls/main.rs",
    "tests/tests/driver/main.rs",
    "tests/tests/endings_launched.rs",
    "tests/tests/links.rs",
    "tests/tests/mpi_faults/main.rs",
    "tests/tests/run/main.rs",
    "tests/tests/mpi_output.rs",
    "tests/tests/mpi_ends.rs",
    "tests/tests/endings.rs",
    "tests/tests/build_systems.rs",
    "tests/tests/programs.rs",
    "tests/tests/mpi_collect.rs",
];

/// An executable with tests.
pub struct TestExecutable {
    /// The file it was made of, below the workspace's root.
    source: String,
    executable: PathBuf,
    /// Where Cargo would run it: the directory of its package.
    package: PathBuf,
}

/// What became of an executable.
pub struct TestExecutableRun {
    /// The file it was made of, below the workspace's root.
    pub source: String,
    /// The tests in it.
    pub count: TestCount,
    /// How long it ran.
    pub took: Duration,
    /// Time of processors that it and its children used, if that is known.
    pub processor: Option<Duration>,
    /// Whether a test failed, or the executable ended otherwise than it should.
    pub failed: bool,
}

/// Builds all tests of the workspace by `cargo`, as it is called so far. Errors of the compiler are
/// shown.
pub fn build(cargo: &mut Command) -> Result<Vec<TestExecutable>> {
    cargo.args(["test", "--workspace", "--no-run", "--quiet"]);
    cargo.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut child = cargo.spawn().context("cannot run cargo test --no-run")?;
    let messages = BufReader::new(child.stdout.take().context("no messages of cargo")?);
    let mut executables = Vec::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(&line?).context("a message of cargo")?;
        executables.extend(executable(&message));
    }
    if !child.wait()?.success() {
        bail!("cargo test --no-run failed");
    }
    // As Cargo's messages come in no order that stays.
    executables.sort_by(|a, b| a.source.cmp(&b.source));
    Ok(executables)
}

/// The test executable that a message of Cargo tells of.
fn executable(message: &Value) -> Option<TestExecutable> {
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let source = Path::new(message["target"]["src_path"].as_str()?);
    let source = source.strip_prefix(root()).unwrap_or(source).display().to_string();
    let executable = message["executable"].as_str()?.into();
    let package = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    Some(TestExecutable { source, executable, package })
}

/// Which tests of an executable run.
#[derive(Clone, Copy)]
pub struct TestSelection<'a> {
    /// Options of `cargo xtask test`: those of the ignored tests that they ask for run.
    pub sets: &'a [&'a str],
    /// Whether no other tests do.
    pub only: bool,
}

/// Runs the tests that are selected. What `prepare` adds to their commands are variables. `beside` is
/// called meanwhile, and has ended before those tests begin that run by themselves.
pub fn run(
    executables: Vec<TestExecutable>,
    selection: TestSelection,
    prepare: &(dyn Fn(&mut Command) + Sync),
    beside: impl FnOnce() + Send,
) -> Vec<TestExecutableRun> {
    let number = executables.len();
    let place = |of: &TestExecutable, list: &[&str]| list.iter().position(|one| *one == of.source);
    let (alone, mut rest): (Vec<_>, Vec<_>) =
        executables.into_iter().partition(|e| place(e, &ALONE).is_some());
    rest.sort_by_key(|e| (e.source != FIRST, place(e, &LONG).unwrap_or(LONG.len())));
    let (before, after): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|e| e.source == FIRST || e.source.starts_with(CRATES));
    let runs = Mutex::new(Vec::new());
    let run_all = |at_once, part: Vec<TestExecutable>| {
        let waiting = Mutex::new(VecDeque::from(part));
        thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| {
                    let next = || waiting.lock().ok().and_then(|mut list| list.pop_front());
                    while let Some(executable) = next() {
                        let run = executable.run(selection, prepare);
                        let Ok(mut runs) = runs.lock() else { break };
                        runs.push(run);
                        println!("   {} of {number} test executables", runs.len());
                    }
                });
            }
        });
    };
    thread::scope(|scope| {
        scope.spawn(beside);
        run_all(AT_ONCE, before);
        run_all(AT_ONCE, after);
    });
    run_all(1, alone);
    runs.into_inner().unwrap_or_default()
}

impl TestExecutable {
    fn run(
        self,
        selection: TestSelection,
        prepare: &(dyn Fn(&mut Command) + Sync),
    ) -> TestExecutableRun {
        println!("-> {}", self.source);
        let begun = Instant::now();
        let mut run = TestExecutableRun {
            source: self.source.clone(),
            count: TestCount::default(),
            took: Duration::ZERO,
            processor: None,
            failed: false,
        };
        match self.run_tests(selection, prepare, &mut run) {
            Ok(output) => {
                run.took = begun.elapsed();
                let verdict = if run.failed { "FAILED" } else { "ok" };
                let took = seconds(run.took);
                print!("<- {}: {verdict}, {took}\n{output}", self.source);
            }
            Err(error) => {
                eprintln!("xtask: error: {}: {error:#}", self.source);
                run.failed = true;
            }
        }
        run
    }

    /// Runs the tests, and then those that are asked for; their output.
    fn run_tests(
        &self,
        selection: TestSelection,
        prepare: &(dyn Fn(&mut Command) + Sync),
        run: &mut TestExecutableRun,
    ) -> Result<String> {
        let mut words = Vec::new();
        let ignored;
        if selection.only {
            // Called by their names, ignored tests tell why they are ignored, and do not run.
            let (listed, _) = self.call(&["--list", "--ignored"], prepare, run)?;
            ignored = listed;
            words.extend(ignored.lines().filter_map(|line| line.strip_suffix(": test")));
            if words.is_empty() {
                return Ok(String::new());
            }
            words.push("--exact");
        }
        let (mut output, succeeded) = self.call(&words, prepare, run)?;
        run.failed = !succeeded;
        run.count = TestCount::in_output(&output);
        let asked_for: Vec<String> =
            ignored_tests(&output, selection.sets).into_iter().map(str::to_owned).collect();
        if !asked_for.is_empty() {
            let mut words = vec!["--ignored", "--exact"];
            words.extend(asked_for.iter().map(String::as_str));
            let (more, succeeded) = self.call(&words, prepare, run)?;
            run.failed |= !succeeded;
            run.count.left_out -= asked_for.len();
            run.count.add(&TestCount::in_output(&more));
            output += &more;
        }
        Ok(output)
    }

    /// Calls the executable with these words: its output, and whether it succeeded.
    fn call(
        &self,
        words: &[&str],
        prepare: &(dyn Fn(&mut Command) + Sync),
        run: &mut TestExecutableRun,
    ) -> Result<(String, bool)> {
        let dir = std::path::absolute(target_dir().join("test-output"))?;
        fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        // A file, because a process that outlives its test would keep a pipe open.
        let kept = dir.join(self.source.trim_start_matches('/').replace('/', "-"));
        let times = kept.with_extension("times");
        let _ = fs::remove_file(&kept);
        let file = File::options().create(true).append(true).open(&kept);
        let file = file.with_context(|| kept.display().to_string())?;
        let mut shell = Command::new("sh");
        shell.args(["-c", "\"$@\"; status=$?; times > \"$0\"; exit $status"]).arg(&times);
        // Tests send these signals, and expect what they find at a terminal: not what `nohup` and
        // a shell's background leave behind.
        shell.args(["env", "--default-signal=HUP,INT,QUIT"]).arg(&self.executable).args(words);
        shell.current_dir(&self.package).env("CARGO", cargo().get_program());
        shell.env("CARGO_MANIFEST_DIR", &self.package);
        prepare(&mut shell);
        shell.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let status = shell.status().context("cannot run sh")?;
        let used = fs::read_to_string(&times).ok().and_then(|text| processor_time(&text));
        run.processor = used.map(|used| used + run.processor.unwrap_or_default());
        let mut output = String::from_utf8_lossy(&fs::read(&kept)?).into_owned();
        if status.code().is_none_or(|code| ![0, 101].contains(&code)) {
            output += &format!("{} ended with {status}\n", self.source);
        }
        Ok((output, status.success()))
    }
}

/// Seconds, for people.
pub fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Behaves as an executable of libtest with two tests, one of them ignored.
    const SCRIPT: &str = "#!/bin/sh
        case $* in
        '--list --ignored') echo 'under_slurm: test' ;;
        'under_slurm --exact') echo 'test under_slurm ... ignored, cargo xtask test --slurm'
            echo 'test result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 1 filtered out' ;;
        '') echo 'test quick ... ok'
            echo 'test under_slurm ... ignored, cargo xtask test --slurm'
            echo 'test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out' ;;
        '--ignored --exact under_slurm') echo \"test under_slurm ... FAILED, ${WORD-no word}\"
            echo 'test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 1 filtered out'
            exit 101 ;;
        esac\n";

    #[test]
    fn ignored_tests_run_if_they_are_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("executable");
        fs::write(&script, SCRIPT).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        for (option, only, count) in [
            ("arm64", false, TestCount { passed: 1, left_out: 1, ..TestCount::default() }),
            ("slurm", false, TestCount { passed: 1, failed: 1, ..TestCount::default() }),
            ("arm64", true, TestCount { left_out: 1, ..TestCount::default() }),
            ("slurm", true, TestCount { failed: 1, ..TestCount::default() }),
        ] {
            let executable = TestExecutable {
                source: format!("{}/{option}.rs", dir.path().display()),
                executable: script.clone(),
                package: dir.path().to_owned(),
            };
            let selection = TestSelection { sets: &[option], only };
            let mut beside = false;
            let prepare = |tests: &mut Command| {
                tests.env("WORD", "x");
            };
            let runs = run(vec![executable], selection, &prepare, || beside = true);
            assert_eq!((runs.len(), &runs[0].count), (1, &count), "{option} {only}");
            assert!(beside);
            assert_eq!((runs[0].failed, runs[0].processor.is_some()), (count.failed > 0, true));
        }
    }

    #[test]
    fn messages_of_cargo_name_test_executables() {
        let message = |test: bool| {
            serde_json::json!({
                "reason": "compiler-artifact",
                "manifest_path": root().join("crates/topas-log/Cargo.toml"),
                "target": { "src_path": root().join("crates/topas-log/tests/closing.rs") },
                "profile": { "test": test },
                "executable": "/target/debug/deps/closing-0123",
            })
        };
        assert!(executable(&message(false)).is_none(), "a tool");
        let one = executable(&message(true)).unwrap();
        assert_eq!(one.source, "crates/topas-log/tests/closing.rs");
        assert_eq!(one.package, root().join("crates/topas-log"));
    }

    #[test]
    fn lists_name_files_that_are_there() {
        for source in ALONE.iter().chain(&LONG).chain([&FIRST]) {
            assert!(root().join(source).is_file(), "{source}");
        }
    }
}
