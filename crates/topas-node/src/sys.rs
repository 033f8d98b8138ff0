//! System calls, made directly. A negative result is an error number.

#[cfg(target_arch = "aarch64")]
#[path = "sys/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "sys/x86_64.rs"]
mod arch;
mod place;
mod socket;

use core::ffi::{CStr, c_char, c_ulong, c_void};
use core::mem::MaybeUninit;

use topas_format::out::Out;

#[cfg(target_arch = "x86_64")]
pub use arch::cpuid;
use arch::{Word, syscall};
pub use arch::{number, vector_length};
pub use place::{directory, last_byte, processor, remove_empty};
pub use socket::{
    ECONNREFUSED, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_STREAM, accept, bind, connect, effective_uid,
    listen, receive, send, shut, socket_owner, socket_peer, unix_socket, wait_readable,
};

/// Longest path the module handles, with its NUL.
pub const PATH_MAX: usize = 4096;

/// In place of a descriptor: paths begin at the working directory.
pub const AT_FDCWD: usize = -100isize as usize;

/// Flag of `open`: to be written.
pub const O_WRONLY: u32 = 1;
/// Flag of `open`: to be read and written.
pub const O_RDWR: u32 = 2;
/// Flag of `open`: made if it is not there.
pub const O_CREAT: u32 = 0o100;
/// Flag of `open`: with [`O_CREAT`]: it must not be there.
pub const O_EXCL: u32 = 0o200;
/// Flag of `open`: not to become the controlling terminal.
pub const O_NOCTTY: u32 = 0o400;
/// Flag of `open`: each write goes to the end.
pub const O_APPEND: u32 = 0o2000;
/// Flag of `open`: nobody is waited for.
pub const O_NONBLOCK: u32 = 0o4000;
/// Flag of `open`: not if it is a link.
pub const O_NOFOLLOW: u32 = arch::O_NOFOLLOW;
/// Flag of `open`: not for programs that take the place of this one.
pub const O_CLOEXEC: u32 = 0o2000000;

/// Error number: no such file.
pub const ENOENT: i32 = 2;
/// Error number: not now.
pub const EAGAIN: i32 = 11;
/// Error number: permission denied.
pub const EACCES: i32 = 13;
/// Error number: it exists.
pub const EEXIST: i32 = 17;
/// Error number: bad argument.
pub const EINVAL: i32 = 22;
/// Error number: no space left.
pub const ENOSPC: i32 = 28;

/// An argument that the call does not look at: its register is left as it is.
const ANY: Word = MaybeUninit::uninit();

/// A call with one argument.
///
/// # Safety
/// As the call itself demands; so for the other two.
#[inline(always)]
unsafe fn call1(number: usize, a: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe { syscall(Word::new(a), ANY, ANY, number, ANY, ANY, ANY) }
}

/// A call that a crate above makes, by the kernel's number; unused arguments are 0.
///
/// # Safety
/// As the call itself demands.
pub unsafe fn raw_syscall(number: usize, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    // SAFETY: the caller's promise.
    unsafe { call5_and(number, a, b, c, d, e, Word::new(f)) }
}

/// A call with two or three arguments.
#[inline(always)]
unsafe fn call3(number: usize, a: usize, b: usize, c: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe { syscall(Word::new(a), Word::new(b), Word::new(c), number, ANY, ANY, ANY) }
}

/// A call with four arguments.
#[inline(always)]
unsafe fn call4(number: usize, a: usize, b: usize, c: usize, d: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe { syscall(Word::new(a), Word::new(b), Word::new(c), number, ANY, Word::new(d), ANY) }
}

/// A call with five arguments.
#[inline(always)]
unsafe fn call5(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe { call5_and(number, a, b, c, d, e, ANY) }
}

/// A call with five arguments and perhaps a sixth.
#[inline(always)]
unsafe fn call5_and(
    number: usize,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: Word,
) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        syscall(Word::new(a), Word::new(b), Word::new(c), number, Word::new(e), Word::new(d), f)
    }
}

/// Opens a file: its descriptor, or minus an error number.
#[inline(never)]
pub fn open(path: &CStr, flags: u32, mode: u32) -> i32 {
    let path = path.as_ptr() as usize;
    // SAFETY: the path is NUL-terminated.
    unsafe { call4(number::OPENAT, AT_FDCWD, path, flags as usize, mode as usize) as i32 }
}

/// What `buf` takes of a file. Empty if it cannot be read.
#[inline(never)]
pub fn load<'b>(path: &CStr, buf: &'b mut [u8]) -> &'b [u8] {
    let fd = open(path, O_CLOEXEC, 0);
    if fd < 0 {
        return &[];
    }
    let text = read(fd, buf);
    close(fd);
    text
}

/// What `buf` takes of an open file. Empty if it cannot be read.
#[inline(never)]
pub fn read(fd: i32, buf: &mut [u8]) -> &[u8] {
    // SAFETY: the kernel writes at most `buf.len()` bytes to `buf`.
    let n = unsafe { call3(number::READ, fd as usize, buf.as_mut_ptr() as usize, buf.len()) };
    written(buf, n)
}

/// What `buf` takes of an open file from a place on. Empty if it cannot be read.
#[inline(never)]
pub fn load_at(fd: i32, at: u64, buf: &mut [u8]) -> &[u8] {
    let (to, size) = (buf.as_mut_ptr() as usize, buf.len());
    // SAFETY: the kernel writes at most `size` bytes to `buf`.
    let n = unsafe { call4(number::PREAD64, fd as usize, to, size, at as usize) };
    written(buf, n)
}

/// Words as bytes, to be read into.
#[inline(always)]
pub fn as_bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: the same memory, whose every bit pattern is both.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// The bytes of a C string.
///
/// # Safety
/// It ends with a NUL, and stays as it is.
#[inline(never)]
pub unsafe fn bytes(text: *const c_char) -> &'static [u8] {
    let text: *const u8 = text.cast();
    let mut len = 0;
    // SAFETY: the caller's promise. Volatile, so that it stays a loop: strlen would be one
    // more import.
    unsafe {
        while text.add(len).read_volatile() != 0 {
            len += 1;
        }
        core::slice::from_raw_parts(text, len)
    }
}

/// A text as a path. The buffer has room for one byte more.
pub fn path<'b>(text: &'b mut Out<'_>) -> &'b CStr {
    text.byte(0);
    // SAFETY: a NUL was just put behind it.
    unsafe { CStr::from_ptr(text.text().as_ptr().cast()) }
}

/// Whether there is something at a path.
pub fn exists(path: &CStr) -> bool {
    let path = path.as_ptr() as usize;
    // SAFETY: the path is NUL-terminated.
    unsafe { call3(number::FACCESSAT, AT_FDCWD, path, 0) == 0 }
}

/// The part of a buffer that a call wrote, which returned `n`.
#[inline(always)]
pub fn written(buf: &[u8], n: isize) -> &[u8] {
    // SAFETY: the kernel writes no more than it was allowed to, which is the whole.
    unsafe { core::slice::from_raw_parts(buf.as_ptr(), n.max(0) as usize) }
}

/// Writes with one call: how many bytes were taken, or minus an error number.
///
/// A write can raise SIGPIPE and SIGXFSZ, which would end the program: they are held back
/// meanwhile, and what came is taken away.
#[inline(never)]
pub fn write(fd: i32, bytes: &[u8]) -> isize {
    let signals = 1u64 << (13 - 1) | 1 << (25 - 1);
    let before = hold(SIG_BLOCK, signals);
    // SAFETY: the kernel reads `bytes.len()` bytes.
    let n = unsafe { call3(number::WRITE, fd as usize, bytes.as_ptr() as usize, bytes.len()) };
    if n < 0 {
        wait_for_signal(signals, 0);
    }
    hold(SIG_SETMASK, before);
    n
}

/// Bytes of the kernel's sets of signals.
const SET: usize = size_of::<u64>();

/// Add to the signals a thread holds back.
const SIG_BLOCK: usize = 0;

/// In place of the signals a thread holds back.
pub const SIG_SETMASK: usize = 2;

/// Changes which signals this thread holds back, and tells which it did before.
#[inline(never)]
pub fn hold(how: usize, signals: u64) -> u64 {
    let mut before = 0u64;
    let (set, old) = ((&raw const signals) as usize, (&raw mut before) as usize);
    // SAFETY: both sets have the size that is passed last.
    unsafe { call4(number::RT_SIGPROCMASK, how, set, old, SET) };
    before
}

/// Takes one of the signals that are held back, or waits so many nanoseconds for one.
#[inline(never)]
fn wait_for_signal(signals: u64, nanoseconds: u64) {
    let time = [0, nanoseconds];
    let (set, time) = ((&raw const signals) as usize, (&raw const time) as usize);
    // SAFETY: the set has the size that is passed last, a time has two words.
    unsafe { call4(number::RT_SIGTIMEDWAIT, set, 0, time, SET) };
}

/// Sleeps for 1 ms.
pub fn sleep_a_millisecond() {
    wait_for_signal(0, 1_000_000);
}

/// `close`
#[inline(never)]
pub fn close(fd: i32) {
    // SAFETY: callers close only what they opened; to close what was not opened does nothing.
    unsafe { call1(number::CLOSE, fd as usize) };
}

/// Whether an open file belongs to a user, or to root; true if the kernel cannot tell.
pub fn is_ours(fd: i32, uid: u32) -> bool {
    // More than `struct stat` has.
    let mut about = [0u32; 64];
    // SAFETY: the kernel writes one `struct stat` to `about`.
    unsafe { call3(number::FSTAT, fd as usize, about.as_mut_ptr() as usize, 0) };
    let owner = about[arch::STAT_UID];
    owner == uid || owner == 0
}

/// Sets the permission bits of an open file, whatever the program's umask was.
pub fn set_mode(fd: i32, mode: usize) {
    // SAFETY: no memory is passed.
    unsafe { call3(number::FCHMOD, fd as usize, mode, 0) };
}

/// Makes the directory that the first `len` bytes of a path name, and sets its mode,
/// whatever the program's umask is.
pub fn make_dir(path: &mut [u8], len: usize, mode: usize) {
    make_dir_as(path, len, mode, true);
}

/// The same, by the program's umask unless its mode is to be `exact`.
#[inline(always)]
pub fn make_dir_as(path: &mut [u8], len: usize, mode: usize, exact: bool) {
    let Some(end) = path.get_mut(len) else {
        return;
    };
    let cut = core::mem::take(end);
    let dir = path.as_ptr() as usize;
    // SAFETY: a NUL stands behind the directory.
    unsafe {
        if call3(number::MKDIRAT, AT_FDCWD, dir, mode) == 0 && exact {
            call3(number::FCHMODAT, AT_FDCWD, dir, mode);
        }
    }
    if let Some(end) = path.get_mut(len) {
        *end = cut;
    }
}

/// Target of a symbolic link, empty if there is none.
pub fn read_link<'b>(path: &CStr, buf: &'b mut [u8]) -> &'b [u8] {
    let (path, to) = (path.as_ptr() as usize, buf.as_mut_ptr() as usize);
    // SAFETY: the path is NUL-terminated; the kernel writes at most `buf.len()` bytes.
    let n = unsafe { call4(number::READLINKAT, AT_FDCWD, path, to, buf.len()) };
    written(buf, n)
}

/// `getpid`
pub fn pid() -> u32 {
    // SAFETY: no memory is passed.
    unsafe { call1(number::GETPID, 0) as u32 }
}

/// `getuid`
pub fn uid() -> u32 {
    // SAFETY: no memory is passed.
    unsafe { call1(number::GETUID, 0) as u32 }
}

/// `struct utsname`: six texts of 65 bytes.
pub const UTSNAME: usize = 6 * 65;

/// `uname`
pub fn uname(buf: &mut [u8; UTSNAME]) {
    // SAFETY: the kernel writes one `struct utsname`, the size of `buf`.
    unsafe { call1(number::UNAME, buf.as_mut_ptr() as usize) };
}

/// Clock: time of day.
pub const REAL_TIME: usize = 0;
/// Clock: time since some moment.
pub const MONOTONIC: usize = 1;

/// A clock in microseconds.
#[inline(never)]
pub fn clock(which: usize) -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes one `struct timespec`: two 64-bit words.
    unsafe { call3(number::CLOCK_GETTIME, which, time.as_mut_ptr() as usize, 0) };
    let [seconds, nanos] = time;
    seconds * 1_000_000 + nanos / 1000
}

/// Clocks of this process in microseconds: user and system CPU time of all threads, and
/// the monotonic clock. Returns the largest resident set in kB.
#[inline(never)]
pub fn times(times: &mut [u64; 3]) -> u64 {
    // struct rusage: two timevals, then 14 words of which the first is ru_maxrss.
    let mut words = [0u64; 18];
    let [user, system, wall] = times;
    *wall = clock(MONOTONIC);
    // SAFETY: the kernel writes one `struct rusage`, the size of `words`.
    unsafe { call3(number::GETRUSAGE, 0, words.as_mut_ptr() as usize, 0) };
    let [us, uu, ss, su, resident, ..] = words;
    *user = us * 1_000_000 + uu;
    *system = ss * 1_000_000 + su;
    resident
}

/// CPU time of all threads of this process in microseconds, and how often the kernel took a processor
/// from one of them in favour of others.
pub fn usage() -> [u64; 2] {
    let [us, uu, ss, su, .., interruptions] = resources(0);
    [(us + ss) * 1_000_000 + uu + su, interruptions]
}

/// How often the calling thread gave up its processor by itself, and how often the kernel took it away.
pub fn switches() -> [u64; 2] {
    const THREAD: usize = 1;
    let [.., given_up, interruptions] = resources(THREAD);
    [given_up, interruptions]
}

/// As in `times`: two timevals, then 14 words of which the last two count voluntary and involuntary switches.
fn resources(whose: usize) -> [u64; 18] {
    let mut words = [0u64; 18];
    // SAFETY: the kernel writes one `struct rusage`, the size of `words`.
    unsafe { call3(number::GETRUSAGE, whose, words.as_mut_ptr() as usize, 0) };
    words
}

/// Sets the action of a signal, and tells what it was if asked: each a `struct sigaction` of the
/// kernel.
#[inline(never)]
pub fn signal_action(signal: u32, action: &[usize; 4], before: Option<&mut [usize; 4]>) {
    const SIZE: usize = size_of::<u64>();
    let new = action.as_ptr() as usize;
    let old = before.map_or(0, |before| before.as_mut_ptr() as usize);
    // SAFETY: both have the layout of the kernel's structure with a set of `SIZE` bytes.
    unsafe { call4(number::RT_SIGACTION, signal as usize, new, old, SIZE) };
}

/// Gives this thread a stack for signal handlers, unless it has one.
pub fn set_signal_stack(stack: *mut u8, bytes: usize) {
    const SS_DISABLE: usize = 2;
    let ours = [stack as usize, 0, bytes];
    let mut before = [0; 3];
    let old = before.as_mut_ptr() as usize;
    // SAFETY: `stack_t` is three words; the stack lives as long as the program.
    unsafe {
        call3(number::SIGALTSTACK, ours.as_ptr() as usize, old, 0);
        if before[1] != SS_DISABLE {
            call3(number::SIGALTSTACK, old, 0, 0);
        }
    }
}

/// Sends a signal to this thread with the `siginfo_t` of the one that is handled.
pub fn signal_again(signal: u32, info: *const c_void) {
    let (pid, signal) = (pid() as usize, signal as usize);
    // SAFETY: `info` is what the kernel gave to the handler.
    unsafe {
        let thread = call1(number::GETTID, 0) as usize;
        if call4(number::RT_TGSIGQUEUEINFO, pid, thread, signal, info as usize) < 0 {
            call3(number::TGKILL, pid, thread, signal);
        }
    }
}

/// New memory of at least `bytes`, zeroed, never freed; null if there is none.
pub fn pages(bytes: usize) -> *mut u8 {
    // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS; the descriptor does not matter.
    // SAFETY: a new anonymous mapping touches no memory in use.
    let address = unsafe { call5_and(number::MMAP, 0, bytes, 3, 0x22, usize::MAX, Word::new(0)) };
    if address < 0 { core::ptr::null_mut() } else { address as *mut u8 }
}

/// `perf_event_open` for this process on any processor: the descriptor, or minus an error
/// number. `attr` is a `struct perf_event_attr` of its first published size (64 bytes),
/// which every kernel accepts.
pub fn perf_event_open(attr: &[u64; 8], group: i32) -> i32 {
    const FLAG_FD_CLOEXEC: usize = 8;
    let attr = attr.as_ptr() as usize;
    let group = group as isize as usize;
    // SAFETY: the kernel reads the 64 bytes that `attr.size` says.
    unsafe { call5(number::PERF_EVENT_OPEN, attr, 0, usize::MAX, group, FLAG_FD_CLOEXEC) as i32 }
}

/// The kernel's id of a perf event, which is never 0; 0 if `fd` is not one, and nothing
/// happened to it.
#[inline(never)]
pub fn perf_event_id(fd: i32) -> u64 {
    let mut id = 0u64;
    // SAFETY: PERF_EVENT_IOC_ID writes one u64.
    unsafe { call3(number::IOCTL, fd as usize, arch::PERF_EVENT_IOC_ID, (&raw mut id) as usize) };
    id
}

/// Reads three words, or none.
pub fn read_words(fd: i32, words: &mut [u64; 3]) {
    let size = size_of_val(words);
    // SAFETY: the kernel writes at most `size` bytes to `words`.
    unsafe { call3(number::READ, fd as usize, words.as_mut_ptr() as usize, size) };
}

/// Moves a descriptor out of the low numbers, which programs count on: the new one, or
/// minus an error number.
pub fn move_up(fd: i32, lowest: usize) -> i32 {
    const F_DUPFD_CLOEXEC: usize = 1030;
    // SAFETY: no memory is passed.
    let moved = unsafe { call3(number::FCNTL, fd as usize, F_DUPFD_CLOEXEC, lowest) };
    close(fd);
    moved as i32
}

/// The lowest descriptor for what we keep open: below the limit and out of the way; never
/// above 1008, because the kernel's table grows with the highest descriptor.
#[inline(never)]
pub fn high() -> usize {
    open_limit().saturating_sub(16).min(1008) as usize
}

/// Number of descriptors the process may have open.
fn open_limit() -> u64 {
    const RLIMIT_NOFILE: usize = 7;
    let mut limits = [0u64; 2];
    // SAFETY: the kernel writes one `struct rlimit64` to `limits` and reads nothing.
    unsafe { call4(number::PRLIMIT64, 0, RLIMIT_NOFILE, 0, limits.as_mut_ptr() as usize) };
    let [soft, _] = limits;
    soft
}

// SAFETY: libc's own declaration.
unsafe extern "C" {
    fn getauxval(kind: c_ulong) -> c_ulong;
}

/// A value of the auxiliary vector, 0 if it is not there. Not inlined: one relocation in all.
#[inline(never)]
pub fn auxiliary(kind: usize) -> usize {
    // SAFETY: works from the first instruction of a program on.
    unsafe { getauxval(kind as c_ulong) as usize }
}
