//! Boxes of characters.

use unicode_width::UnicodeWidthStr;

use super::TerminalPage;
use crate::Screen;
use crate::axis::Axis;
use crate::boxes::{BoxGroup, BoxPlot};
use crate::words::clean;

/// Whisker's ends and line, box, median, what is beyond.
const SIGNS: [char; 6] = ['├', '┤', '─', '▒', '█', '•'];
const ASCII_SIGNS: [char; 6] = ['|', '|', '-', '=', '#', 'o'];

pub(crate) fn boxes(plot: &BoxPlot, screen: Screen) -> String {
    let mut page = TerminalPage::new(&plot.caption, screen);
    let (groups, notes) = plot.shown();
    let notes = [plot.caption.notes.as_slice(), notes.as_slice()];
    page.line("");
    if groups.is_empty() {
        page.line("no values to show");
        return page.finish(&notes);
    }
    let (low, high) = BoxPlot::range(&groups);
    let axis = Axis::around(low, high, 5);
    let form = plot.value.unit.form(axis.most(), axis.step);
    let names = groups.iter().map(|group| page.text(&group.name).width()).max().unwrap_or(0);
    let names = names.max(clean(&plot.by).width()).min(page.width / 3);
    let counts = groups.iter().map(|group| group.count.to_string().len()).max().unwrap_or(0);
    let counts = counts.max(plot.thing.width() + 1);
    let room = page.width.saturating_sub(names + counts + 3).max(8);
    let head = format!(
        "{} {}  {}",
        page.cell(&plot.by, names, true),
        page.cell(&format!("{}s", plot.thing), counts, true),
        page.text(&form.heading(&clean(&plot.value.name)))
    );
    let head = page.cell(&head, page.width, false);
    page.line(&head);
    for group in groups {
        let name = page.cell(&group.name, names, true);
        let drawn = draw(group, &axis, room, screen.unicode);
        page.line(&format!("{name} {:>counts$}  {drawn}", group.count));
    }
    let scale = scale(&page, &axis, |value| form.on_axis(value), room);
    page.line(&format!("{}{scale}", " ".repeat(names + counts + 3)));
    let [left, right, line, body, median, beyond] =
        if screen.unicode { SIGNS } else { ASCII_SIGNS };
    page.line("");
    page.wrapped(&format!(
        "{left}{line}{body}{median}{body}{line}{right} quartiles {body}, median {median}; the line \
         ends within 1.5 times the quartiles' range; {beyond} beyond"
    ));
    page.finish(&notes)
}

fn draw(group: &BoxGroup, axis: &Axis, room: usize, unicode: bool) -> String {
    let [left, right, line, body, median, beyond] = if unicode { SIGNS } else { ASCII_SIGNS };
    let at = |value: f64| (axis.share(value) * (room - 1) as f64).round() as usize;
    let mut cells = vec![' '; room];
    let mut fill = |from: f64, to: f64, sign: char| {
        cells.iter_mut().take(at(to) + 1).skip(at(from)).for_each(|cell| *cell = sign);
    };
    fill(group.low, group.high, line);
    fill(group.low, group.low, left);
    fill(group.high, group.high, right);
    fill(group.q25, group.q75, body);
    fill(group.median, group.median, median);
    for (value, _) in group.extremes.iter().filter(|(value, _)| value.is_finite()) {
        fill(*value, *value, beyond);
    }
    cells.into_iter().collect()
}

/// Numbers below an axis, as many as have room.
fn scale(page: &TerminalPage, axis: &Axis, text: impl Fn(f64) -> String, room: usize) -> String {
    let mut out = String::new();
    for tick in axis.ticks() {
        let text = page.text(&text(tick));
        let middle = (axis.share(tick) * (room - 1) as f64).round() as usize;
        let start = middle.saturating_sub(text.width() / 2).min(room.saturating_sub(text.width()));
        if out.is_empty() || start > out.width() {
            out += &" ".repeat(start.saturating_sub(out.width()));
            out += &text;
        }
    }
    out
}
