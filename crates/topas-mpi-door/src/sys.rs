//! What the object asks of the kernel.

#[cfg(target_arch = "x86_64")]
mod number {
    pub const GETPID: usize = 39;
    pub const EXECVE: usize = 59;
    pub const READLINKAT: usize = 267;
    pub const FACCESSAT: usize = 269;
}

#[cfg(target_arch = "aarch64")]
mod number {
    pub const FACCESSAT: usize = 48;
    pub const READLINKAT: usize = 78;
    pub const GETPID: usize = 172;
    pub const EXECVE: usize = 221;
}

/// A system call; unused arguments are 0.
///
/// # Safety
/// As the call itself demands.
unsafe fn syscall(number: usize, a: [usize; 6]) -> isize {
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2],
            in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller's promise.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a[0] => result,
            in("x1") a[1], in("x2") a[2], in("x3") a[3], in("x4") a[4], in("x5") a[5],
            options(nostack)
        );
    }
    result
}

const AT_FDCWD: usize = -100isize as usize;

/// Whether a file is there and may be read. The path ends with a NUL.
pub fn readable(path: &[u8]) -> bool {
    const R_OK: usize = 4;
    // SAFETY: the path ends with a NUL.
    unsafe { syscall(number::FACCESSAT, [AT_FDCWD, path.as_ptr() as usize, R_OK, 0, 0, 0]) == 0 }
}

/// The path of this executable, with a NUL. False if it is not known or too long.
pub fn own_path(path: &mut [u8]) -> bool {
    let link = c"/proc/self/exe".as_ptr() as usize;
    let room = [AT_FDCWD, link, path.as_mut_ptr() as usize, path.len() - 1, 0, 0];
    // SAFETY: the kernel writes at most that many bytes.
    let n = unsafe { syscall(number::READLINKAT, room) };
    n > 0 && (n as usize) < path.len() - 1
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
    unsafe { syscall(number::EXECVE, words) };
}

/// Number of this process.
pub fn pid() -> u32 {
    // SAFETY: has no arguments.
    unsafe { syscall(number::GETPID, [0; 6]) as u32 }
}
