//! What is known only when the module is installed: language and configuration file.
//!
//! The section `.topas` of the built object is replaced by `cargo xtask object` and by
//! `cargo xtask install`; one compiled module serves every language and prefix. It is
//! also what tells tools that an executable holds the module.
//!
//! Of several modules in a link the first alone is taken (they are a group), but the facts of all,
//! one behind the other.

use core::sync::atomic::Ordering;

use topas_format::module_facts::{MAGIC, SERIAL, SIZE, TEXTS, blank};
use topas_format::text::Cursor;

use crate::seen::shared;

/// Facts begin where a word of 8 bytes does.
#[repr(C, align(8))]
struct Facts([u8; SIZE]);

#[used]
#[unsafe(link_section = ".topas")]
static FACTS: Facts = Facts(blank());

/// Where the facts of this copy are. The compiler must not know what is in them.
#[inline(never)]
pub fn own() -> usize {
    core::hint::black_box(&raw const FACTS) as usize
}

/// The facts that hold for this process; there are none before [`crate::seen::first`].
fn facts() -> *const u8 {
    shared().load(Ordering::Relaxed) as *const u8
}

/// Whether the site measures programs that run alone, too, or did at the link.
pub fn serial() -> bool {
    // SAFETY: a section as `module_facts` tells.
    unsafe { *facts().add(SERIAL) == 1 }
}

/// Texts that end with a NUL: the language of the driver that linked the program, then the
/// directories in which a topas.conf may be; an empty one behind the last.
pub fn texts() -> Cursor<'static> {
    texts_of(facts())
}

fn texts_of(facts: *const u8) -> Cursor<'static> {
    // SAFETY: the section ends with two NULs, and nothing is read beyond them.
    Cursor::new(unsafe { core::slice::from_raw_parts(facts.add(TEXTS), SIZE - TEXTS) })
}

/// The language of the drivers that linked the program. Where answers of several met, it is the
/// one that demands most: Fortran before C++ before C, the later Fortran before the earlier.
pub fn language() -> &'static [u8] {
    const ANOTHER: u64 = u64::from_ne_bytes(*MAGIC);
    const PAGE: usize = 4096;
    let mut facts = facts();
    let mut language = &[][..];
    let mut most = 0;
    loop {
        let mut texts = texts_of(facts);
        // The words are in the order of the alphabet, which their first two bytes tell.
        let front = texts.rest.first_chunk().map_or(0, |front| u16::from_be_bytes(*front));
        let said = texts.until(0);
        if front > most {
            most = front;
            language = said;
        }
        while !texts.until(0).is_empty() {}
        // Where the next ones begin, if there are any. What is in the same page may be read.
        let next = (texts.rest.as_ptr() as usize).next_multiple_of(8);
        facts = next as *const u8;
        // SAFETY: aligned, and behind a byte of the same page.
        if next.is_multiple_of(PAGE) || unsafe { *facts.cast::<u64>() } != ANOTHER {
            return language;
        }
    }
}
