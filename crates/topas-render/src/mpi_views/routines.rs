//! The table of routines, with the columns of Figure 4 of R. Rabenseifner, "Automatic MPI Counter
//! Profiling" (2000): what was counted, and an estimate of what the time was spent on.
//!
//! ```text
//! latency time  = calls x latency             column 11 = 2 x 9
//! transfer time = bytes / bandwidth           column 12 = 7 / 10
//! idle time     = time - latency - transfer   column 13 = 4 - 11 - 12
//! ```
//!
//! Bytes of a routine that only begins an operation move outside of it: there is no transfer
//! and no idle time then. The time of a local routine that moves nothing is all latency.

use serde_json::{Value, json};
use topas_mpi_data::{Calibration, MpiProfile, MpiSums, RoutineAmount, RoutineCalls, RoutineCost};
use topas_mpi_table::{CallProgress, Waits};

use super::Views;
use super::amount::{amount, plain, routine_name};
use super::body::ViewBody;
use super::cells::CellTable;
use super::json::{counted, number, rounded, seconds as json_seconds};
use crate::number::{
    NONE, compact, exact_seconds, machine_text, percent_of, percentage, quotient, seconds, short,
};
use crate::wording::{clean, count, named};

/// Routines with at least this part of the time in MPI are marked: a tenth.
const MARKED: u128 = 10;

/// Number of the first mark: (1) and (2) stand above the table.
const FIRST_MARK: usize = 3;

/// Cells of a row that need no calibration: the mark, and the columns 1 to 8.
pub(crate) const UNCALIBRATED: usize = 9;

/// Columns 9 to 13 of a routine; None: not known, or there is no such thing.
#[derive(Clone, Copy, Default)]
struct Estimate<'v> {
    cost: Option<&'v RoutineCost>,
    /// s
    latency: Option<f64>,
    transfer: Option<f64>,
    idle: Option<f64>,
}

impl<'v> Estimate<'v> {
    fn of(views: &Views<'v>, routine: &RoutineCalls) -> Self {
        let time = routine.time as f64 / 1e9;
        let name = views.profile.routines.name(routine.number);
        let cost = views.calibration.and_then(|of| of.cost(name, views.profile.total.ranks));
        let function = routine.number.function();
        let moves = function.is_none_or(|function| !function.flows.is_empty());
        let is_local = function.is_some_and(|function| function.waits == Waits::Nothing);
        let Some(known) = cost else {
            // What moves nothing and waits for nobody is all latency, whatever the machine.
            let latency = (views.calibration.is_some() && is_local && !moves).then_some(time);
            return Estimate { latency, ..Estimate::default() };
        };
        let latency = known.latency * routine.calls as f64 / 1e6;
        let ends = match function.and_then(|function| function.class.progress()) {
            None | Some(CallProgress::Blocking) => true,
            Some(_) => false,
        };
        let transfer = match (routine.transferred(), known.bandwidth) {
            (RoutineAmount::Nothing | RoutineAmount::Exact(0), _) => Some(0.0),
            (RoutineAmount::Exact(bytes), Some(rate)) if rate > 0.0 => {
                Some(bytes as f64 / (rate * 1e6))
            }
            _ => None,
        };
        let transfer = transfer.filter(|_| ends);
        let idle = transfer.map(|transfer| time - latency - transfer);
        Estimate { cost, latency: Some(latency), transfer, idle }
    }
}

/// Routines, that with most time first.
pub(super) fn sorted(profile: &MpiProfile) -> Vec<&RoutineCalls> {
    let mut routines: Vec<&RoutineCalls> = profile.total.routines.iter().collect();
    routines.sort_by_key(|routine| (std::cmp::Reverse(routine.time), routine.number));
    routines
}

/// The table with the lines above it and its notes.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let shown = shown(views);
    let body = ViewBody::default()
        .lines("Sums", above(views))
        .long_table("Routines", with_header(&shown.rows));
    shown.notes.into_iter().fold(body, ViewBody::note)
}

/// The table of routines in parts, for reports that say something else above it.
pub struct ShownRoutines {
    /// Aligned lines with the heading, in tables one below the other if the screen is too narrow;
    /// without a calibration without the columns that need one
    pub text: String,
    /// The cells of each routine and of the sum: the mark, which is empty unless much of the time is
    /// spent in it, the routine, then the columns 2 to 13
    pub rows: Vec<[String; 14]>,
    /// What is to be known of it, a paragraph each
    pub notes: Vec<String>,
    /// The times of each routine, that with most time first
    pub times: Vec<RoutineTime>,
}

/// Where the time of a routine went, in s of all ranks.
pub struct RoutineTime {
    /// Name without `MPI_`
    pub name: String,
    /// Time in its calls
    pub time: f64,
    /// Estimated time of transfer with latency; None if that is not known
    pub transfer: Option<f64>,
}

/// The parts of the table.
pub(super) fn shown(views: &Views<'_>) -> ShownRoutines {
    let mut table = RoutineTable::default();
    let mut rows: Vec<[String; 14]> =
        sorted(views.profile).into_iter().map(|routine| table.row(views, routine)).collect();
    rows.push(table.sums(views));
    let time = |routine: &RoutineCalls| {
        let Estimate { latency, transfer, .. } = Estimate::of(views, routine);
        RoutineTime {
            name: routine_name(views.profile, routine.number),
            time: routine.time as f64 / 1e9,
            transfer: latency.zip(transfer).map(|(latency, transfer)| latency + transfer),
        }
    };
    let times = sorted(views.profile).into_iter().map(time).collect();
    let cells = with_header(&rows);
    let cells = match views.calibration {
        Some(_) => cells,
        None => cells.part(&(0..UNCALIBRATED).collect::<Vec<_>>()),
    };
    let text = cells.within(views.screen.width);
    ShownRoutines { text, rows, notes: table.notes(views), times }
}

/// The rows below their headings.
fn with_header(rows: &[[String; 14]]) -> CellTable {
    let mut cells = header();
    rows.iter().for_each(|row| cells.row(row.iter().cloned()));
    cells
}

/// The three lines of headings; the numbers of the columns are those of the paper.
fn header() -> CellTable {
    CellTable::new(["", "column 1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13"])
        .left(2)
        .below([
            "",
            "MPI routine",
            "calls",
            "calls",
            "sum of",
            "time per",
            "sum of",
            "transferred",
            "bytes",
            "latency",
            "bandwidth",
            "latency",
            "transfer",
            "idle, sync",
        ])
        .below([
            "", "", "", "per PE", "time s", "call us", "counts", "bytes", "per call", "us", "MB/s",
            "time s", "time s", "time s",
        ])
}

/// What the sums and the notes below the table need of its rows.
#[derive(Default)]
struct RoutineTable {
    /// The routines that are marked, as the note tells them
    marks: Vec<String>,
    /// Latency, transfer and idle time of all routines, in s
    totals: [f64; 3],
    /// Time of the routines whose idle time is known, in ns
    estimated: u128,
    /// Whether an idle time is less than nothing
    has_negative: bool,
}

impl RoutineTable {
    /// The row of a routine.
    fn row(&mut self, views: &Views<'_>, routine: &RoutineCalls) -> [String; 14] {
        let sums = &views.profile.total;
        let name = routine_name(views.profile, routine.number);
        let mut mark = String::new();
        if routine.time > 0 && routine.time * MARKED >= sums.mpi {
            mark = format!("({})", self.marks.len() + FIRST_MARK);
            self.marks.push(format!("{mark} {name} {}", percent_of(routine.time, sums.mpi)));
        }
        let estimate = Estimate::of(views, routine);
        self.has_negative |= estimate.idle.is_some_and(|idle| idle < 0.0);
        let parts = [estimate.latency, estimate.transfer, estimate.idle];
        for (total, part) in self.totals.iter_mut().zip(parts) {
            *total += part.unwrap_or(0.0);
        }
        self.estimated += if estimate.idle.is_some() { routine.time } else { 0 };
        let known = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), short);
        let transferred = routine.transferred();
        [
            mark,
            if routine.unended > 0 { format!("{name}*") } else { name },
            compact(routine.calls),
            quotient(routine.calls, sums.ranks.into()),
            short(routine.time as f64 / 1e9),
            quotient(routine.time, routine.calls.saturating_mul(1000)),
            amount(routine.count, compact),
            amount(transferred, compact),
            amount(transferred, |bytes| quotient(bytes, routine.calls)),
            known(estimate.cost.map(|cost| cost.latency)),
            known(estimate.cost.and_then(|cost| cost.bandwidth)),
            known(estimate.latency),
            known(estimate.transfer),
            known(estimate.idle),
        ]
    }

    /// The row of the sums.
    fn sums(&self, views: &Views<'_>) -> [String; 14] {
        let sums = &views.profile.total;
        let bytes: RoutineAmount = sums.routines.iter().map(RoutineCalls::transferred).sum();
        let [latency, transfer, idle] = self
            .totals
            .map(|total| if views.calibration.is_some() { short(total) } else { NONE.to_owned() });
        let blank = String::new;
        [
            blank(),
            "sum".to_owned(),
            compact(sums.calls()),
            quotient(sums.calls(), sums.ranks.into()),
            short(sums.mpi as f64 / 1e9),
            quotient(sums.mpi, sums.calls().saturating_mul(1000)),
            blank(),
            amount(bytes, compact),
            blank(),
            blank(),
            blank(),
            latency,
            transfer,
            idle,
        ]
    }

    /// The notes below the table, a paragraph each.
    fn notes(&self, views: &Views<'_>) -> Vec<String> {
        let profile = views.profile;
        let mut notes = Vec::new();
        if !self.marks.is_empty() {
            let marks = self.marks.join(", ");
            notes.push(format!("Marked: a tenth of the time in MPI and more: {marks}."));
        }
        notes.push(
            "Transferred bytes are the larger of what was sent and received. A blank does not apply, \
             - is not known; bytes of routines that only begin an operation move outside of them."
                .to_owned(),
        );
        notes.extend(super::heading::unended(profile).map(|text| format!("* {text}")));
        if let Some(of) = views.calibration {
            notes.push(format!(
                "Columns 9 and 10: {}. The estimates of column 13 are of {} of the time in MPI.",
                source(of, profile),
                percent_of(self.estimated, profile.total.mpi)
            ));
        } else {
            notes.push(
                "Columns 9 to 13 (latency, bandwidth, transfer and idle time) need a calibration of \
                 this machine: topas-mpi calibrate."
                    .to_owned(),
            );
        }
        if self.has_negative {
            notes.push(
                "A negative idle time: calls were faster than the calibration says, as within a node \
                 or where the message was there already."
                    .to_owned(),
            );
        }
        notes
    }
}

/// Where a calibration is from.
fn source(of: &Calibration, profile: &MpiProfile) -> String {
    let mut text = format!("measured with {}", named(of.mpi.as_bytes()));
    match &of.hosts[..] {
        [] => {}
        [one] => text += &format!(" on {}", clean(one.as_bytes())),
        many => text += &format!(" on {}", count(many.len() as u64, "host")),
    }
    text += &format!(", {}", named(of.date.as_bytes()));
    if !profile.facts.mpi.is_empty() && *profile.facts.mpi != *of.mpi.as_bytes() {
        text += "; that is another MPI than the program's";
    }
    text
}

/// A time in ns summed over ranks, in s and in h.
pub(crate) fn seconds_and_hours(ns: u128) -> String {
    format!("{} s = {} h", seconds(ns, 3), short(ns as f64 / 3.6e12))
}

/// The share of MPI in the time of all ranks.
pub(crate) fn mpi_share_words(sums: &MpiSums) -> String {
    format!("sum of MPI time / sum of application time = {}", percent_of(sums.mpi, sums.wall))
}

/// What the profiling cost.
pub(crate) fn overhead_words(sums: &MpiSums) -> String {
    format!(
        "overhead added by the profiling: {} s = {} of the application time",
        seconds(sums.overhead, 6),
        percent_of(sums.overhead, sums.wall)
    )
}

/// The languages of the bindings that were called; None if none was.
pub(crate) fn language_words<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let names: Vec<String> = names.into_iter().map(|name| clean(name.as_bytes())).collect();
    (!names.is_empty()).then(|| format!("MPI language binding: {}", names.join(", ")))
}

/// The lines above the table; (1) and (2) are those of the paper.
fn above(views: &Views<'_>) -> String {
    let profile = views.profile;
    let sums = &profile.total;
    let longest = u128::from(sums.wall_max) * u128::from(sums.ranks);
    let mut out = String::new();
    let mut line = |mark: &str, text: String| out += &format!("{mark:<4}{text}\n");
    line("", format!("used PEs: {}", sums.ranks));
    line("", format!("used MPI routines: {}", sums.routines.len()));
    line("", format!("sum of application time: {}", seconds_and_hours(sums.wall)));
    line(
        "(1)",
        format!(
            "sum of application time / (PEs x longest time) = {}",
            percent_of(sums.wall, longest)
        ),
    );
    line("", format!("sum of MPI time: {}", seconds_and_hours(sums.mpi)));
    line("(2)", mpi_share_words(sums));
    line("", overhead_words(sums));
    if let Some(languages) = language_words(profile.facts.languages.iter().map(|name| &**name)) {
        line("", languages);
    }
    if !profile.facts.switches.is_empty() {
        let names: Vec<String> =
            profile.facts.switches.iter().map(|(name, _)| clean(name.as_bytes())).collect();
        line("", format!("environment switches of the MPI: {}", names.join(", ")));
    }
    out
}

/// All that is known of each routine.
pub(super) fn csv(views: &Views<'_>) -> String {
    let sums = &views.profile.total;
    let mut cells = CellTable::new([
        "routine",
        "calls",
        "calls_per_rank",
        "ranks",
        "seconds",
        "us_per_call",
        "longest_seconds",
        "mpi_percent",
        "count",
        "sends",
        "sent_bytes",
        "receives",
        "received_bytes",
        "transferred_bytes",
        "bytes_per_call",
        "latency_us",
        "bandwidth_mb_per_s",
        "latency_seconds",
        "transfer_seconds",
        "idle_seconds",
        "unended_calls",
        "unended_seconds",
    ]);
    for routine in views.order.routines(views.profile) {
        let estimate = Estimate::of(views, routine);
        let by = |part: u128, whole: u128| {
            if whole == 0 { String::new() } else { machine_text(part as f64 / whole as f64) }
        };
        let known = |value: Option<f64>| value.map(machine_text).unwrap_or_default();
        let transferred = routine.transferred();
        cells.row([
            routine_name(views.profile, routine.number),
            routine.calls.to_string(),
            by(routine.calls, sums.ranks.into()),
            routine.ranks.map(|ranks| ranks.to_string()).unwrap_or_default(),
            exact_seconds(routine.time),
            by(routine.time, routine.calls.saturating_mul(1000)),
            exact_seconds(routine.longest.into()),
            percentage(routine.time, sums.mpi, 4).unwrap_or_default(),
            plain(routine.count),
            plain(routine.sends),
            plain(routine.sent),
            plain(routine.receives),
            plain(routine.received),
            plain(transferred),
            transferred.exact().map_or_else(String::new, |bytes| by(bytes, routine.calls)),
            known(estimate.cost.map(|cost| cost.latency)),
            known(estimate.cost.and_then(|cost| cost.bandwidth)),
            known(estimate.latency),
            known(estimate.transfer),
            known(estimate.idle),
            routine.unended.to_string(),
            exact_seconds(routine.unended_time),
        ]);
    }
    cells.csv()
}

/// The same for JSON.
pub(super) fn value(views: &Views<'_>) -> Value {
    let routine = |routine: &RoutineCalls| {
        let estimate = Estimate::of(views, routine);
        json!({
            "name": routine_name(views.profile, routine.number),
            "calls": number(routine.calls),
            "ranks": routine.ranks,
            "seconds": json_seconds(routine.time),
            "longest_seconds": json_seconds(routine.longest.into()),
            "count": counted(routine.count, number),
            "sends": counted(routine.sends, number),
            "sent_bytes": counted(routine.sent, number),
            "receives": counted(routine.receives, number),
            "received_bytes": counted(routine.received, number),
            "transferred_bytes": counted(routine.transferred(), number),
            "latency_us": rounded(estimate.cost.map(|cost| cost.latency)),
            "bandwidth_mb_per_s": rounded(estimate.cost.and_then(|cost| cost.bandwidth)),
            "latency_seconds": rounded(estimate.latency),
            "transfer_seconds": rounded(estimate.transfer),
            "idle_seconds": rounded(estimate.idle),
            "unended_calls": number(routine.unended),
            "unended_seconds": json_seconds(routine.unended_time),
        })
    };
    sorted(views.profile).into_iter().map(routine).collect()
}
