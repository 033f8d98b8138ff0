//! Short texts that many lines share, each stored once.

use rustc_hash::FxHashMap;
use topas_format::escape::Name;

/// Texts by number, in the order they were first seen.
#[derive(Clone, Debug, Default)]
pub(super) struct InternedTexts {
    texts: Vec<Box<[u8]>>,
    numbers: FxHashMap<Box<[u8]>, u32>,
    /// What they take in memory, in B
    bytes: u64,
}

/// What a text takes besides its bytes, which are stored twice, in B.
const TEXT: u64 = 64;

impl InternedTexts {
    /// The number of a text; `last` is tried first and updated: neighbours often agree.
    #[inline]
    pub(super) fn number(&mut self, text: &[u8], last: &mut u32) -> u32 {
        if self.texts.get(*last as usize).is_none_or(|seen| **seen != *text) {
            *last = self.find(text);
        }
        *last
    }

    fn find(&mut self, text: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        // One text a line at most, and a machine that holds 2^32 lines is far away.
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.bytes += TEXT + 2 * text.len() as u64;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// As [`InternedTexts::number`], of a name as it stands in a line.
    #[inline]
    pub(super) fn name(&mut self, name: &Name<'_>, last: &mut u32) -> u32 {
        match name.plain() {
            Some(text) => self.number(text, last),
            None => self.number(&name.bytes().collect::<Vec<u8>>(), last),
        }
    }

    /// Takes the texts of `other`; gives the new number of each.
    pub(super) fn take(&mut self, other: InternedTexts) -> Vec<u32> {
        other.texts.iter().map(|text| self.find(text)).collect()
    }

    /// What they take in memory, in B.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn all(&self) -> &[Box<[u8]>] {
        &self.texts
    }
}
