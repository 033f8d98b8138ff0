//! What only the process itself can answer: words of memory, and the modules that the loader knows.
//! All `unsafe` of the crate is here.

use core::ffi::{CStr, c_char, c_int, c_void};

/// Memory that can be read, from an address until another one.
#[derive(Clone, Copy)]
pub struct Memory {
    from: usize,
    end: usize,
}

impl Memory {
    /// Memory from an address until `end`.
    ///
    /// # Safety
    /// All of it can be read as long as the answer, or a part of it, is used.
    pub unsafe fn new(from: usize, end: usize) -> Memory {
        Memory { from, end }
    }

    /// The memory of bytes that stay.
    #[cfg(test)]
    pub fn of(bytes: &'static [u8]) -> Memory {
        let from = bytes.as_ptr() as usize;
        Memory { from, end: from + bytes.len() }
    }

    /// The first address of the memory.
    #[inline(always)]
    pub fn from(self) -> usize {
        self.from
    }

    /// The first address behind it.
    #[inline(always)]
    pub fn end(self) -> usize {
        self.end
    }

    /// The part from an address until another one; None if that is not in it.
    #[inline(always)]
    pub fn part(self, from: usize, end: usize) -> Option<Memory> {
        (self.from <= from && from <= end && end <= self.end).then_some(Memory { from, end })
    }

    /// The bytes at an address; None if they are not all in it.
    #[inline(always)]
    pub fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        if at < self.from || self.end.checked_sub(at)? < N {
            return None;
        }
        // SAFETY: all of them are in the memory that can be read, by `new`.
        Some(unsafe { (at as *const [u8; N]).read_unaligned() })
    }

    /// A word of a stack: at a multiple of its size.
    #[inline(always)]
    pub fn word(self, at: usize) -> Option<usize> {
        if at < self.from || at > self.end.wrapping_sub(8) || !at.is_multiple_of(8) {
            return None;
        }
        // SAFETY: as above; a stack ends at a multiple of 8, far from address 0.
        Some(unsafe { (at as *const usize).read() })
    }
}

/// A word of a stack as it was at a time.
#[derive(Clone, Copy)]
#[repr(C)]
struct StackWord {
    at: usize,
    value: usize,
}

impl StackWord {
    /// The bits that have changed.
    ///
    /// # Safety
    /// The memory can be read.
    #[inline(always)]
    unsafe fn difference(self) -> usize {
        // SAFETY: by the caller; words are at multiples of their size.
        unsafe { (self.at as *const usize).read() ^ self.value }
    }
}

/// Words that are compared together, because a loop over single ones takes longer.
const TOGETHER: usize = 4;
/// So many times these can be noted.
const BLOCKS: usize = 4;

/// Some words of a stack as they were when they were noted.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct StackWords {
    stack: Memory,
    /// Blocks with words
    used: usize,
    /// In the last of them, the first one stands in place of those that are not there
    blocks: [[StackWord; TOGETHER]; BLOCKS],
    count: usize,
}

impl StackWords {
    /// None yet of this stack.
    pub const fn of(stack: Memory) -> StackWords {
        let none = [StackWord { at: 0, value: 0 }; TOGETHER];
        StackWords { stack, used: 0, blocks: [none; BLOCKS], count: 0 }
    }

    /// Words of no stack.
    pub const NONE: StackWords = StackWords::of(Memory { from: 0, end: 0 });

    /// Notes one more word; None if there is no room, or no such word.
    pub fn note(&mut self, at: usize) -> Option<()> {
        let word = StackWord { at, value: self.stack.word(at)? };
        let block = self.blocks.get_mut(self.count / TOGETHER)?;
        match self.count % TOGETHER {
            0 => (*block, self.used) = ([word; TOGETHER], self.used + 1),
            place => *block.get_mut(place)? = word,
        }
        self.count += 1;
        Some(())
    }

    /// Whether a stack is the one of these words, and all are as they were.
    #[inline(always)]
    pub fn are_in(&self, stack: Memory) -> bool {
        if self.stack.from != stack.from || self.stack.end != stack.end {
            return false;
        }
        let Some(blocks) = self.blocks.get(..self.used) else { return false };
        // Not only until the first that differs: there are few.
        let mut differ = 0;
        for [a, b, c, d] in blocks {
            // SAFETY: `note` has read them in the same memory.
            differ |= unsafe { a.difference() | b.difference() | c.difference() | d.difference() };
        }
        differ == 0
    }
}

/// `Elf64_Phdr`
#[repr(C)]
pub struct ProgramHeader {
    /// What is described
    pub kind: u32,
    flags: u32,
    offset: u64,
    /// The address of the segment in the file's own numbering
    pub address: u64,
    physical: u64,
    /// Bytes in the file
    pub in_file: u64,
    /// Bytes in memory
    pub in_memory: u64,
    alignment: u64,
}

/// `struct dl_phdr_info`
#[repr(C)]
struct Told {
    base: usize,
    name: *const c_char,
    headers: *const ProgramHeader,
    count: u16,
    loads: u64,
    unloads: u64,
}

unsafe extern "C" {
    fn dl_iterate_phdr(
        each: unsafe extern "C" fn(*const Told, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

const LOADED: u32 = 1;

/// What the loader knows of a module. It holds as long as the module stays loaded, as one does
/// whose address stands on a stack.
pub struct LoaderRecord {
    base: usize,
    name: *const c_char,
    headers: *const ProgramHeader,
    count: usize,
    unloads: u64,
}

impl LoaderRecord {
    /// What is added to the addresses of its file.
    pub fn base(&self) -> usize {
        self.base
    }

    /// The path of the module; empty of the executable.
    pub fn name(&self) -> &[u8] {
        if self.name.is_null() {
            return &[];
        }
        // SAFETY: the loader's own text, which stays as long as the module.
        unsafe { CStr::from_ptr(self.name) }.to_bytes()
    }

    /// The program headers of the module.
    pub fn headers(&self) -> &[ProgramHeader] {
        // SAFETY: the loader has so many, as long as the module stays.
        unsafe { core::slice::from_raw_parts(self.headers, self.count) }
    }

    /// How many modules the process had unloaded; 0 where an older loader does not tell.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub fn unloads(&self) -> u64 {
        self.unloads
    }

    /// The memory of the loaded segment that an address is in.
    pub fn segment(&self, address: usize) -> Option<Memory> {
        let mut segments = self.headers().iter().filter(|header| header.kind == LOADED);
        segments.find_map(|header| {
            let from = self.base.wrapping_add(header.address as usize);
            let end = from.wrapping_add(header.in_memory as usize);
            // SAFETY: a segment of a module that is loaded.
            (from..end).contains(&address).then(|| unsafe { Memory::new(from, end) })
        })
    }
}

struct Question {
    address: usize,
    answer: Option<LoaderRecord>,
}

/// The module of an address; None if the loader knows none. The loader's lock is taken meanwhile.
pub fn module_with(address: usize) -> Option<LoaderRecord> {
    let mut question = Question { address, answer: None };
    // SAFETY: the function is called with what it is told here, before this returns.
    unsafe { dl_iterate_phdr(look, (&raw mut question).cast()) };
    question.answer
}

/// Looks whether a module is the wanted one; 1 if it is, which ends the search.
unsafe extern "C" fn look(told: *const Told, size: usize, question: *mut c_void) -> c_int {
    // SAFETY: what `module_with` has passed, and what the loader tells.
    let (told, question) = unsafe { (&*told, &mut *question.cast::<Question>()) };
    if told.headers.is_null() {
        return 0;
    }
    let module = LoaderRecord {
        base: told.base,
        name: told.name,
        headers: told.headers,
        count: usize::from(told.count),
        unloads: if size >= size_of::<Told>() { told.unloads } else { 0 },
    };
    if module.segment(question.address).is_none() {
        return 0;
    }
    question.answer = Some(module);
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_is_read() {
        let words = [1usize, 2, 3];
        let from = words.as_ptr() as usize;
        // SAFETY: an array that outlives the test's use.
        let memory = unsafe { Memory::new(from, from + 24) };
        assert_eq!([memory.word(from), memory.word(from + 16)], [Some(1), Some(3)]);
        for outside in [from - 8, from + 24, from + 17, from + 4, usize::MAX - 7, 0] {
            assert_eq!(memory.word(outside), None, "{outside:#x} of {from:#x}");
        }
        assert_eq!(memory.bytes(from + 20), Some([0u8; 4]));
        for outside in [from - 1, from + 21, from + 24, usize::MAX, 0] {
            assert_eq!(memory.bytes::<4>(outside), None, "{outside:#x} of {from:#x}");
        }
        assert!(memory.part(from + 8, from + 8).is_some());
        for (low, high) in [(from - 1, from), (from, from + 25), (from + 8, from)] {
            assert!(memory.part(low, high).is_none());
        }
    }

    #[test]
    fn a_function_is_in_the_module_of_this_test() {
        let address = nothing_outside_is_read as fn() as usize;
        let module = module_with(address).unwrap();
        assert!(module.segment(address).is_some() && module.name().is_empty());
        assert!(module_with(8).is_none());
    }
}
