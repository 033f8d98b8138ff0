//! Call paths: by which callers a program came to MPI, and what that took.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use topas_mpi_data::{
    CallersTime, LaunchPath, LaunchPaths, PathAmounts, PathEnding, PathFrame, PathModule,
    RoutineNumber, SourceFrame,
};

use super::Views;
use super::body::ViewBody;
use super::cells::CellTable;
use super::function_name;
use super::json::{number, seconds as json_seconds};
use super::order::{MpiOrder, RowKeys};
use crate::number::{compact, exact_seconds, percent_of, seconds};
use crate::wording::named;

/// Paths in text for people, where no other number is asked for.
const SHOWN: usize = 25;

/// What leaves first where the terminal is narrow.
const FIRST_TO_GO: [&str; 10] = [
    "not meas. s",
    "received B",
    "sent B",
    "Tot %",
    "other s",
    "late rcv s",
    "calls",
    "ranks",
    "coll s",
    "late snd s",
];

/// Functions that begin a program or a thread.
const BEGINNINGS: [&str; 9] = [
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "_start",
    "__clone",
    "clone",
    "clone3",
    "__clone3",
    "start_thread",
];

/// What is known of call paths.
pub struct PathViews {
    /// Paths of the launch
    pub paths: LaunchPaths,
    /// What their frames are in the source
    pub source: topas_mpi_data::SourceFrames,
    /// Every rank has rows of its own
    pub by_rank: bool,
    /// Files of modules whose frames have no names, and why, in words
    pub nameless: Vec<(Box<str>, &'static str)>,
}

/// A row: a path, and whose amounts.
struct PathRow<'p> {
    path: &'p LaunchPath,
    rank: Option<u32>,
    amounts: PathAmounts,
}

impl PathViews {
    fn rows(&self) -> Vec<PathRow<'_>> {
        if !self.by_rank {
            let row = |path| PathRow { path, rank: None, amounts: LaunchPath::amounts(path) };
            return self.paths.paths.iter().map(row).collect();
        }
        let of_path = |path| {
            let ranks = LaunchPath::ranks(path).iter();
            ranks.map(move |(rank, amounts)| PathRow { path, rank: Some(*rank), amounts: *amounts })
        };
        let mut rows: Vec<PathRow<'_>> = self.paths.paths.iter().flat_map(of_path).collect();
        rows.sort_by(|a, b| b.amounts.time.cmp(&a.amounts.time).then(a.rank.cmp(&b.rank)));
        rows
    }

    /// The frames of a path as the source has them, innermost first.
    pub(super) fn frames(&self, path: &LaunchPath) -> Vec<SourceFrame> {
        let mut frames: Vec<SourceFrame> =
            path.sums.frames.iter().flat_map(|frame| self.frame(frame)).collect();
        let begins = |frame: &SourceFrame| {
            frame.function.as_deref().is_some_and(|name| BEGINNINGS.contains(&name))
        };
        while frames.len() > 1 && frames.last().is_some_and(begins) {
            frames.pop();
        }
        // Compilers of Fortran make a function of C that calls the program.
        if let [.., inner, outer] = frames.as_slice()
            && outer.function.as_deref() == Some("main")
            && (is_fortran(inner) || inner.function.as_deref() == Some("main program"))
        {
            frames.pop();
        }
        frames
    }

    /// A frame; of one without a name its module and offset.
    fn frame(&self, frame: &PathFrame) -> Vec<SourceFrame> {
        match self.source.get(frame) {
            Some(found) if !found.is_empty() => found.clone(),
            _ => {
                let module = frame.module.and_then(|n| self.paths.modules.get(n as usize));
                let file = module.map_or("?", |module| &module.file);
                let name = file.rsplit('/').next().unwrap_or(file);
                let function = Some(format!("{}+0x{:x}", named(name.as_bytes()), frame.offset));
                vec![SourceFrame { function, ..SourceFrame::default() }]
            }
        }
    }

    /// Whether Python called, and none of its functions are known.
    fn has_python_without_functions(&self) -> bool {
        let is_python = |file: &str| {
            let name = file.rsplit('/').next().unwrap_or(file);
            name.starts_with("python") || name.starts_with("libpython")
        };
        let modules = &self.paths.modules;
        modules.iter().all(|module| module.function.is_none())
            && modules.iter().any(|module| is_python(&module.file))
    }

    /// How a path goes on behind its last frame, if it does.
    fn behind(path: &LaunchPath) -> Option<&'static str> {
        match path.sums.ending {
            PathEnding::Outermost => None,
            PathEnding::Deeper => Some("..."),
            PathEnding::Cut => Some("(its caller is not known)"),
        }
    }

    /// From where a routine was called for most of its time; None if it was not called by a path that is known.
    pub fn longest_of(&self, routine: RoutineNumber) -> Option<String> {
        let of_it = self.paths.paths.iter().filter(|path| path.sums.routine == Some(routine));
        of_it.max_by_key(|path| path.sums.amounts.time).map(|path| self.innermost(path))
    }

    /// The function that called MPI, with its place, as sentences have it: `exchange (halo.c:12)`, of C++ without the
    /// arguments of templates.
    pub(super) fn innermost(&self, path: &LaunchPath) -> String {
        self.frames(path).first().map_or_else(|| "?".to_owned(), in_short)
    }

    /// The same with its whole name.
    pub(super) fn innermost_in_full(&self, path: &LaunchPath) -> String {
        self.frames(path).first().map_or_else(|| "?".to_owned(), in_words)
    }

    /// The same for sentences. An address in a compiled module of Python, which tells nobody what called MPI, is said to be
    /// that, and outside of the functions of a script, if it is: a call by a function of Python has the place of this.
    pub(super) fn call_place(&self, path: &LaunchPath, scripts: &BTreeSet<&str>) -> String {
        let module = |frame: &PathFrame| self.paths.modules.get(frame.module? as usize);
        let nameless = path.sums.frames.first().filter(|frame| {
            self.source.get(*frame).is_none_or(Vec::is_empty)
                && module(frame).is_some_and(is_module_of_python)
        });
        let Some(module) = nameless.and_then(module) else { return self.innermost(path) };
        let name = module.file.rsplit('/').next().unwrap_or(&module.file);
        let mut text = format!("{}, a module of Python", named(name.as_bytes()));
        if let Some(script) = scripts.first().filter(|_| scripts.len() == 1) {
            text += &format!(", outside of the functions of {}", named(script.as_bytes()));
        }
        text
    }

    /// The names of its functions alone, innermost first: `exchange < solve < main`.
    pub(super) fn functions(&self, path: &LaunchPath) -> String {
        let name = |frame: &SourceFrame| named(frame.function.as_deref().unwrap_or("?").as_bytes());
        self.frames(path).iter().map(name).collect::<Vec<_>>().join(" < ")
    }

    /// A path in one line: `exchange (halo.c:12) < solve (halo.c:30) < main (halo.c:50)`.
    pub(crate) fn line(&self, path: &LaunchPath) -> String {
        let mut words: Vec<String> = self.frames(path).iter().map(in_words).collect();
        words.extend(PathViews::behind(path).map(str::to_owned));
        words.join(" < ")
    }
}

/// Whether a module is one that was compiled for Python: `MPI.cpython-311-x86_64-linux-gnu.so`.
fn is_module_of_python(module: &PathModule) -> bool {
    let name = module.file.rsplit('/').next().unwrap_or(&module.file);
    module.function.is_none()
        && name.ends_with(".so")
        && [".cpython-", ".abi3.", ".pypy"].iter().any(|mark| name.contains(mark))
}

/// Whether the source of a function is Fortran, by the ending of its file.
fn is_fortran(frame: &SourceFrame) -> bool {
    let ending = frame.file.as_deref().and_then(|file| file.rsplit_once('.'));
    ending.is_some_and(|(_, ending)| {
        let ending = ending.to_ascii_lowercase();
        matches!(&*ending, "f" | "for" | "ftn")
            || ending.starts_with('f') && ending[1..].parse::<u8>().is_ok()
    })
}

/// A function with its place: `exchange (halo.c:12)`.
fn in_words(frame: &SourceFrame) -> String {
    let function = named(frame.function.as_deref().unwrap_or("?").as_bytes());
    match place(frame) {
        Some(place) => format!("{function} ({place})"),
        None => function,
    }
}

/// The same without the arguments of templates.
pub(super) fn in_short(frame: &SourceFrame) -> String {
    let function = frame.function.as_deref().map(function_name::short);
    in_words(&SourceFrame { function, ..frame.clone() })
}

/// `halo.c:12`
fn place(frame: &SourceFrame) -> Option<String> {
    let file = frame.file.as_deref()?;
    let file = named(file.rsplit('/').next().unwrap_or(file).as_bytes());
    Some(match frame.line {
        Some(line) => format!("{file}:{line}"),
        None => file,
    })
}

pub(super) fn routine(views: &Views<'_>, path: &LaunchPath) -> String {
    let routine = path.sums.routine;
    routine.map_or_else(
        || "other paths".to_owned(),
        |routine| named(views.profile.routines.name(routine).as_bytes()),
    )
}

/// Ranks as `0-3,7`.
fn ranks(row: &PathRow<'_>) -> String {
    if let Some(rank) = row.rank {
        return rank.to_string();
    }
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for (rank, _) in LaunchPath::ranks(row.path) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *rank => *last = *rank,
            _ => runs.push((*rank, *rank)),
        }
    }
    // A long list is told by its number.
    if runs.len() > 3 {
        return format!("{} ranks", row.path.ranks.len());
    }
    let words: Vec<String> =
        runs.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    words.join(",")
}

/// Puts rows into the order that was asked for.
fn in_order(views: &Views<'_>, order: &MpiOrder, rows: &mut Vec<PathRow<'_>>) {
    order.apply(rows, |row| RowKeys {
        time: row.amounts.time,
        calls: row.amounts.calls,
        sent: row.amounts.sent,
        received: row.amounts.received,
        waits: row.amounts.waits.iter().sum(),
        change: 0,
        name: routine(views, row.path),
    });
}

/// Where the time of a path went, in ns: late senders, late receivers, collectives, not known, other.
fn parts(amounts: &PathAmounts) -> [u128; 5] {
    let [late, receiver, collective] = amounts.waits;
    [late, receiver, collective, amounts.unknown, amounts.other()]
}

const NOT_COUNTED: &str = "Call paths were not counted: run with topas-run --mpi=paths, or with \
                           TOPAS_MPI_PATHS=yes.";

const PYTHON_WITHOUT_FUNCTIONS: &str = "Functions of Python are not named: the profile knows where \
                                        CPython 3.6 to 3.13 keeps them.";

/// A block for each path: its figures, then its callers line by line.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let Some(of) = views.paths.as_ref().filter(|of| !of.paths.paths.is_empty()) else {
        return ViewBody::default().prose(NOT_COUNTED);
    };
    let mut rows = of.rows();
    in_order(views, &MpiOrder { top: None, ..views.order }, &mut rows);
    let shown = views.order.top.unwrap_or(SHOWN);
    let waits = super::waits::are_measured(views.profile);
    let mut header =
        vec!["routine", "ranks", "calls", "time s", "Self %", "Tot %", "sent B", "received B"];
    if waits {
        header.extend(["late snd s", "late rcv s", "coll s", "not meas. s", "other s"]);
    }
    let figures = header.len();
    header.push("callers");
    let mut cells = CellTable::new(header).left(2).words().leaving(&FIRST_TO_GO);
    let (total, all) = (&views.profile.total, CallersTime::of(views.profile));
    for row in rows.iter().take(shown) {
        let amounts = &row.amounts;
        let mut callers: Vec<String> = of
            .frames(row.path)
            .iter()
            .map(|frame| {
                let inlined = if frame.inlined { ", inlined" } else { "" };
                format!("{}{inlined}", in_words(frame))
            })
            .collect();
        callers.extend(PathViews::behind(row.path).map(str::to_owned));
        let mut callers = callers.into_iter();
        let mut told = vec![
            routine(views, row.path),
            ranks(row),
            compact(amounts.calls),
            seconds(amounts.time, 6),
            percent_of(amounts.time, total.mpi),
            percent_of(amounts.time, all.time),
            compact(amounts.sent),
            compact(amounts.received),
        ];
        if waits {
            told.extend(parts(amounts).map(|ns| seconds(ns, 6)));
        }
        told.push(callers.next().unwrap_or_default());
        cells.row(told);
        for caller in callers {
            let mut blank = vec![String::new(); figures];
            blank.push(format!("< {caller}"));
            cells.row(blank);
        }
    }
    let mut body = ViewBody::default().table("Call paths", cells);
    if let Some(rest) = rows.get(shown..).filter(|rest| !rest.is_empty()) {
        let time: u128 = rest.iter().map(|row| row.amounts.time).sum();
        let what = format!("{} further rows took {} s", rest.len(), seconds(time, 6));
        let share = percent_of(time, total.mpi);
        body = body.note(format!("{what} ({share} of MPI); --csv has all.")).joined();
    }
    body = body.note(format!(
        "Self %: of the time in MPI of all ranks. Tot %: of the wall clock time of all {}. Bytes \
         of receives that were started before are told where they were completed.",
        all.whose()
    ));
    if waits {
        body = body.note(
            "Waits for late senders, for late receivers and in collectives, calls of which that is \
             not known, and other add up to the time. --partners shows for whom each path waited.",
        );
    }
    if of.has_python_without_functions() {
        body = body.note(PYTHON_WITHOUT_FUNCTIONS);
    }
    for (file, why) in &of.nameless {
        body = body.note(format!("Functions in {} have no names: {why}.", named(file.as_bytes())));
    }
    body
}

/// The same as data: all paths.
pub(super) fn csv(views: &Views<'_>) -> String {
    let mut header = vec![
        "path",
        "routine",
        "rank",
        "ranks",
        "calls",
        "seconds",
        "sent_bytes",
        "received_bytes",
        "callers",
    ];
    let waits = super::waits::are_measured(views.profile);
    if waits {
        header.extend([
            "late_sender_seconds",
            "late_receiver_seconds",
            "collective_seconds",
            "not_measured_seconds",
            "other_seconds",
        ]);
    }
    let mut cells = CellTable::new(header);
    let Some(of) = &views.paths else { return cells.csv() };
    let mut rows = of.rows();
    in_order(views, &views.order, &mut rows);
    for row in rows {
        let amounts = &row.amounts;
        let mut told = vec![
            format!("{:016x}", row.path.id),
            routine(views, row.path),
            row.rank.map(|rank| rank.to_string()).unwrap_or_default(),
            if row.rank.is_some() { 1 } else { row.path.ranks.len() }.to_string(),
            amounts.calls.to_string(),
            exact_seconds(amounts.time),
            amounts.sent.to_string(),
            amounts.received.to_string(),
            of.line(row.path),
        ];
        if waits {
            told.extend(parts(amounts).map(exact_seconds));
        }
        cells.row(told);
    }
    cells.csv()
}

/// For JSON; null if they were not counted.
pub(super) fn value(views: &Views<'_>) -> Value {
    let Some(of) = &views.paths else { return Value::Null };
    let waits = super::waits::are_measured(views.profile);
    let amounts = |amounts: &PathAmounts| {
        json!({
            "calls": number(amounts.calls),
            "seconds": json_seconds(amounts.time),
            "sent_bytes": number(amounts.sent),
            "received_bytes": number(amounts.received),
            "waits": waits.then(|| {
                let [late, receiver, collective, unknown, other] =
                    parts(amounts).map(json_seconds);
                json!({
                    "late_sender_seconds": late,
                    "late_receiver_seconds": receiver,
                    "collective_seconds": collective,
                    "not_measured_seconds": unknown,
                    "other_seconds": other,
                })
            }),
        })
    };
    let path = |path: &LaunchPath| {
        let frames: Vec<Value> = of
            .frames(path)
            .iter()
            .map(|frame| {
                json!({
                    "function": frame.function.as_deref().map(|name| named(name.as_bytes())),
                    "file": frame.file.as_deref().map(|name| named(name.as_bytes())),
                    "line": frame.line,
                    "inlined": frame.inlined,
                })
            })
            .collect();
        let ranks: Vec<Value> = path
            .ranks
            .iter()
            .map(|(rank, of)| json!({ "rank": rank, "amounts": amounts(of) }))
            .collect();
        json!({
            "path": format!("{:016x}", path.id),
            "routine": path.sums.routine.map(|_| routine(views, path)),
            "amounts": amounts(&path.sums.amounts),
            "callers": frames,
            "complete": path.sums.ending == PathEnding::Outermost,
            "ranks": ranks,
            "partners": super::partners::value(path),
        })
    };
    of.paths.paths.iter().map(path).collect()
}
