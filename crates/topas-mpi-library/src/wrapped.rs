//! What lies below in a program that holds its MPI, where no loader can be asked: the linker has
//! led the calls here (`--wrap`), and each function that is called has left a pair of its number
//! and its address. See `xtask`: `wrap`.

use crate::symbol::StubSymbol;

/// A number of a symbol, or the address of a name that ends with a NUL, and what is there.
#[cfg(topas_mpi_wrap)]
#[repr(C)]
struct WrappedPair {
    key: usize,
    address: usize,
}

#[cfg(topas_mpi_wrap)]
unsafe extern "C" {
    static __start_topas_mpi_real: WrappedPair;
    static __stop_topas_mpi_real: WrappedPair;
    static __start_topas_mpi_objects: WrappedPair;
    static __stop_topas_mpi_objects: WrappedPair;
}

/// The pairs between two symbols that the linker makes.
#[cfg(topas_mpi_wrap)]
fn pairs(start: *const WrappedPair, stop: *const WrappedPair) -> &'static [WrappedPair] {
    let bytes = stop as usize - start as usize;
    // SAFETY: a section of such pairs.
    unsafe { core::slice::from_raw_parts(start, bytes / size_of::<WrappedPair>()) }
}

/// The function of this symbol; 0 if the program does not hold it.
#[cfg(topas_mpi_wrap)]
pub fn function(symbol: StubSymbol) -> usize {
    let all = pairs(&raw const __start_topas_mpi_real, &raw const __stop_topas_mpi_real);
    all.iter().find(|pair| pair.key == symbol.number() as usize).map_or(0, |pair| pair.address)
}

/// The object of this name, which ends with a NUL; 0 if the program does not hold it.
#[cfg(topas_mpi_wrap)]
pub fn object(name: &[u8]) -> usize {
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    let all = pairs(&raw const __start_topas_mpi_objects, &raw const __stop_topas_mpi_objects);
    // SAFETY: keys are addresses of names with a NUL.
    let named = |pair: &&WrappedPair| unsafe {
        core::ffi::CStr::from_ptr(pair.key as *const core::ffi::c_char).to_bytes()
            == &name[..length]
    };
    all.iter().find(named).map_or(0, |pair| pair.address)
}

/// The library that is loaded knows no numbers.
#[cfg(not(topas_mpi_wrap))]
pub fn function(_: StubSymbol) -> usize {
    0
}

/// The library that is loaded asks the loader.
#[cfg(not(topas_mpi_wrap))]
pub fn object(_: &[u8]) -> usize {
    0
}
