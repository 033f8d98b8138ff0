//! `cargo xtask bench`: the figures we promise, as ratios measured in one run.
//!
//! Everything that is compared runs in turn, round after round, so that a machine that
//! is busy elsewhere slows all of it; figures are medians. The result is printed and
//! written to `bench/results.md` with the machine.

mod calls;
mod ends;
mod events;
mod keep;
mod link;
mod mpi_profile;
mod page;
mod run;
mod scan;
mod size;
mod start;
mod store;
mod trace;
mod view;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use nix::sys::resource::{UsageWho, getrusage};
use topas_config::Paths;

use crate::install::{self, install};
use crate::packages::{self, ensure};
use crate::process::{output, root, run, target_dir};

/// How long to measure.
#[derive(Args)]
pub struct BenchOptions {
    /// A tenth of the rounds, for a first look; does not write bench/results.md
    #[arg(long)]
    quick: bool,
    /// One section; does not write bench/results.md
    #[arg(long, value_name = "SECTION", value_parser = SECTIONS.map(|(name, _)| name))]
    only: Option<String>,
    /// A library of another tool, preloaded in turn in the sections on MPI: openmpi=LIBRARY or
    /// mpich=LIBRARY; may be repeated
    #[arg(long, value_name = "MPI=LIBRARY", value_parser = mpi_profile::beside)]
    beside: Vec<mpi_profile::Beside>,
}

/// A part of the results, with its heading.
type BenchSection = fn(&Bench) -> Result<String>;

/// In the order of the results.
const SECTIONS: [(&str, BenchSection); 16] = [
    ("size", size::size),
    ("calls", calls::calls),
    ("start", start::start),
    ("ends", ends::ends),
    ("run", run::run),
    ("events", events::events),
    ("link", link::link),
    ("scan", scan::scan),
    ("keep", keep::keep),
    ("view", view::view),
    ("page", page::page),
    ("store", store::store),
    ("mpi-instructions", mpi_profile::instructions::instructions),
    ("mpi-calls", mpi_profile::calls::calls),
    ("mpi-waits", mpi_profile::waits::waits),
    ("mpi-start", mpi_profile::start::start),
];

/// What all benchmarks use.
struct Bench {
    /// Scratch directory
    dir: PathBuf,
    /// An installation in it
    paths: Paths,
    quick: bool,
    /// Libraries of other tools
    beside: Vec<mpi_profile::Beside>,
    began: Instant,
}

impl Bench {
    fn rounds(&self, full: usize) -> usize {
        if self.quick { full.div_ceil(10) } else { full }
    }

    /// Says on standard error what is being measured, because a section takes minutes.
    fn progress(&self, what: &str) {
        let seconds = self.began.elapsed().as_secs();
        eprintln!("bench: {seconds:>4} s: {what}");
    }

    /// Numbers of rounds from 0 on, until the time for them is over: two at least.
    fn rounds_within(&self, full: usize, time: Duration) -> impl Iterator<Item = usize> {
        let (began, rounds) = (Instant::now(), self.rounds(full));
        (0..=rounds).take_while(move |round| *round < 2 || began.elapsed() < time)
    }

    /// An empty directory for one benchmark.
    fn sub(&self, name: &str) -> Result<PathBuf> {
        let dir = self.dir.join(name);
        fs::create_dir_all(&dir)?;
        Ok(dir)
    }

    /// Compiles and links sources of `bench/` and other inputs, in this order.
    fn compile(&self, exe: &Path, inputs: &[&str], linked: Linked) -> Result<()> {
        let mut gcc = Command::new("gcc");
        gcc.current_dir(root().join("bench"));
        gcc.args(["-O2", "-pthread", "-Wall", "-Wextra", "-Werror", "-o"]).arg(exe).args(inputs);
        match linked {
            Linked::Bare => &mut gcc,
            Linked::Module => gcc.arg(self.paths.module("c")),
            Linked::AllRanks => gcc.arg(self.paths.all_module("c")),
        };
        run(&mut gcc)
    }
}

/// Whether a program has the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linked {
    /// As without TOPAS
    Bare,
    Module,
    /// The module in which every rank measures
    AllRanks,
}

/// A program in a small environment of its own, so that no launcher around us is seen; its
/// lines go to `log`.
fn alone(program: &Path, log: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command.env("TOPAS_LOG", format!("file:{}", log.display()));
    command
}

/// The rank of [`open_mpi_rank`] that measures.
const MEASURES: u32 = 1;
/// One that does not.
const OTHER: u32 = 2;
const RANKS: u32 = 8;

/// A program in the environment of a rank under Open MPI's launcher.
fn open_mpi_rank(program: &Path, rank: u32, log: &Path) -> Command {
    let mut command = alone(program, log);
    command
        .env("OMPI_COMM_WORLD_RANK", rank.to_string())
        .env("OMPI_COMM_WORLD_SIZE", RANKS.to_string())
        .env("PMIX_NAMESPACE", "3745579009")
        .env("OMPI_MCA_orte_precondition_transports", "0123456789abcdef-0123456789abcdef")
        .env("TOPAS_PE", MEASURES.to_string());
    command
}

/// Lets a program with `bench/as_software.c` in it open events of software in place of a
/// PMU's.
fn as_software(mut command: Command) -> Command {
    command.env("AS_SOFTWARE", "1");
    command
}

/// Number of lines in a log, 0 if there is none.
fn lines(log: &Path) -> Result<usize> {
    match fs::read_to_string(log) {
        Ok(text) => Ok(text.lines().count()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", log.display())),
    }
}

/// Runs all benchmarks.
pub fn bench(options: &BenchOptions) -> Result<()> {
    ensure(&[packages::DEMO, packages::TEST].concat())?;
    let dir = target_dir().join("bench");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(&dir)?;
    let dir = dir.canonicalize()?;
    let prefix = dir.join("prefix");
    install(&install::InstallOptions::into(prefix.clone()))?;
    let beside = options.beside.clone();
    let bench = Bench {
        dir,
        paths: Paths::at(prefix),
        quick: options.quick,
        beside,
        began: Instant::now(),
    };

    let mut text = String::from("# Results of `cargo xtask bench`\n\n");
    text.push_str(&machine()?);
    let mut failed = Vec::new();
    for (name, section) in SECTIONS {
        if options.only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        bench.progress(name);
        // The others have taken their time, and stay.
        let section = section(&bench).unwrap_or_else(|error| {
            failed.push(name);
            format!("## {name}\n\nfailed: {error:#}\n")
        });
        print!("\n{section}");
        text.push('\n');
        text.push_str(&section);
    }
    if !options.quick && options.only.is_none() {
        let results = root().join("bench/results.md");
        fs::write(&results, text).with_context(|| format!("cannot write {}", results.display()))?;
        println!("\nwritten to {}", results.display());
    }
    if !failed.is_empty() {
        bail!("sections failed: {}", failed.join(", "));
    }
    Ok(())
}

/// The machine, as the head of the results.
fn machine() -> Result<String> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|l| l.strip_prefix("model name\t: ")).unwrap_or("unknown");
    let cores = std::thread::available_parallelism()?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let first = |program: &str| -> Result<String> {
        let all = output(Command::new(program).arg("--version"))?;
        Ok(all.lines().next().unwrap_or_default().to_owned())
    };
    let pmu = Path::new("/sys/bus/event_source/devices/cpu").exists();
    Ok(format!(
        "Machine: {model}, {cores} cores, Linux {}, {}, {}. Hardware counters: {}.\n\
         Medians of interleaved rounds; times are noisy on a shared machine, ratios less so.\n",
        kernel.trim(),
        first("gcc")?,
        first("rustc")?,
        if pmu {
            "yes"
        } else {
            "none, so events of software take their place where it says so; the registers that \
             the kernel writes for those of a PMU are in no figure"
        },
    ))
}

/// Median of sorted times.
fn median(times: &[Duration]) -> Duration {
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Something to time.
type Variant<'b> = Box<dyn FnMut() -> Result<Duration> + 'b>;

/// Runs variants in turn and returns the times of each, sorted; the first round warms up.
fn samples<const N: usize>(
    rounds: usize,
    mut variants: [Variant<'_>; N],
) -> Result<[Vec<Duration>; N]> {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for round in 0..=rounds {
        for (variant, times) in variants.iter_mut().zip(&mut times) {
            let time = variant()?;
            if round > 0 {
                times.push(time);
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    Ok(times)
}

/// The medians of variants run in turn.
fn interleaved<const N: usize>(rounds: usize, variants: [Variant<'_>; N]) -> Result<[Duration; N]> {
    Ok(samples(rounds, variants)?.map(|times| median(&times)))
}

/// Wall clock time of a command that must succeed.
fn timed(command: &mut Command) -> Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    let time = begin.elapsed();
    if !status.success() {
        bail!("failed with {status}: {command:?}");
    }
    Ok(time)
}

/// CPU time of the commands that have ended.
fn used_by_children() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = |t: nix::sys::time::TimeVal| t.tv_sec() * 1_000_000 + t.tv_usec();
    Ok(Duration::from_micros((micros(usage.user_time()) + micros(usage.system_time())) as u64))
}

/// Milliseconds with three decimals.
fn ms(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

/// The difference to a base in milliseconds, with its sign.
fn more(time: Duration, base: Duration) -> String {
    format!("{:+.3}", (time.as_secs_f64() - base.as_secs_f64()) * 1e3)
}

/// The ratio to a base.
fn ratio(time: Duration, base: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() / base.as_secs_f64())
}
