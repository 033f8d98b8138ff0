//! `topas-stat` on a large log against a one-pass Perl script that prints the same.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};

use super::{Bench, interleaved, ratio};
use crate::process::{cargo, root};

pub fn scan(bench: &Bench) -> Result<String> {
    let lines = if bench.quick { 200_000 } else { 2_000_000 };
    let log = bench.dir.join("scan.log");
    let status = cargo()
        .args(["run", "--quiet", "--release", "--package", "topas-data", "--example"])
        .args(["generate-log", "--", &lines.to_string()])
        .stdout(File::create(&log)?)
        .status()?;
    if !status.success() {
        bail!("generate-log failed with {status}");
    }
    let bytes = fs::metadata(&log)?.len();

    let mut stat = Command::new(bench.paths.bin().join("topas-stat"));
    stat.arg("--quiet").arg(&log);
    let mut perl = Command::new("perl");
    perl.arg(root().join("bench/topas-stat.pl"));
    let by_perl = || -> Result<Duration> {
        perl.stdin(File::open(&log)?);
        cpu_time(&mut perl)
    };
    let [stat, perl] =
        interleaved(bench.rounds(7), [Box::new(|| cpu_time(&mut stat)), Box::new(by_perl)])?;
    let rate = |time: Duration| lines as f64 / time.as_secs_f64() / 1e6;
    Ok(format!(
        "## Log scan\n\n\
         {lines} lines of {:.0} B, plain, in the page cache; CPU time, one core.\n\n\
         | program | million lines/s/core | ratio of time | goal |\n| --- | --- | --- | --- |\n\
         | topas-stat | {:.2} | 1.000 | 4 |\n\
         | one-pass Perl script | {:.2} | {} | |\n",
        bytes as f64 / lines as f64,
        rate(stat),
        rate(perl),
        ratio(perl, stat),
    ))
}

/// CPU time of a command.
fn cpu_time(command: &mut Command) -> Result<Duration> {
    let used = || -> Result<Duration> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let micros = |t: nix::sys::time::TimeVal| t.tv_sec() * 1_000_000 + t.tv_usec();
        Ok(Duration::from_micros((micros(usage.user_time()) + micros(usage.system_time())) as u64))
    };
    let before = used()?;
    let status = command.stdout(Stdio::null()).status().context("cannot run")?;
    if !status.success() {
        bail!("failed with {status}: {command:?}");
    }
    Ok(used()? - before)
}
