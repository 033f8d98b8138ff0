//! Quantities and their units, and numbers as text.

use crate::prefix::SiPrefix;

/// What an axis or a value stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Such as `Share of runs`; the unit is added by the chart
    pub name: String,
    /// Unit of the values
    pub unit: AxisUnit,
}

impl Quantity {
    /// `name` in `unit`.
    pub fn new(name: impl Into<String>, unit: AxisUnit) -> Self {
        Quantity { name: name.into(), unit }
    }
}

/// Unit of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisUnit {
    /// Values are percent: 50.0 is one half
    Percent,
    /// A number of things, without a unit: runs, PEs
    Count,
    /// A unit that takes no prefix here: `h`, `MFlop/s`
    Plain(&'static str),
    /// An SI unit whose values get a prefix: `s`, `B`, `op/s`, `Flop/s`
    Si(&'static str),
}

/// Space that does not break, between a number and its unit and between thousands.
const THIN: char = '\u{202f}';

/// Places after the point that are shown at most.
const MOST_DECIMALS: i32 = 9;

/// How the numbers of one axis are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberForm {
    unit: AxisUnit,
    prefix: SiPrefix,
    decimals: i32,
}

impl AxisUnit {
    /// Form of numbers up to `most` in size that are `step` apart.
    pub(crate) fn form(self, most: f64, step: f64) -> NumberForm {
        let prefix = match self {
            AxisUnit::Si(_) => prefix(most),
            _ => SiPrefix::NONE,
        };
        let decimals = prefix.power() - magnitude(step * (1.0 + 1e-9));
        NumberForm { unit: self, prefix, decimals }
    }

    /// One value with its unit, to `digits` significant digits at least; percent to `digits` of
    /// 99.9.
    pub fn value(self, value: f64, digits: i32) -> String {
        // Rounding may carry to the next magnitude: 999.96 is 1000.
        if self == AxisUnit::Percent {
            // All of them have the same places, so that they can be compared at a glance.
            let places = digits - 2;
            let least = 10f64.powi(-places);
            let form = self.form(100.0, least);
            let tiny = value > 0.0 && value < least / 2.0;
            return if tiny {
                format!("<{}", form.with_unit(least))
            } else {
                form.with_unit(value)
            };
        }
        // Without a prefix all digits before the point are shown.
        let most = if let AxisUnit::Si(_) = self { i32::MAX } else { 0 };
        let last = |value: f64| (magnitude(value) - digits + 1).min(most);
        let rounded = round_to(value, last(value));
        let step = 10f64.powi(last(rounded));
        let whole = self == AxisUnit::Count && rounded.fract() == 0.0;
        let form = self.form(rounded.abs(), if rounded == 0.0 || whole { 1.0 } else { step });
        form.with_unit(rounded)
    }

    /// The symbol with a prefix; empty for counts.
    fn symbol(self, prefix: SiPrefix) -> String {
        match self {
            AxisUnit::Percent => "%".to_owned(),
            AxisUnit::Count => String::new(),
            AxisUnit::Plain(symbol) => symbol.to_owned(),
            AxisUnit::Si(symbol) => format!("{}{symbol}", prefix.sign()),
        }
    }
}

impl NumberForm {
    /// The number alone.
    pub(crate) fn number(&self, value: f64) -> String {
        figure(self.prefix.scaled(value), self.decimals)
    }

    /// The number as an axis shows it: its unit stands in the heading, but for percent.
    pub(crate) fn on_axis(&self, value: f64) -> String {
        self.number(value) + if self.unit == AxisUnit::Percent { "%" } else { "" }
    }

    /// The number and its unit.
    pub(crate) fn with_unit(&self, value: f64) -> String {
        let number = self.number(value);
        match self.unit {
            AxisUnit::Percent => number + "%",
            AxisUnit::Count => number,
            AxisUnit::Plain(_) | AxisUnit::Si(_) => format!("{number}{THIN}{}", self.symbol()),
        }
    }

    /// Prefix and unit.
    pub(crate) fn symbol(&self) -> String {
        self.unit.symbol(self.prefix)
    }

    /// `name (unit)`, or the name alone where numbers bear the unit or there is none.
    pub(crate) fn heading(&self, name: &str) -> String {
        let symbol = self.symbol();
        let told = name.split(|c: char| !c.is_alphanumeric() && c != '/').any(|w| w == symbol);
        if self.unit == AxisUnit::Percent || symbol.is_empty() || told {
            name.to_owned()
        } else {
            format!("{name} ({symbol})")
        }
    }
}

/// Power of ten of the first digit; 0 for 0.
fn magnitude(value: f64) -> i32 {
    let value = value.abs();
    if value == 0.0 || !value.is_finite() { 0 } else { value.log10().floor() as i32 }
}

/// The prefix that leaves one to three digits before the point; none where no prefix does.
fn prefix(value: f64) -> SiPrefix {
    // 999.9999 is no reason for a prefix, 1000 is.
    let value = value.abs() * (1.0 + 1e-12);
    if (1e-30..1e33).contains(&value) {
        SiPrefix::leaving_less_than(1000.0, value)
    } else {
        SiPrefix::NONE
    }
}

/// `value` rounded to a multiple of ten to the `power`.
fn round_to(value: f64, power: i32) -> f64 {
    if !(-300..=300).contains(&power) {
        return value;
    }
    let unit = 10f64.powi(power.abs());
    let rounded =
        if power < 0 { (value * unit).round() / unit } else { (value / unit).round() * unit };
    if rounded.is_finite() { rounded } else { value }
}

/// A number with `decimals` places, thousands apart; very large and very small ones by powers of
/// ten.
fn figure(value: f64, decimals: i32) -> String {
    if value.abs() >= 1e15 || decimals > MOST_DECIMALS {
        return if value == 0.0 { "0".to_owned() } else { power_of_ten(value) };
    }
    let text = format!("{value:.*}", usize::try_from(decimals).unwrap_or(0));
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) if digits.chars().any(|c| c.is_ascii_digit() && c != '0') => ("−", digits),
        Some(digits) => ("", digits),
        None => ("", text.as_str()),
    };
    sign.to_owned() + &grouped(digits)
}

/// A number with its thousands apart: digits, then what stands behind them.
pub fn grouped(number: &str) -> String {
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    let (whole, rest) = number.split_at(end);
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        // Four digits are read without help.
        if at > 0 && whole.len() > 4 && (whole.len() - at).is_multiple_of(3) {
            out.push(THIN);
        }
        out.push(digit);
    }
    out + rest
}

/// Such as `1e18`, `2.5e−12`.
fn power_of_ten(value: f64) -> String {
    let text = format!("{value:.3e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{mantissa}e{power}").replace('-', "−")
}

/// A bound of a bucket as a person writes it: `50`, `0.5`, `10 000`.
pub(crate) fn bound(value: f64) -> String {
    // Twelve digits: what sums of decimal steps leave behind is beyond.
    let value = round_to(value, magnitude(value) - 11);
    let shortest = format!("{value}");
    let decimals = shortest.split_once('.').map_or(0, |(_, places)| places.len());
    figure(value, i32::try_from(decimals).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        text.replace(THIN, " ")
    }

    #[test]
    fn values_have_prefixes_and_digits() {
        let si = AxisUnit::Si("op/s");
        for (value, text) in [
            (0.0, "0 op/s"),
            (1.0, "1.00 op/s"),
            (999.96, "1.00 kop/s"),
            (95_783_000.0, "95.8 Mop/s"),
            (1e18, "1.00 Eop/s"),
            (1e-12, "1.00 pop/s"),
            (2.5e-7, "250 nop/s"),
            (-1234.0, "−1.23 kop/s"),
        ] {
            assert_eq!(plain(&si.value(value, 3)), text);
        }
        assert_eq!(
            [64.947, 0.06, 0.04, 0.0].map(|v| AxisUnit::Percent.value(v, 3)),
            ["64.9%", "0.1%", "<0.1%", "0.0%"]
        );
        assert_eq!(plain(&AxisUnit::Plain("h").value(931_114.4, 3)), "931 114 h");
        assert_eq!(plain(&AxisUnit::Plain("h").value(1e-12, 3)), "1e−12 h");
        assert_eq!(plain(&AxisUnit::Count.value(1e18, 3)), "1e18");
        assert_eq!(AxisUnit::Count.value(4321.0, 3), "4321");
    }

    #[test]
    fn the_numbers_of_an_axis_have_one_form() {
        let form = AxisUnit::Si("s").form(3000.0, 500.0);
        assert_eq!(form.heading("Wall clock time"), "Wall clock time (ks)");
        assert_eq!([0.0, 500.0, 3000.0].map(|v| form.number(v)), ["0.0", "0.5", "3.0"]);
        let form = AxisUnit::Plain("MFlop/s").form(450.0, 50.0);
        assert_eq!(form.heading("MFlop/s per PE"), "MFlop/s per PE");
        assert_eq!(form.number(450.0), "450");
        assert_eq!(AxisUnit::Percent.form(70.0, 10.0).heading("Share"), "Share");
    }

    #[test]
    fn bounds_are_what_was_meant() {
        assert_eq!(bound(0.1 + 0.2), "0.3");
        assert_eq!(bound(50.0), "50");
        assert_eq!(plain(&bound(1e6)), "1 000 000");
        assert_eq!(bound(1e18), "1e18");
        assert_eq!(bound(1e-12), "1e−12");
        assert_eq!(bound(0.0), "0");
    }
}
