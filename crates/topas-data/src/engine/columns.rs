//! Groups of lines by the text of the few tokens that their keys are made from.
//!
//! A key is made of the values of fields, each of which has to be read, written behind its length
//! and compared. Most fields are made from one token or one extra. So lines whose texts agree there
//! have one key: which group that is, is remembered by these texts, and no value is read. The same
//! look at the extras tells when a line was written and by whom, where the module wrote it.

use topas_format::line::{FirstNumbers, IndexedLine, value_of};
use topas_format::slot::Slot;

use crate::field::Column;
use crate::first_extras::{Claim, FirstExtras, believed};

/// Most columns of a key; more are not remembered.
const MOST: usize = 4;

/// Groups that are remembered.
const REMEMBERED: usize = 1024;

/// Lines from which on it shows whether groups come again.
const ENOUGH: u64 = 16_384;

/// Texts of columns, see [`packed`]; 0 for one that is not there.
pub(super) type ColumnTexts = [u128; MOST];

/// Remembers groups by the texts of columns.
pub(super) struct ColumnGroups {
    /// Which column a token is, by its number from 0
    tokens: Vec<(usize, usize)>,
    /// The same by the key of an extra
    extras: Vec<(usize, Vec<u8>)>,
    /// Bytes with which a key of interest begins
    first: [bool; 256],
    remembered: Box<[(ColumnTexts, u32)]>,
    /// Lines that had to be parsed again
    missed: u64,
}

/// What a line tells at a first look.
pub(super) struct ColumnLook {
    pub(super) first: FirstExtras,
    pub(super) texts: ColumnTexts,
}

impl ColumnGroups {
    /// For keys that are made from these columns and nothing else; None if they are too many.
    pub(super) fn new(columns: &[Column]) -> Option<Self> {
        if columns.len() > MOST {
            return None;
        }
        let mut groups = ColumnGroups {
            tokens: Vec::new(),
            extras: Vec::new(),
            first: [false; 256],
            // No line has these texts: the length of none is 255.
            remembered: vec![([u128::MAX; MOST], 0); REMEMBERED].into(),
            missed: 0,
        };
        groups.first[usize::from(b'u')] = true;
        for (place, column) in columns.iter().enumerate() {
            match column {
                Column::Token(number) => groups.tokens.push((place, *number)),
                Column::Extra(key) => {
                    groups.first[usize::from(*key.first()?)] = true;
                    groups.extras.push((place, key.clone()));
                }
            }
        }
        Some(groups)
    }

    /// Looks at a line; None if it is not as the module writes it, or has texts that are too long.
    #[inline(always)]
    pub(super) fn look(&self, line: &IndexedLine<'_>) -> Option<ColumnLook> {
        let (ends, more) = line.blanks.split_first_chunk::<18>()?;
        // Tokens from the second on, and the first extras.
        let slot = |begin: u32, end: u32| {
            Slot::new(line.text, begin as usize + 1, end as usize, line.plain)
        };
        let FirstNumbers { t, uid } = match line.first {
            Some(first) => first,
            None => {
                if slot(ends[15], ends[16])?.bytes() != b"v=1" {
                    return None;
                }
                let t = slot(ends[16], ends[17])?.strip(b"t=")?.count()?;
                let uid = slot(ends[17], *more.first()?)?.strip(b"uid=")?.number()?;
                FirstNumbers { t, uid }
            }
        };
        let mut texts = [0; MOST];
        for (place, number) in &self.tokens {
            let begin = match number.checked_sub(1) {
                Some(before) => *ends.get(before)? as usize + 1,
                None => line.begin,
            };
            let token = Slot::new(line.text, begin, *ends.get(*number)? as usize, line.plain)?;
            *texts.get_mut(*place)? = packed(token)?;
        }
        for (at, blank) in more.iter().enumerate() {
            let first = *line.text.get(*blank as usize + 1)?;
            if self.first[usize::from(first)] {
                let end = more.get(at + 1).map_or(line.end, |end| *end as usize);
                self.add(Slot::new(line.text, *blank as usize + 1, end, line.plain)?, &mut texts)?;
            }
        }
        let first = FirstExtras { epoch: believed(t), claim: Claim::Uid(uid) };
        Some(ColumnLook { first, texts })
    }

    /// Adds the text of an extra that may be a column; None if the line has to be read in full,
    /// because there is one twice, or another `uid`.
    #[inline(never)]
    fn add(&self, token: Slot<'_>, texts: &mut ColumnTexts) -> Option<()> {
        let is = |key: &[u8]| value_of(token.bytes(), key).is_some();
        if is(b"uid") {
            return None;
        }
        for (place, _) in self.extras.iter().filter(|(_, key)| is(key)) {
            let text = texts.get_mut(*place).filter(|text| **text == 0)?;
            *text = packed(token)?;
        }
        Some(())
    }

    /// The group of lines with these texts, which `find` finds if it is not remembered.
    #[inline(always)]
    pub(super) fn number(&mut self, texts: ColumnTexts, find: impl FnOnce() -> u32) -> u32 {
        let place = &mut self.remembered[hash(&texts) % REMEMBERED];
        if !is_same(&place.0, &texts) {
            *place = (texts, find());
            self.missed += 1;
        }
        place.1
    }

    /// Counts a line of which the first look did not tell enough.
    pub(super) fn missed(&mut self) {
        self.missed += 1;
    }

    /// Whether so many of these lines had to be parsed again that the first look costs more than
    /// it saves: lines of 1999, or groups of which there are too many.
    pub(super) fn is_of_no_use(&self, lines: u64) -> bool {
        lines >= ENOUGH && self.missed > lines / 3
    }
}

/// A text of up to 15 bytes at the end of 16, the first of which is its length, as a number, which is
/// not 0; None of another.
#[inline(always)]
fn packed(token: Slot<'_>) -> Option<u128> {
    let last = LAST.get(token.len().wrapping_sub(1))?;
    let word = u128::from_le_bytes(*token.last_chunk()?);
    Some(word & last | token.len() as u128)
}

/// The last bytes of 16, from one to 15.
static LAST: [u128; 15] = {
    let mut last = [0; 15];
    let mut bytes = 0;
    while bytes < last.len() {
        last[bytes] = u128::MAX << (120 - 8 * bytes);
        bytes += 1;
    }
    last
};

/// Whether texts agree, without a call that takes longer than that.
#[inline(always)]
fn is_same(a: &ColumnTexts, b: &ColumnTexts) -> bool {
    a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[inline(always)]
fn hash(texts: &ColumnTexts) -> usize {
    let mut hash = 0u64;
    for text in texts {
        let word = *text as u64 ^ ((*text >> 64) as u64).rotate_left(32);
        hash = (hash.rotate_left(23) ^ word).wrapping_mul(0xf135_7aea_2e62_a9c5);
    }
    (hash >> 40) as usize
}

#[cfg(test)]
mod tests {
    use topas_format::line::Line;

    use super::*;
    use crate::line_index::LineIndex;

    /// What the first look at a line with these extras tells, if it is of use.
    fn looked(tokens: &str, extras: &str) -> Option<ColumnTexts> {
        let columns = ["lang", "gpu", "user", "date"]
            .map(|name| crate::field::Field::named(name).unwrap().column().unwrap());
        let groups = ColumnGroups::new(&columns).unwrap();
        // A line before, so that the date has bytes before it.
        let text = format!("# as many bytes as a date needs\n{tokens} - 0 0.5 1 f=- - 1{extras}");
        let text = topas_testkit::with_lengths(&text) + "\n";
        let mut index = LineIndex::default();
        index.fill(text.as_bytes());
        let line = index.lines(text.as_bytes()).nth(1).unwrap();
        let look = groups.look(&line)?;
        let (_, extras) = Line::parse(line.bytes()).unwrap();
        assert_eq!(look.first, FirstExtras::of_line(extras));
        Some(look.texts)
    }

    const TOKENS: &str = "2026/05/04 12:00:00 anna x 1 2 - B f90";

    #[test]
    fn texts_are_those_of_the_columns() {
        let text = |text: &str| {
            let mut bytes = [0; 16];
            bytes[0] = text.len() as u8;
            bytes[16 - text.len()..].copy_from_slice(text.as_bytes());
            u128::from_le_bytes(bytes)
        };
        let texts = |gpu: u128| Some([text("f90"), gpu, text("anna"), text("2026/05/04")]);
        assert_eq!(looked(TOKENS, " v=1 t=7 uid=5 host=u"), texts(0));
        assert_eq!(looked(TOKENS, " v=1 t=7 uid=5 gpus=1 u=x uidx=5"), texts(0));
        assert_eq!(looked(TOKENS, " v=1 t=7 uid=5 x=gpu= gpu=cuda x"), texts(text("gpu=cuda")));
        assert_eq!(looked(TOKENS, " v=1 t=7 uid=5  gpu"), texts(text("gpu")));
    }

    #[test]
    fn other_lines_are_read_in_full() {
        for extras in [
            "",
            " v=1",
            " v=1 t=7",
            " v=1 uid=5 t=7",
            " v=1 t=x uid=5",
            " v=1 t=7 uid=5x",
            " v=1 t=7 uid=5 uid=5",
            " v=1 t=7 uid=5 uid",
            " v=1 t=7 uid=5 gpu=cuda gpu=hip",
            " v=1 t=7 uid=5 gpu=cuda gpu",
            " v=1 t=7 uid=5 gpu=cuda+hip+ze+opencl",
            " v=1  t=7 uid=5",
        ] {
            assert_eq!(looked(TOKENS, extras), None, "{extras}");
        }
        let long = TOKENS.replace("anna", "anna_of_the_north");
        assert_eq!(looked(&long, " v=1 t=7 uid=5"), None);
    }

    #[test]
    fn groups_are_those_that_were_found() {
        let mut groups = ColumnGroups::new(&[]).unwrap();
        // More than are remembered, each twice and then again.
        for round in 0..3 {
            for n in 0..2 * REMEMBERED as u32 {
                let texts = [u128::from(n), 0, u128::from(n % 7) << 100, 1];
                assert_eq!(groups.number(texts, || n), n);
                assert_eq!(groups.number(texts, || n + round), n);
            }
        }
    }

    #[test]
    fn groups_that_do_not_come_again_are_of_no_use() {
        let mut groups = ColumnGroups::new(&[]).unwrap();
        for n in 0..ENOUGH {
            assert!(!groups.is_of_no_use(n), "{n} lines are too few to tell");
            groups.number([u128::from(n % 3), 0, 0, 1], || 7);
        }
        assert_eq!(groups.missed, 3);
        assert!(!groups.is_of_no_use(ENOUGH));
        for n in 0..ENOUGH {
            groups.number([u128::from(n), 1, 0, 0], || 7);
        }
        assert!(groups.is_of_no_use(2 * ENOUGH));
        (0..ENOUGH).for_each(|_| groups.missed());
        assert!(groups.missed >= 2 * ENOUGH);
    }
}
