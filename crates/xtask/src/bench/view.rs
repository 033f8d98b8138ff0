//! `topasview` on a million PEs: every view.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{Bench, median, used_by_children};
use crate::process::cargo;

/// The views, as they are asked for.
const VIEWS: [&[&str]; 14] = [
    &[],
    &["--raw", "--no-heading"],
    &["--sort", "cpu", "--top", "10"],
    &["--stat"],
    &["--cluster"],
    &["--cluster", "best"],
    &["--groups"],
    &["--balance"],
    &["--strip"],
    &["--report"],
    &["--csv"],
    &["--json"],
    &["--svg", "-"],
    &["--html", "-"],
];

/// How long a view may take, in s.
const GOAL: f64 = 0.8;

pub fn view(bench: &Bench) -> Result<String> {
    let pes = if bench.quick { 100_000 } else { 1_000_000 };
    let dir = bench.sub("view")?;
    let file = dir.join("topas.out");
    let status = cargo()
        .args(["run", "--quiet", "--release", "--package", "topas-data", "--example"])
        .args(["generate-pes", "--", &pes.to_string(), "pe"])
        .stdout(File::create(&file)?)
        .status()?;
    if !status.success() {
        bail!("generate-pes failed with {status}");
    }
    let bytes = fs::metadata(&file)?.len();
    let mut text = format!(
        "## All PEs\n\n`topasview` on {pes} PEs, a line of {:.0} B each, one of them slow; in the page \
         cache, output thrown away.\n\n\
         | view | wall clock time (s) | CPU time (s) | goal (s) |\n| --- | --- | --- | --- |\n",
        bytes as f64 / pes as f64,
    );
    for args in VIEWS {
        let (mut walls, mut cpus) = (Vec::new(), Vec::new());
        for round in 0..=bench.rounds(5) {
            let mut view = Command::new(bench.paths.bin().join("topasview"));
            let (wall, cpu) = times(view.args(args).current_dir(&dir))?;
            if round > 0 {
                walls.push(wall);
                cpus.push(cpu);
            }
        }
        walls.sort_unstable();
        cpus.sort_unstable();
        let name = if args.is_empty() { "table and findings".to_owned() } else { args.join(" ") };
        let seconds = |times: &[Duration]| median(times).as_secs_f64();
        text +=
            &format!("| `{name}` | {:.2} | {:.2} | {GOAL} |\n", seconds(&walls), seconds(&cpus));
    }
    fs::remove_dir_all(&dir)?;
    Ok(text)
}

/// Wall clock and CPU time of a command that must succeed.
fn times(command: &mut Command) -> Result<(Duration, Duration)> {
    let (before, begin) = (used_by_children()?, Instant::now());
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if !status.success() {
        bail!("failed with {status}: {command:?}");
    }
    Ok((begin.elapsed(), used_by_children()? - before))
}
