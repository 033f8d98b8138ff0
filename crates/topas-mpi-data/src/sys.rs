//! The system calls that no library here makes safe.

/// Removes a set of semaphores of System V, if this user may.
pub(crate) fn remove_semaphores(id: u32) {
    // SAFETY: takes numbers alone; a set that is not there is an error.
    unsafe { libc::semctl(id.cast_signed(), 0, libc::IPC_RMID) };
}

/// The value of a semaphore of a set, if this user may see it.
pub(crate) fn semaphore(id: u32, place: u32) -> Option<u32> {
    // SAFETY: asks for a number.
    let value = unsafe { libc::semctl(id.cast_signed(), place.cast_signed(), libc::GETVAL) };
    u32::try_from(value).ok()
}
