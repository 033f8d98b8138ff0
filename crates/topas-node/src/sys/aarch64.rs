//! AArch64: the `svc` instruction, its numbers, and MIDR_EL1.

use core::arch::asm;
use core::mem::MaybeUninit;

/// Numbers of include/uapi/asm-generic/unistd.h.
#[allow(missing_docs)]
pub mod number {
    pub const GETCWD: usize = 17;
    pub const FCNTL: usize = 25;
    pub const IOCTL: usize = 29;
    pub const MKDIRAT: usize = 34;
    pub const UNLINKAT: usize = 35;
    pub const FTRUNCATE: usize = 46;
    pub const FALLOCATE: usize = 47;
    pub const FACCESSAT: usize = 48;
    pub const FCHMOD: usize = 52;
    pub const FCHMODAT: usize = 53;
    pub const OPENAT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const GETDENTS64: usize = 61;
    pub const LSEEK: usize = 62;
    pub const READ: usize = 63;
    pub const WRITE: usize = 64;
    pub const PREAD64: usize = 67;
    pub const PPOLL: usize = 73;
    pub const READLINKAT: usize = 78;
    pub const FSTAT: usize = 80;
    pub const CLOCK_GETTIME: usize = 113;
    pub const SCHED_YIELD: usize = 124;
    pub const TGKILL: usize = 131;
    pub const SIGALTSTACK: usize = 132;
    pub const RT_SIGACTION: usize = 134;
    pub const RT_SIGPROCMASK: usize = 135;
    pub const RT_SIGTIMEDWAIT: usize = 137;
    pub const UNAME: usize = 160;
    pub const GETRUSAGE: usize = 165;
    pub const PRCTL: usize = 167;
    pub const GETCPU: usize = 168;
    pub const GETPID: usize = 172;
    pub const GETUID: usize = 174;
    pub const GETEUID: usize = 175;
    pub const GETTID: usize = 178;
    pub const SEMGET: usize = 190;
    pub const SEMCTL: usize = 191;
    pub const SEMOP: usize = 193;
    pub const SOCKET: usize = 198;
    pub const BIND: usize = 200;
    pub const LISTEN: usize = 201;
    pub const CONNECT: usize = 203;
    pub const SENDTO: usize = 206;
    pub const GETSOCKOPT: usize = 209;
    pub const SHUTDOWN: usize = 210;
    pub const MUNMAP: usize = 215;
    pub const EXECVE: usize = 221;
    pub const MMAP: usize = 222;
    pub const MPROTECT: usize = 226;
    pub const RT_TGSIGQUEUEINFO: usize = 240;
    pub const PERF_EVENT_OPEN: usize = 241;
    pub const ACCEPT4: usize = 242;
    pub const PRLIMIT64: usize = 261;
}

/// `open` flag, which is another on some processors.
pub const O_NOFOLLOW: u32 = 0o100000;

/// Which word of `struct stat` is `st_uid`.
pub const STAT_UID: usize = 6;

/// `_IOR('$', 7, __u64 *)`
pub const PERF_EVENT_IOC_ID: usize = 0x8008_2407;

/// An argument, which a call that does not look at it leaves as it is.
pub type Word = MaybeUninit<usize>;

/// A system call with arguments a to f.
///
/// # Safety
/// As the call itself demands.
#[inline(never)]
pub unsafe extern "C" fn syscall(
    a: Word,
    b: Word,
    c: Word,
    number: usize,
    e: Word,
    d: Word,
    f: Word,
) -> isize {
    let result;
    // SAFETY: the kernel keeps all registers but x0.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    result
}

/// SVE vector length of this thread in units of 128 bit, 1 where there is no SVE.
pub fn vector_length() -> u64 {
    const PR_SVE_GET_VL: usize = 51;
    // SAFETY: no memory is passed.
    let bytes = unsafe { super::call1(number::PRCTL, PR_SVE_GET_VL) };
    if bytes < 0 { 1 } else { (bytes as u64 & 0xffff) / 16 }
}
