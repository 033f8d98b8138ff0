//! `topas_walk`, which fills in the return addresses from its caller on, and tells how many there
//! are. Bit 30 is set if the path was cut, bit 29 if there are further frames.

use std::cell::UnsafeCell;

use topas_callpath::{Caller, Memory, Rows, WalkEnd, walk};

thread_local! {
    static ROWS: UnsafeCell<Rows> = const { UnsafeCell::new(Rows::new()) };
}

/// Called by the tests' programs, as the library of the MPI profile is: it passes on where its
/// caller's stack is.
///
/// # Safety
/// Room for so many frames, and a stack that ends there.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn topas_walk(frames: *mut usize, room: i32, end: usize) -> i32 {
    core::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "lea rcx, [rbp + 16]",
        "call {}",
        "pop rbp",
        "ret",
        sym walk_from,
    );
}

/// The same: in front of the caller's stack lie the same two words.
///
/// # Safety
/// As above.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn topas_walk(frames: *mut usize, room: i32, end: usize) -> i32 {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-16]!",
        "mov x29, sp",
        "add x3, sp, #16",
        "bl {}",
        "ldp x29, x30, [sp], #16",
        "ret",
        sym walk_from,
    );
}

unsafe extern "C" fn walk_from(
    frames: *mut usize,
    room: i32,
    end: usize,
    stack: *const usize,
) -> i32 {
    // SAFETY: the words in front of the caller's stack, and the caller's array.
    let (caller, frames) = unsafe {
        let caller = Caller { address: *stack.sub(1), stack: stack as usize, base: *stack.sub(2) };
        (caller, std::slice::from_raw_parts_mut(frames, room as usize))
    };
    ROWS.with(|rows| {
        // SAFETY: the rows of this thread, in use here only, and a stack that ends there.
        let (rows, stack) = unsafe { (&mut *rows.get(), Memory::new(caller.stack, end)) };
        let found = walk(rows, caller, stack, frames);
        let end = match found.end {
            WalkEnd::Outermost => 0,
            WalkEnd::Deeper => 1 << 29,
            WalkEnd::Cut => 1 << 30,
        };
        found.count as i32 | end
    })
}
