//! Room for what is done at the beginning, at the end and at subtotals. It is no part of the
//! program's stack, which may be small, and takes memory only as far as it is used.

use core::sync::atomic::{
    AtomicBool, AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_format::conf::MAX_READ;
use topas_mpi_profile::sums::Sums;
use topas_mpi_profile::wire::MAX_MESSAGE;

use crate::sys;

/// Bytes of text that are handed over at once, to a file or to another rank.
pub const CHUNK: usize = 64 * 1024;

/// Room. All zero at first; its parts hold whatever was left there.
#[repr(C)]
pub struct Workspace {
    /// topas.conf
    pub conf: [u8; MAX_READ],
    /// Any other file, or what the MPI says of itself
    pub file: [u8; 8192 + 1],
    /// A path
    pub path: [u8; 4096],
    /// Lines behind a tag: a file gets as many at once as were gathered
    pub tagged: [u8; CHUNK + 64],
    /// A path behind which messages to the user are
    pub said: [u8; 4096 + 512],
    /// What this rank counted, and those of which it is told
    pub sums: Sums,
    /// What another rank tells
    pub other: Sums,
    /// A message
    pub message: [u8; MAX_MESSAGE],
    /// Text that waits to be written
    pub text: [u8; CHUNK],
}

/// What is kept from the beginning.
#[repr(C)]
pub struct Kept {
    /// Directory the program was started in, with its slash; ends with a NUL
    pub directory: [u8; 4096],
    /// First word of the command line; ends with a NUL
    pub command: [u8; 256],
    /// The user's data file as `TOPAS_MPI_OUT` has it; ends with a NUL
    pub pattern: [u8; 2048],
    /// Log targets as `TOPAS_LOG` has them; ends with a NUL
    pub log: [u8; 4096],
    /// The job runs in batch
    pub batch: bool,
    /// The user wants to know why something was not written
    pub verbose: bool,
    /// Ranks of the launch, as its launcher says; 0 if it does not
    pub size: u32,
}

static WORKSPACE: AtomicPtr<Workspace> = AtomicPtr::new(core::ptr::null_mut());
static KEPT: AtomicPtr<Kept> = AtomicPtr::new(core::ptr::null_mut());
static IN_USE: AtomicBool = AtomicBool::new(false);

fn mapped<T>(place: &AtomicPtr<T>) -> *mut T {
    let there = place.load(Acquire);
    if !there.is_null() {
        return there;
    }
    let new = sys::map_memory(size_of::<T>()).map_or(core::ptr::null_mut(), <*mut u8>::cast::<T>);
    place.store(new, Release);
    new
}

/// Does something with the room, unless somebody else does or there is none.
pub fn with<R>(act: impl FnOnce(&mut Workspace) -> R) -> Option<R> {
    if IN_USE.swap(true, Acquire) {
        return None;
    }
    let place = mapped(&WORKSPACE);
    // SAFETY: mapped for good, zeroed, which is a value of this type; nobody else has it.
    let result = unsafe { place.as_mut() }.map(act);
    IN_USE.store(false, Release);
    result
}

/// Gives the memory back; what is needed again comes back as zeros.
pub fn release() {
    let place = WORKSPACE.load(Relaxed);
    if !place.is_null() && !IN_USE.swap(true, Acquire) {
        sys::unmap(place.cast(), size_of::<Workspace>());
        WORKSPACE.store(core::ptr::null_mut(), Relaxed);
        IN_USE.store(false, Release);
    }
}

/// What is kept from the beginning.
pub fn kept() -> Option<&'static mut Kept> {
    // SAFETY: mapped for good, zeroed, which is a value of this type. Written by the thread that
    // begins the process, before any other has seen that it began.
    unsafe { mapped(&KEPT).as_mut() }
}

/// Writes a text with a NUL behind it, as much as fits.
pub fn keep(to: &mut [u8], text: &[u8]) {
    let Some(most) = to.len().checked_sub(1) else { return };
    let text = text.get(..most).unwrap_or(text);
    let (front, rest) = to.split_at_mut(text.len());
    front.copy_from_slice(text);
    if let Some(end) = rest.first_mut() {
        *end = 0;
    }
}
