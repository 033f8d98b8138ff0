//! Two runs against each other, or several against several.

use std::fmt::Write;

use topas_data::pes::{
    Change, Column, Comparison, LEAST_RUNS, Pairing, PeTable, RunChange, RunSpread,
};

use super::in_columns::in_columns;
use super::quantity::shown;
use crate::number::{NONE, duration, percent, signed_percent};
use crate::text::at_places;
use crate::wording::{count, paragraph, runs as runs_of};

/// Below this a difference is told as one.
const LEVEL: f64 = 0.01;

/// The same of runs, of which there are few.
const LEVEL_OF_RUNS: f64 = 0.05;

/// A table of the medians of the PEs; of several runs their median and spread. What the runs
/// tell about the next run, or how many runs more that takes.
pub fn compare(
    old: &PeTable,
    new: &PeTable,
    comparison: &Comparison,
    runs: &[RunChange],
    columns: usize,
) -> String {
    let mut out = String::new();
    let walls = [old, new].map(|table| table.rows.iter().map(|pe| pe.wall).max().unwrap_or(0));
    let [before, after] = walls.map(|wall| wall as f64 / 1e6);
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "The newest run took {} (old), {} (new){}.\n",
        duration(before),
        duration(after),
        if before > 0.0 {
            format!(", {}", signed_percent(after / before - 1.0))
        } else {
            String::new()
        }
    );
    let heading = ["median of PEs", "old", "spread", "new", "spread", "change"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(runs.iter().map(|change| row(new, change).to_vec()));
    // Without several runs there is no spread.
    let has_spread = runs.iter().any(|change| change.old.runs.max(change.new.runs) > 1);
    if !has_spread {
        rows.iter_mut().for_each(|row| *row = at_places(row, &[0, 1, 3, 5]));
    }
    out += &in_columns(&rows, 1, &["spread", "old"], columns);
    out.push('\n');
    for change in &comparison.changes {
        if let Some(text) = single_pes(new, change) {
            out += &paragraph(&text, columns);
        }
    }
    out + &paragraph(&what_runs_tell(new, runs), columns)
}

/// What else is in the file of a side: earlier runs, which are used, and launches that are not.
pub fn other_runs(used: usize, left_out: usize) -> String {
    let mut out = String::new();
    if used > 0 {
        let _ = writeln!(out, "     and {} of this program before it", runs_of(used as u64));
    }
    if left_out > 0 {
        let launches = if left_out == 1 { "1 launch" } else { &format!("{left_out} launches") };
        let _ = writeln!(out, "     {launches} of other programs or sizes left out");
    }
    out
}

fn row(new: &PeTable, change: &RunChange) -> [String; 6] {
    let shown = shown(change.column, new.metric);
    let spread = |of: &RunSpread| of.share().map_or_else(|| NONE.to_owned(), percent);
    [
        shown.name.to_owned(),
        shown.value(change.old.median),
        spread(&change.old),
        shown.value(change.new.median),
        spread(&change.new),
        change.relative().map_or_else(|| NONE.to_owned(), signed_percent),
    ]
}

/// Which columns differ between the runs, or how many runs it takes to tell.
fn what_runs_tell(new: &PeTable, runs: &[RunChange]) -> String {
    let most = |of: fn(&RunChange) -> usize| runs.iter().map(of).max().unwrap_or(0);
    let (before, after) = (most(|change| change.old.runs), most(|change| change.new.runs));
    let counts = format!("{before} old, {after} new");
    let spread = if before.max(after) > 1 {
        "Each value is the median of the runs; spread is the largest less the smallest of the runs, \
         as a share of the median. "
    } else {
        ""
    };
    if !runs.iter().any(RunChange::has_enough) {
        return format!(
            "{spread}Not enough runs to tell whether the next run will differ, too: {counts}. Run \
             each program {LEAST_RUNS} times or more in a directory of its own, where topas.out \
             keeps all launches, and compare again."
        );
    }
    let differ: Vec<String> = runs
        .iter()
        .filter_map(|change| {
            let p = change.test?.p;
            let name = shown(change.column, new.metric).name;
            (p < LEVEL_OF_RUNS).then(|| format!("{name} (p = {p:.3})"))
        })
        .collect();
    let differ = if differ.is_empty() {
        "The runs differ by no more than they spread".to_owned()
    } else {
        format!("The runs differ by more than they spread in {}", differ.join(", "))
    };
    format!(
        "{spread}{differ}, by Mann and Whitney's test of the runs ({counts}) at the level \
         {LEVEL_OF_RUNS}."
    )
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

/// The comparison as CSV: first the newest run of each side, with the test of its PEs, then the
/// runs of each side, with the test of the runs.
pub fn compare_csv(new: &PeTable, comparison: &Comparison, runs: &[RunChange]) -> String {
    let mut out = String::from(
        "column,unit,old_pes,new_pes,old_median,new_median,old_mean,new_mean,old_max,new_max,p,test,\
         old_runs,new_runs,old_runs_median,new_runs_median,old_runs_min,new_runs_min,old_runs_max,\
         new_runs_max,runs_p\n",
    );
    let test = test_name(comparison.pairing);
    for change in &comparison.changes {
        let unit = shown(change.column, new.metric).unit;
        let p = change.test.map(|test| test.p.to_string()).unwrap_or_default();
        let _ = write!(
            out,
            "{},{unit},{},{},{},{},{},{},{},{},{p},{test},",
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
        let Some(RunChange { old, new, test, .. }) =
            runs.iter().find(|runs| runs.column == change.column)
        else {
            out += ",,,,,,,,\n";
            continue;
        };
        let p = test.map(|test| test.p.to_string()).unwrap_or_default();
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{},{},{p}",
            old.runs,
            new.runs,
            old.median,
            new.median,
            old.range.0,
            new.range.0,
            old.range.1,
            new.range.1,
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
