//! Where this library was installed from: a section that the installation replaces.

use topas_format::module_facts::{MAGIC, SIZE, TEXTS, blank};

/// The section, of the same form as the module's.
#[used]
#[unsafe(link_section = ".topas_mpi_site")]
static SITE: [u8; SIZE] = blank();

/// Directories in which topas.conf is looked for, each with its slash, in order. None before it
/// was installed.
#[allow(dead_code)]
pub fn directories() -> impl Iterator<Item = &'static [u8]> {
    // Replaced after it was compiled.
    let site: &'static [u8] = core::hint::black_box(&SITE[..]);
    debug_assert!(site.starts_with(MAGIC));
    let texts = site.get(TEXTS..).unwrap_or_default();
    // In front of them is the word of a language.
    texts.split(|byte| *byte == 0).skip(1).take_while(|text| !text.is_empty())
}
