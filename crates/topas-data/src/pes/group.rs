//! PEs by where they ran: hosts, NUMA nodes, programs.

use std::thread;

use rustc_hash::FxHashMap;

use super::cluster::{PeRange, push};
use super::column::Values;
use super::summary::{Extent, quantile_of_unsorted, sum};
use super::table::{Pe, PeTable};

/// PEs from which on each grouping is worth a thread.
const MANY: usize = 20_000;

/// What PEs are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grouping {
    /// Host
    Host,
    /// NUMA node by number, of all hosts
    Numa,
    /// NUMA node of a host
    HostNuma,
    /// Executable, in launches of several programs
    Exe,
}

/// Name of a group, a place in a list of names, and NUMA node.
type PeGroupKey = (u32, u32);

impl Grouping {
    /// All.
    pub const ALL: [Grouping; 4] =
        [Grouping::Host, Grouping::Numa, Grouping::HostNuma, Grouping::Exe];

    /// Group of a PE. None if its line does not tell.
    #[inline]
    fn key(self, pe: &Pe, named: &[bool]) -> Option<PeGroupKey> {
        let host = || named.get(pe.host as usize).is_some_and(|named| *named).then_some(pe.host);
        Some(match self {
            Grouping::Host => (host()?, 0),
            Grouping::Numa => (0, pe.numa?),
            Grouping::HostNuma => (host()?, pe.numa?),
            Grouping::Exe => (pe.exe, 0),
        })
    }

    /// Whether a group has a NUMA node.
    pub(super) fn has_node(self) -> bool {
        matches!(self, Grouping::Numa | Grouping::HostNuma)
    }
}

/// The groups of all rows, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbered {
    /// Group of each row; [`NONE`] if its line does not tell
    pub(super) of_row: Vec<u32>,
    /// Key of each group, ascending
    pub(super) keys: Vec<PeGroupKey>,
    /// Number of rows of each
    pub(super) sizes: Vec<u32>,
}

/// A row without a group.
pub(super) const NONE: u32 = u32::MAX;

impl Numbered {
    pub(super) fn new(table: &PeTable, by: Grouping) -> Self {
        let named: Vec<bool> = table.hosts.iter().map(|host| !host.is_empty()).collect();
        let mut numbers: FxHashMap<PeGroupKey, u32> = FxHashMap::default();
        let mut all =
            Numbered { of_row: Vec::with_capacity(table.rows.len()), ..Numbered::default() };
        let mut last = (None, NONE);
        for pe in &table.rows {
            let key = by.key(pe, &named);
            // Neighbours often agree.
            if key != last.0 || last.1 == NONE {
                let next = numbers.len() as u32;
                last = (key, key.map_or(NONE, |key| *numbers.entry(key).or_insert(next)));
            }
            all.of_row.push(last.1);
        }
        let mut order: Vec<(PeGroupKey, u32)> = numbers.into_iter().collect();
        order.sort_unstable();
        let mut places = vec![0; order.len()];
        for (place, (key, number)) in (0..).zip(order) {
            places[number as usize] = place;
            all.keys.push(key);
        }
        all.sizes = vec![0; all.keys.len()];
        for number in all.of_row.iter_mut().filter(|number| **number != NONE) {
            *number = places[*number as usize];
            all.sizes[*number as usize] += 1;
        }
        all
    }

    /// Rows without a group.
    pub(super) fn unknown(&self) -> usize {
        self.of_row.len() - self.sizes.iter().map(|size| *size as usize).sum::<usize>()
    }
}

/// PEs of one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Place in [`PeTable::hosts`], or of the executable in [`PeTable::exes`]; 0 of a NUMA node
    /// of all hosts
    pub name: u32,
    /// NUMA node, where grouped by it
    pub numa: Option<u32>,
    /// The PEs, folded
    pub pes: Vec<PeRange>,
    /// Number of PEs
    pub count: usize,
    /// PEs with a value of the column
    pub measured: usize,
    /// Least value with the place of its row; None without values
    pub min: Option<(f64, u32)>,
    /// Median, type 7
    pub median: Option<f64>,
    /// Greatest value with the place of its row
    pub max: Option<(f64, u32)>,
    /// Mean
    pub mean: Option<f64>,
    /// CPU time of its PEs in µs
    pub cpu_time: u128,
}

/// All groups of a grouping.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// What by
    pub by: Grouping,
    /// In the order of their first PEs; NUMA nodes of a host by number
    pub groups: Vec<Group>,
    /// PEs whose line does not tell their group
    pub unknown: usize,
    /// CPU time of all PEs in µs, those without a group too: what shares are of
    pub cpu_time: u128,
}

/// Groups PEs by everything that has several groups, and by host always; each grouping on a
/// thread of its own where there are many PEs.
pub fn all_groups(table: &PeTable, values: &Values) -> Vec<Groups> {
    let hosts = table.hosts.iter().filter(|host| !host.is_empty()).count();
    // NUMA nodes of a host are those of all hosts if there is one host.
    let may_be_several = |by: &Grouping| match by {
        Grouping::Host | Grouping::Numa => true,
        Grouping::HostNuma => hosts > 1,
        Grouping::Exe => table.exes.len() > 1,
    };
    let groupings = Grouping::ALL.into_iter().filter(may_be_several);
    let all: Vec<Groups> = if table.rows.len() < MANY {
        groupings.map(|by| groups(table, values, by)).collect()
    } else {
        thread::scope(|scope| {
            let threads = groupings.map(|by| scope.spawn(move || groups(table, values, by)));
            let threads: Vec<_> = threads.collect();
            // A panic of another thread aborts.
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        })
    };
    let is_shown = |of: &Groups| of.by == Grouping::Host || of.groups.len() > 1;
    all.into_iter().filter(is_shown).collect()
}

/// Groups PEs, with the values of a column.
pub fn groups(table: &PeTable, values: &Values, by: Grouping) -> Groups {
    let numbered = Numbered::new(table, by);
    let room = |&size: &u32| Members {
        pes: Vec::new(),
        count: 0,
        values: Vec::with_capacity(size as usize),
        extent: Extent::default(),
        cpu_time: 0,
    };
    let mut all: Vec<Members> = numbered.sizes.iter().map(room).collect();
    for (&number, pe) in numbered.of_row.iter().zip(&table.rows) {
        if let Some(members) = all.get_mut(number as usize) {
            push(&mut members.pes, pe.pe);
            members.count += 1;
            members.cpu_time += u128::from(pe.cpu_time());
        }
    }
    for &value in &values.values {
        if let Some(members) = all.get_mut(numbered.of_row[value.1 as usize] as usize) {
            members.extent.add(value);
            members.values.push(value.0);
        }
    }
    let group = |(members, key): (Members, &PeGroupKey)| {
        let Members { pes, count, mut values, extent, cpu_time } = members;
        let measured = values.len();
        let total = sum(values.iter().copied());
        Group {
            name: key.0,
            numa: by.has_node().then_some(key.1),
            pes,
            count,
            measured,
            min: extent.min,
            median: (measured > 0).then(|| quantile_of_unsorted(&mut values, 0.5)),
            max: extent.max,
            mean: (measured > 0).then(|| total / measured as f64),
            cpu_time,
        }
    };
    let groups = all.into_iter().zip(&numbered.keys).map(group).collect();
    let cpu_time = table.rows.iter().map(|pe| u128::from(pe.cpu_time())).sum();
    Groups { by, groups, unknown: numbered.unknown(), cpu_time }
}

/// What a group is made of.
struct Members {
    /// The PEs, folded
    pes: Vec<PeRange>,
    count: usize,
    /// Values of those that have one, by PE
    values: Vec<f64>,
    extent: Extent,
    /// CPU time of all in µs
    cpu_time: u128,
}

/// Median of `count` ascending values, type 7; None without any.
pub(super) fn middle(count: usize, value: impl Fn(usize) -> f64) -> Option<f64> {
    let (below, above) = (count.checked_sub(1)? / 2, count / 2);
    let (low, high) = (value(below), value(above));
    Some(low + (high - low) * 0.5)
}
