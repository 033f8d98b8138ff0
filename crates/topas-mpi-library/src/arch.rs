//! What differs between processors: the way in, the thread's own variables.

use core::arch::{asm, global_asm};

use crate::frame::{ARGUMENTS, DOUBLE, FRAME, RESULT, VECTORS};
use crate::generated::number;
use crate::mode::OFF;
use crate::thread::Thread;

/// The function whose stub the assembly has a second time, for [`cost`](crate::cost): the first of
/// the table. A send counts more than most.
pub const MEASURED: usize = number::SEND;

/// Arguments that are passed in registers.
#[cfg(target_arch = "x86_64")]
pub const REGISTERS: usize = 6;
/// Arguments that are passed in registers.
#[cfg(target_arch = "aarch64")]
pub const REGISTERS: usize = 8;

/// Names of all functions, each a way in.
#[cfg(all(not(topas_mpi_wrap), target_arch = "x86_64"))]
macro_rules! symbols {
    () => {
        concat!(include_str!("generated/symbols.s"), include_str!("entry/lookup_x86_64.s"))
    };
}

/// Names of all functions, each a way in.
#[cfg(all(not(topas_mpi_wrap), target_arch = "aarch64"))]
macro_rules! symbols {
    () => {
        concat!(include_str!("generated/symbols.s"), include_str!("entry/lookup_aarch64.s"))
    };
}

/// The way in alone: the names are members of an archive.
#[cfg(topas_mpi_wrap)]
macro_rules! symbols {
    () => {
        ".globl topas_mpi_common\n.globl topas_mpi_floating\n.globl topas_mpi_variadic\n"
    };
}

/// The way in, which has to know places in a frame.
macro_rules! entry {
    ($source:literal $(, $syntax:ident)?) => {
        global_asm!(
            ".set FRAME, {FRAME}",
            ".set ARGUMENTS, {ARGUMENTS}",
            ".set RESULT, {RESULT}",
            ".set DOUBLE, {DOUBLE}",
            ".set VECTORS, {VECTORS}",
            ".set topas_mpi_mode, {MODE}",
            ".set topas_mpi_targets, {TARGETS}",
            ".set OFF, {OFF}",
            ".set MEASURED, {MEASURED}",
            include_str!($source),
            symbols!(),
            FRAME = const FRAME,
            ARGUMENTS = const ARGUMENTS,
            RESULT = const RESULT,
            DOUBLE = const DOUBLE,
            VECTORS = const VECTORS,
            MODE = sym crate::mode::MODE,
            TARGETS = sym crate::below::TARGETS,
            OFF = const OFF,
            MEASURED = const MEASURED,
            $(options($syntax))?
        );
    };
}

#[cfg(target_arch = "x86_64")]
entry!("entry/x86_64.s", att_syntax);
#[cfg(target_arch = "aarch64")]
entry!("entry/aarch64.s");

/// The variables of this thread. They are in the block that the loader allocates with the thread
/// (the initial-exec model), so that reaching them is two instructions and never a call.
#[inline(always)]
pub fn thread() -> *mut Thread {
    let thread;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: computes an address.
    unsafe {
        asm!(
            "movq %fs:0, {0}",
            "addq topas_mpi_thread@gottpoff(%rip), {0}",
            out(reg) thread,
            options(att_syntax, pure, nomem, nostack)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: computes an address.
    unsafe {
        asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:topas_mpi_thread",
            "ldr {1}, [{1}, #:gottprel_lo12:topas_mpi_thread]",
            "add {0}, {0}, {1}",
            out(reg) thread,
            out(reg) _,
            options(pure, readonly, nostack)
        );
    }
    thread
}

/// A word as it is, of which the compiler knows nothing. If it saw that a function returns what it was
/// passed, it would keep a copy over the call in a register, which has to be saved, in place of a jump.
#[inline(always)]
pub fn opaque(word: usize) -> usize {
    let mut word = word;
    // SAFETY: does nothing.
    unsafe { asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}
