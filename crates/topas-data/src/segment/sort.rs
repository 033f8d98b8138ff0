//! Sorts more than fits into memory: sorted runs in temporary files, merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Runs that are read at a time.
const MOST_RUNS: usize = 64;

/// What a run is ordered by, in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineSortKey {
    /// s since 1970-01-01, or any other measure
    pub time: i64,
    /// Number of the source
    pub source: u32,
    /// Place in the source
    pub place: u64,
    /// Whatever the bytes are
    pub kind: u8,
}

const KEY: usize = 8 + 4 + 8 + 1;

impl LineSortKey {
    fn to_bytes(self) -> [u8; KEY] {
        let mut bytes = [0; KEY];
        bytes[..8].copy_from_slice(&self.time.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.source.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.place.to_le_bytes());
        bytes[20] = self.kind;
        bytes
    }

    fn of_bytes(bytes: &[u8; KEY]) -> Self {
        let [t0, t1, t2, t3, t4, t5, t6, t7, s0, s1, s2, s3, rest @ ..] = *bytes;
        let [p0, p1, p2, p3, p4, p5, p6, p7, kind] = rest;
        LineSortKey {
            time: i64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]),
            source: u32::from_le_bytes([s0, s1, s2, s3]),
            place: u64::from_le_bytes([p0, p1, p2, p3, p4, p5, p6, p7]),
            kind,
        }
    }
}

/// Takes byte strings with keys in any order.
pub(crate) struct Sorter {
    dir: PathBuf,
    /// Bytes that may be held
    budget: usize,
    text: Vec<u8>,
    entries: Vec<(LineSortKey, usize, u32)>,
    runs: Vec<File>,
}

impl Sorter {
    /// Holds at most about `budget` bytes, and writes the rest to nameless files in `dir`.
    pub fn new(dir: &Path, budget: usize) -> Self {
        Sorter {
            dir: dir.to_owned(),
            budget,
            text: Vec::new(),
            entries: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Takes one.
    ///
    /// # Errors
    ///
    /// What writing temporary files says.
    pub fn add(&mut self, key: LineSortKey, bytes: &[u8]) -> io::Result<()> {
        let held = self.text.len() + self.entries.len() * size_of::<(LineSortKey, usize, u32)>();
        if held + bytes.len() > self.budget && !self.entries.is_empty() {
            self.spill()?;
        }
        self.entries.push((key, self.text.len(), bytes.len() as u32));
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        let held = self.held();
        self.runs.push(write_run(&self.dir, held)?);
        if self.runs.len() >= MOST_RUNS {
            let runs = std::mem::take(&mut self.runs);
            let all = Sorted::new(runs, Held::default())?;
            self.runs.push(write_run(&self.dir, all)?);
        }
        Ok(())
    }

    /// What is in memory, sorted.
    fn held(&mut self) -> Held {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by_key(|(key, ..)| *key);
        Held { text: std::mem::take(&mut self.text), entries, next: 0 }
    }

    /// All of them in order.
    ///
    /// # Errors
    ///
    /// What reading temporary files says.
    pub fn finish(mut self) -> io::Result<Sorted> {
        let held = self.held();
        Sorted::new(self.runs, held)
    }
}

/// Gives keys and bytes in order.
pub(crate) trait InOrder {
    /// Goes to the next one: its key, none at the end.
    fn advance(&mut self) -> io::Result<Option<LineSortKey>>;
    /// The bytes of the one that came last.
    fn current(&self) -> &[u8];
}

fn write_run(dir: &Path, mut from: impl InOrder) -> io::Result<File> {
    let mut out =
        zstd::stream::write::Encoder::new(BufWriter::new(tempfile::tempfile_in(dir)?), 1)?;
    while let Some(key) = from.advance()? {
        let bytes = from.current();
        out.write_all(&key.to_bytes())?;
        out.write_all(&(bytes.len() as u32).to_le_bytes())?;
        out.write_all(bytes)?;
    }
    let mut file = out.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    Ok(file)
}

/// The run in memory.
#[derive(Default)]
struct Held {
    text: Vec<u8>,
    entries: Vec<(LineSortKey, usize, u32)>,
    next: usize,
}

impl InOrder for Held {
    fn advance(&mut self) -> io::Result<Option<LineSortKey>> {
        let key = self.entries.get(self.next).map(|(key, ..)| *key);
        self.next += 1;
        Ok(key)
    }

    fn current(&self) -> &[u8] {
        let (_, at, len) = self.entries[self.next - 1];
        &self.text[at..at + len as usize]
    }
}

/// A run in a file.
struct Stored {
    reader: zstd::stream::read::Decoder<'static, BufReader<File>>,
    bytes: Vec<u8>,
}

impl InOrder for Stored {
    fn advance(&mut self) -> io::Result<Option<LineSortKey>> {
        let mut key = [0; KEY];
        match self.reader.read(&mut key)? {
            0 => return Ok(None),
            n => self.reader.read_exact(&mut key[n..])?,
        }
        let mut len = [0; 4];
        self.reader.read_exact(&mut len)?;
        self.bytes.resize(u32::from_le_bytes(len) as usize, 0);
        self.reader.read_exact(&mut self.bytes)?;
        Ok(Some(LineSortKey::of_bytes(&key)))
    }

    fn current(&self) -> &[u8] {
        &self.bytes
    }
}

/// Merges what is in order each for itself. The keys of all must differ.
pub(crate) struct Merged<'s> {
    streams: Vec<Box<dyn InOrder + 's>>,
    heads: BinaryHeap<Reverse<(LineSortKey, usize)>>,
    current: Option<usize>,
}

impl<'s> Merged<'s> {
    /// Of streams that have not begun.
    ///
    /// # Errors
    ///
    /// What reading their first ones says.
    pub fn new(mut streams: Vec<Box<dyn InOrder + 's>>) -> io::Result<Self> {
        let mut heads = BinaryHeap::new();
        for (number, stream) in streams.iter_mut().enumerate() {
            if let Some(key) = stream.advance()? {
                heads.push(Reverse((key, number)));
            }
        }
        Ok(Merged { streams, heads, current: None })
    }
}

impl InOrder for Merged<'_> {
    fn advance(&mut self) -> io::Result<Option<LineSortKey>> {
        // The head that was handed out stays on the heap until its bytes are done with.
        if let Some(number) = self.current.take() {
            let next = self.streams[number].advance()?;
            let head = self.heads.peek_mut();
            match (head, next) {
                (Some(mut head), Some(key)) => *head = Reverse((key, number)),
                (Some(head), None) => drop(std::collections::binary_heap::PeekMut::pop(head)),
                (None, _) => {}
            }
        }
        let head = self.heads.peek();
        self.current = head.map(|Reverse((_, number))| *number);
        Ok(head.map(|Reverse((key, _))| *key))
    }

    fn current(&self) -> &[u8] {
        self.current.map_or(&[], |number| self.streams[number].current())
    }
}

/// What a [`Sorter`] took, in order.
pub(crate) struct Sorted(Merged<'static>);

impl Sorted {
    fn new(runs: Vec<File>, held: Held) -> io::Result<Self> {
        let mut streams: Vec<Box<dyn InOrder>> = vec![Box::new(held)];
        for file in runs {
            let reader = zstd::stream::read::Decoder::new(file)?;
            streams.push(Box::new(Stored { reader, bytes: Vec::new() }));
        }
        Merged::new(streams).map(Sorted)
    }
}

impl InOrder for Sorted {
    fn advance(&mut self) -> io::Result<Option<LineSortKey>> {
        self.0.advance()
    }

    fn current(&self) -> &[u8] {
        self.0.current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Also with so small a budget that runs of runs are made.
        #[test]
        fn sorts_as_memory_does(
            given in proptest::collection::vec((any::<i8>(), proptest::collection::vec(any::<u8>(), 0..40)), 0..600),
            budget in prop_oneof![Just(1usize), Just(200), Just(5000), Just(1 << 20)],
        ) {
            let dir = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::new(dir.path(), budget);
            let mut expected = Vec::new();
            for (place, (time, bytes)) in given.into_iter().enumerate() {
                let key = LineSortKey { time: time.into(), source: 3, place: place as u64, kind: bytes.len() as u8 };
                sorter.add(key, &bytes).unwrap();
                expected.push((key, bytes));
            }
            expected.sort_by_key(|(key, _)| key.time);
            let mut sorted = sorter.finish().unwrap();
            let mut got = Vec::new();
            while let Some(key) = sorted.advance().unwrap() {
                got.push((key, sorted.current().to_vec()));
            }
            prop_assert_eq!(got, expected);
            prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }
}
