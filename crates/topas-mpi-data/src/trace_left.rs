//! Event logs of ranks that ended without writing them: out of their mapped files.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use topas_data::append;
use topas_format::out::Out;
use topas_mpi_profile::facts::{process_key, write_facts};
use topas_mpi_profile::layout::{Block, Header};
use topas_trace::{BODY, BlockContent, BlockHead, HEAD, LENGTH, RING_MAGIC, RingHead, checksum};

use super::rank::death_tick;
use super::spool::{Spool, SpoolError, text};

/// Most blocks of a ring that are believed.
const MOST_BLOCKS: u32 = 1 << 16;

/// The blocks of a rank's threads, each with the ring of its events if the thread has one.
struct LoggedThreads(Vec<(Box<Block>, Option<RingHead>)>);

impl LoggedThreads {
    fn read(spool: &Spool) -> Result<LoggedThreads, SpoolError> {
        let mut threads = Vec::new();
        spool.blocks(|block| {
            let ring = match block.log {
                0 => None,
                place => Some(spool.decode::<RingHead>(place)?),
            };
            let ring = ring.filter(|ring| ring.magic == RING_MAGIC && ring.written == 0);
            if ring.is_some_and(|ring| ring.made > MOST_BLOCKS) {
                return Err(SpoolError::Damaged("number of blocks"));
            }
            threads.push((block, ring));
            Ok(())
        })?;
        Ok(LoggedThreads(threads))
    }

    fn rings(&self) -> impl Iterator<Item = &RingHead> {
        self.0.iter().filter_map(|(_, ring)| ring.as_ref())
    }

    /// The block of a log with what the process says of itself.
    fn facts(&self, header: &Header) -> Vec<u8> {
        let mut bytes = vec![0; LENGTH];
        let mut out = Out::new(&mut bytes[HEAD..HEAD + BODY]);
        let ring = |block: &Block| {
            let of = self.0.iter().find(|(known, _)| std::ptr::eq(&**known, block));
            of.and_then(|(_, ring)| *ring)
        };
        write_facts(header, None, self.0.iter().map(|(block, _)| &**block), ring, &mut out);
        // Until then a call lasted that has no event because it did not end.
        if let Some(ended) = death_tick(header) {
            out.put(b"ended ").dec(ended).byte(b'\n');
        }
        let mut head = BlockHead {
            rank: header.rank,
            process: process_key(header),
            first: header.began.ticks,
            last: header.latest.ticks,
            filled: out.len() as u64,
            ..BlockHead::new(BlockContent::Facts)
        };
        head.check = checksum(&head, out.text());
        bytes[..HEAD].copy_from_slice(&head.encode());
        bytes
    }
}

/// A block of events with its sum, as a log has it; None if the rank ended while it began this one.
fn closed_block(spool: &Spool, ring: &RingHead, place: u32) -> Result<Option<Vec<u8>>, SpoolError> {
    let offset = ring.blocks.saturating_add(u64::from(place) * LENGTH as u64);
    let mut bytes: Vec<u8> = spool.array(offset, LENGTH)?;
    let Ok(mut head) = BlockHead::decode(&bytes) else { return Ok(None) };
    head.rank = spool.header.rank;
    head.check = checksum(&head, &bytes[HEAD..HEAD + head.used() as usize]);
    bytes[..HEAD].copy_from_slice(&head.encode());
    Ok(Some(bytes))
}

/// Appends the event log of a rank that ended to the log of its host. Returns where that is, and how
/// many blocks of events were written; None if the rank has none, or wrote it itself.
///
/// # Errors
///
/// Where the log should have gone, and what reading or writing says.
pub fn write_left_trace(spool: &Spool) -> Result<Option<(PathBuf, usize)>, (PathBuf, io::Error)> {
    let unread = |error: SpoolError| (spool.path.clone(), io::Error::other(error.to_string()));
    let threads = LoggedThreads::read(spool).map_err(unread)?;
    let Some(first) = threads.rings().next() else { return Ok(None) };
    let path = Path::new(OsStr::from_bytes(text(&first.path))).to_owned();
    if !path.is_absolute() {
        let cause = io::Error::new(io::ErrorKind::InvalidInput, "the rank names no file for it");
        return Err((spool.path.clone(), cause));
    }
    let unwritten = |cause| (path.clone(), cause);
    let mut written = 0;
    for ring in threads.rings() {
        for place in ring.places() {
            if let Some(bytes) = closed_block(spool, ring, place).map_err(unread)? {
                append(&path, &bytes).map_err(unwritten)?;
                written += 1;
            }
        }
    }
    append(&path, &threads.facts(&spool.header)).map_err(unwritten)?;
    Ok(Some((path, written)))
}
