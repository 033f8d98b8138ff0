//! Which libraries the program uses: for message passing, and for counting.
//!
//! Weak references: an address if something in the program or its shared libraries
//! defines the function, else zero. They pull no archive member in and add no library.

use core::ffi::{c_char, c_int};

use topas_format::field::Lib;
use topas_format::hash::{place, word};
use topas_format::out::Out;
use topas_format::text::{Words, last, nth};

use crate::state::{FILE_MAX, auxiliary};
use crate::sys;

/// The address of a function or object, read once where it is wanted. In front of the names
/// may stand what the assembler is to know of them.
#[cfg(target_arch = "x86_64")]
macro_rules! address {
    ($name:literal $(, $about:expr)?) => {{
        let address: usize;
        // SAFETY: reads an address that the linker put into the global offset table.
        unsafe {
            core::arch::asm!(
                $(concat!($about, " ", $name),)?
                concat!("mov {0}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// The address of a function or object, read once where it is wanted.
#[cfg(target_arch = "aarch64")]
macro_rules! address {
    ($name:literal $(, $about:expr)?) => {{
        let address: usize;
        // SAFETY: reads an address that the linker put into the global offset table.
        unsafe {
            core::arch::asm!(
                $(concat!($about, " ", $name),)?
                concat!("adrp {0}, :got:", $name),
                concat!("ldr {0}, [{0}, :got_lo12:", $name, "]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// The address of a function or object that may not be there, else 0.
macro_rules! weak {
    ($name:literal) => {
        $crate::library::address!($name, ".weak")
    };
}

/// The address of a writable object of ours. By way of the stack, because linkers make a
/// distance of 31 bits of what they can, and in a program with gigabytes of data (which may
/// have been compiled with `-mcmodel=large`) our objects stand behind those.
#[cfg(target_arch = "x86_64")]
macro_rules! far {
    ($object:path) => {{
        let address: usize;
        // SAFETY: reads an address that the linker put into the global offset table.
        unsafe {
            core::arch::asm!(
                "push qword ptr [rip + {object}@GOTPCREL]",
                "pop {address}",
                object = sym $object,
                address = out(reg) address,
                options(pure, readonly, preserves_flags),
            );
        }
        address
    }};
}

/// The address of a writable object of ours.
#[cfg(target_arch = "aarch64")]
macro_rules! far {
    ($object:path) => {
        core::hint::black_box(&raw const $object) as usize
    };
}

/// The same for what only the executable or shared library at hand can define.
#[cfg(not(topas_run))]
macro_rules! hidden {
    ($name:literal) => {
        $crate::library::address!($name, concat!(".hidden ", $name, "\n.weak"))
    };
}

#[cfg(not(topas_run))]
pub(crate) use hidden;
pub(crate) use {address, far, weak};

/// The dynamic section: tags and values, up to a tag of 0 (System V ABI, chapter 5).
#[derive(Clone, Copy)]
struct Dynamic(*const [usize; 2]);

/// Tags of the dynamic section.
mod tag {
    pub const NEEDED: usize = 1;
    pub const HASH: usize = 4;
    pub const STRTAB: usize = 5;
    pub const SYMTAB: usize = 6;
    pub const STRSZ: usize = 10;
    pub const DEBUG: usize = 21;
    pub const VERSYM: usize = 0x6fff_fff0;
    pub const GNU_HASH: usize = 0x6fff_fef5;
}

/// `struct link_map` (link.h): a loaded object.
#[repr(C)]
struct Loaded {
    base: usize,
    name: *const c_char,
    dynamic: usize,
    next: *const Loaded,
}

impl Dynamic {
    /// That of the executable, by its program headers, of which the kernel tells: our copy may be
    /// in a library. Null if it was linked statically.
    #[inline(never)]
    fn executable() -> Self {
        /// `Elf64_Phdr`
        #[repr(C)]
        struct Part {
            kind: u32,
            flags: u32,
            offset: usize,
            address: usize,
            rest: [usize; 4],
        }
        const AT_PHDR: usize = 3;
        const AT_PHNUM: usize = 5;
        const DYNAMIC: u32 = 2;
        const HEADERS: u32 = 6;
        let none = Dynamic(core::ptr::null());
        let headers = auxiliary(AT_PHDR) as *const Part;
        if headers.is_null() {
            return none;
        }
        // SAFETY: the kernel mapped that many, and they stay.
        let parts = unsafe { core::slice::from_raw_parts(headers, auxiliary(AT_PHNUM)) };
        // Their own place comes first in what the dynamic loader starts, and tells all others.
        let Some(own) = parts.first().filter(|part| part.kind == HEADERS) else {
            return none;
        };
        let base = (headers as usize).wrapping_sub(own.address);
        for part in parts {
            if part.kind == DYNAMIC {
                return Dynamic(base.wrapping_add(part.address) as _);
            }
        }
        none
    }

    /// The value of a tag, 0 without one.
    #[inline(never)]
    fn value(self, wanted: usize) -> usize {
        let mut at = self.0;
        if at.is_null() {
            return 0;
        }
        // SAFETY: the section is mapped as long as the program runs, and ends with tag 0.
        unsafe {
            while (*at)[0] != 0 {
                if (*at)[0] == wanted {
                    return (*at)[1];
                }
                at = at.add(1);
            }
        }
        0
    }

    /// The executable, and behind it what is loaded with it; null in static programs.
    fn loaded(self) -> *const Loaded {
        let debug = self.value(tag::DEBUG) as *const [usize; 2];
        if debug.is_null() {
            return core::ptr::null();
        }
        // SAFETY: `struct r_debug` of the dynamic loader: a version, then the list.
        unsafe { (*debug)[1] as *const Loaded }
    }
}

/// The library of the program, in the order checked: an MPI or a PVM may be built on SHMEM.
/// What it says of itself is put into `name`. With `asking` it is asked whether it was used,
/// which a signal handler must not do.
pub fn library(asking: bool, name: &mut Out<'_>, room: &mut [u8; FILE_MAX]) -> Lib {
    // Functions that a program of the library calls, its Fortran interface if not itself;
    // MPI_Finalize whether it begins with MPI_Init or MPI_Init_thread.
    let shmem = weak!("shmem_finalize") != 0;
    if uses_mpi(asking, shmem) {
        if asking {
            version(name, room);
        }
        return Lib::Mpi;
    }
    if is_pvm() {
        return Lib::Pvm;
    }
    if shmem {
        return Lib::Sma;
    }
    if !is_mpi() && opened_mpi(name) { Lib::Mpi } else { Lib::None }
}

/// Whether the program itself uses MPI; OpenSHMEM may begin it, too. Not inlined, or what is to be
/// done without MPI would be there several times.
#[inline(never)]
fn uses_mpi(asking: bool, shmem: bool) -> bool {
    is_mpi() && (!asking || was_initialized()) && (!shmem || imports() & calls::MPI != 0)
}

/// Whether MPI is linked.
#[inline(never)]
fn is_mpi() -> bool {
    weak!("MPI_Finalize") != 0
}

/// Whether PVM is linked.
#[inline(never)]
pub fn is_pvm() -> bool {
    weak!("pvm_mytid") != 0
}

/// Whether MPI was initialized; true if nobody can say, as in static programs. MPICH up to
/// 3.4, and Intel MPI after it, forget it at the end.
fn was_initialized() -> bool {
    is(weak!("PMPI_Initialized")) || is(weak!("PMPI_Finalized"))
}

/// What MPI says to one of the questions that may be asked at any time (MPI 4.1, section
/// 11.4.1), by its other name so that no tool notices; true without the function.
#[inline(never)]
fn is(address: usize) -> bool {
    let mut flag: c_int = 1;
    if address != 0 {
        // SAFETY: the standard's declaration of the functions.
        unsafe {
            let ask: extern "C" fn(*mut c_int) -> c_int = core::mem::transmute(address);
            ask(&mut flag);
        }
    }
    flag != 0
}

/// Appends what MPI says of itself, up to a comma or the end of the line, with blanks as `_`.
fn version(name: &mut Out<'_>, room: &mut [u8; FILE_MAX]) {
    let address = weak!("PMPI_Get_library_version");
    let mut len: c_int = 0;
    room[0] = 0;
    // SAFETY: the standard's declaration; `room` has MPI_MAX_LIBRARY_VERSION_STRING bytes of
    // every implementation, which is at most 8192.
    unsafe {
        if address == 0 {
            return;
        }
        let ask: extern "C" fn(*mut u8, *mut c_int) -> c_int = core::mem::transmute(address);
        ask(room.as_mut_ptr(), &mut len);
    }
    // A NUL stands behind it (MPI 4.1, section 9.1.1).
    name.one_word(room);
}

/// What the executable itself calls in shared libraries, as bits.
pub mod calls {
    /// Functions of MPI; set if nobody can say, as in static programs
    pub const MPI: u32 = 1;
    /// What the start of a Fortran program calls, and nothing else
    pub const FORTRAN_START: u32 = 2;
    /// Functions of C++
    pub const CXX: u32 = 4;
    /// It names the runtime of gfortran as a library it needs
    pub const GFORTRAN: u32 = 8;
}

/// Looks at the imports of the executable, which stand in front of its symbol table; their number
/// does not grow with its size.
#[inline(never)]
pub fn imports() -> u32 {
    /// `Elf64_Sym`
    #[repr(C)]
    struct Symbol {
        name: u32,
        info: u8,
        other: u8,
        section: u16,
        value: usize,
        size: usize,
    }
    const GLOBAL: u8 = 1;
    /// `mpi_`, of C and Fortran functions alike.
    const MPI_: u32 = u32::from_le_bytes(*b"mpi_");
    /// `_Z`, with which C++ begins the names of its functions, and of what handles exceptions.
    const MANGLED: u16 = u16::from_le_bytes(*b"_Z");
    const HANDLES: u32 = u32::from_le_bytes(*b"__gx");
    /// Of gfortran, of nvfortran, and of flang and ifx where their runtimes are libraries.
    const STARTS: [u32; 4] = [
        word(b"_gfortran_set_args"),
        word(b"fort_init"),
        word(b"_FortranAProgramStart"),
        word(b"for_rtl_init_"),
    ];
    const LIBGFORT: u64 = u64::from_le_bytes(*b"libgfort");
    let mut found = 0;
    let dynamic = Dynamic::executable();
    let first = dynamic.loaded();
    if first.is_null() {
        return calls::MPI;
    }
    // SAFETY: the list and these tables are the loader's own and stay mapped. Some loaders
    // relocate the addresses in place, others leave them as linked, which is below the base.
    unsafe {
        let base = (*first).base;
        let table = |tag| {
            let address = dynamic.value(tag);
            if address < base { address + base } else { address }
        };
        let mut hash = dynamic.value(tag::GNU_HASH);
        hash = table(if hash == 0 { tag::HASH } else { tag::GNU_HASH });
        let symbols = table(tag::SYMTAB) as *const Symbol;
        let names = table(tag::STRTAB) as *const u8;
        // The second word of both: symbols without a hash, which are the imports; all symbols.
        let mut count = *(hash as *const u32).add(1) as usize;
        if count == 1 {
            // GNU ld writes so where no symbol has a hash. Behind the symbols come the names,
            // which look like symbols without a name, and the symbols' versions.
            count = table(tag::VERSYM).saturating_sub(symbols as usize) / size_of::<Symbol>();
        }
        let length = dynamic.value(tag::STRSZ);
        for at in 1..count {
            let symbol = &*symbols.add(at);
            // Our own references are weak.
            if symbol.info >> 4 == GLOBAL && symbol.section == 0 && (symbol.name as usize) < length
            {
                let name = names.add(symbol.name as usize);
                let front = name.cast::<u32>().read_unaligned();
                if front | 0x0020_2020 == MPI_ {
                    found |= calls::MPI;
                }
                if front as u16 == MANGLED || front == HANDLES {
                    found |= calls::CXX;
                }
                if place(&STARTS, sys::bytes(name.cast())).is_some() {
                    found |= calls::FORTRAN_START;
                }
            }
        }
        let mut entry = dynamic.0;
        while (*entry)[0] != 0 {
            if (*entry)[0] == tag::NEEDED
                && names.add((*entry)[1]).cast::<u64>().read_unaligned() == LIBGFORT
            {
                found |= calls::GFORTRAN;
            }
            entry = entry.add(1);
        }
    }
    found
}

/// Appends the file name of an MPI that was loaded while the program ran, as Python does; whether
/// there is one.
fn opened_mpi(name: &mut Out<'_>) -> bool {
    let mut file = &[][..];
    loaded(&mut file);
    name.put(file);
    !file.is_empty()
}

/// Whether the program is linked with an MPI whose calls could be profiled, and are not.
pub fn lacks_profile() -> bool {
    is_mpi() && loaded(&mut &[][..]) & files::PROFILE == 0
}

/// Appends the accelerators for which the library of a driver is loaded, each behind a `+`.
pub fn accelerators(out: &mut Out<'_>) {
    const NAMES: Words = Words(b"cuda+hip+ze+opencl", b'+');
    let found = loaded(&mut &[][..]);
    // HIP stands on HSA, which other programs use without it.
    let found = found | found >> (files::HSA - files::HIP) & 1 << files::HIP;
    for place in 0..files::HSA {
        if found >> place & 1 != 0 {
            out.byte(b'+').put(NAMES.at(place));
        }
    }
}

/// Files of libraries that are looked for.
mod files {
    use topas_format::hash::word;

    /// Their names up to the first dot: drivers of accelerators first, MPIs last.
    pub const NAMES: [u32; 9] = [
        word(b"libcuda"),
        word(b"libamdhip64"),
        word(b"libze_loader"),
        word(b"libOpenCL"),
        word(b"libhsa-runtime64"),
        word(b"libtopas_mpi"),
        word(b"libmpi"),
        word(b"libmpich"),
        word(b"libmpi_abi"),
    ];
    pub const HIP: usize = 1;
    pub const HSA: usize = 4;
    /// The bit of the library that profiles MPI
    pub const PROFILE: u32 = 1 << 5;
    /// The first of the MPIs
    pub const MPI: usize = 6;
}

/// Which of [`files::NAMES`] are loaded, as bits; puts the file name of an MPI into `mpi`. Of
/// static programs, in which nothing can be loaded, nothing more is to be said.
#[inline(never)]
fn loaded(mpi: &mut &'static [u8]) -> u32 {
    const PAGE: usize = 4096;
    let mut at = Dynamic::executable().loaded();
    let mut found = 0;
    if at.is_null() {
        return files::PROFILE;
    }
    loop {
        // SAFETY: as in `imports`.
        let object = unsafe { &*at };
        // The kernel's own object (the vDSO) alone has its name in its first page. A process that
        // was restored from a checkpoint may have nothing there any more.
        if (object.name as usize).wrapping_sub(object.base) / PAGE != 0 {
            // SAFETY: names are C strings, which the loader keeps.
            let file = last(unsafe { sys::bytes(object.name) }, b'/');
            if let Some(place) = place(&files::NAMES, nth(file, b'.', 0)) {
                found |= 1 << place;
                if place >= files::MPI {
                    *mpi = file;
                }
            }
        }
        at = object.next;
        if at.is_null() {
            return found;
        }
    }
}

/// Lets Open MPI, if that is running, take the signals it reports, as it would have done if
/// they had been at their default when it began.
pub fn report_signals() {
    let address = weak!("opal_util_register_stackhandlers");
    if address != 0 && was_initialized() {
        // SAFETY: its declaration since Open MPI 1.3; it asks for dispositions and sets some.
        unsafe {
            let register: extern "C" fn() -> c_int = core::mem::transmute(address);
            register();
        }
    }
}

/// Whether the program counts with the hardware counters itself: through PAPI, LIKWID
/// (whose marker interface needs `perfmon_init`) or libpfm4.
pub fn counts() -> bool {
    weak!("PAPI_library_init") | weak!("perfmon_init") | weak!("pfm_initialize") != 0
}
