//! Comma separated values (RFC 4180, but lines end with a newline only).

use topas_data::measure::Measure;

use crate::document::{Document, Form};
use crate::number::machine_text;
use crate::row::{
    Cell, SAMPLE_COLUMNS, SHARE_COLUMNS, names, sample_cells, share_cells, table_name,
};

/// One table with a header; the first column tells the tables apart.
pub struct Csv;

/// A field, in quotes if it needs them.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A number as text, None if there is none.
pub(crate) fn text_of(cell: Cell) -> Option<String> {
    match cell {
        Cell::Count(n) => Some(n.to_string()),
        Cell::Number(n) => Some(machine_text(n)),
        Cell::Flag(flag) => Some(u8::from(flag).to_string()),
        Cell::None => None,
    }
}

impl Form for Csv {
    fn render(&self, document: &Document<'_>) -> String {
        let most = document.tables.iter().map(|table| table.by.len()).max().unwrap_or(1);
        let mut measures: Vec<&Measure> = Vec::new();
        for column in document.tables.iter().flat_map(|table| &table.columns) {
            if !measures.contains(column) {
                measures.push(column);
            }
        }
        let mut header = vec!["table".to_owned()];
        for side in ["", "2"].iter().take(most) {
            header.extend(["name", "from", "to"].map(|name| format!("{name}{side}")));
        }
        header.extend(SHARE_COLUMNS.map(str::to_owned));
        for measure in &measures {
            header.extend(SAMPLE_COLUMNS.map(|name| format!("{}_{name}", measure.name)));
        }
        let mut out = header.join(",") + "\n";
        for table in document.tables {
            for row in &table.rows {
                let mut cells = vec![quoted(&table_name(table))];
                let mut names = names(table, row).into_iter();
                for _ in 0..most {
                    let label = names.next();
                    let (name, from, to) =
                        label.map_or_else(Default::default, |l| (l.name, l.from, l.to));
                    cells.push(quoted(&name));
                    cells.extend([from, to].map(Option::unwrap_or_default));
                }
                cells.extend(share_cells(table, row).map(Option::unwrap_or_default));
                for measure in &measures {
                    let at = table.columns.iter().position(|column| column == measure);
                    match at.and_then(|at| row.samples.get(at)) {
                        Some(sample) => cells.extend(
                            sample_cells(measure, sample).map(|c| text_of(c).unwrap_or_default()),
                        ),
                        None => cells.extend(SAMPLE_COLUMNS.map(|_| String::new())),
                    }
                }
                out += &cells.join(",");
                out.push('\n');
            }
        }
        out
    }
}
