//! Values as people read them, and as they are written in a query.

use topas_format::civil::Time;
use topas_format::shown::Shown;

use super::value::MILLION;
use super::{FieldKind, Value, calendar};

/// A value of a field of this kind; `-` if missing. Text that is not UTF-8 or would
/// move the cursor is escaped as in the log, with `%`.
pub fn label(kind: FieldKind, value: &Value<'_>) -> String {
    let n = match value {
        Value::Missing => return "-".to_owned(),
        Value::Text(text) => return Shown(text).to_string(),
        Value::Number(n) => *n,
    };
    let whole = n.div_euclid(MILLION) as i64;
    match kind {
        FieldKind::Text | FieldKind::Number(_) => decimal(n),
        FieldKind::CpuType => format!("t{}", decimal(n)),
        FieldKind::Day => calendar::day(whole).format("%Y-%m-%d").to_string(),
        FieldKind::Month => format!("{:04}-{:02}", whole.div_euclid(12), whole.rem_euclid(12) + 1),
        FieldKind::Week => calendar::day(whole).format("%G-W%V").to_string(),
        FieldKind::Time => {
            format!("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
        }
        FieldKind::PowerOfTwo => match whole {
            ..0 => "0".to_owned(),
            k @ 0..=1 => (k + 1).to_string(),
            k => format!("{}-{}", (1i64 << (k - 1).min(62)) + 1, 1i64 << k.min(62)),
        },
        FieldKind::Class(words) => {
            let word = usize::try_from(whole).ok().and_then(|at| words.get(at));
            word.copied().unwrap_or("-").to_owned()
        }
    }
}

/// Millionths as a decimal number without needless zeros.
pub(super) fn decimal(millionths: i128) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let n = millionths.unsigned_abs();
    let text = format!("{sign}{}.{:06}", n / 1_000_000, n % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Seconds since midnight of a time of day.
pub(crate) fn seconds(time: Time) -> i64 {
    (i64::from(time.hour) * 60 + i64::from(time.minute)) * 60 + i64::from(time.second)
}

#[cfg(test)]
mod tests {
    use super::super::{FieldUnit, class};
    use super::*;
    use topas_format::civil::Date;

    #[test]
    fn labels_of_every_kind() {
        let whole = |kind, n: i64| label(kind, &Value::whole(n));
        assert_eq!(whole(FieldKind::CpuType, 450), "t450");
        assert_eq!(whole(FieldKind::Month, 1999 * 12 + 4), "1999-05");
        assert_eq!(whole(FieldKind::Time, 43_201), "12:00:01");
        assert_eq!(whole(FieldKind::Class(&calendar::WEEKDAYS), 4), "Fri");
        assert_eq!(whole(FieldKind::Class(&class::WALL), 99), "-");
        let sizes: Vec<_> = (-1..5).map(|k| whole(FieldKind::PowerOfTwo, k)).collect();
        assert_eq!(sizes, ["0", "1", "2", "3-4", "5-8", "9-16"]);
        assert_eq!(label(FieldKind::Number(FieldUnit::Seconds), &Value::Number(1_500_000)), "1.5");
        assert_eq!(label(FieldKind::Text, &Value::Missing), "-");
        let text = |bytes: &'static [u8]| label(FieldKind::Text, &Value::Text(bytes.into()));
        assert_eq!(text("größe".as_bytes()), "größe");
        assert_eq!(text(b"a\x1b[2J\xff"), "a%1B[2J%FF");
        assert_eq!(text("\u{202e}x".as_bytes()), "%E2%80%AEx");
    }

    #[test]
    fn days_of_all_years() {
        for (year, month, day) in
            [(1, 1, 1), (1582, 10, 15), (1969, 12, 31), (1970, 1, 1), (2024, 2, 29), (9999, 12, 31)]
        {
            let days = Date { year, month, day }.days();
            let text = format!("{year:04}-{month:02}-{day:02}");
            assert_eq!(label(FieldKind::Day, &Value::whole(days)), text);
        }
    }
}
