//! Ranks by routines: the five matrices of SGI's MPInside.
//!
//! One line for the title, one for the header, one for each rank; columns are separated by
//! blanks. What does not apply is `-----`, what was not counted `-`. A routine that a rank did
//! not call, or that moves nothing, is 0.

use serde_json::{Value, json};
use topas_mpi_data::{
    MpiProfile, MpiSums, RoutineAmount, RoutineCalls, RoutineNumber, outside_of_rank,
};

use super::amount::{amount, plain, routine_name};
use super::cells::CellTable;
use super::json::{counted, number, seconds as json_seconds};
use crate::number::{NONE, exact_seconds, kilobytes, seconds};

/// Places of seconds.
const DECIMALS: u32 = 6;

/// What does not apply.
const NOTHING: &str = "-----";

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// Wall clock time
    Time,
    /// Bytes sent, put or written
    Sent,
    /// Messages sent, blocks put or written
    Sends,
    /// Bytes received, got or read
    Received,
    /// Messages received, blocks got or read
    Receives,
}

/// All, in the order of MPInside.
pub const MATRICES: [Matrix; 5] =
    [Matrix::Time, Matrix::Sent, Matrix::Sends, Matrix::Received, Matrix::Receives];

impl Matrix {
    /// Its name in options, CSV and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Matrix::Time => "time",
            Matrix::Sent => "sent",
            Matrix::Sends => "sends",
            Matrix::Received => "received",
            Matrix::Receives => "receives",
        }
    }

    /// Unit of its values in CSV and JSON.
    pub const fn unit(self) -> &'static str {
        match self {
            Matrix::Time => "s",
            Matrix::Sent | Matrix::Received => "B",
            Matrix::Sends | Matrix::Receives => "messages",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Matrix::Time => ">>>> Elapse times in (s) <<<<",
            Matrix::Sent => ">>>> Kbytes with send attribute <<<<",
            Matrix::Sends => ">>>> Number of request with Send attribute <<<<",
            Matrix::Received => ">>>> Kbytes with Recv attribute <<<<",
            Matrix::Receives => ">>>> Number of request with Recv attribute <<<<",
        }
    }

    /// The cell of a routine that was called.
    fn amount(self, of: &RoutineCalls) -> RoutineAmount {
        match self {
            Matrix::Time => RoutineAmount::Exact(of.time),
            Matrix::Sent => of.sent,
            Matrix::Sends => of.sends,
            Matrix::Received => of.received,
            Matrix::Receives => of.receives,
        }
    }
}

/// Time outside MPI, measurement and pauses in ns; None of several ranks together some of which
/// called MPI from several threads: their times say nothing of that of ranks.
fn computing(sums: &MpiSums) -> Option<u128> {
    let is_told = sums.ranks <= 1 || sums.threads <= 1;
    is_told.then(|| outside_of_rank(sums).saturating_sub(sums.overhead))
}

/// Rows: a name and what was counted. All ranks together where they are not told one by one.
fn rows(profile: &MpiProfile) -> Vec<(String, &MpiSums)> {
    if profile.ranks.is_empty() {
        return vec![("all".to_owned(), &profile.total)];
    }
    profile.ranks.iter().map(|rank| (rank.rank.to_string(), &rank.sums)).collect()
}

/// Routines that were called, in the order of the standard's chapters.
fn columns(profile: &MpiProfile) -> Vec<(RoutineNumber, String)> {
    let mut numbers: Vec<RoutineNumber> = rows(profile)
        .iter()
        .flat_map(|(_, sums)| sums.routines.iter().map(|routine| routine.number))
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    let name =
        |number| routine_name(profile, number).to_lowercase().replace(char::is_whitespace, "_");
    numbers.into_iter().map(|number| (number, name(number))).collect()
}

/// Columns of waits, where they were told apart. They are parts of the times of routines, and those
/// of one row add up to no more than these.
const WAITS: [&str; 4] = ["late_sender", "late_receiver", "collective", "not_measured"];

/// Why the ranks of a row waited, in ns; None if that was not told apart.
fn waits(sums: &MpiSums) -> Option<[u128; 4]> {
    let all = sums.waits.all();
    let parts = [all.late, all.late_receiver, all.collective].map(|figure| figure.nanoseconds);
    let [late, receiver, collective] = parts;
    sums.waits.measured.then(|| [late, receiver, collective, all.unknown()])
}

fn has_waits(profile: &MpiProfile) -> bool {
    rows(profile).iter().any(|(_, sums)| sums.waits.measured)
}

fn has_pauses(profile: &MpiProfile) -> bool {
    profile.total.paused > 0
}

/// The amounts of a row in the order of `columns`: both are by number.
fn amounts(
    sums: &MpiSums,
    columns: &[(RoutineNumber, String)],
    matrix: Matrix,
) -> impl Iterator<Item = RoutineAmount> {
    let mut routines = sums.routines.iter().peekable();
    columns.iter().map(move |(number, _)| {
        while routines.next_if(|routine| routine.number < *number).is_some() {}
        let of = routines.next_if(|routine| routine.number == *number);
        of.map_or(RoutineAmount::Nothing, |routine| matrix.amount(routine))
    })
}

/// One matrix in the form of MPInside.
pub(super) fn text(profile: &MpiProfile, matrix: Matrix) -> String {
    let columns = columns(profile);
    let pauses = has_pauses(profile);
    let mut header = vec!["CPU", "Comput"];
    header.extend(columns.iter().map(|(_, name)| name.as_str()));
    header.push("overhead");
    if pauses {
        header.push("paused");
    }
    let has_waits = has_waits(profile);
    if has_waits {
        header.extend(WAITS);
    }
    let mut cells = CellTable::new(header).left(0);
    let is_time = matrix == Matrix::Time;
    let time = |ns: u128| seconds(ns, DECIMALS);
    for (name, sums) in rows(profile) {
        let mut row = Vec::with_capacity(columns.len() + 4);
        row.push(name);
        row.push(if is_time {
            computing(sums).map_or_else(|| NONE.to_owned(), time)
        } else {
            NOTHING.to_owned()
        });
        let cell = |n: u128| match matrix {
            Matrix::Time => time(n),
            Matrix::Sent | Matrix::Received => kilobytes(n),
            Matrix::Sends | Matrix::Receives => n.to_string(),
        };
        row.extend(amounts(sums, &columns, matrix).map(|of| match of {
            RoutineAmount::Nothing => cell(0),
            of => amount(of, cell),
        }));
        row.push(if is_time { time(sums.overhead) } else { "0".to_owned() });
        if pauses {
            row.push(if is_time { time(sums.paused) } else { NOTHING.to_owned() });
        }
        if has_waits {
            let told = waits(sums);
            row.extend((0..WAITS.len()).map(|place| match told {
                _ if !is_time => NOTHING.to_owned(),
                Some(parts) => time(parts[place]),
                None => NONE.to_owned(),
            }));
        }
        cells.row(row);
    }
    format!("{}\n{}", matrix.title(), cells.aligned(2))
}

/// Matrices one below the other, in s, B and messages; the first column tells them apart.
pub(super) fn csv(profile: &MpiProfile, matrices: &[Matrix]) -> String {
    let columns = columns(profile);
    let mut header = vec!["matrix", "unit", "rank", "comput"];
    header.extend(columns.iter().map(|(_, name)| name.as_str()));
    header.extend(["overhead", "paused"]);
    let has_waits = has_waits(profile);
    if has_waits {
        header.extend(WAITS);
    }
    let mut cells = CellTable::new(header);
    for &matrix in matrices {
        let is_time = matrix == Matrix::Time;
        let own = |ns: Option<u128>| ns.filter(|_| is_time).map(exact_seconds).unwrap_or_default();
        for (name, sums) in rows(profile) {
            let mut row = vec![matrix.name().to_owned(), matrix.unit().to_owned(), name];
            row.push(own(computing(sums)));
            row.extend(amounts(sums, &columns, matrix).map(|amount| match amount {
                RoutineAmount::Nothing => "0".to_owned(),
                RoutineAmount::Exact(n) if is_time => exact_seconds(n),
                amount => plain(amount),
            }));
            row.push(own(Some(sums.overhead)));
            row.push(own(Some(sums.paused)));
            if has_waits {
                let told = waits(sums);
                row.extend((0..WAITS.len()).map(|place| own(told.map(|parts| parts[place]))));
            }
            cells.row(row);
        }
    }
    cells.csv()
}

/// The same for JSON: columns once, values by row.
pub(super) fn value(profile: &MpiProfile, matrix: Matrix) -> Value {
    let columns = columns(profile);
    let is_time = matrix == Matrix::Time;
    let row = |(name, sums): (String, &MpiSums)| {
        let values: Vec<Value> = amounts(sums, &columns, matrix)
            .map(|amount| match amount {
                RoutineAmount::Nothing => json!(0),
                amount if is_time => counted(amount, json_seconds),
                amount => counted(amount, number),
            })
            .collect();
        let rank = name.parse::<u64>().map_or(Value::Null, Value::from);
        let mut row = json!({ "rank": rank, "values": values });
        if is_time {
            row["comput"] = computing(sums).map_or(Value::Null, json_seconds);
            row["overhead"] = json_seconds(sums.overhead);
            row["paused"] = json_seconds(sums.paused);
            if let Some(parts) = waits(sums) {
                for (name, ns) in WAITS.iter().zip(parts) {
                    row[*name] = json_seconds(ns);
                }
            }
        }
        row
    };
    let rows: Vec<Value> = rows(profile).into_iter().map(row).collect();
    let names: Vec<&str> = columns.iter().map(|(_, name)| name.as_str()).collect();
    json!({ "unit": matrix.unit(), "routines": names, "rows": rows })
}
