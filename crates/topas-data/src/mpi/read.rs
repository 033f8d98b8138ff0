//! Profiles from lines: of the center's log, and of files of users.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr;
use topas_format::line as log;
use topas_mpi_profile::parse::{Fault, Line, is_profile};

use super::launch;
use super::line::behind_torn;
use super::profile::Profile;
use super::record::Records;
use crate::block::{Block, MAX_LINE_READ};
use crate::feed::{Buffer, Feed};
use crate::own::OwnProfiles;
use crate::source::{Source, SourceError};
use crate::tally::{Problem, Tally};
use crate::vouch::Vouch;

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
    let mut reader = Reader::default();
    let mut failures = Vec::new();
    let bytes = Arc::new(AtomicU64::new(0));
    let mut buffer = Buffer::new();
    for source in sources {
        match Feed::open(source, Arc::clone(&bytes)) {
            Ok(feed) => {
                let mut number = 0;
                let mut before = OwnProfiles::default();
                while let Some((_, block)) = feed.next(&mut buffer) {
                    reader.block(&feed, block, &mut before, &mut number);
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
    let mut reader = Reader::default();
    let mut number = 0;
    let failure = match Feed::of_reader(source, text, Arc::default()) {
        Ok(feed) => {
            let mut buffer = Buffer::new();
            let mut before = OwnProfiles::default();
            while let Some((_, block)) = feed.next(&mut buffer) {
                reader.block(&feed, block, &mut before, &mut number);
            }
            feed.failure(number)
        }
        Err(failure) => Some(failure),
    };
    (reader.finish(), failure)
}

#[derive(Default)]
struct Reader {
    records: Records,
    tally: Tally,
}

/// Where a line stands.
struct At<'a> {
    source: &'a Source,
    vouch: &'a Vouch,
    /// What was found out about lines before it, of whose they are
    before: &'a mut OwnProfiles,
    number: u64,
    /// Whether nothing follows it, not even a newline
    last: bool,
}

impl Reader {
    fn finish(self) -> Profiles {
        let (records, routines) = self.records.finish();
        Profiles { profiles: launch::profiles(records, &routines), tally: self.tally }
    }

    fn block(
        &mut self,
        feed: &Feed<'_>,
        block: Block<'_>,
        before: &mut OwnProfiles,
        number: &mut u64,
    ) {
        let (source, vouch) = (feed.source, &feed.vouch);
        let mut rest = block.text;
        while let Some(len) = memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(len);
            *number += 1;
            self.line(line, At { source, vouch, before, number: *number, last: false });
            rest = &behind[1..];
        }
        if !rest.is_empty() {
            *number += 1;
            match block.broken {
                true => self.tally.bad(source, *number, Problem::Unfinished, rest),
                false => self.line(rest, At { source, vouch, before, number: *number, last: true }),
            }
        }
    }

    fn line(&mut self, text: &[u8], at: At<'_>) {
        let mut bad = |problem| self.tally.bad(at.source, at.number, problem, text);
        if text.len() > MAX_LINE_READ {
            bad(Problem::TooLong);
        } else if is_profile(text) {
            match Line::parse(text) {
                Ok(_) => self.record(text, at),
                Err(Fault::Length) if at.last => bad(Problem::Unfinished),
                Err(fault) => {
                    bad(Problem::Profile(fault.says()));
                    self.behind(text, at);
                }
            }
        } else if text.iter().all(u8::is_ascii_whitespace) {
            self.tally.blank += 1;
        } else if text.starts_with(b"#") {
            match at.vouch.marked(text) {
                None => self.tally.comments += 1,
                Some(stranger) => self.tally.foreign.add(stranger),
            }
        } else {
            match log::Line::parse(text) {
                Err(fault) => {
                    bad(Problem::Fault(fault));
                    self.behind(text, at);
                }
                Ok((line, extras)) => match at.vouch.line(&line, extras) {
                    Ok(()) => self.tally.good += 1,
                    Err(stranger) => self.tally.foreign.add(stranger),
                },
            }
        }
    }

    /// A line of a profile that is whole. It goes to those of the same owner's files, or of
    /// files that are believed.
    fn record(&mut self, text: &[u8], at: At<'_>) {
        if let Err(stranger) = at.vouch.profile(text, at.before) {
            return self.tally.foreign.add(stranger);
        }
        match self.records.line(text, at.vouch.owner()) {
            Ok(()) => self.tally.profile += 1,
            Err(fault) => {
                let problem = Problem::Profile(fault.says());
                self.tally.bad(at.source, at.number, problem, text);
                self.behind(text, at);
            }
        }
    }

    /// A whole line behind a torn one, as a full disk makes them.
    fn behind(&mut self, text: &[u8], at: At<'_>) {
        if let Some(whole) = behind_torn(text) {
            match at.vouch.profile(whole, at.before) {
                Ok(()) => {
                    let taken = self.records.line(whole, at.vouch.owner());
                    self.tally.profile += u64::from(taken.is_ok());
                }
                Err(stranger) => self.tally.foreign.add(stranger),
            }
        }
    }
}
