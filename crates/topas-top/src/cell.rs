//! A cell of the board: in a few digits for the eye, and as a plain number for other programs.

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopCell {
    /// For the eye: rounded, with a prefix or a percent sign
    pub shown: String,
    /// The same as comma separated values have it: a number in the unit of the column, or words; empty where nothing was
    /// counted
    pub value: String,
}

impl TopCell {
    /// Words, or a number that is told as it is.
    pub fn words(words: impl ToString) -> TopCell {
        let shown = words.to_string();
        TopCell { value: shown.clone(), shown }
    }

    /// A number of calls, messages, ranks or bytes; None if it was not counted.
    pub fn amount(amount: Option<u128>) -> TopCell {
        TopCell {
            shown: amount.map_or_else(|| "-".to_owned(), short),
            value: amount.map_or_else(String::new, |amount| amount.to_string()),
        }
    }

    /// A time in ns, told in s.
    pub fn time(ns: u128) -> TopCell {
        TopCell { shown: seconds(ns), value: format!("{:.6}", ns as f64 / 1e9) }
    }

    /// A share of 1, told in percent.
    pub fn share(share: f64) -> TopCell {
        TopCell { shown: percent(share), value: format!("{:.2}", share * 100.0) }
    }
}

/// A share of 1 as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// ns in s, in a few digits.
pub fn seconds(ns: u128) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds < 10.0 { format!("{seconds:.2}") } else { format!("{seconds:.0}") }
}

/// A large number in a few digits, with an SI prefix.
fn short(n: u128) -> String {
    if n < 1000 { n.to_string() } else { topas_render::si_bare(n as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_get_plain_numbers() {
        let told = |cell: TopCell| (cell.shown, cell.value);
        let both = |shown: &str, value: &str| (shown.to_owned(), value.to_owned());
        assert_eq!(told(TopCell::share(0.404)), both("40%", "40.40"));
        assert_eq!(told(TopCell::amount(Some(17_740))), both("17.74k", "17740"));
        assert_eq!(told(TopCell::amount(None)), both("-", ""));
        assert_eq!(told(TopCell::time(12_345_678_900)), both("12", "12.345679"));
        assert_eq!(told(TopCell::words("n1")), both("n1", "n1"));
    }

    #[test]
    fn numbers_are_short() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1.000k"),
            (12_345, "12.35k"),
            (123_456, "123.5k"),
            (5_600_000_000, "5.600G"),
        ] {
            assert_eq!(short(n), text);
        }
        assert_eq!(
            (seconds(1_234_000_000), seconds(312_400_000_000)),
            ("1.23".into(), "312".into())
        );
    }
}
