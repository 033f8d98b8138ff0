//! A process without a launcher's processes around it.

use topas_launch::Proof;

/// Answers like a kernel that finds no launcher: pid 1, no peers, no ports.
#[derive(Clone, Copy, Debug)]
pub struct ProcessAlone;

impl Proof for ProcessAlone {
    fn own_pid(&mut self) -> u32 {
        1
    }

    fn peer(&mut self, _: u32) -> Option<u32> {
        None
    }

    fn control_port(&mut self, _: u32) -> u64 {
        0
    }
}
