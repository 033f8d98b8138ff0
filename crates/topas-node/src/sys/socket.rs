//! Unix sockets.

use super::{O_CLOEXEC, O_NONBLOCK, call1, call3, call4, call5, number};

/// Type of socket: a stream.
pub const SOCK_STREAM: usize = 1;
/// Type of socket: datagrams.
pub const SOCK_DGRAM: usize = 2;
/// Type of socket: connected, message by message.
pub const SOCK_SEQPACKET: usize = 5;

/// Error number: nobody listens.
pub const ECONNREFUSED: i32 = 111;

/// `struct ucred` of the process at the other end of a unix socket (`SO_PEERCRED`): its id, its
/// user, its group. None if there is no such socket.
#[inline(always)]
fn credentials(fd: u32) -> Option<[u32; 3]> {
    const SOL_SOCKET: usize = 1;
    const SO_PEERCRED: usize = 17;
    // Behind it the size that the call takes and returns.
    let mut credentials = [0u32, 0, 0, 12];
    let to = credentials.as_mut_ptr();
    // SAFETY: the kernel writes at most 12 bytes to the front of `credentials`, and its end.
    let result = unsafe {
        let size = to.add(3) as usize;
        call5(number::GETSOCKOPT, fd as usize, SOL_SOCKET, SO_PEERCRED, to as usize, size)
    };
    let [pid, uid, gid, _] = credentials;
    (result == 0).then_some([pid, uid, gid])
}

/// Process id at the other end of a unix socket, 0 if there is none.
#[inline(never)]
pub fn socket_peer(fd: u32) -> Option<u32> {
    credentials(fd).map(|[pid, ..]| pid)
}

/// Effective user id at the other end of a unix socket: of the process that connected when it
/// did so, or of the one that listens.
#[inline(never)]
pub fn socket_owner(fd: i32) -> Option<u32> {
    credentials(fd as u32).map(|[_, uid, _]| uid)
}

/// A new unix socket, for which nobody waits.
pub fn unix_socket(kind: usize) -> i32 {
    const AF_UNIX: usize = 1;
    let kind = kind | (O_CLOEXEC | O_NONBLOCK) as usize;
    // SAFETY: no memory is passed.
    unsafe { call3(number::SOCKET, AF_UNIX, kind, 0) as i32 }
}

/// A call on a socket with an address: 0, or minus an error number.
#[inline(never)]
fn on_socket(number: usize, fd: i32, address: &[u8]) -> i32 {
    // SAFETY: the kernel reads `address.len()` bytes.
    unsafe { call3(number, fd as usize, address.as_ptr() as usize, address.len()) as i32 }
}

/// `bind`
pub fn bind(fd: i32, address: &[u8]) -> i32 {
    on_socket(number::BIND, fd, address)
}

/// `connect`
pub fn connect(fd: i32, address: &[u8]) -> i32 {
    on_socket(number::CONNECT, fd, address)
}

/// `listen`; one more than `queue` may wait, within `net.core.somaxconn`.
pub fn listen(fd: i32, queue: usize) {
    // SAFETY: no memory is passed.
    unsafe { call3(number::LISTEN, fd as usize, queue, 0) };
}

/// The next that waits at a listening socket; minus an error number if there is none.
pub fn accept(fd: i32) -> i32 {
    let flags = (O_CLOEXEC | O_NONBLOCK) as usize;
    // SAFETY: no memory is passed.
    unsafe { call4(number::ACCEPT4, fd as usize, 0, 0, flags) as i32 }
}

/// Lets nobody else wait at a listening socket, in whatever process it is open, too. Those that
/// wait already can still be accepted.
pub fn shut(fd: i32) {
    const SHUT_RD: usize = 0;
    // SAFETY: no memory is passed.
    unsafe { call3(number::SHUTDOWN, fd as usize, SHUT_RD, 0) };
}

/// Sends a message: its length, or minus an error number. No SIGPIPE comes of it.
pub fn send(fd: i32, message: &[u8]) -> isize {
    const MSG_NOSIGNAL: usize = 0x4000;
    let (at, len) = (message.as_ptr() as usize, message.len());
    // SAFETY: the kernel reads `len` bytes; no address is passed.
    unsafe { call5(number::SENDTO, fd as usize, at, len, MSG_NOSIGNAL, 0) }
}

/// Receives a message, of which `room` takes the front: its length, 0 if the other end has gone,
/// or minus an error number.
pub fn receive(fd: i32, room: &mut [u8]) -> isize {
    let (to, len) = (room.as_mut_ptr() as usize, room.len());
    // SAFETY: the kernel writes at most `len` bytes.
    unsafe { call3(number::READ, fd as usize, to, len) }
}

/// Waits until something can be read from a descriptor, or its other end has gone; false if
/// nothing came for so long.
pub fn wait_readable(fd: i32, milliseconds: u64) -> bool {
    const POLLIN: u64 = 1;
    // struct pollfd: descriptor, wanted events, those that came.
    let mut poll = u64::from(fd as u32) | POLLIN << 32;
    let time = [milliseconds / 1000, milliseconds % 1000 * 1_000_000];
    let (poll, time) = ((&raw mut poll) as usize, time.as_ptr() as usize);
    // SAFETY: the kernel reads and writes one `struct pollfd` and one `struct timespec`.
    unsafe { call4(number::PPOLL, poll, 1, time, 0) > 0 }
}

/// `geteuid`
pub fn effective_uid() -> u32 {
    // SAFETY: no memory is passed.
    unsafe { call1(number::GETEUID, 0) as u32 }
}
