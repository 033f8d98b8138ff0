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
