//! What the library asks of the loader and the kernel.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use topas_node::sys::{AT_FDCWD, O_CLOEXEC, O_CREAT, O_EXCL, O_RDWR, number, pid, raw_syscall};

use crate::lookup;

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut u64) -> c_int;
    fn getenv(name: *const c_char) -> *const c_char;
    static environ: *const *const c_char;
}

/// The loader's own function, not the one that this library defines; null without one.
fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void {
    type Ask = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
    match lookup::dlsym() {
        0 => core::ptr::null_mut(),
        // SAFETY: the loader's function; callers pass names with a NUL.
        real => unsafe { core::mem::transmute::<usize, Ask>(real)(handle, symbol) },
    }
}

/// The same; opens what is in use, which loads nothing.
fn opened(file: *const c_char) -> *mut c_void {
    type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
    match lookup::dlopen() {
        0 => core::ptr::null_mut(),
        // SAFETY: the loader's function; callers pass a path with a NUL.
        real => unsafe { core::mem::transmute::<usize, Open>(real)(file, RTLD_LAZY | RTLD_NOLOAD) },
    }
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;
const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;

/// The library, opened for itself alone, in which definitions were found.
static OPENED: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// The definition of a symbol behind this library in the order of the loader; if there is none,
/// because the MPI was opened for one library alone, the definition that the caller's library
/// would find in what it depends on, or the library that another name was found by. 0 if there is
/// none either. The name ends with a NUL.
pub fn next_definition(name: &[u8], caller: usize) -> usize {
    if cfg!(topas_mpi_wrap) {
        return 0;
    }
    let next = dlsym(RTLD_NEXT, name.as_ptr().cast()) as usize;
    if next != 0 {
        return next;
    }
    let opened = OPENED.load(Relaxed);
    if !opened.is_null() {
        let found = definition_in(opened, name);
        if found != 0 {
            return found;
        }
    }
    let handle = if caller == 0 { core::ptr::null_mut() } else { library_of(caller) };
    if handle.is_null() {
        return 0;
    }
    let found = definition_in(handle, name);
    if found != 0 {
        OPENED.store(handle, Relaxed);
    }
    found
}

/// Names that are found nowhere else may be found where this function is.
pub fn note_opened(function: usize) {
    if OPENED.load(Relaxed).is_null() {
        OPENED.store(library_of(function), Relaxed);
    }
}

/// Whether an MPI is in the process: some library behind this one defines its functions. The
/// archive is linked with one.
pub fn has_mpi() -> bool {
    cfg!(topas_mpi_wrap) || next_definition(b"PMPI_Initialized\0", 0) != 0
}

/// The library of an address, null if there is none.
pub fn library_of(address: usize) -> *mut c_void {
    let mut info = DlInfo {
        file: core::ptr::null(),
        base: core::ptr::null_mut(),
        symbol: core::ptr::null(),
        address: core::ptr::null_mut(),
    };
    // SAFETY: an address of code, and room for the answer.
    unsafe {
        if dladdr(address as *const c_void, &raw mut info) == 0 || info.file.is_null() {
            return core::ptr::null_mut();
        }
        opened(info.file)
    }
}

/// The definition of a name in a library and what it depends on, unless it is ours; 0 if there is
/// none. The name ends with a NUL.
fn definition_in(handle: *mut c_void, name: &[u8]) -> usize {
    let found = dlsym(handle, name.as_ptr().cast()) as usize;
    if found == 0 || is_ours(found) { 0 } else { found }
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
    if cfg!(topas_mpi_wrap) {
        return crate::wrapped::object(name);
    }
    dlsym(core::ptr::null_mut(), name.as_ptr().cast()) as usize
}

/// The environment, entry by entry.
pub fn environment() -> impl Iterator<Item = &'static [u8]> {
    // SAFETY: libc's own pointer to an array of texts that ends with null; null without one.
    let mut at = unsafe { environ };
    core::iter::from_fn(move || {
        // SAFETY: as above.
        unsafe {
            if at.is_null() || (*at).is_null() {
                return None;
            }
            let entry = CStr::from_ptr(*at).to_bytes();
            at = at.add(1);
            Some(entry)
        }
    })
}

/// A variable of the environment.
pub fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the name ends with a NUL, and the value too.
    unsafe {
        let value = getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value).to_bytes())
    }
}

/// Sets of semaphores on this node, and the most there may be; None if that is not told.
pub fn semaphores() -> Option<(u32, u32)> {
    const SEM_INFO: usize = 19;
    // `struct seminfo`: ten integers, of which the second is the limit and the eighth, as it is
    // asked for here, how many there are.
    let mut told = [0u32; 10];
    // SAFETY: room for the answer.
    let done =
        unsafe { raw_syscall(number::SEMCTL, [0, 0, SEM_INFO, told.as_mut_ptr() as usize, 0, 0]) };
    let [_, most, _, _, _, _, _, used, ..] = told;
    (done >= 0).then_some((used, most))
}

/// A new set of one semaphore, raised until this process ends: its number, if it can be had.
pub fn new_semaphore() -> Option<u32> {
    const PRIVATE: usize = 0;
    const CREATE: usize = 0o1000;
    const SEM_UNDO: u16 = 0x1000;
    // SAFETY: makes an object of the kernel's.
    let id = unsafe { raw_syscall(number::SEMGET, [PRIVATE, 1, CREATE | 0o600, 0, 0, 0]) };
    let id = u32::try_from(id).ok()?;
    // `struct sembuf`: which one, by how much, how.
    let raise: [u16; 3] = [0, 1, SEM_UNDO];
    // SAFETY: one operation.
    if unsafe { raw_syscall(number::SEMOP, [id as usize, raise.as_ptr() as usize, 1, 0, 0, 0]) } < 0
    {
        remove_semaphore(id);
        return None;
    }
    Some(id)
}

/// `struct sembuf`: which one, by how much, how.
pub type SemaphoreStep = [u16; 3];

/// The set of so many semaphores that has a key, if there is none a new one, where one may be made.
pub fn shared_semaphores(key: u32, count: usize, make: bool) -> Option<u32> {
    const CREATE: usize = 0o1000;
    let how = 0o600 | if make { CREATE } else { 0 };
    // SAFETY: makes an object of the kernel's, or finds one of this user.
    let id = unsafe { raw_syscall(number::SEMGET, [key as usize, count, how, 0, 0, 0]) };
    u32::try_from(id).ok()
}

/// Takes all of these steps at once, none of which waits. False if the kernel refuses.
pub fn step_semaphores(id: u32, steps: &[SemaphoreStep]) -> bool {
    let (at, count) = (steps.as_ptr() as usize, steps.len());
    // SAFETY: as many steps as there are.
    unsafe { raw_syscall(number::SEMOP, [id as usize, at, count, 0, 0, 0]) >= 0 }
}

/// The value of a semaphore.
pub fn semaphore(id: u32, place: usize) -> Option<u32> {
    const GETVAL: usize = 12;
    // SAFETY: asks for a number.
    u32::try_from(unsafe { raw_syscall(number::SEMCTL, [id as usize, place, GETVAL, 0, 0, 0]) })
        .ok()
}

/// Removes a set of semaphores.
pub fn remove_semaphore(id: u32) {
    const IPC_RMID: usize = 0;
    // SAFETY: a set of this process; nobody else uses it.
    unsafe { raw_syscall(number::SEMCTL, [id as usize, 0, IPC_RMID, 0, 0, 0]) };
}

/// Makes a file of this size, which must not be there, and maps it; the first bytes of it are
/// allocated. None if that fails. The path ends with a NUL.
pub fn map_new_file(path: &[u8], size: usize, first: usize) -> Option<*mut u8> {
    debug_assert_eq!(path.last(), Some(&0));
    // SAFETY: the path ends with a NUL; a new mapping of a file of that size.
    unsafe {
        let flags = (O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC) as usize;
        let fd =
            raw_syscall(number::OPENAT, [AT_FDCWD, path.as_ptr() as usize, flags, 0o600, 0, 0]);
        if fd < 0 {
            return None;
        }
        let sized = raw_syscall(number::FTRUNCATE, [fd as usize, size, 0, 0, 0, 0]) >= 0
            && raw_syscall(number::FALLOCATE, [fd as usize, 0, 0, first, 0, 0]) >= 0;
        let mapped = if sized {
            // PROT_READ | PROT_WRITE, MAP_SHARED
            raw_syscall(number::MMAP, [0, size, 3, 1, fd as usize, 0])
        } else {
            -1
        };
        raw_syscall(number::CLOSE, [fd as usize, 0, 0, 0, 0, 0]);
        if (-4095..0).contains(&mapped) {
            remove(path);
            return None;
        }
        Some(mapped as *mut u8)
    }
}

/// Allocates a part of a file, so that writing to where it is mapped cannot fail: on a full file
/// system that would be SIGBUS. The path ends with a NUL.
pub fn allocate(path: &[u8], at: u64, bytes: usize) -> bool {
    debug_assert!(path.contains(&0));
    // SAFETY: the path ends with a NUL.
    unsafe {
        let flags = (O_RDWR | O_CLOEXEC) as usize;
        let fd = raw_syscall(number::OPENAT, [AT_FDCWD, path.as_ptr() as usize, flags, 0, 0, 0]);
        if fd < 0 {
            return false;
        }
        let done = raw_syscall(number::FALLOCATE, [fd as usize, 0, at as usize, bytes, 0, 0]);
        raw_syscall(number::CLOSE, [fd as usize, 0, 0, 0, 0, 0]);
        done >= 0
    }
}

/// Puts memory of this process alone into the place of a mapping; false if that fails.
pub fn replace_by_memory(base: *mut u8, size: usize) -> bool {
    // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE
    // SAFETY: a mapping of ours.
    let mapped =
        unsafe { raw_syscall(number::MMAP, [base as usize, size, 3, 0x4032, usize::MAX, 0]) };
    !(-4095..0).contains(&mapped)
}

/// Size that a file may grow to.
pub const LIMIT_OF_FILES: usize = 1;
/// Size of the address space.
pub const LIMIT_OF_ADDRESSES: usize = 9;

/// A limit of this process, in bytes; the largest number if there is none.
pub fn limit(which: usize) -> u64 {
    let mut limits = [u64::MAX; 2];
    // SAFETY: room for the answer.
    unsafe { raw_syscall(number::PRLIMIT64, [0, which, 0, limits.as_mut_ptr() as usize, 0, 0]) };
    limits[0]
}

/// Whether a thread of this process has ended.
pub fn has_ended(tid: u32) -> bool {
    const ESRCH: isize = 3;
    // SAFETY: no signal is sent.
    unsafe { raw_syscall(number::TGKILL, [pid() as usize, tid as usize, 0, 0, 0, 0]) == -ESRCH }
}

/// Whether a process runs, as far as this one can see it.
pub fn is_running(pid: u32) -> bool {
    // SAFETY: no signal is sent.
    unsafe { raw_syscall(number::TGKILL, [pid as usize, pid as usize, 0, 0, 0, 0]) == 0 }
}

/// Reads entries of a directory; empty at its end, or if that fails.
pub fn entries(fd: i32, room: &mut [u64; 512]) -> &[u8] {
    let room = topas_node::sys::as_bytes(room);
    let (at, length) = (room.as_mut_ptr() as usize, room.len());
    // SAFETY: room for what is read.
    let n = unsafe { raw_syscall(number::GETDENTS64, [fd as usize, at, length, 0, 0, 0]) };
    topas_node::sys::written(room, n)
}

/// The names in entries of a directory.
pub fn names(entries: &[u8]) -> impl Iterator<Item = &[u8]> {
    // Two numbers of 8 B, then the length of the entry, its type, and the name with a NUL.
    const LENGTH_AT: usize = 16;
    const NAME_AT: usize = 19;
    let mut rest = entries;
    core::iter::from_fn(move || {
        let length = rest.get(LENGTH_AT..).and_then(<[u8]>::first_chunk)?;
        let (entry, behind) = rest.split_at_checked(u16::from_ne_bytes(*length).into())?;
        rest = behind;
        entry.get(NAME_AT..)?.split(|byte| *byte == 0).next()
    })
}

/// Has a function called in every child process that is made by `fork`.
pub fn at_fork(child: extern "C" fn()) {
    type Handler = Option<extern "C" fn()>;
    // Of glibc, whose pthread_atfork() is no function of its library; and of others.
    let register = definition(b"__register_atfork\0");
    if register != 0 {
        // SAFETY: its type in glibc, since 2.3.2.
        let register: extern "C" fn(Handler, Handler, Handler, *mut c_void) -> c_int =
            unsafe { core::mem::transmute(register) };
        register(None, None, Some(child), core::ptr::null_mut());
        return;
    }
    let register = definition(b"pthread_atfork\0");
    if register != 0 {
        // SAFETY: its type by POSIX.
        let register: extern "C" fn(Handler, Handler, Handler) -> c_int =
            unsafe { core::mem::transmute(register) };
        register(None, None, Some(child));
    }
}

/// Memory of this size that is zero, and is not there before it is touched. None if there is none.
pub fn map_memory(size: usize) -> Option<*mut u8> {
    // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    // SAFETY: a new mapping.
    let mapped = unsafe { raw_syscall(number::MMAP, [0, size, 3, 0x4022, usize::MAX, 0]) };
    (!(-4095..0).contains(&mapped)).then_some(mapped as *mut u8)
}

/// The first page of what a descriptor leads to, to be read. None if that fails.
pub fn map_page(fd: i32) -> Option<*const u8> {
    const PAGE: usize = 4096;
    map_to_read(fd, PAGE)
}

/// So many bytes of what a descriptor leads to, to be read. None if that fails.
pub fn map_to_read(fd: i32, size: usize) -> Option<*const u8> {
    // PROT_READ, MAP_SHARED
    // SAFETY: a new mapping.
    let mapped = unsafe { raw_syscall(number::MMAP, [0, size, 1, 1, fd as usize, 0]) };
    (!(-4095..0).contains(&mapped)).then_some(mapped as *const u8)
}

/// Lets the pages of some memory be written, or only read. False if that fails.
pub fn protect(start: usize, size: usize, write: bool) -> bool {
    const PAGE: usize = 4096;
    const AT_PAGESZ: usize = 6;
    let page = topas_node::sys::auxiliary(AT_PAGESZ).max(PAGE);
    let begin = start & !(page - 1);
    let length =
        (start.wrapping_add(size).wrapping_sub(begin)).wrapping_add(page - 1) & !(page - 1);
    // PROT_READ, PROT_WRITE
    let mode = if write { 3 } else { 1 };
    // SAFETY: pages of data of an object, which stay what they are.
    unsafe { raw_syscall(number::MPROTECT, [begin, length, mode, 0, 0, 0]) == 0 }
}

/// Gives memory back.
pub fn unmap(start: *mut u8, size: usize) {
    // SAFETY: a mapping of `map_memory`, which its owner does not use any more.
    unsafe { raw_syscall(number::MUNMAP, [start as usize, size, 0, 0, 0, 0]) };
}

/// Removes a file. The path ends with a NUL.
pub fn remove(path: &[u8]) {
    // SAFETY: the path ends with a NUL.
    unsafe { raw_syscall(number::UNLINKAT, [AT_FDCWD, path.as_ptr() as usize, 0, 0, 0, 0]) };
}

/// Nanoseconds of a clock: 0 realtime, 1 monotonic.
pub fn clock(clock: usize) -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: room for the answer.
    unsafe { raw_syscall(number::CLOCK_GETTIME, [clock, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// Nanoseconds of the monotonic clock, without a system call where the kernel lends its clock.
pub fn monotonic() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: room for the answer.
    unsafe { clock_gettime(1, time.as_mut_ptr()) };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// Whether the byte at an address can be read, as the kernel says.
#[cold]
#[inline(never)]
pub fn can_be_read(at: usize) -> bool {
    const EINVAL: isize = 22;
    /// What is done to the signals that a thread holds back, and is known to no kernel
    const NOTHING: usize = usize::MAX;
    // The kernel reads the set, and only then sees that there is nothing to be done. A word at a multiple
    // of its size is in one page.
    // SAFETY: nothing is changed.
    unsafe { raw_syscall(number::RT_SIGPROCMASK, [NOTHING, at & !7, 0, 8, 0, 0]) == -EINVAL }
}

/// Number of this thread.
pub fn tid() -> u32 {
    // SAFETY: has no arguments.
    unsafe { raw_syscall(number::GETTID, [0; 6]) as u32 }
}

/// Lets others run.
pub fn give_way() {
    // SAFETY: has no arguments.
    unsafe { raw_syscall(number::SCHED_YIELD, [0; 6]) };
}
