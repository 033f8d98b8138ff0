//! PEs by host, NUMA node or program.

use std::fmt::Write;

use topas_data::pes::{Column, Group, Grouping, Groups, PeTable};

use super::in_columns::in_columns;
use super::quantity::{caption, shown};
use crate::csv::field;
use crate::number::{fixed, percent};
use crate::wording::{count, named, pes};

/// What a group is called in a heading.
pub(super) fn kind(by: Grouping) -> &'static str {
    match by {
        Grouping::Host => "host",
        Grouping::Numa => "NUMA node",
        Grouping::HostNuma => "host, NUMA node",
        Grouping::Exe => "program",
    }
}

/// Name of a group.
pub(super) fn name(table: &PeTable, by: Grouping, place: u32, numa: Option<u32>) -> String {
    let names = if by == Grouping::Exe { &table.exes } else { &table.hosts };
    let name = names.get(place as usize).map_or_else(|| "-".to_owned(), |name| named(name));
    match (by, numa) {
        (Grouping::Numa, Some(node)) => node.to_string(),
        (_, Some(node)) => format!("{name} {node}"),
        (_, None) => name,
    }
}

/// A table of the groups in lines of so many columns: PEs, least, median, greatest value with their
/// PEs, mean, and the share of all PEs' CPU time.
pub fn groups(table: &PeTable, column: Column, groups: &Groups, columns: usize) -> String {
    let shown = shown(column, table.metric);
    let heading =
        [kind(groups.by), "PEs", "min", "on PE", "median", "max", "on PE", "mean", "time%"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for group in &groups.groups {
        let pe = |place: u32| table.rows.get(place as usize).map_or(0, |row| row.pe).to_string();
        let none = || "-".to_owned();
        let number = |value: Option<f64>| value.map_or_else(none, |value| shown.number(value));
        rows.push(vec![
            name(table, groups.by, group.name, group.numa),
            group.count.to_string(),
            number(group.min.map(|min| min.0)),
            group.min.map_or_else(none, |min| pe(min.1)),
            number(group.median),
            number(group.max.map(|max| max.0)),
            group.max.map_or_else(none, |max| pe(max.1)),
            number(group.mean),
            share(group, groups),
        ]);
    }
    let mut out = format!("{}, by {}\n\n", caption(column, table.metric), kind(groups.by));
    out += &in_columns(&rows, 1, &["on PE", "mean", "time%"], columns);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "\ntime%: of the CPU time of {}", count(table.rows.len() as u64, "PE"));
    if groups.unknown > 0 {
        let _ = writeln!(
            out,
            "{} in no group: their lines do not tell",
            count(groups.unknown as u64, "PE")
        );
    }
    out
}

fn share(group: &Group, groups: &Groups) -> String {
    if groups.cpu_time == 0 {
        return "-".to_owned();
    }
    percent(group.cpu_time as f64 / groups.cpu_time as f64)
}

/// The same as CSV.
pub fn groups_csv(table: &PeTable, column: Column, all: &[Groups]) -> String {
    let mut out = String::from(
        "by,group,numa,pes,column,measured,min,min_pe,median,max,max_pe,mean,unit,cpu_s,pe_ranges\n",
    );
    let unit = shown(column, table.metric).unit;
    for groups in all {
        for group in &groups.groups {
            let number =
                |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            let pe = |at: Option<(f64, u32)>| {
                let row = at.and_then(|at| table.rows.get(at.1 as usize));
                row.map(|row| row.pe.to_string()).unwrap_or_default()
            };
            let numa = group.numa.map(|node| node.to_string()).unwrap_or_default();
            let name = match groups.by {
                Grouping::Numa => String::new(),
                by => field(&name(table, by, group.name, None)),
            };
            let time = fixed(group.cpu_time, 6, 6);
            let _ = writeln!(
                out,
                "{},{name},{numa},{},{},{},{},{},{},{},{},{},{unit},{time},{}",
                key(groups.by),
                group.count,
                column.name(),
                group.measured,
                number(group.min.map(|min| min.0)),
                pe(group.min),
                number(group.median),
                number(group.max.map(|max| max.0)),
                pe(group.max),
                number(group.mean),
                field(&pes(&group.pes)),
            );
        }
    }
    out
}

/// The word for a grouping in data.
pub(super) fn key(by: Grouping) -> &'static str {
    match by {
        Grouping::Host => "host",
        Grouping::Numa => "numa",
        Grouping::HostNuma => "host_numa",
        Grouping::Exe => "exe",
    }
}
