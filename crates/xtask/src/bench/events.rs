//! What open events cost while a program runs: threads that inherit them, and context
//! switches. The module executes nothing then; the cost is the kernel's.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::start::events_of_a_rank;
use super::{
    Bench, Linked, MEASURES, OTHER, Variant, alone, as_software, interleaved, lines, open_mpi_rank,
};
use crate::process::output;

/// Events of a rank with all counters of its processor in use.
const MANY: &str = "6";

/// The table.
pub fn events(bench: &Bench) -> Result<String> {
    let dir = bench.sub("events")?;
    let log = dir.join("log");
    let probe = dir.join("probe");
    bench.compile(&probe, &["as_software.c", "empty.c"], Linked::Module)?;
    let own = events_of_a_rank(&probe, &log, &dir.join("report"))?;
    let mut text = String::from(
        "## While the program runs: threads and context switches\n\n\
         Open events cost when a thread is created, which inherits them, and when a processor \
         changes between processes. Events of software: for those of a PMU the kernel also \
         writes registers of the processor at each switch, which is in none of these figures. \
         Lines of as many events differ by noise.\n\n\
         | operation | program | events | µs | µs more |\n| --- | --- | --- | --- | --- |\n",
    );

    let cases = [
        ("threads.c", &["2000"][..], MEASURES, "pthread_create and pthread_join"),
        ("switches.c", &["10000", "stranger"], OTHER, "switch to or from a process without events"),
        ("switches.c", &["10000", "child"], MEASURES, "switch between a process and its child"),
    ];
    for (source, arguments, rank, operation) in cases {
        let (bare, linked) = (dir.join("bare"), dir.join("linked"));
        let inputs = ["as_software.c", source];
        bench.compile(&bare, &inputs, Linked::Bare)?;
        bench.compile(&linked, &inputs, Linked::Module)?;
        let with = |mut command: Command, events: &str| {
            command.arg(events).args(arguments);
            let variant: Variant<'_> = Box::new(move || nanoseconds(&mut command));
            variant
        };
        let by_module = as_software(open_mpi_rank(&linked, rank, &log));
        let rounds = bench.rounds(100);
        let before = lines(&log)?;
        let times = interleaved(
            rounds,
            [
                with(alone(&bare, &log), "0"),
                with(alone(&bare, &log), &own.to_string()),
                with(alone(&bare, &log), MANY),
                with(by_module, "0"),
            ],
        )?;
        let (left, due) = (lines(&log)? - before, if rank == MEASURES { rounds + 1 } else { 0 });
        if left != due {
            bail!("{left} lines in place of {due} in {}", log.display());
        }
        let (module, opened) = if rank == MEASURES {
            ("linked, measuring", own.to_string())
        } else {
            ("linked, not measuring", "0".to_owned())
        };
        let rows = [
            ("bare", "0".to_owned()),
            ("bare", own.to_string()),
            ("bare", MANY.to_owned()),
            (module, opened),
        ];
        for ((program, events), time) in rows.into_iter().zip(times) {
            let us = |time: Duration| time.as_secs_f64() * 1e6;
            let more = us(time) - us(times[0]);
            writeln!(
                text,
                "| {operation} | {program} | {events} | {:.2} | {more:+.2} |",
                us(time)
            )?;
        }
    }
    Ok(text)
}

/// What a program of `bench/` says it took for one operation.
fn nanoseconds(command: &mut Command) -> Result<Duration> {
    let said = output(command.stdin(Stdio::null()))?;
    let number = said.trim().parse();
    Ok(Duration::from_nanos(number.with_context(|| format!("not nanoseconds: {said}"))?))
}
