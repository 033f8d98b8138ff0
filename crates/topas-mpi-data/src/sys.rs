//! The system call that no library here makes safe.

/// Removes a set of semaphores of System V, if this user may.
pub(crate) fn remove_semaphores(id: u32) {
    // SAFETY: takes numbers alone; a set that is not there is an error.
    unsafe { libc::semctl(id.cast_signed(), 0, libc::IPC_RMID) };
}
