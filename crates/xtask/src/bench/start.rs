//! Start and exit of an empty program: bare, linked but not measuring, measuring; in a small
//! and in a large executable; and what the kernel takes for the first event of a node.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::trace::Calls;
use super::{
    Bench, Linked, MEASURES, OTHER, Variant, as_software, interleaved, lines, median, more, ms,
    open_mpi_rank, ratio, samples, timed,
};
use crate::process::{output, run};

/// Symbols of the large program, all of them exported.
const SYMBOLS: usize = 300_000;
/// Constants behind each of them, in words of 8 bytes.
const WORDS: usize = 125;

/// Small, large, large with a table of symbols for the dynamic linker, with an MPI library.
const EXECUTABLES: usize = 4;

/// What is timed of one executable.
const VARIANTS: usize = 5;

/// Longer than the kernel keeps its switch hooks after the last event has gone.
const IDLE: Duration = Duration::from_millis(1500);

/// An executable without and with the module.
struct StartPair {
    bare: PathBuf,
    linked: PathBuf,
}

impl StartPair {
    fn new(bench: &Bench, dir: &Path, name: &str, more: &[&str]) -> Result<StartPair> {
        let (bare, linked) = (dir.join(format!("{name}-bare")), dir.join(format!("{name}-linked")));
        let inputs = [&["as_software.c", "events.c"], more].concat();
        bench.compile(&bare, &inputs, Linked::Bare)?;
        bench.compile(&linked, &inputs, Linked::Module)?;
        Ok(StartPair { bare, linked })
    }

    /// What is timed: bare, not measuring, measuring; then with open events, bare and
    /// measuring.
    fn commands(&self, events: i64, log: &Path) -> [Command; VARIANTS] {
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
    let small = StartPair::new(bench, &dir, "small", &[])?;
    let padding = padding(&dir)?;
    let padding_name = padding.to_string_lossy();
    let large = StartPair::new(bench, &dir, "large", &[&padding_name])?;
    let exporting = StartPair::new(bench, &dir, "exporting", &["-rdynamic", &padding_name])?;
    // As a program that needs it, although an empty one does not.
    let show = output(Command::new("mpicc.openmpi").arg("--showme:link"))?;
    let words = std::iter::once("-Wl,--no-as-needed").chain(show.split_whitespace());
    let mpi = StartPair::new(bench, &dir, "mpi", &words.collect::<Vec<_>>())?;
    let events = events_of_a_rank(&small.linked, &log, &dir.join("report"))?;
    let mut text = by_size(bench, [&small, &large, &exporting, &mpi], events, &log)?;
    // Two gigabytes in all.
    for file in [&padding, &large.bare, &large.linked, &exporting.bare, &exporting.linked] {
        fs::remove_file(file)?;
    }
    text.push_str(&first_event(bench, &small, events, &log)?);
    Ok(text)
}

fn by_size(
    bench: &Bench,
    pairs: [&StartPair; EXECUTABLES],
    events: i64,
    log: &Path,
) -> Result<String> {
    let rounds = bench.rounds(1000);
    let before = lines(log)?;
    let variants = pairs.map(|pair| pair.commands(events, log).map(timing));
    let all = variants.into_iter().flatten().collect::<Vec<_>>();
    let all: [Variant<'_>; EXECUTABLES * VARIANTS] =
        all.try_into().ok().context("variants of all")?;
    let times = interleaved(rounds, all)?;
    // Two of five variants measure, and one round more warms up.
    let (left, due) = (lines(log)? - before, 2 * pairs.len() * (rounds + 1));
    if left != due {
        bail!("{left} lines in place of {due} in {}", log.display());
    }

    let mut text = format!(
        "## Start and exit of an empty program\n\n\
         One process in the environment of an Open MPI rank, from spawn to wait; {SYMBOLS} \
         symbols in the large programs. Where there are {events} events, they are of software, and \
         each open takes one signal more, in both programs: what the kernel does for events is \
         in both, so the difference is the module's own work.\n\n\
         | executable | program | compared with | ms | ratio | ms more | goal |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    let (opens, measures) =
        (format!("bare, opens {events} events"), format!("linked, measuring, {events} events"));
    let kinds = ["", "", ", all symbols exported", ", needs Open MPI"];
    for ((pair, kind), times) in pairs.iter().zip(kinds).zip(times.chunks(VARIANTS)) {
        let &[bare, other, measuring, opening, counting] = times else {
            bail!("{} times in place of {VARIANTS}", times.len());
        };
        let kilobytes = fs::metadata(&pair.linked)?.len() / 1000;
        let size = if kilobytes < 1000 {
            format!("{kilobytes} kB{kind}")
        } else {
            format!("{} MB{kind}", kilobytes / 1000)
        };
        let rows = [
            ("bare", "", bare, bare, ""),
            ("linked, not measuring", "bare", other, bare, ""),
            ("linked, measuring", "bare", measuring, bare, "+0.300 ms"),
            (opens.as_str(), "bare", opening, bare, ""),
            (measures.as_str(), opens.as_str(), counting, opening, "+0.300 ms"),
        ];
        for (program, base, time, by, goal) in rows {
            let (ratio, more) = (ratio(time, by), more(time, by));
            writeln!(
                text,
                "| {size} | {program} | {base} | {} | {ratio} | {more} | {goal} |",
                ms(time)
            )?;
        }
    }
    Ok(text)
}

/// The first event on a node where no process has any.
fn first_event(bench: &Bench, pair: &StartPair, events: i64, log: &Path) -> Result<String> {
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
