//! Who a finding is about: PEs, or the hosts, NUMA nodes or programs they are all of.

use std::collections::BTreeMap;

use crate::pes::cluster::{PeRange, fold};
use crate::pes::group::Grouping;
use crate::pes::table::Table;

/// Groups that are named in place of their PEs, at most a half of all.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// All PEs of these groups
    Groups {
        /// What kind of groups
        by: Grouping,
        /// Place of the name in [`Table::hosts`] or [`Table::exes`], and the NUMA node, as
        /// in [`crate::pes::Group`]
        groups: Vec<(u32, Option<u32>)>,
        /// The PEs, folded
        pes: Vec<PeRange>,
    },
    /// PEs
    Pes {
        /// The PEs, folded
        pes: Vec<PeRange>,
        /// Their host if all have the same, a place in [`Table::hosts`], and there are others
        host: Option<u32>,
    },
}

impl Subject {
    /// The PEs, folded.
    pub fn pes(&self) -> &[PeRange] {
        match self {
            Subject::Groups { pes, .. } | Subject::Pes { pes, .. } => pes,
        }
    }

    /// The subject of these rows, which ascend.
    pub(super) fn of(table: &Table, rows: &[u32]) -> Self {
        let pes = fold(rows.iter().map(|&row| table.rows[row as usize].pe));
        for by in [Grouping::Exe, Grouping::Host, Grouping::Numa, Grouping::HostNuma] {
            if let Some(groups) = whole_groups(table, rows, by) {
                return Subject::Groups { by, groups, pes };
            }
        }
        let mut hosts = rows.iter().map(|&row| table.rows[row as usize].host);
        let first = hosts.next();
        let host = first.filter(|first| table.hosts.len() > 1 && hosts.all(|host| host == *first));
        Subject::Pes { pes, host }
    }
}

/// The groups whose PEs are exactly these rows: not all groups, and not of one PE each.
fn whole_groups(table: &Table, rows: &[u32], by: Grouping) -> Option<Vec<(u32, Option<u32>)>> {
    let mut sizes: BTreeMap<(u32, u32), (usize, usize)> = BTreeMap::new();
    for pe in &table.rows {
        sizes.entry(by.key(table, pe)?).or_default().0 += 1;
    }
    for &row in rows {
        sizes.entry(by.key(table, &table.rows[row as usize])?).or_default().1 += 1;
    }
    let whole = sizes.values().all(|&(size, taken)| taken == 0 || taken == size);
    let taken: Vec<_> = sizes.iter().filter(|(_, size)| size.1 > 0).map(|(key, _)| *key).collect();
    let groups = taken.len();
    let numa = matches!(by, Grouping::Numa | Grouping::HostNuma);
    (whole && groups * 2 <= sizes.len() && groups < rows.len())
        .then(|| taken.into_iter().map(|(name, node)| (name, numa.then_some(node))).collect())
}
