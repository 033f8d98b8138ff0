//! Words and objects of the interpreter, read only where the kernel says that they can be read.

use crate::sys;

use super::layout::Layout;

/// Offset of the type in an object.
const TYPE: usize = 8;
/// Offset of the length, in bytes or in letters.
const LENGTH: usize = 16;
/// Offset of the state of a text.
const TEXT_STATE: usize = 32;
/// Offset of the bytes of a string of bytes.
const BYTES: usize = 32;

/// The types that objects must have.
pub struct Types {
    pub code: usize,
    pub text: usize,
    pub bytes: usize,
}

/// A word of the interpreter; None if it cannot be one. `KNOWN`: it is there.
#[inline(always)]
pub fn word<const KNOWN: bool>(at: usize) -> Option<usize> {
    if !KNOWN {
        return asked_word(at);
    }
    if !at.is_multiple_of(4) || at < 4096 {
        return None;
    }
    // SAFETY: the interpreter has it there as long as this thread is in the function, or the kernel has
    // said that it can be read.
    Some(unsafe { (at as *const usize).read_unaligned() })
}

/// The same if the kernel says that all of it can be read.
#[cold]
#[inline(never)]
fn asked_word(at: usize) -> Option<usize> {
    if sys::can_be_read(at) && sys::can_be_read(at.wrapping_add(7)) {
        word::<true>(at)
    } else {
        None
    }
}

/// A byte of the interpreter; see [`word`].
#[inline(always)]
pub fn byte<const KNOWN: bool>(at: usize) -> Option<u8> {
    if at < 4096 || !KNOWN && !sys::can_be_read(at) {
        return None;
    }
    // SAFETY: as above.
    Some(unsafe { (at as *const u8).read() })
}

/// An object of a type.
#[derive(Clone, Copy)]
pub struct PyObject(usize);

impl PyObject {
    /// The object at an address, if it is of this type.
    pub fn of(at: usize, kind: usize) -> Option<PyObject> {
        (word::<false>(at.wrapping_add(TYPE))? == kind).then_some(PyObject(at))
    }

    /// A word of it.
    pub fn word(self, offset: usize) -> Option<usize> {
        word::<false>(self.0.wrapping_add(offset))
    }

    /// The bytes of a string of bytes; None behind where they can be read.
    pub fn bytes(self) -> Option<impl Iterator<Item = Option<u8>>> {
        let mut reader = ByteReader::new(self.0.wrapping_add(BYTES));
        let count = self.word(LENGTH)?;
        Some((0..count).map(move |_| reader.next()))
    }

    /// The last letters of a text; None behind where they can be read.
    pub fn letters(
        self,
        layout: &Layout,
        most: usize,
    ) -> Option<impl Iterator<Item = Option<u32>>> {
        /// Bytes of a letter, as many as 1, 2 or 4
        const WIDTH: (usize, usize) = (2, 7);
        const COMPACT: usize = 1 << 5;
        const ASCII: usize = 1 << 6;
        let state = self.word(TEXT_STATE)?;
        let width = state >> WIDTH.0 & WIDTH.1;
        if state & COMPACT == 0 || !width.is_power_of_two() {
            return None;
        }
        let front = if state & ASCII == 0 { layout.letters } else { layout.ascii };
        let length = self.word(LENGTH)?;
        let count = length.min(most);
        let first = (length - count).wrapping_mul(width);
        let mut reader = ByteReader::new(self.0.wrapping_add(front).wrapping_add(first));
        Some((0..count).map(move |_| {
            let mut letter = 0;
            for place in 0..width {
                letter |= u32::from(reader.next()?) << (8 * place);
            }
            Some(letter)
        }))
    }
}

/// Reads bytes one behind the other, and asks for each page once.
struct ByteReader {
    at: usize,
    /// Until where the kernel has been asked
    asked: usize,
}

impl ByteReader {
    fn new(at: usize) -> ByteReader {
        ByteReader { at, asked: at }
    }

    fn next(&mut self) -> Option<u8> {
        /// The least size of a page
        const PAGE: usize = 4096;
        if self.at >= self.asked {
            if !sys::can_be_read(self.at) {
                return None;
            }
            self.asked = (self.at | (PAGE - 1)).wrapping_add(1);
        }
        let value = byte::<true>(self.at)?;
        self.at = self.at.wrapping_add(1);
        Some(value)
    }
}
