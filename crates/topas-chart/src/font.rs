//! Widths of text, by the fonts that are built in.
//!
//! They have the widths of Arial, Helvetica and Liberation Sans, which an SVG names, so the
//! room that is kept for text is right whoever draws it.

use std::sync::OnceLock;

use ttf_parser::Face;
use unicode_width::UnicodeWidthChar;

/// Families that an SVG asks for, all of the same widths but the last.
pub(crate) const FAMILIES: &str = "Arimo, Arial, Helvetica, 'Liberation Sans', sans-serif";

/// Height of a line, in sizes of its font.
pub(crate) const LINE: f64 = 1.3;

/// From the baseline to the top of capitals, in sizes of the font.
pub(crate) const CAPITAL: f64 = 0.716;

/// Size of a font in px, and whether it is bold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Type {
    pub(crate) size: f64,
    pub(crate) bold: bool,
}

impl Type {
    pub(crate) const fn regular(size: f64) -> Self {
        Type { size, bold: false }
    }

    pub(crate) const fn bold(size: f64) -> Self {
        Type { size, bold: true }
    }

    /// Width of `text` in px. Letters that the fonts lack are taken wide.
    pub(crate) fn width(self, text: &str) -> f64 {
        text.chars().map(|c| self.advance(c)).sum::<f64>() * self.size
    }

    /// `text`, or as much of its beginning as fits into `room` px, and `…`.
    pub(crate) fn fit(self, text: &str, room: f64) -> String {
        if self.width(text) <= room {
            return text.to_owned();
        }
        let room = room - self.width("…");
        let mut used = 0.0;
        let kept = text.chars().take_while(|&c| {
            used += self.advance(c) * self.size;
            used <= room
        });
        let kept: String = kept.collect();
        kept.trim_end().to_owned() + "…"
    }

    /// `text` in lines of at most `room` px, broken at blanks, in long words anywhere.
    pub(crate) fn wrap(self, text: &str, room: f64) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if self.width(&longer) <= room {
                line = longer;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            for c in word.chars() {
                line.push(c);
                if self.width(&line) > room && line.chars().count() > 1 {
                    line.pop();
                    lines.push(std::mem::replace(&mut line, c.to_string()));
                }
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
        lines
    }

    /// Width of one character, in sizes of the font.
    pub(crate) fn advance(self, c: char) -> f64 {
        let face = face(self.bold);
        let known = face.and_then(|face| {
            let glyph = face.glyph_index(c)?;
            Some(f64::from(face.glyph_hor_advance(glyph)?) / f64::from(face.units_per_em()))
        });
        known.unwrap_or_else(|| match c.width() {
            Some(0) => 0.0,
            Some(2) => 1.25,
            _ => 0.75,
        })
    }
}

/// The font that is built in.
pub(crate) fn face(bold: bool) -> Option<&'static Face<'static>> {
    static REGULAR: OnceLock<Option<Face<'static>>> = OnceLock::new();
    static BOLD: OnceLock<Option<Face<'static>>> = OnceLock::new();
    let (cell, bytes): (_, &'static [u8]) = if bold {
        (&BOLD, include_bytes!("../fonts/Arimo-Bold.ttf"))
    } else {
        (&REGULAR, include_bytes!("../fonts/Arimo-Regular.ttf"))
    };
    cell.get_or_init(|| Face::parse(bytes, 0).ok()).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: Type = Type::regular(10.0);

    #[test]
    fn widths_are_those_of_arial() {
        // From the metrics of Helvetica: H 0.722, e 0.556, l 0.222, o 0.556.
        let width = TYPE.width("Hello");
        assert!((width - 10.0 * (0.722 + 0.556 + 2.0 * 0.222 + 0.556)).abs() < 0.02, "{width}");
        assert!(Type::bold(10.0).width("Hello") > width);
        assert!(TYPE.width("漢") >= 10.0);
        assert_eq!(TYPE.width("e\u{301}"), TYPE.width("e"));
    }

    #[test]
    fn text_that_is_too_long_says_so() {
        assert_eq!(TYPE.fit("short", 100.0), "short");
        let cut = TYPE.fit(&"x".repeat(60), 100.0);
        assert!(cut.ends_with('…') && TYPE.width(&cut) <= 100.0, "{cut}");
    }

    #[test]
    fn lines_are_broken_and_nothing_lost() {
        let text = format!("a few words and {} to break", "l".repeat(80));
        let lines = TYPE.wrap(&text, 100.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| TYPE.width(line) <= 100.0), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        assert!(TYPE.wrap("", 100.0).is_empty());
        assert_eq!(TYPE.wrap("ab", 0.0), ["a", "b"]);
    }
}
