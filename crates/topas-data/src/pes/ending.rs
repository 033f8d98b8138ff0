//! How the PEs of a launch ended, and which of them died first.

use rustc_hash::FxHashMap;

use super::cluster::{PeRange, fold};
use super::table::PeTable;
use crate::field::{ENDED_WELL, ending_class, is_from_outside};

/// PEs that ended alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeEnding {
    /// What `end=` says; empty if nothing
    pub end: Box<[u8]>,
    /// Whether somebody else ended them, by a signal
    pub from_outside: bool,
    /// Whether they ended well
    pub well: bool,
    /// Number of PEs
    pub count: usize,
    /// The PEs, folded
    pub pes: Vec<PeRange>,
}

/// The endings of a launch of which not all PEs ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeEndings {
    /// Each ending, the most frequent first
    pub all: Vec<PeEnding>,
    /// Row of the PE that was the first to fail by itself: its line has the earliest second, and
    /// of those the shortest wall clock time; None if no PE failed by itself
    pub first: Option<u32>,
    /// Other PEs that failed by themselves in the same second
    pub same_second: usize,
}

/// How the PEs ended; None if none ended in another way than well.
pub fn endings(table: &PeTable) -> Option<PeEndings> {
    let class = |number: &u32| -> Option<u8> {
        let pe = table.rows.get(*number as usize)?;
        ending_class(table.ending(pe))
    };
    // The first row of each ending, and how many there are.
    let mut counts: FxHashMap<u32, (u32, usize)> = FxHashMap::default();
    let mut row = 0;
    // Neighbours often ended alike.
    for alike in table.rows.chunk_by(|a, b| PeTable::ending_number(a) == PeTable::ending_number(b))
    {
        let Some(first) = alike.first() else { continue };
        counts.entry(PeTable::ending_number(first)).or_insert((row, 0)).1 += alike.len();
        row += alike.len() as u32;
    }
    let is_well = |class: Option<u8>| class.is_none_or(|class| class == ENDED_WELL);
    if counts.values().all(|(row, _)| is_well(class(row))) {
        return None;
    }
    let of = |number: u32| {
        let rows = table.rows.iter().filter(move |pe| PeTable::ending_number(pe) == number);
        fold(rows.map(|pe| pe.pe))
    };
    let ending = |(&number, &(row, count)): (&u32, &(u32, usize))| PeEnding {
        end: table.rows.get(row as usize).map_or(&b""[..], |pe| table.ending(pe)).into(),
        from_outside: class(&row).is_some_and(is_from_outside),
        well: class(&row) == Some(ENDED_WELL),
        count,
        pes: of(number),
    };
    let mut all: Vec<PeEnding> = counts.iter().map(ending).collect();
    all.sort_by(|a, b| b.count.cmp(&a.count).then(a.end.cmp(&b.end)));
    let failed = |number: u32| {
        let class = counts.get(&number).and_then(|(row, _)| class(row));
        !is_well(class) && !class.is_some_and(is_from_outside)
    };
    let failed_rows =
        || (0u32..).zip(&table.rows).filter(|(_, pe)| failed(PeTable::ending_number(pe)));
    let first = failed_rows().min_by_key(|(_, pe)| (pe.end, pe.wall));
    let same_second = first
        .map_or(0, |(_, first)| failed_rows().filter(|(_, pe)| pe.end == first.end).count() - 1);
    Some(PeEndings { all, first: first.map(|(row, _)| row), same_second })
}
