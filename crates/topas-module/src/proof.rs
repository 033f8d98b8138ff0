//! The system's answers to the questions of `topas-launch`.

use topas_format::out::Out;
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

    fn control_port(&mut self, pid: u32) -> Option<u64> {
        let mut path = [0; 32];
        let mut path = Out::new(&mut path);
        path.put(b"/proc/").dec(pid.into()).put(b"/cmdline\0");
        let mut line = [0; 1024];
        let line = sys::open(path.text(), sys::O_RDONLY | sys::O_CLOEXEC, 0).ok()?.read(&mut line);
        let mut words = line.split(|b| *b == 0);
        words.find(|word| *word == b"--control-port")?;
        words.next().map(|port| Fnv::new().with(port).value())
    }
}
