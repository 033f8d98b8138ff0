//! What every form shows.

use topas_data::{LogReport, ReportTable, Tally};

/// A report with its tables, and what became of the lines.
pub struct Document<'r> {
    /// The report
    pub report: &'r LogReport<'r>,
    /// Its tables, in the order they are shown in
    pub tables: &'r [ReportTable],
    /// The lines that were read
    pub tally: &'r Tally,
    /// Good lines that were not selected
    pub unwanted: u64,
    /// Runs of the other lines that were not selected
    pub unwanted_runs: u64,
    /// Those of them that used an accelerator, and would else be selected
    pub aside: u64,
}

/// A form that a report can be given in.
pub trait ReportForm {
    /// The whole output, with a newline at its end.
    fn render(&self, document: &Document<'_>) -> String;
}
