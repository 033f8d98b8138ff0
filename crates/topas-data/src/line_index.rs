//! Where the lines of a block of text end, and where the blanks in them are: found in one pass, 64
//! bytes at a time, so that the parser looks for nothing.

#[allow(unsafe_code, reason = "instructions that not every processor has")]
mod sys;

use topas_format::line::IndexedLine;

use self::sys::CHUNK;
#[cfg(target_arch = "x86_64")]
pub(crate) use self::sys::has_vectors;

/// The newlines and the blanks of a text. It is made once and filled for each block.
#[derive(Default)]
pub(crate) struct LineIndex {
    /// Places of blanks, and room for more
    blanks: Vec<u32>,
    /// Places of newlines, and room for more
    newlines: Vec<u32>,
    /// How many blanks are before each newline in the text
    before: Vec<u32>,
    /// Number of newlines
    lines: usize,
    /// Whether the text has no `%`
    plain: bool,
}

/// What a chunk has: a bit for each byte, the lowest for the first.
pub(crate) struct Marks {
    blanks: u64,
    newlines: u64,
    /// Whether there is a `%`
    percent: bool,
}

/// Room for what is found in a text, and how much was found.
struct Places<'p> {
    blanks: &'p mut [u32],
    newlines: &'p mut [u32],
    before: &'p mut [u32],
    found: Found,
}

/// How much was found.
#[derive(Clone, Copy, Default)]
struct Found {
    blanks: usize,
    newlines: usize,
    percent: bool,
}

/// Blanks that are written down at once, whether a chunk has so many or not: one in nine bytes is
/// usual, and a loop that ends at another number each time is what no processor predicts.
const AT_ONCE: usize = 8;

impl LineIndex {
    /// Looks through a text of less than 4 GiB.
    pub(crate) fn fill(&mut self, text: &[u8]) {
        // Room for the most that there can be, and for what is written behind. Memory that is
        // never written takes none.
        let room = text.len().next_multiple_of(CHUNK) + CHUNK;
        if self.blanks.len() < room {
            self.blanks = vec![0; room];
            self.newlines = vec![0; room];
            self.before = vec![0; room];
        }
        if let Some(fill) = sys::ways().next() {
            self.fill_with(fill, text);
        }
    }

    /// Looks through a text in one of the ways; there is room.
    fn fill_with(&mut self, fill: sys::Fill, text: &[u8]) {
        let mut places = Places {
            blanks: &mut self.blanks,
            newlines: &mut self.newlines,
            before: &mut self.before,
            found: Found::default(),
        };
        fill(&mut places, text);
        (self.lines, self.plain) = (places.found.newlines, !places.found.percent);
    }

    /// The lines of the text that end with a newline.
    #[inline]
    pub(crate) fn lines<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = IndexedLine<'a>> {
        let (mut begin, mut before) = (0, 0);
        let newlines = self.newlines[..self.lines].iter().zip(&self.before);
        newlines.map(move |(newline, blanks)| {
            let (end, blanks) = (*newline as usize, *blanks as usize);
            let known = self.blanks.get(before..blanks).unwrap_or_default();
            let line =
                IndexedLine { text, begin, end, blanks: known, plain: self.plain, first: None };
            (begin, before) = (end + 1, blanks);
            line
        })
    }

    /// Where the text behind the last newline begins.
    pub(crate) fn rest(&self) -> usize {
        self.newlines[..self.lines].last().map_or(0, |newline| *newline as usize + 1)
    }
}

impl Places<'_> {
    /// Finds all of a text; `marks` looks at a chunk, and `put` writes down the places of blanks.
    #[inline(always)]
    fn fill_by(
        &mut self,
        text: &[u8],
        marks: impl Fn(&[u8; CHUNK]) -> Marks,
        put: impl Fn(&mut [u32; CHUNK], u32, u64),
    ) {
        let (chunks, tail) = text.as_chunks::<CHUNK>();
        let mut found = Found::default();
        let mut at = 0;
        for chunk in chunks {
            found = self.add(found, at, &marks(chunk), &put);
            at += CHUNK as u32;
        }
        if !tail.is_empty() {
            let mut chunk = [0; CHUNK];
            chunk[..tail.len()].copy_from_slice(tail);
            found = self.add(found, at, &marks(&chunk), &put);
        }
        self.found = found;
    }

    /// Adds what a chunk has, which begins at a place of the text, to what was found before.
    #[inline(always)]
    fn add(
        &mut self,
        before: Found,
        at: u32,
        marks: &Marks,
        put: &impl Fn(&mut [u32; CHUNK], u32, u64),
    ) -> Found {
        let mut found = before;
        found.percent |= marks.percent;
        let mut newlines = marks.newlines;
        // One is written whether there is one or not.
        loop {
            let below = (newlines & newlines.wrapping_neg()).wrapping_sub(1);
            let blanks = before.blanks as u32 + (marks.blanks & below).count_ones();
            self.newlines[found.newlines] = at + newlines.trailing_zeros();
            self.before[found.newlines] = blanks;
            found.newlines += usize::from(newlines != 0);
            newlines &= newlines.wrapping_sub(1);
            if newlines == 0 {
                break;
            }
        }
        if let Some(room) = self.blanks[before.blanks..].first_chunk_mut() {
            put(room, at, marks.blanks);
        }
        found.blanks += marks.blanks.count_ones() as usize;
        found
    }
}

/// Writes down the places of the blanks of a chunk that begins at a place.
#[inline(always)]
fn put_blanks(room: &mut [u32; CHUNK], at: u32, mut blanks: u64) {
    let count = blanks.count_ones() as usize;
    let mut next = || {
        let place = at + blanks.trailing_zeros();
        blanks &= blanks.wrapping_sub(1);
        place
    };
    let (places, more) = room.split_at_mut(AT_ONCE);
    places.iter_mut().for_each(|place| *place = next());
    if count > AT_ONCE {
        more[..count - AT_ONCE].iter_mut().for_each(|place| *place = next());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Newlines with the blanks of their lines, what is left, and whether there is no `%`.
    type AllFound = (Vec<(usize, Vec<u32>)>, usize, bool);

    fn expected(text: &[u8]) -> AllFound {
        let places = |byte: u8| {
            let places = text.iter().enumerate().filter(move |(_, b)| **b == byte);
            places.map(|(at, _)| at)
        };
        let mut begin = 0;
        let lines = places(b'\n').map(|end| {
            let blanks = places(b' ').filter(|at| (begin..end).contains(at));
            let line = (end, blanks.map(|at| at as u32).collect());
            begin = end + 1;
            line
        });
        let lines: Vec<_> = lines.collect();
        (lines, begin, !text.contains(&b'%'))
    }

    fn found(index: &LineIndex, text: &[u8]) -> AllFound {
        let lines = index.lines(text).map(|line| (line.end, line.blanks.to_vec()));
        (lines.collect(), index.rest(), index.plain)
    }

    proptest! {
        #[test]
        fn newlines_and_blanks_are_where_they_are(
            // Bytes next to those that are looked for, and such that carry; full and empty chunks.
            parts in proptest::collection::vec(
                (proptest::sample::select(b"\n  aa%!\x1f\x09\x0b\x00\x80\x8a\xa0\xff$&".as_slice()), 1..90usize),
                0..30,
            ),
            mixed in proptest::collection::vec(
                proptest::sample::select(b"\n  aaaa!\x1f\x00\x80\xa0\xff".as_slice()), 0..600),
        ) {
            let runs = parts.iter().flat_map(|(byte, n)| std::iter::repeat_n(*byte, *n));
            let text: Vec<u8> = runs.chain(mixed).collect();
            let mut index = LineIndex::default();
            index.fill(&text);
            prop_assert_eq!(found(&index, &text), expected(&text));
            // Filled again, with less: nothing is left of what was there.
            let half = &text[..text.len() / 2];
            index.fill(half);
            prop_assert_eq!(found(&index, half), expected(half));
            // As other processors do it, which have other vectors or none.
            for way in sys::ways() {
                index.fill_with(way, &text);
                prop_assert_eq!(found(&index, &text), expected(&text));
            }
        }
    }
}
