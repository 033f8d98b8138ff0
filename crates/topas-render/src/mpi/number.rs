//! Numbers of a profile as text. Integers are exact, what is rounded is rounded once, half up.

use topas_mpi_data::{MpiProfile, RoutineAmount, RoutineNumber};

/// What was not measured.
pub(super) const NONE: &str = "-";

/// Name of a routine without `MPI_`. Lines can hold any.
pub(super) fn named(profile: &MpiProfile, number: RoutineNumber) -> String {
    crate::figure::named(profile.routines.name(number).as_bytes())
}

/// ns in s with so many decimals, at most 9.
pub(super) fn seconds(ns: u128, decimals: u32) -> String {
    let unit = 10u128.pow(9 - decimals.min(9));
    let scaled = ns / unit + u128::from(ns % unit >= unit.div_ceil(2));
    let scale = 10u128.pow(decimals.min(9));
    let decimals = decimals.min(9) as usize;
    format!("{}.{:02$}", scaled / scale, scaled % scale, decimals)
}

/// ns in s, exact, without needless zeros.
pub(super) fn exact_seconds(ns: u128) -> String {
    trimmed(format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000))
}

/// Bytes in kB of 1,000 B, exact, without needless zeros.
pub(super) fn kilobytes(bytes: u128) -> String {
    trimmed(format!("{}.{:03}", bytes / 1000, bytes % 1000))
}

fn trimmed(text: String) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A whole number, from nine digits on four of them and an exponent: `4711`, `2.430e12`.
pub(super) fn compact(n: u128) -> String {
    if n < 100_000_000 { n.to_string() } else { crate::number::significant(n as f64, 4) }
}

/// A number to four significant digits, with an exponent where that is shorter.
pub(super) fn short(value: f64) -> String {
    if value.is_finite() { crate::number::significant(value, 4) } else { NONE.to_owned() }
}

/// An amount for people: nothing is blank, what was not counted `-`; a `+` behind it says that
/// there may be more. As a suffix it leaves the number readable for awk.
pub(super) fn amount(amount: RoutineAmount, text: impl Fn(u128) -> String) -> String {
    match amount {
        RoutineAmount::Nothing => String::new(),
        RoutineAmount::NotCounted => NONE.to_owned(),
        RoutineAmount::AtLeast(n) => text(n) + "+",
        RoutineAmount::Exact(n) => text(n),
    }
}

/// An amount for programs: empty unless all was counted.
pub(super) fn plain(amount: RoutineAmount) -> String {
    amount.exact().map_or_else(String::new, |n| n.to_string())
}

/// `part` of `whole` as a number of percent for programs: empty of nothing.
pub(super) fn share(part: u128, whole: u128) -> String {
    crate::number::percent(part, whole, 4).unwrap_or_default()
}

/// `part` of `whole` in percent for people; what is little is not shown as nothing.
pub(super) fn percent(part: u128, whole: u128) -> String {
    match crate::number::percent(part, whole, 2) {
        None => NONE.to_owned(),
        Some(text) if text == "0.00" && part > 0 => "<0.01%".to_owned(),
        Some(text) => text + "%",
    }
}

/// `part / whole`: whole if it is, else to four significant digits.
pub(super) fn quotient(part: u128, whole: u128) -> String {
    match part.checked_rem(whole) {
        None => NONE.to_owned(),
        Some(0) => compact(part / whole),
        Some(_) => short(part as f64 / whole as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_round_half_up_once() {
        assert_eq!(seconds(7_744_150_000, 4), "7.7442");
        assert_eq!(seconds(7_744_149_999, 4), "7.7441");
        assert_eq!(seconds(999_999_999, 3), "1.000");
        assert_eq!(seconds(1, 9), "0.000000001");
        assert_eq!(seconds(0, 6), "0.000000");
        assert_eq!(exact_seconds(1_500_000_000), "1.5");
        assert_eq!(exact_seconds(7), "0.000000007");
        assert_eq!(
            [kilobytes(400_000_000), kilobytes(344), kilobytes(0)],
            ["400000", "0.344", "0"]
        );
        assert_eq!([compact(99_999_999), compact(100_000_000)], ["99999999", "100000000"]);
        assert_eq!(
            [percent(0, 9), percent(1, 100_000), percent(1, 8)],
            ["0.00%", "<0.01%", "12.50%"]
        );
        assert_eq!(percent(0, 0), "-");
        assert_eq!(compact(2_430_000_000_000), "2.430e12");
    }

    proptest! {
        #[test]
        fn no_digit_is_lost(ns in 0u128..u128::from(u64::MAX)) {
            let (whole, rest) = exact_seconds(ns).split_once('.').map_or_else(
                || (exact_seconds(ns).parse::<u128>().unwrap(), 0),
                |(a, b)| (a.parse().unwrap(), format!("{b:0<9}").parse::<u128>().unwrap()),
            );
            prop_assert_eq!(whole * 1_000_000_000 + rest, ns);
            let rounded: f64 = seconds(ns, 6).parse().unwrap();
            prop_assert!((rounded - ns as f64 / 1e9).abs() <= 0.5e-6 + ns as f64 * 1e-24 + rounded * 1e-15);
        }
    }
}
