//! PEs by where they ran: hosts, NUMA nodes, programs.

use std::collections::BTreeMap;

use super::cluster::{PeRange, fold};
use super::column::Values;
use super::summary::quantile;
use super::table::{Pe, Table};

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

impl Grouping {
    /// All.
    pub const ALL: [Grouping; 4] =
        [Grouping::Host, Grouping::Numa, Grouping::HostNuma, Grouping::Exe];

    /// Group of a PE: host or executable, and NUMA node. None if its line does not tell.
    #[inline]
    pub(super) fn key(self, table: &Table, pe: &Pe) -> Option<(u32, u32)> {
        let known = |host: u32| {
            table.hosts.get(host as usize).filter(|name| !name.is_empty()).map(|_| host)
        };
        Some(match self {
            Grouping::Host => (known(pe.host)?, 0),
            Grouping::Numa => (0, pe.numa?),
            Grouping::HostNuma => (known(pe.host)?, pe.numa?),
            Grouping::Exe => (pe.exe, 0),
        })
    }
}

/// PEs of one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Place in [`Table::hosts`], or of the executable in [`Table::exes`]; 0 of a NUMA node
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

/// Groups PEs, with the values of a column.
pub fn groups(table: &Table, values: &Values, by: Grouping) -> Groups {
    let mut rows: BTreeMap<(u32, u32), (Vec<u32>, u128)> = BTreeMap::new();
    let mut unknown = 0;
    for pe in &table.rows {
        match by.key(table, pe) {
            Some(key) => {
                let (pes, time) = rows.entry(key).or_default();
                pes.push(pe.pe);
                *time += u128::from(pe.cpu_time());
            }
            None => unknown += 1,
        }
    }
    let mut measured: BTreeMap<(u32, u32), Vec<(f64, u32)>> = BTreeMap::new();
    for &(value, place) in &values.values {
        if let Some(key) = by.key(table, &table.rows[place as usize]) {
            measured.entry(key).or_default().push((value, place));
        }
    }
    let group = |(key, (pes, cpu_time)): ((u32, u32), (Vec<u32>, u128))| {
        let mut values = measured.remove(&key).unwrap_or_default();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let plain: Vec<f64> = values.iter().map(|value| value.0).collect();
        let some = |number: f64| (!plain.is_empty()).then_some(number);
        let greatest = values.last().map(|value| value.0);
        let numa = matches!(by, Grouping::Numa | Grouping::HostNuma).then_some(key.1);
        Group {
            name: key.0,
            numa,
            count: pes.len(),
            pes: fold(pes),
            measured: plain.len(),
            min: values.first().copied(),
            median: some(quantile(&plain, 0.5)),
            max: values.iter().find(|value| Some(value.0) == greatest).copied(),
            mean: some(super::summary::sum(plain.iter().copied()) / plain.len() as f64),
            cpu_time,
        }
    };
    let groups = rows.into_iter().map(group).collect();
    let cpu_time = table.rows.iter().map(|pe| u128::from(pe.cpu_time())).sum();
    Groups { by, groups, unknown, cpu_time }
}
