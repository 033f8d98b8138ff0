//! All ranks together at the end: a communicator of our own, and messages on it.
//!
//! Nobody may wait for a rank that is not profiled: whoever launches may have had the library
//! loaded into some ranks only. So all wait first, for some time, until all are there
//! (`MPI_Ibarrier`, which needs no answer); who has waited too long goes on alone, and the others
//! with it. An end that is later than that for other reasons costs the record, not the run.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use topas_node::sys as kernel;

use crate::flow::library::{self, call, library};
use crate::generated::number;
use crate::sys;

/// Longest time that ranks wait for each other.
const PATIENCE: u64 = 30_000_000_000;

/// For so long they ask again at once, nanoseconds; then every millisecond.
const IMPATIENT: u64 = 20_000_000;

/// Not all ranks came.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// A communicator of all ranks.
pub struct Ranks {
    communicator: u64,
    byte: usize,
    /// This rank
    pub rank: u32,
    /// How many there are
    pub size: u32,
}

/// Tag of all messages, on a communicator on which there are no others.
const TAG: usize = 1;

impl Ranks {
    /// Of all, once all have come here. None if they do not, or the MPI is not known.
    pub fn gather(rank: u32, size: u32) -> Option<Ranks> {
        let world = library()?.comm_world as usize;
        // Who has waited in vain once does not wait again.
        if size > 1 && (GIVEN_UP.load(Relaxed) || !all_are_there(world)) {
            GIVEN_UP.store(true, Relaxed);
            return None;
        }
        // By its group: a duplicate would call the program's callbacks for attributes.
        let group = library::ask_handle(library()?, number::COMM_GROUP, world as u64)?;
        let (mut communicator, mut group_kept) = (0u64, group);
        let made = (&raw mut communicator) as usize;
        // SAFETY: communicator, group, and the address of a handle.
        let done = unsafe { call(number::COMM_CREATE, [world, group as usize, made, 0, 0, 0]) };
        // SAFETY: the address of a handle.
        unsafe { call(number::GROUP_FREE, [(&raw mut group_kept) as usize, 0, 0, 0, 0, 0]) };
        done?;
        Some(Ranks { communicator, byte: library()?.byte as usize, rank, size })
    }

    /// Frees the communicator.
    pub fn part(mut self) {
        let at = (&raw mut self.communicator) as usize;
        // SAFETY: the address of its handle.
        unsafe { call(number::COMM_FREE, [at, 0, 0, 0, 0, 0]) };
    }

    /// Sends bytes, and returns when they have been received: no rank fills the memory of another
    /// with what that has not asked for.
    #[must_use]
    pub fn send(&self, to: u32, bytes: &[u8]) -> bool {
        let at = bytes.as_ptr() as usize;
        let communicator = self.communicator as usize;
        // SAFETY: a buffer of that many bytes.
        unsafe {
            call(number::SSEND, [at, bytes.len(), self.byte, to as usize, TAG, communicator])
                .is_some()
        }
    }

    /// Receives a message into the room, which is as long as any.
    #[must_use]
    pub fn receive(&self, from: u32, room: &mut [u8]) -> bool {
        /// `MPI_Recv`, whose arguments are words here.
        type Receive = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize, usize) -> i32;
        let target = crate::below::own(number::RECV);
        if target == 0 {
            return false;
        }
        let mut status = [0u64; library::STATUS_ROOM / 8];
        let (at, length) = (room.as_mut_ptr() as usize, room.len());
        let status_at = status.as_mut_ptr() as usize;
        // SAFETY: the standard's declaration; a buffer of that many bytes, and room for a status.
        let error = unsafe {
            let receive = core::mem::transmute::<usize, Receive>(target);
            let communicator = self.communicator as usize;
            receive(at, length, self.byte, from as usize, TAG, communicator, status_at)
        };
        error == 0
    }

    /// One byte of rank 0 for all.
    #[must_use]
    pub fn told(&self, byte: u8) -> Option<u8> {
        let mut told = byte;
        let at = (&raw mut told) as usize;
        // SAFETY: a buffer of one byte.
        unsafe { call(number::BCAST, [at, 1, self.byte, 0, self.communicator as usize, 0]) }?;
        Some(told)
    }
}

/// Waits until all ranks are there, at most for some time.
fn all_are_there(world: usize) -> bool {
    let mut request = 0u64;
    let at = (&raw mut request) as usize;
    // SAFETY: a communicator and the address of a handle.
    if unsafe { call(number::IBARRIER, [world, at, 0, 0, 0, 0]) }.is_none() {
        return false;
    }
    let began = sys::monotonic();
    loop {
        let mut flag = 0i32;
        let mut status = [0u64; library::STATUS_ROOM / 8];
        let flag_at = (&raw mut flag) as usize;
        let status_at = status.as_mut_ptr() as usize;
        // SAFETY: the addresses of a handle, an integer, and room for a status.
        let tested = unsafe { call(number::TEST, [at, flag_at, status_at, 0, 0, 0]) };
        if tested.is_none() || flag != 0 {
            return tested.is_some();
        }
        let waited = sys::monotonic().saturating_sub(began);
        if waited > PATIENCE {
            return false;
        }
        if waited > IMPATIENT {
            kernel::sleep_a_millisecond();
        } else {
            sys::give_way();
        }
    }
}
