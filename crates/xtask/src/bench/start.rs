//! Start and exit of an empty program: bare, linked but not measuring, measuring.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Bench, interleaved, more, ms, ratio, timed};
use crate::process::{output, run};

/// Bytes of initialized data in the large program.
const LARGE: usize = 100_000_000;

pub fn start(bench: &Bench) -> Result<String> {
    let dir = bench.dir.join("start");
    fs::create_dir_all(&dir)?;
    let log = dir.join("log");
    let module = bench.paths.module("c");
    let empty = "int main(void) { return 0; }\n".to_owned();
    let large = format!("char data[{LARGE}] = {{1}};\n{empty}");
    let bare = program(&dir, "bare", &empty, None)?;
    let linked = program(&dir, "linked", &empty, Some(&module))?;
    let bare_large = program(&dir, "bare-large", &large, None)?;
    let linked_large = program(&dir, "linked-large", &large, Some(&module))?;

    // Rank 1 measures, all others do not.
    let rank = |program: &Path, rank: u32| {
        let mut command = Command::new(program);
        command
            .env("OMPI_COMM_WORLD_RANK", rank.to_string())
            .env("OMPI_COMM_WORLD_SIZE", "8")
            .env("PMIX_NAMESPACE", "3745579009")
            .env("TOPAS_PE", "1")
            .env("TOPAS_LOG", format!("file:{}", log.display()));
        command
    };
    let time = |program: &Path, number: u32| {
        let mut command = rank(program, number);
        move || timed(&mut command)
    };
    let [plain, other, measuring, plain_large, other_large, measuring_large] = interleaved(
        bench.rounds(1000),
        [
            Box::new(time(&bare, 1)),
            Box::new(time(&linked, 2)),
            Box::new(time(&linked, 1)),
            Box::new(time(&bare_large, 1)),
            Box::new(time(&linked_large, 2)),
            Box::new(time(&linked_large, 1)),
        ],
    )?;
    let calls = |program: &Path, number: u32| system_calls(&rank(program, number), &dir);
    let base = calls(&bare, 1)?;

    let mut text = String::from(
        "## Start and exit of an empty program\n\n\
         One process in the environment of an Open MPI rank, from spawn to wait.\n\n\
         | program | ms | ratio | ms more | system calls more | goal |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    let rows = [
        ("bare", plain, plain, 0, ""),
        ("linked, not measuring", other, plain, calls(&linked, 2)? - base, "+0 system calls"),
        ("linked, measuring", measuring, plain, calls(&linked, 1)? - base, "+0.300 ms"),
        ("bare, 100 MB", plain_large, plain_large, 0, ""),
        (
            "not measuring, 100 MB",
            other_large,
            plain_large,
            calls(&linked_large, 2)? - base,
            "as above",
        ),
        (
            "measuring, 100 MB",
            measuring_large,
            plain_large,
            calls(&linked_large, 1)? - base,
            "as above",
        ),
    ];
    for (name, time, base, calls, goal) in rows {
        let (ratio, more) = (ratio(time, base), more(time, base));
        writeln!(text, "| {name} | {} | {ratio} | {more} | {calls:+} | {goal} |", ms(time))?;
    }
    Ok(text)
}

/// Compiles a program, with or without the module.
fn program(dir: &Path, name: &str, source: &str, module: Option<&Path>) -> Result<PathBuf> {
    let (c, exe) = (dir.join(format!("{name}.c")), dir.join(name));
    fs::write(&c, source)?;
    run(Command::new("gcc").arg("-O2").arg(&c).args(module).arg("-o").arg(&exe))?;
    Ok(exe)
}

/// Number of system calls of a command.
fn system_calls(command: &Command, dir: &Path) -> Result<i64> {
    let trace = dir.join("trace");
    let mut strace = Command::new("strace");
    strace.arg("-qq").arg("-o").arg(&trace).arg(command.get_program());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            strace.env(name, value);
        }
    }
    output(&mut strace)?;
    // The last line is the exit itself.
    Ok(fs::read_to_string(&trace)?.lines().count() as i64)
}
