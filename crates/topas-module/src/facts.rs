//! What is known only when the module is installed: language and configuration file.
//!
//! The section `.topas` of the built object is replaced by `cargo xtask object` and by
//! `cargo xtask install`; one compiled module serves every language and prefix. It is
//! also what tells tools that an executable holds the module.

use topas_format::module_facts::{SERIAL, SIZE, TEXTS, blank};
use topas_format::text::Cursor;

#[used]
#[unsafe(link_section = ".topas")]
static FACTS: [u8; SIZE] = blank();

/// The section as it is now, which the compiler must not know. It ends with two NULs, and
/// nothing is read beyond them. Not inlined: one relocation in all.
#[inline(never)]
fn facts() -> &'static [u8; SIZE] {
    core::hint::black_box(&FACTS)
}

/// Whether the site measures programs that run alone, too, or did at the link.
pub fn serial() -> bool {
    facts().get(SERIAL) == Some(&1)
}

/// Texts that end with a NUL: the language of the driver that linked the program, then the
/// directories in which a topas.conf may be; an empty one behind the last.
pub fn texts() -> Cursor<'static> {
    Cursor::new(facts().get(TEXTS..).unwrap_or_default())
}
