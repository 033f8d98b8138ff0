//! Reads one source from its beginning to its end and hands on each log line in it.
//!
//! For lines as they stand, in their order; questions about runs are for
//! [`ask`](crate::ask).

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use topas_format::line::{Extras, Line};

use crate::block::{BlockLines, BlockRoom};
use crate::feed::{Buffer, Feed};
use crate::source::{Source, SourceError};
use crate::tally::Tally;

/// Reads every line of `source`: log lines go to `each`, all lines are counted in `tally`.
/// `progress` is told the number of bytes read, compressed as they are, after each block.
///
/// # Errors
///
/// [`SourceError`] if the source cannot be opened, or breaks off (a read error, a damaged
/// or truncated compressed file); the lines before the break have been handed on.
pub fn scan(
    source: &Source,
    tally: &mut Tally,
    each: impl FnMut(&Line<'_>, Extras<'_>),
    progress: impl FnMut(u64),
) -> Result<(), SourceError> {
    let bytes = Arc::default();
    let feed = Feed::open(source, Arc::clone(&bytes))?;
    scan_feed(feed, &bytes, tally, each, progress)
}

/// As [`scan`], from any reader of plain or compressed lines; `source` is what messages
/// call it.
///
/// # Errors
///
/// As [`scan`].
pub fn scan_reader(
    source: &Source,
    reader: impl Read + Send,
    tally: &mut Tally,
    each: impl FnMut(&Line<'_>, Extras<'_>),
    progress: impl FnMut(u64),
) -> Result<(), SourceError> {
    let bytes = Arc::default();
    let feed = Feed::of_reader(source, reader, Arc::clone(&bytes))?;
    scan_feed(feed, &bytes, tally, each, progress)
}

fn scan_feed(
    feed: Feed<'_>,
    bytes: &AtomicU64,
    tally: &mut Tally,
    mut each: impl FnMut(&Line<'_>, Extras<'_>),
    mut progress: impl FnMut(u64),
) -> Result<(), SourceError> {
    let mut buffer = Buffer::new();
    let mut room = BlockRoom::default();
    let each = |line: &Line<'_>, extras: Extras<'_>| each(line, extras);
    let mut lines = BlockLines::new(&feed, tally, each);
    while let Some((_, block)) = feed.next(&mut buffer) {
        lines.read(block, &mut room);
        progress(bytes.load(Ordering::Relaxed));
    }
    let number = lines.number;
    feed.failure(number).map_or(Ok(()), Err)
}
