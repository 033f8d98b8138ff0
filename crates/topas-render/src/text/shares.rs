//! Tables of shares: label, Num%, Num, Time%, Time.

use topas_data::{ReportRow, ReportTable, Share};

use super::{columns, join, labels, line, right, rule};
use crate::number::{NONE, hours, percentage};

/// Tables, all with the same columns: those of the paper, wider where a number needs it.
pub(super) struct Shares {
    tables: Vec<Vec<[String; 5]>>,
    label: usize,
    num: usize,
    time: usize,
}

impl Shares {
    pub(super) fn new(tables: &[ReportTable], width: Option<usize>) -> Self {
        let cells: Vec<Vec<[String; 4]>> = tables.iter().map(cells).collect();
        let widest = |at: usize, least: usize| {
            let cells = cells.iter().flatten().map(|row| row[at].len());
            cells.max().unwrap_or(0).max(least)
        };
        let (num, time) = (widest(1, 5), widest(3, 12));
        let most = width.map_or(usize::MAX, |width| width.saturating_sub(num + time + 18));
        let rows = |(table, cells): (&ReportTable, Vec<[String; 4]>)| {
            let labels = join(&labels(table), most);
            let row = |(label, [a, b, c, d]): (String, [String; 4])| [label, a, b, c, d];
            labels.into_iter().zip(cells).map(row).collect::<Vec<_>>()
        };
        let tables: Vec<_> = tables.iter().zip(cells).map(rows).collect();
        let label = tables.iter().flatten().map(|row| columns(&row[0])).max();
        Shares { label: label.unwrap_or(0).max(7), num, time, tables }
    }

    pub(super) fn width(&self) -> usize {
        self.label + self.num + self.time + 18
    }

    pub(super) fn write(&self, out: &mut String, number: usize) {
        let Shares { num, time, .. } = self;
        for (at, [label, np, n, tp, t]) in self.tables[number].iter().enumerate() {
            let label = right(label, self.label);
            line(out, format_args!("{label} {np:>7} {n:>num$} {tp:>7} {t:>time$}"));
            if at == 0 {
                *out += &rule("-", self.width());
            }
        }
    }
}

/// The heading and the rows of a table, without their labels.
fn cells(table: &ReportTable) -> Vec<[String; 4]> {
    let row = |row: &ReportRow| {
        let of = if row.counts { table.of } else { Share::default() };
        let cell = |part, whole| percentage(part, whole, 2).map_or(NONE.to_owned(), |p| p + "%");
        [
            cell(row.share.runs.into(), of.runs.into()),
            row.share.runs.to_string(),
            cell(row.share.time.0, of.time.0),
            hours(row.share.time),
        ]
    };
    let heading = ["Num%", "Num", "Time%", "Time"].map(str::to_owned);
    std::iter::once(heading).chain(table.rows.iter().map(row)).collect()
}
