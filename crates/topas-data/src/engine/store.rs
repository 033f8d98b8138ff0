//! Keeps records apart by the hash of their launch: in memory as long as they fit, then in
//! a temporary file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use super::TemporaryError;
use crate::feed::locked;

/// The temporary file of all threads: it has no name, so nothing is left of it whatever
/// ends the process.
pub(crate) struct Overflow {
    directory: PathBuf,
    file: OnceLock<File>,
    making: Mutex<()>,
    written: AtomicU64,
}

impl Overflow {
    pub(crate) fn new(directory: &Path) -> Self {
        Overflow {
            directory: directory.to_owned(),
            file: OnceLock::new(),
            making: Mutex::new(()),
            written: AtomicU64::new(0),
        }
    }

    fn file(&self) -> io::Result<&File> {
        let _one = locked(&self.making);
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = tempfile::tempfile_in(&self.directory)?;
        Ok(self.file.get_or_init(|| file))
    }

    /// Where the bytes begin that it holds now.
    fn write(&self, bytes: &[u8]) -> Result<u64, TemporaryError> {
        // Whole pages are written faster.
        let len = bytes.len().next_multiple_of(PAGE) as u64;
        let at = self.written.fetch_add(len, Ordering::Relaxed);
        let file = match self.file.get() {
            Some(file) => Ok(file),
            None => self.file(),
        };
        file.and_then(|file| file.write_all_at(bytes, at)).map_err(|cause| self.failed(cause))?;
        Ok(at)
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), TemporaryError> {
        let file = self.file().map_err(|cause| self.failed(cause))?;
        file.read_exact_at(bytes, at).map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: io::Error) -> TemporaryError {
        let written = self.written.load(Ordering::Relaxed);
        TemporaryError { directory: self.directory.clone(), written, cause }
    }

    #[cfg(test)]
    fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

/// Bytes of a page.
const PAGE: usize = 4096;

/// Records of one part, in pieces.
#[derive(Debug)]
enum StorePiece {
    Memory(Vec<u8>),
    Overflow { at: u64, len: usize },
}

/// Records of all parts.
pub(crate) struct Store<'o> {
    parts: Vec<Mutex<Vec<StorePiece>>>,
    overflow: &'o Overflow,
    /// Bytes that may still be held in memory
    room: AtomicU64,
}

impl<'o> Store<'o> {
    /// A number of parts that hold `memory` bytes together before they go to `overflow`.
    pub(crate) fn new(parts: usize, memory: u64, overflow: &'o Overflow) -> Self {
        Store {
            parts: (0..parts).map(|_| Mutex::default()).collect(),
            overflow,
            room: AtomicU64::new(memory),
        }
    }

    /// Number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Takes a part out.
    pub(crate) fn take(&self, part: usize) -> StorePart<'o> {
        let pieces = std::mem::take(&mut *locked(&self.parts[part]));
        StorePart { pieces, overflow: self.overflow }
    }

    fn add(&self, part: usize, piece: StorePiece) {
        locked(&self.parts[part]).push(piece);
    }

    /// Whether so much more can be held in memory; then it is taken as held.
    fn hold(&self, len: usize) -> bool {
        let held = |room: u64| room.checked_sub(len as u64);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, held).is_ok()
    }
}

/// The records of one part.
pub(crate) struct StorePart<'o> {
    pieces: Vec<StorePiece>,
    overflow: &'o Overflow,
}

impl<'o> StorePart<'o> {
    /// Where more of it can go.
    pub(crate) fn overflow(&self) -> &'o Overflow {
        self.overflow
    }

    /// Its size in B.
    pub(crate) fn len(&self) -> usize {
        let len = |piece: &StorePiece| match piece {
            StorePiece::Memory(bytes) => bytes.len(),
            StorePiece::Overflow { len, .. } => *len,
        };
        self.pieces.iter().map(len).sum()
    }

    /// Puts all records into `bytes`.
    pub(crate) fn read(self, bytes: &mut Vec<u8>) -> Result<(), TemporaryError> {
        bytes.clear();
        bytes.reserve_exact(self.len());
        self.each(|piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
    }

    /// Gives the records piece by piece, and frees each.
    pub(crate) fn each(
        self,
        mut piece_of: impl FnMut(&[u8]) -> Result<(), TemporaryError>,
    ) -> Result<(), TemporaryError> {
        let mut buffer = Vec::new();
        for piece in self.pieces {
            match piece {
                StorePiece::Memory(bytes) => piece_of(&bytes)?,
                StorePiece::Overflow { at, len } => {
                    buffer.resize(len, 0);
                    self.overflow.read(&mut buffer, at)?;
                    piece_of(&buffer)?;
                }
            }
        }
        Ok(())
    }
}

/// One thread's way into a store: collects records of a part until they are worth a piece.
pub(crate) struct StoreWriter<'s, 'o> {
    store: &'s Store<'o>,
    buffers: Vec<Vec<u8>>,
    /// Bytes of a piece
    piece: usize,
}

impl<'s, 'o> StoreWriter<'s, 'o> {
    /// Pieces of about so many bytes; the buffers of all parts take that much memory.
    pub(crate) fn new(store: &'s Store<'o>, piece: usize) -> Self {
        StoreWriter { store, buffers: vec![Vec::new(); store.parts()], piece }
    }

    /// Adds a record to a part.
    #[inline]
    pub(crate) fn add(&mut self, part: usize, record: &[u8]) -> Result<(), TemporaryError> {
        let buffer = &mut self.buffers[part];
        if buffer.capacity() - buffer.len() < record.len() {
            Self::make_room(self.store, self.piece, part, buffer)?;
        }
        buffer.extend_from_slice(record);
        Ok(())
    }

    #[cold]
    fn make_room(
        store: &Store<'_>,
        most: usize,
        part: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<(), TemporaryError> {
        if buffer.len() * 2 <= most {
            // A short log has no need of whole pieces.
            let room = most.min((buffer.len() * 4).max(512));
            buffer.reserve_exact(room - buffer.len());
            return Ok(());
        }
        Self::put(store, part, buffer)?;
        buffer.reserve_exact(most);
        Ok(())
    }

    fn put(store: &Store<'_>, part: usize, buffer: &mut Vec<u8>) -> Result<(), TemporaryError> {
        if buffer.is_empty() {
            return Ok(());
        }
        if store.hold(buffer.len()) {
            store.add(part, StorePiece::Memory(std::mem::take(buffer)));
        } else {
            let (at, len) = (store.overflow.write(buffer)?, buffer.len());
            store.add(part, StorePiece::Overflow { at, len });
            buffer.clear();
        }
        Ok(())
    }

    /// Hands over what is still held back.
    pub(crate) fn finish(mut self) -> Result<(), TemporaryError> {
        for (part, buffer) in self.buffers.iter_mut().enumerate() {
            Self::put(self.store, part, buffer)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(memory: u64, piece: usize) -> (Vec<Vec<u8>>, u64) {
        let overflow = Overflow::new(Path::new("/tmp"));
        let store = Store::new(4, memory, &overflow);
        let mut writer = StoreWriter::new(&store, piece);
        for n in 0..10_000u64 {
            writer.add((n % 4) as usize, &n.to_le_bytes()).unwrap();
        }
        writer.finish().unwrap();
        let parts = (0..4).map(|part| {
            let mut bytes = Vec::new();
            let part = store.take(part);
            assert_eq!(part.len(), 20_000);
            part.read(&mut bytes).unwrap();
            bytes
        });
        (parts.collect(), overflow.written())
    }

    #[test]
    fn records_come_back_from_memory_and_file() {
        let expected: Vec<Vec<u8>> = (0..4)
            .map(|part| (0..2500u64).flat_map(|n| (4 * n + part).to_le_bytes()).collect())
            .collect();
        for (memory, piece, least, most) in
            [(u64::MAX, 4096, 0, 0), (0, 4096, 80_000, 81_920), (40_000, 4096, 40_000, 48_000)]
        {
            let (parts, written) = filled(memory, piece);
            assert!(parts == expected, "{memory} B of memory");
            assert!((least..=most).contains(&written), "{memory} B of memory: {written} B written");
        }
    }

    #[test]
    fn a_directory_that_is_none_and_a_full_disk_are_errors() {
        let overflow = Overflow::new(Path::new("/dev/null/none"));
        let error = overflow.write(b"x").unwrap_err();
        assert!(error.to_string().contains("/dev/null/none"), "{error}");
        let overflow = Overflow::new(Path::new("/tmp"));
        overflow.file.set(File::options().write(true).open("/dev/full").unwrap()).unwrap();
        let error = overflow.write(b"x").unwrap_err();
        assert_eq!(error.cause.kind(), io::ErrorKind::StorageFull);
    }
}
