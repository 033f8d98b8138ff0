//! Values as a query writes them: `2.5G`, `90min`, `2026-11`, `Fri`.

use std::fmt;

use topas_format::civil::Time;
use topas_format::field::Token;
use topas_format::slot::Slot;

use super::label::{label, seconds};
use super::value::MILLION;
use super::{FieldKind, FieldUnit, Value};
use crate::period::parse_date;

/// Why a text is no value of a field's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralError {
    /// Not of the form that is told
    Form(&'static str),
    /// Not a word of the class
    Word(&'static [&'static str]),
    /// More decimals than a millionth
    Decimals,
    /// Beyond what is held
    Range,
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiteralError::Form(form) => write!(f, "not {form}"),
            LiteralError::Word(words) => write!(f, "not one of {}", words.join(" ")),
            LiteralError::Decimals => f.write_str("finer than a millionth"),
            LiteralError::Range => f.write_str("too large"),
        }
    }
}

/// Suffix and factor, in millionths. SI prefixes are decimal, those with `i` binary.
const PREFIXES: &[(&str, i128)] = &[
    ("", MILLION),
    ("k", MILLION * 1000),
    ("K", MILLION * 1000),
    ("M", MILLION * 1_000_000),
    ("G", MILLION * 1_000_000_000),
    ("T", MILLION * 1_000_000_000_000),
    ("P", MILLION * 1_000_000_000_000_000),
    ("E", MILLION * 1_000_000_000_000_000_000),
    ("Ki", MILLION << 10),
    ("Mi", MILLION << 20),
    ("Gi", MILLION << 30),
    ("Ti", MILLION << 40),
];

const TIMES: &[(&str, i128)] = &[
    ("", MILLION),
    ("us", 1),
    ("ms", 1000),
    ("s", MILLION),
    ("m", MILLION * 60),
    ("min", MILLION * 60),
    ("h", MILLION * 3600),
    ("d", MILLION * 86_400),
];

const FREQUENCIES: &[(&str, i128)] = &[("", MILLION), ("MHz", MILLION), ("GHz", MILLION * 1000)];

/// Of rates in millions a second: the prefix of a rate in a second.
const RATES: &[(&str, i128)] = &[
    ("", MILLION),
    ("k", 1000),
    ("M", MILLION),
    ("G", MILLION * 1000),
    ("T", MILLION * 1_000_000),
    ("P", MILLION * 1_000_000_000),
];

const SHARES: &[(&str, i128)] = &[("", MILLION), ("%", MILLION)];

/// Reads a value of a kind.
pub(crate) fn literal(kind: FieldKind, text: &str) -> Result<Value<'static>, LiteralError> {
    let whole = |n: i64| Ok(Value::whole(n));
    match kind {
        FieldKind::Text => Ok(Value::Text(text.as_bytes().to_vec().into())),
        FieldKind::Number(unit) => number(unit, text).map(Value::Number),
        FieldKind::CpuType => {
            number(FieldUnit::Megahertz, text.strip_prefix('t').unwrap_or(text)).map(Value::Number)
        }
        FieldKind::Day => match parse_date(text) {
            Ok(date) => whole(date.days()),
            Err(_) => Err(LiteralError::Form("a day such as 2026-11-20")),
        },
        FieldKind::Month => match parse_date(&format!("{}-01", text.replace('/', "-"))) {
            Ok(date) => whole(i64::from(date.year) * 12 + i64::from(date.month) - 1),
            Err(_) => Err(LiteralError::Form("a month such as 2026-11")),
        },
        FieldKind::Week => week(text).ok_or(LiteralError::Form("a week such as 2026-W47")),
        FieldKind::Time => {
            let padded = format!("{text}{}", if text.len() == 5 { ":00" } else { "" });
            match Time::read(Slot::whole(padded.as_bytes())) {
                Some(time) => whole(seconds(time)),
                _ => Err(LiteralError::Form("a time of day such as 18:00")),
            }
        }
        FieldKind::PowerOfTwo => {
            let mut classes = (-1..33).map(|k| Value::whole(k as i64));
            let found = classes.find(|class| label(kind, class) == text);
            found.ok_or(LiteralError::Form("a class such as 1, 2, 3-4, 5-8, 9-16"))
        }
        FieldKind::Class(words) => match words.iter().position(|&word| word == text) {
            Some(place) => whole(place as i64),
            None => Err(LiteralError::Word(words)),
        },
    }
}

/// A decimal number with the suffix of a unit, in millionths.
fn number(unit: FieldUnit, text: &str) -> Result<i128, LiteralError> {
    const FORM: LiteralError = LiteralError::Form("a number such as 12, 0.5, 2.5G");
    const SECONDS: LiteralError = LiteralError::Form("a time such as 12, 0.5s, 90min, 24h, 2d");
    const BYTES: LiteralError = LiteralError::Form("a size such as 4096, 2.5GB, 4GiB");
    const MHZ: LiteralError = LiteralError::Form("a frequency such as 450 or 2.6GHz");
    const RATE: LiteralError = LiteralError::Form("a rate in M/s such as 100, 0.5, 2.5G");
    const SHARE: LiteralError = LiteralError::Form("a share such as 5 or 12.5%");
    let (units, form) = match unit {
        FieldUnit::None => (PREFIXES, FORM),
        FieldUnit::Seconds => (TIMES, SECONDS),
        FieldUnit::Bytes => (PREFIXES, BYTES),
        FieldUnit::Megahertz => (FREQUENCIES, MHZ),
        FieldUnit::MillionPerSecond => (RATES, RATE),
        FieldUnit::Percent => (SHARES, SHARE),
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, mut suffix) = text.split_at(end);
    if unit == FieldUnit::Bytes {
        suffix = suffix.strip_suffix('B').unwrap_or(suffix);
    }
    let (_, factor) = units.iter().find(|(name, _)| *name == suffix).ok_or(form)?;
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || !all_digits(decimals) {
        return Err(form);
    }
    let decimals = decimals.trim_end_matches('0');
    let all: i128 = format!("{whole}{decimals}").parse().map_err(|_| LiteralError::Range)?;
    let scaled = all.checked_mul(*factor).ok_or(LiteralError::Range)?;
    let places = u32::try_from(decimals.len()).map_err(|_| LiteralError::Decimals)?;
    let divisor = 10i128.checked_pow(places).ok_or(LiteralError::Decimals)?;
    if scaled % divisor != 0 {
        return Err(LiteralError::Decimals);
    }
    Ok(scaled / divisor)
}

/// Monday of an ISO week.
fn week(text: &str) -> Option<Value<'static>> {
    let (year, week) = text.split_once("-W")?;
    let digits = |t: &str, n| t.len() == n && t.bytes().all(|b| b.is_ascii_digit());
    if !digits(year, 4) || !digits(week, 2) {
        return None;
    }
    let (year, week) = (year.parse().ok()?, week.parse().ok()?);
    super::calendar::monday(year, week).filter(|_| year > 0).map(Value::whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_format::civil::Date;

    fn of(kind: FieldKind, text: &str) -> Result<i128, LiteralError> {
        literal(kind, text).map(|value| match value {
            Value::Number(n) => n,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn numbers_with_units() {
        let count = |text| of(FieldKind::Number(FieldUnit::None), text);
        assert_eq!(count("12"), Ok(12 * MILLION));
        assert_eq!(count("2.5G"), Ok(2_500_000_000 * MILLION));
        assert_eq!(count("0.000001"), Ok(1));
        assert_eq!(count("0.0000001k"), Ok(100));
        assert_eq!(count("0.0000001"), Err(LiteralError::Decimals));
        assert_eq!(count("1.50000000000000000"), Ok(1_500_000));
        assert_eq!(count("99999999999999999999999999999999999999999"), Err(LiteralError::Range));
        assert_eq!(count("99999999999999999999999999E"), Err(LiteralError::Range));
        for bad in ["", "-1", "+1", "1e3", "1.", ".5", "1 G", "G", "1.2.3", "1s", "٣"] {
            assert!(matches!(count(bad), Err(LiteralError::Form(_))), "{bad}");
        }
        let time = |text| of(FieldKind::Number(FieldUnit::Seconds), text);
        assert_eq!([time("90min"), time("1.5h"), time("5400")], [Ok(5400 * MILLION); 3]);
        assert_eq!(time("250ms"), Ok(250_000));
        assert_eq!([time("5m"), time("2d")], [Ok(300 * MILLION), Ok(172_800 * MILLION)]);
        let rate = |text| of(FieldKind::Number(FieldUnit::MillionPerSecond), text);
        assert_eq!([rate("2G"), rate("2000")], [Ok(2000 * MILLION); 2]);
        let share = |text| of(FieldKind::Number(FieldUnit::Percent), text);
        assert_eq!([share("12.5%"), share("12.5")], [Ok(12_500_000); 2]);
        assert!(time("1G").is_err());
        let bytes = |text| of(FieldKind::Number(FieldUnit::Bytes), text);
        assert_eq!(bytes("4GiB"), Ok(MILLION << 32));
        assert_eq!([bytes("2GB"), bytes("2G")], [Ok(2_000_000_000 * MILLION); 2]);
    }

    #[test]
    fn days_and_classes() {
        assert_eq!(of(FieldKind::Month, "2026-11"), Ok((2026 * 12 + 10) * MILLION));
        assert_eq!(of(FieldKind::Month, "2026/11"), Ok((2026 * 12 + 10) * MILLION));
        assert!(of(FieldKind::Month, "2026-13").is_err());
        let monday = Date { year: 2026, month: 11, day: 16 }.days();
        assert_eq!(of(FieldKind::Week, "2026-W47"), Ok(i128::from(monday) * MILLION));
        for bad in ["2026-W00", "2026-W54", "2025-W53", "2026W47", "0000-W01"] {
            assert!(of(FieldKind::Week, bad).is_err(), "{bad}");
        }
        assert!(of(FieldKind::Week, "2026-W53").is_ok());
        assert_eq!(of(FieldKind::Time, "18:00"), Ok(64_800 * MILLION));
        assert!(of(FieldKind::Time, "24:00").is_err());
        assert_eq!(of(FieldKind::CpuType, "t450"), Ok(450 * MILLION));
        assert_eq!(of(FieldKind::PowerOfTwo, "3-4"), Ok(2 * MILLION));
        assert_eq!(of(FieldKind::Class(&["no", "yes"]), "yes"), Ok(MILLION));
        assert!(of(FieldKind::Class(&["no", "yes"]), "maybe").is_err());
    }
}
