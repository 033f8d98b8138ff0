//! x86-64: the `syscall` instruction and its numbers.

use core::arch::asm;
use core::arch::x86_64::{__cpuid, CpuidResult};
use core::mem::MaybeUninit;

/// What the processor tells of itself under a number of CPUID.
#[inline(always)]
pub fn cpuid(leaf: u32) -> CpuidResult {
    // The function is safe since Rust 1.94.
    #[allow(unused_unsafe)]
    // SAFETY: every processor with 64 bits has the instruction.
    unsafe {
        __cpuid(leaf)
    }
}

/// Numbers of arch/x86/entry/syscalls/syscall_64.tbl.
#[allow(missing_docs)]
pub mod number {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const FSTAT: usize = 5;
    pub const LSEEK: usize = 8;
    pub const MMAP: usize = 9;
    pub const MPROTECT: usize = 10;
    pub const MUNMAP: usize = 11;
    pub const RT_SIGACTION: usize = 13;
    pub const RT_SIGPROCMASK: usize = 14;
    pub const IOCTL: usize = 16;
    pub const PREAD64: usize = 17;
    pub const SCHED_YIELD: usize = 24;
    pub const GETPID: usize = 39;
    pub const SOCKET: usize = 41;
    pub const CONNECT: usize = 42;
    pub const SENDTO: usize = 44;
    pub const SHUTDOWN: usize = 48;
    pub const BIND: usize = 49;
    pub const LISTEN: usize = 50;
    pub const GETSOCKOPT: usize = 55;
    pub const EXECVE: usize = 59;
    pub const UNAME: usize = 63;
    pub const SEMGET: usize = 64;
    pub const SEMOP: usize = 65;
    pub const SEMCTL: usize = 66;
    pub const FCNTL: usize = 72;
    pub const FTRUNCATE: usize = 77;
    pub const GETCWD: usize = 79;
    pub const FCHMOD: usize = 91;
    pub const GETRUSAGE: usize = 98;
    pub const GETUID: usize = 102;
    pub const GETEUID: usize = 107;
    pub const RT_SIGTIMEDWAIT: usize = 128;
    pub const SIGALTSTACK: usize = 131;
    pub const GETTID: usize = 186;
    pub const GETDENTS64: usize = 217;
    pub const CLOCK_GETTIME: usize = 228;
    pub const TGKILL: usize = 234;
    pub const OPENAT: usize = 257;
    pub const MKDIRAT: usize = 258;
    pub const UNLINKAT: usize = 263;
    pub const READLINKAT: usize = 267;
    pub const FCHMODAT: usize = 268;
    pub const FACCESSAT: usize = 269;
    pub const PPOLL: usize = 271;
    pub const FALLOCATE: usize = 285;
    pub const ACCEPT4: usize = 288;
    pub const RT_TGSIGQUEUEINFO: usize = 297;
    pub const PERF_EVENT_OPEN: usize = 298;
    pub const PRLIMIT64: usize = 302;
    pub const GETCPU: usize = 309;
}

/// `open` flag, which is another on some processors.
pub const O_NOFOLLOW: u32 = 0o400000;

/// Which word of `struct stat` is `st_uid`.
pub const STAT_UID: usize = 7;

/// `_IOR('$', 7, __u64 *)`
pub const PERF_EVENT_IOC_ID: usize = 0x8008_2407;

/// An argument, which a call that does not look at it leaves as it is.
pub type Word = MaybeUninit<usize>;

/// A system call with arguments a to f. The order of the parameters leaves
/// most of them in the register the kernel wants, where it is not inlined.
///
/// # Safety
/// As the call itself demands.
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
    // SAFETY: the kernel keeps all registers but rax, rcx and r11.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Vectors have no length that differs by thread: 1 unit of 128 bit.
pub fn vector_length() -> u64 {
    1
}
