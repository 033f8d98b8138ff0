//! The system's answers to the questions of `topas-launch`.

use topas_launch::Proof;
use topas_launch::proxy::control_port;

use crate::state::out;
use crate::sys;

/// Asks the kernel, with room for a command line.
pub struct Kernel<'b>(pub &'b mut [u8]);

impl Proof for Kernel<'_> {
    fn own_pid(&mut self) -> u32 {
        sys::pid()
    }

    fn peer(&mut self, fd: u32) -> Option<u32> {
        sys::socket_peer(fd)
    }

    fn control_port(&mut self, pid: u32) -> u64 {
        let path = out().put(b"/proc/").dec(pid.into()).put(b"/cmdline");
        control_port(sys::load(sys::path(path), self.0))
    }
}
