//! Pictures of a column: a strip of the PEs, points, boxes by host.

use topas_data::pes::{Column, PeTable, Values, summary};

use super::heading::{heading, without_value};
use super::quantity::axis;
use topas_chart::{BoxGroup, BoxPlot, Caption, Chart, HeatStrip, Points, Screen, Series};

/// What can be drawn of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// A cell for each PE
    Strip,
    /// A point for each PE
    Points,
    /// A box for each host
    Hosts,
}

/// Beyond this share of numbers without a PE, the PEs are drawn one after the other.
const SPARSE: usize = 2;

/// Numbers that are never too many.
const FEW: usize = 65_536;

/// The values by PE, None where there is none; whether places are the numbers of the PEs, or
/// of the rows, where the numbers are too sparse to be drawn.
fn by_pe(table: &PeTable, values: &Values, scale: f64) -> (Vec<Option<f64>>, bool) {
    let last = table.rows.last().map_or(0, |row| row.pe as usize + 1);
    let npes = table.launch.npes.map_or(last, |npes| (npes as usize).max(last));
    let by_number = npes <= SPARSE * table.rows.len() + FEW;
    let mut all = vec![None; if by_number { npes } else { table.rows.len() }];
    for &(value, place) in &values.values {
        let row = place as usize;
        let at = if by_number { table.rows[row].pe as usize } else { row };
        if let Some(cell) = all.get_mut(at) {
            *cell = Some(value * scale);
        }
    }
    (all, by_number)
}

/// Places of the extremes of the summary in the values of [`by_pe`].
fn extremes(table: &PeTable, values: &Values, by_number: bool) -> Vec<usize> {
    let of = summary(values);
    let extremes = of.iter().flat_map(|of| of.low.iter().chain(of.high.iter()));
    let place = |&(_, row): &(f64, u32)| {
        if by_number { table.rows[row as usize].pe as usize } else { row as usize }
    };
    let mut places: Vec<usize> = extremes.map(place).collect();
    places.sort_unstable();
    places
}

fn caption(
    table: &PeTable,
    column: Column,
    values: &Values,
    title: &str,
    by_number: bool,
) -> Caption {
    let mut notes = Vec::new();
    if values.missing > 0 {
        notes.push(without_value(table, column, values.missing));
    }
    if !by_number {
        notes
            .push("PEs in the order of their numbers, without those that left no line.".to_owned());
    }
    Caption { title: title.to_owned(), subtitle: heading(table).trim_end().to_owned(), notes }
}

/// The drawing of a column.
pub fn drawing(table: &PeTable, column: Column, values: &Values, what: Drawing) -> Box<dyn Chart> {
    let (quantity, scale) = axis(column, table.metric);
    match what {
        Drawing::Strip => {
            let (cells, by_number) = by_pe(table, values, scale);
            let title = format!("{} of the PEs", quantity.name);
            let mut strip = HeatStrip::new(quantity, cells);
            strip.caption = caption(table, column, values, &title, by_number);
            strip.extremes = extremes(table, values, by_number);
            Box::new(strip)
        }
        Drawing::Points => {
            let (series, by_number) = by_pe(table, values, scale);
            let title = format!("{} of each PE", quantity.name);
            let mut points = Points::new(quantity, Vec::new());
            points.series =
                vec![Series { name: String::new(), note: String::new(), values: series }];
            points.caption = caption(table, column, values, &title, by_number);
            points.extremes = extremes(table, values, by_number);
            Box::new(points)
        }
        Drawing::Hosts => {
            let mut members: Vec<Vec<(f64, String)>> = vec![Vec::new(); table.hosts.len()];
            for &(value, place) in &values.values {
                let row = &table.rows[place as usize];
                if let Some(host) = members.get_mut(row.host as usize) {
                    host.push((value * scale, row.pe.to_string()));
                }
            }
            let boxes = members.into_iter().zip(&table.hosts);
            let groups = boxes
                .filter_map(|(values, host)| BoxGroup::of(crate::wording::named(host), values));
            let title = format!("{} of the PEs, by host", quantity.name);
            let mut plot = BoxPlot::new(quantity, groups.collect());
            plot.caption = caption(table, column, values, &title, true);
            Box::new(plot)
        }
    }
}

/// The strip of the PEs for a terminal.
pub fn strip(table: &PeTable, column: Column, values: &Values, screen: Screen) -> String {
    drawing(table, column, values, Drawing::Strip).terminal(screen)
}
