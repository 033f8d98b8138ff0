//! When a process was killed: nobody is there to note it but the kernel.
//!
//! A semaphore of System V is raised with `SEM_UNDO`. The kernel takes that back when the process
//! ends, however it ends, and notes when it did. So a call in which a rank hung until it was killed
//! has its time. Whoever collects the rank's counters reads the moment in `/proc/sysvipc/sem` and
//! removes the semaphore; a rank that ends by itself removes its own.

use topas_mpi_profile::layout::Header;

use crate::sys;

/// The part of the node's sets of semaphores up to which we take one: what nobody collects must
/// leave room for others.
const SHARE: u32 = 4;

/// Has the kernel note the end of this process, if it can.
pub fn begin(header: &mut Header) {
    let Some((used, most)) = sys::semaphores() else { return };
    if used < most / SHARE {
        header.life = sys::new_semaphore().map_or(0, |id| id + 1);
    }
}

/// The end is known, or is not to be told.
pub fn end(header: &mut Header) {
    if let Some(id) = core::mem::take(&mut header.life).checked_sub(1) {
        sys::remove_semaphore(id);
    }
}
