//! A run as a row.

use topas_data::{JoinedRun, RunDetails, RunRecord};
use topas_format::civil::Date;
use topas_format::shown::{Shown, acts};

use crate::error::StoreError;
use crate::schema::{Cell, RUNS};

/// A run as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// Whose it is, see [`owner_of`]
    pub owner: String,
    /// Hash of what lines of its launch have in common
    pub launch: i64,
    /// What tells it from other runs of the launch
    pub id: i64,
    /// User name, see [`stored_text`], as all texts here
    pub user: String,
    /// Executable
    pub exe: String,
    /// Job id of the batch system; empty if not told
    pub job: String,
    /// Language
    pub lang: String,
    /// Message passing library
    pub lib: String,
    /// Day of its end as a number: 20261122
    pub day: i64,
    /// Local time of its end in s since 1970-01-01
    pub ended: i64,
    /// Start in µs since 1970-01-01 (UTC)
    pub first: i64,
    /// End, likewise
    pub last: i64,
    /// Number of PEs; 0 if not told
    pub npes: i64,
    /// Wall clock time in µs
    pub wall: i64,
    /// Worst class of the field `ending`; -1 if not told
    pub ending: i64,
    /// Whether it became part of another run
    pub gone: bool,
    /// The log lines of the run, each with a newline
    pub lines: Vec<u8>,
    /// The batch that changed it last
    pub version: i64,
}

/// A day as a number: 20261122.
pub fn day_number(date: Date) -> i64 {
    i64::from(date.year) * 10_000 + i64::from(date.month) * 100 + i64::from(date.day)
}

/// A text in which every byte that no database and no page needs to know stands as `%XX`, as does
/// `%` itself. Different bytes are different texts.
pub fn stored_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let escape = |text: &mut String, bytes: &[u8]| {
        bytes.iter().for_each(|byte| *text += &format!("%{byte:02X}"));
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if acts(c) || c == '%' {
                escape(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                text.push(c);
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

/// A stored text for people, as every tool shows it.
pub fn shown_text(stored: &str) -> String {
    let mut bytes = Vec::with_capacity(stored.len());
    let mut rest = stored.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let escaped = behind.get(..2).and_then(|two| str::from_utf8(two).ok());
        match escaped.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| byte == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(byte);
                rest = behind;
            }
        }
    }
    Shown(&bytes).to_string()
}

/// Whose a run is: the numeric user id that its file vouches for, or `@` and the name in a line
/// that tells none.
pub fn owner_of(run: &RunRecord) -> String {
    match run.uid {
        Some(uid) => uid.to_string(),
        None => format!("@{}", stored_text(&run.user)),
    }
}

fn whole(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

impl StoredRun {
    /// Of a run that was joined from these lines.
    pub(crate) fn new(run: &JoinedRun<'_>, texts: &[&[u8]], version: i64) -> Self {
        let record = &run.record;
        // In an order that does not depend on when they came.
        let mut of_run: Vec<&[u8]> = run.lines.iter().map(|at| texts[*at as usize]).collect();
        of_run.sort_unstable();
        let mut lines = Vec::with_capacity(of_run.iter().map(|text| text.len() + 1).sum());
        for text in of_run {
            lines.extend_from_slice(text);
            lines.push(b'\n');
        }
        StoredRun {
            owner: owner_of(record),
            launch: run.launch as i64,
            id: run.id as i64,
            user: stored_text(&record.user),
            exe: stored_text(&record.exe),
            job: stored_text(&record.job),
            lang: stored_text(&record.lang),
            lib: stored_text(&record.lib),
            day: day_number(run.date),
            ended: whole(record.ended.div_euclid(1_000_000)),
            first: record.start,
            last: record.end,
            npes: record.npes.map_or(0, i64::from),
            wall: whole(record.wall),
            ending: record.worst_ending().map_or(-1, i64::from),
            gone: false,
            lines,
            version,
        }
    }

    /// The texts of its lines.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.split(|byte| *byte == b'\n').filter(|text| !text.is_empty())
    }

    /// What its lines say, as [`topas_data::find_runs`] has it; None only if the lines were
    /// changed in the store.
    pub fn record(&self) -> Option<RunRecord> {
        let texts: Vec<&[u8]> = self.texts().collect();
        let mut record = None;
        topas_data::join_lines(&texts, RunDetails::All, |run| record = Some(run.record));
        record
    }

    /// The values of the columns of the table of runs, in their order.
    pub fn into_cells(self) -> Vec<Cell> {
        vec![
            Cell::Text(self.owner),
            Cell::Int(self.launch),
            Cell::Int(self.id),
            Cell::Text(self.user),
            Cell::Text(self.exe),
            Cell::Text(self.job),
            Cell::Text(self.lang),
            Cell::Text(self.lib),
            Cell::Int(self.day),
            Cell::Int(self.ended),
            Cell::Int(self.first),
            Cell::Int(self.last),
            Cell::Int(self.npes),
            Cell::Int(self.wall),
            Cell::Int(self.ending),
            Cell::Int(self.gone.into()),
            Cell::Bytes(self.lines),
            Cell::Int(self.version),
        ]
    }

    /// Of the values of all columns.
    ///
    /// # Errors
    ///
    /// [`StoreError::Value`] if a column does not hold what it should.
    pub(crate) fn of_cells(cells: Vec<Cell>) -> Result<Self, StoreError> {
        let mut columns = RUNS.columns();
        let mut cells = cells.into_iter();
        let mut next = || {
            let column = columns.next().map_or("", |column| column.name);
            (cells.next(), StoreError::Value { column })
        };
        macro_rules! value {
            ($form:ident) => {
                match next() {
                    (Some(Cell::$form(value)), _) => value,
                    (_, error) => return Err(error),
                }
            };
        }
        Ok(StoredRun {
            owner: value!(Text),
            launch: value!(Int),
            id: value!(Int),
            user: value!(Text),
            exe: value!(Text),
            job: value!(Text),
            lang: value!(Text),
            lib: value!(Text),
            day: value!(Int),
            ended: value!(Int),
            first: value!(Int),
            last: value!(Int),
            npes: value!(Int),
            wall: value!(Int),
            ending: value!(Int),
            gone: value!(Int) != 0,
            lines: value!(Bytes),
            version: value!(Int),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_hold_nothing_that_acts() {
        for bytes in
            [&b"anna"[..], b"100%", b"%41", b"a b", b"\xff\x00\n'\\", "m\u{202e}\u{e4}".as_bytes()]
        {
            let stored = stored_text(bytes);
            assert!(!stored.chars().any(acts), "{stored}");
            assert_eq!(shown_text(&stored), Shown(bytes).to_string());
        }
        assert_ne!(stored_text(b"%41"), stored_text(b"A"));
    }
}
