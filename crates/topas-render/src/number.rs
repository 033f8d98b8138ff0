//! Numbers as text, by integers only: what is printed is exact or rounded half up once.

use topas_data::PeTime;
use topas_format::civil::Date;

/// `part` of `whole` in percent, or None if there is no whole.
pub(crate) fn percent(part: u128, whole: u128, decimals: u32) -> Option<String> {
    let unit = 10u128.pow(decimals);
    let scaled = part
        .saturating_mul(200 * unit)
        .saturating_add(whole)
        .checked_div(whole.saturating_mul(2))?;
    Some(format!("{}.{:02$}", scaled / unit, scaled % unit, decimals as usize))
}

/// Hours, minutes and seconds: `931114:07:45`.
pub(crate) fn hours(time: PeTime) -> String {
    let seconds = time.whole_seconds();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Seconds with six decimals.
pub(crate) fn seconds(time: PeTime) -> String {
    format!("{}.{:06}", time.0 / 1_000_000, time.0 % 1_000_000)
}

/// Millionths as a decimal number without needless zeros.
pub(crate) fn decimal(millionths: u128) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `1999/05/04`.
pub(crate) fn date(date: Date) -> String {
    format!("{:04}/{:02}/{:02}", date.year, date.month, date.day)
}

/// `1 run`, `12 runs`.
pub(crate) fn runs(count: u64) -> String {
    format!("{count} run{}", if count == 1 { "" } else { "s" })
}

/// A number with so many significant digits, as short as people like it: `1234`, `12.34`,
/// `0.01234`; with an exponent where that would be long.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // Rounded once, here; the exponent is that of the rounded number.
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if !(-4..9).contains(&exponent) {
        return scientific;
    }
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// Prefixes of SI from 10^3 on, each a thousand times the last.
const PREFIXES: [&str; 11] = ["", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"];

/// A number of four digits with a prefix of SI: `1.234P`.
pub(crate) fn si(value: f64) -> String {
    if value < 1000.0 {
        return significant(value, 4);
    }
    let (mut scaled, mut prefix) = (value, 0);
    // 999.96 would be shown as 1000.
    while scaled >= 999.95 && prefix + 1 < PREFIXES.len() {
        scaled /= 1000.0;
        prefix += 1;
    }
    format!("{}{}", significant(scaled, 4), PREFIXES[prefix])
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
    fn percentages_round_half_up_once() {
        assert_eq!(percent(1, 8, 2).as_deref(), Some("12.50"));
        assert_eq!(percent(1, 800, 2).as_deref(), Some("0.13"));
        assert_eq!(percent(12_499, 1_000_000, 1).as_deref(), Some("1.2"));
        assert_eq!(percent(1, 1, 2).as_deref(), Some("100.00"));
        assert_eq!(percent(0, 3, 2).as_deref(), Some("0.00"));
        assert_eq!(percent(0, 0, 2), None);
    }

    #[test]
    fn significant_digits() {
        let of = |value| significant(value, 4);
        assert_eq!(of(0.0), "0");
        assert_eq!(of(12.3456), "12.35");
        assert_eq!(of(999.96), "1000");
        assert_eq!(of(99.996), "100.0");
        assert_eq!(of(123_456.0), "123456");
        assert_eq!(of(0.000_123_44), "0.0001234");
        assert_eq!(of(0.000_012_344), "1.234e-5");
        assert_eq!(of(1.5e12), "1.500e12");
        let prefixed = [si(999.94), si(999.96), si(1e15), si(1.5e33), si(1e37), si(0.5)];
        assert_eq!(prefixed, ["999.9", "1000", "1.000P", "1500Q", "10000000Q", "0.5000"]);
        assert_eq!(machine_text(1.0 / 3.0), "0.333333333");
        assert_eq!([machine_text(1e15), machine_text(1e17)], ["1000000000000000", "1e17"]);
        assert_eq!([machine_text(0.0), machine_text(1.5e-9)], ["0", "1.5e-9"]);
    }

    #[test]
    fn times_and_decimals() {
        assert_eq!(hours(PeTime(0)), "0:00:00");
        assert_eq!(hours(PeTime(3_599_499_999)), "0:59:59");
        assert_eq!(hours(PeTime(3_599_500_000)), "1:00:00");
        assert_eq!(seconds(PeTime(1_000_001)), "1.000001");
        assert_eq!(decimal(50_000_000), "50");
        assert_eq!(decimal(500_000), "0.5");
        assert_eq!(decimal(0), "0");
        assert_eq!(decimal(100_000_001), "100.000001");
    }
}
