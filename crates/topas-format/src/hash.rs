//! Hashing: words of variables and of topas.conf at compile time, launch ids at run time.
//!
//! The module knows a word by its hash, which is compared in one instruction and takes
//! less room than the word.

/// FNV-1a, 64 bit (Fowler, Noll, Vo). Small, and good enough for names and ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv(u64);

impl Fnv {
    /// The empty hash.
    pub const fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    /// With more bytes.
    #[inline(never)]
    pub const fn with(self, bytes: &[u8]) -> Self {
        let (mut hash, mut rest) = (self.0, bytes);
        while let [first, tail @ ..] = rest {
            hash = (hash ^ *first as u64).wrapping_mul(0x0100_0000_01b3);
            rest = tail;
        }
        Fnv(hash)
    }

    /// The value.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Default for Fnv {
    fn default() -> Self {
        Fnv::new()
    }
}

/// The hash by which a known word is recognized: half of [`Fnv`].
#[inline(never)]
pub const fn word(bytes: &[u8]) -> u32 {
    Fnv::new().with(bytes).value() as u32
}

/// The place of a word among known ones.
#[inline(never)]
pub fn place(known: &[u32], bytes: &[u8]) -> Option<usize> {
    let hash = word(bytes);
    known.iter().position(|known| *known == hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        assert_eq!(Fnv::new().with(b"a").value(), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fnv::new().with(b"foo").with(b"bar").value(), 0x8594_4171_f739_67e8);
        assert_eq!(place(&[word(b"no"), word(b"yes")], b"yes"), Some(1));
        assert_eq!(place(&[word(b"no"), word(b"yes")], b"y"), None);
    }
}
