//! `TOPAS_PE`: ranks that measure by name.

use topas_format::text::{Cursor, Words};

/// Most ranks that `TOPAS_PE` may name.
pub const MOST: usize = 16;

/// Ranks in the order named, all different and below the size of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    ranks: [u32; MOST],
    count: usize,
}

/// Why a list is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// Something between commas is not a decimal number
    NotANumber,
    /// A rank that the launch does not have
    NoSuchRank,
    /// A rank named twice
    Repeated,
    /// More than [`MOST`]
    TooMany,
}

impl Fault {
    /// What is wrong, to follow the value in a message.
    pub fn says(self) -> &'static [u8] {
        const SAYS: Words = Words(
            b"is not a list of ranks like 3,7\n\
              names a rank that this run does not have\n\
              names a rank twice\n\
              names more than 16 ranks",
            b'\n',
        );
        SAYS.at(self as usize)
    }
}

impl Named {
    /// Reads `3,7`. Nothing but digits and single commas is accepted.
    pub fn parse(text: &[u8], size: u32) -> Result<Named, Fault> {
        let mut named = Named { ranks: [0; MOST], count: 0 };
        let mut text = Cursor::new(text);
        loop {
            let digits = text.peek().is_ascii_digit();
            let rank = text.number();
            if !digits {
                return Err(Fault::NotANumber);
            }
            // A number beyond u64 is a rank nobody has.
            if !text.ok || rank >= u64::from(size) {
                return Err(Fault::NoSuchRank);
            }
            let rank = rank as u32;
            if named.ranks().any(|r| r == rank) {
                return Err(Fault::Repeated);
            }
            *named.ranks.get_mut(named.count).ok_or(Fault::TooMany)? = rank;
            named.count += 1;
            if text.rest.is_empty() {
                return Ok(named);
            }
            if !text.eat(b',') {
                return Err(Fault::NotANumber);
            }
        }
    }

    /// The ranks named.
    pub fn ranks(&self) -> impl Iterator<Item = u32> {
        self.ranks.iter().copied().take(self.count)
    }

    /// How many of the named ranks are lower than `rank`; None if it is not named.
    pub fn place(&self, rank: u32) -> Option<usize> {
        self.ranks().any(|r| r == rank).then(|| self.ranks().filter(|r| *r < rank).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::{String, ToString};
    use std::vec::Vec;

    #[test]
    fn lists() {
        let named = Named::parse(b"7,3", 8).unwrap();
        assert_eq!(named.place(3), Some(0));
        assert_eq!(named.place(7), Some(1));
        assert_eq!(named.place(4), None);
        let digits = "9".repeat(4096);
        for (text, fault) in [
            ("", Fault::NotANumber),
            ("abc", Fault::NotANumber),
            ("3,,7", Fault::NotANumber),
            ("3,", Fault::NotANumber),
            ("-1", Fault::NotANumber),
            ("3, 7", Fault::NotANumber),
            ("3;7", Fault::NotANumber),
            ("3,8", Fault::NoSuchRank),
            (digits.as_str(), Fault::NoSuchRank),
            ("3,3", Fault::Repeated),
        ] {
            assert_eq!(Named::parse(text.as_bytes(), 8), Err(fault), "{text:.20}");
        }
        let seventeen: Vec<String> = (0..17).map(|n: u32| n.to_string()).collect();
        assert_eq!(Named::parse(seventeen.join(",").as_bytes(), 100), Err(Fault::TooMany));
        assert!(Named::parse(seventeen[..16].join(",").as_bytes(), 100).is_ok());
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9,x -]{0,60}", size: u32) {
            let _ = Named::parse(text.as_bytes(), size);
        }
    }
}
