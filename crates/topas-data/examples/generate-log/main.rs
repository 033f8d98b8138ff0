//! Writes a log such as a busy center makes: `generate-log LINES [SEED]`, to standard output.

mod synthetic;

use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let (lines, seed) = match (args.next(), args.next(), args.next()) {
        (Some(Ok(lines)), None, None) => (lines, 1),
        (Some(Ok(lines)), Some(Ok(seed)), None) => (lines, seed),
        _ => {
            eprintln!("generate-log: error: usage: generate-log LINES [SEED]");
            return ExitCode::from(2);
        }
    };
    let mut out = BufWriter::with_capacity(1 << 20, stdout().lock());
    let mut log = synthetic::Log::new(seed);
    for _ in 0..lines {
        if let Err(error) = out.write_all(log.line()) {
            eprintln!("generate-log: error: cannot write\n  cause: {error}");
            return ExitCode::FAILURE;
        }
    }
    match out.flush() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-log: error: cannot write\n  cause: {error}");
            ExitCode::FAILURE
        }
    }
}
