//! What the library does when it is loaded: it takes itself out of `LD_PRELOAD`, so that no child
//! of the program is loaded with it.
//!
//! A child that has the library of its own accord, by its door, brings it in again.

use core::ffi::{CStr, c_char, c_int};

use topas_format::out::Out;
use topas_format::text::last;
use topas_launch::preload::{GUARD_SIZE, PROFILE, names, take_out, write_guard};
use topas_launch::through;

use crate::sys;

/// What glibc passes; musl passes nothing, so the registers hold anything.
type Door = extern "C" fn(c_int, *const *const c_char, *const *const c_char);

#[used]
#[cfg_attr(not(test), unsafe(link_section = ".init_array"))]
static LOADED: Door = loaded;

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
    let mut room = [0; 4096];
    if through::becomes_another(last(sys::own_path(&mut room), b'/')) {
        // The program is still to come.
        return;
    }
    if take_out(entry, PROFILE) {
        // Where there was no such variable, its entry becomes the guard.
        let mut out = Out::new(entry.get_mut(..GUARD_SIZE).unwrap_or_default());
        write_guard(&mut out, sys::pid());
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
