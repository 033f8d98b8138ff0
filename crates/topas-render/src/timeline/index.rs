//! What the page's script gets: rows with blocks, slices and notes as numbers, and facts as JSON.

use data_encoding::BASE64;
use serde_json::{Value, json};
use topas_format::shown::Shown;
use topas_mpi_data::{NamedState, TimeClass, Timeline, TimelineNote, TimelineRow, TraceProcess};

use super::LogFile;

/// Writes numbers with 7 bits in a byte, the lowest first; bit 7 is set in all bytes but the last.
#[derive(Default)]
struct NumberWriter {
    bytes: Vec<u8>,
}

impl NumberWriter {
    fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// A difference `d` as `2d`, or as `-2d - 1` if it is negative.
    fn put_signed(&mut self, number: i64) {
        self.put(((number << 1) ^ (number >> 63)) as u64);
    }
}

/// The rows of a timeline in base64. The script reads the same numbers in the same order; see
/// `rowsOf` in `data.js`.
pub(super) fn index(timeline: &Timeline<'_>) -> String {
    let mut out = NumberWriter::default();
    let mut notes = &timeline.notes[..];
    for (place, row) in timeline.rows.iter().enumerate() {
        let own = notes.partition_point(|note| note.place.row as usize <= place);
        let (of_row, rest) = notes.split_at(own);
        notes = rest;
        put_row(&mut out, row, of_row);
        put_states(&mut out, timeline.states_of(place));
    }
    BASE64.encode(&out.bytes)
}

fn put_row(out: &mut NumberWriter, row: &TimelineRow, notes: &[TimelineNote]) {
    out.put(row.blocks.len() as u64);
    let mut ended = 0;
    let mut before = Vec::with_capacity(row.blocks.len());
    let mut calls = 0u64;
    for block in &row.blocks {
        out.put(block.log as u64);
        out.put(block.offset);
        out.put(block.bytes.into());
        out.put(block.calls.into());
        out.put(block.began - ended);
        out.put(block.ended - block.began);
        // Enough to tell another file.
        out.put(block.check & u64::from(u32::MAX));
        ended = block.ended;
        before.push(calls);
        calls += u64::from(block.calls);
    }
    out.put(row.slices.len() as u64);
    let mut ended = row.began();
    for slice in &row.slices {
        out.put(slice.ended - ended);
        ended = slice.ended;
        let has = |(class, time): (usize, &u64)| u64::from(*time > 0) << class;
        out.put(slice.times.iter().enumerate().map(has).sum());
        slice.times.iter().filter(|time| **time > 0).for_each(|time| out.put(*time));
    }
    out.put(notes.len() as u64);
    let (mut call, mut moment) = (0, 0i64);
    for note in notes {
        let own = before.get(note.place.block as usize).copied().unwrap_or(0);
        let own = own + u64::from(note.place.call);
        out.put(own - call);
        out.put(note.kind as u64);
        out.put(note.wait);
        out.put(note.partner.into());
        out.put_signed(note.moment as i64 - moment);
        (call, moment) = (own, note.moment as i64);
    }
}

/// The states of a row that the program names.
fn put_states(out: &mut NumberWriter, states: &[NamedState]) {
    out.put(states.len() as u64);
    let mut began = 0;
    for state in states {
        out.put(state.name.into());
        out.put(state.depth.into());
        out.put(state.began - began);
        out.put(state.ended - state.began);
        began = state.began;
    }
}

/// The length of a tick in ns, as far as it is known.
fn tick(process: &TraceProcess) -> f64 {
    if !process.has_clock() {
        return 1.0;
    }
    let (first, latest) = (process.first_moment(), process.latest_moment());
    (latest.monotonic - first.monotonic) as f64 / (latest.ticks - first.ticks) as f64
}

/// What the script has to know beside the index.
pub(super) fn facts(timeline: &Timeline<'_>, logs: &[LogFile], late: Option<usize>) -> Value {
    let mut tables: Vec<Value> = Vec::new();
    let text =
        |process: &TraceProcess, key: &str| Shown(process.facts.value(key).as_bytes()).to_string();
    // The processes of a host count the same ticks.
    let known = timeline.processes.iter().map(|(_, process)| *process);
    let clocked = known.clone().find(|process| process.has_clock());
    let processes: Vec<Value> = known
        .map(|process| {
            let routines = process.routines().map(|(number, name)| {
                let class = TimeClass::of_routine(name) as u8;
                (number.to_string(), json!([Shown(name.as_bytes()).to_string(), class]))
            });
            let table = Value::Object(routines.collect());
            let place = tables.iter().position(|known| *known == table).unwrap_or_else(|| {
                tables.push(table);
                tables.len() - 1
            });
            let clock = if process.has_clock() { process } else { clocked.unwrap_or(process) };
            json!({
                "rank": process.rank, "host": text(process, "host"), "pid": text(process, "pid"),
                "routines": place, "tick": tick(clock),
            })
        })
        .collect();
    let mut hosts: Vec<String> = Vec::new();
    for (_, process) in &timeline.processes {
        let host = text(process, "host");
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    let rows: Vec<Value> = timeline
        .rows
        .iter()
        .map(|row| {
            json!({
                "process": row.process, "thread": row.thread, "several": timeline.threads_of(row.process) > 1,
                "times": row.times, "delayed": row.delayed, "inside": row.inside,
            })
        })
        .collect();
    json!({
        "ended": timeline.ended.max(1), "late": late, "sliceCalls": timeline.slice_calls, "leastWait": timeline.least_wait,
        "states": timeline.state_sums.iter().map(|sum| Shown(&sum.name).to_string())
            .collect::<Vec<_>>(),
        "classes": TimeClass::ALL.map(super::class_words),
        "hosts": hosts, "routines": tables, "processes": processes, "rows": rows,
        "logs": logs.iter().map(|log| json!({ "name": log.name, "bytes": log.bytes }))
            .collect::<Vec<_>>(),
    })
}
