//! The processor's own counter of time.

/// The time stamp counter. Not ordered with what is around it: waiting for that would take longer
/// than most calls, and a call is much longer than what overlaps.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn counter() -> u64 {
    // SAFETY: reads a counter.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The virtual counter.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn counter() -> u64 {
    let ticks;
    // SAFETY: reads a counter that Linux lets programs read.
    unsafe {
        core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack));
    }
    ticks
}

/// Whether the counter runs at the same speed at all times, in all states of the processor.
pub fn counter_is_even() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use topas_node::sys::cpuid;
        // Bit 8 of EDX: invariant TSC.
        cpuid(0x8000_0000).eax >= 0x8000_0007 && cpuid(0x8000_0007).edx & 1 << 8 != 0
    }
    #[cfg(target_arch = "aarch64")]
    true
}
