//! Memory of a loaded module that is read as the tables for exceptions are written.

use crate::sys::Memory;

/// A part of memory, and how far it was read.
#[derive(Clone, Copy)]
pub struct TableBytes {
    memory: Memory,
    at: usize,
}

/// What an encoded address is relative to.
const RELATIVE_TO_PLACE: u8 = 0x10;
/// See [`RELATIVE_TO_PLACE`].
const INDIRECT: u8 = 0x80;
/// There is no address at all.
pub const OMITTED: u8 = 0xff;

impl TableBytes {
    /// All of a part of memory.
    pub fn new(memory: Memory) -> TableBytes {
        TableBytes { memory, at: memory.from() }
    }

    /// The same memory from another place on; None if that is not in it.
    pub fn from(self, at: usize) -> Option<TableBytes> {
        self.memory.part(at, self.memory.end()).map(TableBytes::new)
    }

    /// Where the next byte is.
    pub fn at(self) -> usize {
        self.at
    }

    /// Whether all was read.
    pub fn is_empty(self) -> bool {
        self.at >= self.memory.end()
    }

    fn value<const N: usize>(&mut self) -> Option<[u8; N]> {
        let value = self.memory.bytes(self.at)?;
        self.at += N;
        Some(value)
    }

    /// A byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.value().map(|[byte]| byte)
    }

    /// Two bytes.
    pub fn half(&mut self) -> Option<u16> {
        self.value().map(u16::from_ne_bytes)
    }

    /// Four bytes.
    pub fn word(&mut self) -> Option<u32> {
        self.value().map(u32::from_ne_bytes)
    }

    /// Eight bytes.
    pub fn long(&mut self) -> Option<u64> {
        self.value().map(u64::from_ne_bytes)
    }

    /// A number of variable length.
    pub fn unsigned(&mut self) -> Option<u64> {
        self.seven_by_seven().map(|(value, _, _)| value)
    }

    /// A number of variable length with a sign.
    pub fn signed(&mut self) -> Option<i64> {
        let (value, bits, negative) = self.seven_by_seven()?;
        let sign = if negative && bits < 64 { u64::MAX << bits } else { 0 };
        Some((value | sign) as i64)
    }

    /// Value, bits of it, and whether the last was set.
    fn seven_by_seven(&mut self) -> Option<(u64, u32, bool)> {
        let (mut value, mut bits) = (0u64, 0u32);
        loop {
            let byte = self.byte()?;
            if bits < 64 {
                value |= u64::from(byte & 0x7f) << bits;
            }
            bits += 7;
            if byte & 0x80 == 0 {
                return Some((value, bits, byte & 0x40 != 0));
            }
        }
    }

    /// The next so many bytes by themselves.
    pub fn part(&mut self, length: u64) -> Option<TableBytes> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let part = self.memory.part(self.at, end)?;
        self.at = end;
        Some(TableBytes::new(part))
    }

    /// An address as `encoding` has it: absolute, or relative to its own place.
    pub fn address(&mut self, encoding: u8) -> Option<usize> {
        let place = self.at;
        let value = self.number(encoding)?;
        match encoding & 0x70 {
            0 => Some(value),
            RELATIVE_TO_PLACE => Some(place.wrapping_add(value)),
            _ => None,
        }
        .filter(|_| encoding & INDIRECT == 0)
    }

    /// The number of an encoded address, without what it is relative to.
    pub fn number(&mut self, encoding: u8) -> Option<usize> {
        let form = encoding & 0x0f;
        // 1: of variable length; 2, 3, 4: of 2, 4, 8 bytes; 0: of 8; with a sign if 8 is added.
        if is_one_of(form, 1 << 1 | 1 << 9) {
            let signed = form & 8 != 0;
            return if signed { self.signed()? as usize } else { self.unsigned()? as usize }.into();
        }
        if is_one_of(form, 1 << 2 | 1 << 10) {
            let value = self.half()?;
            return Some(if form & 8 != 0 { value as i16 as usize } else { value.into() });
        }
        if is_one_of(form, 1 << 3 | 1 << 11) {
            let value = self.word()?;
            return Some(if form & 8 != 0 { value as i32 as usize } else { value as usize });
        }
        if is_one_of(form, 1 << 0 | 1 << 4 | 1 << 12) {
            return self.long().map(|value| value as usize);
        }
        None
    }
}

/// Whether a number below 64 is one of those whose bits are set. In place of `match`: compilers
/// make tables of jumps of that, which a library without landing pads for them cannot hold.
#[inline(never)]
pub fn is_one_of(number: u8, set: u64) -> bool {
    number < 64 && core::hint::black_box(set) >> number & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(of: &'static [u8]) -> TableBytes {
        TableBytes::new(Memory::of(of))
    }

    #[test]
    fn numbers_of_variable_length_are_read_as_dwarf_writes_them() {
        for (written, value) in
            [(&[2u8][..], 2), (&[0x7f], 127), (&[0x80, 1], 128), (&[0xe5, 0x8e, 0x26], 624_485)]
        {
            assert_eq!(bytes(written).unsigned(), Some(value));
        }
        for (written, value) in
            [(&[2u8][..], 2), (&[0x7e], -2), (&[0xff, 0], 127), (&[0x80, 0x7f], -128)]
        {
            assert_eq!(bytes(written).signed(), Some(value));
        }
        assert_eq!(bytes(&[0x80]).unsigned(), None);
    }

    #[test]
    fn nothing_is_read_behind_the_end() {
        let mut four = bytes(&[1, 2, 3, 4]);
        assert_eq!(four.long(), None);
        assert!(four.part(5).is_none());
        assert!(four.word().is_some() && four.is_empty() && four.byte().is_none());
    }
}
