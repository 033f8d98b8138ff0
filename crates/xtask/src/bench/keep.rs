//! `topas-log` and `topas-stat --check` on a log: lines per second and memory.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Bench;
use crate::process::cargo;

/// Segments that are merged.
const SEGMENTS: usize = 8;

pub fn keep(bench: &Bench) -> Result<String> {
    let lines = if bench.quick { 100_000 } else { 1_000_000 };
    let dir = bench.sub("keep")?;
    let log = dir.join("all.log");
    let status = cargo()
        .args(["run", "--quiet", "--release", "--package", "topas-data", "--example"])
        .args(["generate-log", "--", &lines.to_string()])
        .stdout(File::create(&log)?)
        .status()?;
    if !status.success() {
        bail!("generate-log failed with {status}");
    }
    let parts = split(&log, &dir)?;
    let tool = |name: &str| Command::new(bench.paths.bin().join(name));
    let key = dir.join("key");
    if !tool("topas-log").arg("key").arg(&key).status()?.success() {
        bail!("topas-log key failed");
    }
    let month = dir.join("month");
    fs::create_dir_all(&month)?;
    // Each command has an output of its own: a log is never replaced.
    let out = |name: &str| dir.join(name).with_extension("out");

    let mut rows = String::new();
    let mut add = |what: &str, command: &mut Command, ok: &[i32]| -> Result<()> {
        let (time, memory) = measured(command, ok)?;
        rows +=
            &format!("| {what} | {:.2} | {memory:.0} |\n", lines as f64 / time.as_secs_f64() / 1e6);
        Ok(())
    };
    add(
        &format!("merge of {SEGMENTS} segments in order"),
        tool("topas-log").args(["merge", "-q", "-o"]).arg(out("merged")).args(&parts),
        &[0],
    )?;
    let reversed = dir.join("reversed.log");
    let tac = Command::new("tac").arg(&log).stdout(File::create(&reversed)?).status()?;
    if !tac.success() {
        bail!("tac failed");
    }
    add(
        "merge of one segment in the reverse order",
        tool("topas-log").args(["merge", "-q", "-o"]).arg(out("sorted")).arg(&reversed),
        &[0],
    )?;
    add(
        "export --anonymize",
        tool("topas-log")
            .args(["export", "-q", "-a", "-k"])
            .arg(&key)
            .arg("-o")
            .arg(out("anonymized"))
            .arg(&log),
        &[0],
    )?;
    add(
        "export --csv",
        tool("topas-log").args(["export", "-q", "--csv", "-o"]).arg(out("csv")).arg(&log),
        &[0],
    )?;
    // The generated lines are of a year to come or of other faults: both codes are fine.
    add("topas-stat --check", tool("topas-stat").args(["--check", "-q"]).arg(&log), &[0, 4])?;
    fs::rename(&log, month.join("2026-01.log"))?;
    add(
        "close, with its verification",
        tool("topas-log")
            .args(["close", "-q", "--before", "9999-12", "--idle", "0", "--settle", "0", "--dir"])
            .arg(&month),
        &[0],
    )?;
    fs::remove_dir_all(&dir)?;
    Ok(format!(
        "## Keeping logs\n\n\
         {lines} lines; CPU time, one core, and the largest resident set.\n\n\
         | command | million lines/s | MB |\n| --- | --- | --- |\n{rows}"
    ))
}

/// Every n-th line in a file of its own: segments as of hosts.
fn split(log: &Path, dir: &Path) -> Result<Vec<std::path::PathBuf>> {
    let paths: Vec<_> = (0..SEGMENTS).map(|n| dir.join(format!("part{n}.log"))).collect();
    let mut files = paths
        .iter()
        .map(|path| File::create(path).map(BufWriter::new))
        .collect::<std::io::Result<Vec<_>>>()?;
    for (n, line) in BufReader::new(File::open(log)?).split(b'\n').enumerate() {
        let file = &mut files[n % SEGMENTS];
        file.write_all(&line?)?;
        file.write_all(b"\n")?;
    }
    files.iter_mut().try_for_each(Write::flush)?;
    Ok(paths)
}

/// CPU time, and memory in MB, of a command, as GNU time tells them.
fn measured(command: &mut Command, ok: &[i32]) -> Result<(Duration, f64)> {
    let mut time = Command::new("/usr/bin/time");
    time.args(["-q", "-f", "%U %S %M"]).arg(command.get_program()).args(command.get_args());
    let output = time
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .context("cannot run /usr/bin/time (Debian: time)")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let numbers: Vec<f64> = said
        .lines()
        .last()
        .unwrap_or_default()
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    let ([user, system, kilobytes], true) =
        (numbers.as_slice(), output.status.code().is_some_and(|code| ok.contains(&code)))
    else {
        bail!("{command:?} failed: {said}");
    };
    Ok((Duration::from_secs_f64(user + system), kilobytes * 1.024e-3))
}
