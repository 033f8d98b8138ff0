//! The language of the program: that of its main program, as far as the executable tells.
//!
//! Drivers' words come from whoever was asked how to link, often on behalf of a library. What the
//! executable itself calls is a better witness: the start of a Fortran program calls a function of
//! the runtime that nothing else calls, and code of C++ calls functions of a C++ library.

use crate::facts;
use crate::library::{calls, imports, weak};

/// The word of the language.
pub fn language() -> &'static [u8] {
    let said = facts::language();
    let is_fortran = said.first() == Some(&b'f');
    let calls = imports();
    // The main program as flang and as ifx name it; gfortran's is known to its own file alone.
    if calls & calls::FORTRAN_START != 0 || weak!("_QQmain") | weak!("MAIN__") != 0 {
        return if is_fortran { said } else { b"f90" };
    }
    if calls & calls::CXX != 0 {
        return b"cxx";
    }
    // A main program of gfortran would have been seen.
    if is_fortran && calls & calls::GFORTRAN != 0 { b"c" } else { said }
}
