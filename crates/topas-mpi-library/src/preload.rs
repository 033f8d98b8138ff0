//! What the library does when it is loaded: in a program that has an MPI it takes itself out of
//! `LD_PRELOAD`, so that no child of the program is loaded with it. In any other it waits for the
//! program that has one: between a launcher and that stand shells and scripts, `timeout`, `env`,
//! and interpreters that open their MPI later. A process that waits has done nothing but look at
//! its environment.
//!
//! A child that has the library of its own accord, by its door, brings it in again.

use core::ffi::{CStr, c_char, c_int};

use topas_format::out::Out;
use topas_format::text::last;
use topas_launch::preload::{GUARD_SIZE, PROFILE, names, take_out, write_guard};
use topas_launch::through;
use topas_node::sys as kernel;

use crate::{launch, say, site, sys};

/// What glibc passes; musl passes nothing, so the registers hold anything.
type Initializer = extern "C" fn(c_int, *const *const c_char, *const *const c_char);

#[used]
#[cfg_attr(not(test), unsafe(link_section = ".init_array"))]
static LOADED: Initializer = loaded;

unsafe extern "C" {
    static environ: *const *const c_char;
}

extern "C" fn loaded(_: c_int, _: *const *const c_char, passed: *const *const c_char) {
    // SAFETY: libc's own pointer; null before its own constructor, and only glibc's is as late as
    // that.
    let environment = unsafe { if environ.is_null() { passed } else { environ } };
    if environment.is_null() {
        return;
    }
    // SAFETY: an array of C strings that ends with null, in writable memory of the stack.
    let Some(entry) = (unsafe { entry(environment) }) else { return };
    let wish = site::by_variables();
    if wish == Some(false) || sys::has_mpi() {
        leave(entry);
        return;
    }
    let mut room = [0; 4096];
    let name = last(kernel::read_link(c"/proc/self/exe", &mut room), b'/');
    if through::leads_elsewhere(name) {
        leave(entry);
        if wish == Some(true) && launch::is_first() {
            say::not_followed(name);
        }
    }
}

/// The process begins with MPI, which it may have opened just now: its children are none of the
/// library's, as those of programs that had MPI from the start.
pub fn begin() {
    // SAFETY: libc's own pointer to an array of C strings that ends with null; this variable is
    // as the kernel or a setter of variables wrote it.
    if let Some(entry) = unsafe { environ.as_ref().and_then(|_| entry(environ)) } {
        leave(entry);
    }
}

/// Takes the library out of the variable.
fn leave(entry: &mut [u8]) {
    if take_out(entry, PROFILE) {
        // Where there was no such variable, its entry becomes the guard.
        let mut out = Out::new(entry.get_mut(..GUARD_SIZE).unwrap_or_default());
        write_guard(&mut out, kernel::pid());
    }
}

/// The variable that names this library, with its NUL.
///
/// # Safety
/// An array of C strings that ends with null, whose strings may be written and stay.
unsafe fn entry(environment: *const *const c_char) -> Option<&'static mut [u8]> {
    let mut at = environment;
    // SAFETY: the caller's promise.
    unsafe {
        while !(*at).is_null() {
            let length = CStr::from_ptr(*at).count_bytes();
            let entry = core::slice::from_raw_parts_mut((*at).cast_mut().cast(), length + 1);
            if names(entry, PROFILE) {
                return Some(entry);
            }
            at = at.add(1);
        }
    }
    None
}
