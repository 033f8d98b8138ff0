//! What pictures promise, read back from them by readers of XML and PNG that are not ours.

mod samples;

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use roxmltree::{Document, Node};
use topas_chart::{
    Arrangement, AxisUnit, BarBucket, BarPlaces, Bars, Chart, Picture, Quantity, Screen, Series,
    Size,
};
use ttf_parser::Face;

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap_or_else(|| panic!("no {name}: {node:?}")).parse().unwrap()
}

/// Width and height of a picture.
fn size(document: &Document<'_>) -> (f64, f64) {
    let root = document.root_element();
    let view: Vec<f64> =
        root.attribute("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    assert_eq!(view, [0.0, 0.0, number(root, "width"), number(root, "height")]);
    (view[2], view[3])
}

/// Fonts, read apart from the code that draws.
struct Fonts([Vec<u8>; 2]);

impl Fonts {
    fn load() -> Self {
        let fonts = Path::new(env!("CARGO_MANIFEST_DIR")).join("fonts");
        Fonts(
            ["Arimo-Regular.ttf", "Arimo-Bold.ttf"].map(|f| std::fs::read(fonts.join(f)).unwrap()),
        )
    }

    /// Width of the letters that are known, at least.
    fn width(&self, text: &str, size: f64, bold: bool) -> f64 {
        let face = Face::parse(&self.0[usize::from(bold)], 0).unwrap();
        let advance = |c| face.glyph_hor_advance(face.glyph_index(c)?);
        let units: u32 = text.chars().filter_map(advance).map(u32::from).sum();
        f64::from(units) * size / f64::from(face.units_per_em())
    }
}

/// Well-formed, nothing active, nothing from elsewhere, text inside.
fn check(name: &str, svg: &str) {
    let document = Document::parse(svg).unwrap_or_else(|e| panic!("{name}: {e}\n{svg}"));
    let (width, height) = size(&document);
    let root = document.root_element();
    let child = |tag: &str| {
        root.children().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", tag)))
    };
    for tag in ["title", "desc"] {
        assert!(child(tag).is_some(), "{name}: no {tag}");
    }
    assert_eq!(root.attribute("role"), Some("img"));
    let fonts = Fonts::load();
    for node in document.descendants().filter(Node::is_element) {
        let tag = node.tag_name().name();
        let known = ["svg", "title", "desc", "g", "rect", "path", "circle", "text"];
        assert!(known.contains(&tag), "{name}: <{tag}>");
        for attribute in node.attributes() {
            let key = attribute.name();
            assert!(key != "id" && key != "style" && !key.starts_with("on"), "{name}: {key}");
            assert!(!key.contains("href") && !attribute.value().contains("url("), "{name}: {key}");
            assert!(!attribute.value().contains("NaN") && !attribute.value().contains("inf "));
        }
        if tag == "text" {
            let text: String =
                node.children().filter(Node::is_text).filter_map(|t| t.text()).collect();
            let (x, y, font) = (number(node, "x"), number(node, "y"), number(node, "font-size"));
            let wide = fonts.width(&text, font, node.attribute("font-weight").is_some());
            let left = match node.attribute("text-anchor") {
                None => x,
                Some("middle") => x - wide / 2.0,
                Some("end") => x - wide,
                Some(other) => panic!("{name}: {other}"),
            };
            let inside =
                left > -0.5 && left + wide < width + 0.5 && y - font * 0.7 > 0.0 && y < height;
            assert!(
                inside,
                "{name}: {text:?} from {left} to {} at {y} in {width} x {height}",
                left + wide
            );
        }
        if tag == "rect" {
            let (x, y) = (number(node, "x"), number(node, "y"));
            let (right, bottom) = (x + number(node, "width"), y + number(node, "height"));
            let inside = x >= 0.0 && y >= 0.0 && right <= width + 0.02 && bottom <= height + 0.02;
            assert!(inside, "{name}: {node:?}");
        }
    }
}

#[test]
fn every_picture_is_sound_in_every_size() {
    for (name, chart) in samples::all() {
        for (width, height) in [(800.0, 450.0), (240.0, 160.0), (0.0, f64::NAN), (2000.0, 300.0)] {
            check(name, &chart.picture(Size { width, height }).svg());
        }
    }
}

#[test]
fn characters_fit_and_do_not_steer() {
    for (name, chart) in samples::all() {
        for (width, unicode) in [(80, true), (30, false), (132, true), (1, true)] {
            let text = chart.terminal(Screen { width, unicode, color: false });
            assert!(text.ends_with('\n'), "{name}");
            assert!(unicode || text.is_ascii(), "{name}: {text}");
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{name}: {text:?}");
            // A word without a blank is not broken, as links are not.
            let wide = |line: &str| {
                unicode_width::UnicodeWidthStr::width(line) > width.max(30) && line.contains(' ')
            };
            let long: Vec<&str> = text.lines().filter(|line| wide(line)).collect();
            assert!(long.is_empty(), "{name} in {width}: {long:#?}");
        }
        // Colour adds nothing but colour.
        let screen = Screen { width: 80, unicode: true, color: true };
        let colored = chart.terminal(screen);
        let plain = chart.terminal(Screen { color: false, ..screen });
        assert_eq!(without_colors(&colored), plain, "{name}");
    }
}

fn without_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| out + part.split_once('m').map_or("", |(_, rest)| rest))
}

/// Left, top, width and height.
type Edges = (f64, f64, f64, f64);

/// The bars of each series.
fn bars_of(svg: &str) -> Vec<(String, Vec<Edges>)> {
    let document = Document::parse(svg).unwrap();
    let series = document.descendants().filter(|node| node.attribute("class") == Some("series"));
    let bars = series.map(|group| {
        let rects = group
            .children()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "rect")));
        let area = |r| (number(r, "x"), number(r, "y"), number(r, "width"), number(r, "height"));
        (group.attribute("data-name").unwrap().to_owned(), rects.map(area).collect())
    });
    bars.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Areas tell values, and parts of a stack meet.
    #[test]
    fn areas_are_proportional(
        values in prop::collection::vec(prop::collection::vec(0.0f64..1.0, 6), 1..5),
        scale in prop_oneof![Just(1e-12), Just(1.0), Just(1e18)],
        upright in any::<bool>(),
    ) {
        let places = if upright {
            BarPlaces::even(50.0, &[0, 1, 2, 3, 4, 5])
        } else {
            BarPlaces::Categories((0..6).map(|at| format!("a name of a category that is too long to stand below a bar, {at}")).collect())
        };
        let unit = AxisUnit::Si("op/s");
        let mut bars = Bars::new(places, Quantity::new("x", AxisUnit::Count), Quantity::new("y", unit));
        bars.series = values.iter().enumerate()
            .map(|(at, v)| Series::new(format!("s{at}"), v.iter().map(|v| Some(v * scale))))
            .collect();
        let svg = bars.picture(Size { width: 1600.0, height: 900.0 }).svg();
        let drawn = bars_of(&svg);
        prop_assert_eq!(drawn.len(), values.len());
        let along = |&(x, y, ..): &Edges| if upright { x } else { y };
        let long = |&(_, _, w, h): &Edges| if upright { h } else { w };
        let highest = (0..6).map(|at| values.iter().map(|v| v[at]).sum::<f64>()).fold(0.0, f64::max);
        // The length of 1, told by the largest stack.
        let mut slots = std::collections::BTreeMap::<i64, f64>::new();
        for (_, bars) in &drawn {
            for bar in bars {
                *slots.entry((along(bar) * 10.0) as i64).or_default() += long(bar);
            }
        }
        let longest = slots.values().copied().fold(0.0, f64::max);
        prop_assert!(longest > 100.0);
        let factor = longest / highest;
        for (at, (name, bars)) in drawn.iter().enumerate() {
            prop_assert_eq!(name, &format!("s{at}"));
            let seen: Vec<f64> = values[at].iter().copied().filter(|v| v * factor > 0.03).collect();
            let kept: Vec<f64> = bars.iter().map(long).filter(|&l| l > 0.02).collect();
            if seen.len() == kept.len() {
                for (value, length) in seen.iter().zip(kept) {
                    prop_assert!((value * factor - length).abs() < 0.05, "{value} {length}");
                }
            } else {
                // Only what is about as thin as the rounding may differ.
                prop_assert!(seen.len().abs_diff(kept.len()) <= 1);
            }
        }
        // Each part begins where the one before it ends.
        for pair in drawn.windows(2) {
            if pair[0].1.len() == 6 && pair[1].1.len() == 6 {
                for (below, above) in pair[0].1.iter().zip(&pair[1].1) {
                    let gap = if upright { below.1 - (above.1 + above.3) } else { above.0 - (below.0 + below.2) };
                    prop_assert!(gap.abs() < 0.011, "{below:?} {above:?}");
                }
            }
        }
    }

    /// Whatever is in it, a picture is sound, and the screen gets no controls.
    #[test]
    fn anything_can_be_drawn(
        names in prop::collection::vec(any::<String>(), 1..30),
        values in prop::collection::vec(prop::option::of(any::<f64>()), 0..40),
        title in any::<String>(),
        stacked in any::<bool>(),
        buckets in prop::collection::vec((prop::option::of(any::<f64>()), prop::option::of(any::<f64>())), 0..12),
        categories in any::<bool>(),
    ) {
        let places = if categories {
            BarPlaces::Categories(names.clone())
        } else {
            BarPlaces::Buckets(buckets.into_iter().map(|(from, to)| BarBucket { from, to }).collect())
        };
        let mut bars = Bars::new(places, Quantity::new(title.clone(), AxisUnit::Percent), Quantity::new("y", AxisUnit::Plain("h")));
        bars.arrangement = if stacked { Arrangement::Stacked } else { Arrangement::Beside };
        bars.caption.title = title;
        bars.series = names.iter().take(5).map(|n| Series::new(n.clone(), values.iter().copied())).collect();
        check("bars", &bars.picture(Size::default()).svg());
        let text = bars.terminal(Screen { width: 80, unicode: true, color: false });
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));

        let strip = topas_chart::HeatStrip {
            extremes: vec![0, 3, 1000],
            ..topas_chart::HeatStrip::new(Quantity::new("r", AxisUnit::Si("op/s")), values.clone())
        };
        check("heat", &strip.picture(Size::default()).svg());
        strip.terminal(Screen { width: 80, unicode: false, color: true });

        let mut points = topas_chart::Points::new(Quantity::new("r", AxisUnit::Count), values.clone());
        points.extremes = vec![0, 3, 1000];
        points.first = u64::MAX - 10;
        points.joined = stacked;
        check("points", &points.picture(Size::default()).svg());
        points.terminal(Screen { width: 40, unicode: false, color: true });

        let members = values.iter().flatten().map(|&v| (v, "m".to_owned()));
        let groups = topas_chart::BoxGroup::of(names[0].clone(), members).into_iter().collect();
        let plot = topas_chart::BoxPlot::new(Quantity::new("r", AxisUnit::Si("s")), groups);
        check("boxes", &plot.picture(Size::default()).svg());
        plot.terminal(Screen { width: 40, unicode: true, color: true });
    }
}

#[test]
fn a_thousand_buckets_are_all_drawn() {
    let mut bars = Bars::new(
        BarPlaces::even(1.0, &(0..1000).collect::<Vec<_>>()),
        Quantity::new("Rate", AxisUnit::Plain("MFlop/s")),
        Quantity::new("Runs", AxisUnit::Count),
    );
    bars.series = vec![Series::new("", (0..1000).map(|at| Some(f64::from(at % 17 + 1))))];
    let svg = bars.picture(Size::default()).svg();
    check("thousand", &svg);
    assert_eq!(bars_of(&svg)[0].1.len(), 1000);
    let text = bars.terminal(Screen { width: 80, unicode: true, color: false });
    assert!(text.lines().count() > 1000);
}

#[test]
fn what_was_not_drawn_is_said() {
    let mut bars = Bars::new(
        BarPlaces::Categories((0..100).map(|at| format!("user{at}")).collect()),
        Quantity::new("User", AxisUnit::Count),
        Quantity::new("PE hours", AxisUnit::Plain("h")),
    );
    bars.series = vec![Series::new("", (0..100).map(|at| Some(f64::from(at))))];
    bars.series[0].values[3] = Some(f64::NAN);
    let svg = bars.picture(Size::default()).svg();
    for words in ["other (61)", "1 value cannot be drawn"] {
        assert!(svg.contains(words), "{words}");
    }
    // The others' sum: 0 to 60 without 3.
    assert!(svg.contains("other (61): 1827"), "{svg}");
}

struct Pixels {
    width: u32,
    height: u32,
    data: Vec<u8>,
}

fn decode(png: &[u8]) -> Pixels {
    let mut reader = png::Decoder::new(Cursor::new(png)).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    Pixels { width: info.width, height: info.height, data }
}

impl Pixels {
    fn at(&self, x: f64, y: f64) -> [u8; 3] {
        let at = (y as usize * self.width as usize + x as usize) * 3;
        self.data[at..at + 3].try_into().unwrap()
    }
}

/// The PNG has the colours of the SVG where bars are, and white in the corners.
#[test]
fn png_and_svg_are_one_picture() {
    for (name, chart) in samples::all() {
        let picture = chart.picture(Size::default());
        let (svg, scale) = (picture.svg(), 2.0);
        let document = Document::parse(&svg).unwrap();
        let (width, height) = size(&document);
        let pixels = decode(&picture.png(scale));
        assert_eq!(
            (f64::from(pixels.width), f64::from(pixels.height)),
            (width * scale, height * scale)
        );
        assert_eq!(pixels.at(0.0, 0.0), [255; 3]);
        assert_eq!(pixels.at(width * scale - 1.0, height * scale - 1.0), [255; 3]);
        let series = document.descendants().filter(|node| {
            node.has_tag_name(("http://www.w3.org/2000/svg", "rect"))
                && node.parent().is_some_and(|group| group.attribute("class") == Some("series"))
        });
        let mut looked = 0;
        // The first eight series have no hatching.
        for bar in series {
            let group = bar.parent().unwrap();
            if group
                .children()
                .any(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "path")))
            {
                continue;
            }
            let (wide, high) = (number(bar, "width"), number(bar, "height"));
            if wide >= 2.0 && high >= 2.0 {
                let (x, y) = (number(bar, "x") + wide / 2.0, number(bar, "y") + high / 2.0);
                let fill = bar.attribute("fill").unwrap();
                let channel = |at: usize| u8::from_str_radix(&fill[at..at + 2], 16).unwrap();
                let [r, g, b] = pixels.at(x * scale, y * scale);
                assert_eq!([r, g, b], [channel(1), channel(3), channel(5)], "{name} at {x} {y}");
                looked += 1;
            }
        }
        assert!(looked > 0 || !name.starts_with("bars") || name == "bars-empty", "{name}");
    }
}

#[test]
fn a_png_has_the_pixels_that_were_asked_for_within_reason() {
    let picture = samples::stacked().picture(Size::default());
    let size = |scale| {
        let pixels = decode(&picture.png(scale));
        (pixels.width, pixels.height)
    };
    assert_eq!(size(1.0), (800, 450));
    assert_eq!(size(0.5), (400, 225));
    assert_eq!(size(f64::NAN), (800, 450));
    assert_eq!(size(-3.0), (80, 45));
    assert_eq!(picture.png(2.0), picture.png(2.0));
}

/// Program's standard output for `input`, or None if there is no such program here.
fn piped(program: &str, arguments: &[&str], input: &str) -> Option<Vec<u8>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(out.status.success(), "{program}: {}", out.status);
    Some(out.stdout)
}

fn skipped(test: &str, program: &str) {
    // Nobody can be told if standard error is closed.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {program} is missing");
}

#[test]
fn libxml_finds_no_fault() {
    for (_, chart) in samples::all() {
        let svg = chart.picture(Size::default()).svg();
        if piped("xmllint", &["--noout", "--nonet", "-"], &svg).is_none() {
            return skipped("libxml_finds_no_fault", "xmllint");
        }
    }
}

/// Another renderer makes nearly the same pixels of the SVG as we do.
#[test]
fn librsvg_sees_the_same_picture() {
    for (name, chart) in samples::all() {
        let picture: Picture = chart.picture(Size::default());
        let Some(theirs) =
            piped("rsvg-convert", &["--format=png", "--background-color=white"], &picture.svg())
        else {
            return skipped("librsvg_sees_the_same_picture", "rsvg-convert");
        };
        let theirs = any_png(&theirs);
        let ours = decode(&picture.png(1.0));
        assert_eq!((theirs.width, theirs.height), (ours.width, ours.height), "{name}");
        let far =
            ours.data.iter().zip(&theirs.data).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>();
        let mean = far as f64 / ours.data.len() as f64;
        // Text is drawn by other fonts of the same widths, edges by another rule.
        assert!(mean < 3.0, "{name}: pixels differ by {mean:.2} of 255 on average");
    }
}

/// Likewise with an alpha channel, which is dropped.
fn any_png(png: &[u8]) -> Pixels {
    let mut decoder = png::Decoder::new(Cursor::new(png));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    let step = info.color_type.samples();
    let data =
        data.chunks(step).flat_map(|p| [p[0], p[1.min(step - 1)], p[2.min(step - 1)]]).collect();
    Pixels { width: info.width, height: info.height, data }
}

/// A browser shows the picture, as a file and inside a page, with its own fonts.
#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_shows_it() {
    let picture = samples::stacked().picture(Size::default());
    let directory = std::env::temp_dir().join(format!("topas-pictures-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let page = format!(
        "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>x</title>\
         <style>body{{margin:0}}svg{{display:block}}</style>{}</html>",
        picture.svg()
    );
    let ours = decode(&picture.png(1.0));
    for (file, text) in [("picture.svg", picture.svg()), ("page.html", page)] {
        let path: PathBuf = directory.join(file);
        std::fs::write(&path, text).unwrap();
        let shot = directory.join("shot.png");
        let status = Command::new("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .arg(format!("--window-size={},{}", ours.width, ours.height))
            .arg(format!("--screenshot={}", shot.display()))
            .arg(format!("file://{}", path.display()))
            .stderr(Stdio::null())
            .status()
            .expect("chromium");
        assert!(status.success());
        let theirs = any_png(&std::fs::read(&shot).unwrap());
        assert_eq!((theirs.width, theirs.height), (ours.width, ours.height), "{file}");
        let far =
            ours.data.iter().zip(&theirs.data).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>();
        let mean = far as f64 / ours.data.len() as f64;
        assert!(mean < 3.0, "{file}: pixels differ by {mean:.2} of 255 on average");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
