//! AArch64: its name, and where signal handlers return to.

use core::arch::asm;

use topas_format::event::{Cpu, Packed};

use crate::sys;

core::arch::global_asm!(
    ".pushsection .text.topas_signal_return,\"ax\"",
    "topas_signal_return:",
    // Exactly these instructions, by which debuggers know the frame of a signal.
    "mov x8, #139",
    "svc #0",
    ".popsection",
);

/// Where a signal handler returns to: it calls `rt_sigreturn`.
pub fn signal_return() -> usize {
    let address;
    // SAFETY: the address of the code above.
    unsafe { asm!("adr {}, topas_signal_return", out(reg) address, options(pure, nomem, nostack)) };
    address
}

/// The processor; None where the kernel does not let programs read the register.
pub fn cpu() -> Option<Cpu> {
    const AT_HWCAP: usize = 16;
    const HWCAP_CPUID: usize = 1 << 11;
    if sys::auxiliary(AT_HWCAP) & HWCAP_CPUID == 0 {
        return None;
    }
    let midr: u64;
    // SAFETY: the kernel emulates the register where it announces HWCAP_CPUID.
    unsafe { asm!("mrs {}, midr_el1", out(reg) midr, options(nomem, nostack)) };
    Some(Cpu::from_midr(midr))
}

/// Arm names no frequency in a register that programs can read.
pub fn base_mhz() -> u32 {
    0
}

/// A count times its event's weight.
pub fn weigh(count: u64, event: Packed) -> u64 {
    match event.logarithm() {
        Packed::PER_VECTOR => count.wrapping_mul(sys::vector_length()),
        logarithm => count << logarithm,
    }
}
