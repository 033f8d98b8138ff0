//! Data for gnuplot, awk and the like.

use std::collections::HashMap;
use std::fmt::Write;

use topas_data::{Label, PercentOf, ReportRow, ReportTable};

use crate::csv::text_of;
use crate::document::{Document, ReportForm};
use crate::figure::{figure_cells, figure_columns};
use crate::number::percentage;
use crate::row::{SAMPLE_COLUMNS, is_measure, named, names, sample_cells, share_cells, table_name};
use crate::wording::runs;

/// A data block for each table, with two blank lines between them. A table by two is a
/// matrix of percentages of the runs, as stacked histograms want it.
pub struct Gnuplot;

const MISSING: &str = "-";

impl ReportForm for Gnuplot {
    fn render(&self, document: &Document<'_>) -> String {
        let report = document.report;
        let mut out = String::new();
        // Writing to a String cannot fail.
        match report.days {
            Some((first, last)) => {
                let (count, first, last) =
                    (runs(report.total.runs), first.to_string(), last.to_string());
                let _ = writeln!(out, "# TOPAS report, {first} to {last}, {count}");
            }
            None => out += "# TOPAS report, no runs\n",
        }
        out += "# set datafile missing \"-\"\n";
        for (index, table) in document.tables.iter().enumerate() {
            if index > 0 {
                out += "\n\n";
            }
            let _ = writeln!(out, "# index {index}: {}", table_name(table));
            match table.by.len() {
                1 => list(&mut out, table, index),
                _ => matrix(&mut out, table, index),
            }
        }
        out
    }
}

/// A row for each row of the table.
fn list(out: &mut String, table: &ReportTable, index: usize) {
    *out += if is_measure(&table.by[0]) {
        "# plot FILE index N using (($2+$3)/2):5:($3-$2) with boxes\n"
    } else {
        "# plot FILE index N using 5:xtic(1) with boxes\n"
    };
    *out = out.replace("index N", &format!("index {index}"));
    *out += "# columns: name, from, to, runs, % of runs, PE x wall (s), % of it";
    for figure in &table.figures {
        for name in figure_columns(*figure) {
            let _ = write!(out, ", {}_{name}", figure.name());
        }
    }
    for measure in &table.columns {
        for name in SAMPLE_COLUMNS {
            let _ = write!(out, ", {}_{name}", measure.name);
        }
    }
    *out += "\n";
    for row in &table.rows {
        let mut cells = Vec::new();
        for label in names(table, row) {
            let bound = |bound: Option<String>| bound.unwrap_or_else(|| MISSING.to_owned());
            cells.extend([string(&label.name), bound(label.from), bound(label.to)]);
        }
        cells.extend(share_cells(row).map(|c| c.unwrap_or_else(|| MISSING.to_owned())));
        for value in &row.figures {
            let text = |cell| text_of(cell).unwrap_or_else(|| MISSING.to_owned());
            cells.extend(figure_cells(value).into_iter().map(text));
        }
        for (measure, sample) in table.columns.iter().zip(&row.samples) {
            let text = |cell| text_of(cell).unwrap_or_else(|| MISSING.to_owned());
            cells.extend(sample_cells(measure, sample).map(text));
        }
        *out += &cells.join(" ");
        out.push('\n');
    }
}

/// A row for each value of the first, a column for each of the second.
fn matrix(out: &mut String, table: &ReportTable, index: usize) {
    let side = |label, at: usize| named(label, is_measure(&table.by[at])).name;
    let counted: Vec<_> = table.rows.iter().filter(|row| row.counts).collect();
    let has_rows = |label: &&Label| counted.iter().any(|row| row.labels[1] == **label);
    let columns: Vec<&Label> = table.sides[1].iter().filter(has_rows).collect();
    let _ = writeln!(
        out,
        "# set style data histogram; set style histogram rowstacked\n\
         # plot for [i=2:{}] FILE index {index} using i:xtic(1) title columnheader\n\
         # % of {}, by {} and {}",
        columns.len() + 1,
        match table.percent {
            PercentOf::All => runs(table.of.runs),
            PercentOf::Row => format!("the runs of each {}", table.by[0].name()),
            PercentOf::Column => format!("the runs of each {}", table.by[1].name()),
        },
        table.by[0].name(),
        table.by[1].name()
    );
    *out += &string(table.by[0].name());
    for column in &columns {
        out.push(' ');
        *out += &string(&side(column, 1));
    }
    out.push('\n');
    let by_first: HashMap<&Label, &[&ReportRow]> = counted
        .chunk_by(|a, b| a.labels[0] == b.labels[0])
        .map(|rows| (&rows[0].labels[0], rows))
        .collect();
    for label in &table.sides[0] {
        let rows = by_first.get(label).copied().unwrap_or_default();
        // Periods without runs have their place.
        if rows.is_empty() && table.axes[0].is_none() {
            continue;
        }
        *out += &string(&side(label, 0));
        for column in &columns {
            let row = rows.iter().find(|row| row.labels[1] == **column);
            // Without a row there is nothing of whatever the percentages are of.
            let (part, of) = row.map_or((0, table.of), |row| (row.share.runs, row.of));
            let part = percentage(part.into(), of.runs.into(), 4);
            let _ = write!(out, " {}", part.as_deref().unwrap_or(MISSING));
        }
        out.push('\n');
    }
}

/// A string in double quotes, in which gnuplot knows backslashes.
pub(crate) fn string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
