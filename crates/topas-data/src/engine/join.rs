//! Joins the lines of a part of all launches: those with one key come together by sorting.
//!
//! Lines can come in any order, and those of another node in another file, so no run is
//! known to be complete before the end of the input.

use std::sync::Arc;

use super::TemporaryError;
use super::launch::Launches;
use super::record::{Form, key};
use super::store::{Part, Store, Writer};
use crate::run::Run;

/// Bits of a key that choose the part.
pub(super) const PART_BITS: u32 = 8;

/// Bits that choose a part of a part that is too large.
const SPLIT_BITS: u32 = 6;

/// Bytes of a piece where a part is split.
const PIECE: usize = 16 * 1024;

/// Memory needed to join a record besides its own, in B.
const BESIDES: usize = 12;

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
    records: Vec<u8>,
    /// Records by the low bits of their keys
    order: Vec<u32>,
    ends: Vec<u32>,
}

impl<'k> Join<'k> {
    /// `keys` are those of the groups. A part that needs more than `memory` B is split; what
    /// cannot be split, because it is of one launch, takes what it needs.
    pub(super) fn new(keys: &'k [Arc<[u8]>], memory: usize) -> Self {
        Join {
            launches: Launches::new(keys),
            memory,
            records: Vec::new(),
            order: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Gives the runs of a part.
    pub(super) fn part<F: Form>(
        &mut self,
        part: Part<'_>,
        each: &mut impl FnMut(&Run<'_>),
    ) -> Result<(), TemporaryError> {
        self.split::<F>(part, PART_BITS, usize::MAX, each)
    }

    /// `used` bits of the keys are the same; `of` is the size of what it is a part of.
    fn split<F: Form>(
        &mut self,
        part: Part<'_>,
        used: u32,
        of: usize,
        each: &mut impl FnMut(&Run<'_>),
    ) -> Result<(), TemporaryError> {
        let len = part.len();
        let fits = len / F::SIZE * (F::SIZE + BESIDES) <= self.memory;
        if fits || len == of || used + SPLIT_BITS > 64 || len / F::SIZE < 2 {
            part.read(&mut self.records)?;
            self.runs::<F>(each);
            return Ok(());
        }
        // What was kept of a part joined before is in the way now.
        (self.records, self.order, self.ends) = Default::default();
        let overflow = part.overflow();
        let store = Store::new(1 << SPLIT_BITS, 0, overflow);
        let mut writer = Writer::new(&store, PIECE);
        part.each(|piece| {
            piece.chunks_exact(F::SIZE).try_for_each(|record| {
                let part = key(record) << used >> (64 - SPLIT_BITS);
                writer.add(part as usize, record)
            })
        })?;
        writer.finish()?;
        (0..store.parts())
            .try_for_each(|part| self.split::<F>(store.take(part), used + SPLIT_BITS, len, each))
    }

    /// Gives the runs of `records`.
    fn runs<F: Form>(&mut self, each: &mut impl FnMut(&Run<'_>)) {
        let records = self.records.as_slice();
        let record = |at: u32| &records[at as usize * F::SIZE..][..F::SIZE];
        // Part sizes are bounded by the memory, so numbers fit but for petabytes of one launch.
        let number = u32::try_from(records.len() / F::SIZE).expect("at most 4294967295 lines");
        // Two records in a bucket: those of a launch, mostly.
        let buckets = (number as usize / 2).next_power_of_two();
        let bucket = |record: &[u8]| key(record) as usize & (buckets - 1);
        self.ends.clear();
        self.ends.resize(buckets + 1, 0);
        for record in records.chunks_exact(F::SIZE) {
            self.ends[bucket(record) + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += *end;
            *end = sum;
        }
        // Each now holds where its bucket begins, and in the end where it ends.
        self.order.clear();
        self.order.resize(number as usize, 0);
        for (at, record) in (0..).zip(records.chunks_exact(F::SIZE)) {
            let end = &mut self.ends[bucket(record)];
            self.order[*end as usize] = at;
            *end += 1;
        }
        let mut begin = 0;
        let mut same = Vec::new();
        for &end in &self.ends[..buckets] {
            let bucket = &mut self.order[begin as usize..end as usize];
            begin = end;
            if bucket.len() > 2 {
                bucket.sort_unstable_by_key(|&at| key(record(at)));
            }
            for launch in bucket.chunk_by(|&a, &b| key(record(a)) == key(record(b))) {
                same.clear();
                same.extend(launch.iter().map(|&at| record(at)));
                self.launches.separate::<F>(&mut same, each);
            }
        }
    }
}
