//! What strips, boxes and points show, against the numbers they were given.

use roxmltree::{Document, Node};
use topas_chart::{
    AxisUnit, BarPlaces, Bars, BoxGroup, Chart, HeatMatrix, HeatStrip, Points, Quantity, Screen,
    Series, Size,
};

const SVG: &str = "http://www.w3.org/2000/svg";

/// Values, and what numpy says of them.
const VALUES: [f64; 16] = [
    96.115, 96.163, 96.346, 96.246, 96.016, 96.179, 96.118, 96.195, 96.019, 96.204, 96.204, 96.338,
    96.212, 96.231, 95.1, 97.218,
];
const QUARTILES: [f64; 3] = [96.11725, 96.1995, 96.23475];
const WHISKERS: (f64, f64) = (96.016, 96.346);
const EXTREMES: [f64; 2] = [95.1, 97.218];

fn group<'a, 'i>(document: &'a Document<'i>, class: &str) -> Node<'a, 'i> {
    document.descendants().find(|node| node.attribute("class") == Some(class)).unwrap()
}

fn texts(node: Node<'_, '_>) -> Vec<String> {
    let texts = node.descendants().filter(|n| n.has_tag_name((SVG, "text")));
    texts.map(|n| n.text().unwrap_or_default().to_owned()).collect()
}

fn rects<'a, 'i: 'a>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.descendants().filter(|n| n.has_tag_name((SVG, "rect")))
}

/// Each cell has the colour of the class in the legend that its value is in, and the numbers in
/// the legend are how often that is so.
#[test]
fn cells_have_the_colour_of_their_class() {
    let rate = |at: u32| 96e6 + f64::from(at * 7919 % 101) * 1e4;
    let mut values: Vec<Option<f64>> = (0..64).map(|at| Some(rate(at))).collect();
    (values[9], values[32], values[61]) = (Some(91e6), Some(99e6), None);
    let mut strip = HeatStrip::new(Quantity::new("Rate", AxisUnit::Si("Flop/s")), values.clone());
    strip.first = 100;
    let svg = strip.picture(Size::default()).svg();
    let document = Document::parse(&svg).unwrap();
    let legend = group(&document, "legend");
    let words = texts(legend);
    let entries = rects(legend).zip(words.chunks(2));
    let classes: Vec<(String, f64, f64, usize)> = entries
        .filter(|(_, words)| words[0] != "not measured")
        .map(|(swatch, words)| {
            let number = |text: &str| text.parse::<f64>().unwrap() * 1e6;
            let (low, high) = match (words[0].strip_prefix('<'), words[0].strip_prefix('≥')) {
                (Some(high), _) => (f64::NEG_INFINITY, number(high)),
                (_, Some(low)) => (number(low), f64::INFINITY),
                _ => words[0].split_once('–').map(|(a, b)| (number(a), number(b))).unwrap(),
            };
            let count = words[1].trim_matches(['(', ')']).parse().unwrap();
            (swatch.attribute("fill").unwrap().to_owned(), low, high, count)
        })
        .collect();
    assert!((5..=10).contains(&classes.len()), "{classes:?}");
    let mut seen = vec![0; classes.len()];
    for (at, (cell, value)) in rects(group(&document, "cells")).zip(&values).enumerate() {
        let note = cell.first_element_child().unwrap().text().unwrap();
        assert!(note.starts_with(&format!("PE {}: ", at + 100)), "{note}");
        let fill = cell.attribute("fill").unwrap();
        match value {
            Some(value) => {
                let class = classes.iter().position(|class| class.0 == fill).unwrap();
                let (_, low, high, _) = classes[class];
                assert!(low <= *value && *value < high, "{value} in {low} to {high}");
                seen[class] += 1;
            }
            None => assert!(note.ends_with("not measured") && !classes.iter().any(|c| c.0 == fill)),
        }
    }
    assert_eq!(seen, classes.iter().map(|class| class.3).collect::<Vec<_>>());
    assert_eq!(seen.iter().sum::<usize>(), 63);
}

#[test]
fn a_million_cells_are_put_together_and_the_extremes_still_seen() {
    let mut values = vec![Some(10.0); 1_000_000];
    values[777_777] = Some(1.0);
    values[5] = None;
    let mut strip = HeatStrip::new(Quantity::new("Rate", AxisUnit::Plain("MFlop/s")), values);
    strip.extremes = vec![777_777];
    let svg = strip.picture(Size::default()).svg();
    assert!(svg.len() < 400_000, "{}", svg.len());
    for words in ["A cell stands for 128 PEs", "PE 777777: 1", "1 of 1000000 PEs were not measured"]
    {
        assert!(svg.contains(words), "{words}");
    }
    let text = strip.terminal(Screen { width: 80, unicode: true, color: false });
    assert_eq!(text.matches('▼').count(), 2, "the sign and its note:\n{text}");
    assert!(text.lines().count() < 80);
}

/// Rows of the strip are what was asked for: the PEs of a host.
#[test]
fn rows_are_hosts() {
    let values = (0..96).map(|at| Some(f64::from(at / 24))).collect();
    let mut strip = HeatStrip::new(Quantity::new("x", AxisUnit::Count), values);
    strip.per_row = Some(24);
    let svg = strip.picture(Size::default()).svg();
    let document = Document::parse(&svg).unwrap();
    let mut rows = std::collections::BTreeMap::<String, std::collections::BTreeSet<String>>::new();
    for cell in rects(group(&document, "cells")) {
        let row = rows.entry(cell.attribute("y").unwrap().to_owned()).or_default();
        row.insert(cell.attribute("fill").unwrap().to_owned());
    }
    assert_eq!(rows.len(), 4);
    assert!(rows.values().all(|colors| colors.len() == 1));
}

/// By numpy: quantile(v, [.25, .5, .75]) and the values within 1.5 times their range.
#[test]
fn boxes_are_those_of_numpy() {
    let values = VALUES.map(|v| (v, v.to_string()));
    let group = BoxGroup::of("g", values).unwrap();
    assert_eq!(group.count, 16);
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    near(group.q25, QUARTILES[0]);
    near(group.median, QUARTILES[1]);
    near(group.q75, QUARTILES[2]);
    assert_eq!((group.low, group.high), WHISKERS);
    let extremes: Vec<f64> = group.extremes.iter().map(|(value, _)| *value).collect();
    assert_eq!(extremes, EXTREMES);
    assert!(BoxGroup::of("none", [(f64::NAN, String::new())]).is_none());
}

/// Dots are where their values are between the numbers of the axis.
#[test]
fn points_are_where_their_values_are() {
    let values: Vec<f64> = (0..50).map(|at| f64::from(at * at % 37)).collect();
    let points = Points::new(
        Quantity::new("y", AxisUnit::Count),
        values.iter().copied().map(Some).collect(),
    );
    let svg = points.picture(Size::default()).svg();
    let document = Document::parse(&svg).unwrap();
    let number = |node: Node<'_, '_>, key| node.attribute(key).unwrap().parse::<f64>().unwrap();
    // Two numbers of the axis and the lines they stand at.
    let axis = group(&document, "axis");
    let ticks: Vec<(f64, f64)> = axis
        .children()
        .filter(|node| node.has_tag_name((SVG, "text")))
        .filter_map(|node| Some((node.text()?.replace('−', "-").parse().ok()?, number(node, "y"))))
        .collect();
    let ((low, bottom), (high, top)) = (ticks[0], ticks[ticks.len() - 1]);
    assert!(low < high && top < bottom);
    // Numbers are half a capital below their line.
    let capital = 12.0 * 0.716 / 2.0;
    let mut dots = document.descendants().filter(|node| node.has_tag_name((SVG, "circle")));
    let mut before = 0.0;
    for value in &values {
        let dot = dots.next().unwrap();
        let expected = bottom + (value - low) / (high - low) * (top - bottom) - capital;
        assert!((number(dot, "cy") - expected).abs() < 0.05, "{value}");
        assert!(number(dot, "cx") > before);
        before = number(dot, "cx");
    }
    assert!(dots.next().is_none());
}

/// Lengths of bars of characters are proportional, to half a character.
#[test]
fn bars_of_characters_are_proportional() {
    let values = [100.0, 50.0, 25.0, 3.0, 0.0];
    let mut bars = Bars::new(
        BarPlaces::even(10.0, &[0, 1, 2, 3, 4]),
        Quantity::new("x", AxisUnit::Count),
        Quantity::new("y", AxisUnit::Count),
    );
    bars.series = vec![Series::new("", values.map(Some))];
    for (unicode, sign) in [(true, '█'), (false, '#')] {
        let text = bars.terminal(Screen { width: 100, unicode, color: false });
        let lengths: Vec<f64> =
            text.lines().skip(2).map(|line| line.matches(sign).count() as f64).collect();
        assert_eq!(lengths.len(), values.len(), "{text}");
        for (value, length) in values.iter().zip(&lengths) {
            assert!((length - value / 100.0 * lengths[0]).abs() <= 1.0, "{text}");
        }
        assert!(lengths[0] > 70.0);
    }
}

/// Each cell of a matrix has the colour of the class that its value is in, cells without values
/// have none, and the numbers in the legend are how often that is so.
#[test]
fn cells_of_a_matrix_are_those_of_their_pairs() {
    let mut matrix = HeatMatrix::new(Quantity::new("Bytes", AxisUnit::Si("B")), 9);
    let value = |row: u32, column: u32| f64::from((row * 7 + column * 3) % 11) * 1e3;
    for (row, column) in (0..9).flat_map(|row| (0..9).map(move |column| (row, column))) {
        if value(row, column) > 0.0 {
            matrix.values.push((row, column, value(row, column)));
        }
    }
    let svg = matrix.picture(Size::default()).svg();
    let document = Document::parse(&svg).unwrap();
    let legend = group(&document, "legend");
    let words = texts(legend);
    let number = |text: &str| {
        let (number, unit) = text.split_once('\u{202f}').unwrap();
        number.parse::<f64>().unwrap() * if unit == "kB" { 1e3 } else { 1.0 }
    };
    let classes: Vec<(String, f64, f64, usize)> = rects(legend)
        .zip(words.chunks(2))
        .skip(1)
        .map(|(swatch, words)| {
            let (low, high) = words[0].split_once('–').unwrap();
            let fill = swatch.attribute("fill").unwrap().to_owned();
            let count = words[1].trim_matches(['(', ')']).parse().unwrap();
            (fill, number(low), number(high), count)
        })
        .collect();
    assert!((4..=9).contains(&classes.len()), "{classes:?}");
    let mut seen = vec![0; classes.len()];
    for cell in rects(group(&document, "cells")) {
        let Some(note) = cell.first_element_child() else { continue };
        let words: Vec<&str> = note.text().unwrap().split(['\u{20}', ':']).collect();
        let [_, row, _, column, ..] = words[..] else { panic!("{words:?}") };
        let value = value(row.parse().unwrap(), column.parse().unwrap());
        let fill = cell.attribute("fill").unwrap();
        let class = classes.iter().position(|class| class.0 == fill).unwrap();
        let (_, low, high, _) = classes[class];
        // The last class holds its end.
        assert!(low <= value && (value < high || class + 1 == classes.len()), "{value}: {low}");
        seen[class] += 1;
    }
    assert_eq!(seen, classes.iter().map(|class| class.3).collect::<Vec<_>>());
    assert_eq!(seen.iter().sum::<usize>(), matrix.values.len());
}

/// The sum over all cells is that over all pairs, whatever is put together.
#[test]
fn pairs_of_ten_thousand_ranks_are_put_together() {
    let mut matrix = HeatMatrix::new(Quantity::new("Messages", AxisUnit::Count), 10_000);
    matrix.values = (0..9_999).map(|row| (row, row + 1, 1.0)).collect();
    matrix.missing = (5_000..5_128).collect();
    let svg = matrix.picture(Size::default()).svg();
    for words in [
        "A cell stands for 128 x 128 ranks",
        "128 of 10000 ranks were not measured",
        "128 values cannot be shown",
        "9871 of 100000000 pairs",
    ] {
        // Rows 5000 to 5127 are parts of two rows of cells.
        assert!(svg.contains(words), "{words}\n{svg}");
    }
    assert!(svg.len() < 100_000, "{}", svg.len());
}
