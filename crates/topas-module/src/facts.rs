//! What is known only when the module is installed: language and configuration file.
//!
//! The section `.topas` of the built object is replaced by `cargo xtask object` and by
//! `cargo xtask install`; one compiled module serves every language and prefix. It is
//! also what tells tools that an executable holds the module.

use topas_format::field::Lang;
use topas_format::module_facts::{CONF, LANG, SERIAL, SIZE, blank};
use topas_format::text::Cursor;

#[used]
#[unsafe(link_section = ".topas")]
static FACTS: [u8; SIZE] = blank();

/// The section as it is now, which the compiler must not know.
fn facts() -> &'static [u8; SIZE] {
    core::hint::black_box(&FACTS)
}

/// The language of the driver that linked the program.
pub fn language() -> Lang {
    let index = facts().get(LANG).copied().unwrap_or_default();
    Lang::ALL.get(usize::from(index)).copied().unwrap_or(Lang::Unknown)
}

/// Whether the site measures programs that run alone, too, or did at the link.
pub fn serial() -> bool {
    facts().get(SERIAL) == Some(&1)
}

/// Path of topas.conf.
pub fn conf_path() -> &'static [u8] {
    Cursor::new(facts().get(CONF..).unwrap_or_default()).until(0)
}
