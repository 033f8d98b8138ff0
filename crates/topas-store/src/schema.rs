//! The tables of a store: the same in every database.

use topas_data::measure::IntegerSums;

/// A value in a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    /// A whole number
    Int(i64),
    /// A text without control characters, see [`stored_text`](crate::stored_text)
    Text(String),
    /// Any bytes
    Bytes(Vec<u8>),
}

/// What a column holds. No column is ever empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// [`Cell::Int`]
    Int,
    /// [`Cell::Text`]
    Text,
    /// [`Cell::Bytes`]
    Bytes,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name of the column
    pub name: &'static str,
    /// What it holds
    pub kind: CellKind,
}

const fn int(name: &'static str) -> Column {
    Column { name, kind: CellKind::Int }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: CellKind::Text }
}

/// What tells how old a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowAge {
    /// The column `day`
    Day,
    /// The column `month`
    Month,
    /// The date at the beginning of the column `line`
    Line,
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// The name of the table
    pub name: &'static str,
    /// Columns that tell its rows apart
    pub key: &'static [Column],
    /// The others; the last is the number of the batch that changed a row last
    pub rest: &'static [Column],
    /// How old a row is
    pub(crate) age: RowAge,
}

impl Table {
    /// All columns.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> + use<> {
        self.key.iter().chain(self.rest)
    }

    /// The condition for rows of before the first day of a month (20241101), with a `?`, and what stands
    /// for it.
    pub(crate) fn before(&self, day: i64) -> (&'static str, Cell) {
        match self.age {
            RowAge::Day => ("day < ?", Cell::Int(day)),
            RowAge::Month => ("month < ?", Cell::Int(day / 100)),
            RowAge::Line => ("line < ?", Cell::Bytes(date_of(day).into_bytes())),
        }
    }

    /// Their names, with commas between them.
    pub fn column_names(&self) -> String {
        self.columns().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }
}

/// A day such as 20241101 as lines write it.
pub(crate) fn date_of(day: i64) -> String {
    format!("{:04}/{:02}/{:02}", day / 10_000, day / 100 % 100, day % 100)
}

/// Runs. `launch` and `id` tell them apart; `gone` is 1 if a run became part of another one when
/// a late line came; `day` is 20261122; `ended` is in s of local time, `first_us` and `last_us` in µs
/// of UTC; `npes` is 0 if it is not told; `ending` is the worst class of the field `ending`, -1 if no
/// line tells one; `lines` are its log lines.
pub const RUNS: Table = Table {
    name: "runs",
    key: &[text("owner"), int("launch"), int("id")],
    rest: &[
        text("user_name"),
        text("exe"),
        text("job"),
        text("lang"),
        text("lib"),
        int("day"),
        int("ended"),
        int("first_us"),
        int("last_us"),
        int("npes"),
        int("wall"),
        int("ending"),
        int("gone"),
        Column { name: "lines", kind: CellKind::Bytes },
        int("version"),
    ],
    age: RowAge::Day,
};

const SUMS: [Column; IntegerSums::COLUMNS.len() + 1] = {
    let mut columns = [int("version"); IntegerSums::COLUMNS.len() + 1];
    let mut at = 0;
    while at < IntegerSums::COLUMNS.len() {
        columns[at] = int(IntegerSums::COLUMNS[at]);
        at += 1;
    }
    columns
};

/// Sums by day and user. `measure` is empty for all runs, the name of a measure for those that
/// have a value, and this name with `:0` for those whose lower term is 0.
pub const BY_USER: Table = Table {
    name: "by_user",
    key: &[int("day"), int("month"), text("owner"), text("user_name"), text("measure")],
    rest: &SUMS,
    age: RowAge::Day,
};

/// Sums by day, language, library, and bin of 50 MFlop/s per PE (-1 without a rate).
pub const BY_RATE: Table = Table {
    name: "by_rate",
    key: &[int("day"), int("month"), text("lang"), text("lib"), int("bin"), text("measure")],
    rest: &SUMS,
    age: RowAge::Day,
};

/// Sums by month, language, library, size (number of PEs, rounded down to a power of two), and
/// user: what runs are compared with.
pub const BY_CLASS: Table = Table {
    name: "by_class",
    key: &[int("month"), text("lang"), text("lib"), int("size"), text("owner"), text("measure")],
    rest: &SUMS,
    age: RowAge::Month,
};

/// Lines of MPI profiles. `id` is the launch id, `owner` the numeric id of the user who alone vouches for
/// the line, empty if its file is of an account that is believed; `hash` is that of the text. `place` is
/// the place of the line in the batch `version` that it came with.
pub const PROFILES: Table = Table {
    name: "profiles",
    key: &[text("id"), text("owner"), int("hash")],
    rest: &[int("place"), Column { name: "line", kind: CellKind::Bytes }, int("version")],
    age: RowAge::Line,
};

/// All of them.
pub const TABLES: [&Table; 5] = [&RUNS, &BY_USER, &BY_RATE, &BY_CLASS, &PROFILES];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_ends_with_its_version() {
        for table in TABLES {
            assert_eq!(table.rest.last().unwrap().name, "version", "{}", table.name);
            let mut names: Vec<_> = table.columns().map(|column| column.name).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{}", table.name);
        }
    }
}
