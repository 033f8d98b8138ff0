//! The entry point, as the C library calls it.

use std::ffi::{c_char, c_int};

// SAFETY: the symbol is the C library's entry point into a program, and this is the
// only definition of it: the executable is built without a Rust `main`.
#[unsafe(no_mangle)]
extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
    topas_driver::run()
}
