//! Two runs against each other.

use std::fmt::Write;

use topas_data::pes::{Change, Column, Comparison, Pairing, PeTable};

use super::quantity::shown;
use crate::number::{si, signed_percent};
use crate::wording::{count, paragraph};

/// Below this a difference is told as one.
const LEVEL: f64 = 0.01;

/// A table of the medians, with how likely their difference is by chance.
pub fn compare(old: &PeTable, new: &PeTable, comparison: &Comparison, columns: usize) -> String {
    let mut out = String::new();
    let walls = [old, new].map(|table| table.rows.iter().map(|pe| pe.wall).max().unwrap_or(0));
    let [before, after] = walls.map(|wall| wall as f64 / 1e6);
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "The run took {} (old), {} (new){}.\n",
        si(before, "s"),
        si(after, "s"),
        if before > 0.0 {
            format!(", {}", signed_percent(after / before - 1.0))
        } else {
            String::new()
        }
    );
    let mut rows = vec![["median of PEs", "unit", "old", "new", "change", "p"].map(str::to_owned)];
    for change in &comparison.changes {
        rows.push(row(new, change));
    }
    let widths: [usize; 6] =
        std::array::from_fn(|cell| rows.iter().map(|row| row[cell].len()).max().unwrap_or(0));
    for row in &rows {
        let _ = write!(out, "{:<2$}  {:<3$}", row[0], row[1], widths[0], widths[1]);
        for (cell, width) in row.iter().zip(widths).skip(2) {
            let _ = write!(out, "  {cell:>width$}");
        }
        out.push('\n');
    }
    out.push('\n');
    for change in &comparison.changes {
        if let Some(text) = single_pes(new, change) {
            out += &paragraph(&text, columns);
        }
    }
    let (test, of) = match comparison.pairing {
        Pairing::ByPe => ("Wilcoxon's signed rank test of the differences PE by PE", ""),
        Pairing::Sets => ("Mann and Whitney's test", ", because the runs have other PEs"),
    };
    out += &paragraph(
        &format!(
            "p: how likely so large a difference is by chance, by {test}{of}. It tells whether the \
             runs differ by more than their PEs scatter; whether the next run will, only more \
             runs can tell."
        ),
        columns,
    );
    out
}

fn row(new: &PeTable, change: &Change) -> [String; 6] {
    let shown = shown(change.column, new.metric);
    let p = match &change.test {
        None => "equal".to_owned(),
        Some(test) if test.p < 0.0001 => "<0.0001".to_owned(),
        Some(test) => format!("{:.4}", test.p),
    };
    [
        shown.name.to_owned(),
        shown.unit.to_owned(),
        shown.number(change.medians.0),
        shown.number(change.medians.1),
        change.relative().map_or_else(|| "-".to_owned(), signed_percent),
        p,
    ]
}

/// PEs that changed most, of CPU time and rate, where the runs differ.
fn single_pes(new: &PeTable, of: &Change) -> Option<String> {
    let told = matches!(of.column, Column::CpuTime | Column::Rate);
    let differs = of.test.is_some_and(|test| test.p < LEVEL);
    if !told || !differs || of.pes.is_empty() {
        return None;
    }
    let pes: Vec<String> =
        of.pes.iter().map(|(pe, share)| format!("PE {pe} {}", signed_percent(*share))).collect();
    let name = shown(of.column, new.metric).name;
    Some(format!(
        "Largest changes of {name}: {}, of {}.",
        pes.join(", "),
        count(of.counts.1 as u64, "PE")
    ))
}

/// The same as CSV.
pub fn compare_csv(new: &PeTable, comparison: &Comparison) -> String {
    let mut out = String::from(
        "column,unit,old_pes,new_pes,old_median,new_median,old_mean,new_mean,old_max,new_max,p,test\n",
    );
    let test = test_name(comparison.pairing);
    for change in &comparison.changes {
        let unit = shown(change.column, new.metric).unit;
        let p = change.test.map(|test| test.p.to_string()).unwrap_or_default();
        let _ = writeln!(
            out,
            "{},{unit},{},{},{},{},{},{},{},{},{p},{test}",
            change.column.name(),
            change.counts.0,
            change.counts.1,
            change.medians.0,
            change.medians.1,
            change.means.0,
            change.means.1,
            change.max.0,
            change.max.1,
        );
    }
    out
}

/// The word for a test in data.
pub(super) fn test_name(pairing: Pairing) -> &'static str {
    match pairing {
        Pairing::ByPe => "wilcoxon_signed_rank",
        Pairing::Sets => "mann_whitney",
    }
}
