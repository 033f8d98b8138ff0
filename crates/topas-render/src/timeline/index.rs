//! What the page's script gets: rows with blocks, slices and notes as numbers, and facts as JSON.

use std::collections::HashMap;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};
use topas_format::shown::Shown;
use topas_mpi_data::{
    NamedState, TimeClass, Timeline, TimelineBlock, TimelineNote, TimelineObject, TimelineRow,
    TimelineSlice, TimelineWorld, TraceProcess, object_of_routine,
};

use super::TimelinePage;
use crate::mpi_views::PathViews;

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

/// Slices of the picture of all rows together: more than a screen has columns.
const OVERVIEW_SLICES: usize = 2048;
/// Calls that are read together, or some more: of a block, this is a part.
const PIECE_CALLS: u32 = 1000;

/// How many slices a part of a block has that is read alone.
fn piece_slices(timeline: &Timeline<'_>) -> u32 {
    PIECE_CALLS.div_ceil(timeline.slice_calls.max(1))
}

/// The whole run and the rows of a timeline, each of them a line in base64. The script reads the same numbers
/// in the same order; see `rows.js`.
pub(super) fn index(timeline: &Timeline<'_>) -> String {
    let mut out = NumberWriter::default();
    put_slices(&mut out, 0, &timeline.overview(OVERVIEW_SLICES));
    let mut text = BASE64.encode(&out.bytes);
    let piece_slices = piece_slices(timeline) as usize;
    for (place, row) in timeline.rows.iter().enumerate() {
        let mut out = NumberWriter::default();
        put_blocks(&mut out, row, piece_slices);
        put_slices(&mut out, row.began(), &row.slices);
        put_notes(&mut out, row, timeline.notes_of(place));
        put_states(&mut out, timeline.states_of(place));
        put_pauses(&mut out, row);
        text.push('\n');
        BASE64.encode_append(&out.bytes, &mut text);
    }
    text
}

fn put_blocks(out: &mut NumberWriter, row: &TimelineRow, piece_slices: usize) {
    out.put(row.blocks.len() as u64);
    let mut ended = 0;
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
        put_pieces(out, block, row.slices_of(block), piece_slices);
    }
}

/// Where the parts of a block begin that are read alone, without the first.
fn put_pieces(
    out: &mut NumberWriter,
    block: &TimelineBlock,
    slices: &[TimelineSlice],
    piece_slices: usize,
) {
    let first = block.first >> block.shift;
    out.put(block.shift.into());
    out.put(block.first - (first << block.shift));
    let pieces = slices.iter().step_by(piece_slices).skip(1);
    out.put(pieces.len() as u64);
    let (mut offset, mut clock) = (0, first);
    for slice in pieces {
        out.put((slice.place.offset - offset).into());
        out.put(slice.place.clock - clock);
        (offset, clock) = (slice.place.offset, slice.place.clock);
    }
}

fn put_slices(out: &mut NumberWriter, began: u64, slices: &[TimelineSlice]) {
    out.put(slices.len() as u64);
    let mut ended = began;
    for slice in slices {
        out.put(slice.ended - ended);
        ended = slice.ended;
        let has = |(class, time): (usize, &u64)| u64::from(*time > 0) << class;
        out.put(slice.times.iter().enumerate().map(has).sum());
        slice.times.iter().filter(|time| **time > 0).for_each(|time| out.put(*time));
    }
}

/// How many calls of a row are in front of each of its blocks.
fn calls_before(row: &TimelineRow) -> Vec<u64> {
    let mut calls = 0u64;
    let count = |block: &TimelineBlock| {
        calls += u64::from(block.calls);
        calls - u64::from(block.calls)
    };
    row.blocks.iter().map(count).collect()
}

fn put_notes(out: &mut NumberWriter, row: &TimelineRow, notes: &[TimelineNote]) {
    let before = calls_before(row);
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

/// Calls in front of which measuring was paused.
fn put_pauses(out: &mut NumberWriter, row: &TimelineRow) {
    out.put(row.pauses.len() as u64);
    let before = calls_before(row);
    let mut last = 0;
    for (block, call) in &row.pauses {
        let number = before.get(*block as usize).copied().unwrap_or(0) + u64::from(*call);
        out.put(number - last);
        last = number;
    }
}

/// The place of a table in a list in which none stands twice: most processes have the same.
fn place_in(tables: &mut Vec<Value>, table: Value) -> usize {
    tables.iter().position(|known| *known == table).unwrap_or_else(|| {
        tables.push(table);
        tables.len() - 1
    })
}

/// The call paths in words, and by rank the places of the words by the number that the path has there.
/// `before` words are in the list already.
fn path_names(views: &PathViews, before: usize) -> (Vec<String>, HashMap<u32, Map<String, Value>>) {
    let words = views.paths.paths.iter().map(|path| views.line(path)).collect();
    let places: HashMap<u64, usize> =
        views.paths.paths.iter().enumerate().map(|(place, path)| (path.id, place)).collect();
    let mut ranks: HashMap<u32, Map<String, Value>> = HashMap::new();
    for (rank, number, id) in views.paths.numbers() {
        if let Some(place) = places.get(&id) {
            let place = json!(before + place);
            ranks.entry(rank).or_default().insert(number.to_string(), place);
        }
    }
    (words, ranks)
}

/// Most communicators, windows and files without a name of which the page says what made them: programs may make
/// them in loops.
const MOST_UNNAMED: usize = 4096;

/// Names of communicators, windows and files by their numbers, as the script writes numbers; and what made those
/// without a name.
fn objects(world: &TimelineWorld) -> (Map<String, Value>, Map<String, Value>) {
    let (mut names, mut makers) = (Map::new(), Map::new());
    names.insert("1".to_owned(), "MPI_COMM_WORLD".into());
    names.insert("2".to_owned(), "MPI_COMM_SELF".into());
    for (number, TimelineObject { name, maker }) in &world.objects {
        let number = format!("{number:x}");
        if !name.is_empty() {
            names.insert(number, Shown(name).to_string().into());
        } else if !maker.is_empty() && makers.len() < MOST_UNNAMED {
            makers.insert(number, Shown(maker.as_bytes()).to_string().into());
        }
    }
    (names, makers)
}

/// The longest delay that arose in a row, as the script gets it.
fn delay_of(timeline: &Timeline<'_>, row: usize) -> Option<Value> {
    let delay = timeline.longest_delay(row)?;
    Some(json!({ "from": delay.began, "to": delay.ended, "waiting": delay.waiting }))
}

/// What the script has to know beside the index.
pub(super) fn facts(page: &TimelinePage<'_>, late: Option<usize>) -> Value {
    let TimelinePage { timeline, logs, worlds, .. } = page;
    let mut tables = Vec::new();
    let mut path_tables = Vec::new();
    // Paths of all worlds are in one list.
    let mut path_words: Vec<String> = Vec::new();
    let mut paths_of: Vec<HashMap<u32, Map<String, Value>>> = Vec::new();
    for world in *worlds {
        let paths = world.profile.and_then(|(_, paths)| paths);
        let (words, ranks) =
            paths.map(|paths| path_names(paths, path_words.len())).unwrap_or_default();
        path_words.extend(words);
        paths_of.push(ranks);
    }
    let text =
        |process: &TraceProcess, key: &str| Shown(process.facts.value(key).as_bytes()).to_string();
    // The processes of a host count the same ticks.
    let known = timeline.processes.iter().map(|(_, process)| *process);
    let clocked = known.clone().find(|process| process.has_clock());
    let processes: Vec<Value> = known
        .enumerate()
        .map(|(place, process)| {
            let routines = process.routines().map(|(number, name)| {
                let class = TimeClass::of_routine(name) as u8;
                (
                    number.to_string(),
                    json!([
                        Shown(name.as_bytes()).to_string(),
                        class,
                        object_of_routine(name) as u8
                    ]),
                )
            });
            let routines = place_in(&mut tables, Value::Object(routines.collect()));
            let world = timeline.world_of(place);
            let paths = paths_of.get(world).and_then(|ranks| ranks.get(&process.rank));
            let paths = paths.cloned().unwrap_or_default();
            let paths = place_in(&mut path_tables, Value::Object(paths));
            let clock = if process.has_clock() { process } else { clocked.unwrap_or(process) };
            json!({
                "rank": process.rank, "world": world, "host": text(process, "host"), "pid": text(process, "pid"),
                "routines": routines, "paths": paths, "tick": clock.tick_length(),
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
    let told: Vec<Value> = timeline
        .worlds
        .iter()
        .enumerate()
        .map(|(place, world)| {
            let (names, makers) = objects(world);
            let (words, number) = (page.world_words(place), page.world_number(place));
            json!({ "words": words, "number": number, "names": names, "makers": makers })
        })
        .collect();
    let mut blocks = 0;
    let rows: Vec<Value> = timeline
        .rows
        .iter()
        .map(|row| {
            let first = blocks;
            blocks += row.blocks.len();
            json!({
                "block": first, "began": row.began(),
                "process": row.process, "thread": row.thread, "several": timeline.threads_of(row.process) > 1,
                "times": row.times, "delayed": row.delayed,
                "tail": row.tail.iter()
                    .map(|part| (part.class as u8, part.began, part.ended, part.routine))
                    .collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "ended": timeline.ended.max(1), "late": late, "delay": late.and_then(|row| delay_of(timeline, row)), "sliceCalls": timeline.slice_calls,
        "pieceSlices": piece_slices(timeline), "leastWait": timeline.least_wait,
        "states": timeline.state_sums.iter().map(|sum| Shown(&sum.name).to_string())
            .collect::<Vec<_>>(),
        "worlds": told, "initialized": timeline.initialized,
        "classes": TimeClass::ALL.map(super::class_words),
        "hosts": hosts, "routines": tables, "paths": path_tables, "pathWords": path_words, "processes": processes, "rows": rows,
        "logs": logs.iter().map(|log| json!({ "name": log.name, "bytes": log.bytes }))
            .collect::<Vec<_>>(),
    })
}
