//! What the library asks of the loader and the kernel.

use core::ffi::{CStr, c_char, c_int, c_void};

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
    fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
    fn getenv(name: *const c_char) -> *const c_char;
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;
const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;

/// The definition of a symbol behind this library in the order of the loader; if there is none,
/// because the MPI was opened for one library alone, the definition that the caller's library
/// would find in what it depends on. 0 if there is none either. The name ends with a NUL.
pub fn next_definition(name: &[u8], caller: usize) -> usize {
    let name = name.as_ptr().cast();
    // SAFETY: the name ends with a NUL.
    let next = unsafe { dlsym(RTLD_NEXT, name) } as usize;
    if next != 0 || caller == 0 {
        return next;
    }
    let mut info = DlInfo {
        file: core::ptr::null(),
        base: core::ptr::null_mut(),
        symbol: core::ptr::null(),
        address: core::ptr::null_mut(),
    };
    // SAFETY: an address of code, and room for the answer. A library that is in use is opened
    // again, which loads nothing.
    unsafe {
        if dladdr(caller as *const c_void, &raw mut info) == 0 || info.file.is_null() {
            return 0;
        }
        let handle = dlopen(info.file, RTLD_LAZY | RTLD_NOLOAD);
        if handle.is_null() {
            return 0;
        }
        let found = dlsym(handle, name) as usize;
        if found == 0 || is_ours(found) { 0 } else { found }
    }
}

/// Whether an address is of this library.
fn is_ours(address: usize) -> bool {
    let (mut theirs, mut ours) =
        (core::mem::MaybeUninit::<DlInfo>::zeroed(), core::mem::MaybeUninit::<DlInfo>::zeroed());
    // SAFETY: room for the answers, which are zeroed.
    unsafe {
        dladdr(address as *const c_void, theirs.as_mut_ptr());
        dladdr(is_ours as *const c_void, ours.as_mut_ptr());
        theirs.assume_init().base == ours.assume_init().base
    }
}

/// The definition that a symbol of this name has for the whole program; 0 if none. The name ends
/// with a NUL.
pub fn definition(name: &[u8]) -> usize {
    // SAFETY: the name ends with a NUL.
    unsafe { dlsym(core::ptr::null_mut(), name.as_ptr().cast()) as usize }
}

/// A variable of the environment.
pub fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the name ends with a NUL, and the value too.
    unsafe {
        let value = getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value).to_bytes())
    }
}

#[cfg(target_arch = "x86_64")]
mod number {
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const MMAP: usize = 9;
    pub const GETPID: usize = 39;
    pub const FTRUNCATE: usize = 77;
    pub const GETUID: usize = 102;
    pub const GETTID: usize = 186;
    pub const CLOCK_GETTIME: usize = 228;
    pub const EXIT_GROUP: usize = 231;
    pub const OPENAT: usize = 257;
    pub const UNLINKAT: usize = 263;
}

#[cfg(target_arch = "aarch64")]
mod number {
    pub const UNLINKAT: usize = 35;
    pub const FTRUNCATE: usize = 46;
    pub const OPENAT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const WRITE: usize = 64;
    pub const EXIT_GROUP: usize = 94;
    pub const CLOCK_GETTIME: usize = 113;
    pub const GETPID: usize = 172;
    pub const GETUID: usize = 174;
    pub const GETTID: usize = 178;
    pub const MMAP: usize = 222;
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
const O_RDWR: usize = 2;
const O_CREAT: usize = 0o100;
const O_EXCL: usize = 0o200;
const O_CLOEXEC: usize = 0o2000000;

/// Makes a file of this size, which must not be there, and maps it. None if that fails. The
/// path ends with a NUL. Nothing is allocated before it is touched.
pub fn map_new_file(path: &[u8], size: usize) -> Option<*mut u8> {
    debug_assert_eq!(path.last(), Some(&0));
    // SAFETY: the path ends with a NUL; a new mapping of a file of that size.
    unsafe {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
        let fd = syscall(number::OPENAT, [AT_FDCWD, path.as_ptr() as usize, flags, 0o600, 0, 0]);
        if fd < 0 {
            return None;
        }
        let mapped = if syscall(number::FTRUNCATE, [fd as usize, size, 0, 0, 0, 0]) < 0 {
            -1
        } else {
            // PROT_READ | PROT_WRITE, MAP_SHARED
            syscall(number::MMAP, [0, size, 3, 1, fd as usize, 0])
        };
        syscall(number::CLOSE, [fd as usize, 0, 0, 0, 0, 0]);
        if (-4095..0).contains(&mapped) {
            remove(path);
            return None;
        }
        Some(mapped as *mut u8)
    }
}

/// Memory of this size that is zero, and is not there before it is touched. None if there is none.
pub fn map_memory(size: usize) -> Option<*mut u8> {
    // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    // SAFETY: a new mapping.
    let mapped = unsafe { syscall(number::MMAP, [0, size, 3, 0x4022, usize::MAX, 0]) };
    (!(-4095..0).contains(&mapped)).then_some(mapped as *mut u8)
}

/// Removes a file. The path ends with a NUL.
pub fn remove(path: &[u8]) {
    // SAFETY: the path ends with a NUL.
    unsafe { syscall(number::UNLINKAT, [AT_FDCWD, path.as_ptr() as usize, 0, 0, 0, 0]) };
}

/// Nanoseconds of a clock: 0 realtime, 1 monotonic.
pub fn clock(clock: usize) -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: room for the answer.
    unsafe { syscall(number::CLOCK_GETTIME, [clock, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// Number of this process.
pub fn pid() -> u32 {
    // SAFETY: has no arguments.
    unsafe { syscall(number::GETPID, [0; 6]) as u32 }
}

/// Number of this thread.
pub fn tid() -> u32 {
    // SAFETY: has no arguments.
    unsafe { syscall(number::GETTID, [0; 6]) as u32 }
}

/// User of this process.
pub fn uid() -> u32 {
    // SAFETY: has no arguments.
    unsafe { syscall(number::GETUID, [0; 6]) as u32 }
}

/// Writes to a descriptor.
pub fn write(fd: usize, text: &[u8]) -> isize {
    // SAFETY: the text is there.
    unsafe { syscall(number::WRITE, [fd, text.as_ptr() as usize, text.len(), 0, 0, 0]) }
}

/// Ends the process.
pub fn exit_now() -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { syscall(number::EXIT_GROUP, [127, 0, 0, 0, 0, 0]) };
    }
}
