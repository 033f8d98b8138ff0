//! Log targets: the words of `log =` and of `TOPAS_LOG`.

use crate::civil::Date;
use crate::out::Out;

/// What the `%` forms of a path stand for.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Local date of the line: %Y, %m, %d
    pub date: Date,
    /// Host name: %h
    pub host: &'a [u8],
    /// Numeric user id: %u
    pub uid: u32,
}

/// The path pattern of a `file:` target; None for a target of another kind.
pub fn file_pattern(target: &[u8]) -> Option<&[u8]> {
    target.strip_prefix(b"file:").filter(|path| path.first() == Some(&b'/'))
}

/// Whether a path stands for one file per user, so that nobody else need write it.
pub fn is_per_user(pattern: &[u8]) -> bool {
    forms(pattern).any(|form| form == Form::Percent(b'u'))
}

/// A path pattern taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A byte that stands for itself
    Plain(u8),
    /// `%` and this letter
    Percent(u8),
}

/// The forms of a path pattern in order. A `%` at the very end stands for itself.
pub fn forms(pattern: &[u8]) -> impl Iterator<Item = Form> {
    let mut rest = pattern;
    core::iter::from_fn(move || {
        if let [b'%', letter, tail @ ..] = rest {
            rest = tail;
            return Some(Form::Percent(*letter));
        }
        let (&byte, tail) = rest.split_first()?;
        rest = tail;
        Some(Form::Plain(byte))
    })
}

/// Appends the path a pattern stands for and a NUL. False if it does not fit or holds
/// a `%` form that is not known.
pub fn expand(pattern: &[u8], facts: &Facts<'_>, out: &mut Out<'_>) -> bool {
    for form in forms(pattern) {
        match form {
            Form::Plain(byte) => out.byte(byte),
            Form::Percent(b'Y') => out.dec_wide(facts.date.year.into(), 4),
            Form::Percent(b'm') => out.dec_wide(facts.date.month.into(), 2),
            Form::Percent(b'd') => out.dec_wide(facts.date.day.into(), 2),
            Form::Percent(b'u') => out.dec(facts.uid.into()),
            Form::Percent(b'%') => out.byte(b'%'),
            Form::Percent(b'h') => {
                for &byte in facts.host {
                    out.byte(if byte == b'/' { b'_' } else { byte });
                }
                &mut *out
            }
            Form::Percent(_) => return false,
        };
    }
    out.byte(0);
    !out.is_cut()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts<'_> =
        Facts { date: Date { year: 2026, month: 3, day: 7 }, host: b"n1/x", uid: 1000 };

    fn path(pattern: &[u8]) -> Option<std::vec::Vec<u8>> {
        let mut buf = [0; 60];
        let mut out = Out::new(&mut buf);
        expand(pattern, &FACTS, &mut out).then(|| out.text().to_vec())
    }

    #[test]
    fn every_form() {
        assert_eq!(path(b"/l/%h/%Y-%m-%d.%u.%%").unwrap(), b"/l/n1_x/2026-03-07.1000.%\0");
        assert_eq!(path(b"/l/%q"), None);
        assert_eq!(path(b"/l/%").unwrap(), b"/l/%\0");
        assert_eq!(path(&[b'a'; 60]), None);
    }

    #[test]
    fn kinds_of_target() {
        assert_eq!(file_pattern(b"file:/a"), Some(&b"/a"[..]));
        assert_eq!(file_pattern(b"file:a"), None);
        assert_eq!(file_pattern(b"syslog"), None);
        assert!(is_per_user(b"/l/%Y.%u") && !is_per_user(b"/l/%%u"));
    }
}
