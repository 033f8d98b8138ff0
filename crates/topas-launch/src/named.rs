//! `TOPAS_PE`: ranks that measure by name.

use topas_format::text::Cursor;

/// Why a list is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NamedRanksFault {
    /// Something between commas is not a decimal number
    NotANumber,
    /// A rank that the launch does not have
    NoSuchRank,
    /// A rank named twice
    Repeated,
}

/// Reads a list like `3,7`: how many of its ranks are lower than `rank`, None if `rank`
/// is not in it. Nothing but digits and single commas is accepted, and every rank must
/// be below `size` and be named once.
///
/// A list is short, so repeats are found by reading it again: no storage, no limit.
pub fn place(list: &[u8], size: u32, rank: u32) -> Result<Option<u32>, NamedRanksFault> {
    let mut text = Cursor::new(list);
    loop {
        let named = text.number();
        if !text.ok {
            return Err(NamedRanksFault::NotANumber);
        }
        // A size of 0, not told, has room for every rank.
        if named > size.wrapping_sub(1).into() {
            return Err(NamedRanksFault::NoSuchRank);
        }
        let (times, _) = count(list, named);
        if times > 1 {
            return Err(NamedRanksFault::Repeated);
        }
        if text.rest.is_empty() {
            break;
        }
        text.expect(b',');
    }
    let (times, lower) = count(list, rank.into());
    Ok((times > 0).then_some(lower))
}

/// How many numbers of a list are `rank`, and how many are lower.
#[inline(never)]
fn count(list: &[u8], rank: u64) -> (u32, u32) {
    let mut text = Cursor::new(list);
    let (mut times, mut lower) = (0, 0);
    while !text.rest.is_empty() {
        let named = text.number();
        times += u32::from(text.ok && named == rank);
        lower += u32::from(named < rank);
        text = Cursor::new(text.rest);
        text.skip();
    }
    (times, lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::string::{String, ToString};
    use std::vec::Vec;

    #[test]
    fn lists() {
        assert_eq!(place(b"7,3", 8, 3), Ok(Some(0)));
        assert_eq!(place(b"7,3", 8, 7), Ok(Some(1)));
        assert_eq!(place(b"7,3", 8, 4), Ok(None));
        assert_eq!(place(b"0", 8, 0), Ok(Some(0)));
        assert_eq!(place(b"3,4000", 0, 4000), Ok(Some(1)));
        let digits = "9".repeat(4096);
        for (text, fault) in [
            ("", NamedRanksFault::NotANumber),
            ("abc", NamedRanksFault::NotANumber),
            ("3,,7", NamedRanksFault::NotANumber),
            ("3,", NamedRanksFault::NotANumber),
            ("-1", NamedRanksFault::NotANumber),
            ("3, 7", NamedRanksFault::NotANumber),
            ("3;7", NamedRanksFault::NotANumber),
            ("0,,", NamedRanksFault::NotANumber),
            ("3,8", NamedRanksFault::NoSuchRank),
            (digits.as_str(), NamedRanksFault::NoSuchRank),
            ("3,3", NamedRanksFault::Repeated),
            ("3,1,03", NamedRanksFault::Repeated),
        ] {
            assert_eq!(place(text.as_bytes(), 8, 3), Err(fault), "{text:.20}");
        }
    }

    proptest! {
        #[test]
        fn places_are_those_of_the_sorted_list(
            ranks in proptest::collection::vec(0u32..40, 1..12), rank in 0u32..40,
        ) {
            let list: Vec<String> = ranks.iter().map(ToString::to_string).collect();
            let sorted: BTreeSet<u32> = ranks.iter().copied().collect();
            let expected = if sorted.len() < ranks.len() {
                Err(NamedRanksFault::Repeated)
            } else {
                Ok(sorted.iter().position(|r| *r == rank).map(|at| at as u32))
            };
            prop_assert_eq!(place(list.join(",").as_bytes(), 40, rank), expected);
        }

        #[test]
        fn never_panics(text in "[0-9,x -]{0,60}", size: u32, rank: u32) {
            let _ = place(text.as_bytes(), size, rank);
        }
    }
}
