//! Whether the process of a mapped file is there. Its number alone does not tell: another process
//! may have it by now, and in a container it has two.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::spool::Spool;

/// Whether the process that writes the file runs: one that has it mapped. If that cannot be known
/// it does.
pub fn is_running(spool: &Spool) -> bool {
    let pid = spool.header.pid;
    match maps(pid, spool) {
        Ok(true) => return true,
        Ok(false) => {}
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
        // No such process (ESRCH) is what reading the maps of one that ends says.
        Err(cause) if cause.raw_os_error() == Some(nix::errno::Errno::ESRCH as i32) => {}
        Err(_) => return true,
    }
    in_other_namespaces(pid).into_iter().any(|outer| maps(outer, spool).unwrap_or(true))
}

/// Whether a process has the file mapped.
fn maps(pid: u32, spool: &Spool) -> io::Result<bool> {
    let text = fs::read(format!("/proc/{pid}/maps"))?;
    let (device, inode) = spool.inode;
    let (major, minor) = (nix::sys::stat::major(device), nix::sys::stat::minor(device));
    let device = format!("{major:02x}:{minor:02x}");
    let inode = inode.to_string();
    let path = spool.path.as_os_str().as_bytes();
    // address perms offset dev inode path; layered file systems have another device here.
    let is_of = |line: &[u8]| {
        let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let same_device = words.nth(3) == Some(device.as_bytes());
        words.next() == Some(inode.as_bytes()) && (same_device || line.ends_with(path))
    };
    Ok(text.split(|byte| *byte == b'\n').any(is_of))
}

/// Processes that have this number in a namespace of their own, by their numbers here.
fn in_other_namespaces(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let inner = |outer: &u32| {
        let status = fs::read_to_string(format!("/proc/{outer}/status")).ok()?;
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        numbers.split_ascii_whitespace().skip(1).last()?.parse::<u32>().ok()
    };
    pids.filter(|outer| inner(outer) == Some(pid)).collect()
}

/// The process that started a process; None if there is no such process.
pub fn parent_of(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}
