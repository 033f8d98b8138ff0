//! The kernel's answers to the questions by which `topas-launch` proves a launch.

use topas_format::out::Out;
use topas_launch::Proof;
use topas_launch::proxy::control_port;

use crate::sys;

/// Asks the kernel about this process, and about the one that started it.
pub struct KernelProof<'b> {
    /// Takes a command line, of which `COMMAND_LINE` bytes of `topas_launch::proxy` count
    pub room: &'b mut [u8],
}

impl Proof for KernelProof<'_> {
    fn own_pid(&mut self) -> u32 {
        sys::pid()
    }

    fn peer(&mut self, fd: u32) -> Option<u32> {
        sys::socket_peer(fd)
    }

    fn control_port(&mut self, pid: u32) -> u64 {
        let mut path = [0; 32];
        let mut path = Out::new(&mut path);
        path.put(b"/proc/").dec(pid.into()).put(b"/cmdline");
        control_port(sys::load(sys::path(&mut path), self.room))
    }
}
