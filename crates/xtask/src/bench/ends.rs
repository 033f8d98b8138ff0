//! What it costs that every rank measures: one rank from start to exit, and many of them that
//! end at the same moment.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Bench, Linked, MEASURES, OTHER, interleaved, more, ms, open_mpi_rank, timed};
use crate::process::output;

/// Numbers of ranks that end together, and how often each is tried.
const GANGS: [(u32, usize); 3] = [(64, 21), (512, 11), (4096, 7)];

/// Both tables.
pub fn ends(bench: &Bench) -> Result<String> {
    let dir = bench.sub("ends")?;
    let programs = [Linked::Bare, Linked::Module, Linked::AllRanks];
    let programs = programs.map(|linked| (dir.join(format!("gate-{linked:?}")), linked));
    for (program, linked) in &programs {
        bench.compile(program, &["gate.c"], *linked)?;
    }
    let [bare, linked, all] = programs.each_ref().map(|(program, _)| program.as_path());
    let mut text = String::from("## Every rank measured\n\n");
    text += &one(bench, &dir, [bare, linked, all])?;
    text.push('\n');
    text += &together(bench, &dir, [bare, linked, all])?;
    Ok(text)
}

/// A rank by itself.
fn one(bench: &Bench, dir: &Path, [bare, linked, all]: [&Path; 3]) -> Result<String> {
    let log = dir.join("log");
    let rank = |program, rank| {
        let mut command = open_mpi_rank(program, rank, &log);
        command.current_dir(dir);
        command
    };
    let mut commands = [
        ("bare", rank(bare, OTHER)),
        ("linked, not measuring", rank(linked, OTHER)),
        ("linked, measuring", rank(linked, MEASURES)),
        ("every rank: not in the log", rank(all, OTHER)),
        ("every rank: in the log, too", rank(all, MEASURES)),
    ];
    let names = commands.each_ref().map(|(name, _)| *name);
    let variants = commands
        .each_mut()
        .map(|(_, command)| Box::new(move || timed(command)) as super::Variant<'_>);
    let times = interleaved(bench.rounds(1000), variants)?;
    let mut text = String::from(
        "One process in the environment of an Open MPI rank, from spawn to wait.\n\n\
         | program | ms | ms more |\n| --- | --- | --- |\n",
    );
    for (name, time) in names.iter().zip(times) {
        writeln!(text, "| {name} | {} | {} |", ms(time), more(time, times[0]))?;
    }
    Ok(text)
}

/// Ranks of one launch on this host that end at the same moment.
fn together(bench: &Bench, dir: &Path, programs: [&Path; 3]) -> Result<String> {
    let gang = dir.join("gang");
    bench.compile(&gang, &["gang.c"], Linked::Bare)?;
    let mut text = String::from(
        "Ranks of one launch on this machine that end at the same moment: until all have ended, \
         and processor time for each; medians. topas.out has a line of each then.\n\n\
         | ranks | bare, ms | ordinary module, ms | every rank, ms | bare, µs each | \
         ordinary module, µs each | every rank, µs each |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (ranks, rounds) in GANGS {
        let mut walls: [Vec<f64>; 3] = Default::default();
        let mut used: [Vec<f64>; 3] = Default::default();
        for _ in 0..bench.rounds(rounds) {
            for (at, program) in programs.iter().enumerate() {
                let out = dir.join("topas.out");
                let _ = std::fs::remove_file(&out);
                let mut command = Command::new(&gang);
                let said = output(command.arg(ranks.to_string()).arg(program).current_dir(dir))?;
                let mut numbers = said.split_whitespace().map(str::parse::<f64>);
                let mut next =
                    || numbers.next().context("gang printed nothing")?.context(said.clone());
                walls[at].push(next()? / 1e3);
                used[at].push(next()? / f64::from(ranks));
                let lines = super::lines(&out)?;
                let expected = if at == 2 { ranks as usize } else { 0 };
                if lines != expected {
                    bail!("{lines} lines of {ranks} ranks in {}", out.display());
                }
            }
        }
        let [walls, used] = [walls, used].map(|all| all.map(middle));
        write!(text, "| {ranks}")?;
        for value in walls.iter().chain(&used) {
            write!(text, " | {value:.0}")?;
        }
        text.push_str(" |\n");
    }
    Ok(text)
}

/// The median.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
