//! Numbers as text, for every form and every tool that shows reports.
//!
//! Integers are written by integers: exact, or rounded half up once. Rates and other quotients
//! have a fixed number of significant digits. Charts write theirs themselves (`topas_chart::Unit`),
//! with the same prefixes of SI.
//!
//! Pages set the thousands of amounts apart as pictures do ([`grouped`]): what people read there is not
//! cut out by programs. Text for terminals, CSV and JSON have plain digits.

mod rows;
mod significant;

use topas_data::PeTime;

pub use topas_chart::grouped;

pub(crate) use rows::{dec, six_places, three_places};
pub(crate) use significant::{
    compact, error_percent, machine, machine_text, short, si, si_as, significant, trimmed,
};
pub use significant::{duration, si_bare};

/// What people see where nothing was measured.
pub(crate) const NONE: &str = "-";

/// So many units of 10^-`scale` as a decimal number with `places` digits after the point, rounded
/// half up; as many digits as `scale` if that is less.
pub(crate) fn fixed(units: u128, scale: u32, places: u32) -> String {
    let dropped = 10u128.pow(scale.saturating_sub(places));
    let rounded = units / dropped + u128::from(units % dropped >= dropped.div_ceil(2));
    let one = 10u128.pow(scale.min(places));
    let width = scale.min(places) as usize;
    match width {
        0 => rounded.to_string(),
        _ => format!("{}.{:0width$}", rounded / one, rounded % one),
    }
}

/// So many units of 10^-`scale` as a decimal number, exact, without needless zeros.
pub(crate) fn exact(units: u128, scale: u32) -> String {
    fixed(units, scale, scale).trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// ns in s with so many places, at most 9.
pub(crate) fn seconds(ns: u128, places: u32) -> String {
    fixed(ns, 9, places)
}

/// ns in s, exact, without needless zeros.
pub(crate) fn exact_seconds(ns: u128) -> String {
    exact(ns, 9)
}

/// Bytes in kB of 1,000 B, exact, without needless zeros.
pub(crate) fn kilobytes(bytes: u128) -> String {
    exact(bytes, 3)
}

/// Thousandths of `part` by `whole`, rounded half up; None by nothing. Saturates.
#[inline]
pub(crate) fn thousandths(part: u64, whole: u64) -> Option<u64> {
    if whole == 0 {
        return None;
    }
    if let Some(scaled) = part.checked_mul(1000) {
        return Some(scaled / whole + u64::from(scaled % whole >= whole.div_ceil(2)));
    }
    let (scaled, whole) = (u128::from(part) * 1000, u128::from(whole));
    Some(u64::try_from((scaled + whole / 2) / whole).unwrap_or(u64::MAX))
}

/// Thousandths of `count` per s, rounded half up; None in no time.
#[inline]
pub(crate) fn per_second(count: u64, micros: u64) -> Option<u64> {
    if micros == 0 {
        return None;
    }
    // 10^6 for µs and 10^3 for thousandths.
    let scaled = u128::from(count) * 1_000_000_000;
    let (scaled, micros) = (scaled + u128::from(micros) / 2, u128::from(micros));
    // Most numbers are small enough for the fast division.
    match u64::try_from(scaled) {
        Ok(scaled) => Some(scaled / micros as u64),
        Err(_) => Some(u64::try_from(scaled / micros).unwrap_or(u64::MAX)),
    }
}

/// µs in ms, rounded half up.
#[inline]
pub(crate) fn millis(micros: u64) -> u64 {
    micros / 1000 + u64::from(micros % 1000 >= 500)
}

/// `part` of `whole` in percent, without the sign, or None if there is no whole.
pub(crate) fn percentage(part: u128, whole: u128, places: u32) -> Option<String> {
    let one = 10u128.pow(places);
    let scaled = part
        .saturating_mul(200 * one)
        .saturating_add(whole)
        .checked_div(whole.saturating_mul(2))?;
    Some(fixed(scaled, places, places))
}

/// `part` of `whole` in percent for people: what is little is not shown as nothing.
pub(crate) fn percent_of(part: u128, whole: u128) -> String {
    match percentage(part, whole, 2) {
        None => NONE.to_owned(),
        Some(text) if text == "0.00" && part > 0 => "<0.01%".to_owned(),
        Some(text) => text + "%",
    }
}

/// A share in percent: `33.1%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A change in percent with its sign: `+33.1%`.
pub(crate) fn signed_percent(share: f64) -> String {
    format!("{:+.1}%", share * 100.0)
}

/// `part / whole`: whole if it is, else to four significant digits.
pub(crate) fn quotient(part: u128, whole: u128) -> String {
    match part.checked_rem(whole) {
        None => NONE.to_owned(),
        Some(0) => compact(part / whole),
        Some(_) => short(part as f64 / whole as f64),
    }
}

/// Hours, minutes and seconds: `931114:07:45`.
pub(crate) fn hours(time: PeTime) -> String {
    let seconds = time.whole_seconds();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// PE-hours to a hundredth, rounded half up once: `1234.56`.
pub fn pe_hours(time: PeTime) -> String {
    /// A hundredth of an hour in µs.
    const HUNDREDTH: u128 = 36_000_000;
    fixed(time.0 / HUNDREDTH + u128::from(time.0 % HUNDREDTH >= HUNDREDTH / 2), 2, 2)
}

/// Seconds of PE time with six decimals.
pub(crate) fn pe_seconds(time: PeTime) -> String {
    fixed(time.0, 6, 6)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentages_round_half_up_once() {
        assert_eq!(percentage(1, 8, 2).as_deref(), Some("12.50"));
        assert_eq!(percentage(1, 800, 2).as_deref(), Some("0.13"));
        assert_eq!(percentage(12_499, 1_000_000, 1).as_deref(), Some("1.2"));
        assert_eq!(percentage(1, 1, 2).as_deref(), Some("100.00"));
        assert_eq!(percentage(0, 3, 2).as_deref(), Some("0.00"));
        assert_eq!(percentage(0, 0, 2), None);
        let of_all = [(0, 9), (1, 100_000), (1, 8), (0, 0)].map(|(a, b)| percent_of(a, b));
        assert_eq!(of_all, ["0.00%", "<0.01%", "12.50%", "-"]);
    }

    #[test]
    fn times_round_half_up_once() {
        assert_eq!(hours(PeTime(0)), "0:00:00");
        assert_eq!(hours(PeTime(3_599_499_999)), "0:59:59");
        assert_eq!(hours(PeTime(3_599_500_000)), "1:00:00");
        assert_eq!(pe_seconds(PeTime(1_000_001)), "1.000001");
        assert_eq!(fixed(7_744_150_000, 9, 4), "7.7442");
        assert_eq!(fixed(7_744_149_999, 9, 4), "7.7441");
        assert_eq!(fixed(999_999_999, 9, 3), "1.000");
        assert_eq!(fixed(1, 9, 9), "0.000000001");
        assert_eq!(fixed(0, 9, 6), "0.000000");
        assert_eq!(
            [fixed(1_500_000_000, 9, 0), fixed(7, 0, 3)],
            ["2", "7"],
            "no digit that is none"
        );
        assert_eq!((millis(1499), millis(1500), millis(0)), (1, 2, 0));
    }

    #[test]
    fn decimals_have_no_needless_zeros() {
        let millionths = [50_000_000, 500_000, 0, 100_000_001].map(|n| exact(n, 6));
        assert_eq!(millionths, ["50", "0.5", "0", "100.000001"]);
        assert_eq!([1_500_000_000, 7].map(|ns| exact(ns, 9)), ["1.5", "0.000000007"]);
        assert_eq!([400_000_000, 344, 0].map(|b| exact(b, 3)), ["400000", "0.344", "0"]);
    }

    #[test]
    fn ratios_round_half_up() {
        assert_eq!(thousandths(1, 2), Some(500));
        assert_eq!(thousandths(1, 2000), Some(1), "half up");
        assert_eq!(thousandths(1, 2001), Some(0));
        assert_eq!(thousandths(5, 3), Some(1667));
        assert_eq!(thousandths(u64::MAX, 3), Some(u64::MAX), "saturates");
        assert_eq!(thousandths(1_000_000_000_000_000_000, 1000), Some(1_000_000_000_000_000_000));
        assert_eq!(thousandths(1, 0), None);
    }

    proptest! {
        #[test]
        fn no_digit_is_lost(ns in 0u128..u128::from(u64::MAX)) {
            let (whole, rest) = exact(ns, 9).split_once('.').map_or_else(
                || (exact(ns, 9).parse::<u128>().unwrap(), 0),
                |(a, b)| (a.parse().unwrap(), format!("{b:0<9}").parse::<u128>().unwrap()),
            );
            prop_assert_eq!(whole * 1_000_000_000 + rest, ns);
            let rounded: f64 = fixed(ns, 9, 6).parse().unwrap();
            prop_assert!((rounded - ns as f64 / 1e9).abs() <= 0.5e-6 + ns as f64 * 1e-24 + rounded * 1e-15);
        }
    }

    #[test]
    fn pe_hours_round_once() {
        for (micros, text) in [
            (0, "0.00"),
            (3_600_000_000, "1.00"),
            (17_999_999, "0.00"),
            (18_000_000, "0.01"),
            (12_345_678_000_000_000, "3429355.00"),
        ] {
            assert_eq!(pe_hours(PeTime(micros)), text, "{micros}");
        }
    }
}
