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
