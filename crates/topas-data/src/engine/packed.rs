//! Records packed for the temporary file, in about half of their bytes.
//!
//! A log of 10⁹ lines would need 48 GB of disk otherwise. What a record has in common with the one
//! before is left out, and numbers take as many bytes as they need. Nearly always the mate of a line
//! stands before it in its part, so every second record has no key of its own. Writing fewer bytes
//! saves as much time as packing takes.

use super::record::{DATE, RecordForm, word};

/// Bytes behind packed ones that may be read, and room for those of one record and a word.
pub(crate) const ROOM: usize = 104;

/// The first byte of a packed record has two bits for the way in which the record is packed. This
/// is the first bit of the length of the wall clock time, less one.
const WALL: u32 = 2;
/// The same of the operations.
const OPERATIONS: u32 = 5;

/// The launch, the date and the group of the record before, and hardly another end: the first word
/// also has end, PE and marks.
const MATE: u64 = 0;
/// The date of the record before; end, PE, number of PEs and group have 16 bits each.
const NEAR: u64 = 1;
/// The same with 32 bits each.
const FAR: u64 = 2;
/// All words as they are.
const WHOLE: u64 = 3;

/// Bits of a key that a packed record has; those above are the same in all records of a part.
const KEY: u32 = 56;

/// Two numbers of 16 bits, each below a gap of as many.
const LOW: u64 = 0x0000_ffff_0000_ffff;

/// Room for packing these records.
pub(crate) fn most<F: RecordForm>(records: &[u8]) -> usize {
    records.len() / F::SIZE * (F::SIZE + 4) + ROOM
}

/// Packs records into `room`, which has [`most`] bytes at least: the number of packed bytes.
pub(crate) fn pack<F: RecordForm>(records: &[u8], room: &mut [u8]) -> usize {
    let mut at = 0;
    let mut before = [0; 6];
    for record in records.chunks_exact(F::SIZE) {
        let room = room[at..].first_chunk_mut().expect("room for a record");
        let words = std::array::from_fn(|n| word(record, n));
        let mut len = pack_first(&words, &before, room);
        if F::SIZE > 48 {
            len = pack_rest(&record[48..], len, room);
        }
        at += len;
        before = words;
    }
    at
}

/// Packs the words that all forms have.
#[inline(always)]
fn pack_first(words: &[u64; 6], before: &[u64; 6], room: &mut [u8; ROOM]) -> usize {
    let [key, when, wall, operations, npes_pe, group_marks] = *words;
    let later = when.wrapping_sub(before[1]);
    let other_date = later & ((1 << DATE) - 1);
    let later = zigzag(later as i64 >> DATE);
    let other_key = key ^ before[0];
    let marks = group_marks & 0xffff_ffff;
    let operations_len = bytes_of(operations);
    let lengths = (operations_len as u64 - 1) << OPERATIONS;
    let pe = npes_pe.wrapping_sub(before[4] & !0xffff_ffff);
    let other = other_key | other_date | later >> 8 | pe >> 16 | (group_marks ^ before[5]) >> 32;
    if other == 0 {
        let wall = zigzag(wall.wrapping_sub(before[2]) as i64);
        let wall_len = bytes_of(wall);
        let lengths = lengths | (wall_len as u64 - 1) << WALL;
        put(room, 0, MATE | lengths | later << 8 | pe << 16 | marks << 32);
        put(room, 8, wall);
        put(room, 8 + wall_len, operations);
        return 8 + wall_len + operations_len;
    }
    if other_key >> KEY | other_date | later >> 32 != 0 {
        room[0] = WHOLE as u8;
        words.iter().enumerate().for_each(|(n, word)| put(room, 1 + 8 * n, *word));
        return 49;
    }
    let later_group = later | group_marks >> 32 << 32;
    let low = npes_pe & LOW | (later_group & LOW) << 16;
    let high = npes_pe >> 16 & LOW | later_group & !LOW;
    let wall_len = bytes_of(wall);
    let lengths = lengths | (wall_len as u64 - 1) << WALL;
    let (how, at) = if high == 0 { (NEAR, 16) } else { (FAR, 24) };
    put(room, 0, how | lengths | key << (64 - KEY));
    put(room, 8, low);
    put(room, 16, high);
    put(room, at, marks);
    put(room, at + 4, wall);
    put(room, at + 4 + wall_len, operations);
    at + 4 + wall_len + operations_len
}

/// Packs the words of times and counters behind `at` bytes: four bits for the length of each, then the words.
#[inline(always)]
fn pack_rest(words: &[u8], at: usize, room: &mut [u8; ROOM]) -> usize {
    let mut lengths = 0;
    let mut end = at + 3;
    for n in 0..6 {
        let word = word(words, n);
        let len = if word == 0 { 0 } else { bytes_of(word) };
        lengths |= len << (4 * n);
        put(room, end, word);
        end += len;
    }
    room[at..at + 3].copy_from_slice(&lengths.to_le_bytes()[..3]);
    end
}

/// Fills `records` with those that `packed` was made of, behind whose bytes there are [`ROOM`] others.
/// Whether these are as many records as expected: damaged bytes may be other records, too.
pub(crate) fn unpack<F: RecordForm>(packed: &[u8], records: &mut [u8]) -> bool {
    let mut at = 0;
    let mut before = [0; 6];
    for record in records.chunks_exact_mut(F::SIZE) {
        let Some(from) = packed.get(at..).and_then(|from| from.first_chunk()) else {
            return false;
        };
        let (first, rest) = record.split_at_mut(48);
        let (words, mut len) = unpack_first(from, &before);
        for (to, word) in first.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        if F::SIZE > 48 {
            len = unpack_rest(from, len, rest);
        }
        at += len;
        before = words;
    }
    at + ROOM == packed.len()
}

#[inline(always)]
fn unpack_first(from: &[u8; ROOM], before: &[u64; 6]) -> ([u64; 6], usize) {
    let first = get(from, 0);
    let wall_len = 1 + (first >> WALL & 7) as usize;
    let operations_len = 1 + (first >> OPERATIONS & 7) as usize;
    match first & 3 {
        MATE => {
            let later = unzigzag(first >> 8 & 0xff);
            let wall = unzigzag(cut(get(from, 8), wall_len)) as u64;
            let words = [
                before[0],
                before[1].wrapping_add((later << DATE) as u64),
                before[2].wrapping_add(wall),
                cut(get(from, 8 + wall_len), operations_len),
                before[4] & !0xffff_ffff | first >> 16 & 0xffff,
                before[5] & !0xffff_ffff | first >> 32,
            ];
            (words, 8 + wall_len + operations_len)
        }
        WHOLE => (std::array::from_fn(|n| get(from, 1 + 8 * n)), 49),
        how => {
            let low = get(from, 8);
            let (high, at) = if how == NEAR { (0, 16) } else { (get(from, 16), 24) };
            let later_group = low >> 16 & LOW | high & !LOW;
            let later = unzigzag(later_group & 0xffff_ffff);
            let words = [
                before[0] >> KEY << KEY | first >> (64 - KEY),
                before[1].wrapping_add((later << DATE) as u64),
                cut(get(from, at + 4), wall_len),
                cut(get(from, at + 4 + wall_len), operations_len),
                low & LOW | (high & LOW) << 16,
                later_group >> 32 << 32 | get(from, at) & 0xffff_ffff,
            ];
            (words, at + 4 + wall_len + operations_len)
        }
    }
}

#[inline(always)]
fn unpack_rest(from: &[u8; ROOM], at: usize, words: &mut [u8]) -> usize {
    let lengths = get(from, at);
    let mut end = at + 3;
    for (n, to) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        // A length above 8 is none of ours.
        let len = (lengths >> (4 * n) & 15).min(8) as usize;
        *to = if len == 0 { [0; 8] } else { cut(get(from, end), len).to_le_bytes() };
        end += len;
    }
    end
}

#[inline(always)]
fn put(room: &mut [u8; ROOM], at: usize, word: u64) {
    room[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

#[inline(always)]
fn get(from: &[u8; ROOM], at: usize) -> u64 {
    from[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Bytes that a number needs, from 1 to 8.
#[inline(always)]
fn bytes_of(number: u64) -> usize {
    (71 - (number | 1).leading_zeros() as usize) / 8
}

/// The lowest bytes of a word, 1 to 8 of them.
#[inline(always)]
fn cut(word: u64, len: usize) -> u64 {
    word & u64::MAX >> (64 - 8 * len)
}

/// Small numbers of both signs as small ones without.
#[inline(always)]
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

#[inline(always)]
fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::record::{Full, Slim};

    fn packed<F: RecordForm>(records: &[u8]) -> Vec<u8> {
        let mut room = vec![7; most::<F>(records)];
        let len = pack::<F>(records, &mut room);
        room.truncate(len + ROOM);
        room
    }

    fn check<F: RecordForm>(words: &[[u64; 12]]) -> Result<Vec<u8>, TestCaseError> {
        let record = |words: &[u64; 12]| words.map(u64::to_le_bytes).as_flattened().to_owned();
        let records: Vec<u8> =
            words.iter().flat_map(|words| record(words)[..F::SIZE].to_owned()).collect();
        let packed = packed::<F>(&records);
        let mut unpacked = vec![9; records.len()];
        prop_assert!(unpack::<F>(&packed, &mut unpacked));
        prop_assert!(unpacked == records, "{unpacked:?} {records:?}");
        if let Some(more) = packed.len().checked_sub(ROOM + 1) {
            // Cut off behind some record, or within one.
            let mut cut = packed[..more].to_owned();
            cut.resize(more + ROOM, 0);
            prop_assert!(!unpack::<F>(&cut, &mut unpacked));
        }
        Ok(packed)
    }

    /// A word that differs from that of the record before in some bits, or in all.
    fn change() -> impl Strategy<Value = u64> {
        prop_oneof![
            4 => Just(0),
            2 => 0u64..2,
            2 => (0u32..64).prop_map(|bit| 1 << bit),
            2 => (any::<u64>(), 0u32..64).prop_map(|(word, bits)| word >> bits),
            1 => any::<u64>(),
        ]
    }

    proptest! {
        #[test]
        fn records_come_back(
            changes in proptest::collection::vec(proptest::array::uniform12(change()), 0..20),
        ) {
            let mut before = [0u64; 12];
            let records: Vec<[u64; 12]> = changes
                .iter()
                .map(|change| {
                    before = std::array::from_fn(|n| before[n].wrapping_add(change[n]));
                    before
                })
                .collect();
            check::<Slim>(&records)?;
            check::<Full<true>>(&records)?;
        }

        #[test]
        fn damaged_bytes_are_no_panic(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..400),
            records in 0usize..10,
        ) {
            bytes.resize(bytes.len() + ROOM, 0);
            unpack::<Slim>(&bytes, &mut vec![0; 48 * records]);
            unpack::<Full<true>>(&bytes, &mut vec![0; 96 * records]);
        }
    }

    /// The two lines of a launch of 128 PEs that took an hour, in a group of few.
    #[test]
    fn lines_of_usual_launches_take_few_bytes() {
        let launch = |n: u64| {
            let when = |later| (63_900_000_000 + 40 * n + later) << DATE | 2026 << 9 | 5 << 5 | 4;
            let marks = |metric| (0x123_4567 ^ n) << 7 | 1 << 6 | 1 << 2 | metric;
            let line = |pe, later: u64, metric: u64| {
                let wall = 3_600_000_000 + 7_000_000 * n + 90_000 * later;
                let first = [
                    0x77 << 56 | (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8,
                    when(later),
                    wall,
                    wall * (400 + 100 * metric),
                    128u64 << 32 | pe,
                    (n % 100) << 32 | marks(metric),
                ];
                let rest = [wall / 1000 * 970, wall / 1000 * 11, wall * 3, 0, 0, 1];
                std::array::from_fn(|n| if n < 6 { first[n] } else { rest[n - 6] })
            };
            [line(17, 0, 0), line(90, 1, 1)]
        };
        let records: Vec<[u64; 12]> = (0..500).flat_map(launch).collect();
        let bytes = |packed: Vec<u8>| packed.len() - ROOM;
        assert_eq!(bytes(check::<Slim>(&records).unwrap()), 23_919);
        assert_eq!(bytes(check::<Full<false>>(&records).unwrap()), 41_681);
    }
}
