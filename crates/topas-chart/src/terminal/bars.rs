//! Bars of characters, lying.

use unicode_width::UnicodeWidthStr;

use super::TerminalPage;
use crate::bars::stack::{Slot, Stacks};
use crate::bars::{Arrangement, Bars};
use crate::unit::AxisUnit;
use crate::{Screen, color};

/// Parts of a full block, from one eighth on.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A row, or a gap between rows.
enum BarRow {
    Bar(usize),
    /// So many places without a value
    Gap(usize),
    Break,
}

pub(crate) fn bars(bars: &Bars, screen: Screen) -> String {
    let stacks = Stacks::of(bars);
    let mut page = TerminalPage::new(&bars.caption, screen);
    let notes = [bars.caption.notes.as_slice(), stacks.notes.as_slice()];
    if stacks.is_empty() {
        page.line("");
        page.line("no values to show");
        return page.finish(&notes);
    }
    if stacks.parts.len() > 1 || stacks.parts.iter().any(|part| !part.name.is_empty()) {
        let entry = |(at, part): (usize, &crate::bars::stack::StackPart)| {
            let text = format!("{} {}", part.name, part.note);
            (page.sign(at).to_string(), color::series(at).0, text.trim_end().to_owned())
        };
        let entries: Vec<_> = stacks.parts.iter().enumerate().map(entry).collect();
        page.legend(&entries);
    }
    page.line("");
    rows(&mut page, bars, &stacks);
    page.finish(&notes)
}

fn rows(page: &mut TerminalPage, bars: &Bars, stacks: &Stacks) {
    let unit = bars.height.unit;
    let stacked = bars.arrangement == Arrangement::Stacked;
    let most = stacks.highest();
    let digits = if unit == AxisUnit::Percent { 4 } else { 3 };
    let value =
        |value: Option<f64>| value.map_or("-".to_owned(), |value| unit.value(value, digits));
    let rows = shown(stacks);

    let labels: Vec<String> = stacks.slots.iter().map(Slot::label).collect();
    let along = bars.along.unit.form(1.0, 1.0);
    let heading = match bars.places {
        crate::bars::BarPlaces::Buckets(_) => along.heading(&bars.along.name),
        _ => bars.along.name.clone(),
    };
    let label_width = labels.iter().map(|label| page.text(label).width()).max().unwrap_or(0);
    let label_width = label_width.max(page.text(&heading).width()).min(page.width * 2 / 5);
    let shown_values: Vec<Option<f64>> = if stacked {
        (0..stacks.slots.len()).map(|slot| stacks.total(slot)).collect()
    } else {
        stacks.parts.iter().flat_map(|part| part.values.iter().copied()).collect()
    };
    let value_width = shown_values.iter().map(|&v| page.text(&value(v)).width()).max().unwrap_or(0);
    let room = page.width.saturating_sub(label_width + value_width + 3).max(4);

    let head =
        format!("{}  {}", page.cell(&heading, label_width, true), page.text(&bars.height.name));
    let head = page.cell(&head, page.width, false);
    page.line(&head);
    for row in rows {
        let slot = match row {
            BarRow::Bar(slot) => slot,
            BarRow::Gap(count) => {
                let text = page.cell("…", label_width, true);
                page.line(&format!("{text}  ({count} without values)"));
                continue;
            }
            BarRow::Break => {
                let text = page.cell("…", label_width, true);
                page.line(&text);
                continue;
            }
        };
        let label = labels.get(slot).map_or("", String::as_str);
        let label = page.cell(label, label_width, true);
        let number = |page: &TerminalPage, v| page.cell(&value(v), value_width, true);
        if stacked {
            let bar = stack(page, stacks, slot, most, room);
            let line = format!("{label}  {} {bar}", number(page, stacks.total(slot)));
            page.line(&line);
        } else {
            for (at, part) in stacks.parts.iter().enumerate() {
                let v = part.values.get(slot).copied().flatten();
                let label = if at == 0 { label.clone() } else { " ".repeat(label_width) };
                let bar = single(page, at, v.unwrap_or(0.0), most, room);
                let line = format!("{label}  {} {bar}", number(page, v));
                page.line(&line);
            }
        }
    }
}

/// Periods without a value have a row each, unless more than a month of days follow each other.
const MOST_EMPTY_PERIODS: usize = 31;

/// The rows; three and more places without a value become one.
fn shown(stacks: &Stacks) -> Vec<BarRow> {
    let is_time = stacks.slots.iter().any(|slot| matches!(slot, Slot::Period(..)));
    let most_empty = if is_time { MOST_EMPTY_PERIODS } else { 2 };
    let mut rows: Vec<BarRow> = Vec::new();
    let mut empty = Vec::new();
    let flush = |rows: &mut Vec<BarRow>, empty: &mut Vec<usize>| {
        if empty.len() <= most_empty {
            rows.extend(empty.iter().map(|&slot| BarRow::Bar(slot)));
        } else {
            rows.push(BarRow::Gap(empty.len()));
        }
        empty.clear();
    };
    for (at, slot) in stacks.slots.iter().enumerate() {
        if *slot == Slot::Break {
            flush(&mut rows, &mut empty);
            rows.push(BarRow::Break);
        } else if stacks.total(at).is_none_or(|total| total == 0.0) {
            empty.push(at);
        } else {
            flush(&mut rows, &mut empty);
            rows.push(BarRow::Bar(at));
        }
    }
    flush(&mut rows, &mut empty);
    rows
}

/// All series of a slot in one bar. Ends are rounded, not lengths, so the whole is right.
fn stack(page: &TerminalPage, stacks: &Stacks, slot: usize, most: f64, room: usize) -> String {
    if let [only] = stacks.parts.as_slice() {
        let value = only.values.get(slot).copied().flatten().unwrap_or(0.0);
        return single(page, 0, value, most, room);
    }
    let (mut bar, mut drawn, mut sum) = (String::new(), 0, 0.0);
    for (at, part) in stacks.parts.iter().enumerate() {
        sum += part.values.get(slot).copied().flatten().unwrap_or(0.0);
        let end = if most > 0.0 { (sum / most * room as f64).round() as usize } else { 0 };
        let cells = page.sign(at).to_string().repeat(end.saturating_sub(drawn));
        bar += &page.colored(&cells, color::series(at).0);
        drawn = drawn.max(end);
    }
    bar
}

/// A bar of one series, with eighths of a character where there are.
fn single(page: &TerminalPage, series: usize, value: f64, most: f64, room: usize) -> String {
    let length = if most > 0.0 { value / most * room as f64 } else { 0.0 };
    let sign = page.sign(series).to_string();
    let bar = if page.screen.unicode && series == 0 {
        // What is there is seen.
        let eighths = (length * 8.0).round().max(if value > 0.0 { 1.0 } else { 0.0 }) as usize;
        let end = (eighths % 8).checked_sub(1).and_then(|at| EIGHTHS.get(at));
        let mut bar = sign.repeat(eighths / 8);
        bar.extend(end);
        bar
    } else {
        sign.repeat(length.round() as usize)
    };
    page.colored(&bar, color::series(series).0)
}
