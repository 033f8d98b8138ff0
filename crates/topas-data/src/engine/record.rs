//! What is kept of a line until its run is complete: 48 B, or 96 B with all numbers.

use topas_format::civil::Date;
use topas_format::event::Metric;
use topas_format::field::Operations;
use topas_format::line::{Extras, Line};
use topas_format::number::{Count, Micros, whole};

use crate::run::{CpuTime, PeRecord};

/// What is known of a line besides its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineFacts {
    /// Hash of what lines of a launch have in common
    pub(crate) key: u64,
    /// When it was written: seconds since 1970-01-01
    pub(crate) end: i64,
    /// Number of its group
    pub(crate) group: u32,
    pub(crate) marks: Marks,
}

/// Yes or no, and what is left of 32 bits of a hash of the whole line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Marks(pub(crate) u32);

impl Marks {
    /// See [`Oddities::zone`](crate::Oddities::zone)
    pub(crate) const ZONE: Marks = Marks(1 << 4);
    /// See [`Oddities::span`](crate::Oddities::span)
    pub(crate) const SPAN: Marks = Marks(1 << 5);
    /// The line has an id
    pub(crate) const LAUNCH: Marks = Marks(1 << 6);
    /// First of the bits of the hash
    const HASH: u32 = 7;

    pub(crate) fn of_hash(hash: u64) -> Self {
        Marks(((hash >> 32) as u32) << Self::HASH)
    }

    pub(crate) fn with(self, mark: Marks, set: bool) -> Self {
        Marks(self.0 | if set { mark.0 } else { 0 })
    }

    pub(crate) fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 != 0
    }
}

/// A line that waits for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// 0 if the launcher does not tell it
    pub(crate) npes: u32,
    pub(crate) marks: Marks,
    pub(crate) pe: PeRecord,
}

/// A form that records are stored in.
pub(crate) trait RecordForm {
    /// Bytes of a record
    const SIZE: usize;
    /// As many
    type RecordBytes: AsRef<[u8]>;

    /// The record of a line. Equal lines have equal ones.
    fn encode(line: &Line<'_>, extras: Extras<'_>, facts: &LineFacts) -> Self::RecordBytes;

    /// Reads a record of [`RecordForm::SIZE`] bytes.
    fn decode(bytes: &[u8]) -> Member;
}

/// The key of a record of any form.
#[inline]
pub(crate) fn key(bytes: &[u8]) -> u64 {
    word(bytes, 0)
}

/// The PE of a record of any form.
#[inline]
pub(crate) fn pe(bytes: &[u8]) -> u32 {
    word(bytes, 4) as u32
}

/// Whether two records of one form are the same. What differs first stands last.
#[inline]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    a.as_chunks::<8>().0.iter().rev().eq(b.as_chunks().0.iter().rev())
}

/// [`Detail::Rates`](crate::Detail::Rates)
pub(crate) struct Slim;

/// [`Detail::Times`](crate::Detail::Times), and
/// [`Detail::Counters`](crate::Detail::Counters) if `COUNTERS`
pub(crate) struct Full<const COUNTERS: bool>;

/// Seconds from 1 January of year 1 to 1970: times of lines are not before it.
const YEAR_1: i64 = 62_135_596_800;

/// Bits of a date: year, month, day.
pub(crate) const DATE: u32 = 14 + 4 + 5;

/// First bit of the memory in the word that says which counts there are; 0 there says that it was
/// not measured, and other numbers are one more than its bytes.
const RSS: u32 = 6;

/// The largest number of bytes for which there is room.
const MOST_RSS: u64 = (u64::MAX >> RSS) - 1;

/// The metrics of an operations token; two bits tell which.
const METRICS: [Metric; 4] = [Metric::FpOps, Metric::IntOps, Metric::Loads, Metric::Stores];

impl RecordForm for Slim {
    const SIZE: usize = 48;
    type RecordBytes = [u8; 48];

    #[inline]
    fn encode(line: &Line<'_>, _: Extras<'_>, facts: &LineFacts) -> [u8; 48] {
        let (state, operations) = parts(line.ops.count);
        let metric = match line.ops.metric {
            Metric::FpOps | Metric::L1Miss => 0,
            Metric::IntOps => 1,
            Metric::Loads => 2,
            Metric::Stores => 3,
        };
        let marks = facts.marks.0 | metric | (state as u32) << 2;
        let Date { year, month, day } = line.date;
        let date = u64::from(year) << 9 | u64::from(month) << 5 | u64::from(day);
        let mut bytes = [0; 48];
        for (to, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip([
            facts.key,
            ((facts.end + YEAR_1) as u64) << DATE | date,
            line.wall_time.0,
            operations,
            u64::from(line.npes.0.unwrap_or(0)) << 32 | u64::from(line.pe),
            u64::from(facts.group) << 32 | u64::from(marks),
        ]) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Member {
        let (when, npes_pe, group_marks) = (word(bytes, 1), word(bytes, 4), word(bytes, 5));
        let marks = group_marks as u32;
        Member {
            npes: (npes_pe >> 32) as u32,
            marks: Marks(marks & !0xf),
            pe: PeRecord {
                pe: npes_pe as u32,
                wall: Micros(word(bytes, 2)),
                end: ((when >> DATE) as i64 - YEAR_1) * 1_000_000,
                date: Date {
                    year: (when >> 9) as u16 & 0x3fff,
                    month: (when >> 5) as u8 & 0xf,
                    day: when as u8 & 0x1f,
                },
                ops: Operations {
                    metric: METRICS[marks as usize & 3],
                    count: count(u64::from(marks >> 2), word(bytes, 3)),
                },
                cpu: None,
                l1_miss: Count::Missing,
                cycles: Count::Missing,
                instructions: Count::Missing,
                rss: None,
                group: (group_marks >> 32) as u32,
            },
        }
    }
}

impl<const COUNTERS: bool> RecordForm for Full<COUNTERS> {
    const SIZE: usize = 96;
    type RecordBytes = [u8; 96];

    #[inline]
    fn encode(line: &Line<'_>, extras: Extras<'_>, facts: &LineFacts) -> [u8; 96] {
        let (mut cycles, mut instructions, mut rss) = (Count::Missing, Count::Missing, 0);
        if COUNTERS {
            for (key, value) in extras {
                match key {
                    b"cyc" => cycles = count_of(value),
                    b"ins" => instructions = count_of(value),
                    b"rss" => rss = whole(value).map_or(0, |bytes| bytes.min(MOST_RSS) + 1),
                    _ => {}
                }
            }
        }
        let (misses, cycles, instructions) =
            (parts(line.l1_miss), parts(cycles), parts(instructions));
        let mut bytes = [0; 96];
        bytes[..48].copy_from_slice(&Slim::encode(line, extras, facts));
        for (to, word) in bytes.as_chunks_mut::<8>().0.iter_mut().skip(6).zip([
            line.user_time.0,
            line.sys_time.0,
            misses.1,
            cycles.1,
            instructions.1,
            misses.0 | cycles.0 << 2 | instructions.0 << 4 | rss << RSS,
        ]) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Member {
        let mut member = Slim::decode(bytes);
        let states = word(bytes, 11);
        member.pe.cpu = Some(CpuTime { user: Micros(word(bytes, 6)), sys: Micros(word(bytes, 7)) });
        member.pe.l1_miss = count(states, word(bytes, 8));
        member.pe.cycles = count(states >> 2, word(bytes, 9));
        member.pe.instructions = count(states >> 4, word(bytes, 10));
        member.pe.rss = (states >> RSS).checked_sub(1);
        member
    }
}

#[inline]
pub(crate) fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes.as_chunks().0[at])
}

/// A count as two bits and a number.
fn parts(count: Count) -> (u64, u64) {
    match count {
        Count::Missing => (0, 0),
        Count::Exact(n) => (1, n),
        Count::Estimate(n) => (2, n),
    }
}

fn count(state: u64, n: u64) -> Count {
    match state & 3 {
        0 => Count::Missing,
        1 => Count::Exact(n),
        _ => Count::Estimate(n),
    }
}

/// A count of an extra; what is none is as if it was missing.
fn count_of(value: &[u8]) -> Count {
    match value {
        [b'~', digits @ ..] => whole(digits).map(Count::Estimate),
        digits => whole(digits).map(Count::Exact),
    }
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_count() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("-".to_owned()),
            any::<u64>().prop_map(|n| n.to_string()),
            any::<u64>().prop_map(|n| format!("~{n}")),
        ]
    }

    proptest! {
        #[test]
        fn records_come_back(
            text in (
                (1u32..=9999, 1u32..=12, 1u32..=31),
                any::<(u32, Option<u32>)>(),
                0..=u64::MAX / 1_000_000 - 1,
                proptest::sample::select(b"fils".as_slice()),
                (any_count(), any_count(), any_count(), any_count()),
            ).prop_map(|((y, m, d), (pe, npes), wall, letter, (ops, miss, cyc, ins))| {
                let ops = match ops.strip_prefix('~') { Some(n) => format!("~{n}"), None => format!("={ops}") };
                let npes = npes.map_or("-".to_owned(), |n| n.to_string());
                format!("{y:04}/{m:02}/{d:02} 01:02:03 u x {pe} {npes} - B c mpi 1.5 0.25 {wall}.000001 \
                         {}{ops} {miss} id v=1 cyc={cyc} ins={ins}", letter as char)
            }),
            key in any::<u64>(),
            end in -62_135_596_800i64..=253_402_300_800,
            group in any::<u32>(),
            hash in any::<u64>(),
            zone in any::<bool>(),
            rss in any::<Option<u64>>(),
        ) {
            let text = text + &rss.map_or_else(String::new, |bytes| format!(" rss={bytes}"));
            let text = topas_testkit::with_lengths(&text);
            let (line, extras) = Line::parse(text.as_bytes()).unwrap();
            let marks = Marks::of_hash(hash).with(Marks::ZONE, zone);
            let facts = LineFacts { key, end, group, marks };
            let full = Full::<true>::encode(&line, extras, &facts);
            prop_assert_eq!(super::key(&full), key);
            let member = Full::<true>::decode(&full);
            prop_assert_eq!(
                (member.npes, member.marks),
                (line.npes.0.unwrap_or(0), marks)
            );
            let expected = PeRecord {
                pe: line.pe,
                wall: line.wall_time,
                end: end * 1_000_000,
                date: line.date,
                ops: line.ops,
                cpu: Some(CpuTime { user: line.user_time, sys: line.sys_time }),
                l1_miss: line.l1_miss,
                cycles: count_of(extras.get(b"cyc").unwrap()),
                instructions: count_of(extras.get(b"ins").unwrap()),
                rss: rss.map(|bytes| bytes.min(MOST_RSS)),
                group,
            };
            prop_assert_eq!(member.pe, expected);
            let slim = Slim::decode(&Slim::encode(&line, extras, &facts));
            let rates = PeRecord {
                cpu: None,
                l1_miss: Count::Missing,
                cycles: Count::Missing,
                instructions: Count::Missing,
                rss: None,
                ..expected
            };
            prop_assert_eq!(slim.pe, rates);
        }
    }
}
