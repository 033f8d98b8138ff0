//! Who a finding is about: PEs, or the hosts, NUMA nodes or programs they are all of.

use std::collections::BTreeMap;

use super::GroupPlaces;
use crate::pes::cluster::{PeRange, fold};
use crate::pes::group::{Grouping, NONE, Numbered};

/// Groups that are named in place of their PEs, at most a half of all.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// All PEs of these groups
    Groups {
        /// What kind of groups
        by: Grouping,
        /// Place of the name in [`crate::pes::PeTable::hosts`] or [`crate::pes::PeTable::exes`],
        /// and the NUMA node, as in [`crate::pes::Group`]
        groups: Vec<(u32, Option<u32>)>,
        /// The PEs, folded
        pes: Vec<PeRange>,
    },
    /// PEs
    Pes {
        /// The PEs, folded
        pes: Vec<PeRange>,
        /// Their host if all have the same, a place in [`crate::pes::PeTable::hosts`], and there
        /// are others
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
    pub(super) fn of(places: &GroupPlaces<'_>, rows: &[u32]) -> Self {
        let table = places.table;
        let pes = fold(rows.iter().map(|&row| table.rows[row as usize].pe));
        for (by, numbered) in &places.groupings {
            if let Some(groups) = whole_groups(numbered, rows) {
                let key = |group: u32| {
                    let (name, node) = numbered.keys[group as usize];
                    (name, by.has_node().then_some(node))
                };
                let groups = groups.into_iter().map(key).collect();
                return Subject::Groups { by: *by, groups, pes };
            }
        }
        let mut hosts = rows.iter().map(|&row| table.rows[row as usize].host);
        let first = hosts.next();
        let host = first.filter(|first| table.hosts.len() > 1 && hosts.all(|host| host == *first));
        Subject::Pes { pes, host }
    }
}

/// The groups whose PEs are exactly these rows: not most groups, and not of one PE each.
fn whole_groups(numbered: &Numbered, rows: &[u32]) -> Option<Vec<u32>> {
    let mut taken: BTreeMap<u32, u32> = BTreeMap::new();
    for &row in rows {
        let group = numbered.of_row[row as usize];
        if group == NONE {
            return None;
        }
        *taken.entry(group).or_default() += 1;
    }
    let whole = taken.iter().all(|(&group, &count)| numbered.sizes[group as usize] == count);
    let few = taken.len() * 2 <= numbered.keys.len() && taken.len() < rows.len();
    (whole && few && numbered.unknown() == 0).then(|| taken.into_keys().collect())
}
