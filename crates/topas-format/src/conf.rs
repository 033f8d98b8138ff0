//! Syntax and keys of `topas.conf`.
//!
//! A line is `key = value`, blank, or a comment that starts with `#`. The value runs
//! to the end of the line, blanks around it do not count, and nothing is quoted. A
//! list is separated by blanks. A later line of the same key wins. The module and
//! the tools read the file with this code, so they cannot disagree.

use crate::env::switch;
use crate::event::Metric;
use crate::hash::{place, word};
use crate::text::{Cursor, trim};

/// A key of the file: what `etc/topas.conf` and `topas.conf(5)` show.
pub struct Key {
    /// Name as written in the file.
    pub name: &'static str,
    /// Type in words, such as `yes|no`.
    pub form: &'static str,
    /// Value in force when the key is absent.
    pub default: &'static str,
    /// One sentence on what it does.
    pub about: &'static str,
}

/// Every key. [`Settings::read`] knows the same names; a test compares the two.
pub const KEYS: &[Key] = &[
    Key {
        name: "measure",
        form: "yes|no",
        default: "yes",
        about: "The site's switch: `no` makes every linked program run unmeasured.",
    },
    Key {
        name: "link",
        form: "yes|no",
        default: "yes",
        about: "`no` makes the compiler drivers link without the module.",
    },
    Key {
        name: "log",
        form: "list of targets",
        default: "(none)",
        about: "Where a line goes: the first target that takes it. `file:PATH` with %Y %m %d \
                (date), %h (host), %u (numeric user id), %% (a percent sign).",
    },
    Key {
        name: "user_log",
        form: "yes|no",
        default: "yes",
        about: "Whether TOPAS_LOG in a user's environment takes the place of `log`.",
    },
    Key {
        name: "print_batch",
        form: "yes|no",
        default: "no",
        about: "Whether batch jobs print their result as if TOPAS_PRINT were set.",
    },
    Key {
        name: "ops",
        form: "both|fpops|intops|loads|stores",
        default: "both",
        about: "What is counted: `both` lets the lower rank count floating point and the other \
                integer operations.",
    },
];

/// A `key = value` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Line number, from 1.
    pub line: u32,
    /// Key, without blanks around it.
    pub key: &'a [u8],
    /// Value, without blanks around it; may be empty.
    pub value: &'a [u8],
}

/// A line that is neither blank nor a comment nor `key = value`; holds its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnEntry {
    /// Line number, from 1.
    pub line: u32,
}

/// The entries of a file in order, with the lines that are none.
pub fn entries(text: &[u8]) -> impl Iterator<Item = Result<Entry<'_>, NotAnEntry>> {
    let mut text = Cursor::new(text);
    let mut line = 0;
    core::iter::from_fn(move || {
        while !text.rest.is_empty() {
            line += 1;
            let mut half = Cursor::new(trim(text.until(b'\n')));
            if matches!(half.peek(), 0 | b'#') {
                continue;
            }
            let (whole, key) = (half.rest.len(), trim(half.until(b'=')));
            return Some(if key.is_empty() || key.len() == whole {
                Err(NotAnEntry { line })
            } else {
                Ok(Entry { line, key, value: trim(half.rest) })
            });
        }
        None
    })
}

/// The words of a list value.
pub fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut text = Cursor::new(value);
    core::iter::from_fn(move || {
        text.rest = trim(text.rest);
        (!text.rest.is_empty()).then(|| text.until(b' '))
    })
}

/// What the measuring ranks count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ops {
    /// The lower rank counts floating point, the other integer operations.
    Both,
    /// Every measuring rank counts this.
    One(Metric),
}

impl Ops {
    /// Reads `fpops`, `intops`, `loads`, `stores` or `both`.
    #[inline(never)]
    pub fn parse(value: &[u8]) -> Option<Ops> {
        const WORDS: [u32; 5] =
            [word(b"fpops"), word(b"intops"), word(b"loads"), word(b"stores"), word(b"both")];
        const METRICS: [Metric; 4] = [Metric::FpOps, Metric::IntOps, Metric::Loads, Metric::Stores];
        let at = place(&WORDS, value)?;
        Some(METRICS.get(at).map_or(Ops::Both, |metric| Ops::One(*metric)))
    }
}

/// The values in force; what a file does not say has its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    /// `measure`
    pub measure: bool,
    /// `link`
    pub link: bool,
    /// `log`, a list for [`words`]
    pub log: &'a [u8],
    /// `user_log`
    pub user_log: bool,
    /// `print_batch`
    pub print_batch: bool,
    /// `ops`
    pub ops: Ops,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings {
            measure: true,
            link: true,
            log: b"",
            user_log: true,
            print_batch: false,
            ops: Ops::Both,
        }
    }
}

impl<'a> Settings<'a> {
    /// Reads a file's text. Lines that are no entry, unknown keys and unknown values
    /// change nothing: the module has nobody to tell. The tools report them.
    #[inline(never)]
    pub fn read(text: &'a [u8]) -> Self {
        let mut settings = Settings::default();
        let mut text = Cursor::new(text);
        while !text.rest.is_empty() {
            let mut line = Cursor::new(text.until(b'\n'));
            // The key of a comment begins with #, and so is none; without an equals sign
            // the value is empty, and so is none.
            let key = trim(line.until(b'='));
            settings.set(key, trim(line.rest));
        }
        settings
    }

    /// Sets one key. False if the key is not known or the value is not of its form.
    #[inline(never)]
    pub fn set(&mut self, key: &[u8], value: &'a [u8]) -> bool {
        const NAMES: [u32; 6] = [
            word(b"log"),
            word(b"ops"),
            word(b"measure"),
            word(b"link"),
            word(b"user_log"),
            word(b"print_batch"),
        ];
        if value.is_empty() {
            return false;
        }
        let place = match place(&NAMES, key) {
            Some(0) => {
                self.log = value;
                return true;
            }
            Some(1) => return Ops::parse(value).map(|ops| self.ops = ops).is_some(),
            Some(2) => &mut self.measure,
            Some(3) => &mut self.link,
            Some(4) => &mut self.user_log,
            Some(_) => &mut self.print_batch,
            None => return false,
        };
        match switch(value) {
            Some(on) => *place = on,
            None => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_table_can_be_set_to_its_default() {
        for key in KEYS {
            let mut s = Settings::default();
            assert!(s.set(key.name.as_bytes(), key.default.as_bytes()), "{}", key.name);
            assert!(!s.set(key.name.as_bytes(), b""), "{}", key.name);
            if key.name != "log" {
                assert_eq!(s, Settings::default(), "{}", key.name);
            }
        }
        assert!(!Settings::default().set(b"colour", b"yes"));
    }

    #[test]
    fn reads_comments_blanks_and_the_last_of_two() {
        let text = b"# c\n\n log = file:/a file:/b \nmeasure=no\nmeasure = yes\nuser_log = no\r\nops = loads";
        let s = Settings::read(text);
        assert_eq!(s.log, b"file:/a file:/b");
        assert!(s.measure && !s.user_log);
        assert_eq!(s.ops, Ops::One(Metric::Loads));
        assert_eq!(words(s.log).count(), 2);
    }

    #[test]
    fn says_which_lines_are_no_entries() {
        let bad: std::vec::Vec<_> =
            entries(b"a=1\nnonsense\n=x\n").filter_map(Result::err).map(|e| e.line).collect();
        assert_eq!(bad, [2, 3]);
    }

    #[test]
    fn a_value_of_the_wrong_form_changes_nothing() {
        let s = Settings::read(b"measure = perhaps\nops = flops\n");
        assert_eq!(s, Settings::default());
    }
}
