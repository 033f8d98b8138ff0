//! The statistical summary, in the layout of the 1999 paper's Listing 5.

use std::fmt::Write;

use topas_data::pes::{Column, PeTable, Summary};

use super::quantity::shown;

/// Extremes on each side that are shown unless all are wanted.
const MOST_EXTREMES: usize = 10;

/// The summary: extremes (`***`), minimum, quartiles, maximum, mean and standard deviation
/// (`rho`), in the unit of the column. Of many extremes the farthest ten on a side, and how
/// many more there are, unless `all`.
pub fn listing(table: &PeTable, column: Column, summary: &Summary, all: bool) -> String {
    let shown = shown(column, table.metric);
    let values = [summary.min.0, summary.max.0, summary.mean];
    let ends = [summary.low.first(), summary.high.last()].into_iter().flatten().map(|v| v.0);
    let longest = values.into_iter().chain(ends).map(|value| shown.number(value).len()).max();
    // As wide as in the paper, wider where a number needs it.
    let width = longest.unwrap_or(0).max(6) + 4;
    let pe = |place: u32| table.rows.get(place as usize).map_or(0, |row| row.pe);
    let row = |label: &str, value: f64| format!("{label:<3}{:>width$}", shown.number(value));
    let extreme =
        |&(value, place): &(f64, u32)| format!("{} on pe {}\n", row("***", value), pe(place));
    let most = if all { usize::MAX } else { MOST_EXTREMES };
    let mut out = String::new();
    // Writing to a String cannot fail.
    let (low, high) = (&summary.low, &summary.high);
    low.iter().take(most).for_each(|value| out += &extreme(value));
    if low.len() > most {
        let _ = writeln!(out, "*** {} more below min", low.len() - most);
    }
    let _ = writeln!(out, "{} on pe {}", row("min", summary.min.0), pe(summary.min.1));
    for (label, value) in ["q25", "q50", "q75"].into_iter().zip(summary.quartiles) {
        let _ = writeln!(out, "{}", row(label, value));
    }
    let _ = writeln!(out, "{} on pe {}", row("max", summary.max.0), pe(summary.max.1));
    if high.len() > most {
        let _ = writeln!(out, "*** {} more above max", high.len() - most);
    }
    high.iter().skip(high.len().saturating_sub(most)).for_each(|value| out += &extreme(value));
    let _ = writeln!(out, "\n{}", row("mean", summary.mean).replacen("mean ", "mean", 1));
    match summary.deviation {
        Some(rho) => {
            let _ = writeln!(out, "{}", row("rho", rho));
        }
        None => {
            let _ = writeln!(out, "rho{:>width$}", "-");
        }
    }
    out
}

/// The same as CSV: `column,statistic,value,unit,pe`.
pub fn listing_csv(table: &PeTable, column: Column, summary: &Summary) -> String {
    let unit = shown(column, table.metric).unit;
    let mut out = String::from("column,statistic,value,unit,pe\n");
    let mut row = |statistic: &str, value: f64, place: Option<u32>| {
        let pe = place.and_then(|place| table.rows.get(place as usize));
        let pe = pe.map(|row| row.pe.to_string()).unwrap_or_default();
        let _ = writeln!(out, "{},{statistic},{value},{unit},{pe}", column.name());
    };
    summary.low.iter().for_each(|&(value, place)| row("extreme_low", value, Some(place)));
    row("min", summary.min.0, Some(summary.min.1));
    for (name, value) in ["q25", "q50", "q75"].into_iter().zip(summary.quartiles) {
        row(name, value, None);
    }
    row("max", summary.max.0, Some(summary.max.1));
    summary.high.iter().for_each(|&(value, place)| row("extreme_high", value, Some(place)));
    row("mean", summary.mean, None);
    if let Some(rho) = summary.deviation {
        row("rho", rho, None);
    }
    row("count", summary.count as f64, None);
    out
}
