//! System calls, made directly. A negative result is an error number.

#[cfg(target_arch = "aarch64")]
#[path = "sys/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "sys/x86_64.rs"]
mod arch;

use topas_format::text::Cursor;

pub use arch::{base_mhz, cpu};
use arch::{number, syscall};

/// Longest path the module handles, with its NUL.
pub const PATH_MAX: usize = 4096;

const AT_FDCWD: usize = -100isize as usize;

/// A file descriptor, closed when dropped.
pub struct File(i32);

impl Drop for File {
    fn drop(&mut self) {
        close(self.0);
    }
}

/// `open` flags (Linux, all processors of this module but for those `arch` gives).
pub const O_RDONLY: u32 = 0;
pub const O_WRONLY: u32 = 1;
pub const O_CREAT: u32 = 0o100;
pub const O_EXCL: u32 = 0o200;
pub const O_NOCTTY: u32 = 0o400;
pub const O_APPEND: u32 = 0o2000;
pub const O_NONBLOCK: u32 = 0o4000;
pub const O_CLOEXEC: u32 = 0o2000000;

pub const EINVAL: i32 = 22;
pub const ENOENT: i32 = 2;
pub const EEXIST: i32 = 17;

/// A result as the kernel gives it: at least 0, or minus an error number.
fn checked(result: isize) -> Result<usize, i32> {
    if result < 0 { Err(-result as i32) } else { Ok(result as usize) }
}

/// Opens a file. `path` must end with a NUL.
pub fn open(path: &[u8], flags: u32, mode: u32) -> Result<File, i32> {
    if path.last() != Some(&0) {
        return Err(EINVAL);
    }
    // SAFETY: the path is NUL-terminated.
    let fd = unsafe {
        syscall(AT_FDCWD, path.as_ptr() as usize, flags as usize, mode as usize, 0, number::OPENAT)
    };
    checked(fd).map(|fd| File(fd as i32))
}

/// Opens a file for reading. `path` must end with a NUL.
#[inline(never)]
pub fn open_to_read(path: &[u8]) -> Result<File, i32> {
    open(path, O_RDONLY | O_CLOEXEC, 0)
}

impl File {
    /// Reads up to the length of `buf`; the part that was read.
    pub fn read<'b>(&self, buf: &'b mut [u8]) -> &'b [u8] {
        let n = read(self.0, buf).unwrap_or(0);
        buf.get(..n).unwrap_or_default()
    }

    /// Reads the last bytes of a file, as many as `buf` holds.
    pub fn read_end<'b>(&self, buf: &'b mut [u8]) -> &'b [u8] {
        // SAFETY: changes nothing but the file position.
        let moved = unsafe {
            syscall(
                self.0 as usize,
                (buf.len() as isize).wrapping_neg() as usize,
                2,
                0,
                0,
                number::LSEEK,
            )
        };
        // A shorter file is read from its start, where the position still is.
        let _ = moved;
        self.read(buf)
    }

    /// Writes all bytes with one call. An error number, 0 if all were taken.
    pub fn write_once(&self, bytes: &[u8]) -> i32 {
        match write(self.0, bytes) {
            Ok(n) if n == bytes.len() => 0,
            Ok(_) => 28, // ENOSPC
            Err(errno) => errno,
        }
    }

    /// Sets the permission bits, whatever the program's umask was.
    pub fn set_mode(&self, mode: u32) {
        // SAFETY: no memory is passed.
        unsafe { syscall(self.0 as usize, mode as usize, 0, 0, 0, number::FCHMOD) };
    }
}

/// `read`
pub fn read(fd: i32, buf: &mut [u8]) -> Result<usize, i32> {
    // SAFETY: the kernel writes at most `buf.len()` bytes to `buf`.
    checked(unsafe {
        syscall(fd as usize, buf.as_mut_ptr() as usize, buf.len(), 0, 0, number::READ)
    })
}

/// `write`
pub fn write(fd: i32, bytes: &[u8]) -> Result<usize, i32> {
    // SAFETY: the kernel reads `bytes.len()` bytes.
    checked(unsafe {
        syscall(fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, number::WRITE)
    })
}

/// `close`
pub fn close(fd: i32) {
    // SAFETY: callers close only what they opened.
    unsafe { syscall(fd as usize, 0, 0, 0, 0, number::CLOSE) };
}

/// Makes a directory and sets its mode, whatever the program's umask is. `path` must
/// end with a NUL.
pub fn make_dir(path: &[u8], mode: usize) {
    if path.last() == Some(&0) {
        let path = path.as_ptr() as usize;
        // SAFETY: the path is NUL-terminated, in both calls.
        unsafe {
            if syscall(AT_FDCWD, path, mode, 0, 0, number::MKDIRAT) == 0 {
                syscall(AT_FDCWD, path, mode, 0, 0, number::FCHMODAT);
            }
        }
    }
}

/// Target of the symbolic link `path`, which must end with a NUL.
pub fn read_link<'b>(path: &[u8], buf: &'b mut [u8]) -> &'b [u8] {
    if path.last() != Some(&0) {
        return &[];
    }
    // SAFETY: the path is NUL-terminated; the kernel writes at most `buf.len()` bytes.
    let n = unsafe {
        syscall(
            AT_FDCWD,
            path.as_ptr() as usize,
            buf.as_mut_ptr() as usize,
            buf.len(),
            0,
            number::READLINKAT,
        )
    };
    buf.get(..n.max(0) as usize).unwrap_or_default()
}

/// `getpid`
pub fn pid() -> u32 {
    // SAFETY: no memory is passed.
    unsafe { syscall(0, 0, 0, 0, 0, number::GETPID) as u32 }
}

/// `getuid`
pub fn uid() -> u32 {
    // SAFETY: no memory is passed.
    unsafe { syscall(0, 0, 0, 0, 0, number::GETUID) as u32 }
}

/// `struct utsname`: six texts of 65 bytes.
const UTSNAME: usize = 6 * 65;

/// The node's name.
pub fn host(buf: &mut [u8; UTSNAME]) -> &[u8] {
    // SAFETY: the kernel writes one `struct utsname`, the size of `buf`.
    unsafe { syscall(buf.as_mut_ptr() as usize, 0, 0, 0, 0, number::UNAME) };
    let name = buf.get(65..130).unwrap_or_default();
    Cursor::new(name).until(0)
}

/// Clocks of `clock_gettime`.
#[derive(Clone, Copy)]
pub enum Clock {
    /// Since 1970
    Real = 0,
    /// Never set back
    Monotonic = 1,
}

/// A clock in microseconds.
#[inline(never)]
pub fn clock(which: Clock) -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes one `struct timespec`: two 64-bit words.
    unsafe { syscall(which as usize, time.as_mut_ptr() as usize, 0, 0, 0, number::CLOCK_GETTIME) };
    let [seconds, nanos] = time;
    seconds * 1_000_000 + nanos / 1000
}

/// What the process has used.
#[derive(Clone, Copy, Default)]
pub struct Usage {
    /// User CPU time in microseconds, all threads
    pub user: u64,
    /// System CPU time in microseconds, all threads
    pub system: u64,
    /// Largest resident set in kB
    pub resident: u64,
}

/// `getrusage` of this process.
#[inline(never)]
pub fn usage() -> Usage {
    // struct rusage: two timevals, then 14 words of which the first is ru_maxrss.
    let mut words = [0u64; 18];
    // SAFETY: the kernel writes one `struct rusage`, the size of `words`.
    unsafe { syscall(0, words.as_mut_ptr() as usize, 0, 0, 0, number::GETRUSAGE) };
    let [us, uu, ss, su, resident, ..] = words;
    Usage { user: us * 1_000_000 + uu, system: ss * 1_000_000 + su, resident }
}

/// Process id at the other end of a unix socket (`SO_PEERCRED`).
pub fn socket_peer(fd: u32) -> Option<u32> {
    let mut credentials = [0u32; 3];
    let mut size = 12u32;
    // SAFETY: the kernel writes at most `size` bytes to `credentials`, and to `size`.
    let result = unsafe {
        syscall(
            fd as usize,
            1,
            17,
            credentials.as_mut_ptr() as usize,
            (&raw mut size) as usize,
            number::GETSOCKOPT,
        )
    };
    let [pid, ..] = credentials;
    (result == 0 && pid != 0).then_some(pid)
}

/// New memory of at least `bytes`, zeroed, never freed; None if there is none.
pub fn pages(bytes: usize) -> Option<*mut u8> {
    // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS; offset and fd do not matter.
    // SAFETY: a new anonymous mapping touches no memory in use.
    let address = unsafe { syscall(0, bytes, 3, 0x22, usize::MAX, number::MMAP) };
    checked(address).ok().map(|address| address as *mut u8)
}

/// `perf_event_open` for this process on any processor.
///
/// `attr` is a `struct perf_event_attr` of its first published size (64 bytes), which
/// every kernel accepts.
pub fn perf_event_open(attr: &[u64; 8], group: i32) -> Result<i32, i32> {
    const FLAG_FD_CLOEXEC: usize = 8;
    // SAFETY: the kernel reads the 64 bytes that `attr.size` says.
    let fd = unsafe {
        syscall(
            attr.as_ptr() as usize,
            0,
            usize::MAX,
            group as isize as usize,
            FLAG_FD_CLOEXEC,
            number::PERF_EVENT_OPEN,
        )
    };
    checked(fd).map(|fd| fd as i32)
}

/// The kernel's id of a perf event, which is never 0; 0 if `fd` is not one, and nothing
/// happened to it.
#[inline(never)]
pub fn perf_event_id(fd: i32) -> u64 {
    let mut id = 0u64;
    // SAFETY: PERF_EVENT_IOC_ID writes one u64.
    unsafe {
        let id = (&raw mut id) as usize;
        syscall(fd as usize, arch::PERF_EVENT_IOC_ID, id, 0, 0, number::IOCTL);
    }
    id
}

/// Reads three words; whether all of them came.
pub fn read_words(fd: i32, words: &mut [u64; 3]) -> bool {
    let size = size_of_val(words);
    // SAFETY: the kernel writes at most `size` bytes to `words`.
    let n = unsafe { syscall(fd as usize, words.as_mut_ptr() as usize, size, 0, 0, number::READ) };
    n == size as isize
}

/// Moves a descriptor out of the low numbers, which programs count on.
pub fn move_up(fd: i32, lowest: usize) -> Result<i32, i32> {
    const F_DUPFD_CLOEXEC: usize = 1030;
    // SAFETY: no memory is passed.
    let moved = unsafe { syscall(fd as usize, F_DUPFD_CLOEXEC, lowest, 0, 0, number::FCNTL) };
    close(fd);
    checked(moved).map(|fd| fd as i32)
}

/// Number of descriptors the process may have open.
pub fn open_limit() -> u64 {
    const RLIMIT_NOFILE: usize = 7;
    let mut limits = [0u64; 2];
    // SAFETY: the kernel writes one `struct rlimit64` to `limits` and reads nothing.
    unsafe { syscall(0, RLIMIT_NOFILE, 0, limits.as_mut_ptr() as usize, 0, number::PRLIMIT64) };
    let [soft, _] = limits;
    soft
}

/// SVE vector length of this thread in units of 128 bit, 1 where there is no SVE.
pub fn vector_length() -> u64 {
    const PR_SVE_GET_VL: usize = 51;
    // SAFETY: no memory is passed.
    let bytes = unsafe { syscall(PR_SVE_GET_VL, 0, 0, 0, 0, number::PRCTL) };
    if bytes < 0 { 1 } else { (bytes as u64 & 0xffff) / 16 }
}

/// Ends the process at once.
pub fn exit_now() -> ! {
    loop {
        // SAFETY: exit_group does not return.
        unsafe { syscall(127, 0, 0, 0, 0, number::EXIT_GROUP) };
    }
}
