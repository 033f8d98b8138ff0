//! Keeps records apart by the hash of their launch: in memory as long as they fit, then in
//! temporary files.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::TemporaryError;
use crate::feed::locked;

/// Where temporary files are made. They have no names, so nothing is left of them whatever ends
/// the process.
pub(crate) struct Overflow {
    directory: PathBuf,
    /// Bytes of all files
    written: AtomicU64,
}

impl Overflow {
    pub(crate) fn new(directory: &Path) -> Self {
        Overflow { directory: directory.to_owned(), written: AtomicU64::new(0) }
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

/// The temporary file of one writer: the kernel lets only one write to a file at a time.
#[derive(Default)]
struct OverflowFile {
    /// Made by the first write
    file: Option<Arc<File>>,
    end: u64,
}

impl OverflowFile {
    /// Puts bytes aside.
    fn write(&mut self, overflow: &Overflow, bytes: &[u8]) -> Result<StorePiece, TemporaryError> {
        let file = match &self.file {
            Some(file) => file,
            None => {
                let made = tempfile::tempfile_in(&overflow.directory);
                self.file.insert(Arc::new(made.map_err(|cause| overflow.failed(cause))?))
            }
        };
        file.write_all_at(bytes, self.end).map_err(|cause| overflow.failed(cause))?;
        let piece = StorePiece::Overflow { file: Arc::clone(file), at: self.end, len: bytes.len() };
        // Whole pages are written faster.
        let len = bytes.len().next_multiple_of(PAGE) as u64;
        self.end += len;
        overflow.written.fetch_add(len, Ordering::Relaxed);
        Ok(piece)
    }
}

/// Bytes of a page.
const PAGE: usize = 4096;

/// Records of one part, in pieces.
#[derive(Debug)]
enum StorePiece {
    Memory(Vec<u8>),
    Overflow { file: Arc<File>, at: u64, len: usize },
}

impl StorePiece {
    /// Its size in B.
    fn len(&self) -> usize {
        match self {
            StorePiece::Memory(bytes) => bytes.len(),
            StorePiece::Overflow { len, .. } => *len,
        }
    }
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
        self.pieces.iter().map(StorePiece::len).sum()
    }

    /// Puts all records into `room`, and gives them. What is there from another part stays, so that
    /// room is neither made nor cleared twice.
    pub(crate) fn read(self, room: &mut Vec<u8>) -> Result<&[u8], TemporaryError> {
        let len = self.len();
        if room.len() < len {
            room.reserve_exact(len - room.len());
            room.resize(len, 0);
        }
        let mut rest = &mut room[..len];
        for piece in self.pieces {
            let (to, behind) = rest.split_at_mut(piece.len());
            match piece {
                StorePiece::Memory(bytes) => to.copy_from_slice(&bytes),
                StorePiece::Overflow { file, at, .. } => {
                    file.read_exact_at(to, at).map_err(|cause| self.overflow.failed(cause))?;
                }
            }
            rest = behind;
        }
        Ok(&room[..len])
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
                StorePiece::Overflow { file, at, len } => {
                    buffer.resize(len, 0);
                    let read = file.read_exact_at(&mut buffer, at);
                    read.map_err(|cause| self.overflow.failed(cause))?;
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
    file: OverflowFile,
}

impl<'s, 'o> StoreWriter<'s, 'o> {
    /// Pieces of about so many bytes; the buffers of all parts take that much memory.
    pub(crate) fn new(store: &'s Store<'o>, piece: usize) -> Self {
        let buffers = vec![Vec::new(); store.parts()];
        StoreWriter { store, buffers, piece, file: OverflowFile::default() }
    }

    /// Adds a record to a part.
    #[inline]
    pub(crate) fn add(&mut self, part: usize, record: &[u8]) -> Result<(), TemporaryError> {
        let buffer = &mut self.buffers[part];
        if buffer.capacity() - buffer.len() < record.len() {
            Self::make_room(self.store, &mut self.file, self.piece, part, buffer)?;
        }
        buffer.extend_from_slice(record);
        Ok(())
    }

    #[cold]
    fn make_room(
        store: &Store<'_>,
        file: &mut OverflowFile,
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
        Self::put(store, file, part, buffer)?;
        buffer.reserve_exact(most);
        Ok(())
    }

    fn put(
        store: &Store<'_>,
        file: &mut OverflowFile,
        part: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<(), TemporaryError> {
        if buffer.is_empty() {
            return Ok(());
        }
        if store.hold(buffer.len()) {
            store.add(part, StorePiece::Memory(std::mem::take(buffer)));
        } else {
            store.add(part, file.write(store.overflow, buffer)?);
            buffer.clear();
        }
        Ok(())
    }

    /// Hands over what is still held back.
    pub(crate) fn finish(mut self) -> Result<(), TemporaryError> {
        for (part, buffer) in self.buffers.iter_mut().enumerate() {
            Self::put(self.store, &mut self.file, part, buffer)?;
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
        // As large as a part, larger, and smaller: what was there before is of no matter.
        let parts = [20_000, 30_000, 10, 0].iter().enumerate().map(|(part, room)| {
            let mut room = vec![7; *room];
            let part = store.take(part);
            assert_eq!(part.len(), 20_000);
            part.read(&mut room).unwrap().to_vec()
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
        let error = OverflowFile::default().write(&overflow, b"x").unwrap_err();
        assert!(error.to_string().contains("/dev/null/none"), "{error}");
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut full = OverflowFile { file: Some(Arc::new(full)), end: 0 };
        let error = full.write(&Overflow::new(Path::new("/tmp")), b"x").unwrap_err();
        assert_eq!(error.cause.kind(), io::ErrorKind::StorageFull);
    }
}
