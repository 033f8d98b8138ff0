//! `topasview` as its users meet it.

#[path = "../../../topas-data/examples/generate-pes/synthetic.rs"]
mod synthetic;

#[path = "../../../topas-mpi-data/examples/generate-mpi/synthetic.rs"]
mod synthetic_mpi;

#[path = "../../../topas-mpi-data/examples/generate-trace/synthetic.rs"]
mod synthetic_trace;

mod asked_in_vain;
mod balance;
mod charged;
mod culprit;
mod data;
mod faults;
mod gains;
mod json_keys;
mod late_to_init;
mod listing;
mod mpi_against_awk;
mod mpi_compare;
mod mpi_faults;
mod mpi_page;
mod page;
mod timeline;
mod timeline_lacks;
mod timeline_late;
mod timeline_steps;
mod timeline_view;
mod views;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What a call gave.
struct ViewOutput {
    code: i32,
    out: String,
    err: String,
}

impl From<Output> for ViewOutput {
    fn from(output: Output) -> Self {
        ViewOutput {
            code: output.status.code().expect("an exit code"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// `topasview` in a directory, in a small environment of its own, in which no program is running.
fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_topasview"));
    command.args(args).current_dir(dir).env_clear().env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command.env("TOPAS_MPI_SPOOL", dir.join("no programs"));
    command
}

fn view(dir: &Path, args: &[&str]) -> ViewOutput {
    command(dir, args).output().unwrap().into()
}

/// The same with exit code 0 and nothing on standard error; standard output.
fn shown(dir: &Path, args: &[&str]) -> String {
    let ViewOutput { code, out, err } = view(dir, args);
    assert_eq!((code, &*err), (0, ""), "{args:?}: {out}");
    out
}

/// The same with the text on standard input.
fn piped(args: &[&str], text: &[u8]) -> ViewOutput {
    let dir = tempfile::tempdir().unwrap();
    let mut child = command(dir.path(), args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = text.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&text)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

/// A directory with this topas.out.
fn directory(text: impl AsRef<[u8]>) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("topas.out"), text).unwrap();
    dir
}

/// A line whose rate is exactly `thousandths` of a MFlop/s.
fn rate_line(pe: u32, npes: u32, thousandths: u64) -> String {
    let operations = thousandths * 1_000_000;
    format!(
        "1999/08/23 12:00:00 mohr cpmd {pe} {npes} t450 B f90 mpi 999.0 1.0 1000.000 \
         f={operations} {operations} 4711\n"
    )
}
