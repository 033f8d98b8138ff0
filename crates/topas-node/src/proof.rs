//! The kernel's answers to the questions by which `topas-launch` proves a launch.

use topas_format::out::Out;
use topas_launch::Proof;
use topas_launch::proxy::control_port;

use crate::sys;

/// Asks the kernel about this process, and about the one that started it.
pub struct KernelProof<'b, P = OnStack> {
    /// Takes a command line, of which `COMMAND_LINE` bytes of `topas_launch::proxy` count
    pub room: &'b mut [u8],
    /// Takes the path of a command line
    pub path: P,
}

/// Where a short path is written. The module has a static text for it, which is 32 bytes of code
/// less than one on the stack.
pub trait PathRoom {
    /// Does something with an empty text.
    fn with(&mut self, act: impl FnOnce(&mut Out<'_>) -> u64) -> u64;
}

/// The path is written on the stack.
pub struct OnStack;

impl PathRoom for OnStack {
    fn with(&mut self, act: impl FnOnce(&mut Out<'_>) -> u64) -> u64 {
        let mut room = [0; 32];
        act(&mut Out::new(&mut room))
    }
}

impl<P: PathRoom> Proof for KernelProof<'_, P> {
    fn own_pid(&mut self) -> u32 {
        sys::pid()
    }

    fn peer(&mut self, fd: u32) -> Option<u32> {
        sys::socket_peer(fd)
    }

    fn control_port(&mut self, pid: u32) -> u64 {
        self.path.with(|path| {
            path.put(b"/proc/").dec(pid.into()).put(b"/cmdline");
            control_port(sys::load(sys::path(path), self.room))
        })
    }
}
