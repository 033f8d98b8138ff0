//! Figures of rows as the forms for programs show them.

use topas_data::{Figure, FigureValue};

use crate::row::SampleCell;

/// Names of the columns of a figure, each behind the name of the figure.
pub(crate) fn figure_columns(figure: Figure) -> &'static [&'static str] {
    match figure {
        Figure::Failures => &["failed", "known", "unknown", "percent", "low", "high"],
        _ => &["number", "none"],
    }
}

/// The cells of a figure: how many different ones, runs that tell none; or failed runs, runs of
/// known and of unknown ending, their rate in percent and the bounds of its interval.
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
    }
}
