//! Two processes of a host measure where nobody tells which rank they are.
//!
//! The first to come binds an abstract unix socket named after the launch and keeps it
//! open. Its queue has room for one, and the second to come takes that for as long as the
//! first lives; all others find it full. Nothing is left behind, whatever ends the
//! processes. A process that does not measure makes four system calls, unless it comes while the
//! first one has the name and does not listen yet.

use crate::state::out;
use crate::sys;

/// `struct sockaddr_un` up to the launch: AF_UNIX, the zero byte of an abstract name.
const ADDRESS: &[u8] = b"\x01\0\0topas.";

/// How often, a millisecond apart, a process looks again if the first one has the name and does
/// not listen yet, or has just ended: on a busy machine the kernel may stop that one for so long.
const ATTEMPTS: u32 = 64;

/// Claims one of the two places of a launch: the process id of the first to come, which is
/// this one's own in the first place; 0 if both are taken.
#[inline(never)]
pub fn claim(launch: u64) -> u32 {
    let name = out().put(ADDRESS).hex(launch).text();
    let fd = sys::unix_socket(sys::SOCK_STREAM);
    let mut first = 0;
    for _ in 0..ATTEMPTS {
        if sys::bind(fd, name) == 0 {
            sys::listen(fd, 0);
            // Open as long as the process lives, out of the way.
            sys::move_up(fd, sys::high());
            return sys::pid();
        }
        let result = sys::connect(fd, name);
        if result == 0 {
            first = sys::socket_peer(fd as u32).unwrap_or(0);
        }
        if result != -sys::ECONNREFUSED {
            break;
        }
        sys::sleep_a_millisecond();
    }
    sys::close(fd);
    first
}
