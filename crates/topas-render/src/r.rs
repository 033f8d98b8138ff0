//! Source of R: a list of data frames.

use topas_data::ReportTable;

use crate::csv::text_of;
use crate::document::{Document, ReportForm};
use crate::figure::{figure_cells, figure_columns};
use crate::row::{
    OF_COLUMNS, SAMPLE_COLUMNS, SHARE_COLUMNS, is_of_parts, names, of_cells, sample_cells,
    share_cells, table_name,
};
use crate::wording::runs;

/// `source("FILE")` gives the list `topas`, a data frame for each table.
pub struct R;

impl ReportForm for R {
    fn render(&self, document: &Document<'_>) -> String {
        let report = document.report;
        let mut out = match report.days {
            Some((first, last)) => {
                let count = runs(report.total.runs);
                format!("# TOPAS report, {} to {}, {count}\n", first, last)
            }
            None => "# TOPAS report, no runs\n".to_owned(),
        };
        out += "# source(\"FILE\"); str(topas)\n";
        let frames: Vec<String> = document.tables.iter().map(frame).collect();
        out += &format!("topas <- list(\n{}\n)\n", frames.join(",\n"));
        out
    }
}

fn frame(table: &ReportTable) -> String {
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    let mut column =
        |name: String, cell: String| match columns.iter_mut().find(|(known, _)| *known == name) {
            Some((_, cells)) => cells.push(cell),
            None => columns.push((name, vec![cell])),
        };
    for row in &table.rows {
        for (label, side) in names(table, row).into_iter().zip(["", "2"]) {
            column(format!("name{side}"), string(&label.name));
            let open = label.from.is_some();
            let to = label.to.unwrap_or_else(|| if open { "Inf" } else { "NA_real_" }.to_owned());
            column(format!("from{side}"), label.from.unwrap_or_else(|| "NA_real_".to_owned()));
            column(format!("to{side}"), to);
        }
        for (name, cell) in SHARE_COLUMNS.iter().zip(share_cells(row)) {
            column((*name).to_owned(), cell.unwrap_or_else(|| "NA_real_".to_owned()));
        }
        for (name, cell) in OF_COLUMNS.iter().zip(of_cells(row)).filter(|_| is_of_parts(table)) {
            column((*name).to_owned(), cell.unwrap_or_else(|| "NA_real_".to_owned()));
        }
        for (figure, value) in table.figures.iter().zip(&row.figures) {
            for (name, cell) in figure_columns(*figure).iter().zip(figure_cells(value)) {
                let cell = text_of(cell).unwrap_or_else(|| "NA_real_".to_owned());
                column(format!("{}_{name}", figure.name()), cell);
            }
        }
        for (measure, sample) in table.columns.iter().zip(&row.samples) {
            for (name, cell) in SAMPLE_COLUMNS.iter().zip(sample_cells(measure, sample)) {
                let cell = text_of(cell).unwrap_or_else(|| "NA_real_".to_owned());
                column(format!("{}_{name}", measure.name), cell);
            }
        }
    }
    let columns: Vec<String> = columns
        .iter()
        .map(|(name, cells)| format!("    {name} = c({})", cells.join(", ")))
        .collect();
    let columns = columns.join(",\n");
    let end = if columns.is_empty() { "" } else { ",\n" };
    format!(
        "  {} = data.frame(\n{columns}{end}    stringsAsFactors = FALSE)",
        string(&table_name(table))
    )
}

/// A string of R, in ASCII: a file is read in whatever the locale says.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => out += &format!("\\u{{{:x}}}", u32::from(c)),
        }
    }
    out + "\""
}
