//! Events for Paraver: `.prv` has states, events and messages as lines of numbers in the order of time,
//! `.pcf` says what the numbers mean, `.row` names nodes and threads.
//!
//! Types of events are those that Extrae uses for MPI; their values are numbers of our own, which the `.pcf`
//! names. A task is a rank, and a processor is a thread. States that the program names are user functions:
//! an event has the name of the innermost one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use topas_data::{Outputs, Source, clock};
use topas_format::shown::Shown;
use topas_mpi_data::{NoteKind, TimeClass, Timeline, TraceLog, TraceSkips};
use topas_render::timeline::class_words;
use topas_terminal::Printed;

use super::Shows;
use super::window::{TimeWindow, edges, timeline};
use crate::TOOL;
use crate::args::Trace;

/// The three files.
fn paths(base: &Path) -> [PathBuf; 3] {
    ["prv", "pcf", "row"].map(|end| {
        let mut path = base.as_os_str().to_owned();
        path.push(".");
        path.push(end);
        path.into()
    })
}

/// Whether the files may be written; if not, that has been said.
pub(super) fn may_write(options: &Trace, base: &Path) -> bool {
    let inputs: Vec<Source> = options.files.iter().cloned().map(Source::File).collect();
    let mut outputs = Outputs::new(&inputs, options.force);
    for path in paths(base) {
        if let Err(kept) = outputs.add(&path) {
            TOOL.kept(&kept);
            return false;
        }
    }
    true
}

/// Writes the files. What cannot be written has been said.
pub(super) fn write(shows: &Shows<'_>, skips: &mut TraceSkips, base: &Path) -> io::Result<Printed> {
    let Some((timeline, rows)) = timeline(shows, skips)? else {
        return Ok(Printed::Done);
    };
    let layout = Layout::of(&timeline, &rows);
    let texts = [
        records(&timeline, shows.logs, &layout, TimeWindow::of(shows.options))?,
        meanings(&layout, &timeline),
        names(&layout),
    ];
    for (path, text) in paths(base).iter().zip(texts) {
        if TOOL.saved(path, Outputs::save(path, text.as_bytes())) == Printed::Failed {
            return Ok(Printed::Failed);
        }
    }
    Ok(Printed::Done)
}

/// The state of a class of time: the number that Paraver has had for it for long, and the colour.
const fn state(class: TimeClass) -> (u32, &'static str) {
    match class {
        TimeClass::Outside => (1, "217,222,229"),
        TimeClass::LateSender => (3, "168,50,50"),
        TimeClass::LateReceiver => (4, "204,130,184"),
        TimeClass::CollectiveWait => (5, "242,165,65"),
        TimeClass::PointToPoint => (8, "31,78,140"),
        TimeClass::File => (12, "69,35,94"),
        TimeClass::Collective => (13, "111,179,210"),
        TimeClass::OneSided => (14, "31,143,128"),
        TimeClass::Other => (15, "143,154,168"),
        TimeClass::NotInLog => (0, "255,255,255"),
        TimeClass::Paused => (18, "225,215,190"),
    }
}

/// The type of the event that says in which call a thread is.
const fn event_type(class: TimeClass) -> u32 {
    match class {
        TimeClass::PointToPoint => 50_000_001,
        TimeClass::Collective => 50_000_002,
        TimeClass::OneSided => 50_000_004,
        TimeClass::File => 50_000_005,
        _ => 50_000_003,
    }
}

/// The type of the event that says in which state a thread is that the program names.
const USER_FUNCTION: u32 = 60_000_019;

/// What has which number.
struct Layout {
    /// Per row of the time line that is written: processor, task and thread, from 1
    places: BTreeMap<usize, [usize; 3]>,
    /// Nodes with the names of their threads
    nodes: Vec<(String, Vec<String>)>,
    /// Per task the number of threads and the node
    tasks: Vec<(usize, usize)>,
    /// Routines by type of event and name, with their numbers
    routines: BTreeMap<String, (u32, usize)>,
}

impl Layout {
    fn of(timeline: &Timeline<'_>, rows: &[usize]) -> Layout {
        let mut layout = Layout {
            places: BTreeMap::new(),
            nodes: Vec::new(),
            tasks: Vec::new(),
            routines: BTreeMap::new(),
        };
        let mut by_node: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut last = None;
        let mut routines: BTreeSet<String> = BTreeSet::new();
        for row in rows {
            let Some(own) = timeline.rows.get(*row) else { continue };
            let Some((_, process)) = timeline.processes.get(own.process) else { continue };
            let host = Shown(process.facts.value("host").as_bytes()).to_string();
            let host = if host.is_empty() { "unknown".to_owned() } else { host };
            let node =
                layout.nodes.iter().position(|(name, _)| *name == host).unwrap_or_else(|| {
                    layout.nodes.push((host, Vec::new()));
                    layout.nodes.len() - 1
                });
            if last != Some(own.process) {
                last = Some(own.process);
                layout.tasks.push((0, node + 1));
            }
            let task = layout.tasks.len();
            if let Some((threads, _)) = layout.tasks.last_mut() {
                *threads += 1;
                layout.places.insert(*row, [0, task, *threads]);
            }
            by_node.entry(node).or_default().push(*row);
            if let Some((_, names)) = layout.nodes.get_mut(node) {
                names.push(format!("rank {} thread {}", process.rank, own.thread));
            }
            routines.extend(process.routines().map(|(_, name)| name.to_owned()));
        }
        // Processors are numbered node by node.
        for (processor, row) in (1..).zip(by_node.values().flatten()) {
            if let Some(place) = layout.places.get_mut(row) {
                place[0] = processor;
            }
        }
        let numbers = (1..).zip(routines).map(|(number, name)| {
            let kind = event_type(TimeClass::of_routine(&name));
            (name, (kind, number))
        });
        layout.routines = numbers.collect();
        layout
    }
}

/// A line of the `.prv`, put in order by its time and kind.
type TimedRecord = (u64, u8, String);

fn records(
    timeline: &Timeline<'_>,
    logs: &[TraceLog],
    layout: &Layout,
    window: TimeWindow,
) -> io::Result<String> {
    let mut lines: Vec<TimedRecord> = Vec::new();
    // When calls began and ended that send, to be found by messages.
    let mut sends: BTreeMap<(usize, u64), (u64, u64, i32)> = BTreeMap::new();
    let mut receives: Vec<(usize, usize, u64, u64, u64)> = Vec::new();
    let until = window.to.min(timeline.ended);
    for (row, place) in &layout.places {
        let Some(own) = timeline.rows.get(*row) else { continue };
        let Some((_, process)) = timeline.processes.get(own.process) else { continue };
        let [processor, task, thread] = place;
        let who = format!("{processor}:1:{task}:{thread}");
        let notes = timeline.notes_of(*row);
        let mut done = own.began().max(window.from);
        let state_line = |from: u64, to: u64, class: TimeClass| {
            let (from, to) = (from.max(window.from), to.min(until));
            let after = |time: u64| time.saturating_sub(window.from);
            let line = format!("1:{who}:{}:{}:{}", after(from), after(to), state(class).0);
            (to > from).then_some((from, 0, line))
        };
        let call_events = |name: &str, began: u64, ended: u64| {
            let other = || (event_type(TimeClass::of_routine(name)), 0);
            let (kind, number) = layout.routines.get(name).copied().unwrap_or_else(other);
            let shown = began.max(window.from);
            let event = |moment: u64, value: usize| {
                (moment, 1, format!("2:{who}:{}:{kind}:{value}", moment - window.from))
            };
            // Of a call of no length, the end would stand in front of the beginning.
            let begins = (ended > shown && shown <= until).then(|| event(shown, number));
            let ends = (ended > shown && ended <= until).then(|| event(ended, 0));
            begins.into_iter().chain(ends)
        };
        timeline.calls(logs, *row, (window.from, window.to), |at, began, ended, event| {
            let name = process.routine(event.routine);
            let class = TimeClass::of_routine(&name);
            lines.extend(state_line(done, began, own.class_before(at)));
            if process.pauses(event) {
                done = ended;
                return Ok(());
            }
            let from = notes.partition_point(|note| note.place < at);
            let about = notes.get(from..).unwrap_or_default().iter();
            let about = about.take_while(|note| note.place == at);
            let mut split = (began, class);
            for note in about {
                if note.wait > split.0 - began {
                    split = ((began + note.wait).min(ended), note.kind.class());
                }
                if note.kind == NoteKind::Message {
                    receives.push((*row, note.partner as usize, note.moment, began, ended));
                }
            }
            lines.extend(state_line(began, split.0, split.1));
            lines.extend(state_line(split.0, ended, class));
            let told = process.about(event);
            if told.sent > 0 || told.tag >= 0 {
                let about = (ended, told.sent, told.tag);
                sends.insert((*row, began), about);
            }
            lines.extend(call_events(&name, began, ended));
            done = ended;
            Ok(())
        })?;
        lines.extend(state_line(done, own.ended(), TimeClass::Outside));
        for part in &own.tail {
            lines.extend(state_line(part.began, part.ended, part.class));
        }
        if let Some((part, routine)) =
            own.unended_call().and_then(|part| Some((part, part.routine?)))
        {
            let name = process.routine(routine);
            lines.extend(call_events(&name, part.began, part.ended));
        }
        let mut within = Vec::new();
        let edges = edges(&window.states(timeline.states_of(*row)));
        for (edge, next) in edges.iter().zip(edges.iter().skip(1).map(Some).chain([None])) {
            match edge.begins {
                Some(name) => within.push(name + 1),
                None => drop(within.pop()),
            }
            // Of events of one moment, the last one holds.
            if next.is_some_and(|next| next.moment == edge.moment) {
                continue;
            }
            let (at, value) = (edge.moment - window.from, within.last().unwrap_or(&0));
            lines.push((edge.moment, 1, format!("2:{who}:{at}:{USER_FUNCTION}:{value}")));
        }
    }
    for (row, partner, moment, began, ended) in receives {
        let sent = sends.get(&(partner, moment));
        let ends = (layout.places.get(&partner), layout.places.get(&row));
        let (Some((end, bytes, tag)), (Some(from), Some(to))) = (sent, ends) else { continue };
        if moment < window.from || ended > until {
            continue;
        }
        let place =
            |[processor, task, thread]: &[usize; 3]| format!("{processor}:1:{task}:{thread}");
        let after = |time: u64| time - window.from;
        let line = format!(
            "3:{}:{}:{}:{}:{}:{}:{bytes}:{tag}",
            place(from),
            after(moment),
            after((*end).min(ended)),
            place(to),
            after(began.max(window.from)),
            after(ended)
        );
        lines.push((moment, 2, line));
    }
    lines.sort();
    let mut text = header(layout, &date(timeline), until.saturating_sub(window.from));
    for (_, _, line) in lines {
        text += &line;
        text.push('\n');
    }
    Ok(text)
}

/// The date of the first line: that of the launch, in local time.
fn date(timeline: &Timeline<'_>) -> String {
    let moments = timeline.processes.iter().map(|(_, process)| process.first_moment().realtime);
    let began = moments.filter(|moment| *moment > 0).min().unwrap_or(0);
    let local = clock::local((began / 1_000_000_000) as i64);
    let (date, time) = (local.date, local.time);
    let year = date.year % 100;
    format!("{:02}/{:02}/{year:02} at {:02}:{:02}", date.day, date.month, time.hour, time.minute)
}

/// The first line.
fn header(layout: &Layout, date: &str, length: u64) -> String {
    let list = |parts: Vec<String>| parts.join(",");
    let nodes = list(layout.nodes.iter().map(|(_, threads)| threads.len().to_string()).collect());
    let tasks = layout.tasks.iter().map(|(threads, node)| format!("{threads}:{node}"));
    format!(
        "#Paraver ({date}):{length}_ns:{}({nodes}):1:{}({})\n",
        layout.nodes.len(),
        layout.tasks.len(),
        list(tasks.collect())
    )
}

/// The `.pcf`.
fn meanings(layout: &Layout, timeline: &Timeline<'_>) -> String {
    let mut text =
        "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\n".to_owned();
    let mut states: Vec<(u32, &str, &str)> = TimeClass::ALL
        .iter()
        .map(|class| (state(*class).0, class_words(*class), state(*class).1))
        .collect();
    states.sort_unstable();
    text += "STATES\n";
    for (number, words, _) in &states {
        let _ = writeln!(text, "{number:<5}{words}");
    }
    text += "\nSTATES_COLOR\n";
    for (number, _, color) in &states {
        let _ = writeln!(text, "{number:<5}{{{color}}}");
    }
    let kinds: BTreeSet<u32> = layout.routines.values().map(|(kind, _)| *kind).collect();
    for kind in kinds {
        let words = match kind {
            50_000_001 => "MPI Point-to-point",
            50_000_002 => "MPI Collective Comm",
            50_000_004 => "MPI One-sided",
            50_000_005 => "MPI I/O",
            _ => "MPI Other",
        };
        let _ = write!(text, "\nEVENT_TYPE\n0    {kind}    {words}\nVALUES\n0      Outside MPI\n");
        for (name, (_, number)) in layout.routines.iter().filter(|(_, of)| of.0 == kind) {
            let _ = writeln!(text, "{number:<7}{}", Shown(name.as_bytes()));
        }
    }
    if !timeline.state_sums.is_empty() {
        let words = "States of the program";
        let _ = write!(text, "\nEVENT_TYPE\n0    {USER_FUNCTION}    {words}\nVALUES\n0      End\n");
        for (number, sum) in (1..).zip(&timeline.state_sums) {
            let _ = writeln!(text, "{number:<7}{}", Shown(&sum.name));
        }
    }
    text
}

/// The `.row`.
fn names(layout: &Layout) -> String {
    let threads: usize = layout.places.len();
    let mut text = format!("LEVEL CPU SIZE {threads}\n");
    for (host, names) in &layout.nodes {
        for place in 1..=names.len() {
            let _ = writeln!(text, "{place}.{host}");
        }
    }
    let _ = write!(text, "\nLEVEL NODE SIZE {}\n", layout.nodes.len());
    for (host, _) in &layout.nodes {
        let _ = writeln!(text, "{host}");
    }
    let _ = write!(text, "\nLEVEL THREAD SIZE {threads}\n");
    for [_, task, thread] in layout.places.values() {
        let _ = writeln!(text, "THREAD 1.{task}.{thread}");
    }
    text
}
