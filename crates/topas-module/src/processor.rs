//! What differs between processors besides system calls.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{base_mhz, cpu, signal_return, weigh};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{base_mhz, cpu, signal_return, weigh};

use topas_format::event::{Metric, here};

/// Whether this processor counts integer operations.
pub fn counts_integers() -> bool {
    // Of some instruction sets no processor does: known when the module is compiled.
    const SOME_DO: bool = here::SMALL.ever_counts(Metric::IntOps);
    SOME_DO && here::SMALL.counts(cpu().map_or(0, here::place), Metric::IntOps)
}

/// A function for those who call us by a pointer, libc and the kernel. The processor may insist on
/// a certain instruction where a pointer leads: `endbr64` is written by the compiler, as told by
/// `xtask`; `bti c` it writes for nobody yet, so there the function is one of assembly, which jumps
/// on.
macro_rules! landing {
    ($visible:vis $name:ident($($argument:ident: $type:ty),*) => $target:path) => {
        #[cfg(target_arch = "x86_64")]
        $visible extern "C" fn $name($($argument: $type),*) {
            $target($($argument),*);
        }

        #[cfg(target_arch = "aarch64")]
        #[unsafe(naked)]
        $visible extern "C" fn $name($($argument: $type),*) {
            // A hint that older processors pass by.
            core::arch::naked_asm!("hint #34", "b {}", sym $target);
        }
    };
}
pub(crate) use landing;
