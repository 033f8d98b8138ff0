//! The modules of a process: the executable and its libraries, as the loader tells them.

use core::ffi::{CStr, c_char, c_int, c_void};

#[repr(C)]
struct ProgramHeader {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    physical: u64,
    in_file: u64,
    in_memory: u64,
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
const NOTES: u32 = 4;
#[cfg(target_arch = "x86_64")]
const FRAME_TABLE: u32 = 0x6474_e550;

/// Most bytes of a build id that are told.
pub const BUILD_ID: usize = 20;

/// A hash of what is loaded of a file, and how: it tells files without a build id apart.
#[derive(Clone, Copy)]
pub struct SegmentPrint(u64);

impl SegmentPrint {
    /// Of nothing yet.
    pub const EMPTY: SegmentPrint = SegmentPrint(0xcbf2_9ce4_8422_2325);

    /// Adds a segment that is loaded: address, bytes in the file, bytes in memory.
    pub const fn add(self, address: u64, in_file: u64, in_memory: u64) -> SegmentPrint {
        let mut hash = self.0;
        let words = [address, in_file, in_memory];
        let [a, b, c] = words;
        hash = (hash ^ a).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        hash = (hash ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        hash = (hash ^ c).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        SegmentPrint(hash)
    }

    /// The hash.
    pub const fn hash(self) -> u64 {
        self.0
    }
}

/// A module that was asked for by an address in it.
pub struct LoadedModule {
    /// What is added to addresses of its file
    pub base: usize,
    name: *const c_char,
    /// Its build id
    pub build_id: [u8; BUILD_ID],
    /// Bytes of the build id; 0 if there is none
    pub build_id_length: usize,
    /// For modules without a build id
    pub print: SegmentPrint,
    /// Whether the process has unloaded modules: how many times
    pub unloads: u64,
    /// Address of its `.eh_frame_hdr`; 0 without one
    #[cfg(target_arch = "x86_64")]
    pub(crate) frame_table: usize,
    headers: *const ProgramHeader,
    count: usize,
}

struct Question {
    address: usize,
    answer: Option<LoadedModule>,
}

/// The module of an address; None if the loader knows none. The loader's lock is taken meanwhile.
pub fn module_of(address: usize) -> Option<LoadedModule> {
    let mut question = Question { address, answer: None };
    // SAFETY: the function is called with what it is told here.
    unsafe { dl_iterate_phdr(look, (&raw mut question).cast()) };
    question.answer
}

/// Looks whether a module is the wanted one; 1 if it is, which ends the search.
unsafe extern "C" fn look(told: *const Told, size: usize, question: *mut c_void) -> c_int {
    // SAFETY: what `module_of` has passed, and what the loader tells.
    let (told, question) = unsafe { (&*told, &mut *question.cast::<Question>()) };
    if told.headers.is_null() {
        return 0;
    }
    let mut module = LoadedModule {
        base: told.base,
        name: told.name,
        build_id: [0; BUILD_ID],
        build_id_length: 0,
        print: SegmentPrint::EMPTY,
        // Older loaders do not tell it.
        unloads: if size >= size_of::<Told>() { told.unloads } else { 0 },
        #[cfg(target_arch = "x86_64")]
        frame_table: 0,
        headers: told.headers,
        count: usize::from(told.count),
    };
    if module.segment_of(question.address).is_none() {
        return 0;
    }
    module.read();
    question.answer = Some(module);
    1
}

impl LoadedModule {
    /// Its path; empty of the executable.
    pub fn name(&self) -> &[u8] {
        if self.name.is_null() {
            return &[];
        }
        // SAFETY: the loader's own text, which stays as long as the module.
        unsafe { CStr::from_ptr(self.name) }.to_bytes()
    }

    fn headers(&self) -> &[ProgramHeader] {
        // SAFETY: the loader has so many; the module of an address on the stack stays loaded.
        unsafe { core::slice::from_raw_parts(self.headers, self.count) }
    }

    /// Begin and end of the loaded segment that an address is in.
    pub(crate) fn segment_of(&self, address: usize) -> Option<(usize, usize)> {
        let segments = self.headers().iter().filter(|header| header.kind == LOADED);
        let mut bounds = segments.map(|header| {
            let start = self.base.wrapping_add(header.address as usize);
            (start, start.wrapping_add(header.in_memory as usize))
        });
        bounds.find(|(start, end)| (*start..*end).contains(&address))
    }

    fn read(&mut self) {
        let headers = self.headers;
        for i in 0..self.count {
            // SAFETY: the loader has so many.
            let header = unsafe { &*headers.add(i) };
            let start = self.base.wrapping_add(header.address as usize);
            match header.kind {
                LOADED => {
                    self.print = self.print.add(header.address, header.in_file, header.in_memory);
                }
                NOTES if self.build_id_length == 0 => self.notes(start, header.in_memory as usize),
                #[cfg(target_arch = "x86_64")]
                FRAME_TABLE => self.frame_table = start,
                _ => {}
            }
        }
    }

    /// Finds the build id among notes.
    fn notes(&mut self, start: usize, length: usize) {
        const GNU: u32 = u32::from_ne_bytes(*b"GNU\0");
        const BUILD_ID_NOTE: u32 = 3;
        if self.segment_of(start).is_none_or(|(_, end)| length > end - start) {
            return;
        }
        let mut at = 0;
        // Lengths of the name and of the text, kind, name, text.
        while at + 16 <= length {
            // SAFETY: within the notes.
            let [name, text, kind, owner] =
                unsafe { ((start + at) as *const [u32; 4]).read_unaligned() };
            let text_at = at + 12 + (name as usize).next_multiple_of(4);
            if kind == BUILD_ID_NOTE && name == 4 && owner == GNU {
                let bytes = (text as usize).min(BUILD_ID);
                if text_at + bytes <= length {
                    self.build_id_length = bytes;
                    for (i, byte) in self.build_id.iter_mut().enumerate().take(bytes) {
                        // SAFETY: within the notes.
                        *byte = unsafe { ((start + text_at + i) as *const u8).read() };
                    }
                }
                return;
            }
            at = text_at + (text as usize).next_multiple_of(4);
        }
    }
}
