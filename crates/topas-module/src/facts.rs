//! What is known only when the module is installed: language and configuration file.
//!
//! The section `.topas` of the built object is replaced by `cargo xtask object` and by
//! `cargo xtask install`; one compiled module serves every language and prefix. It is
//! also what tells tools that an executable holds the module.

use core::ffi::CStr;

use topas_format::field::Lang;
use topas_format::module_facts::{CONF, LANG, SIZE, blank};

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

/// Path of topas.conf.
pub fn conf_path() -> &'static CStr {
    let path = facts().get(CONF..).unwrap_or_default();
    // SAFETY: the section ends with a NUL, whatever path was put into it.
    unsafe { CStr::from_ptr(path.as_ptr().cast()) }
}
