//! Where the process is: its directory, its processor; and files of the user's own.

use core::ffi::CStr;

use super::{call3, number};

/// The current directory with its NUL, as much of it as a path may have; empty if it has gone.
pub fn directory(room: &mut [u8]) -> &[u8] {
    // SAFETY: the kernel writes at most `room.len()` bytes.
    let n = unsafe { call3(number::GETCWD, room.as_mut_ptr() as usize, room.len(), 0) };
    super::written(room, n)
}

/// Processor and NUMA node this thread is on; None if the kernel does not tell.
pub fn processor() -> Option<(u64, u64)> {
    let (mut cpu, mut node) = (0u32, 0u32);
    let (cpu_at, node_at) = ((&raw mut cpu) as usize, (&raw mut node) as usize);
    // SAFETY: the kernel writes a word to each.
    let result = unsafe { call3(number::GETCPU, cpu_at, node_at, 0) };
    (result == 0).then_some((cpu.into(), node.into()))
}

/// Removes a file that was just made and has taken nothing, unless somebody has written to it
/// meanwhile.
pub fn remove_empty(fd: i32, path: &CStr) {
    const SEEK_END: usize = 2;
    // SAFETY: the path is NUL-terminated.
    unsafe {
        if call3(number::LSEEK, fd as usize, 0, SEEK_END) == 0 {
            call3(number::UNLINKAT, super::AT_FDCWD, path.as_ptr() as usize, 0);
        }
    }
}

/// The last byte of an open file; None of an empty one, or of what is no regular file, from
/// which nothing is read.
pub fn last_byte(fd: i32) -> Option<u8> {
    const SEEK_END: usize = 2;
    let mut byte = 0u8;
    // SAFETY: the kernel writes one byte.
    let n = unsafe {
        if call3(number::LSEEK, fd as usize, usize::MAX, SEEK_END) < 0 {
            return None;
        }
        call3(number::READ, fd as usize, (&raw mut byte) as usize, 1)
    };
    (n == 1).then_some(byte)
}
