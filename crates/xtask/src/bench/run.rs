//! What `topas-run` adds to start and exit of an empty program.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::{
    Bench, Linked, MEASURES, OTHER, Variant, interleaved, lines, more, ms, open_mpi_rank, ratio,
    timed,
};
use crate::process::output;

/// Variants that are timed.
const VARIANTS: usize = 6;

/// The table, and the system calls of a rank that does not measure.
pub fn run(bench: &Bench) -> Result<String> {
    let dir = bench.sub("run")?;
    let log = dir.join("log");
    let (bare, fixed) = (dir.join("bare"), dir.join("static"));
    bench.compile(&bare, &["events.c"], Linked::Bare)?;
    bench.compile(&fixed, &["-static", "events.c"], Linked::Bare)?;
    let tool = bench.paths.bin().join("topas-run");
    let through = |program: &Path, rank| {
        let mut command = open_mpi_rank(&tool, rank, &log);
        command.arg(program);
        command
    };
    // What any program costs that becomes another.
    let mut nothing = open_mpi_rank(Path::new("/usr/bin/env"), MEASURES, &log);
    nothing.arg(&bare);
    let commands: [Command; VARIANTS] = [
        open_mpi_rank(&bare, MEASURES, &log),
        nothing,
        through(&bare, OTHER),
        through(&bare, MEASURES),
        open_mpi_rank(&fixed, MEASURES, &log),
        through(&fixed, MEASURES),
    ];
    let rounds = bench.rounds(1000);
    let variants =
        commands.map(|mut command| -> Variant<'static> { Box::new(move || timed(&mut command)) });
    let times = interleaved(rounds, variants)?;
    // Two of them measure, and one round more warms up.
    let (left, due) = (lines(&log)?, 2 * (rounds + 1));
    if left != due {
        bail!("{left} lines in place of {due} in {}", log.display());
    }
    let [plain, by_env, other, inside, fixed_plain, outside] = times;
    let mut text = String::from(
        "## topas-run\n\n\
         Start and exit of an empty program without the module, in the environment of an Open MPI \
         rank, from spawn to wait.\n\n\
         | program | compared with | ms | ratio | ms more |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for (name, base, time, by) in [
        ("bare", "", plain, plain),
        ("by `env`, which becomes it", "bare", by_env, plain),
        ("by `topas-run`, a rank that does not measure", "bare", other, plain),
        ("by `topas-run`, measuring", "bare", inside, plain),
        ("static", "", fixed_plain, fixed_plain),
        ("static by `topas-run`, measuring from outside", "static", outside, fixed_plain),
    ] {
        let (time_ms, ratio, more) = (ms(time), ratio(time, by), more(time, by));
        writeln!(text, "| {name} | {base} | {time_ms} | {ratio} | {more} |")?;
    }
    let (of_tool, of_loader) = own_calls(&through(&bare, OTHER), &dir.join("report"))?;
    writeln!(
        text,
        "\nA rank that does not measure makes {} system calls in `topas-run` before it is the \
         program, {of_loader} of them the loader's and libc's.",
        of_tool + of_loader
    )?;
    Ok(text)
}

/// System calls before the second exec: those behind the loader's last, which unmaps its cache,
/// and those up to it.
fn own_calls(command: &Command, report: &Path) -> Result<(usize, usize)> {
    let mut strace = Command::new("strace");
    strace.env_clear().args(["-qq", "-o"]).arg(report).arg("--");
    strace.arg(command.get_program()).args(command.get_args());
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    output(&mut strace)?;
    let text = fs::read_to_string(report)?;
    let calls: Vec<&str> = text.lines().skip(1).collect();
    let Some(becomes) = calls.iter().position(|call| call.starts_with("execve(")) else {
        bail!("no second execve in {}", report.display());
    };
    let before = calls.get(..becomes).unwrap_or_default();
    let loader = before.iter().rposition(|call| call.starts_with("munmap(")).map_or(0, |at| at + 1);
    Ok((before.len() - loader, loader))
}
