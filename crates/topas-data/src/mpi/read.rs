//! Profiles from lines: of the center's log, and of files of users.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr;
use topas_format::line::Line;
use topas_mpi_profile::parse::{Fault, is_profile};

use super::launch;
use super::line::behind_torn;
use super::profile::Profile;
use super::record::Records;
use crate::block::{Block, MAX_LINE_READ};
use crate::feed::{Buffer, Feed};
use crate::source::{Source, SourceError};
use crate::tally::{Problem, Tally};

/// What was read.
pub struct Profiles {
    /// The launches, the one that ended last first
    pub profiles: Vec<Profile>,
    /// What became of the lines; log lines of runs are passed over, and counted as good
    pub tally: Tally,
}

/// Reads the profiles in all sources. What is bad is counted; a source that cannot be read, or
/// not to its end, is told, and the others are read. `progress` gets the number of bytes read so
/// far, compressed as they are.
pub fn read_profiles(
    sources: &[Source],
    progress: &mut dyn FnMut(u64),
) -> (Profiles, Vec<SourceError>) {
    let mut reader = Reader { records: Records::default(), tally: Tally::default() };
    let mut failures = Vec::new();
    let bytes = Arc::new(AtomicU64::new(0));
    let mut buffer = Buffer::new();
    for source in sources {
        match Feed::open(source, Arc::clone(&bytes)) {
            Ok(feed) => {
                let mut number = 0;
                while let Some((_, block)) = feed.next(&mut buffer) {
                    reader.block(source, block, &mut number);
                    progress(bytes.load(Ordering::Relaxed));
                }
                failures.extend(feed.failure(number));
            }
            Err(failure) => failures.push(failure),
        }
    }
    (reader.finish(), failures)
}

/// The same from any reader of plain or compressed lines; `source` is what messages call it.
pub fn read_profiles_of(
    source: &Source,
    text: impl Read + Send,
) -> (Profiles, Option<SourceError>) {
    let mut reader = Reader { records: Records::default(), tally: Tally::default() };
    let mut number = 0;
    let failure = match Feed::of_reader(source, text, Arc::default()) {
        Ok(feed) => {
            let mut buffer = Buffer::new();
            while let Some((_, block)) = feed.next(&mut buffer) {
                reader.block(source, block, &mut number);
            }
            feed.failure(number)
        }
        Err(failure) => Some(failure),
    };
    (reader.finish(), failure)
}

struct Reader {
    records: Records,
    tally: Tally,
}

impl Reader {
    fn finish(self) -> Profiles {
        let (records, routines) = self.records.finish();
        Profiles { profiles: launch::profiles(records, &routines), tally: self.tally }
    }

    fn block(&mut self, source: &Source, block: Block<'_>, number: &mut u64) {
        let mut rest = block.text;
        while let Some(len) = memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(len);
            *number += 1;
            self.line(source, line, *number, false);
            rest = &behind[1..];
        }
        if !rest.is_empty() {
            *number += 1;
            match block.broken {
                true => self.tally.bad(source, *number, Problem::Unfinished, rest),
                false => self.line(source, rest, *number, true),
            }
        }
    }

    fn line(&mut self, source: &Source, text: &[u8], number: u64, last: bool) {
        if text.len() > MAX_LINE_READ {
            self.tally.bad(source, number, Problem::TooLong, text);
        } else if is_profile(text) {
            match self.records.line(text) {
                Ok(()) => self.tally.profile += 1,
                Err(Fault::Length) if last => {
                    self.tally.bad(source, number, Problem::Unfinished, text);
                }
                Err(fault) => {
                    self.tally.bad(source, number, Problem::Profile(fault.says()), text);
                    self.behind(text);
                }
            }
        } else if text.iter().all(u8::is_ascii_whitespace) {
            self.tally.blank += 1;
        } else if text.starts_with(b"#") {
            self.tally.comments += 1;
        } else if let Err(fault) = Line::parse(text) {
            self.tally.bad(source, number, Problem::Fault(fault), text);
            self.behind(text);
        } else {
            self.tally.good += 1;
        }
    }

    /// A whole line behind a torn one, as a full disk makes them.
    fn behind(&mut self, text: &[u8]) {
        if let Some(whole) = behind_torn(text)
            && self.records.line(whole).is_ok()
        {
            self.tally.profile += 1;
        }
    }
}
