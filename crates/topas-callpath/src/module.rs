//! The modules of a process: the executable and its libraries, as the loader tells them.

use crate::sys::{LoaderRecord, module_with};

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
    /// What the loader has of it
    pub(crate) loader: LoaderRecord,
    /// The build id of the module
    pub build_id: [u8; BUILD_ID],
    /// Bytes of the build id; 0 if there is none
    pub build_id_length: usize,
    /// For modules without a build id
    pub print: SegmentPrint,
    /// Address of its `.eh_frame_hdr`; 0 without one
    #[cfg(target_arch = "x86_64")]
    pub(crate) frame_table: usize,
}

/// The module of an address; None if the loader knows none. The loader's lock is taken meanwhile.
pub fn module_of(address: usize) -> Option<LoadedModule> {
    let mut module = LoadedModule {
        loader: module_with(address)?,
        build_id: [0; BUILD_ID],
        build_id_length: 0,
        print: SegmentPrint::EMPTY,
        #[cfg(target_arch = "x86_64")]
        frame_table: 0,
    };
    module.read();
    Some(module)
}

impl LoadedModule {
    /// What is added to the addresses of its file.
    pub fn base(&self) -> usize {
        self.loader.base()
    }

    /// The path of the module; empty of the executable.
    pub fn name(&self) -> &[u8] {
        self.loader.name()
    }

    fn read(&mut self) {
        for header in self.loader.headers() {
            let start = self.loader.base().wrapping_add(header.address as usize);
            match header.kind {
                LOADED => {
                    self.print = self.print.add(header.address, header.in_file, header.in_memory);
                }
                NOTES if self.build_id_length == 0 => {
                    let id = build_id(&self.loader, start, header.in_memory as usize);
                    (self.build_id, self.build_id_length) = id.unwrap_or_default();
                }
                #[cfg(target_arch = "x86_64")]
                FRAME_TABLE => self.frame_table = start,
                _ => {}
            }
        }
    }
}

/// The build id among notes, and its bytes; None if there is none.
fn build_id(loader: &LoaderRecord, start: usize, length: usize) -> Option<([u8; BUILD_ID], usize)> {
    const GNU: u32 = u32::from_ne_bytes(*b"GNU\0");
    const BUILD_ID_NOTE: u32 = 3;
    let notes = loader.segment(start)?.part(start, start.checked_add(length)?)?;
    let number = |at: usize| notes.bytes(at).map(u32::from_ne_bytes);
    let mut at = start;
    loop {
        // Lengths of the name and of the text, kind, name, text.
        let (name, text) = (number(at)?, number(at + 4)?);
        let text_at = at + 12 + (name as usize).next_multiple_of(4);
        if number(at + 8)? == BUILD_ID_NOTE && name == 4 && number(at + 12)? == GNU {
            let count = (text as usize).min(BUILD_ID);
            let mut id = [0; BUILD_ID];
            for (i, byte) in id.iter_mut().enumerate().take(count) {
                [*byte] = notes.bytes(text_at + i)?;
            }
            return Some((id, count));
        }
        at = text_at + (text as usize).next_multiple_of(4);
    }
}
