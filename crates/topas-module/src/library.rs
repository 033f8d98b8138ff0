//! Which libraries the program was linked with.
//!
//! Weak references: an address if something in the program or its shared libraries
//! defines the function, else zero. They pull no archive member in and add no library.

use core::arch::asm;

use topas_format::field::Lib;

/// Whether one of some functions is there.
#[cfg(target_arch = "x86_64")]
macro_rules! any {
    ($first:literal $(, $name:literal)*) => {{
        let found: usize;
        // SAFETY: reads addresses that the linker put into the global offset table.
        unsafe {
            asm!(
                concat!(".weak ", $first),
                concat!("mov {0}, qword ptr [rip + ", $first, "@GOTPCREL]"),
                $(concat!(".weak ", $name), concat!("or {0}, qword ptr [rip + ", $name, "@GOTPCREL]"),)*
                out(reg) found,
                options(pure, readonly, nostack),
            );
        }
        found != 0
    }};
}

/// Whether one of some functions is there.
#[cfg(target_arch = "aarch64")]
macro_rules! any {
    ($($name:literal),*) => {{
        let mut found: usize = 0;
        $(
            let address: usize;
            // SAFETY: reads an address that the linker put into the global offset table.
            unsafe {
                asm!(
                    concat!(".weak ", $name),
                    concat!("adrp {0}, :got:", $name),
                    concat!("ldr {0}, [{0}, :got_lo12:", $name, "]"),
                    out(reg) address,
                    options(pure, readonly, nostack),
                );
            }
            found |= address;
        )*
        found != 0
    }};
}

/// The library of the program, in the order checked: an MPI or a PVM may be built on SHMEM.
pub fn library() -> Lib {
    // Functions that a program of the library calls, its Fortran interface if not itself;
    // MPI_Finalize whether it begins with MPI_Init or MPI_Init_thread; start_pes, of old
    // SHMEM programs, needs no end.
    if any!("MPI_Finalize", "MPI_Session_init") {
        Lib::Mpi
    } else if any!("pvm_mytid") {
        Lib::Pvm
    } else if any!("shmem_finalize", "start_pes") {
        Lib::Sma
    } else {
        Lib::None
    }
}

/// Whether the program counts with the hardware counters itself: through PAPI, LIKWID
/// (whose marker interface needs `perfmon_init`) or libpfm4.
pub fn counts() -> bool {
    any!("PAPI_library_init", "perfmon_init", "pfm_initialize")
}
