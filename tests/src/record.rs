//! Log lines, read back by the format's own parser and kept.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use topas_format::event::Metric;
use topas_format::field::{Lang, Lib, Mode};
use topas_format::line::Line;
use topas_format::number::Count;

/// A log line.
#[derive(Clone, Debug)]
pub struct Record {
    /// The line as it stands.
    pub text: String,
    /// User.
    pub user: Vec<u8>,
    /// File name of the executable.
    pub exe: Vec<u8>,
    /// Measuring rank.
    pub pe: u32,
    /// Number of ranks; 0 where the launcher does not tell.
    pub npes: u32,
    /// Batch or interactive.
    pub mode: Mode,
    /// Language.
    pub lang: Lang,
    /// Message passing library.
    pub lib: Lib,
    /// Wall clock time in s.
    pub wall: f64,
    /// What was counted.
    pub metric: Metric,
    /// How many.
    pub ops: Count,
    /// Level 1 data cache misses.
    pub l1_miss: Count,
    /// Launch.
    pub id: String,
    /// Extras, escapes as they stand.
    pub extras: BTreeMap<String, String>,
}

impl Record {
    /// Reads a line without its newline.
    ///
    /// # Errors
    /// The name of the field that is wrong.
    pub fn parse(text: &[u8]) -> Result<Record, String> {
        let (line, extras) = Line::parse(text).map_err(|fault| fault.name().to_owned())?;
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Record {
            text: lossy(text),
            user: line.user.bytes().collect(),
            exe: line.exe.bytes().collect(),
            pe: line.pe,
            npes: line.npes.0.unwrap_or(0),
            mode: line.mode,
            lang: line.lang,
            lib: line.lib,
            wall: line.wall_time.seconds(),
            metric: line.ops.metric,
            ops: line.ops.count,
            l1_miss: line.l1_miss,
            id: lossy(&line.id.bytes().collect::<Vec<_>>()),
            extras: extras.map(|(key, value)| (lossy(key), lossy(value))).collect(),
        })
    }

    /// The value of an extra; empty if it is not there.
    pub fn extra(&self, key: &str) -> &str {
        self.extras.get(key).map_or("", String::as_str)
    }
}

/// The lines of a log but those of MPI profiles, none if there is no log. Panics if a line is none,
/// or not whole.
#[track_caller]
pub fn read_log(path: &Path) -> Vec<Record> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => panic!("cannot read {}: {error}", path.display()),
    };
    assert!(bytes.is_empty() || bytes.ends_with(b"\n"), "the last line of the log has no end");
    bytes.strip_suffix(b"\n").map_or_else(Vec::new, |lines| {
        let of_profile =
            |line: &&[u8]| line.split(|byte| *byte == b' ').nth(2) == Some(b"topas-mpi");
        lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !of_profile(line))
            .map(|line| match Record::parse(line) {
                Ok(record) if record.extra("len") == format!("{:03}", line.len()) => record,
                Ok(_) => panic!("not whole: {}", String::from_utf8_lossy(line)),
                Err(field) => panic!("bad {field}: {}", String::from_utf8_lossy(line)),
            })
            .collect()
    })
}
