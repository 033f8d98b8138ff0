//! Reads the lines of MPI profiles among those of logs, for whoever puts them together.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr;
use topas_format::line as log;
use topas_mpi_profile::parse::{Line, ProfileLineFault, is_profile};

use crate::block::{Block, MAX_LINE_READ};
use crate::feed::{Buffer, Feed};
use crate::own::OwnProfiles;
use crate::profile_line::behind_torn;
use crate::source::{Source, SourceError};
use crate::tally::{Problem, Tally};
use crate::vouch::Vouch;

/// Takes a whole line of a profile, and the user of whose file it is if only lines of that user
/// count in it. An error says what is wrong with the line, which is then counted as bad.
pub type TakeProfileLine<'t> = dyn FnMut(&[u8], Option<u32>) -> Result<(), ProfileLineFault> + 't;

/// Hands on each line of a profile in all sources, in their order. What is bad is counted; a
/// source that cannot be read, or not to its end, is told, and the others are read. `progress`
/// gets the number of bytes read so far, compressed as they are. Log lines of runs are passed
/// over, and counted as good.
pub fn scan_profiles(
    sources: &[Source],
    progress: &mut dyn FnMut(u64),
    take: &mut TakeProfileLine<'_>,
) -> (Tally, Vec<SourceError>) {
    let mut scan = ProfileScan { take, tally: Tally::default() };
    let mut failures = Vec::new();
    let bytes = Arc::new(AtomicU64::new(0));
    let mut buffer = Buffer::new();
    for source in sources {
        match Feed::open(source, Arc::clone(&bytes)) {
            Ok(feed) => {
                let mut number = 0;
                let mut before = OwnProfiles::default();
                while let Some((_, block)) = feed.next(&mut buffer) {
                    scan.block(&feed, block, &mut before, &mut number);
                    progress(bytes.load(Ordering::Relaxed));
                }
                failures.extend(feed.failure(number));
            }
            Err(failure) => failures.push(failure),
        }
    }
    (scan.tally, failures)
}

/// The same from any reader of plain or compressed lines; `source` is what messages call it.
pub fn scan_profiles_of(
    source: &Source,
    text: impl Read + Send,
    take: &mut TakeProfileLine<'_>,
) -> (Tally, Option<SourceError>) {
    let mut scan = ProfileScan { take, tally: Tally::default() };
    let mut number = 0;
    let failure = match Feed::of_reader(source, text, Arc::default()) {
        Ok(feed) => {
            let mut buffer = Buffer::new();
            let mut before = OwnProfiles::default();
            while let Some((_, block)) = feed.next(&mut buffer) {
                scan.block(&feed, block, &mut before, &mut number);
            }
            feed.failure(number)
        }
        Err(failure) => Some(failure),
    };
    (scan.tally, failure)
}

struct ProfileScan<'s, 't> {
    take: &'s mut TakeProfileLine<'t>,
    tally: Tally,
}

/// Where a line stands.
struct LinePlace<'a> {
    source: &'a Source,
    vouch: &'a Vouch,
    /// What was found out about lines before it, of whose they are
    before: &'a mut OwnProfiles,
    number: u64,
    /// Whether nothing follows it, not even a newline
    last: bool,
}

impl ProfileScan<'_, '_> {
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
            self.line(line, LinePlace { source, vouch, before, number: *number, last: false });
            rest = &behind[1..];
        }
        if !rest.is_empty() {
            *number += 1;
            match block.broken {
                true => self.tally.bad(source, *number, Problem::Unfinished, rest),
                false => self
                    .line(rest, LinePlace { source, vouch, before, number: *number, last: true }),
            }
        }
    }

    fn line(&mut self, text: &[u8], at: LinePlace<'_>) {
        let mut bad = |problem| self.tally.bad(at.source, at.number, problem, text);
        if text.len() > MAX_LINE_READ {
            bad(Problem::TooLong);
        } else if is_profile(text) {
            match Line::parse(text) {
                Ok(_) => self.record(text, at),
                Err(ProfileLineFault::Length) if at.last => bad(Problem::Unfinished),
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
                Ok((line, extras)) => match at.vouch.line(line.user, extras) {
                    Ok(()) => self.tally.good += 1,
                    Err(stranger) => self.tally.foreign.add(stranger),
                },
            }
        }
    }

    /// A line of a profile that is whole. It goes to those of the same owner's files, or of
    /// files that are believed.
    fn record(&mut self, text: &[u8], at: LinePlace<'_>) {
        if let Err(stranger) = at.vouch.profile(text, at.before) {
            return self.tally.foreign.add(stranger);
        }
        match (self.take)(text, at.vouch.owner()) {
            Ok(()) => self.tally.profile += 1,
            Err(fault) => {
                let problem = Problem::Profile(fault.says());
                self.tally.bad(at.source, at.number, problem, text);
                self.behind(text, at);
            }
        }
    }

    /// A whole line behind a torn one, as a full disk makes them.
    fn behind(&mut self, text: &[u8], at: LinePlace<'_>) {
        if let Some(whole) = behind_torn(text) {
            match at.vouch.profile(whole, at.before) {
                Ok(()) => {
                    let taken = (self.take)(whole, at.vouch.owner());
                    self.tally.profile += u64::from(taken.is_ok());
                }
                Err(stranger) => self.tally.foreign.add(stranger),
            }
        }
    }
}
