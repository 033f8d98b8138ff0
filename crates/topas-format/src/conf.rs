//! Syntax and keys of `topas.conf`.
//!
//! A line is `key = value`, blank, or a comment that starts with `#`. The value runs
//! to the end of the line, blanks around it do not count, and nothing is quoted. A
//! list is separated by blanks. A later line of the same key wins. The module and
//! the tools read the file with this code, so they cannot disagree.

use crate::env::switch;
use crate::event::Metric;
use crate::hash::{place, word};
use crate::name_list::listed;
use crate::text::{Cursor, trim, whole};

/// Bytes of the file that measured programs read; a longer one loses its end.
pub const MAX_READ: usize = 8192;

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
        name: "batch_only",
        form: "yes|no",
        default: "no",
        about: "Whether only programs of batch jobs are measured.",
    },
    Key {
        name: "min_pes",
        form: "number",
        default: "0",
        about: "Launches of fewer ranks are not measured.",
    },
    Key {
        name: "serial",
        form: "yes|no",
        default: "no",
        about: "Whether programs that run alone are measured, too, if they were linked while \
                this was `yes`: one line, rank 0 of 1.",
    },
    Key {
        name: "only_exe",
        form: "list of names",
        default: "(all)",
        about: "File names of executables that are measured; `*` stands for any characters.",
    },
    Key {
        name: "skip_exe",
        form: "list of names",
        default: "(none)",
        about: "File names of executables that are not measured; `*` stands for any characters.",
    },
    Key {
        name: "only_user",
        form: "list of users",
        default: "(all)",
        about: "Users that are measured, by name or numeric id; `*` stands for any characters.",
    },
    Key {
        name: "skip_user",
        form: "list of users",
        default: "(none)",
        about: "Users that are not measured, by name or numeric id; `*` stands for any \
                characters.",
    },
    Key {
        name: "signals",
        form: "yes|no",
        default: "yes",
        about: "Whether a program that faults, aborts or reaches a limit, and so ends by a \
                signal, leaves its line, too.",
    },
    Key {
        name: "sigterm",
        form: "yes|no",
        default: "no",
        about: "Whether a program that is ended from outside, by SIGTERM or the like, leaves its \
                line, too. Then the signal no longer ends it at once while it waits for a file \
                system that hangs, or in vfork.",
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
                (date), %h (host), %u (numeric user id), %% (a percent sign); `syslog`; \
                `unix:PATH`, a datagram socket.",
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
        form: "auto|both|fpops|intops|loads|stores",
        default: "auto",
        about: "What is counted: `both` lets the lower rank count floating point and the other \
                integer operations; `auto` does so where the processor counts integer operations, \
                else both ranks count floating point operations.",
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

/// The part of a file that is in force: whole lines of the first [`MAX_READ`] bytes. A value
/// that is cut would be another one.
pub fn in_force(text: &[u8]) -> &[u8] {
    let mut text = text.get(..MAX_READ).unwrap_or(text);
    if text.len() == MAX_READ {
        while let [whole @ .., last] = text
            && *last != b'\n'
        {
            text = whole;
        }
    }
    text
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
    /// As [`Ops::Both`] where the processor counts integer operations, else floating point
    /// operations on each rank, so that their sum has an error bar.
    Auto,
    /// The lower rank counts floating point, the other integer operations.
    Both,
    /// Every measuring rank counts this.
    One(Metric),
}

impl Ops {
    /// Reads `fpops`, `intops`, `loads`, `stores`, `both` or `auto`.
    #[inline(never)]
    pub fn parse(value: &[u8]) -> Option<Ops> {
        const WORDS: [u32; 6] = [
            word(b"fpops"),
            word(b"intops"),
            word(b"loads"),
            word(b"stores"),
            word(b"both"),
            word(b"auto"),
        ];
        const CHOICES: [Ops; 6] = [
            Ops::One(Metric::FpOps),
            Ops::One(Metric::IntOps),
            Ops::One(Metric::Loads),
            Ops::One(Metric::Stores),
            Ops::Both,
            Ops::Auto,
        ];
        CHOICES.get(place(&WORDS, value)?).copied()
    }

    /// The word of [`Ops::parse`]; `l1miss`, which every rank counts, is none of them.
    pub const fn word(self) -> &'static str {
        match self {
            Ops::Auto => "auto",
            Ops::Both => "both",
            Ops::One(Metric::FpOps) => "fpops",
            Ops::One(Metric::IntOps) => "intops",
            Ops::One(Metric::Loads) => "loads",
            Ops::One(Metric::Stores) => "stores",
            Ops::One(Metric::L1Miss) => "l1miss",
        }
    }

    /// What the rank counts that has `place` measuring ranks below it; `integers` tells whether
    /// the processor counts integer operations.
    #[inline(always)]
    pub fn metric(self, place: u32, integers: impl FnOnce() -> bool) -> Metric {
        match self {
            Ops::One(metric) => metric,
            _ if place.is_multiple_of(2) => Metric::FpOps,
            Ops::Auto if !integers() => Metric::FpOps,
            _ => Metric::IntOps,
        }
    }
}

/// The value of a key as topas.conf could say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingValue<'a> {
    /// `yes` or `no`
    Switch(bool),
    /// A number
    Number(u32),
    /// A text, such as a list
    Text(&'a [u8]),
    /// One of the words that the key knows
    Word(&'static str),
}

/// A key whose value is a list for [`words`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum List {
    Log,
    OnlyExe,
    SkipExe,
    OnlyUser,
    SkipUser,
}

const LISTS: usize = 5;

/// A key that is `yes` or `no`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum Switch {
    Measure,
    Link,
    UserLog,
    Signals,
    Sigterm,
    PrintBatch,
    BatchOnly,
    Serial,
}

const SWITCHES: usize = 8;

/// The switches that are on by default, a bit for each.
const ON: u32 = 1 << Switch::Measure as u32
    | 1 << Switch::Link as u32
    | 1 << Switch::UserLog as u32
    | 1 << Switch::Signals as u32;

/// The keys that [`Settings`] holds: the lists, the switches, and the rest.
const NAMES: [u32; LISTS + SWITCHES + 2] = [
    word(b"log"),
    word(b"only_exe"),
    word(b"skip_exe"),
    word(b"only_user"),
    word(b"skip_user"),
    word(b"measure"),
    word(b"link"),
    word(b"user_log"),
    word(b"signals"),
    word(b"sigterm"),
    word(b"print_batch"),
    word(b"batch_only"),
    word(b"serial"),
    word(b"min_pes"),
    word(b"ops"),
];

/// Place of `min_pes` in [`NAMES`].
const MIN_PES: usize = LISTS + SWITCHES;

/// The values in force; what a file does not say has its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    lists: [Option<&'a [u8]>; LISTS],
    /// A bit for each [`Switch`] that is on
    switches: u32,
    /// `min_pes`
    pub min_pes: u32,
    /// `ops`
    pub ops: Ops,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings { switches: ON, ops: Ops::Auto, ..Settings::unread() }
    }
}

impl<'a> Settings<'a> {
    /// Settings before a file is read: all zero, as memory of a program is.
    pub const fn unread() -> Self {
        let ops = Ops::One(Metric::FpOps);
        Settings { lists: [None; LISTS], switches: 0, min_pes: 0, ops }
    }

    /// Reads a file's text. Lines that are no entry, unknown keys and unknown values
    /// change nothing: the module has nobody to tell. The tools report them.
    pub fn read(text: &'a [u8]) -> Self {
        let mut settings = Settings::unread();
        settings.fill(text);
        settings
    }

    /// As [`Settings::read`], in place.
    pub fn fill(&mut self, text: &'a [u8]) {
        // Not by assignment of a whole, which would be copied.
        self.lists.fill(None);
        self.switches = ON;
        self.min_pes = 0;
        self.ops = Ops::Auto;
        let mut text = Cursor::new(in_force(text));
        while !text.rest.is_empty() {
            let mut line = Cursor::new(text.until(b'\n'));
            // Most lines are comments. The key of one behind a blank begins with #, and so is none;
            // without an equals sign the value is empty, and so is none.
            if line.peek() != b'#' {
                let key = trim(line.until(b'='));
                self.set(key, trim(line.rest));
            }
        }
    }

    /// Whether a switch is on.
    pub fn is(&self, switch: Switch) -> bool {
        self.switches >> switch as u32 & 1 == 1
    }

    /// A list as it stands, for [`words`].
    pub fn list(&self, list: List) -> &'a [u8] {
        self.at(list as usize)
    }

    fn at(&self, list: usize) -> &'a [u8] {
        self.lists.get(list).copied().flatten().unwrap_or_default()
    }

    /// Turns a switch.
    pub fn turn(&mut self, switch: Switch, on: bool) {
        self.turn_bit(1 << switch as u32, on);
    }

    fn turn_bit(&mut self, bit: u32, on: bool) {
        self.switches &= !bit;
        if on {
            self.switches |= bit;
        }
    }

    /// Sets one list.
    pub fn put(&mut self, list: List, value: &'a [u8]) {
        if let Some(place) = self.lists.get_mut(list as usize) {
            *place = Some(value);
        }
    }

    /// Sets one key. False if the key is not known or the value is not of its form.
    pub fn set(&mut self, key: &[u8], value: &'a [u8]) -> bool {
        if value.is_empty() {
            return false;
        }
        let Some(place) = place(&NAMES, key) else {
            return false;
        };
        if let Some(list) = self.lists.get_mut(place) {
            *list = Some(value);
            return true;
        }
        if place < MIN_PES {
            return switch(value).map(|on| self.turn_bit(1 << (place - LISTS), on)).is_some();
        }
        if place == MIN_PES {
            return whole(value).map(|pes| self.min_pes = pes).is_some();
        }
        Ops::parse(value).map(|ops| self.ops = ops).is_some()
    }

    /// The value of one key, which [`Settings::set`] reads back; None if the key is not known, or
    /// is a list that is not set.
    pub fn value(&self, key: &[u8]) -> Option<SettingValue<'a>> {
        let place = place(&NAMES, key)?;
        if let Some(list) = self.lists.get(place) {
            return list.map(SettingValue::Text);
        }
        Some(match place {
            ..MIN_PES => SettingValue::Switch(self.switches >> (place - LISTS) & 1 == 1),
            MIN_PES => SettingValue::Number(self.min_pes),
            _ => SettingValue::Word(self.ops.word()),
        })
    }

    /// What a list that lets names in, at a place, and the next, which keeps names out, say of two
    /// names of one thing.
    #[inline(never)]
    pub(crate) fn by_lists(&self, only: usize, name: &[u8], other: &[u8]) -> ListAnswer {
        let only_these = self.at(only);
        if !only_these.is_empty() && !listed(only_these, name, other) {
            return ListAnswer::NotInOnly;
        }
        if listed(self.at(only + 1), name, other) { ListAnswer::InSkip } else { ListAnswer::Wanted }
    }
}

/// What a pair of lists says of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ListAnswer {
    /// Neither refuses it
    Wanted,
    /// The list of those that are wanted is not empty, and lacks it
    NotInOnly,
    /// The list of those that are not wanted has it
    InSkip,
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
            if !key.default.starts_with('(') {
                assert_eq!(s, Settings::default(), "{}", key.name);
            }
        }
        assert!(!Settings::default().set(b"colour", b"yes"));
    }

    /// A value of each form for every key: what is set is what is told, and no other key changes.
    #[test]
    fn every_key_tells_the_value_that_was_set() {
        for key in KEYS {
            let (name, mut set) = (key.name.as_bytes(), Settings::default());
            let (text, told): (&[u8], _) = match set.value(name) {
                Some(SettingValue::Switch(true)) => (b"no", SettingValue::Switch(false)),
                Some(SettingValue::Switch(false)) => (b"yes", SettingValue::Switch(true)),
                Some(SettingValue::Number(_)) => (b"7", SettingValue::Number(7)),
                Some(SettingValue::Word(_)) => (b"loads", SettingValue::Word("loads")),
                None | Some(SettingValue::Text(_)) => (b"a b", SettingValue::Text(b"a b")),
            };
            assert!(set.set(name, text), "{}", key.name);
            for other in KEYS.iter().map(|other| other.name.as_bytes()) {
                let default = Settings::default().value(other);
                let expected = if other == name { Some(told) } else { default };
                assert_eq!(set.value(other), expected, "{}", key.name);
            }
        }
        assert_eq!(Settings::default().value(b"colour"), None);
    }

    #[test]
    fn reads_comments_blanks_and_the_last_of_two() {
        let text = b"# c\n\n log = file:/a file:/b \nmeasure=no\nmeasure = yes\nuser_log = no\r\nops = loads";
        let s = Settings::read(text);
        assert_eq!(s.list(List::Log), b"file:/a file:/b");
        assert!(s.is(Switch::Measure) && !s.is(Switch::UserLog));
        assert_eq!(s.ops, Ops::One(Metric::Loads));
        assert_eq!(words(s.list(List::Log)).count(), 2);
    }

    #[test]
    fn a_line_that_is_cut_is_none() {
        let file = |last: &str| std::format!("{}\n{last}", "#".repeat(MAX_READ - 1 - 13));
        for (last, measure) in [
            ("measure = no\n", false),
            ("measure =  no\n", true),
            ("measure = no\n#", false),
            (" \nmeasure = no\n", true),
        ] {
            let settings = Settings::read(file(last).as_bytes()).is(Switch::Measure);
            assert_eq!(settings, measure, "{last:?}");
        }
        assert_eq!(in_force(b"a = b"), b"a = b");
        assert_eq!(in_force(&[b'x'; 2 * MAX_READ]), b"");
    }

    #[test]
    fn says_which_lines_are_no_entries() {
        let bad: std::vec::Vec<_> =
            entries(b"a=1\nnonsense\n=x\n").filter_map(Result::err).map(|e| e.line).collect();
        assert_eq!(bad, [2, 3]);
    }

    #[test]
    fn a_value_of_the_wrong_form_changes_nothing() {
        let s = Settings::read(b"measure = perhaps\nops = flops\nmin_pes = 4x\nmin_pes = -1\n");
        assert_eq!(s, Settings::default());
    }
}
