//! Two processes of a host measure where nobody tells which rank they are.
//!
//! The first to come binds an abstract unix socket named after the launch and keeps it
//! open. Its queue has room for one, and the second to come takes that for as long as the
//! first lives; all others find it full. Nothing is left behind, whatever ends the
//! processes. A process that does not measure makes four system calls.

use topas_format::out::Out;

use crate::sys;

/// A place among those that measure.
#[derive(Clone, Copy)]
pub struct Place {
    /// 0 for the first, 1 for the second
    pub number: u32,
    /// Process id of the first
    pub first: u32,
}

/// `struct sockaddr_un` up to the name: AF_UNIX, and the zero byte of an abstract name.
const FAMILY: [u8; 3] = [1, 0, 0];

/// Claims a place of a launch. None if both are taken.
#[inline(never)]
pub fn claim(launch: u64) -> Option<Place> {
    let mut address = [0; 32];
    let mut out = Out::new(&mut address);
    out.put(&FAMILY).put(b"topas.").hex(launch);
    let fd = sys::unix_socket(sys::SOCK_STREAM);
    let mut place = None;
    if sys::bind(fd, out.text()) == 0 {
        sys::listen(fd);
        // Open as long as the process lives, out of the way.
        sys::move_up(fd, sys::high());
        return Some(Place { number: 0, first: sys::pid() });
    }
    if sys::connect(fd, out.text()) == 0 {
        place = Some(Place { number: 1, first: sys::socket_peer(fd as u32).unwrap_or(0) });
    }
    sys::close(fd);
    place
}
