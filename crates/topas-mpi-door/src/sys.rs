//! What the object asks of the kernel.

use topas_node::sys::{AT_FDCWD, number, raw_syscall, read_link};

/// Whether a file is there and may be read. The path ends with a NUL.
pub fn readable(path: &[u8]) -> bool {
    const R_OK: usize = 4;
    // SAFETY: the path ends with a NUL.
    unsafe {
        raw_syscall(number::FACCESSAT, [AT_FDCWD, path.as_ptr() as usize, R_OK, 0, 0, 0]) == 0
    }
}

/// The path of this executable, with a NUL. False if it is not known or too long.
pub fn own_path(path: &mut [u8]) -> bool {
    // What the kernel does not write stays 0.
    let Some(most) = path.len().checked_sub(1) else { return false };
    let room = path.get_mut(..most).unwrap_or_default();
    (1..most).contains(&read_link(c"/proc/self/exe", room).len())
}

/// The address of a function or object that may not be there, else 0.
macro_rules! weak {
    ($name:literal $(, $about:literal)?) => {{
        let address: usize;
        // SAFETY: reads an address that the linker put into the global offset table.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            core::arch::asm!(
                $(concat!($about, " ", $name),)?
                concat!(".weak ", $name),
                concat!("mov {0}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
            #[cfg(target_arch = "aarch64")]
            core::arch::asm!(
                $(concat!($about, " ", $name),)?
                concat!(".weak ", $name),
                concat!("adrp {0}, :got:", $name),
                concat!("ldr {0}, [{0}, :got_lo12:", $name, "]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// Whether the program has a checker of memory that must be the first library in it.
pub fn has_memory_checker() -> bool {
    weak!("__asan_init") != 0
}

/// Whether functions that run before `main` are passed the environment: musl passes nothing, and
/// the registers hold anything.
pub fn passes_environment() -> bool {
    weak!("gnu_get_libc_version") != 0
}

/// Whether this is the executable, and the kernel would start it the same way again, with what is
/// to be loaded: the program has no more rights than who runs it, and a loader of its own (a loader
/// that was given the program would be given its first argument). Of a library the start file's
/// address is 0 or, by gold, its own.
pub fn may_be_replaced() -> bool {
    const AT_BASE: usize = 7;
    const AT_ENTRY: usize = 9;
    const AT_SECURE: usize = 23;
    let address = weak!("getauxval");
    if address == 0 {
        return false;
    }
    // SAFETY: libc's function.
    let said = unsafe { core::mem::transmute::<usize, extern "C" fn(usize) -> usize>(address) };
    said(AT_SECURE) == 0 && said(AT_BASE) != 0 && said(AT_ENTRY) == weak!("_start", ".hidden")
}

/// Replaces the process by the program at `path`; returns if that cannot be done.
///
/// # Safety
/// A path with a NUL, and arrays that end with null.
pub unsafe fn replace(path: &[u8], arguments: *const *const u8, environment: *const *const u8) {
    let words = [path.as_ptr() as usize, arguments as usize, environment as usize, 0, 0, 0];
    // SAFETY: the caller's promise.
    unsafe { raw_syscall(number::EXECVE, words) };
}
