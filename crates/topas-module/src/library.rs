//! Which message passing library the program was linked with.
//!
//! Weak references: an address if something in the program or its shared libraries
//! defines the function, else zero. They pull no archive member in and add no library.

use core::arch::global_asm;

use topas_format::field::Lib;

// Three initializing functions each of MPI, PVM and SHMEM, in the order checked: an MPI
// or a PVM may be built on SHMEM.
global_asm!(
    ".weak MPI_Init",
    ".weak MPI_Init_thread",
    ".weak MPI_Session_init",
    ".weak pvm_mytid",
    ".weak pvmfmytid_",
    ".weak shmem_init",
    ".weak shmem_init_thread",
    ".weak start_pes",
    ".pushsection .data.rel.ro.topas,\"aw\"",
    ".p2align 3",
    "topas_libraries:",
    ".quad MPI_Init, MPI_Init_thread, MPI_Session_init",
    ".quad pvm_mytid, pvmfmytid_, 0",
    ".quad shmem_init, shmem_init_thread, start_pes",
    ".popsection",
);

// SAFETY: defined above with this size; a local symbol of this object.
unsafe extern "C" {
    static topas_libraries: [usize; 9];
}

/// The library of the program.
#[inline(never)]
pub fn library() -> Lib {
    // SAFETY: relocated before any code of the program runs, never written after.
    let table = core::hint::black_box(unsafe { &topas_libraries });
    match table.iter().position(|function| *function != 0) {
        Some(0..3) => Lib::Mpi,
        Some(3..6) => Lib::Pvm,
        Some(_) => Lib::Sma,
        None => Lib::None,
    }
}
