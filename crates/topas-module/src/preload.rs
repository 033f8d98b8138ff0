//! The door of the library that `topas-run` has loaded into a program that has no module.
//!
//! It takes the place of [`crate::entry`], and needs none of its rules: nobody links it, and it
//! is loaded with the program. It is the first of all libraries to be initialized (`ld -z
//! initfirst`), before libc, so that threads that others start are counted. The environment is
//! put back in order there, so that no child of the program is loaded with it.

use core::ffi::{c_char, c_int};

use topas_format::out::Out;
use topas_format::text::last;
use topas_launch::preload::{RUN, names, take_out};
use topas_launch::{Family, marker, through};

use crate::library::address;
use crate::processor::landing;
use crate::seen::first;
use crate::state::STATE;
use crate::{executable, extended, start, sys};

/// What glibc passes; musl passes nothing, so the registers hold anything.
type Door = extern "C" fn(c_int, *const *const c_char, *const *const c_char);

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_LIBRARIES: Door = land_before_libraries;

landing!(land_before_libraries(count: c_int, arguments: *const *const c_char, environment: *const *const c_char) => before_libraries);

extern "C" fn before_libraries(_: c_int, _: *const *const c_char, passed: *const *const c_char) {
    let libc = address!("environ") as *const *const *const c_char;
    // SAFETY: libc's own pointer.
    let own = unsafe { *libc };
    // Null before glibc's own constructor; others have set it. Who passes the environment here
    // passes the status to exit handlers, too: glibc.
    let environment = if own.is_null() { passed } else { own };
    // SAFETY: an array of C strings that ends with null, in writable memory of the stack.
    unsafe {
        let Some(entry) = variable(environment, |entry| names(entry, RUN)) else {
            return;
        };
        let state = STATE.get();
        if through::becomes_another(last(sys::read_link(c"/proc/self/exe", &mut state.file), b'/'))
        {
            // The program is still to come.
            return;
        }
        let made_for_us = take_out(entry, RUN);
        let has_module = executable::look(&mut state.file).has_module;
        // Loaded into a program that has the module only to measure every rank.
        if first(false) && (extended::ON || !has_module) {
            start::start(environment, environment == passed);
        }
        let state = STATE.get();
        let mut pid = sys::pid();
        if extended::ON && has_module {
            // The program's own module takes itself for that of a child, and gives way: no process
            // has this number. One that runs alone does not, and logs the line by itself.
            pid = 0;
            state.extended.logs &= state.rank.family != Family::Own;
        }
        let mark = |entry: &mut [u8]| {
            let room = entry.len().min(marker::SIZE);
            let mut out = Out::new(entry.get_mut(..room).unwrap_or_default());
            marker::write(&mut out, &state.rank, pid);
        };
        // Of one digit less at most, so there is room.
        if pid == 0
            && let Some(entry) = variable(environment, marker::is_entry)
        {
            mark(entry);
        }
        if made_for_us {
            // Where there was no such variable, its entry becomes the marker of the rank.
            mark(entry);
        }
    }
}

/// The first variable that is wanted, with its NUL.
///
/// # Safety
/// An array of C strings that ends with null, whose strings may be written and stay.
unsafe fn variable(
    environment: *const *const c_char,
    wanted: impl Fn(&[u8]) -> bool,
) -> Option<&'static mut [u8]> {
    if environment.is_null() {
        return None;
    }
    let mut at = environment;
    // SAFETY: the caller's promise.
    unsafe {
        while !(*at).is_null() {
            let entry = sys::bytes(*at);
            if wanted(entry) {
                return Some(core::slice::from_raw_parts_mut(
                    (*at).cast_mut().cast(),
                    entry.len() + 1,
                ));
            }
            at = at.add(1);
        }
    }
    None
}
