//! The two doors: `.preinit_array` and `.init_array`.
//!
//! The first runs before the constructors of all shared libraries, so that threads they
//! start are counted, but musl ignores it and `ld -shared` refuses it. The second runs
//! everywhere, later. Each process measures once, whatever was linked twice: the first
//! door to run leaves a word that all copies of the module in a program share.

use core::ffi::{c_char, c_int};

use crate::library::{address, hidden};
use crate::processor::landing;
use crate::seen::first;
use crate::start;
use crate::state::auxiliary;

/// What glibc passes to functions of both arrays; musl passes nothing, so the registers hold
/// anything.
type Door = extern "C" fn(c_int, *const *const c_char, *const *const c_char);

#[used]
#[unsafe(link_section = ".preinit_array")]
static BEFORE_LIBRARIES: Door = land_before_libraries;

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: Door = land_before_main;

landing!(land_before_libraries(count: c_int, arguments: *const *const c_char, environment: *const *const c_char) => before_libraries);
landing!(land_before_main(count: c_int, arguments: *const *const c_char, environment: *const *const c_char) => before_main);

/// Here `getenv` and `environ` of a dynamic program are still empty: only the argument
/// holds the environment.
extern "C" fn before_libraries(
    _: c_int,
    _: *const *const c_char,
    environment: *const *const c_char,
) {
    if first(true) {
        start::start(environment, true);
    }
}

/// Here libc is ready: `environ` is right in every libc, and may be changed.
extern "C" fn before_main(_: c_int, arguments: *const *const c_char, passed: *const *const c_char) {
    // A shared library that is loaded later may be unloaded before the handlers run, and the
    // executable may have a module of its own. In a library the address of the start file is
    // 0 or, by gold, that of the library; while a program is loaded the stack has hardly
    // begun: 153 bytes below the arguments in glibc 2.36, and 1,800 and more in `dlopen`.
    const AT_ENTRY: usize = 9;
    const BEGUN: usize = 768;
    let executable = hidden!("_start") == auxiliary(AT_ENTRY);
    if !executable {
        let here = core::hint::black_box(&raw const passed) as usize;
        if (arguments as usize).wrapping_sub(here) > BEGUN {
            return;
        }
    }
    let environment = address!("environ") as *mut *const *const c_char;
    // SAFETY: libc's own pointer, initialized before any function of this array, which run
    // one after the other; the new array, where there is one, lives as long as the process.
    unsafe {
        if first(executable) {
            // Who passes the environment here passes the status to exit handlers, too: glibc.
            start::start(*environment, passed == *environment);
        }
        let marked = start::marked(*environment);
        if !marked.is_null() {
            *environment = marked;
        }
    }
}
