//! Comma separated values (RFC 4180, but lines end with a newline only).

use topas_data::measure::Measure;

use crate::document::{Document, ReportForm};
use crate::figure::{figure_cells, figure_columns, iso_day};
use crate::number::{machine_text, pe_seconds};
use crate::row::{
    self, OF_COLUMNS, SAMPLE_COLUMNS, SHARE_COLUMNS, SampleCell, names, of_cells, sample_cells,
    share_cells, table_name,
};

/// One table with a header; the first column tells the tables apart.
pub struct Csv;

/// A field: in quotes if it needs them, and with an apostrophe before it if a spreadsheet would
/// take it for a formula. Names are anybody's; numbers stay numbers.
pub fn field(text: &str) -> String {
    let guard = if is_formula(text) { "'" } else { "" };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}

/// Whether a spreadsheet would compute this text: it begins as a formula and is neither a number
/// nor a sign alone.
fn is_formula(text: &str) -> bool {
    const SIGNS: [char; 11] =
        ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    let number = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
            && text.parse::<f64>().is_ok()
    };
    text.starts_with(SIGNS) && text != "-" && !number(text)
}

/// A number as text, None if there is none.
pub(crate) fn text_of(cell: SampleCell) -> Option<String> {
    match cell {
        SampleCell::Count(n) => Some(n.to_string()),
        SampleCell::Number(n) => Some(machine_text(n)),
        SampleCell::Flag(flag) => Some(u8::from(flag).to_string()),
        SampleCell::Time(time) => Some(pe_seconds(time)),
        SampleCell::Day(day) => Some(iso_day(day)),
        SampleCell::None => None,
    }
}

impl ReportForm for Csv {
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
        let is_of_parts = document.tables.iter().any(row::is_of_parts);
        if is_of_parts {
            header.extend(OF_COLUMNS.map(str::to_owned));
        }
        for figure in document.report.figures().map(|(figure, _)| figure) {
            let names = figure_columns(figure).iter();
            header.extend(names.map(|name| format!("{}_{name}", figure.name())));
        }
        for measure in &measures {
            header.extend(SAMPLE_COLUMNS.map(|name| format!("{}_{name}", measure.name)));
        }
        let mut out = header.join(",") + "\n";
        for table in document.tables {
            for row in &table.rows {
                let mut cells = vec![field(&table_name(table))];
                let mut names = names(table, row).into_iter();
                for _ in 0..most {
                    let label = names.next();
                    let (name, from, to) =
                        label.map_or_else(Default::default, |l| (l.name, l.from, l.to));
                    cells.push(field(&name));
                    cells.extend([from, to].map(Option::unwrap_or_default));
                }
                cells.extend(share_cells(row).map(Option::unwrap_or_default));
                if is_of_parts {
                    cells.extend(of_cells(row).map(Option::unwrap_or_default));
                }
                for value in &row.figures {
                    let figure = figure_cells(value).into_iter();
                    cells.extend(figure.map(|cell| text_of(cell).unwrap_or_default()));
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_no_formula() {
        for (text, expected) in [
            ("node,1", "\"node,1\""),
            ("a \"b\"", "\"a \"\"b\"\"\""),
            ("plain", "plain"),
            ("1-4", "1-4"),
            ("=HYPERLINK(\"http://x\",1)", "\"'=HYPERLINK(\"\"http://x\"\",1)\""),
            ("=1+1", "'=1+1"),
            ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-2+3", "'-2+3"),
            ("\t=1", "'\t=1"),
            ("-1.5", "-1.5"),
            ("+3e7", "+3e7"),
            ("-", "-"),
            ("-inf", "'-inf"),
            ("", ""),
        ] {
            assert_eq!(field(text), expected);
        }
    }
}
