//! The system's answers to the questions of `topas-launch`.

use topas_format::hash::{Fnv, word};
use topas_format::text::Cursor;
use topas_launch::Proof;

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
        const OPTION: u32 = word(b"--control-port");
        let path = out().put(b"/proc/").dec(pid.into()).put(b"/cmdline");
        let mut line = Cursor::new(sys::load(sys::path(path), self.0));
        while !line.rest.is_empty() {
            if word(line.until(0)) == OPTION {
                return Fnv::new().with(line.until(0)).value();
            }
        }
        0
    }
}
