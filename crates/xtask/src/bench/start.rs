//! Start and exit of an empty program: bare, linked but not measuring, measuring; in a small
//! and in a large executable; and what the kernel takes for the first event of a node.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};

use super::trace::Calls;
use super::{
    Bench, Linked, MEASURES, OTHER, Variant, as_software, interleaved, lines, median, more, ms,
    open_mpi_rank, ratio, samples, timed,
};
use crate::process::run;

/// Symbols of the large program, all of them exported.
const SYMBOLS: usize = 300_000;
/// Constants behind each of them, in words of 8 bytes.
const WORDS: usize = 125;

/// Longer than the kernel keeps its switch hooks after the last event has gone.
const IDLE: Duration = Duration::from_millis(1500);

/// An executable without and with the module.
struct Pair {
    bare: PathBuf,
    linked: PathBuf,
}

impl Pair {
    fn new(bench: &Bench, dir: &Path, name: &str, more: &[&str]) -> Result<Pair> {
        let (bare, linked) = (dir.join(format!("{name}-bare")), dir.join(format!("{name}-linked")));
        let inputs = [&["as_software.c", "events.c"], more].concat();
        bench.compile(&bare, &inputs, Linked::Bare)?;
        bench.compile(&linked, &inputs, Linked::Module)?;
        Ok(Pair { bare, linked })
    }

    /// What is timed: bare, not measuring, measuring; then with open events, bare and
    /// measuring.
    fn commands(&self, events: i64, log: &Path) -> [Command; 5] {
        // Without an argument the program itself opens nothing.
        let rank = |program, rank| open_mpi_rank(program, rank, log);
        let mut opening = as_software(rank(&self.bare, MEASURES));
        opening.arg(events.to_string());
        [
            rank(&self.bare, MEASURES),
            rank(&self.linked, OTHER),
            rank(&self.linked, MEASURES),
            opening,
            as_software(rank(&self.linked, MEASURES)),
        ]
    }
}

/// Number of events that a measuring rank opens here, all of them as events of software.
pub fn events_of_a_rank(program: &Path, log: &Path, report: &Path) -> Result<i64> {
    let before = lines(log)?;
    let calls = Calls::of(&as_software(open_mpi_rank(program, MEASURES, log)), report)?;
    if calls.events == 0 || lines(log)? != before + 1 {
        bail!("{} does not measure: {} events opened", program.display(), calls.events);
    }
    Ok(calls.events)
}

/// Both tables.
pub fn start(bench: &Bench) -> Result<String> {
    let dir = bench.sub("start")?;
    let log = dir.join("log");
    let small = Pair::new(bench, &dir, "small", &[])?;
    let padding = padding(&dir)?;
    let large = Pair::new(bench, &dir, "large", &["-rdynamic", &padding.to_string_lossy()])?;
    let events = events_of_a_rank(&small.linked, &log, &dir.join("report"))?;
    let mut text = by_size(bench, [&small, &large], events, &log)?;
    // A gigabyte in all.
    for file in [&padding, &large.bare, &large.linked] {
        fs::remove_file(file)?;
    }
    text.push_str(&first_event(bench, &small, events, &log)?);
    Ok(text)
}

fn by_size(bench: &Bench, pairs: [&Pair; 2], events: i64, log: &Path) -> Result<String> {
    let rounds = bench.rounds(1000);
    let before = lines(log)?;
    let commands = pairs.map(|pair| pair.commands(events, log));
    let variants = commands.map(|five| five.map(timing));
    let [small, large] = variants;
    let [a, b, c, d, e] = small;
    let [f, g, h, i, j] = large;
    let [a, b, c, d, e, f, g, h, i, j] = interleaved(rounds, [a, b, c, d, e, f, g, h, i, j])?;
    // Four of ten variants measure, and one round more warms up.
    let (left, due) = (lines(log)? - before, 4 * (rounds + 1));
    if left != due {
        bail!("{left} lines in place of {due} in {}", log.display());
    }

    let size = |path: &Path| Ok::<_, anyhow::Error>(fs::metadata(path)?.len());
    let mut text = format!(
        "## Start and exit of an empty program\n\n\
         One process in the environment of an Open MPI rank, from spawn to wait. The large \
         program has {SYMBOLS} exported symbols. Where there are {events} events, they are of \
         software, and each open takes one signal more, in both programs: what the kernel does \
         for events is in both, so the difference is the module's own work.\n\n\
         | program | compared with | {0} kB: ms | ratio | ms more | {1} MB: ms | ratio | ms more \
         | goal |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        size(&pairs[0].linked)? / 1000,
        size(&pairs[1].linked)? / 1_000_000,
    );
    let (opens, measures) =
        (format!("bare, opens {events} events"), format!("linked, measuring, {events} events"));
    let rows = [
        ("bare", "", [a, a], [f, f], ""),
        ("linked, not measuring", "bare", [b, a], [g, f], "+0.000 ms"),
        ("linked, measuring", "bare", [c, a], [h, f], "+0.300 ms"),
        (opens.as_str(), "bare", [d, a], [i, f], ""),
        (measures.as_str(), opens.as_str(), [e, d], [j, i], "+0.300 ms"),
    ];
    for (name, base, small, large, goal) in rows {
        write!(text, "| {name} | {base} ")?;
        for [time, base] in [small, large] {
            write!(text, "| {} | {} | {} ", ms(time), ratio(time, base), more(time, base))?;
        }
        writeln!(text, "| {goal} |")?;
    }
    Ok(text)
}

/// The first event on a node where no process has any.
fn first_event(bench: &Bench, pair: &Pair, events: i64, log: &Path) -> Result<String> {
    let [bare, _, _, opening, measuring] = pair.commands(events, log).map(|mut command| {
        let variant: Variant<'_> = Box::new(move || {
            thread::sleep(IDLE);
            timed(&mut command)
        });
        variant
    });
    let [bare, opening, measuring] = samples(bench.rounds(20), [bare, opening, measuring])?;
    let mut text = format!(
        "\nThe first event of a node: the same small program after {} s in which this benchmark \
         had no event open (other programs of the machine may). The kernel switches its hooks \
         on and waits for all processors; that wait differs from one time to the next by \
         milliseconds, beside which the module's part cannot be seen.\n\n\
         | program | median ms | lowest | highest | ms more than bare |\n\
         | --- | --- | --- | --- | --- |\n",
        IDLE.as_secs_f64()
    );
    let rows = [
        ("bare".to_owned(), &bare),
        (format!("bare, opens {events} events"), &opening),
        (format!("linked, measuring, {events} events"), &measuring),
    ];
    for (name, times) in rows {
        let [lowest, highest] =
            [times.first(), times.last()].map(|time| time.copied().unwrap_or_default());
        let more = more(median(times), median(&bare));
        let [median, lowest, highest] = [median(times), lowest, highest].map(ms);
        writeln!(text, "| {name} | {median} | {lowest} | {highest} | {more} |")?;
    }
    Ok(text)
}

/// The time of a command.
fn timing(mut command: Command) -> Variant<'static> {
    Box::new(move || timed(&mut command))
}

/// An object with 300 MB of constants that are not zero, and symbols all over them.
fn padding(dir: &Path) -> Result<PathBuf> {
    let (source, object) = (dir.join("padding.s"), dir.join("padding.o"));
    let mut out = BufWriter::new(File::create(&source)?);
    writeln!(out, "\t.section .rodata\n\t.balign 8")?;
    for symbol in 0..SYMBOLS {
        writeln!(out, "\t.globl padding_{symbol}\n\t.type padding_{symbol}, @object")?;
        writeln!(out, "padding_{symbol}:\n\t.fill {WORDS}, 8, 0x0123456789abcdef")?;
    }
    writeln!(out, "\t.section .note.GNU-stack, \"\", @progbits")?;
    out.into_inner()?.sync_all()?;
    run(Command::new("gcc").arg("-c").arg(&source).arg("-o").arg(&object))?;
    fs::remove_file(&source)?;
    Ok(object)
}
