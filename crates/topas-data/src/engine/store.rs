//! Keeps records apart by the hash of their launch: in memory as long as they fit, then packed in
//! temporary files.

#[allow(unsafe_code, reason = "an instruction that no library here makes safe")]
mod sys;

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::TemporaryError;
use super::packed::{self, ROOM, pack, unpack};
use super::record::RecordForm;
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
    /// Made for the first piece
    file: Option<Arc<File>>,
    /// Bytes that are written
    written: u64,
    /// Packed pieces that are still to be written, and room for more
    waiting: Vec<u8>,
    /// How many bytes of this are pieces
    waits: usize,
}

impl OverflowFile {
    /// Packs records and puts them aside.
    fn put<F: RecordForm>(
        &mut self,
        overflow: &Overflow,
        records: &[u8],
    ) -> Result<StorePiece, TemporaryError> {
        let file = match &self.file {
            Some(file) => file,
            None => {
                let made = tempfile::tempfile_in(&overflow.directory);
                self.file.insert(Arc::new(made.map_err(|cause| overflow.failed(cause))?))
            }
        };
        let room = self.waits + packed::most::<F>(records);
        if self.waiting.len() < room {
            self.waiting.resize(room, 0);
        }
        let packed = pack::<F>(records, &mut self.waiting[self.waits..]);
        let at = self.written + self.waits as u64;
        let file = Arc::clone(file);
        let piece = StorePiece::Overflow { file, at, packed, len: records.len() };
        self.waits += packed;
        if self.waits >= WRITTEN {
            // Whole pages are written faster.
            self.write(overflow, self.waits / PAGE * PAGE)?;
        }
        Ok(piece)
    }

    /// Writes so many bytes of those that wait.
    fn write(&mut self, overflow: &Overflow, len: usize) -> Result<(), TemporaryError> {
        if let Some(file) = &self.file {
            let written = file.write_all_at(&self.waiting[..len], self.written);
            written.map_err(|cause| overflow.failed(cause))?;
            self.written += len as u64;
            overflow.written.fetch_add(len as u64, Ordering::Relaxed);
            self.waiting.copy_within(len..self.waits, 0);
            self.waits -= len;
        }
        Ok(())
    }
}

/// Bytes of a page.
const PAGE: usize = 4096;

/// About so many bytes are written at a time.
const WRITTEN: usize = 128 * 1024;

/// Records of one part, in pieces.
#[derive(Debug)]
enum StorePiece {
    Memory(Vec<u8>),
    /// Records of `len` B in so many packed ones
    Overflow {
        file: Arc<File>,
        at: u64,
        packed: usize,
        len: usize,
    },
}

impl StorePiece {
    /// The size of its records in B.
    fn len(&self) -> usize {
        match self {
            StorePiece::Memory(bytes) => bytes.len(),
            StorePiece::Overflow { len, .. } => *len,
        }
    }

    /// Puts the records, which are so many bytes, into `records`; `room` is for the packed ones.
    fn read<F: RecordForm>(&self, records: &mut [u8], room: &mut Vec<u8>) -> io::Result<()> {
        match self {
            StorePiece::Memory(bytes) => records.copy_from_slice(bytes),
            StorePiece::Overflow { file, at, packed, .. } => {
                room.resize(packed + ROOM, 0);
                file.read_exact_at(&mut room[..*packed], *at)?;
                if !unpack::<F>(room, records) {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, DAMAGED));
                }
            }
        }
        Ok(())
    }
}

/// What is said of a piece that does not come back as it was written.
const DAMAGED: &str = "what was written comes back changed";

/// Records of all parts.
pub(crate) struct Store<'o, F> {
    parts: Vec<Mutex<Vec<StorePiece>>>,
    overflow: &'o Overflow,
    /// Bytes that may still be held in memory
    room: AtomicU64,
    form: PhantomData<fn() -> F>,
}

impl<'o, F: RecordForm> Store<'o, F> {
    /// A number of parts that hold `memory` bytes together before they go to `overflow`.
    pub(crate) fn new(parts: usize, memory: u64, overflow: &'o Overflow) -> Self {
        Store {
            parts: (0..parts).map(|_| Mutex::default()).collect(),
            overflow,
            room: AtomicU64::new(memory),
            form: PhantomData,
        }
    }

    /// Number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Takes a part out.
    pub(crate) fn take(&self, part: usize) -> StorePart<'o, F> {
        let pieces = std::mem::take(&mut *locked(&self.parts[part]));
        StorePart { pieces, overflow: self.overflow, form: PhantomData }
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
pub(crate) struct StorePart<'o, F> {
    pieces: Vec<StorePiece>,
    overflow: &'o Overflow,
    form: PhantomData<fn() -> F>,
}

impl<'o, F: RecordForm> StorePart<'o, F> {
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
        let mut packed = Vec::new();
        for piece in self.pieces {
            let (to, behind) = rest.split_at_mut(piece.len());
            let read = piece.read::<F>(to, &mut packed);
            read.map_err(|cause| self.overflow.failed(cause))?;
            rest = behind;
        }
        Ok(&room[..len])
    }

    /// Gives the records piece by piece, and frees each.
    pub(crate) fn each(
        self,
        mut piece_of: impl FnMut(&[u8]) -> Result<(), TemporaryError>,
    ) -> Result<(), TemporaryError> {
        let (mut records, mut packed) = (Vec::new(), Vec::new());
        for piece in self.pieces {
            records.resize(piece.len(), 0);
            let read = piece.read::<F>(&mut records, &mut packed);
            read.map_err(|cause| self.overflow.failed(cause))?;
            piece_of(&records)?;
        }
        Ok(())
    }
}

/// One thread's way into a store: collects records of a part until they are worth a piece.
pub(crate) struct StoreWriter<'s, 'o, F: RecordForm> {
    store: &'s Store<'o, F>,
    buffers: Vec<Vec<u8>>,
    /// Bytes of a piece
    piece: usize,
    file: OverflowFile,
    /// The last records, with their parts, that are still to be written
    coming: [Option<(usize, F::RecordBytes)>; COMING],
    /// Number of records so far
    number: usize,
}

/// Records that wait until the memory into which they go is near the processor. It is that of any of
/// 256 parts, so a processor that wrote at once would wait for it.
const COMING: usize = 8;

impl<'s, 'o, F: RecordForm> StoreWriter<'s, 'o, F> {
    /// Pieces of about so many bytes; the buffers of all parts take that much memory.
    pub(crate) fn new(store: &'s Store<'o, F>, piece: usize) -> Self {
        let buffers = vec![Vec::new(); store.parts()];
        let coming = [const { None }; COMING];
        StoreWriter { store, buffers, piece, file: OverflowFile::default(), coming, number: 0 }
    }

    /// Adds a record to a part, a few records later.
    #[inline(always)]
    pub(crate) fn add_soon(
        &mut self,
        part: usize,
        record: F::RecordBytes,
    ) -> Result<(), TemporaryError> {
        let buffer = &self.buffers[part];
        sys::prefetch(buffer.as_ptr().wrapping_add(buffer.len() + F::SIZE - 1));
        let place = &mut self.coming[self.number % COMING];
        self.number += 1;
        match place.replace((part, record)) {
            Some((part, record)) => self.add(part, record.as_ref()),
            None => Ok(()),
        }
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
        store: &Store<'_, F>,
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
        store: &Store<'_, F>,
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
            store.add(part, file.put::<F>(store.overflow, buffer)?);
            buffer.clear();
        }
        Ok(())
    }

    /// Hands over what is still held back.
    pub(crate) fn finish(mut self) -> Result<(), TemporaryError> {
        for number in self.number..self.number + COMING {
            if let Some((part, record)) = self.coming[number % COMING].take() {
                self.add(part, record.as_ref())?;
            }
        }
        for (part, buffer) in self.buffers.iter_mut().enumerate() {
            Self::put(self.store, &mut self.file, part, buffer)?;
        }
        self.file.write(self.store.overflow, self.file.waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::record::Slim;

    /// A record of two lines of a launch in turn.
    fn record(n: u64) -> [u8; 48] {
        let mut record = [0; 48];
        let words = [n / 8, (n / 8) << 23, n, 1 << (n % 64), (8 << 32) | (n % 8), n % 128];
        for (to, word) in record.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        record
    }

    fn filled(memory: u64, piece: usize) -> (Vec<Vec<u8>>, u64) {
        let overflow = Overflow::new(Path::new("/tmp"));
        let store = Store::<Slim>::new(4, memory, &overflow);
        let mut writer = StoreWriter::new(&store, piece);
        for n in 0..40_000u64 {
            writer.add((n % 4) as usize, &record(n)).unwrap();
        }
        writer.finish().unwrap();
        // As large as a part, larger, and smaller: what was there before is of no matter.
        let parts = [480_000, 600_000, 10, 0].iter().enumerate().map(|(part, room)| {
            let mut room = vec![7; *room];
            let part = store.take(part);
            assert_eq!(part.len(), 480_000);
            part.read(&mut room).unwrap().to_vec()
        });
        (parts.collect(), overflow.written())
    }

    #[test]
    fn records_come_back_from_memory_and_file() {
        let expected: Vec<Vec<u8>> = (0..4)
            .map(|part| (0..10_000u64).flat_map(|n| record(4 * n + part)).collect())
            .collect();
        for (memory, piece, least, most) in [
            (u64::MAX, 4096, 0, 0),
            (0, 4096, 500_000, 960_000),
            (0, 65_536, 500_000, 960_000),
            (960_000, 4096, 250_000, 480_000),
        ] {
            let (parts, written) = filled(memory, piece);
            assert!(parts == expected, "{memory} B of memory");
            assert!((least..=most).contains(&written), "{memory} B of memory: {written} B written");
        }
    }

    #[test]
    fn a_directory_that_is_none_and_a_full_disk_are_errors() {
        let records: Vec<u8> = (0..20_000).flat_map(record).collect();
        let put = |overflow: &Overflow, file: &mut OverflowFile| {
            file.put::<Slim>(overflow, &records).map(|_| ())
        };
        let overflow = Overflow::new(Path::new("/dev/null/none"));
        let error = put(&overflow, &mut OverflowFile::default()).unwrap_err();
        assert!(error.to_string().contains("/dev/null/none"), "{error}");
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut full = OverflowFile { file: Some(Arc::new(full)), ..OverflowFile::default() };
        let error = put(&Overflow::new(Path::new("/tmp")), &mut full).unwrap_err();
        assert_eq!(error.cause.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_file_that_was_changed_is_an_error() {
        let overflow = Overflow::new(Path::new("/tmp"));
        let store = Store::<Slim>::new(1, 0, &overflow);
        let changed = |change: &dyn Fn(&File)| {
            let mut writer = StoreWriter::new(&store, 4096);
            (0..1000).for_each(|n| writer.add(0, &record(n)).unwrap());
            // Of no record: makes the file.
            writer.file.put::<Slim>(&overflow, &[]).unwrap();
            let file = Arc::clone(writer.file.file.as_ref().unwrap());
            writer.finish().unwrap();
            change(&file);
            store.take(0).read(&mut Vec::new()).unwrap_err().cause
        };
        let cut = changed(&|file| file.set_len(2000).unwrap());
        assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof);
        let other = changed(&|file| file.write_all_at(&[3; 100], 1000).unwrap());
        assert_eq!((other.kind(), other.to_string()), (io::ErrorKind::InvalidData, DAMAGED.into()));
    }
}
