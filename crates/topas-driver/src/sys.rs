//! The entry point, as the C library calls it.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

// SAFETY: the symbol is the C library's entry point into a program, and this is the
// only definition of it: the executable is built without a Rust `main`.
#[unsafe(no_mangle)]
extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    // The C library's start-up code is the only one that every C library calls `main` from: std
    // learns of the arguments without a Rust `main` only with glibc.
    let words = usize::try_from(argc).unwrap_or_default();
    let arguments = (0..words).map_while(|at| {
        // SAFETY: argv has argc pointers, each null or to a text that ends with a NUL.
        let word = unsafe { argv.add(at).read() };
        // SAFETY: as above.
        (!word.is_null()).then(|| OsStr::from_bytes(unsafe { CStr::from_ptr(word) }.to_bytes()))
    });
    topas_driver::run(arguments.map(OsStr::to_owned).collect::<Vec<OsString>>())
}
