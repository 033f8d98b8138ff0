//! `cargo xtask bench`: the figures we promise, as ratios measured in one run.
//!
//! Everything that is compared runs in turn, round after round, so that a machine that
//! is busy elsewhere slows all of it; figures are medians. The result is printed and
//! written to `bench/results.md` with the machine.

mod link;
mod scan;
mod start;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use topas_config::Paths;

use crate::install::{self, install};
use crate::packages::{self, ensure};
use crate::process::{output, root, target_dir};

/// How long to measure.
#[derive(Args)]
pub struct Options {
    /// A tenth of the rounds, for a first look; does not write bench/results.md
    #[arg(long)]
    quick: bool,
}

/// What all benchmarks use.
struct Bench {
    /// Scratch directory
    dir: PathBuf,
    /// An installation in it
    paths: Paths,
    quick: bool,
}

impl Bench {
    fn rounds(&self, full: usize) -> usize {
        if self.quick { full.div_ceil(10) } else { full }
    }
}

/// Runs all benchmarks.
pub fn bench(options: &Options) -> Result<()> {
    ensure(&[packages::DEMO, packages::TEST].concat())?;
    let dir = target_dir().join("bench");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(&dir)?;
    let dir = dir.canonicalize()?;
    let prefix = dir.join("prefix");
    install(&install::Options { prefix: prefix.clone(), destdir: None })?;
    let bench = Bench { dir, paths: Paths::at(prefix), quick: options.quick };

    let mut text = String::from("# Results of `cargo xtask bench`\n\n");
    text.push_str(&machine()?);
    for section in
        [object(&bench)?, start::start(&bench)?, link::link(&bench)?, scan::scan(&bench)?]
    {
        print!("\n{section}");
        text.push('\n');
        text.push_str(&section);
    }
    if !options.quick {
        let results = root().join("bench/results.md");
        fs::write(&results, text).with_context(|| format!("cannot write {}", results.display()))?;
        println!("\nwritten to {}", results.display());
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
            "none, so the cost of opening and reading them is not in these figures"
        },
    ))
}

/// Size of the module.
fn object(bench: &Bench) -> Result<String> {
    let mut text =
        String::from("## Size of the module\n\n| object | B | goal |\n| --- | --- | --- |\n");
    for language in ["c", "f90"] {
        let path = bench.paths.module(language);
        let size = fs::metadata(&path)?.len();
        writeln!(
            text,
            "| topas.{language}.o | {size} | 12000; 16000 with every launcher, ending and processor |"
        )?;
    }
    Ok(text)
}

/// Median of times.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Runs variants in turn and returns the median of each; the first round warms up.
fn interleaved<const N: usize>(
    rounds: usize,
    mut variants: [Box<dyn FnMut() -> Result<Duration> + '_>; N],
) -> Result<[Duration; N]> {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for round in 0..=rounds {
        for (variant, times) in variants.iter_mut().zip(&mut times) {
            let time = variant()?;
            if round > 0 {
                times.push(time);
            }
        }
    }
    Ok(times.map(|mut times| median(&mut times)))
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
