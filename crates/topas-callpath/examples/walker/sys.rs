//! `topas_walk`, which fills in the return addresses from its caller on, and tells how many there
//! are. Bit 30 is set if the path was cut, bit 29 if there are further frames. None at all are told if a
//! trail leads to other frames than the walk: `topas_trails` tells how many led to the same.

use std::cell::{RefCell, UnsafeCell};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use topas_callpath::{Caller, Memory, Rows, Trails, WalkEnd, walk};

/// What walks of a thread have found, and their trails.
struct Found {
    trails: Box<Trails>,
    frames: Vec<(WalkEnd, Vec<usize>)>,
}

thread_local! {
    static ROWS: UnsafeCell<Rows> = const { UnsafeCell::new(Rows::new()) };
    static FOUND: RefCell<Found> =
        RefCell::new(Found { trails: Box::default(), frames: Vec::new() });
}

/// How many walks were also found by their trails.
static TRAILS: AtomicI64 = AtomicI64::new(0);

/// The same for the programs.
#[unsafe(no_mangle)]
pub extern "C" fn topas_trails() -> i64 {
    TRAILS.load(Relaxed)
}

/// Whether walks of several depths find what their trails lead to, if these are known.
fn trails_agree(rows: &mut Rows, caller: Caller, stack: Memory) -> bool {
    FOUND.with_borrow_mut(|found| {
        [1, 2, 3, 4, 6, 9].into_iter().all(|depth| {
            let known = found.trails.find(caller, stack, depth);
            let mut frames = vec![0; depth as usize];
            let walked = walk(rows, caller, stack, &mut frames);
            frames.truncate(walked.count);
            let walked = (walked.end, frames);
            let Some(known) = known else {
                let value = found.frames.len() as u32;
                found.trails.note(rows, (caller, stack, depth as usize), depth, value);
                found.frames.push(walked);
                return true;
            };
            TRAILS.fetch_add(1, Relaxed);
            found.frames.get(known as usize) == Some(&walked)
        })
    })
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
        if !trails_agree(rows, caller, stack) {
            return 0;
        }
        let found = walk(rows, caller, stack, frames);
        let end = match found.end {
            WalkEnd::Outermost => 0,
            WalkEnd::Deeper => 1 << 29,
            WalkEnd::Cut => 1 << 30,
        };
        found.count as i32 | end
    })
}
