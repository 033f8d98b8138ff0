//! Writes a log to standard output. `generate-log LINES [SEED]`: such as a busy center makes, for
//! measurements; `generate-log --center RUNS [SEED]`: a center as it might be, for pictures;
//! `generate-log --year RUNS DIR`: its year 2026, into files of a directory; `generate-log --repeat LINES
//! TIMES`: such as a busy center makes, the same launches again and again with other ids, twenty times as fast.

mod center;
mod repeat;
mod synthetic;
mod year;

use std::io::{self, BufWriter, Write, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    if let [option, runs, dir] = &args[..]
        && option == "--year"
        && let Ok(runs) = runs.parse()
    {
        return told(year::write(runs, dir.as_ref(), 1));
    }
    if let [option, lines, times] = &args[..]
        && option == "--repeat"
        && let (Ok(lines), Ok(times)) = (lines.parse(), times.parse())
    {
        return told(repeat::write(lines, times, &mut stdout().lock()));
    }
    let center = args.first().is_some_and(|arg| arg == "--center");
    if center {
        args.remove(0);
    }
    let numbers: Result<Vec<u64>, _> = args.iter().map(|arg| arg.parse()).collect();
    let (count, seed) = match numbers.as_deref() {
        Ok(&[count]) => (count, 1),
        Ok(&[count, seed]) => (count, seed),
        _ => {
            eprintln!("generate-log: error: usage: generate-log [--center] LINES|RUNS [SEED]");
            return ExitCode::from(2);
        }
    };
    told(if center { write_center(count, seed) } else { write_busy(count, seed) })
}

fn told(written: io::Result<()>) -> ExitCode {
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-log: error: cannot write\n  cause: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_busy(lines: u64, seed: u64) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, stdout().lock());
    let mut log = synthetic::Log::new(seed);
    for _ in 0..lines {
        out.write_all(log.line())?;
    }
    out.flush()
}

fn write_center(runs: u64, seed: u64) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, stdout().lock());
    for line in center::lines(runs, seed) {
        out.write_all(&line)?;
    }
    out.flush()
}
