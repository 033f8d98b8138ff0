//! The object that `TOPAS_MPI=yes` links into a program: has it loaded with the library.
//!
//! It defines no name of MPI, so that whoever asks a linker whether a function exists gets the
//! answer of the MPI, and needs no library, so that the program outlives the installation. Before
//! anything of the program has run it replaces the process by itself, once, with the library
//! named in `LD_PRELOAD`. If that has gone, or the program is not to be measured, nothing happens.
#![no_std]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod sys;

use core::ffi::{CStr, c_char, c_int};

use topas_format::env::is_off;
use topas_format::out::Out;
use topas_launch::preload::{GUARD, GUARD_SIZE, PRELOAD, write_guard};

/// Most bytes of the path of the library, with its NUL.
const PATH: usize = 512;

/// Path of the library; an installation puts it in.
#[used]
#[unsafe(link_section = ".topas_mpi")]
static LIBRARY: [u8; PATH] = [0; PATH];

/// What glibc passes to functions of both arrays. musl ignores the first, and passes nothing to
/// those of the second.
type Door = extern "C" fn(c_int, *const *const c_char, *const *const c_char);

/// The linker finds the object by it.
#[allow(non_upper_case_globals)]
#[used]
#[unsafe(no_mangle)]
#[cfg_attr(not(topas_init), unsafe(link_section = ".preinit_array"))]
#[cfg_attr(topas_init, unsafe(link_section = ".init_array"))]
static topas_mpi_door: Door = before_main;

/// Most variables of an environment with one that is added.
const VARIABLES: usize = 4096;

/// The variables that switch the profile off.
const SWITCHES: [&[u8]; 2] = [b"TOPAS_MPI=", b"TOPAS="];
/// What no library to be loaded may hold: ours, or that of a tool that runs the program as data
/// and would lose it.
const STRANGERS: [&[u8]; 3] = [b"libtopas_mpi", b"vgpreload", b"libtopas-run"];

/// Before the constructors of all shared libraries; in the variant that a shared library can take
/// after them, and in the executable alone.
extern "C" fn before_main(
    _: c_int,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) {
    if cfg!(topas_init) && !sys::passes_environment() {
        return;
    }
    // SAFETY: what glibc passes: arrays that end with null, of texts that end with NUL.
    unsafe { replace(arguments, environment) };
}

/// Replaces the process; returns if it is not to be, or cannot be.
///
/// # Safety
/// Arrays that end with null, of texts that end with NUL.
#[inline(always)]
unsafe fn replace(arguments: *const *const c_char, environment: *const *const c_char) {
    // Put in after it was compiled empty.
    let library = core::hint::black_box(&LIBRARY);
    let length = library.iter().position(|byte| *byte == 0).unwrap_or_default();
    let library = library.get(..=length).unwrap_or_default();
    if length == 0 || !sys::readable(library) {
        return;
    }
    let mut texts = [0; 16384];
    let mut preload = Out::new(&mut texts);
    preload.put(PRELOAD).put(library.get(..length).unwrap_or_default());
    let mut guard = [0; GUARD_SIZE];
    let mut guard = Out::new(&mut guard);
    write_guard(&mut guard, topas_node::sys::pid());
    let mut alone = true;
    let mut variables = [core::ptr::null::<u8>(); VARIABLES];
    let mut count = 0;
    // SAFETY: the caller's promise.
    unsafe {
        let mut at = environment;
        while !(*at).is_null() {
            let entry = CStr::from_ptr(*at).to_bytes();
            let is_off = |name| entry.strip_prefix(name).is_some_and(is_off);
            if SWITCHES.into_iter().any(is_off) || Some(entry) == guard.text().strip_suffix(b"\0") {
                return;
            }
            if let Some(others) = entry.strip_prefix(PRELOAD) {
                let has = |name: &&[u8]| {
                    (0..others.len())
                        .any(|at| others.get(at..).is_some_and(|rest| rest.starts_with(name)))
                };
                if STRANGERS.iter().any(has) {
                    return;
                }
                preload.byte(b':').put(others);
                alone = false;
            } else if !entry.starts_with(GUARD) {
                let Some(to) = variables.get_mut(count) else { return };
                *to = (*at).cast();
                count += 1;
            }
            at = at.add(1);
        }
    }
    preload.byte(0);
    // Two more, and the null at the end.
    let Some([first, second, _, ..]) = variables.get_mut(count..) else { return };
    if preload.is_cut() || sys::has_memory_checker() || !sys::may_be_replaced() {
        return;
    }
    *first = preload.text().as_ptr();
    if !alone {
        // Else the library makes one of the variable.
        *second = guard.text().as_ptr();
    }
    let mut path = [0; 4096];
    if sys::own_path(&mut path) {
        // Returns if it cannot be done: then the program goes on as it is.
        // SAFETY: a path with a NUL, and arrays that end with null.
        unsafe { sys::replace(&path, arguments.cast(), variables.as_ptr()) };
    }
}

// Defined nowhere. Whatever could panic would import it, and `cargo xtask mpi` refuses an object
// that imports what is not listed.
unsafe extern "C" {
    safe fn topas_holds_panic_code() -> !;
}

/// Never reached, and not even linked.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    topas_holds_panic_code()
}
