//! What changed from one side of a comparison to the other, in every form.

mod records;
mod text;

use topas_chart::{Arrangement, AxisUnit, BarPlaces, Bars, Caption, Quantity, Series};
use topas_data::{CompareReport, CompareTable, CompareVerdict, LogReport, Tally};

use crate::number::hours;
use crate::row::named;
use crate::wording::{count, runs};

pub use records::COMPARE_SCHEMA;

/// What every form of a comparison shows.
pub struct CompareDocument<'r> {
    /// Both reports
    pub report: &'r CompareReport<'r>,
    /// Its tables, in the order they are shown in
    pub tables: &'r [CompareTable],
    /// What each side is of, in words: `2026-10-01 to 2026-10-31`
    pub sides: &'r [String; 2],
    /// The lines that were read
    pub tally: &'r Tally,
    /// For people, at most so many rows of each table
    pub top: usize,
}

/// Names of the sides.
const SIDES: [&str; 2] = ["A", "B"];

impl CompareDocument<'_> {
    /// The report for people, in so many columns or as wide as labels need.
    pub fn text(&self, width: Option<usize>) -> String {
        text::render(self, width)
    }

    /// A line for each group and measure, comma separated.
    pub fn csv(&self) -> String {
        records::csv(self)
    }

    /// One object of schema [`COMPARE_SCHEMA`].
    pub fn json(&self) -> String {
        records::json(self)
    }

    /// An object for each group and measure, one a line.
    pub fn json_lines(&self) -> String {
        records::json_lines(self)
    }

    /// A line of columns for each group and measure, a data block for each table.
    pub fn gnuplot(&self) -> String {
        records::gnuplot(self)
    }

    /// Source of R: the data frame `topas`.
    pub fn r(&self) -> String {
        records::r(self)
    }

    /// A table as bars: both sides beside each other.
    pub fn bars(&self, table: &CompareTable) -> Bars {
        let measure = table.measure;
        let rows: Vec<_> =
            table.rows.iter().filter(|row| row.difference.is_some()).take(self.top).collect();
        let names = rows.iter().map(|row| label(row)).collect();
        let (what, unit) = quantity(table);
        let along = table.by.iter().map(crate::picture::title).collect::<Vec<_>>().join(", ");
        let mut bars = Bars::new(
            BarPlaces::Categories(names),
            Quantity::new(along.clone(), AxisUnit::Count),
            Quantity::new(format!("{what}, {unit}"), AxisUnit::Count),
        );
        bars.arrangement = Arrangement::Beside;
        for (side, name) in SIDES.into_iter().enumerate() {
            let values = rows.iter().map(|row| row.sides[side].value);
            bars.series.push(Series::new(format!("{name}: {}", self.sides[side]), values));
        }
        let without = table.rows.len() - rows.len();
        bars.caption = Caption {
            title: format!("{} by {along}", measure.heading),
            subtitle: format!("{} compared with {}", self.sides[0], self.sides[1]),
            notes: match without {
                0 => Vec::new(),
                n => {
                    vec![format!("Not in it: {} of {}.", n, count(table.rows.len() as u64, "row"))]
                }
            },
        };
        bars
    }

    /// What a side is of, how many runs and how much time it has.
    fn side(&self, side: usize) -> String {
        let report: &LogReport<'_> = &self.report.sides[side];
        let days = report
            .days
            .map_or_else(String::new, |(first, last)| format!(" ({} to {})", first, last));
        let total = report.total;
        format!(
            "{}: {}; {}{days}, {} PE x wall clock",
            SIDES[side],
            self.sides[side],
            runs(total.runs),
            hours(total.time)
        )
    }
}

/// What is compared, and its unit.
fn quantity(table: &CompareTable) -> (String, &'static str) {
    let measure = table.measure;
    if measure.is_compared_by_sum() {
        (format!("Sum of {}", measure.heading), measure.sum.1)
    } else {
        (format!("Mean of {}", measure.heading), measure.unit)
    }
}

fn label(row: &topas_data::CompareRow) -> String {
    let names = row.labels.iter().map(|label| named(label, false).name);
    names.collect::<Vec<_>>().join(", ")
}

/// A word for a verdict; that of a change says in which direction.
fn verdict(table: &CompareTable, row: &topas_data::CompareRow) -> &'static str {
    let grew = row.difference.is_some_and(|difference| difference > 0.0);
    match row.verdict {
        CompareVerdict::Changed => match (table.measure.name, grew) {
            ("wall", true) | ("mflops" | "mintops" | "mloads" | "mstores" | "ipc", false) => {
                "slower"
            }
            ("wall", false) | ("mflops" | "mintops" | "mloads" | "mstores" | "ipc", true) => {
                "faster"
            }
            (_, true) => "more",
            (_, false) => "less",
        },
        CompareVerdict::WithinNoise => "noise",
        CompareVerdict::FewRuns => "few runs",
        CompareVerdict::New => "new",
        CompareVerdict::Gone => "gone",
        CompareVerdict::NotMeasured => "-",
    }
}
