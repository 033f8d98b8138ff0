//! The system's answers to the questions of `topas-launch`.

use topas_format::out::Out;
use topas_format::text::Cursor;
use topas_launch::Proof;
use topas_launch::hash::Fnv;

use crate::sys;

/// Asks the kernel.
pub struct Kernel;

impl Proof for Kernel {
    fn own_pid(&mut self) -> u32 {
        sys::pid()
    }

    fn peer(&mut self, fd: u32) -> Option<u32> {
        sys::socket_peer(fd)
    }

    #[inline(never)]
    fn control_port(&mut self, pid: u32) -> Option<u64> {
        let mut path = [0; 32];
        let mut path = Out::new(&mut path);
        path.put(b"/proc/").dec(pid.into()).put(b"/cmdline\0");
        let mut line = [0; 1024];
        let mut line = Cursor::new(sys::open_to_read(path.text()).ok()?.read(&mut line));
        while !line.rest.is_empty() {
            if line.until(0) == b"--control-port" {
                return Some(Fnv::new().with(line.until(0)).value());
            }
        }
        None
    }
}
