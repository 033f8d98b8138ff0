//! Events in the JSON of Chrome's tracing.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::json;
use topas_format::shown::Shown;
use topas_mpi_data::{TimeClass, TraceProcess, TraceSkips};
use topas_render::timeline::class_words;

use super::window::{TimeWindow, timeline};
use super::{Shows, numbered, times};

/// A call in which a rank was at its end.
struct UnendedCall<'l> {
    process: &'l TraceProcess,
    thread: u32,
    routine: String,
    /// When it began, in ns, by the times of this export
    began: u64,
    /// For how long the rank was in it, in ns
    length: u64,
}

/// The calls that did not end. When the ranks ended the time line tells, which is read only if there are such.
fn unended_calls<'l>(shows: &Shows<'l>) -> io::Result<Vec<UnendedCall<'l>>> {
    if shows.wanted().all(|(_, process)| process.inside().is_none()) {
        return Ok(Vec::new());
    }
    let Some((timeline, rows)) = timeline(shows, &mut TraceSkips::default())? else {
        return Ok(Vec::new());
    };
    let call = |row: usize| {
        let row = timeline.rows.get(row)?;
        let part = row.unended_call()?;
        let (_, process) = *timeline.processes.get(row.process)?;
        let (routine, tick) = process.inside()?;
        let origin = if process.has_clock() { shows.origin() } else { 0 };
        Some(UnendedCall {
            process,
            thread: row.thread,
            routine: process.routine(routine),
            began: process.nanoseconds(tick).saturating_sub(origin),
            length: part.time(),
        })
    };
    Ok(rows.into_iter().filter_map(call).collect())
}

/// The events in the JSON of Chrome's tracing, which Perfetto reads, too: a process is a rank.
pub(super) fn write(
    shows: &Shows<'_>,
    skips: &mut TraceSkips,
    out: &mut impl Write,
) -> io::Result<()> {
    let (origin, window) = (shows.origin(), TimeWindow::of(shows.options));
    let unended = unended_calls(shows)?;
    let mut first = true;
    let mut put = |out: &mut dyn Write, value: &serde_json::Value| {
        let before = if std::mem::take(&mut first) { "\n" } else { ",\n" };
        write!(out, "{before}{value}")
    };
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    for (log, process) in shows.wanted() {
        let name = format!("rank {} on {}", process.rank, process.facts.value("host"));
        let named = json!({
            "ph": "M", "name": "process_name", "pid": process.rank, "tid": 0,
            "args": { "name": name },
        });
        put(out, &named)?;
        // States by thread that began in the window and have not ended.
        let mut open: HashMap<u32, u32> = HashMap::new();
        // By thread, when measuring paused.
        let mut paused: HashMap<u32, u64> = HashMap::new();
        numbered(log, process, skips, |thread, event, number| {
            let (began, length) = times(process, event, origin);
            if let Some(since) = paused.remove(&thread).filter(|since| window.has(*since, began)) {
                let pause = json!({
                    "ph": "X", "name": class_words(TimeClass::Paused), "cat": "pause",
                    "pid": process.rank, "tid": thread,
                    "ts": since as f64 / 1000.0, "dur": began.saturating_sub(since) as f64 / 1000.0,
                });
                put(out, &pause)?;
            }
            if process.pauses(event) {
                paused.insert(thread, began + length);
                return Ok(());
            }
            if !window.has(began, began + length) {
                return Ok(());
            }
            let a = process.about(event);
            if let Some(state) = process.user_state(event) {
                let open = open.entry(thread).or_default();
                if !state.begins && *open == 0 {
                    return Ok(());
                }
                *open = if state.begins { *open + 1 } else { *open - 1 };
                // The state has no part of the calls that begin and end it.
                let moment = if state.begins { began + length } else { began };
                let edge = json!({
                    "ph": if state.begins { "B" } else { "E" },
                    "name": Shown(state.text()).to_string(), "cat": "state",
                    "pid": process.rank, "tid": thread, "ts": moment as f64 / 1000.0,
                });
                return put(out, &edge);
            }
            let mut about = serde_json::Map::new();
            for (key, number) in [
                ("peer", a.peer),
                ("source", a.source),
                ("tag", a.tag),
                ("received_tag", a.received_tag),
            ] {
                if number >= 0 {
                    about.insert(key.to_owned(), number.into());
                }
            }
            for (key, number) in [("sent", a.sent), ("received", a.received)] {
                if number > 0 {
                    about.insert(key.to_owned(), number.into());
                }
            }
            for (key, number) in
                [("sent_message", number.sent), ("received_message", number.received)]
            {
                if let Some(number) = number {
                    about.insert(key.to_owned(), number.into());
                }
            }
            let event = json!({
                "ph": "X", "name": process.routine(event.routine), "cat": "mpi",
                "pid": process.rank, "tid": thread,
                "ts": began as f64 / 1000.0, "dur": length as f64 / 1000.0, "args": about,
            });
            put(out, &event)
        })?;
        let Some(call) = unended.iter().find(|call| std::ptr::eq(call.process, process)) else {
            continue;
        };
        let ended = call.began + call.length;
        if window.has(call.began, ended) {
            let event = json!({
                "ph": "X", "name": call.routine, "cat": "mpi",
                "pid": process.rank, "tid": call.thread,
                "ts": call.began as f64 / 1000.0, "dur": call.length as f64 / 1000.0,
                "args": { "did_not_end": true },
            });
            put(out, &event)?;
        }
    }
    writeln!(out, "\n]}}")
}
