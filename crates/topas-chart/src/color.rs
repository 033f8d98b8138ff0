//! Colours that stay apart for colour-blind eyes and in black and white.

/// An opaque colour of sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// Text
pub(crate) const INK: Color = Color(0x22, 0x26, 0x2b);
/// Text of less weight
pub(crate) const SOFT_INK: Color = Color(0x55, 0x5b, 0x63);
/// Axes
pub(crate) const AXIS: Color = Color(0x6b, 0x72, 0x7a);
/// Lines of the grid
pub(crate) const GRID: Color = Color(0xe2, 0xe5, 0xe9);
/// Ground
pub(crate) const PAPER: Color = Color(0xff, 0xff, 0xff);
/// What is 0 where most are
pub(crate) const ZERO: Color = Color(0xf4, 0xf5, 0xf7);
/// What was not measured
pub(crate) const NOTHING: Color = Color(0xd5, 0xd8, 0xdc);
/// Text and lines on a light colour. A little unlike [`INK`], so that a dark page can tell what
/// stands on its ground from what stands on a colour
const INK_ON_COLOR: Color = Color(0x22, 0x26, 0x2c);
/// The same on a dark colour
const PAPER_ON_COLOR: Color = Color(0xfe, 0xfe, 0xfe);

/// Colours of series. Neighbours differ in lightness, all of them for the three kinds of colour
/// blindness (held by tests); more series than colours get a hatching.
pub(crate) const SERIES: [Color; 8] = [
    Color(0x1f, 0x4e, 0x8c),
    Color(0xf2, 0xa5, 0x41),
    Color(0x1f, 0x8f, 0x80),
    Color(0xa9, 0xd6, 0xe8),
    Color(0xa8, 0x32, 0x32),
    Color(0xec, 0xdf, 0x86),
    Color(0x45, 0x23, 0x5e),
    Color(0xcc, 0x82, 0xb8),
];

/// Each colour of [`SERIES`] on a dark page, where its darkest ones could not be seen: apart from each
/// other in the same ways, and from the ground.
const DARK_SERIES: [Color; SERIES.len()] = [
    Color(0x41, 0x73, 0xcf),
    Color(0xf7, 0xb4, 0x5c),
    Color(0x2b, 0x9a, 0x8b),
    Color(0xc4, 0xea, 0xfa),
    Color(0xd1, 0x5c, 0x5b),
    Color(0xf3, 0xe9, 0xa4),
    Color(0x8a, 0x5e, 0xa6),
    Color(0xd9, 0xa0, 0xca),
];

/// What a dark page shows in place of the colours of ground, text and axes. Scales from light to dark
/// keep theirs.
const DARK: [(Color, Color); 7] = [
    (PAPER, Color(0x1b, 0x1f, 0x26)),
    (INK, Color(0xe4, 0xe7, 0xeb)),
    (SOFT_INK, Color(0xaa, 0xb3, 0xc0)),
    (AXIS, Color(0x8d, 0x97, 0xa5)),
    (GRID, Color(0x2f, 0x37, 0x42)),
    (ZERO, Color(0x26, 0x2c, 0x35)),
    (NOTHING, Color(0x6b, 0x74, 0x80)),
];

/// Rules of CSS by which pictures of SVG in a page are dark. The page says when they hold.
pub fn dark_rules() -> String {
    let series = SERIES.into_iter().zip(DARK_SERIES);
    let rule = |(light, dark): (Color, Color)| {
        let (light, dark) = (light.hex(), dark.hex());
        format!("svg [fill=\"{light}\"]{{fill:{dark}}}svg [stroke=\"{light}\"]{{stroke:{dark}}}")
    };
    DARK.into_iter().chain(series).map(rule).collect()
}

/// Ends and middle of the scale from low to high values, light to dark.
const RAMP: [Color; 4] = [
    Color(0xfb, 0xf3, 0xc9),
    Color(0x8c, 0xcd, 0xb0),
    Color(0x2a, 0x86, 0x9e),
    Color(0x24, 0x2a, 0x68),
];

impl Color {
    /// `#rrggbb`.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// The nearest of the 6 x 6 x 6 colours of ANSI terminals, or of their 24 greys.
    pub(crate) fn ansi(self) -> u8 {
        const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
        let nearest = |part: u8| {
            let distance = |&at: &usize| LEVELS.get(at).map_or(u8::MAX, |l| l.abs_diff(part));
            (0..LEVELS.len()).min_by_key(distance).unwrap_or(0)
        };
        let Color(r, g, b) = self;
        if r.abs_diff(g) < 12 && g.abs_diff(b) < 12 && (8..=238).contains(&g) {
            return 232 + (g - 8) / 10;
        }
        (16 + 36 * nearest(r) + 6 * nearest(g) + nearest(b)) as u8
    }

    /// Lightness L* of CIELAB, 0 to 100.
    pub(crate) fn lightness(self) -> f64 {
        let [r, g, b] = [self.0, self.1, self.2].map(linear);
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        if y > 0.008856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
    }

    /// Black or white, whichever can be read on it.
    pub(crate) fn ink(self) -> Color {
        if self.lightness() > 60.0 { INK_ON_COLOR } else { PAPER_ON_COLOR }
    }

    /// The share of it that is left on white paper.
    pub(crate) fn pale(self, share: f64) -> Color {
        PAPER.between(self, share)
    }

    fn between(self, other: Color, share: f64) -> Color {
        let part = |a: u8, b: u8| {
            (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round().clamp(0.0, 255.0) as u8
        };
        Color(part(self.0, other.0), part(self.1, other.1), part(self.2, other.2))
    }
}

/// One channel of sRGB, gamma undone.
fn linear(part: u8) -> f64 {
    let part = f64::from(part) / 255.0;
    if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
}

/// Colour of the series at `index`, and whether it is hatched.
pub(crate) fn series(index: usize) -> (Color, bool) {
    let color = SERIES.get(index % SERIES.len()).copied().unwrap_or(INK);
    (color, index / SERIES.len() % 2 == 1)
}

/// Colour of class `index` of `count`, light to dark.
pub(crate) fn class(index: usize, count: usize) -> Color {
    let share = if count > 1 { index as f64 / (count - 1) as f64 } else { 0.5 };
    let at = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let low = (at as usize).min(RAMP.len() - 2);
    match RAMP.get(low..low + 2) {
        Some(&[a, b]) => a.between(b, at - low as f64),
        _ => INK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What eyes without one kind of cone see: Machado, Oliveira and Fernandes, "A physiologically
    /// based model for simulation of color vision deficiency", IEEE TVCG 15 (2009), severity 1.
    const DEFICIENCIES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    /// CIELAB (D65) as seen with a deficiency.
    fn lab(color: Color, seen: &[[f64; 3]; 3]) -> [f64; 3] {
        let rgb = [color.0, color.1, color.2].map(linear);
        let by =
            |m: &[[f64; 3]; 3], v: [f64; 3]| m.map(|r| r[0] * v[0] + r[1] * v[1] + r[2] * v[2]);
        let rgb = by(seen, rgb).map(|part| part.clamp(0.0, 1.0));
        let xyz = by(
            &[
                [0.4124564, 0.3575761, 0.1804375],
                [0.2126729, 0.7151522, 0.0721750],
                [0.0193339, 0.1191920, 0.9503041],
            ],
            rgb,
        );
        let f = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let [x, y, z] = [f(xyz[0] / 0.95047), f(xyz[1]), f(xyz[2] / 1.08883)];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    #[test]
    fn series_are_told_apart_by_all_eyes_and_in_print() {
        for series in [SERIES, DARK_SERIES] {
            for seen in &DEFICIENCIES {
                for (at, a) in series.iter().enumerate() {
                    for (to, b) in series.iter().enumerate().skip(at + 1) {
                        let apart = distance(lab(*a, seen), lab(*b, seen));
                        assert!(apart > 14.0, "{at} and {to}: {apart:.1}");
                    }
                }
            }
            for (at, pair) in series.windows(2).enumerate() {
                let apart = (pair[0].lightness() - pair[1].lightness()).abs();
                assert!(apart > 18.0, "{at} and {}: {apart:.1}", at + 1);
            }
        }
    }

    /// The contrast of two colours (WCAG 2.2).
    fn contrast(a: Color, b: Color) -> f64 {
        let luminance = |color: Color| {
            let [r, g, b] = [color.0, color.1, color.2].map(linear);
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    #[test]
    fn a_dark_page_shows_text_and_series() {
        let [(_, ground), (_, ink), (_, soft), (_, axis), ..] = DARK;
        assert!(contrast(ink, ground) > 7.0 && contrast(soft, ground) > 4.5);
        assert!(contrast(axis, ground) > 3.0);
        for (at, color) in DARK_SERIES.into_iter().enumerate() {
            assert!(contrast(color, ground) > 3.0, "{at}");
        }
        // No colour is changed twice, and none that stands on another.
        let mut light: Vec<Color> = DARK.iter().map(|(light, _)| *light).chain(SERIES).collect();
        light.extend([INK_ON_COLOR, PAPER_ON_COLOR]);
        for (at, color) in light.iter().enumerate() {
            assert!(!light[..at].contains(color), "{at}");
        }
        let rules = dark_rules();
        assert!(rules.contains("svg [fill=\"#ffffff\"]{fill:#1b1f26}"), "{rules}");
        assert!(!rules.contains(&PAPER_ON_COLOR.hex()), "{rules}");
    }

    #[test]
    fn classes_get_darker_in_steps_that_can_be_seen() {
        for count in 2..=7 {
            let colors: Vec<Color> = (0..count).map(|index| class(index, count)).collect();
            for seen in &DEFICIENCIES {
                let light: Vec<f64> = colors.iter().map(|&color| lab(color, seen)[0]).collect();
                assert!(light.windows(2).all(|pair| pair[0] - pair[1] > 7.0), "{count}: {light:?}");
            }
        }
    }

    #[test]
    fn terminals_have_the_nearest_of_their_colours() {
        assert_eq!(Color(255, 0, 0).ansi(), 196);
        assert_eq!(Color(0, 95, 135).ansi(), 24);
        assert_eq!(Color(128, 128, 128).ansi(), 244);
        assert_eq!(Color(255, 255, 255).ansi(), 231);
    }
}
