//! What was seen in a log while a run was looked for, for whom it was not there.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use topas_format::civil::Date;
use topas_format::escape::Name;
use topas_format::line::{Extras, Line};

use super::RunName;
use crate::feed::locked;

/// Names that are similar to the one looked for, and are kept.
const MOST_SIMILAR: usize = 5;

/// Lines that were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenLines {
    /// Lines that counted
    pub lines: u64,
    /// Those of them that have a name of the kind looked for: a job, or an id
    pub named: u64,
    /// Days of the first and the last of them
    pub days: Option<(Date, Date)>,
    /// Names like the one looked for, ascending: it begins with them, they with it, or one letter
    /// is different, missing or too many; a few of them
    pub similar: Vec<Box<[u8]>>,
}

/// Compares the names of lines, and takes note of what is seen; for all threads.
pub(super) struct Watch<'n> {
    name: &'n RunName,
    lines: AtomicU64,
    named: AtomicU64,
    first: AtomicI64,
    last: AtomicI64,
    similar: Mutex<BTreeSet<Box<[u8]>>>,
}

impl<'n> Watch<'n> {
    pub(super) fn new(name: &'n RunName) -> Self {
        Watch {
            name,
            lines: AtomicU64::new(0),
            named: AtomicU64::new(0),
            first: AtomicI64::new(i64::MAX),
            last: AtomicI64::new(i64::MIN),
            similar: Mutex::default(),
        }
    }

    /// Whether a line is of a run of the name.
    pub(super) fn is_named(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.lines.fetch_add(1, Relaxed);
        let date = line.date;
        let day = i64::from(date.year) << 16 | i64::from(date.month) << 8 | i64::from(date.day);
        // Nearly always a look is enough.
        if day < self.first.load(Relaxed) {
            self.first.fetch_min(day, Relaxed);
        }
        if day > self.last.load(Relaxed) {
            self.last.fetch_max(day, Relaxed);
        }
        let (name, wanted) = match self.name {
            RunName::Id(id) => (line.id, id),
            RunName::Job(job) => match extras.get(b"job") {
                Some(job_of_line) => (Name::from_token(job_of_line), job),
                None => return false,
            },
        };
        if name.is_empty() {
            return false;
        }
        self.named.fetch_add(1, Relaxed);
        if name.bytes().eq(wanted.iter().copied()) {
            return true;
        }
        if is_similar(name.plain().unwrap_or_default(), wanted) {
            let mut similar = locked(&self.similar);
            similar.insert(name.bytes().collect());
            if similar.len() > MOST_SIMILAR {
                similar.pop_last();
            }
        }
        false
    }

    pub(super) fn seen(self) -> SeenLines {
        let day = |n: i64| Date { year: (n >> 16) as u16, month: (n >> 8) as u8, day: n as u8 };
        let lines = self.lines.into_inner();
        SeenLines {
            lines,
            named: self.named.into_inner(),
            days: (lines > 0).then(|| (day(self.first.into_inner()), day(self.last.into_inner()))),
            similar: locked(&self.similar).iter().cloned().collect(),
        }
    }
}

/// Whether one begins with the other, or a letter is different, missing or too many.
fn is_similar(name: &[u8], wanted: &[u8]) -> bool {
    if name.is_empty() || wanted.is_empty() {
        return false;
    }
    let shorter = name.len().min(wanted.len());
    let same = name.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    if same == shorter {
        // A letter or two are the beginning of too many.
        return shorter >= 3;
    }
    shorter >= 3
        && (name[same + 1..] == wanted[same + 1..]
            || name[same + 1..] == wanted[same..]
            || name[same..] == wanted[same + 1..])
}

#[cfg(test)]
mod tests {
    use super::is_similar;

    #[test]
    fn names_that_may_have_been_meant() {
        for (name, wanted, expected) in [
            ("4711_3", "4711", true),
            ("4711", "4711.batch", true),
            ("4711", "4712", true),
            ("4711", "471", true),
            ("4711", "47811", true),
            ("47811", "4711", true),
            ("4711", "4722", false),
            ("4711", "5811", false),
            ("4711", "4", false),
            ("4711", "", false),
            ("", "4711", false),
        ] {
            assert_eq!(is_similar(name.as_bytes(), wanted.as_bytes()), expected, "{name} {wanted}");
        }
    }
}
