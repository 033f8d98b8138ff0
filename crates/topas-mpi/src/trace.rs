//! `topas-mpi trace`: what an event log holds, its events, and exports of them.

mod chrome;
mod paraver;
mod perfetto;
mod window;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use topas_format::shown::Shown;
use topas_mpi_data::{
    CallEvent, MessageNumber, MessageNumbers, TraceLog, TraceProcess, TraceSkips, is_readable,
};
use topas_terminal::Printed;

use crate::args::Trace;
use crate::table::{aligned, cell};
use crate::{TOOL, exit, launch};
use window::TimeWindow;

/// What to do about logs of which nothing can be read.
pub const DAMAGED_HINT: &str = "they were changed or cut after they were written: copy them again";

/// Shows logs: the exit code.
pub fn run(options: &Trace) -> u8 {
    if options.perfetto && io::stdout().is_terminal() {
        TOOL.error(&"a trace of Perfetto is nothing for a terminal", None, "add > FILE");
        return exit::USAGE;
    }
    if let Some(base) = &options.paraver
        && !paraver::may_write(options, base)
    {
        return exit::USAGE;
    }
    let mut logs = Vec::new();
    let mut worst = exit::OK;
    for path in &options.files {
        match TraceLog::open(path) {
            Ok(log) => logs.push((path.as_path(), log)),
            Err(cause) => {
                let what = format!("cannot read {}", path.display());
                TOOL.error(&what, Some(&cause), "name logs that topas-run --mpi=log wrote");
                worst = exit::FAILED;
            }
        }
    }
    let mut skips = TraceSkips::default();
    for (path, log) in &logs {
        if log.processes.is_empty() {
            let what = format!("{} holds no event log", path.display());
            TOOL.error(&what, None, "name logs that topas-run --mpi=log wrote");
            worst = exit::FAILED;
        }
        warn(path, log);
        if log.is_damaged() {
            worst = exit::FAILED;
        }
    }
    let logs: Vec<TraceLog> = logs.into_iter().map(|(_, log)| log).collect();
    if logs.iter().any(TraceLog::is_damaged) && !is_readable(&logs) {
        TOOL.error(&"no call in these logs can be read", None, DAMAGED_HINT);
        return exit::FAILED;
    }
    // That there is nothing to show has been said.
    if logs.iter().all(|log| log.processes.is_empty()) {
        return worst;
    }
    let id = match launch::chosen(&logs, options.launch.as_deref()) {
        Ok(id) => id,
        Err(code) => return code,
    };
    if launch::lacks_ranks(&logs, &id, &options.rank) {
        worst = exit::FAILED;
    }
    let shows = Shows { options, logs: &logs, launch: &id };
    let mut out = BufWriter::new(io::stdout().lock());
    let shown = if options.events {
        events(&shows, &mut skips, &mut out)
    } else if options.chrome {
        chrome::write(&shows, &mut skips, &mut out)
    } else if options.perfetto {
        perfetto::write(&shows, &mut skips, &mut out)
    } else if let Some(base) = &options.paraver {
        match paraver::write(&shows, &mut skips, base) {
            Ok(Printed::Done) => Ok(()),
            Ok(Printed::Failed) => return exit::FAILED,
            Err(cause) => Err(cause),
        }
    } else {
        summary(&shows, &mut out)
    };
    let shown = shown.and_then(|()| out.flush());
    drop(out);
    if !skips.is_empty() {
        let what = format!("not shown: {} damaged events", skips.damaged);
        TOOL.warning(&what, None, "the log was changed or cut after it was written");
    }
    match TOOL.printed(shown) {
        Printed::Done => worst,
        Printed::Failed => exit::FAILED,
    }
}

/// Says what of a log cannot be read.
pub fn warn(path: &Path, log: &TraceLog) {
    for words in log.damage_words() {
        TOOL.warning(&format!("{}: {words}", Shown(path.as_os_str().as_bytes())), None, "");
    }
}

/// What is shown.
#[derive(Clone, Copy)]
struct Shows<'l> {
    options: &'l Trace,
    logs: &'l [TraceLog],
    /// The id of the launch
    launch: &'l str,
}

impl<'l> Shows<'l> {
    /// The processes of the launch, and those of which the logs do not tell the launch.
    fn processes(self) -> impl Iterator<Item = (&'l TraceLog, &'l TraceProcess)> {
        let of = |log: &'l TraceLog| log.processes.iter().map(move |process| (log, process));
        self.logs.iter().flat_map(of).filter(move |(_, process)| {
            let id = process.facts.value("id");
            id == self.launch || id.is_empty()
        })
    }

    /// Those that are wanted.
    fn wanted(self) -> impl Iterator<Item = (&'l TraceLog, &'l TraceProcess)> {
        let wanted = &self.options.rank;
        self.processes()
            .filter(move |(_, process)| wanted.is_empty() || wanted.contains(&process.rank))
    }

    /// The first moment of all processes, in nanoseconds: times are told from there.
    fn origin(self) -> u64 {
        let all = self.processes().map(|(_, process)| process);
        all.filter(|process| process.has_clock()).map(TraceProcess::began).min().unwrap_or(0)
    }
}

/// A rank and a thread in a line.
fn summary(shows: &Shows<'_>, out: &mut impl Write) -> io::Result<()> {
    let titles =
        ["rank", "host", "pid", "thread", "events", "bytes", "B/event", "overwritten", "end"];
    let (host, end) = (1, 8);
    let mut rows: Vec<[String; 9]> = vec![titles.map(str::to_owned)];
    let mut sums = (0u64, 0u64, 0u64);
    for (_, process) in shows.wanted() {
        let end = match process.facts.value("state") {
            "" => "unknown",
            "1" | "2" => "finalize",
            "3" => "abort",
            "4" => "exit",
            _ => "lost",
        };
        for thread in process.threads() {
            sums = (sums.0 + thread.events, sums.1 + thread.bytes, sums.2 + thread.overwritten);
            rows.push([
                process.rank.to_string(),
                cell(process.facts.value("host").as_bytes()),
                cell(process.facts.value("pid").as_bytes()),
                thread.thread.to_string(),
                thread.events.to_string(),
                thread.bytes.to_string(),
                per_event(thread.bytes, thread.events),
                thread.overwritten.to_string(),
                end.to_owned(),
            ]);
        }
    }
    let [all, none] = ["all", "-"].map(str::to_owned);
    rows.push([
        all,
        none.clone(),
        none.clone(),
        none.clone(),
        sums.0.to_string(),
        sums.1.to_string(),
        per_event(sums.1, sums.0),
        sums.2.to_string(),
        none,
    ]);
    write!(out, "{}", aligned(&rows, |column| [host, end].contains(&column)))
}

fn per_event(bytes: u64, events: u64) -> String {
    if events == 0 { "-".to_owned() } else { format!("{:.1}", bytes as f64 / events as f64) }
}

/// A rank, a tag and the like; empty if there is none.
fn number_or_empty(number: i32) -> String {
    if number < 0 { String::new() } else { number.to_string() }
}

/// All events, one in a line.
fn events(shows: &Shows<'_>, skips: &mut TraceSkips, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "rank,thread,routine,began_ns,length_ns,peer,source,tag,sent,received,communicator,number,path,\
         sent_message,received_message,received_tag"
    )?;
    let (origin, window) = (shows.origin(), TimeWindow::of(shows.options));
    for (log, process) in shows.wanted() {
        numbered(log, process, skips, |thread, event, number| {
            let (began, length) = times(process, event, origin);
            if !window.has(began, began + length) {
                return Ok(());
            }
            let a = process.about(event);
            if let Some(state) = process.user_state(event) {
                let edge = if state.begins { "begin" } else { "end" };
                // What acts on a terminal, and what ends a cell, is no part of a name.
                let name = Shown(state.text()).to_string().replace([',', '"'], "?");
                return writeln!(
                    out,
                    "{},{thread},{edge}:{name},{began},{length},,,,0,0,0,0,{},,,",
                    process.rank, a.path
                );
            }
            if process.pauses(event) {
                let (rank, path) = (process.rank, a.path);
                return writeln!(
                    out,
                    "{rank},{thread},pause,{began},{length},,,,0,0,0,0,{path},,,"
                );
            }
            writeln!(
                out,
                "{},{thread},{},{began},{length},{},{},{},{},{},{:x},{},{},{},{},{}",
                process.rank,
                process.routine(event.routine),
                number_or_empty(a.peer),
                number_or_empty(a.source),
                number_or_empty(a.tag),
                a.sent,
                a.received,
                a.communicator,
                a.number,
                a.path,
                number.sent.map_or_else(String::new, |number| number.to_string()),
                number.received.map_or_else(String::new, |number| number.to_string()),
                number_or_empty(a.received_tag),
            )
        })?;
    }
    Ok(())
}

/// Calls `each` with every event of a process, in the order in which calls began, and with the numbers of
/// the messages of the call.
fn numbered(
    log: &TraceLog,
    process: &TraceProcess,
    skips: &mut TraceSkips,
    mut each: impl FnMut(u32, &CallEvent, MessageNumber) -> io::Result<()>,
) -> io::Result<()> {
    let mut numbers = MessageNumbers::of(process);
    log.events_in_order(process, skips, |thread, told| {
        if told.after_hole {
            numbers.lose();
        }
        each(thread, &told.event, numbers.next(thread, &told.event))
    })
}

/// When an event began and how long it took, in nanoseconds.
fn times(process: &TraceProcess, event: &CallEvent, origin: u64) -> (u64, u64) {
    let (began, ended) = (process.nanoseconds(event.began), process.nanoseconds(event.ended));
    let origin = if process.has_clock() { origin } else { 0 };
    (began.saturating_sub(origin), ended.saturating_sub(began))
}
