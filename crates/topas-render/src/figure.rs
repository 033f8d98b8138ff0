//! Numbers as text: exact ones by integers, others with prefixes of SI.

use topas_data::pes::PeRange;

/// Prefixes from 10^-12 to 10^18.
const PREFIXES: [&str; 11] = ["p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"];

/// Appends a number in decimal.
#[inline]
pub(crate) fn whole(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends thousandths as a decimal number with three places.
#[inline]
pub(crate) fn thousandths(out: &mut Vec<u8>, n: u64) {
    whole(out, n / 1000);
    let rest = (n % 1000) as u16;
    let digit = |of: u16| b'0' + (rest / of % 10) as u8;
    out.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
}

/// µs in ms, rounded half up.
#[inline]
pub(crate) fn millis(micros: u64) -> u64 {
    micros / 1000 + u64::from(micros % 1000 >= 500)
}

/// Thousandths of `part` by `whole`, rounded half up; None by nothing. Saturates.
#[inline]
pub(crate) fn ratio(part: u64, whole: u64) -> Option<u64> {
    if whole == 0 {
        return None;
    }
    if let Some(scaled) = part.checked_mul(1000) {
        return Some(scaled / whole + u64::from(scaled % whole >= whole.div_ceil(2)));
    }
    let (scaled, whole) = (u128::from(part) * 1000, u128::from(whole));
    Some(u64::try_from((scaled + whole / 2) / whole).unwrap_or(u64::MAX))
}

/// A value with its unit and a prefix, to four significant digits: `96.17 MFlop/s`.
pub(crate) fn si(value: f64, unit: &str) -> String {
    si_as(value, value, unit)
}

/// A value with the prefix and the places that [`si`] gives to another, `like`.
pub(crate) fn si_as(value: f64, like: f64, unit: &str) -> String {
    if like == 0.0 {
        return format!("{value} {unit}");
    }
    if !value.is_finite() || !like.is_finite() {
        return "-".to_owned();
    }
    let mut power = (like.abs().log10() / 3.0).floor().clamp(-4.0, 6.0) as i32;
    let scaled = |value: f64, power: i32| value / 10f64.powi(3 * power);
    // Rounding may carry into the next prefix: 999.96 k is 1.000 M.
    if scaled(like, power).abs() >= 999.95 && power < 6 {
        power += 1;
    }
    let decimals = match scaled(like, power).abs() {
        a if a < 9.9995 => 3,
        a if a < 99.995 => 2,
        a if a < 999.95 => 1,
        _ => 0,
    };
    let prefix = PREFIXES.get(usize::try_from(power + 4).unwrap_or(4)).unwrap_or(&"");
    format!("{:.decimals$} {prefix}{unit}", scaled(value, power))
}

/// A share in percent with its sign: `+33.1%`.
pub(crate) fn change(share: f64) -> String {
    format!("{:+.1}%", share * 100.0)
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// PEs, folded: `1-4, 6-8, 10`.
pub(crate) fn pes(ranges: &[PeRange]) -> String {
    let texts: Vec<String> = ranges.iter().map(range).collect();
    texts.join(", ")
}

fn range(range: &PeRange) -> String {
    if range.first == range.last {
        range.first.to_string()
    } else {
        format!("{}-{}", range.first, range.last)
    }
}

/// PEs, folded, at most `most` of the ranges; how many PEs are not named is said.
pub(crate) fn some_pes(ranges: &[PeRange], most: usize) -> String {
    if ranges.len() <= most {
        return pes(ranges);
    }
    let (named, others) = ranges.split_at(most);
    let count: u64 = others.iter().map(|range| range.count()).sum();
    format!("{} and {count} more", pes(named))
}

/// `1 PE`, `12 PEs`.
pub(crate) fn count(n: u64, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// Text of bytes that anybody may have written: control characters become U+FFFD.
pub(crate) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The same, or `-` if empty.
pub(crate) fn named(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".to_owned() } else { clean(bytes) }
}

/// Breaks a list at blanks behind commas into lines of `width`, further lines indented by
/// `indent`; the first has `indent` columns taken already.
pub(crate) fn wrapped(list: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut out = String::new();
    let mut line = 0;
    for (at, part) in list.split(", ").enumerate() {
        if at > 0 {
            if line + 2 + part.len() + 1 > room {
                out += ",\n";
                out += &" ".repeat(indent);
                line = 0;
            } else {
                out += ", ";
                line += 2;
            }
        }
        out += part;
        line += part.len();
    }
    out
}

/// Breaks sentences at blanks into lines of `width`.
pub(crate) fn paragraph(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut line = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if line > 0 && line + 1 + length > width.max(20) {
            out.push('\n');
            line = 0;
        } else if line > 0 {
            out.push(' ');
            line += 1;
        }
        out += word;
        line += length;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn exact_numbers() {
        assert_eq!(text(|out| whole(out, 0)), "0");
        assert_eq!(text(|out| whole(out, u64::MAX)), u64::MAX.to_string());
        assert_eq!(text(|out| thousandths(out, 12_034)), "12.034");
        assert_eq!((millis(1499), millis(1500), millis(0)), (1, 2, 0));
        assert_eq!(ratio(1, 2), Some(500));
        assert_eq!(ratio(1, 2000), Some(1), "half up");
        assert_eq!(ratio(1, 2001), Some(0));
        assert_eq!(ratio(5, 3), Some(1667));
        assert_eq!(ratio(u64::MAX, 3), Some(u64::MAX), "saturates");
        assert_eq!(ratio(1_000_000_000_000_000_000, 1000), Some(1_000_000_000_000_000_000));
        assert_eq!(ratio(1, 0), None);
    }

    #[test]
    fn prefixes() {
        assert_eq!(si(96.171e6, "Flop/s"), "96.17 MFlop/s");
        assert_eq!(si(999.96e3, "B"), "1.000 MB");
        assert_eq!(si(0.0123, "s"), "12.30 ms");
        assert_eq!(si(0.0, "s"), "0 s");
        assert_eq!(si(1e15, "Flop"), "1.000 PFlop");
        assert_eq!(si(-1500.0, "op"), "-1.500 kop");
        assert_eq!(si(1e22, "Flop"), "10000 EFlop");
        assert_eq!(si_as(0.31e6, 72.7e6, "Flop/s"), "0.31 MFlop/s");
    }

    #[test]
    fn lists_wrap_behind_commas() {
        let list = "1-4, 6-8, 10-12, 14-15";
        assert_eq!(wrapped(list, 8, 80), list);
        assert_eq!(wrapped(list, 8, 28), "1-4, 6-8, 10-12,\n        14-15");
        assert_eq!(wrapped(list, 8, 28).replace("\n       ", ""), list);
    }
}
