//! Numbers of a few significant digits.

use topas_chart::SiPrefix;

use super::NONE;

/// Digits of a value for people.
const DIGITS: usize = 4;

/// The exponent of ten of a number that was rounded to so many significant digits.
fn exponent(value: f64, digits: usize) -> i32 {
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

/// Digits after the point of a number that has so many significant ones.
fn decimals(value: f64, digits: usize) -> usize {
    usize::try_from(digits as i32 - 1 - exponent(value, digits)).unwrap_or(0)
}

/// A number with so many significant digits, as short as people like it: `1234`, `12.34`,
/// `0.01234`; with an exponent where that would be long.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // Rounded once, here; the exponent is that of the rounded number.
    if !(-4..9).contains(&exponent(value, digits)) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    format!("{value:.*}", decimals(value, digits))
}

/// A number to four significant digits, with an exponent where that is shorter.
pub(crate) fn short(value: f64) -> String {
    if value.is_finite() { significant(value, DIGITS) } else { NONE.to_owned() }
}

/// A whole number, from nine digits on four of them and an exponent: `4711`, `2.430e12`.
pub(crate) fn compact(n: u128) -> String {
    if n < 100_000_000 { n.to_string() } else { significant(n as f64, DIGITS) }
}

/// The prefix with which a value has one to three digits before the point.
fn prefix(value: f64) -> SiPrefix {
    // 999.96 would be shown as 1000.
    SiPrefix::leaving_less_than(999.95, value)
}

/// A value with its unit and a prefix, to four significant digits: `96.17 MFlop/s`.
pub(crate) fn si(value: f64, unit: &str) -> String {
    si_as(value, value, unit)
}

/// A time in s in a sentence: with a prefix of SI, and from two minutes on as `35 min 10 s` or `2 h 11 min`.
pub fn duration(seconds: f64) -> String {
    /// What is shown in hours and minutes is not rounded beyond this.
    const MOST: f64 = 1e12;
    if !(119.95..MOST).contains(&seconds) {
        return si(seconds, "s");
    }
    let whole = seconds.round() as u64;
    if whole < 3600 {
        return format!("{} min {} s", whole / 60, whole % 60);
    }
    let minutes = (seconds / 60.0).round() as u64;
    format!("{} h {} min", minutes / 60, minutes % 60)
}

/// A value with the prefix and the places that [`si`] gives to another, `like`.
pub(crate) fn si_as(value: f64, like: f64, unit: &str) -> String {
    if like == 0.0 {
        return format!("{value} {unit}");
    }
    if !value.is_finite() || !like.is_finite() {
        return NONE.to_owned();
    }
    let prefix = prefix(like);
    // A tie goes up, whatever its double is: 9.9995 is shown as 10.00.
    let decimals = decimals(prefix.scaled(like) * (1.0 + 1e-12), DIGITS);
    format!("{:.decimals$} {}{unit}", prefix.scaled(value), prefix.ascii_sign())
}

/// A number of four digits whose prefix stands at it, from 1000 on: `1.234P`.
pub fn si_bare(value: f64) -> String {
    if value < 1000.0 {
        return significant(value, DIGITS);
    }
    let prefix = prefix(value);
    significant(prefix.scaled(value), DIGITS) + prefix.ascii_sign()
}

/// A standard error in percent of what it is of, two digits.
pub(crate) fn error_percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0%".to_owned(),
        p if p < 0.01 => "<0.01%".to_owned(),
        p if p < 9.95 => format!("{}%", significant(p, 2)),
        p => format!("{p:.0}%"),
    }
}

/// A number of at most six places, without needless ones.
pub(crate) fn trimmed(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A number for programs: nine significant digits, no needless zeros.
pub(crate) fn machine(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// [`machine`] as text.
pub(crate) fn machine_text(value: f64) -> String {
    let value = machine(value);
    if value != 0.0 && !(1e-5..1e16).contains(&value) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits() {
        let four = |value| significant(value, 4);
        assert_eq!(four(0.0), "0");
        assert_eq!(four(12.3456), "12.35");
        assert_eq!(four(999.96), "1000");
        assert_eq!(four(99.996), "100.0");
        assert_eq!(four(123_456.0), "123456");
        assert_eq!(four(0.000_123_44), "0.0001234");
        assert_eq!(four(0.000_012_344), "1.234e-5");
        assert_eq!(four(1.5e12), "1.500e12");
        assert_eq!([compact(99_999_999), compact(100_000_000)], ["99999999", "100000000"]);
        assert_eq!(compact(2_430_000_000_000), "2.430e12");
    }

    #[test]
    fn prefixes() {
        assert_eq!(si(96.171e6, "Flop/s"), "96.17 MFlop/s");
        assert_eq!(si(999.96e3, "B"), "1.000 MB");
        assert_eq!(si(0.0123, "s"), "12.30 ms");
        assert_eq!(si(1.5e-6, "s"), "1.500 us");
        assert_eq!(si(9.9995, "s"), "10.00 s");
        assert_eq!(si(0.0, "s"), "0 s");
        assert_eq!(duration(0.0123), "12.30 ms");
        assert_eq!(duration(119.9), "119.9 s");
        assert_eq!(duration(119.97), "2 min 0 s");
        assert_eq!(duration(3599.4), "59 min 59 s");
        assert_eq!(duration(3599.6), "1 h 0 min");
        assert_eq!(duration(7890.0), "2 h 12 min");
        assert_eq!(duration(f64::NAN), "-");
        assert_eq!(si(1e15, "Flop"), "1.000 PFlop");
        assert_eq!(si(-1500.0, "op"), "-1.500 kop");
        assert_eq!(si(1e22, "Flop"), "10.00 ZFlop");
        assert_eq!(si(1e34, "Flop"), "10000 QFlop");
        assert_eq!(si(f64::NAN, "Flop"), "-");
        assert_eq!(si_as(0.31e6, 72.7e6, "Flop/s"), "0.31 MFlop/s");
        let bare = [999.94, 999.96, 1e15, 1.5e33, 1e37, 0.5].map(si_bare);
        assert_eq!(bare, ["999.9", "1000", "1.000P", "1500Q", "10000000Q", "0.5000"]);
    }

    #[test]
    fn numbers_for_programs() {
        assert_eq!(machine_text(1.0 / 3.0), "0.333333333");
        assert_eq!([machine_text(1e15), machine_text(1e17)], ["1000000000000000", "1e17"]);
        assert_eq!([machine_text(0.0), machine_text(1.5e-9)], ["0", "1.5e-9"]);
    }

    #[test]
    fn errors_have_two_digits() {
        let texts = [0.0, 0.000_01, 0.001_234, 0.0994, 0.0996, 0.5, 3.0].map(error_percent);
        assert_eq!(texts, ["0%", "<0.01%", "0.12%", "9.9%", "10%", "50%", "300%"]);
    }
}
