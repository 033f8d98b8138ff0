//! Pictures as PNG, by the fonts that are built in: the same on every node.

use png::{BitDepth, ColorType, Encoder, PixelDimensions, Unit};
use tiny_skia::{
    FillRule, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Stroke, StrokeDash, Transform,
};
use ttf_parser::{GlyphId, OutlineBuilder};
use unicode_bidi::BidiInfo;

use super::color::{Color, PAPER};
use super::font::face;
use super::picture::{Anchor, Picture, PictureItem, PictureText};

/// Pixels of a picture at most.
const MOST_PIXELS: f64 = 64e6;

/// Dots per metre of 96 per inch, the resolution of `scale` 1.
const DOTS_PER_METER: f64 = 96.0 / 0.0254;

impl Picture {
    /// A PNG file. `scale` is the number of its pixels for each of the picture's: 2 is right for
    /// screens of today and for print. It is lowered where the file would have more than
    /// 64 million pixels.
    ///
    /// Letters that the built-in fonts lack (they have Latin, Greek, Cyrillic and Hebrew ones) are
    /// empty boxes.
    pub fn png(&self, scale: f64) -> Vec<u8> {
        let most = (MOST_PIXELS / (self.width * self.height)).sqrt();
        let scale = if scale.is_finite() { scale.clamp(0.1, most.max(0.1)) } else { 1.0 };
        let pixels = |length: f64| (length * scale).round().max(1.0) as u32;
        let Some(mut canvas) = Pixmap::new(pixels(self.width), pixels(self.height)) else {
            return Vec::new();
        };
        canvas.fill(tiny_skia::Color::from_rgba8(PAPER.0, PAPER.1, PAPER.2, 255));
        let transform = Transform::from_scale(scale as f32, scale as f32);
        for item in &self.items {
            draw(&mut canvas, transform, item);
        }
        encode(&canvas, scale, self)
    }
}

/// RGB without alpha: the paper is opaque.
fn encode(canvas: &Pixmap, scale: f64, picture: &Picture) -> Vec<u8> {
    let rgb = |pixel: &PremultipliedColorU8| [pixel.red(), pixel.green(), pixel.blue()];
    let data: Vec<u8> = canvas.pixels().iter().flat_map(rgb).collect();
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, canvas.width(), canvas.height());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let dots = (DOTS_PER_METER * scale).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions { xppu: dots, yppu: dots, unit: Unit::Meter }));
    // Writing to a vector fails only for texts with a NUL, which are clean here.
    let _ = encoder.add_itxt_chunk("Title".to_owned(), picture.title.clone());
    let _ = encoder.add_itxt_chunk("Description".to_owned(), picture.description.clone());
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&data)?;
        writer.finish()
    });
    debug_assert!(written.is_ok(), "{written:?}");
    out
}

fn draw(canvas: &mut Pixmap, transform: Transform, item: &PictureItem) {
    match item {
        PictureItem::Group { items, .. } => {
            items.iter().for_each(|item| draw(canvas, transform, item))
        }
        PictureItem::Bar { area, fill, .. } => {
            fill_path(canvas, transform, polygons([area.points().as_slice()], true), *fill);
        }
        PictureItem::Cells { areas, fill } => {
            let corners: Vec<_> = areas.iter().map(|area| area.points()).collect();
            let path = polygons(corners.iter().map(Vec::as_slice), true);
            fill_path(canvas, transform, path, *fill);
        }
        PictureItem::Polygons { parts, fill } => {
            let path = polygons(parts.iter().map(Vec::as_slice), true);
            fill_path(canvas, transform, path, *fill);
        }
        PictureItem::Lines { parts, stroke, width, dashed } => {
            let dash = if *dashed { StrokeDash::new(vec![4.0, 3.0], 0.0) } else { None };
            let kind = Stroke { width: *width as f32, dash, ..Stroke::default() };
            if let Some(path) = polygons(parts.iter().map(Vec::as_slice), false) {
                canvas.stroke_path(&path, &paint(*stroke), &kind, transform, None);
            }
        }
        PictureItem::Dots { centers, radius, fill } => {
            let mut builder = PathBuilder::new();
            for &(x, y) in centers {
                builder.push_circle(x as f32, y as f32, *radius as f32);
            }
            fill_path(canvas, transform, builder.finish(), *fill);
        }
        PictureItem::Text(text) => fill_path(canvas, transform, letters(text), text.color),
    }
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(color.0, color.1, color.2, 255);
    paint
}

fn fill_path(canvas: &mut Pixmap, transform: Transform, path: Option<Path>, color: Color) {
    if let Some(path) = path {
        canvas.fill_path(&path, &paint(color), FillRule::Winding, transform, None);
    }
}

fn polygons<'a>(parts: impl IntoIterator<Item = &'a [(f64, f64)]>, closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for part in parts {
        for (at, &(x, y)) in part.iter().enumerate() {
            let (x, y) = (x as f32, y as f32);
            if at == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
        }
        if closed {
            builder.close();
        }
    }
    builder.finish()
}

/// Outlines of a text.
fn letters(text: &PictureText) -> Option<Path> {
    let start = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => text.font.width(&text.text) / 2.0,
        Anchor::End => text.font.width(&text.text),
    };
    let face = face(text.font.bold)?;
    let scale = text.font.size / f64::from(face.units_per_em());
    let mut pen = Pen { builder: PathBuilder::new(), x: text.at.0 - start, y: text.at.1, scale };
    for c in in_order(&text.text).chars() {
        let advance = text.font.advance(c) * text.font.size;
        match face.glyph_index(c) {
            Some(glyph) => {
                face.outline_glyph(glyph, &mut pen);
            }
            None if advance > 0.0 => missing(&mut pen, face, advance),
            None => (),
        }
        pen.x += advance;
    }
    pen.builder.finish()
}

/// The letters from left to right.
fn in_order(text: &str) -> String {
    let info = BidiInfo::new(text, Some(unicode_bidi::Level::ltr()));
    match info.paragraphs.first() {
        Some(line) if info.has_rtl() => info.reorder_line(line, line.range.clone()).into_owned(),
        _ => text.to_owned(),
    }
}

/// The font's sign for what it lacks, in the middle of the room.
fn missing(pen: &mut Pen, face: &ttf_parser::Face<'_>, advance: f64) {
    let sign = GlyphId(0);
    let width = f64::from(face.glyph_hor_advance(sign).unwrap_or(0)) * pen.scale;
    let before = pen.x;
    pen.x += (advance - width) / 2.0;
    face.outline_glyph(sign, pen);
    pen.x = before;
}

/// Draws glyphs where it stands; fonts have y upwards.
struct Pen {
    builder: PathBuilder,
    x: f64,
    y: f64,
    scale: f64,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        let at = |start: f64, offset: f32| (start + f64::from(offset) * self.scale) as f32;
        (at(self.x, x), at(self.y, -y))
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) =
            (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hebrew_is_written_from_the_right() {
        assert_eq!(in_order("node1"), "node1");
        assert_eq!(in_order("\u{5d0}\u{5d1}\u{5d2} 12"), "12 \u{5d2}\u{5d1}\u{5d0}");
        assert_eq!(in_order("x \u{5d0}\u{5d1}"), "x \u{5d1}\u{5d0}");
        assert_eq!(in_order(""), "");
    }
}
