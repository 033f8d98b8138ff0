//! What is known only when the module is installed: language and configuration file.
//!
//! The section `.topas` of the built object is replaced by `cargo xtask object` and by
//! `cargo xtask install`; one compiled module serves every language and prefix. It is
//! also what tells tools that an executable holds the module.

use topas_format::field::Lang;
use topas_format::module_facts::{CONF, CONF_MAX, LANG, SIZE};

#[used]
#[unsafe(link_section = ".topas")]
static FACTS: [u8; SIZE] = topas_format::module_facts::blank();

/// The language of the driver that linked the program.
pub fn language() -> Lang {
    let index = usize::from(byte(LANG));
    Lang::ALL.get(index).copied().unwrap_or(Lang::Unknown)
}

/// Path of topas.conf with its NUL; what follows the NUL is zero, too.
pub fn conf_path() -> [u8; CONF_MAX] {
    let mut path = [0; CONF_MAX];
    for (i, to) in path.iter_mut().enumerate() {
        *to = byte(CONF + i);
    }
    path
}

/// One byte, read so that the compiler cannot know it.
fn byte(at: usize) -> u8 {
    match FACTS.get(at) {
        // SAFETY: a valid reference; volatile because the section is replaced after
        // compilation.
        Some(byte) => unsafe { core::ptr::read_volatile(byte) },
        None => 0,
    }
}
