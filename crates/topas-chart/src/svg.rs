//! Pictures as SVG 1.1: no script, no style sheet, no external thing, no id, so that any number
//! of them can stand in one page.

use std::fmt::Write;

use super::font::FAMILIES;
use super::picture::{Anchor, Area, Picture, PictureItem, PictureText};
use super::words::clean;

impl Picture {
    /// The `svg` element, with a newline: a file of its own, or part of an HTML page as it is.
    ///
    /// Title and description are in it for those who cannot see it.
    pub fn svg(&self) -> String {
        let mut out = String::new();
        let (width, height) = (Number(self.width), Number(self.height));
        let (title, description) = (escape(&self.title), escape(&self.description));
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{title}\" \
             direction=\"ltr\" font-family=\"{FAMILIES}\">\n\
             <title>{title}</title>\n<desc>{description}</desc>",
        );
        for item in &self.items {
            write_item(&mut out, item);
        }
        out += "</svg>\n";
        out
    }
}

fn write_item(out: &mut String, item: &PictureItem) {
    match item {
        PictureItem::Group { kind, name, items } => {
            let _ = writeln!(out, "<g class=\"{kind}\" data-name=\"{}\">", escape(name));
            for item in items {
                write_item(out, item);
            }
            *out += "</g>\n";
        }
        PictureItem::Bar { area, fill, note } => {
            let Area { x, y, width, height } = *area;
            let [x, y, width, height] = [x, y, width, height].map(Number);
            let _ = write!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{}\"",
                fill.hex()
            );
            *out += &close("rect", note);
        }
        PictureItem::Cells { areas, fill } if !areas.is_empty() => {
            let cell = |area: &Area| {
                let Area { x, y, width, height } = *area;
                let [x, y, width, height, back] = [x, y, width, height, -width].map(Number);
                format!("M{x} {y}h{width}v{height}h{back}z")
            };
            let cells: String = areas.iter().map(cell).collect();
            let _ = writeln!(out, "<path d=\"{cells}\" fill=\"{}\"/>", fill.hex());
        }
        PictureItem::Polygons { parts, fill } if !parts.is_empty() => {
            let _ = writeln!(out, "<path d=\"{}\" fill=\"{}\"/>", path(parts, true), fill.hex());
        }
        PictureItem::Lines { parts, stroke, width, dashed } if !parts.is_empty() => {
            let dash = if *dashed { " stroke-dasharray=\"4 3\"" } else { "" };
            let _ = writeln!(
                out,
                "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}/>",
                path(parts, false),
                stroke.hex(),
                Number(*width)
            );
        }
        PictureItem::Dots { centers, radius, fill } if !centers.is_empty() => {
            let _ = writeln!(out, "<g fill=\"{}\">", fill.hex());
            for &(x, y) in centers {
                let [x, y, radius] = [x, y, *radius].map(Number);
                let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>");
            }
            *out += "</g>\n";
        }
        PictureItem::Cells { .. }
        | PictureItem::Polygons { .. }
        | PictureItem::Lines { .. }
        | PictureItem::Dots { .. } => (),
        PictureItem::Text(text) => write_text(out, text),
    }
}

fn write_text(out: &mut String, text: &PictureText) {
    let (x, y) = (Number(text.at.0), Number(text.at.1));
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", Number(text.font.size));
    if text.font.bold {
        *out += " font-weight=\"bold\"";
    }
    match text.anchor {
        Anchor::Start => (),
        Anchor::Middle => *out += " text-anchor=\"middle\"",
        Anchor::End => *out += " text-anchor=\"end\"",
    }
    let _ = write!(out, " fill=\"{}\">", text.color.hex());
    if !text.whole.is_empty() {
        let _ = write!(out, "<title>{}</title>", escape(&text.whole));
    }
    let _ = writeln!(out, "{}</text>", escape(&text.text));
}

/// End of an element that may hold a note.
fn close(element: &str, note: &str) -> String {
    if note.is_empty() {
        "/>\n".to_owned()
    } else {
        format!("><title>{}</title></{element}>\n", escape(note))
    }
}

/// Absolute moves and lines.
fn path(parts: &[Vec<(f64, f64)>], closed: bool) -> String {
    let mut out = String::new();
    for part in parts {
        for (at, &(x, y)) in part.iter().enumerate() {
            // Lines follow a move without a letter of their own.
            let sign = if at == 0 { "M" } else { " " };
            let _ = write!(out, "{sign}{} {}", Number(x), Number(y));
        }
        if closed {
            out.push('z');
        }
    }
    out
}

/// Text as content or as an attribute in double quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// A coordinate: two decimals at most, no needless sign, never an exponent.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if text == "-0" { "0" } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let text = |value: f64| Number(value).to_string();
        assert_eq!([0.0, -0.001, 1.5, 100.0, 1e6].map(text), ["0", "0", "1.5", "100", "1000000"]);
    }

    #[test]
    fn text_is_text() {
        assert_eq!(escape("<script>'&\"\u{1}"), "&lt;script&gt;&#39;&amp;&quot;\u{fffd}");
    }
}
