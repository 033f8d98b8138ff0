//! x86-64: CPUID, and where signal handlers return to.

use core::arch::asm;

use topas_format::event::{Cpu, INTEL, Packed};
use topas_node::sys::cpuid;

core::arch::global_asm!(
    ".pushsection .text.topas_signal_return,\"ax\"",
    "topas_signal_return:",
    // Exactly these instructions, by which debuggers know the frame of a signal.
    "mov rax, 15",
    "syscall",
    ".popsection",
);

/// Where a signal handler returns to: it calls `rt_sigreturn`.
pub fn signal_return() -> usize {
    let address;
    // SAFETY: the address of the code above.
    unsafe {
        asm!("lea {}, [rip + topas_signal_return]", out(reg) address, options(pure, nomem, nostack));
    }
    address
}

/// The processor, if its maker is known.
#[cfg(not(topas_any_processor))]
pub fn cpu() -> Option<Cpu> {
    Cpu::from_cpuid(cpuid(0).ebx, cpuid(1).eax)
}

/// The processor that a test names in the directory where it runs a program: the same two
/// words of CPUID. Nothing that is installed is built like this.
#[cfg(topas_any_processor)]
pub fn cpu() -> Option<Cpu> {
    let mut words = [0; 8];
    crate::sys::load(c"topas-processor", &mut words);
    let [maker, signature] = [0, 4].map(|at| words.get(at..)?.first_chunk().copied());
    Cpu::from_cpuid(u32::from_le_bytes(maker?), u32::from_le_bytes(signature?))
}

/// Base frequency in MHz from CPUID leaf 16h, which Intel has since Skylake; else 0.
#[inline(never)]
pub fn base_mhz() -> u32 {
    let highest = cpuid(0);
    // AMD leaves it reserved; beyond the highest leaf, Intel returns another leaf's data.
    if highest.ebx == INTEL && highest.eax >= 0x16 { cpuid(0x16).eax & 0xffff } else { 0 }
}

/// A count times its event's weight. Vectors have no length that only the node knows.
pub fn weigh(count: u64, event: Packed) -> u64 {
    count << event.logarithm()
}
