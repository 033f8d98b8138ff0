//! One row of `sacct -P`: cells between bars, which a header names.

use std::fmt;

use topas_format::civil::Date;

/// A column that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Column {
    JobId,
    JobIdRaw,
    User,
    Account,
    Qos,
    State,
    Partition,
    Timelimit,
    TimelimitRaw,
    Elapsed,
    ElapsedRaw,
    CpuTimeRaw,
    CpuTime,
    AllocCpus,
    Ncpus,
    Start,
    End,
}

/// Number of columns that are looked at.
pub(super) const COLUMNS: usize = 17;

/// Their names, as sacct writes them.
const NAMES: [(&str, Column); COLUMNS] = [
    ("JobID", Column::JobId),
    ("JobIDRaw", Column::JobIdRaw),
    ("User", Column::User),
    ("Account", Column::Account),
    ("QOS", Column::Qos),
    ("State", Column::State),
    ("Partition", Column::Partition),
    ("Timelimit", Column::Timelimit),
    ("TimelimitRaw", Column::TimelimitRaw),
    ("Elapsed", Column::Elapsed),
    ("ElapsedRaw", Column::ElapsedRaw),
    ("CPUTimeRAW", Column::CpuTimeRaw),
    ("CPUTime", Column::CpuTime),
    ("AllocCPUS", Column::AllocCpus),
    ("NCPUS", Column::Ncpus),
    ("Start", Column::Start),
    ("End", Column::End),
];

/// The columns of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    /// What each cell is, if it is looked at
    cells: Vec<Option<Column>>,
}

impl Header {
    /// The header that a line is; None if the line does not name the job.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let column = |name: &[u8]| {
            let named = |(known, _): &&(&str, Column)| known.as_bytes().eq_ignore_ascii_case(name);
            NAMES.iter().find(named).map(|(_, column)| *column)
        };
        let header = Header { cells: line.split(|byte| *byte == b'|').map(column).collect() };
        (header.has(Column::JobId) || header.has(Column::JobIdRaw)).then_some(header)
    }

    pub(super) fn has(&self, column: Column) -> bool {
        self.cells.contains(&Some(column))
    }

    /// Whether rows tell how much CPU time a job had.
    pub(super) fn has_cpu_time(&self) -> bool {
        let has = |columns: &[Column]| columns.iter().any(|column| self.has(*column));
        has(&[Column::CpuTimeRaw, Column::CpuTime])
            || has(&[Column::AllocCpus, Column::Ncpus])
                && has(&[Column::Elapsed, Column::ElapsedRaw])
    }

    /// The cells of a row, empty where the file has no such column; None if their number is
    /// not that of the header.
    pub(super) fn row<'l>(&self, line: &'l [u8]) -> Option<Row<'l>> {
        let mut row = Row { cells: [b""; COLUMNS] };
        let mut cells = line.split(|byte| *byte == b'|');
        for column in &self.cells {
            let cell = cells.next()?;
            if let Some(column) = column {
                row.cells[*column as usize] = cell.trim_ascii();
            }
        }
        cells.next().is_none().then_some(row)
    }
}

/// The cells of a row.
pub(super) struct Row<'l> {
    cells: [&'l [u8]; COLUMNS],
}

/// Why a row is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SacctFault {
    /// Another number of cells than the header has
    Cells,
    /// No job id
    Job,
    /// A number or a time is none
    Number,
    /// Longer than a row can be
    TooLong,
}

impl SacctFault {
    /// All of them, in their order.
    pub const ALL: [SacctFault; 4] =
        [SacctFault::Cells, SacctFault::Job, SacctFault::Number, SacctFault::TooLong];
}

impl fmt::Display for SacctFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SacctFault::Cells => "wrong number of columns",
            SacctFault::Job => "no job id",
            SacctFault::Number => "wrong number or time",
            SacctFault::TooLong => "too long",
        })
    }
}

/// The id of a job as one number: that of the job, and of its element or component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct JobKey(u64);

/// Marks a component of a job of several.
const COMPONENT: u64 = 1 << 31;

impl JobKey {
    /// A component's job: the first component.
    pub(super) fn leader(self) -> JobKey {
        JobKey(self.0 >> 32 << 32)
    }

    pub(super) fn is_component(self) -> bool {
        self.0 & COMPONENT != 0
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }
}

/// What a job id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobId {
    /// A job, an element of an array `15_3`, a component `15+1`
    Job(JobKey),
    /// A step of it, and whether srun or the like started it
    Step(JobKey, bool),
    /// Elements of an array that wait, `15_[4-9]`
    Waiting,
}

impl JobId {
    /// Reads the id that a row or a line has.
    pub(super) fn parse(text: &[u8]) -> Option<JobId> {
        let (id, step) = match text.iter().position(|byte| *byte == b'.') {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let end = id.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(id.len());
        let (job, rest) = id.split_at(end);
        let job = u64::from(number::<u32>(job)?) << 32;
        let part = |text: &[u8]| number::<u32>(text).map(u64::from).filter(|n| *n < COMPONENT - 1);
        let key = match rest {
            [] => job,
            [b'_', b'[', .., b']'] => return Some(JobId::Waiting),
            [b'_', element @ ..] => job | (part(element)? + 1),
            [b'+', component @ ..] => match part(component)? {
                0 => job,
                component => job | COMPONENT | component,
            },
            _ => return None,
        };
        Some(match step {
            None => JobId::Job(JobKey(key)),
            Some([]) => return None,
            Some(step) => JobId::Step(JobKey(key), step.iter().all(u8::is_ascii_digit)),
        })
    }
}

/// A decimal number without a sign.
fn number<N: TryFrom<u64>>(text: &[u8]) -> Option<N> {
    if text.is_empty() || text.len() > 18 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let n = text.iter().fold(0u64, |n, digit| n * 10 + u64::from(digit - b'0'));
    N::try_from(n).ok()
}

/// `[DAYS-]HH:MM:SS`, `MM:SS` in s; fractions of a second are dropped.
fn duration(text: &[u8]) -> Option<u64> {
    let (days, clock) = match text.iter().position(|byte| *byte == b'-') {
        Some(at) => (number::<u32>(&text[..at])?, &text[at + 1..]),
        None => (0, text),
    };
    let clock = match clock.iter().position(|byte| *byte == b'.') {
        Some(at) if clock[at + 1..].iter().all(u8::is_ascii_digit) => &clock[..at],
        Some(_) => return None,
        None => clock,
    };
    let mut seconds = 0u64;
    let mut parts = 0;
    for part in clock.split(|byte| *byte == b':') {
        seconds = seconds * 60 + u64::from(number::<u32>(part)?);
        parts += 1;
    }
    (parts == 2 || parts == 3).then_some(u64::from(days) * 86_400 + seconds)
}

/// `2026-11-20T08:01:02` in s since 1970 of the site's local time. Some(None) if it is not known.
fn instant(text: &[u8], ahead: impl Fn(i64) -> i64) -> Option<Option<i64>> {
    if matches!(text, b"" | b"Unknown" | b"None") {
        return Some(None);
    }
    // SLURM_TIME_FORMAT=%s makes seconds of UTC.
    if let Some(epoch) = number::<u64>(text).filter(|epoch| *epoch < 253_402_300_800) {
        return Some(Some(epoch as i64 + ahead(epoch as i64)));
    }
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', i1, i2, b':', s1, s2] =
        text
    else {
        return None;
    };
    let two = |a: &u8, b: &u8| number::<u8>(&[*a, *b]);
    let date =
        Date { year: number(&[*y1, *y2, *y3, *y4])?, month: two(m1, m2)?, day: two(d1, d2)? };
    let (hour, minute, second) = (two(h1, h2)?, two(i1, i2)?, two(s1, s2)?);
    let is_time = date.exists() && hour < 24 && minute < 60 && second < 61;
    let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
    is_time.then(|| Some(date.days() * 86_400 + seconds))
}

/// What the numbers of a row say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowNumbers {
    /// Requested time in s, None if it is not limited or not told
    pub(super) limit: Option<u64>,
    pub(super) elapsed: Option<u64>,
    pub(super) cpus: Option<u32>,
    /// CPUs x elapsed time, in s
    pub(super) cpu_time: u64,
    /// Local time of the site in s since 1970
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
}

impl<'l> Row<'l> {
    /// The row with these cells, by [`Column`].
    pub(super) fn of_cells(cells: [&'l [u8]; COLUMNS]) -> Self {
        Row { cells }
    }

    pub(super) fn cell(&self, column: Column) -> &'l [u8] {
        self.cells[column as usize]
    }

    /// The id, `JobID` before `JobIDRaw`; and what `JobIDRaw` says.
    pub(super) fn id(&self) -> Option<(JobId, Option<JobId>)> {
        let raw = JobId::parse(self.cell(Column::JobIdRaw));
        let id = match self.cell(Column::JobId) {
            b"" => raw,
            id => JobId::parse(id),
        };
        Some((id?, raw))
    }

    /// The state without what follows it: `CANCELLED` of `CANCELLED by 1000`.
    pub(super) fn state(&self) -> &'l [u8] {
        let state = self.cell(Column::State);
        let end = state.iter().position(|byte| matches!(byte, b' ' | b'+')).unwrap_or(state.len());
        &state[..end]
    }

    /// Its numbers and times; `ahead` is local time minus UTC at a time of UTC. None if one is
    /// of another form.
    pub(super) fn numbers(&self, ahead: impl Fn(i64) -> i64) -> Option<RowNumbers> {
        let optional = |column: Column, read: &dyn Fn(&[u8]) -> Option<u64>| {
            let cell = self.cell(column);
            if cell.is_empty() { Some(None) } else { read(cell).map(Some) }
        };
        let plain = |text: &[u8]| number::<u64>(text);
        let elapsed = match optional(Column::ElapsedRaw, &plain)? {
            Some(elapsed) => Some(elapsed),
            None => optional(Column::Elapsed, &duration)?,
        };
        let minutes = |text: &[u8]| number::<u32>(text).map(|minutes| u64::from(minutes) * 60);
        let limit = match self.cell(Column::Timelimit) {
            b"UNLIMITED" | b"Partition_Limit" | b"INVALID" => None,
            b"" => match self.cell(Column::TimelimitRaw) {
                b"UNLIMITED" | b"Partition_Limit" | b"INVALID" => None,
                _ => optional(Column::TimelimitRaw, &minutes)?,
            },
            limit => Some(duration(limit)?),
        };
        let cpus = match optional(Column::AllocCpus, &plain)? {
            Some(cpus) => Some(cpus),
            None => optional(Column::Ncpus, &plain)?,
        };
        let cpus = cpus.map(u32::try_from).transpose().ok()?;
        let cpu_time = match optional(Column::CpuTimeRaw, &plain)? {
            Some(time) => Some(time),
            None => optional(Column::CpuTime, &duration)?,
        };
        let product = cpus.zip(elapsed).and_then(|(cpus, s)| u64::from(cpus).checked_mul(s));
        Some(RowNumbers {
            limit,
            elapsed,
            cpus,
            cpu_time: cpu_time.or(product).unwrap_or(0),
            start: instant(self.cell(Column::Start), &ahead)?,
            end: instant(self.cell(Column::End), &ahead)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn job_ids_of_every_form() {
        let key = |job: u64, low: u64| JobKey(job << 32 | low);
        for (text, expected) in [
            ("123", Some(JobId::Job(key(123, 0)))),
            ("123_4", Some(JobId::Job(key(123, 5)))),
            ("123+0", Some(JobId::Job(key(123, 0)))),
            ("123+2", Some(JobId::Job(key(123, COMPONENT | 2)))),
            ("123.batch", Some(JobId::Step(key(123, 0), false))),
            ("123_4.0", Some(JobId::Step(key(123, 5), true))),
            ("123+1.extern", Some(JobId::Step(key(123, COMPONENT | 1), false))),
            ("123_[5-9%2]", Some(JobId::Waiting)),
            ("", None),
            ("abc", None),
            ("123.", None),
            ("123_", None),
            ("123_x", None),
            ("4294967296", None),
            ("123_4294967295", None),
            ("-1", None),
        ] {
            assert_eq!(JobId::parse(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(key(9, COMPONENT | 3).leader(), key(9, 0));
    }

    #[test]
    fn times_of_every_form() {
        for (text, expected) in [
            ("00:00:59", Some(59)),
            ("1-02:03:04", Some(93_784)),
            ("365-00:00:00", Some(31_536_000)),
            ("02:03.456", Some(123)),
            ("100:00:00", Some(360_000)),
            ("59", None),
            ("1:2:3:4", None),
            ("-00:00:01", None),
            ("00:00:-1", None),
            ("00:00:01.x", None),
        ] {
            assert_eq!(duration(text.as_bytes()), expected, "{text}");
        }
        let at = |text: &str| instant(text.as_bytes(), |_| 3600);
        assert_eq!(at("1970-01-02T00:00:01"), Some(Some(86_401)));
        assert_eq!(at("86401"), Some(Some(90_001)));
        assert_eq!([at("Unknown"), at("None"), at("")], [Some(None); 3]);
        for bad in ["2026-02-30T00:00:00", "2026-01-01T24:00:00", "2026-01-01 00:00:00", "now"] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(header in "[A-Za-z|]{0,60}", row in "[0-9a-zA-Z|:_.+ \\[\\]-]{0,80}") {
            let header = Header::parse(format!("JobID|{header}").as_bytes()).unwrap();
            if let Some(row) = header.row(row.as_bytes()) {
                let _ = (row.id(), row.state(), row.numbers(|_| 0));
            }
            let _ = (JobId::parse(row.as_bytes()), duration(row.as_bytes()));
        }

        /// What sacct writes comes back.
        #[test]
        fn rows_come_back(
            job in 1u32..100_000_000, element in proptest::option::of(0u32..4_000_000),
            cpus in 1u32..1_000_000, days in 0u64..400, second in 0u64..86_400,
        ) {
            let id = element.map_or(job.to_string(), |element| format!("{job}_{element}"));
            let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
            let elapsed = if days > 0 { format!("{days}-{clock}") } else { clock };
            let header = Header::parse(b"JobID|Elapsed|NCPUS|State|").unwrap();
            let line = format!("{id}|{elapsed}|{cpus}|CANCELLED by 1000|");
            let row = header.row(line.as_bytes()).unwrap();
            let key = u64::from(job) << 32 | element.map_or(0, |element| u64::from(element) + 1);
            prop_assert_eq!(row.id(), Some((JobId::Job(JobKey(key)), None)));
            prop_assert_eq!(row.state(), b"CANCELLED");
            let numbers = row.numbers(|_| 0).unwrap();
            prop_assert_eq!(numbers.elapsed, Some(days * 86_400 + second));
            prop_assert_eq!(numbers.cpu_time, u64::from(cpus) * (days * 86_400 + second));
        }
    }
}
