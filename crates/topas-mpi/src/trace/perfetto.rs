//! Events as a trace of Perfetto: packets of protobuf, with the numbers of fields of Perfetto's
//! `perfetto_trace.proto`.
//!
//! Each rank is a process of the trace, whose id is the rank plus 1, because processes of several hosts
//! may have the same id. A call is a slice; the time for which it waited is a slice within it. A message is
//! a flow from the call that sent to the call that received. States that the program names are slices of
//! a track of their own above the calls of a thread.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use topas_format::shown::Shown;
use topas_mpi_data::{
    CallArguments, NoteKind, TimeClass, Timeline, TimelineNote, TraceLog, TraceSkips,
};
use topas_render::timeline::class_words;

use super::Shows;
use super::window::{TimeWindow, edges, timeline};

/// Names of annotations, by number from 1.
const ANNOTATIONS: [&str; 10] = [
    "peer",
    "source",
    "tag",
    "sent",
    "received",
    "communicator",
    "number",
    "path",
    "received_tag",
    "did_not_end",
];

/// The number of the last of these, of a call in which a rank was at its end.
const DID_NOT_END: u64 = ANNOTATIONS.len() as u64;

/// The number of the name of the first kind of wait: behind those of all routines.
const FIRST_WAIT: u64 = 2000;

/// The number of the category of all slices.
const CATEGORY: u64 = 1;

/// `TrackEvent.Type`
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;

/// `TracePacket.SequenceFlags`
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;

/// A message of protobuf.
#[derive(Default)]
struct ProtoMessage(Vec<u8>);

impl ProtoMessage {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// An integer.
    fn number(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    /// An integer of always 8 B.
    fn fixed(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    /// A text, or a message.
    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn message(self, field: u64, message: &ProtoMessage) -> Self {
        self.bytes(field, &message.0)
    }
}

/// `InternedData` of names: numbers and texts.
fn named(field: u64, data: ProtoMessage, number: u64, name: &str) -> ProtoMessage {
    let entry = ProtoMessage::default().number(1, number).bytes(2, name.as_bytes());
    data.message(field, &entry)
}

/// Writes a packet as an element of the trace.
fn put(out: &mut impl Write, packet: &ProtoMessage) -> io::Result<()> {
    out.write_all(&ProtoMessage::default().message(1, packet).0)
}

/// Writes the trace.
pub(super) fn write(
    shows: &Shows<'_>,
    skips: &mut TraceSkips,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some((timeline, rows)) = timeline(shows, skips)? else { return Ok(()) };
    let flows = flows(&timeline, &rows);
    for row in rows {
        write_row(&timeline, shows.logs, row, TimeWindow::of(shows.options), &flows, out)?;
    }
    Ok(())
}

/// Numbers of messages by the row that sent them and the moment at which that began, and by note.
#[derive(Default)]
struct MessageFlows {
    sent: HashMap<(u32, u64), Vec<u64>>,
    received: HashMap<usize, u64>,
}

/// Messages between the rows that are wanted.
fn flows(timeline: &Timeline<'_>, rows: &[usize]) -> MessageFlows {
    let mut flows = MessageFlows::default();
    let is_wanted = |row: u32| rows.binary_search(&(row as usize)).is_ok();
    for (place, note) in timeline.notes.iter().enumerate() {
        let both = is_wanted(note.place.row) && is_wanted(note.partner);
        if note.kind == NoteKind::Message && both {
            let number = place as u64 + 1;
            flows.sent.entry((note.partner, note.moment)).or_default().push(number);
            flows.received.insert(place, number);
        }
    }
    flows
}

/// What a call was about, as far as that is known.
fn annotations(about: &CallArguments) -> impl Iterator<Item = ProtoMessage> {
    let known = |number: i32| u64::try_from(number).ok();
    let more = |number: u64| (number > 0).then_some(number);
    let values = [
        known(about.peer),
        known(about.source),
        known(about.tag),
        more(about.sent),
        more(about.received),
        more(about.communicator),
        more(about.number).map(|number| number - 1),
        more(about.path.into()),
        known(about.received_tag),
    ];
    (1..).zip(values).filter_map(|(name, value)| {
        value.map(|value| ProtoMessage::default().number(1, name).number(3, value))
    })
}

fn write_row(
    timeline: &Timeline<'_>,
    logs: &[TraceLog],
    row: usize,
    window: TimeWindow,
    flows: &MessageFlows,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(own) = timeline.rows.get(row) else { return Ok(()) };
    let Some((_, process)) = timeline.processes.get(own.process) else { return Ok(()) };
    let (of_process, track) = (1 + 3 * own.process as u64, 2 + 3 * row as u64);
    let host = Shown(process.facts.value("host").as_bytes()).to_string();
    let name = format!("rank {} on {host}", process.rank);
    let about =
        ProtoMessage::default().number(1, u64::from(process.rank) + 1).bytes(6, name.as_bytes());
    let descriptor = ProtoMessage::default().number(1, of_process).message(3, &about);
    let sequence = row as u64 + 1;
    let packet = || ProtoMessage::default().number(10, sequence);
    put(out, &packet().message(60, &descriptor))?;
    let name = format!("MPI calls of thread {}", own.thread);
    let descriptor =
        ProtoMessage::default().number(1, track).bytes(2, name.as_bytes()).number(5, of_process);
    put(out, &packet().message(60, &descriptor))?;
    let mut data = named(1, ProtoMessage::default(), CATEGORY, "mpi");
    for (number, name) in process.routines() {
        data = named(2, data, u64::from(number) + 1, name);
    }
    for kind in [
        NoteKind::Message,
        NoteKind::LateReceiver,
        NoteKind::Collective,
        NoteKind::Post,
        NoteKind::AccessEnd,
    ] {
        data = named(2, data, FIRST_WAIT + kind as u64, class_words(kind.class()));
    }
    for (number, name) in (1..).zip(ANNOTATIONS) {
        data = named(3, data, number, name);
    }
    put(out, &packet().number(13, STATE_CLEARED).message(12, &data))?;
    let slice = |time: u64, event: ProtoMessage| {
        packet().number(8, time).number(13, NEEDS_STATE).message(11, &event)
    };
    let begin = |name: u64| {
        ProtoMessage::default()
            .number(9, SLICE_BEGIN)
            .number(11, track)
            .number(3, CATEGORY)
            .number(10, name)
    };
    let end = || ProtoMessage::default().number(9, SLICE_END).number(11, track);
    let unnamed = |name: &str| {
        let slice = ProtoMessage::default().number(9, SLICE_BEGIN).number(11, track);
        slice.number(3, CATEGORY).bytes(23, name.as_bytes())
    };
    let names: BTreeMap<u16, &str> = process.routines().collect();
    let call_of = |routine: u16| match names.contains_key(&routine) {
        true => begin(u64::from(routine) + 1),
        false => unnamed(&process.routine(routine)),
    };
    write_states(timeline, row, window, (of_process, sequence), out)?;
    let first_note = timeline.notes.partition_point(|note| (note.place.row as usize) < row);
    let notes = timeline.notes_of(row);
    let mut done = window.from;
    timeline.calls(logs, row, (window.from, window.to), |place, began, ended, event| {
        let paused = std::mem::replace(&mut done, ended);
        if timeline.rows[row].is_paused_before(place) && began > paused {
            put(out, &slice(paused, unnamed(class_words(TimeClass::Paused))))?;
            put(out, &slice(began, end()))?;
        }
        // Its states are on a track of their own, and what pauses measuring is no call.
        if process.user_state(event).is_some() || process.pauses(event) {
            return Ok(());
        }
        let mut call = call_of(event.routine);
        for annotation in annotations(&process.about(event)) {
            call = call.message(4, &annotation);
        }
        for number in flows.sent.get(&(row as u32, began)).into_iter().flatten() {
            call = call.fixed(47, *number);
        }
        let from = notes.partition_point(|note| note.place < place);
        let own = notes.get(from..).unwrap_or_default();
        let own = own.iter().take_while(|note| note.place == place);
        let mut waited: Option<&TimelineNote> = None;
        for (at, note) in own.enumerate() {
            if let Some(number) = flows.received.get(&(first_note + from + at)) {
                call = call.fixed(48, *number);
            }
            if note.wait > waited.map_or(0, |waited| waited.wait) {
                waited = Some(note);
            }
        }
        put(out, &slice(began, call))?;
        if let Some(note) = waited {
            let until = (began + note.wait).min(ended);
            put(out, &slice(began, begin(FIRST_WAIT + note.kind as u64)))?;
            put(out, &slice(until, end()))?;
        }
        put(out, &slice(ended, end()))
    })?;
    let unended = own.unended_call().filter(|part| window.has(part.began, part.ended));
    let Some((part, routine)) = unended.and_then(|part| Some((part, part.routine?))) else {
        return Ok(());
    };
    let did_not_end = ProtoMessage::default().number(1, DID_NOT_END).number(2, 1);
    put(out, &slice(part.began, call_of(routine).message(4, &did_not_end)))?;
    if part.class.is_wait() {
        put(out, &slice(part.began, unnamed(class_words(part.class))))?;
        put(out, &slice(part.ended, end()))?;
    }
    put(out, &slice(part.ended, end()))
}

/// Writes the states of a row that the program names, if it has some in the window.
fn write_states(
    timeline: &Timeline<'_>,
    row: usize,
    window: TimeWindow,
    (of_process, sequence): (u64, u64),
    out: &mut impl Write,
) -> io::Result<()> {
    let states = window.states(timeline.states_of(row));
    let (Some(own), false) = (timeline.rows.get(row), states.is_empty()) else { return Ok(()) };
    let track = 3 + 3 * row as u64;
    let name = format!("states of thread {}", own.thread);
    let descriptor =
        ProtoMessage::default().number(1, track).bytes(2, name.as_bytes()).number(5, of_process);
    let packet = || ProtoMessage::default().number(10, sequence);
    put(out, &packet().message(60, &descriptor))?;
    for edge in edges(&states) {
        let event = match edge.begins {
            Some(name) => {
                let name = timeline.state_sums.get(name as usize).map(|sum| &sum.name[..]);
                let name = Shown(name.unwrap_or_default()).to_string();
                ProtoMessage::default().number(9, SLICE_BEGIN).bytes(23, name.as_bytes())
            }
            None => ProtoMessage::default().number(9, SLICE_END),
        };
        let event = event.number(11, track).number(3, CATEGORY);
        put(out, &packet().number(8, edge.moment).number(13, NEEDS_STATE).message(11, &event))?;
    }
    Ok(())
}
