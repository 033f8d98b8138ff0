//! Charts of characters, for a terminal and for mail.

mod bars;
mod boxes;
mod calendar;
mod heat;
mod matrix;
mod points;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::color::Color;
use super::words::{ascii, clean};
use super::{Caption, Screen};

pub(super) use bars::bars;
pub(super) use boxes::boxes;
pub(super) use calendar::calendar;
pub(super) use heat::heat;
pub(super) use matrix::matrix;
pub(super) use points::points;

/// Columns used at least.
const LEAST_WIDTH: usize = 30;

/// Signs that fill parts of bars, the solid one first.
const BLOCKS: [char; 16] =
    ['█', '▒', '▓', '░', '#', '=', '+', 'o', '*', 'x', '%', '@', '&', '$', '~', ':'];
const ASCII_SIGNS: [char; 16] =
    ['#', '=', '+', 'o', '*', 'x', '%', '@', '&', '$', '~', ':', '-', '/', 'w', 'v'];

/// From low to high, with letters beyond ASCII and without.
const LEVELS: [[char; 8]; 2] =
    [['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'], ['1', '2', '3', '4', '5', '6', '7', '8']];

/// Text in the making.
pub(super) struct TerminalPage {
    pub(super) screen: Screen,
    pub(super) width: usize,
    out: String,
}

impl TerminalPage {
    /// Begins with title and subtitle.
    pub(super) fn new(caption: &Caption, screen: Screen) -> Self {
        let width = screen.width.clamp(LEAST_WIDTH, 1000);
        let mut page = TerminalPage { screen, width, out: String::new() };
        for text in [&caption.title, &caption.subtitle] {
            if !text.is_empty() {
                page.wrapped(text);
            }
        }
        page
    }

    /// Ends with the notes.
    pub(super) fn finish(mut self, notes: &[&[String]]) -> String {
        let notes: Vec<&String> = notes.iter().copied().flatten().collect();
        if !notes.is_empty() {
            self.line("");
        }
        for note in notes {
            self.wrapped(note);
        }
        self.out
    }

    /// One line, as it is.
    pub(super) fn line(&mut self, text: &str) {
        self.out += text.trim_end();
        self.out.push('\n');
    }

    /// Text in lines that fit.
    pub(super) fn wrapped(&mut self, text: &str) {
        let text = self.text(text);
        let mut line = String::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            if !line.is_empty() && line.width() + 1 + word.width() > self.width {
                self.line(&std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        self.line(&line);
    }

    /// Words of others and of ours as this screen shows them.
    pub(super) fn text(&self, text: &str) -> String {
        let text = clean(text);
        if self.screen.unicode { text.replace('\u{202f}', " ") } else { ascii(&text) }
    }

    /// `text` in `room` columns, blanks before or behind it; shortened where it is longer.
    pub(super) fn cell(&self, text: &str, room: usize, right: bool) -> String {
        let mut text = self.text(text);
        if text.width() > room {
            let (dots, taken) = if self.screen.unicode { ("…", 1) } else { ("...", 3) };
            let mut used = 0;
            let fits = |c: &char| {
                used += c.width().unwrap_or(0);
                used + taken <= room
            };
            text = text.chars().take_while(fits).collect::<String>() + dots;
        }
        let blanks = " ".repeat(room.saturating_sub(text.width()));
        if right { blanks + &text } else { text + &blanks }
    }

    /// The sign of a series.
    pub(super) fn sign(&self, series: usize) -> char {
        let signs = if self.screen.unicode { BLOCKS } else { ASCII_SIGNS };
        signs.get(series % signs.len()).copied().unwrap_or('#')
    }

    /// `text` in a colour, where there is colour.
    pub(super) fn colored(&self, text: &str, color: Color) -> String {
        if self.screen.color && !text.is_empty() {
            format!("\x1b[38;5;{}m{text}\x1b[0m", color.ansi())
        } else {
            text.to_owned()
        }
    }

    /// Entries side by side in lines that fit; each is a sign in its colour and its text.
    pub(super) fn legend(&mut self, entries: &[(String, Color, String)]) {
        let (mut line, mut used) = (String::new(), 0);
        for (sign, color, text) in entries {
            let room = self.width.saturating_sub(sign.width() + 1);
            let text = self.text(text);
            let text = self.cell(&text, text.width().min(room), false);
            let width = sign.width() + 1 + text.width();
            if used > 0 && used + 3 + width > self.width {
                self.line(&std::mem::take(&mut line));
                used = 0;
            }
            if used > 0 {
                line += "   ";
                used += 3;
            }
            line += &format!("{} {text}", self.colored(sign, *color));
            used += width;
        }
        if used > 0 {
            self.line(&line);
        }
    }
}
