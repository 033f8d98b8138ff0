//! Text as it may be shown: no character that steers a terminal, an XML reader or the order of
//! letters around it.

use topas_format::shown::replaced;

/// `text` on one line: what would act on a terminal or on a reader of XML becomes U+FFFD.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(replaced).collect()
}

/// `text` in ASCII: signs of ours by their likes, anything else by `?`.
pub(crate) fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' '..='~' => out.push(c),
            '\u{202f}' | '\u{a0}' => out.push(' '),
            'µ' => out.push('u'),
            '–' | '—' | '−' => out.push('-'),
            '×' => out.push('x'),
            '…' => out.push_str("..."),
            '▲' => out.push('^'),
            '▼' => out.push('v'),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            _ => out.push('?'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers() {
        assert_eq!(
            clean("a\x1b[31m\n\u{202e}b\u{85}é\0"),
            "a\u{fffd}[31m\u{fffd}\u{fffd}b\u{fffd}é\u{fffd}"
        );
        assert_eq!(ascii("1 µs – 2×"), "1 us - 2x");
        assert_eq!(ascii("über"), "?ber");
    }
}
