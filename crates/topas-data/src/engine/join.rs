//! Joins the lines of a part of all launches: those with one key come together by sorting.
//!
//! Lines can come in any order, and those of another node in another file, so no run is
//! known to be complete before the end of the input. Nearly always the mate of a line
//! stands close by.

use std::sync::Arc;

use super::TemporaryError;
use super::launch_lines::Launches;
use super::record::{RecordForm, key};
use super::store::{Store, StorePart, StoreWriter};
use crate::run::Run;

/// Bits of a key that choose the part.
pub(super) const PART_BITS: u32 = 8;

/// Bits that choose a part of a part that is too large.
const SPLIT_BITS: u32 = 6;

/// Bytes of a piece where a part is split.
const PIECE: usize = 16 * 1024;

/// Memory needed to join a record besides its own, in B.
const BESIDES: usize = 8 + 4 + 4 + 4;

/// The link of the last record of a chain; the other links are numbers of records.
const END: u32 = u32::MAX >> 1;

/// Marks the link of a record that is not the first of its chain.
const LATER: u32 = !END;

/// The part that a key belongs to.
#[inline]
pub(super) fn part(key: u64) -> usize {
    (key >> (64 - PART_BITS)) as usize
}

/// Joins parts one after the other.
pub(super) struct Join<'k> {
    launches: Launches<'k>,
    /// Memory for records in B
    memory: usize,
    /// Records of a part, and behind them what is left of a larger one
    records: Vec<u8>,
    /// Keys of the records
    keys: Vec<u64>,
    /// Numbers of records by the low bits of their keys
    order: Vec<u32>,
    ends: Vec<u32>,
    /// The next record of the same key
    links: Vec<u32>,
}

impl<'k> Join<'k> {
    /// `keys` are those of the groups. A part that needs more than `memory` B is split; what
    /// cannot be split, because it is of one launch, takes what it needs.
    pub(super) fn new(keys: &'k [Arc<[u8]>], memory: usize) -> Self {
        Join {
            launches: Launches::new(keys),
            memory,
            records: Vec::new(),
            keys: Vec::new(),
            order: Vec::new(),
            ends: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Gives the runs of a part.
    pub(super) fn part<F: RecordForm>(
        &mut self,
        part: StorePart<'_, F>,
        each: &mut impl FnMut(&Run<'_>),
    ) -> Result<(), TemporaryError> {
        self.split(part, PART_BITS, usize::MAX, each)
    }

    /// `used` bits of the keys are the same; `of` is the size of what it is a part of.
    fn split<F: RecordForm>(
        &mut self,
        part: StorePart<'_, F>,
        used: u32,
        of: usize,
        each: &mut impl FnMut(&Run<'_>),
    ) -> Result<(), TemporaryError> {
        let len = part.len();
        let fits = len / F::SIZE * (F::SIZE + BESIDES) <= self.memory;
        if fits || len == of || used + SPLIT_BITS > 64 || len / F::SIZE < 2 {
            let records = part.read(&mut self.records)?.len();
            self.runs::<F>(records, each);
            return Ok(());
        }
        // What was kept of a part joined before is in the way now.
        *self = Join { memory: self.memory, ..Join::new(self.launches.keys(), 0) };
        let overflow = part.overflow();
        let store = Store::<F>::new(1 << SPLIT_BITS, 0, overflow);
        let mut writer = StoreWriter::new(&store, PIECE);
        part.each(|piece| {
            piece.chunks_exact(F::SIZE).try_for_each(|record| {
                let part = key(record) << used >> (64 - SPLIT_BITS);
                writer.add(part as usize, record)
            })
        })?;
        writer.finish()?;
        (0..store.parts())
            .try_for_each(|part| self.split(store.take(part), used + SPLIT_BITS, len, each))
    }

    /// Gives the runs of `records`, of which there are `len` bytes.
    fn runs<F: RecordForm>(&mut self, len: usize, each: &mut impl FnMut(&Run<'_>)) {
        self.keys.clear();
        self.keys.extend(self.records[..len].chunks_exact(F::SIZE).map(key));
        self.link();
        // Mates stand close by, nearly always: records are read from front to back.
        let records = &self.records[..len];
        let record = |at: u32| &records[at as usize * F::SIZE..][..F::SIZE];
        let mut launch = Vec::new();
        for (at, link) in (0..).zip(&self.links) {
            if link & LATER != 0 {
                continue;
            }
            launch.clear();
            launch.push(record(at));
            let mut next = link & END;
            while next != END {
                launch.push(record(next));
                next = self.links[next as usize] & END;
            }
            self.launches.separate::<F>(&mut launch, each);
        }
    }

    /// Makes a chain of the records of each key.
    fn link(&mut self) {
        let Join { keys, order, ends, links, .. } = self;
        // Parts are bounded by the memory, so numbers fit but for 100 GB of one launch.
        let number = u32::try_from(keys.len()).ok().filter(|&number| number < END);
        let number = number.expect("at most 2147483646 lines of one launch");
        // Two records in a bucket: those of a launch, mostly.
        let buckets = (number as usize / 2).next_power_of_two();
        let bucket = |key: u64| key as usize & (buckets - 1);
        ends.clear();
        ends.resize(buckets + 1, 0);
        for &key in keys.iter() {
            ends[bucket(key) + 1] += 1;
        }
        let mut sum = 0;
        for end in ends.iter_mut() {
            sum += *end;
            *end = sum;
        }
        // Each now holds where its bucket begins, and in the end where it ends.
        order.clear();
        order.resize(number as usize, 0);
        for (at, &key) in (0..).zip(keys.iter()) {
            let end = &mut ends[bucket(key)];
            order[*end as usize] = at;
            *end += 1;
        }
        links.clear();
        links.resize(number as usize, END);
        let mut begin = 0;
        for &end in &ends[..buckets] {
            let bucket = &mut order[begin as usize..end as usize];
            begin = end;
            if bucket.len() > 2 {
                bucket.sort_unstable_by_key(|&at| (keys[at as usize], at));
            }
            for pair in bucket.windows(2) {
                let [first, second] = [pair[0], pair[1]];
                if keys[first as usize] == keys[second as usize] {
                    let link = &mut links[first as usize];
                    *link = *link & LATER | second;
                    links[second as usize] |= LATER;
                }
            }
        }
    }
}
