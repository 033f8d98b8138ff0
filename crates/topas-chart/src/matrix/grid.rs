//! Cells and classes of a matrix, whatever draws them.

use super::HeatMatrix;
use crate::axis::Axis;
use crate::unit::AxisUnit;
use crate::words::clean;

/// Largest pairs that are named below.
const MOST_NAMED: usize = 4;

/// Classes at most.
const MOST_CLASSES: i32 = 8;

/// Values whose largest is more than so many times the least are told by powers of ten.
const WIDE: f64 = 30.0;

/// What a matrix shows, by whichever back end.
pub(crate) struct Grid {
    /// Rows, and columns, that one cell stands for
    pub(crate) each: usize,
    /// Cells in a row, and rows
    pub(crate) side: usize,
    /// Row by row; None: not measured
    pub(crate) cells: Vec<Option<f64>>,
    pub(crate) classes: Vec<PairClass>,
    /// Cells that are 0
    pub(crate) zeros: usize,
    /// Cells that were not measured
    pub(crate) missing: usize,
    pub(crate) notes: Vec<String>,
    bounds: Vec<f64>,
}

/// A range of values that have one colour.
pub(crate) struct PairClass {
    pub(crate) label: String,
    pub(crate) count: usize,
}

impl Grid {
    /// At most `most` cells in a row; None if nothing was measured.
    pub(crate) fn of(matrix: &HeatMatrix, most: usize) -> Option<Self> {
        let size = matrix.size;
        let mut measured = vec![true; size];
        for &row in &matrix.missing {
            measured.get_mut(row as usize).into_iter().for_each(|row| *row = false);
        }
        if !measured.contains(&true) {
            return None;
        }
        let each = size.div_ceil(most.max(1)).max(1).next_power_of_two();
        let side = size.div_ceil(each);
        let rows: Vec<bool> = measured.chunks(each).map(|rows| rows.contains(&true)).collect();
        let mut cells: Vec<Option<f64>> =
            rows.iter().flat_map(|&row| vec![row.then_some(0.0); side]).collect();
        let (mut largest, mut strange) = (Vec::new(), 0);
        for &(row, column, value) in &matrix.values {
            let (row, column) = (row as usize, column as usize);
            let is_shown = (0.0..1e200).contains(&value)
                && column < size
                && measured.get(row).is_some_and(|measured| *measured);
            match cells.get_mut(row / each * side + column / each) {
                Some(Some(cell)) if is_shown => *cell += value,
                _ => {
                    strange += 1;
                    continue;
                }
            }
            if value > 0.0 {
                largest.push((value, row, column));
            }
        }
        let positive = || cells.iter().flatten().copied().filter(|&value| value > 0.0);
        let bounds = bounds(positive());
        let mut grid = Grid {
            each,
            side,
            zeros: cells.iter().flatten().filter(|&&value| value == 0.0).count(),
            missing: cells.iter().filter(|cell| cell.is_none()).count(),
            classes: Vec::new(),
            notes: notes(matrix, each, largest, measured.iter().filter(|m| !**m).count(), strange),
            cells,
            bounds,
        };
        let mut counts = vec![0; grid.bounds.len().saturating_sub(1)];
        for value in grid.cells.iter().flatten().copied().filter(|&value| value > 0.0) {
            counts.get_mut(grid.class(value)).into_iter().for_each(|count| *count += 1);
        }
        let unit = matrix.value.unit;
        let labels = grid.bounds.windows(2).map(|of| label(unit, of[0], of[1]));
        grid.classes =
            labels.zip(counts).map(|(label, count)| PairClass { label, count }).collect();
        Some(grid)
    }

    /// Index of the class of a value.
    pub(crate) fn class(&self, value: f64) -> usize {
        let last = self.bounds.len().saturating_sub(2);
        self.bounds.iter().skip(1).filter(|&&bound| value >= bound).count().min(last)
    }
}

/// Bounds of classes, ascending: by even steps, or by powers of ten if the values differ much.
fn bounds(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let largest = values.fold(0.0, f64::max);
    if largest == 0.0 {
        return Vec::new();
    }
    if least == largest {
        return vec![least, least];
    }
    if largest / least <= WIDE {
        return Axis::around(least, largest, 6).ticks().collect();
    }
    let power = |value: f64| value.log10().floor() as i32;
    // The logarithm of a power of ten may fall short by a bit.
    let (first, last) = (power(least * (1.0 + 1e-12)), power(largest * (1.0 + 1e-12)) + 1);
    let step = ((last - first) as u32).div_ceil(MOST_CLASSES as u32).max(1);
    let mut bounds: Vec<f64> =
        (first..last).step_by(step as usize).map(|power| 10f64.powi(power)).collect();
    let end = bounds.len() as i32 * step as i32 + first;
    bounds.push(10f64.powi(end));
    bounds
}

fn label(unit: AxisUnit, low: f64, high: f64) -> String {
    if low == high {
        unit.value(low, 3)
    } else {
        format!("{}–{}", short(unit, low), short(unit, high))
    }
}

/// A round number with its unit and no needless places.
fn short(unit: AxisUnit, value: f64) -> String {
    let is_enough = |digits: &i32| {
        let power = 10f64.powi(value.log10().floor() as i32 - digits + 1);
        ((value / power).round() * power - value).abs() <= value * 1e-9
    };
    let digits = if value > 0.0 { (1..4).find(is_enough).unwrap_or(4) } else { 1 };
    unit.value(value, digits)
}

fn notes(
    matrix: &HeatMatrix,
    each: usize,
    mut largest: Vec<(f64, usize, usize)>,
    missing: usize,
    strange: usize,
) -> Vec<String> {
    let thing = clean(&matrix.thing);
    let mut notes = Vec::new();
    if each > 1 {
        notes.push(format!("A cell stands for {each} x {each} {thing}s and shows their sum."));
    }
    if missing > 0 {
        notes.push(format!("{missing} of {} {thing}s were not measured.", matrix.size));
    }
    if strange > 0 {
        notes.push(format!("{strange} values cannot be shown: no numbers, or of no such {thing}."));
    }
    let pairs = largest.len();
    largest.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    if pairs > 0 {
        let named: Vec<String> = largest
            .iter()
            .take(MOST_NAMED)
            .map(|&(value, row, column)| {
                format!("{thing} {row} to {column}: {}", matrix.value.unit.value(value, 4))
            })
            .collect();
        let of = matrix.size.saturating_mul(matrix.size);
        notes.push(format!("{pairs} of {of} pairs are not 0; largest: {}.", named.join(", ")));
    }
    notes
}
