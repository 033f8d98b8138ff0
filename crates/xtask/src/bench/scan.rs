//! `topas-stat` on a large log, on one core and on two, against a one-pass Perl script that
//! prints the same.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{Usage, UsageWho, getrusage};

use super::{Bench, median, ratio};
use crate::disk::needs_room;
use crate::process::{cargo, root};

/// Room for the log and for what waits in a temporary file, in B per line.
const ROOM: u64 = 245 + 40;

/// The script holds all runs in memory, 400 B per line: more lines are too many for it.
const LINES_FOR_PERL: u64 = 5_000_000;

pub fn scan(bench: &Bench) -> Result<String> {
    let lines: u64 = if bench.quick { 1_000_000 } else { 50_000_000 };
    let dir = bench.sub("scan")?;
    needs_room(&dir, lines * ROOM)?;
    let log = dir.join("scan.log");
    generate(&log, lines)?;
    let bytes = fs::metadata(&log)?.len();
    let perl_lines = lines.min(LINES_FOR_PERL);
    let first = dir.join("first.log");
    head(&log, &first, perl_lines)?;

    let stat = |threads: &str| {
        let mut stat = Command::new(bench.paths.bin().join("topas-stat"));
        stat.args(["--quiet", "--threads", threads]).arg(&log).env("TMPDIR", &dir);
        measured(&mut stat)
    };
    let (mut one, mut two) = (Vec::new(), Vec::new());
    // The first round brings the log into the page cache.
    for round in 0..=bench.rounds(3) {
        let (of_one, of_two) = (stat("1")?, stat("2")?);
        if round > 0 {
            one.push(of_one);
            two.push(of_two);
        }
    }
    let mut perl = Command::new("perl");
    perl.arg(root().join("bench/topas-stat.pl")).stdin(File::open(&first)?);
    let perl = measured(&mut perl)?;
    fs::remove_dir_all(&dir)?;

    let (one, two) = (ScanCost::median(&one), ScanCost::median(&two));
    let per_line = |cost: &ScanCost, lines: u64| cost.cpu.div_f64(lines as f64 / 1e6);
    let base = per_line(&one, lines);
    let row = |name: &str, cost: &ScanCost, lines: u64, goal: &str| {
        format!(
            "| {name} | {:.1} | {:.2} | {:.2} | {:.2} | {} | {:.0} | {goal} |\n",
            lines as f64 / 1e6,
            cost.cpu.as_secs_f64(),
            cost.wall.as_secs_f64(),
            lines as f64 / cost.cpu.as_secs_f64() / 1e6,
            ratio(per_line(cost, lines), base),
            cost.memory as f64 / 1e6,
        )
    };
    Ok(format!(
        "## Log scan\n\n\
         Lines of {:.0} B, plain; half as many runs, all of which are joined. What does not fit \
         into 256 MiB waits in a temporary file on the same disk. The Perl script holds all runs, \
         so it gets the first lines only, in one round.\n\n\
         | program | million lines | CPU s | wall s | million lines/s/core | ratio of CPU time per \
         line | peak memory MB | goal |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n{}{}{}",
        bytes as f64 / lines as f64,
        row("topas-stat, 1 thread", &one, lines, "4 million lines/s/core"),
        row("topas-stat, 2 threads", &two, lines, ""),
        row("one-pass Perl script", &perl, perl_lines, ""),
    ))
}

fn generate(log: &Path, lines: u64) -> Result<()> {
    let status = cargo()
        .args(["run", "--quiet", "--release", "--package", "topas-data", "--example"])
        .args(["generate-log", "--", &lines.to_string()])
        .stdout(File::create(log)?)
        .status()?;
    if !status.success() {
        bail!("generate-log failed with {status}");
    }
    Ok(())
}

/// Copies the first lines.
fn head(from: &Path, to: &Path, lines: u64) -> Result<()> {
    let mut from = BufReader::with_capacity(1 << 20, File::open(from)?);
    let mut to = BufWriter::with_capacity(1 << 20, File::create(to)?);
    let mut line = Vec::new();
    for _ in 0..lines {
        line.clear();
        from.read_until(b'\n', &mut line)?;
        to.write_all(&line)?;
    }
    Ok(to.flush()?)
}

/// What a command took.
#[derive(Clone, Copy, Debug)]
struct ScanCost {
    /// Of all its threads
    cpu: Duration,
    wall: Duration,
    /// Largest resident set in B
    memory: u64,
}

impl ScanCost {
    /// Of each of them the median.
    fn median(costs: &[ScanCost]) -> ScanCost {
        let of = |part: fn(&ScanCost) -> Duration| {
            let mut times: Vec<Duration> = costs.iter().map(part).collect();
            times.sort_unstable();
            median(&times)
        };
        let memory = costs.iter().map(|cost| cost.memory).max().unwrap_or_default();
        ScanCost { cpu: of(|cost| cost.cpu), wall: of(|cost| cost.wall), memory }
    }
}

/// Runs a command that must succeed.
fn measured(command: &mut Command) -> Result<ScanCost> {
    let cpu = |usage: Usage| -> Duration {
        let micros = |t: nix::sys::time::TimeVal| t.tv_sec() * 1_000_000 + t.tv_usec();
        Duration::from_micros((micros(usage.user_time()) + micros(usage.system_time())) as u64)
    };
    let before = cpu(getrusage(UsageWho::RUSAGE_CHILDREN)?);
    let begin = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn().context("cannot run")?;
    let mut memory = 0;
    let status = loop {
        // It only grows, so the last look is nearly the peak.
        memory = memory.max(peak(&child).unwrap_or_default());
        if let Some(status) = child.try_wait()? {
            break status;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let wall = begin.elapsed();
    if !status.success() {
        bail!("failed with {status}: {command:?}");
    }
    Ok(ScanCost { cpu: cpu(getrusage(UsageWho::RUSAGE_CHILDREN)?) - before, wall, memory })
}

/// Largest resident set of a process until now, in B; None if it has ended.
fn peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
