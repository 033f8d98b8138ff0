//! Figures of rows as the forms for programs show them.

use topas_data::{Figure, FigureValue, LostTime};
use topas_format::civil::Date;

use crate::row::SampleCell;

/// Names of the columns of a figure, each behind the name of the figure.
pub(crate) fn figure_columns(figure: Figure) -> &'static [&'static str] {
    match figure {
        Figure::Failures => &["failed", "known", "unknown", "percent", "low", "high"],
        Figure::Lost => &["pe_seconds", "of_pe_seconds", "percent"],
        Figure::Days => &["first", "last"],
        _ => &["number", "none"],
    }
}

/// A day as forms for programs and people show it: `2026-11-20`.
pub(crate) fn iso_day(day: Date) -> String {
    format!("{:04}-{:02}-{:02}", day.year, day.month, day.day)
}

/// The cells of a figure: how many different ones, runs that tell none; or failed runs, runs of
/// known and of unknown ending, their rate in percent and the bounds of its interval; or the time of
/// failed runs and of those of known ending in PE-seconds, and its share; or the first and last day.
pub(crate) fn figure_cells(value: &FigureValue) -> Vec<SampleCell> {
    match value {
        FigureValue::Distinct { number, runs_without } => {
            [*number, *runs_without].map(|n| SampleCell::Count(n.into())).to_vec()
        }
        FigureValue::Failures(rate) => {
            let counts = [rate.failed, rate.known, rate.unknown];
            let percent = |share: Option<f64>| {
                share.map_or(SampleCell::None, |share| SampleCell::Number(100.0 * share))
            };
            let [low, high] = rate.interval().map_or([None; 2], |bounds| bounds.map(Some));
            let shares = [rate.rate(), low, high].map(percent);
            counts.map(|n| SampleCell::Count(n.into())).into_iter().chain(shares).collect()
        }
        FigureValue::Lost(LostTime { failed, known }) => {
            let percent = (known.0 > 0).then(|| 100.0 * failed.0 as f64 / known.0 as f64);
            vec![
                SampleCell::Time(*failed),
                SampleCell::Time(*known),
                percent.map_or(SampleCell::None, SampleCell::Number),
            ]
        }
        FigureValue::Days(None) => vec![SampleCell::None; 2],
        FigureValue::Days(Some((first, last))) => {
            [first, last].map(|d| SampleCell::Day(*d)).to_vec()
        }
    }
}
