//! `topas-run`: programs that were never linked with the module.

mod endings;
mod environments;
mod every_rank;
mod kinds;
mod launched;
mod outside;

use std::path::PathBuf;
use std::process::Command;

use topas_tests::build::plain;
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::record::Record;
use topas_tests::running::{Run, run};
use topas_tests::site::{Scratch, Site};

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// The command under test.
fn topas_run() -> PathBuf {
    Site::shared().tool("topas-run")
}

/// `topas-run` as rank 1 of 4, which measures; the program follows. The directory is that of
/// the test.
fn measuring(scratch: &Scratch) -> Command {
    as_rank(scratch, 1)
}

/// `topas-run` as a rank of 4, of which 1 and 2 measure.
fn as_rank(scratch: &Scratch, rank: u32) -> Command {
    let mut command = scratch.command(topas_run());
    command.env("TOPAS_PE", "1,2").current_dir(scratch.path());
    emulate_rank(&mut command, rank, 4, KEY);
    command
}

/// A C program of `tests/programs` in the test's directory, without the module.
fn built(scratch: &Scratch, source: &str, name: &str) -> PathBuf {
    let program = scratch.path().join(name);
    plain(Site::shared(), source, true, &program);
    program
}

/// The one line of a run; panics if there are others, or if it does not say how it was made.
#[track_caller]
fn one_line(scratch: &Scratch) -> Record {
    let mut lines = scratch.take_log();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    let line = lines.remove(0);
    assert_eq!(line.extra("via"), "run", "{}", line.text);
    line
}

/// Runs it and expects that it says nothing on standard error.
#[track_caller]
fn silent(command: &mut Command) -> Run {
    let ended = run(command);
    assert_eq!(ended.err(), "", "{command:?}");
    ended
}
