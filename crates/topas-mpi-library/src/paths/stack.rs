//! Where the stack of a thread ends: the memory that can be read above an address.

use topas_node::sys as kernel;

/// Memory that is mapped in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StackBounds {
    /// Its first byte when it was looked for; a stack grows downwards from there
    pub start: usize,
    /// Behind its last byte; 0 if it is not known
    pub end: usize,
}

impl StackBounds {
    /// Of no stack.
    pub const NONE: StackBounds = StackBounds { start: 0, end: 0 };

    /// Of the mapping that an address is in, as the kernel tells; none if it does not.
    #[cold]
    #[inline(never)]
    pub fn around(address: usize) -> StackBounds {
        let none = StackBounds::NONE;
        let fd = kernel::open(c"/proc/self/maps", kernel::O_CLOEXEC, 0);
        if fd < 0 {
            return none;
        }
        let mut reader = MapsReader::default();
        let mut room = [0; 1024];
        let found = loop {
            let text = kernel::read(fd, &mut room);
            if text.is_empty() {
                break None;
            }
            if let Some(found) = reader.find(text, address) {
                break Some(found);
            }
        };
        kernel::close(fd);
        found.unwrap_or(none)
    }
}

/// Reads `/proc/self/maps` in pieces: each line begins with `START-END `.
#[derive(Default)]
struct MapsReader {
    start: usize,
    number: usize,
    part: LinePart,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LinePart {
    #[default]
    Start,
    End,
    Rest,
}

impl MapsReader {
    fn find(&mut self, text: &[u8], address: usize) -> Option<StackBounds> {
        for byte in text {
            match (*byte, self.part) {
                (b'\n', _) => *self = MapsReader::default(),
                (b'-', LinePart::Start) => {
                    *self = MapsReader { start: self.number, number: 0, part: LinePart::End };
                }
                (b' ', LinePart::End) => {
                    self.part = LinePart::Rest;
                    if (self.start..self.number).contains(&address) {
                        return Some(StackBounds { start: self.start, end: self.number });
                    }
                }
                (_, LinePart::Rest) => {}
                (digit, _) => {
                    let value = match digit {
                        b'0'..=b'9' => digit - b'0',
                        b'a'..=b'f' => digit - b'a' + 10,
                        _ => continue,
                    };
                    self.number = self.number << 4 | usize::from(value);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_is_found_in_the_maps_of_this_process() {
        let here = 0u64;
        let address = &raw const here as usize;
        let bounds = StackBounds::around(address);
        assert!((bounds.start..bounds.end).contains(&address), "{bounds:?}");
        assert_eq!(bounds.end % 4096, 0);
        assert_eq!(StackBounds::around(1), StackBounds::NONE);
    }

    #[test]
    fn lines_may_be_read_in_pieces() {
        let text = b"1000-2000 r--p 0 0:0 0 /a-b c\n7ffe0000-7fff0000 rw-p 00 00:00 0 [stack]\n";
        for length in 1..text.len() {
            let mut reader = MapsReader::default();
            let found = text.chunks(length).find_map(|piece| reader.find(piece, 0x7ffe_8000));
            let stack = StackBounds { start: 0x7ffe_0000, end: 0x7fff_0000 };
            assert_eq!(found, Some(stack), "{length}");
        }
    }
}
