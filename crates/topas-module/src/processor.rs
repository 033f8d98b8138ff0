//! What differs between processors besides system calls.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{base_mhz, cpu, signal_return, weigh};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{base_mhz, cpu, signal_return, weigh};
