//! The system calls of the PMU stand-in, each behind a safe function.
//!
//! The only file of this crate with `unsafe`. It knows nothing of events or plans:
//! it installs the filter, moves bytes to and from another process and speaks the
//! protocol of seccomp user notification (`seccomp_unotify(2)`).

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::time::Duration;

/// Request of `ioctl` that asks a perf event for its id: `_IOR('$', 7, u64 *)`.
pub(crate) const PERF_EVENT_IOC_ID: u32 = 0x8008_2407;

/// `AUDIT_ARCH_*` of this build; calls of another architecture pass the filter.
#[cfg(target_arch = "x86_64")]
const AUDIT_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCH: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const AUDIT_ARCH: u32 = 0;

/// Bit that marks a call of the x32 ABI, whose numbers differ.
const X32_BIT: u32 = 0x4000_0000;

/// Room for a `struct seccomp_notif` of a later kernel, in 8-byte words.
const NOTIFICATION_WORDS: usize = 64;

/// A call that waits in the kernel for its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notification {
    /// Names the waiting call; unique for the listener.
    pub id: u64,
    /// Thread that called, 0 if it is not visible from here.
    pub tid: u32,
    /// Number of the system call.
    pub number: i64,
    /// Its arguments.
    pub args: [u64; 6],
}

/// Arranges that `command` runs under the filter; the listener comes out of the
/// other end of `channel` once the command is spawned.
///
/// The module measures nothing under a filter of a process that has `no_new_privs`. So the
/// filter is set without it, which takes root, or a user namespace of the process's own.
///
/// # Errors
/// `Unsupported` on a machine whose call numbers are not known here.
pub(crate) fn filter_at_exec(command: &mut Command, channel: UnixStream) -> io::Result<()> {
    if AUDIT_ARCH == 0 {
        return Err(io::Error::from(io::ErrorKind::Unsupported));
    }
    let program = filter_program();
    // SAFETY: no memory is passed.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let maps = (user != 0).then(|| {
        [
            (c"/proc/self/setgroups", "deny".to_owned()),
            (c"/proc/self/uid_map", format!("{user} {user} 1")),
            (c"/proc/self/gid_map", format!("{group} {group} 1")),
        ]
    });
    let install = move || {
        if let Some(maps) = &maps {
            become_privileged(maps)?;
        }
        let listener = install_filter(&program)?;
        send_descriptor(&channel, listener.as_raw_fd())
    };
    // SAFETY: between fork and exec the closure makes system calls only; it neither
    // allocates nor takes a lock, and all it uses was built before the fork.
    unsafe { command.pre_exec(install) };
    Ok(())
}

/// The filter: `perf_event_open` and `ioctl(_, PERF_EVENT_IOC_ID, _)` of this
/// architecture are notified, everything else is allowed.
fn filter_program() -> [libc::sock_filter; 10] {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let jump =
        |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let number = mem::offset_of!(libc::seccomp_data, nr) as u32;
    let arch = mem::offset_of!(libc::seccomp_data, arch) as u32;
    // The kernel looks at the low half of the request; both machines are little-endian.
    let request = (mem::offset_of!(libc::seccomp_data, args) + 8) as u32;
    [
        statement(LOAD, arch),
        jump(EQUAL, AUDIT_ARCH, 0, 6),
        statement(LOAD, number),
        jump(AT_LEAST, X32_BIT, 4, 0),
        jump(EQUAL, libc::SYS_perf_event_open as u32, 4, 0),
        jump(EQUAL, libc::SYS_ioctl as u32, 0, 2),
        statement(LOAD, request),
        jump(EQUAL, PERF_EVENT_IOC_ID, 1, 0),
        statement(RETURN, libc::SECCOMP_RET_ALLOW),
        statement(RETURN, libc::SECCOMP_RET_USER_NOTIF),
    ]
}

/// Enters a user namespace in which everybody is who they were, and this process may set a
/// filter. Allocates nothing.
fn become_privileged(maps: &[(&CStr, String); 3]) -> io::Result<()> {
    // SAFETY: takes an integer only.
    if unsafe { libc::unshare(libc::CLONE_NEWUSER) } != 0 {
        return Err(io::Error::last_os_error());
    }
    for (file, text) in maps {
        // SAFETY: the path ends with a NUL, the text is as long as it says.
        let written = unsafe {
            let fd = libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            let written = libc::write(fd, text.as_ptr().cast(), text.len());
            libc::close(fd);
            written
        };
        if written < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn install_filter(program: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let program =
        libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // The second flag (Linux 5.19) keeps signals from repeating a call already received.
    let plain = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let mut result = -1;
    for flags in [plain | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, plain] {
        // SAFETY: `program` is alive and its length is that of the slice; the kernel copies it.
        result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                ptr::from_ref(&program),
            )
        };
        if result >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) {
            break;
        }
    }
    owned(result)
}

/// Takes a result that is a new descriptor, or the error.
fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    match RawFd::try_from(result) {
        // SAFETY: a system call has just returned this descriptor; nobody else owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Control message with one descriptor, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Calls `then` with a message of one byte and room for one descriptor.
fn with_message<T>(then: impl FnOnce(&mut libc::msghdr) -> T) -> T {
    let mut byte = 0u8;
    let mut control = Control([0; 64]);
    let mut part = libc::iovec { iov_base: ptr::from_mut(&mut byte).cast(), iov_len: 1 };
    // SAFETY: all-zero is a valid msghdr on every libc, whatever padding it has.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: computes a size.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(mem::size_of::<RawFd>() as u32) } as _;
    then(&mut message)
}

fn send_descriptor(channel: &UnixStream, fd: RawFd) -> io::Result<()> {
    with_message(|message| {
        // SAFETY: the control buffer is zeroed, aligned and has room for one header and
        // one descriptor, so CMSG_FIRSTHDR is not null and CMSG_DATA lies within it.
        let sent = unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(mem::size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(fd);
            libc::sendmsg(channel.as_raw_fd(), message, 0)
        };
        if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
    })
}

/// Takes the descriptor that was sent into the other end; does not wait for one.
pub(crate) fn receive_descriptor(channel: &UnixStream) -> io::Result<OwnedFd> {
    with_message(|message| {
        let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
        // SAFETY: the message points to live buffers of the lengths it gives.
        if unsafe { libc::recvmsg(channel.as_raw_fd(), message, flags) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has filled the control buffer; the header is checked for
        // null and type before its one descriptor is read, which is ours from now on.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            owned(libc::c_long::from(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned()))
        }
    })
}

/// The supervisor's end of the filter.
pub(crate) struct Listener(OwnedFd);

impl Listener {
    /// Wraps what [`receive_descriptor`] gave.
    ///
    /// # Errors
    /// The kernel's structures are larger than this build has room for.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        let mut sizes =
            libc::seccomp_notif_sizes { seccomp_notif: 0, seccomp_notif_resp: 0, seccomp_data: 0 };
        // SAFETY: the kernel writes the three sizes into a live structure of that type.
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_GET_NOTIF_SIZES,
                0,
                ptr::from_mut(&mut sizes),
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        if usize::from(sizes.seccomp_notif) > NOTIFICATION_WORDS * 8
            || usize::from(sizes.seccomp_notif_resp) != mem::size_of::<libc::seccomp_notif_resp>()
        {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        Ok(Listener(fd))
    }

    /// Takes the next waiting call; `None` if its caller has died meanwhile.
    pub(crate) fn receive(&self) -> io::Result<Option<Notification>> {
        let mut room = [0u64; NOTIFICATION_WORDS];
        // SAFETY: `room` is zeroed as the kernel demands, aligned for the structure and at
        // least as large as the kernel's own, which `new` has checked.
        let result = unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, room.as_mut_ptr())
        };
        if result != 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(libc::ENOENT | libc::EINTR) => Ok(None),
                _ => Err(error),
            };
        }
        // SAFETY: the buffer is larger than the structure, aligned and now initialised;
        // the structure holds integers only.
        let got: libc::seccomp_notif =
            unsafe { room.as_ptr().cast::<libc::seccomp_notif>().read() };
        Ok(Some(Notification {
            id: got.id,
            tid: got.pid,
            number: i64::from(got.data.nr),
            args: got.data.args,
        }))
    }

    /// Whether the caller still waits, so that its thread id still names it.
    pub(crate) fn is_waiting(&self, id: u64) -> bool {
        // SAFETY: the kernel reads one u64.
        unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, ptr::from_ref(&id))
                == 0
        }
    }

    /// Ends the call with 0, or with the error number in `Err`.
    pub(crate) fn answer(&self, id: u64, result: Result<(), i32>) -> io::Result<()> {
        let error = result.map_or_else(|errno| -errno, |()| 0);
        self.send(libc::seccomp_notif_resp { id, val: 0, error, flags: 0 })
    }

    /// Lets the kernel carry out the call.
    pub(crate) fn pass(&self, id: u64) -> io::Result<()> {
        let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        self.send(libc::seccomp_notif_resp { id, val: 0, error: 0, flags })
    }

    fn send(&self, response: libc::seccomp_notif_resp) -> io::Result<()> {
        // SAFETY: the kernel reads one structure of the size `new` has checked.
        let result = unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                ptr::from_ref(&response),
            )
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Gives the caller a copy of `file` and ends the call with its number.
    ///
    /// # Errors
    /// `ENOENT` if the caller died, `EMFILE` if it has no free descriptor; the call
    /// still waits after any error but `ENOENT`.
    pub(crate) fn inject(&self, id: u64, file: &File, cloexec: bool) -> io::Result<RawFd> {
        let add = |flags: libc::c_ulong| {
            let request = libc::seccomp_notif_addfd {
                id,
                flags: flags as u32,
                srcfd: file.as_raw_fd() as u32,
                newfd: 0,
                newfd_flags: if cloexec { libc::O_CLOEXEC as u32 } else { 0 },
            };
            // SAFETY: the kernel reads one structure of this type.
            let fd = unsafe {
                libc::ioctl(
                    self.0.as_raw_fd(),
                    libc::SECCOMP_IOCTL_NOTIF_ADDFD,
                    ptr::from_ref(&request),
                )
            };
            if fd >= 0 { Ok(fd) } else { Err(io::Error::last_os_error()) }
        };
        match add(libc::SECCOMP_ADDFD_FLAG_SEND) {
            // Before Linux 5.14 the answer is a step of its own.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                let fd = add(0)?;
                self.send(libc::seccomp_notif_resp { id, val: i64::from(fd), error: 0, flags: 0 })?;
                Ok(fd)
            }
            result => result,
        }
    }
}

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Copies up to `buffer.len()` bytes from `address` of thread `tid`.
pub(crate) fn read_memory(tid: u32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: buffer.len() };
    // SAFETY: the kernel writes at most `buffer.len()` bytes into the live buffer; the
    // remote address is only looked up in the other process.
    let n = unsafe { libc::process_vm_readv(tid as i32, &local, 1, &remote, 1, 0) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Copies `bytes` to `address` of thread `tid`; returns how many.
pub(crate) fn write_memory(tid: u32, address: u64, bytes: &[u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: bytes.len() };
    // SAFETY: the kernel only reads the live buffer; the remote address is only looked
    // up in the other process.
    let n = unsafe { libc::process_vm_writev(tid as i32, &local, 1, &remote, 1, 0) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// A file in memory with this content, at offset 0, that nobody can change any more.
pub(crate) fn memory_file(content: &[u8]) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string literal.
    let fd = unsafe { libc::memfd_create(c"topas-pmu".as_ptr(), flags) };
    let mut file = File::from(owned(libc::c_long::from(fd))?);
    file.write_all(content)?;
    file.rewind()?;
    let seals = libc::F_SEAL_SEAL | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;
    // SAFETY: takes integers only.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(file)
}

/// Opens a real event of the kernel for a task, with the `struct perf_event_attr` that
/// `attr` holds in whole, as a sibling of `leader` or by itself; closed on exec.
pub(crate) fn open_event(
    attr: &[u64],
    task: u32,
    cpu: i32,
    leader: Option<RawFd>,
) -> io::Result<File> {
    const FLAG_FD_CLOEXEC: libc::c_ulong = 8;
    // SAFETY: the kernel reads as many bytes as the structure's second word says, which is
    // the length of the live slice.
    let fd = unsafe {
        debug_assert_eq!((attr[0] >> 32) as usize, size_of_val(attr));
        libc::syscall(
            libc::SYS_perf_event_open,
            attr.as_ptr(),
            task as libc::pid_t,
            cpu,
            leader.unwrap_or(-1),
            FLAG_FD_CLOEXEC,
        )
    };
    owned(fd).map(File::from)
}

/// The kernel's id of a real event; None if `fd` is not one.
pub(crate) fn event_id(fd: RawFd) -> Option<u64> {
    let mut id = 0u64;
    let request = libc::c_ulong::from(PERF_EVENT_IOC_ID);
    // SAFETY: the kernel writes one u64.
    let result = unsafe { libc::ioctl(fd, request as _, ptr::from_mut(&mut id)) };
    (result == 0).then_some(id)
}

/// A copy of a descriptor of process `pid`.
pub(crate) fn copy_descriptor(pid: u32, fd: i32) -> io::Result<OwnedFd> {
    let process = process_descriptor(pid)?;
    // SAFETY: takes integers only.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), fd, 0) })
}

/// A descriptor that becomes readable when process `pid`, a child of ours, has ended.
pub(crate) fn process_descriptor(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes integers only.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) })
}

/// What [`wait_ready`] found of one descriptor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ready {
    /// There is something to read.
    pub input: bool,
    /// Nobody is left at the other end, or the descriptor is in error.
    pub hangup: bool,
}

/// Waits until one of the descriptors is ready; a descriptor of -1 never is. Without a
/// `limit` it waits for ever. A signal ends the wait early with nothing ready.
pub(crate) fn wait_ready<const N: usize>(
    fds: [RawFd; N],
    limit: Option<Duration>,
) -> io::Result<[Ready; N]> {
    let mut set = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let timeout = limit.map_or(-1, |limit| {
        // Rounded up, so that a limit of less than a millisecond does not spin.
        i32::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
    });
    // SAFETY: the array is alive and its length is given.
    let n = unsafe { libc::poll(set.as_mut_ptr(), N as libc::nfds_t, timeout) };
    if n < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        return Ok([Ready::default(); N]);
    }
    Ok(set.map(|one| Ready {
        input: one.revents & libc::POLLIN != 0,
        hangup: one.revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0,
    }))
}
