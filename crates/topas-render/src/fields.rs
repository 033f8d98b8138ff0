//! What a log can be asked for, as a list for people.

use topas_data::field::FIELDS;
use topas_data::measure::MEASURES;
use topas_data::{FIGURES, Figure};

/// The fields: name, what it holds, what it means; one a line.
pub fn fields() -> String {
    let rows = FIELDS.iter().map(|row| {
        let also = if row.also.is_empty() { String::new() } else { format!(" ({})", row.also) };
        [format!("{}{also}", row.name), row.holds(), plain(row.about)]
    });
    let extra = ["extra.KEY", "text", "Any extra as it stands in the line."].map(str::to_owned);
    columns(&rows.chain([extra]).collect::<Vec<_>>())
}

/// The measures and figures: name, unit, what it is; one a line.
pub fn measures() -> String {
    let row = |measure: &topas_data::measure::Measure| {
        [measure.name, measure.unit, measure.about].map(str::to_owned)
    };
    let figure =
        |figure: &Figure| [figure.name(), figure.unit(), figure.about()].map(str::to_owned);
    columns(&MEASURES.iter().map(row).chain(FIGURES.iter().map(figure)).collect::<Vec<_>>())
}

/// Without the marks of code.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

fn columns(rows: &[[String; 3]]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let line = |[a, b, c]: &[String; 3]| format!("{a:<first$}  {b:<second$}  {c}\n");
    rows.iter().map(line).collect()
}
