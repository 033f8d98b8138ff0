//! Each process measures once, whatever was linked or loaded twice.

use core::arch::global_asm;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::library::far;

// The flag is the only symbol that leaves the object. It is weak so that a second copy
// of the module on one link line is no error, and uses the first copy's flag.
global_asm!(
    ".pushsection .bss.topas_module_seen,\"aw\",%nobits",
    ".p2align 2",
    ".weak topas_module_seen",
    ".type topas_module_seen,%object",
    ".size topas_module_seen, 4",
    "topas_module_seen:",
    ".zero 4",
    ".popsection",
);

// SAFETY: defined above with this size.
unsafe extern "C" {
    static topas_module_seen: AtomicU32;
}

/// True for the first caller in this process. Not inlined: one relocation in all.
#[inline(never)]
pub fn first() -> bool {
    let address = far!(topas_module_seen);
    // SAFETY: the symbol is a zeroed, aligned u32 as defined above.
    let seen = unsafe { &*(address as *const AtomicU32) };
    seen.swap(1, Ordering::Relaxed) == 0
}
