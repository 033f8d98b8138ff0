//! Clusters of PEs: of unit width as in the 1999 paper, and optimal ones.

use std::fmt::Write;

use topas_data::pes::{Cluster, Column, KMeans, PeTable};

use super::quantity::{ColumnText, caption, shown};
use crate::csv::field;
use crate::number::{percent, trimmed};
use crate::wording::{count, hanging, pes, wrapped};

/// The clusters of the paper's Listing 5: `95-96:  5, 9, 13`.
pub fn unit_clusters(clusters: &[Cluster], columns: usize) -> String {
    let bounds: Vec<String> = clusters
        .iter()
        .map(|cluster| format!("{}-{}:", trimmed(cluster.from), trimmed(cluster.to)))
        .collect();
    let width = bounds.iter().map(String::len).max().unwrap_or(0);
    let mut out = String::new();
    for (bounds, cluster) in bounds.iter().zip(clusters) {
        let members = wrapped(&pes(&cluster.pes), width + 2, columns);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{bounds:>width$}  {members}");
    }
    out
}

/// Clusters as CSV: `column,cluster,from,to,mean,deviation,unit,pes,pe_ranges`; `kind` says how
/// they were made.
fn csv(
    table: &PeTable,
    column: Column,
    clusters: &[Cluster],
    more: impl Fn(usize) -> String,
) -> String {
    let unit = shown(column, table.metric).unit;
    let mut out = String::from("column,cluster,from,to,mean,rho,unit,pes,pe_ranges\n");
    for (number, cluster) in clusters.iter().enumerate() {
        let Cluster { from, to, count, pes: ranges } = cluster;
        let (name, at, more) = (column.name(), number + 1, more(number));
        let ranges = field(&pes(ranges));
        let _ = writeln!(out, "{name},{at},{from},{to},{more},{unit},{count},{ranges}");
    }
    out
}

/// Clusters of a width as CSV.
pub fn clusters_csv(table: &PeTable, column: Column, clusters: &[Cluster]) -> String {
    csv(table, column, clusters, |_| ",".to_owned())
}

/// Optimal clusters as CSV.
pub fn best_csv(table: &PeTable, column: Column, best: &KMeans) -> String {
    csv(table, column, &best.clusters, |at| format!("{},{}", best.means[at], best.deviations[at]))
}

/// Optimal clusters: mean, standard deviation, number and share of PEs, least and greatest
/// value, PEs.
pub fn best_clusters(table: &PeTable, column: Column, best: &KMeans, columns: usize) -> String {
    let shown = shown(column, table.metric);
    let all: usize = best.clusters.iter().map(|cluster| cluster.count).sum();
    let caption = caption(column, table.metric);
    let clusters = count(best.clusters.len() as u64, "cluster");
    let mut out = format!("{clusters} of {}: {caption}\n\n", count(all as u64, "PE"));
    let rows: Vec<[String; 4]> =
        (0..best.clusters.len()).map(|at| row(&shown, best, at, all)).collect();
    let widths: [usize; 4] =
        std::array::from_fn(|cell| rows.iter().map(|row| row[cell].len()).max().unwrap_or(0));
    for (row, cluster) in rows.iter().zip(&best.clusters) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:>width$}  ");
        }
        // Where there is no room for names beside the numbers, a row is a paragraph.
        if line.len() + 8 > columns {
            let words: Vec<&str> = line.split_whitespace().collect();
            out += &hanging(&format!("{}: {}", words.join(" "), pes(&cluster.pes)), columns, 4);
            continue;
        }
        let members = wrapped(&pes(&cluster.pes), line.len(), columns);
        let _ = writeln!(out, "{line}{members}");
    }
    out
}

fn row(shown: &ColumnText, best: &KMeans, at: usize, all: usize) -> [String; 4] {
    let cluster = &best.clusters[at];
    let share = cluster.count as f64 / all as f64;
    [
        shown.value(best.means[at]),
        format!("rho {}", shown.value_as(best.deviations[at], best.means[at])),
        format!("{}-{}", shown.number(cluster.from), shown.number(cluster.to)),
        format!("{} ({})", count(cluster.count as u64, "PE"), percent(share)),
    ]
}
