//! `--build`: whether programs that are built here get the module, and are measured.
//!
//! A program of a few lines is built and started as a user would do it, by the drivers on
//! PATH, in a directory of its own that is removed. Each step tells what it saw; the first
//! that fails has a hint.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use topas_config::policy::kill_switch;
use topas_config::{Conf, Environment, Paths};
use topas_driver::search::{any_program, is_driver_file};
use topas_driver::shadow::is_system;
use topas_format::conf::Switch;
use topas_format::env::{TOPAS_LOG, TOPAS_PE, TOPAS_VERBOSE};
use topas_format::module_facts::MAGIC;

use crate::exit;
use crate::names::past_the_drivers;

/// Longest time for one step.
const PATIENCE: Duration = Duration::from_secs(60);

/// The drivers that are tried: name, name of the source, source.
const DRIVERS: [(&str, &str, &str); 3] = [
    (
        "mpicc",
        "probe.c",
        "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n",
    ),
    (
        "mpicxx",
        "probe.cpp",
        "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n",
    ),
    (
        "mpif90",
        "probe.f90",
        "program probe\nuse mpi\ninteger ierr\ncall MPI_Init(ierr)\ncall MPI_Finalize(ierr)\nend\n",
    ),
];

/// What was seen, in lines for people, and whether all was well.
#[derive(Debug, Default)]
pub struct Report {
    /// Lines of the report
    pub text: String,
    /// Drivers that were found
    tried: usize,
    /// Programs that were measured
    measured: usize,
    /// Whether something went wrong that a hint mends
    trouble: bool,
}

impl Report {
    /// The exit code: everything that can be built is measured, some of it, or nothing.
    pub fn exit_code(&self) -> u8 {
        match self.measured {
            0 => exit::NOTHING,
            n if n < self.tried || self.trouble => exit::TIMES_ONLY,
            _ => exit::ALL,
        }
    }

    fn fact(&mut self, what: &str, value: &str) {
        let _ = writeln!(self.text, "  {what:<15} {value}");
    }

    fn hint(&mut self, hint: &str) {
        self.trouble = true;
        let _ = writeln!(self.text, "  hint: {hint}");
    }
}

/// Builds and runs a program with each driver on PATH.
pub fn probe(env: &Environment, paths: Option<&Paths>) -> Report {
    let mut report = Report::default();
    if let Some(off) = kill_switch(paths) {
        let _ = writeln!(report.text, "TOPAS is switched off for everybody by {}", off.display());
        report.hint(&format!("rm {}", off.display()));
        return report;
    }
    let dir = match Scratch::new(env) {
        Ok(dir) => dir,
        Err((path, error)) => {
            let _ = writeln!(report.text, "cannot make {}: {error}", path.display());
            report.hint("set TMPDIR to a directory where you can write");
            return report;
        }
    };
    for (name, source, text) in DRIVERS {
        let _ = writeln!(report.text, "{name}");
        match any_program(OsStr::new(name), env) {
            Some(driver) => {
                report.tried += 1;
                one(&mut report, &driver, (name, source, text), &dir.0, env, paths);
            }
            None => report.fact("on PATH", "no"),
        }
    }
    if report.tried == 0 {
        report.hint("load an MPI module, or put the directory of its mpicc on PATH");
    }
    past(&mut report, env, paths);
    report
}

/// Builds that do not ask PATH: what leads them past the drivers here, and what cannot be seen.
fn past(report: &mut Report, env: &Environment, paths: Option<&Paths>) {
    let _ = writeln!(report.text, "builds that do not ask PATH");
    let ways = past_the_drivers(env, paths);
    for way in &ways {
        let program = way.program.display();
        report.fact(way.variable, &format!("leads to {program}, past the drivers"));
    }
    let mut prefixes: Vec<_> = ways.iter().map(|way| &way.prefix).collect();
    prefixes.dedup();
    for prefix in prefixes {
        let prefix = prefix.display();
        report.hint(&format!(
            "topas mpi add {prefix}, and name what that prints in place of {prefix}"
        ));
    }
    report
        .fact("not reached", "a compiler that is called by the path of the MPI itself, and builds");
    report.fact("", "that keep only -l, -L and -I of what mpicc -show answers: add what");
    report.fact("", "`topas --link-flags` prints to their links");
}

/// Builds, looks, runs.
fn one(
    report: &mut Report,
    driver: &Path,
    (name, source, text): (&str, &str, &str),
    dir: &Path,
    env: &Environment,
    paths: Option<&Paths>,
) {
    let ours = is_driver_file(driver);
    let whose = if ours { "a TOPAS driver" } else { "no TOPAS driver" };
    report.fact("on PATH", &format!("{} ({whose})", driver.display()));
    if !ours {
        let prefix = driver.parent().and_then(Path::parent).filter(|prefix| !is_system(prefix));
        match (paths, prefix) {
            (Some(_), Some(prefix)) => report.hint(&format!(
                "topas mpi add {}, and put the bin of what that prints in front of PATH",
                prefix.display()
            )),
            (Some(paths), None) => {
                let wrappers = paths.wrappers();
                report.hint(&format!("put {} in front of PATH", wrappers.display()));
            }
            (None, _) => report.hint("put PREFIX/libexec/topas/wrappers in front of PATH"),
        }
        return;
    }
    let (object, exe) = (dir.join(source), dir.join("probe"));
    if let Err(error) = fs::write(&object, text) {
        report.fact("source", &format!("cannot be written: {error}"));
        report.hint("is the disk full?");
        return;
    }
    let _ = fs::remove_file(&exe);
    let explained = run(driver, &["--topas-explain", source, "-o", "probe"], dir, &[]);
    let explained = explained.map(|out| lossy(&out.stdout)).unwrap_or_default();
    for what in ["real program", "decision", "module", "note"] {
        let head = format!("{what}:");
        let lines = explained.lines().filter_map(|line| line.strip_prefix(&head));
        for value in lines {
            report.fact(what, value.trim());
        }
    }
    match run(driver, &[source, "-o", "probe"], dir, &[]) {
        Some(out) if out.status.success() => {}
        Some(out) => {
            report.fact("build", &format!("failed: {}", out.status));
            indented(report, &lossy(&out.stderr));
            report.hint(&format!("try it without TOPAS: TOPAS=off {name} {source}"));
            return;
        }
        None => {
            report.fact("build", "did not run or did not end");
            report.hint(&format!("try by hand: {} --version", driver.display()));
            return;
        }
    }
    let linked = fs::read(&exe).is_ok_and(|bytes| holds(&bytes, MAGIC));
    report.fact(
        "build",
        if linked { "done, the module is in it" } else { "done, without the module" },
    );
    if !linked {
        report.hint("the decision above tells why");
        return;
    }
    measured(report, dir, env, paths);
}

/// Runs the program on two ranks, both of which are told to measure.
fn measured(report: &mut Report, dir: &Path, env: &Environment, paths: Option<&Paths>) {
    let Some(launcher) = any_program(OsStr::new("mpiexec"), env) else {
        report.fact("run", "no mpiexec on PATH");
        report.hint("load an MPI module, or run this where programs are run");
        return;
    };
    let log = dir.join("log");
    let _ = fs::remove_file(&log);
    let target = format!("file:{}", log.display());
    let variables = [
        (TOPAS_LOG, target.as_str()),
        (TOPAS_PE, "0,1"),
        (TOPAS_VERBOSE, "1"),
        // Open MPI: as root, and on one core.
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ];
    let Some(out) = run(&launcher, &["-n", "2", "./probe"], dir, &variables) else {
        report.fact("run", &format!("{} did not run or did not end", launcher.display()));
        report.hint("run this in a job, where mpiexec works");
        return;
    };
    let lines = fs::read(&log).unwrap_or_default();
    let count = lines.iter().filter(|&&b| b == b'\n').count();
    report.fact("run", &format!("{} -n 2: {}", launcher.display(), out.status));
    if count > 0 {
        report.measured += 1;
        report.fact("measured", &format!("{count} lines, the first:"));
        let first = lossy(&lines);
        indented(report, first.lines().next().unwrap_or_default());
        return;
    }
    let conf = Conf::load(paths, env);
    if out.status.success() && !conf.settings().is(Switch::UserLog) {
        report.measured += 1;
        report.fact("measured", "perhaps: user_log = no sends its lines to the site's log only");
        return;
    }
    report.fact("measured", "no");
    indented(report, &lossy(&out.stderr));
    let hint = if out.status.success() {
        "what the program said above tells why; topas-doctor without --build tells more"
    } else {
        "run this in a job, where mpiexec works"
    };
    report.hint(hint);
}

/// Some lines of what a program said.
fn indented(report: &mut Report, text: &str) {
    for line in text.lines().filter(|line| !line.trim().is_empty()).take(6) {
        let _ = writeln!(report.text, "    {line}");
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Runs a program to its end; `None` if it cannot be run or does not end in time. What it
/// prints goes through files: a pipe could fill up, or be kept open by a process behind it.
fn run(program: &Path, args: &[&str], dir: &Path, variables: &[(&str, &str)]) -> Option<Output> {
    let (out, err) = (dir.join("stdout"), dir.join("stderr"));
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).envs(variables.iter().copied()).stdin(Stdio::null());
    command.stdout(fs::File::create(&out).ok()?).stderr(fs::File::create(&err).ok()?);
    let mut child = command.spawn().ok()?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().ok()? {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        sleep(Duration::from_millis(5));
    };
    Some(Output { status, stdout: fs::read(out).ok()?, stderr: fs::read(err).ok()? })
}

/// A directory that nobody else can look into; removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(env: &Environment) -> Result<Self, (PathBuf, std::io::Error)> {
        let base = env.get("TMPDIR").filter(|dir| !dir.is_empty()).unwrap_or(OsStr::new("/tmp"));
        let path = Path::new(base).join(format!("topas-doctor.{}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Scratch(path)),
            Err(error) => Err((path, error)),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
