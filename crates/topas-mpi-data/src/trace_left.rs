//! Event logs of ranks that ended without writing them: out of their mapped files.

use std::io;
use std::path::{Path, PathBuf};

use topas_data::append;
use topas_format::out::Out;
use topas_mpi_profile::facts::{process_key, write_facts};
use topas_mpi_profile::layout::Block;
use topas_trace::{BODY, BlockContent, BlockHead, HEAD, LENGTH, RING_MAGIC, RingHead, checksum};

use super::spool::{Spool, SpoolError, text};

/// Most blocks of a ring that are believed.
const MOST_BLOCKS: u32 = 1 << 16;

/// Appends the event log of a rank that ended to the log of its host. Returns where that is, and how
/// many blocks of events were written; None if the rank has none, or wrote it itself.
///
/// # Errors
///
/// Where the log should have gone, and what reading or writing says.
pub fn write_left_trace(spool: &Spool) -> Result<Option<(PathBuf, usize)>, (PathBuf, io::Error)> {
    let nowhere = |error: SpoolError| (spool.path.clone(), io::Error::other(error.to_string()));
    let mut threads: Vec<(Box<Block>, RingHead)> = Vec::new();
    let found = spool.blocks(|block| {
        if block.log != 0 {
            let ring: RingHead = spool.decode(block.log)?;
            if ring.magic == RING_MAGIC && ring.written == 0 {
                threads.push((block, ring));
            }
        }
        Ok(())
    });
    found.map_err(nowhere)?;
    let Some((_, first)) = threads.first() else { return Ok(None) };
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(text(&first.path))).to_owned();
    if !path.is_absolute() {
        let cause = io::Error::new(io::ErrorKind::InvalidInput, "it names no file for it");
        return Err((spool.path.clone(), cause));
    }
    let header = &spool.header;
    let mut written = 0;
    for (_, ring) in &threads {
        if ring.made > MOST_BLOCKS {
            return Err(nowhere(SpoolError::Damaged("number of blocks")));
        }
        for place in ring.places() {
            let offset = ring.blocks.saturating_add(u64::from(place) * LENGTH as u64);
            let mut bytes: Vec<u8> = spool.array(offset, LENGTH).map_err(nowhere)?;
            // The rank may have ended while it began this one.
            let Ok(mut head) = BlockHead::decode(&bytes) else { continue };
            head.rank = header.rank;
            head.check = checksum(&head, &bytes[HEAD..HEAD + head.used() as usize]);
            bytes[..HEAD].copy_from_slice(&head.encode());
            append(&path, &bytes).map_err(|cause| (path.clone(), cause))?;
            written += 1;
        }
    }
    let mut bytes = vec![0; LENGTH];
    let mut all: Vec<Box<Block>> = Vec::new();
    spool
        .blocks(|block| {
            all.push(block);
            Ok(())
        })
        .map_err(nowhere)?;
    let ring = |block: &Block| {
        let same = |(other, _): &&(Box<Block>, RingHead)| other.log == block.log;
        threads.iter().find(same).map(|(_, ring)| *ring)
    };
    let mut out = Out::new(&mut bytes[HEAD..HEAD + BODY]);
    write_facts(header, all.iter().map(|block| &**block), ring, &mut out);
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
    append(&path, &bytes).map_err(|cause| (path.clone(), cause))?;
    Ok(Some((path, written)))
}
