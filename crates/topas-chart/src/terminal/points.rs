//! Values per PE as columns of characters.

use unicode_width::UnicodeWidthStr;

use super::TerminalPage;
use crate::axis::Axis;
use crate::points::{Band, Points, bands};
use crate::words::clean;
use crate::{Screen, color};

/// Lines of a plot.
const HEIGHT: usize = 12;

/// Median, quartiles, all.
const SIGNS: [char; 3] = ['█', '▒', '░'];
const ASCII_SIGNS: [char; 3] = ['#', '+', '.'];

pub(crate) fn points(points: &Points, screen: Screen) -> String {
    let mut page = TerminalPage::new(&points.caption, screen);
    let notes = points.notes();
    let Some((low, high)) = points.range() else {
        page.line("");
        page.line("no value was measured");
        return page.finish(&[&points.caption.notes, &notes]);
    };
    let axis = Axis::around(low, high, 4);
    let form = points.value.unit.form(axis.most(), axis.step);
    let label = axis.ticks().map(|tick| page.text(&form.on_axis(tick)).width()).max().unwrap_or(0);
    let room = page.width.saturating_sub(label + 2).max(8);
    let count = points.len();
    let columns = count.clamp(1, room);
    let [median, quartiles, all] = if screen.unicode { SIGNS } else { ASCII_SIGNS };
    let crowded = count > columns;
    page.line("");
    let heading = form.heading(&clean(&points.value.name));
    page.wrapped(&format!("{heading} by {}", clean(&points.along)));
    for (at, series) in points.series.iter().enumerate() {
        if !series.name.is_empty() {
            let name = format!("{} {}", series.name, series.note);
            page.wrapped(name.trim_end());
        }
        let bands = bands(&series.values, count, columns);
        for line in 0..HEIGHT {
            let row = HEIGHT - 1 - line;
            let text: String = (0..columns)
                .map(|column| {
                    let found = bands.binary_search_by_key(&column, |band| band.column).ok();
                    let band = found.and_then(|at| bands.get(at));
                    band.map_or(' ', |band| cell(band, &axis, row, [median, quartiles, all]))
                })
                .collect();
            let text = page.colored(text.trim_end(), color::series(at).0);
            // The numbers stand at the lines they are of.
            let tick = axis.ticks().find(|&tick| level(&axis, tick) == row);
            let tick = tick.map(|tick| page.text(&form.on_axis(tick))).unwrap_or_default();
            let bar = if screen.unicode { '│' } else { '|' };
            page.line(&format!("{tick:>label$} {bar}{text}"));
        }
        let last = points.first.saturating_add(count.saturating_sub(1) as u64).to_string();
        let first = points.first.to_string();
        let between = columns.saturating_sub(first.len() + last.len());
        let along = format!("{first}{}{last}", " ".repeat(between.max(1)));
        let along = page.cell(&along, page.width - label - 2, false);
        page.line(&format!("{:>label$}  {along}", ""));
    }
    if crowded {
        page.line("");
        page.wrapped(&format!(
            "{median} median, {quartiles} quartiles, {all} all of neighbouring values"
        ));
    }
    page.finish(&[&points.caption.notes, &notes])
}

/// Line of a value, from below.
fn level(axis: &Axis, value: f64) -> usize {
    (axis.share(value) * (HEIGHT - 1) as f64).round() as usize
}

fn cell(band: &Band, axis: &Axis, row: usize, signs: [char; 3]) -> char {
    let [median, quartiles, all] = signs;
    let level = |value| level(axis, value);
    if row == level(band.median) {
        median
    } else if (level(band.q25)..=level(band.q75)).contains(&row) {
        quartiles
    } else if (level(band.low)..=level(band.high)).contains(&row) {
        all
    } else {
        ' '
    }
}
