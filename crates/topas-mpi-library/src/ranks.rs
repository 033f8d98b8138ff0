//! All ranks together at the end: a communicator of our own, and messages on it.
//!
//! Nobody may wait for a rank that is not profiled: whoever launches may have had the library
//! loaded into some ranks only. Where that is known ([`absent`]), nobody begins. Otherwise all wait
//! first, for some time, until all are there; who has waited too long goes on alone, and the others
//! with it. An end that is later than that for other reasons costs the record, not the run.
//!
//! No call blocks. Where there are more ranks than processors, an MPI that waits in a loop of its
//! own takes the time of the rank that it waits for; here the processor is given away.

use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use topas_node::sys as kernel;

use crate::flow::library::{self, Library, call, library};
use crate::generated::number;
use crate::{absent, below, spool, sys};

/// Longest time that ranks wait for each other, in nanoseconds.
const PATIENCE: u64 = 30_000_000_000;

/// For so long they ask again at once; then every millisecond.
const IMPATIENT: u64 = 20_000_000;

/// Not all ranks came.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Whether this rank has waited for the others in vain.
pub fn has_given_up() -> bool {
    GIVEN_UP.load(Relaxed)
}

/// Bits that all ranks tell each other when they come.
pub mod bit {
    /// The user wants files.
    pub const WANTED: u8 = 1;
    /// The program may have attributes, whose callbacks a duplicate would call.
    pub const ATTRIBUTES: u8 = 2;
    /// Waits are told apart.
    pub const WAITS: u8 = 4;
}

/// What this rank tells, and what all together did. They stay where they are, because nobody
/// takes back the call of a rank that has given up.
static TOLD: AtomicU8 = AtomicU8::new(0);
static HEARD: AtomicU8 = AtomicU8::new(0);
static COMING: AtomicU64 = AtomicU64::new(0);

/// A communicator of all ranks.
pub struct Ranks {
    communicator: u64,
    byte: usize,
    /// This rank
    pub rank: u32,
    /// How many there are
    pub size: u32,
    /// Some rank's user wants files
    pub wanted: bool,
    /// Some rank tells waits apart
    pub waits: bool,
}

/// Bytes of a message at most: few enough for any MPI to send them without an answer. Where MPICH
/// 4.0.2 sends by TCP, a rank that has answered such a message just before `MPI_Finalize`, or the
/// `MPI_Ssend` of another rank, waits there for ever for an end that the other has left.
const PIECE: usize = 4096;

/// Tag of all messages, on a communicator on which there are no others.
const TAG: usize = 1;

impl Ranks {
    /// Of one rank that is all there are.
    pub fn alone(wanted: bool) -> Ranks {
        Ranks { communicator: 0, byte: 0, rank: 0, size: 1, wanted, waits: false }
    }

    /// Of all, once all have come here. None if they do not, or the MPI is not known.
    pub fn gather(rank: u32, size: u32, wanted: bool) -> Option<Ranks> {
        let library = library()?;
        let told = if wanted { bit::WANTED } else { 0 };
        let told = told | if has_attributes() { bit::ATTRIBUTES } else { 0 };
        let told = told | if crate::flow::waits::is_on() { bit::WAITS } else { 0 };
        // Who has waited in vain once does not wait again.
        let in_vain = has_given_up() || absent::is_known();
        let heard = if in_vain { None } else { all_come(library, told) };
        let Some(told) = heard else {
            GIVEN_UP.store(true, Relaxed);
            return None;
        };
        Some(Ranks {
            communicator: own_communicator(library, told & bit::ATTRIBUTES != 0)?,
            byte: library.byte as usize,
            rank,
            size,
            wanted: told & bit::WANTED != 0,
            waits: told & bit::WAITS != 0,
        })
    }

    /// Frees the communicator.
    pub fn part(mut self) {
        if self.size == 1 {
            return;
        }
        let at = (&raw mut self.communicator) as usize;
        // SAFETY: the address of its handle.
        unsafe { call(number::COMM_FREE, [at, 0, 0, 0, 0, 0]) };
    }

    /// Sends a message, whose first 4 bytes tell how many follow its front, when the other rank asks
    /// for it: so no rank fills the memory of another.
    #[must_use]
    pub fn send(&self, to: u32, message: &[u8]) -> bool {
        self.take(to, &mut [0]) && message.chunks(PIECE).all(|piece| self.give(to, piece))
    }

    /// Asks for a message, and receives it into the room, which is as long as any. Its first piece
    /// tells how long it is; `front` is the length of its front.
    #[must_use]
    pub fn receive(&self, from: u32, room: &mut [u8], front: usize) -> bool {
        let Some((first, rest)) = room.split_at_mut_checked(PIECE) else { return false };
        if !self.give(from, &[1]) || !self.take(from, first) {
            return false;
        }
        let follow = first.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let rest = rest.get_mut(..(front + follow as usize).saturating_sub(PIECE));
        rest.is_some_and(|rest| rest.chunks_mut(PIECE).all(|piece| self.take(from, piece)))
    }

    fn give(&self, to: u32, bytes: &[u8]) -> bool {
        self.message(number::ISEND, bytes.as_ptr() as usize, bytes.len(), to)
    }

    fn take(&self, from: u32, room: &mut [u8]) -> bool {
        self.message(number::IRECV, room.as_mut_ptr() as usize, room.len(), from)
    }

    fn message(&self, function: usize, at: usize, length: usize, other: u32) -> bool {
        let mut request = 0u64;
        let communicator = self.communicator as usize;
        let request_at = (&raw mut request) as usize;
        let args = [at, length, self.byte, other as usize, TAG, communicator, request_at, 0];
        // SAFETY: a buffer of that many bytes, which stays until the request is complete; the
        // address of a handle.
        unsafe { call_with_eight(function, args) }.is_some() && is_done(request_at, u64::MAX)
    }

    /// Sends to one rank, and receives from another, which does the same, so many bytes: either may
    /// be nobody. False if that has not come to its end after some time.
    ///
    /// # Safety
    /// Both buffers stay for good where this returns false.
    #[must_use]
    pub unsafe fn swap(&self, to: Option<(u32, &[u8])>, from: Option<(u32, &mut [u8])>) -> bool {
        const SWAP: usize = TAG + 1;
        let mut requests = [0u64; 2];
        let [receive, send] = requests.each_mut().map(|request| &raw mut *request as usize);
        let communicator = self.communicator as usize;
        let mut good = true;
        let (takes, gives) = (from.is_some(), to.is_some());
        if let Some((rank, room)) = from {
            let (at, length) = (room.as_mut_ptr() as usize, room.len());
            let args = [at, length, self.byte, rank as usize, SWAP, communicator, receive, 0];
            // SAFETY: as in `message`, by the caller.
            good = unsafe { call_with_eight(number::IRECV, args) }.is_some();
        }
        if let Some((rank, bytes)) = to
            && good
        {
            let (at, length) = (bytes.as_ptr() as usize, bytes.len());
            let args = [at, length, self.byte, rank as usize, SWAP, communicator, send, 0];
            // SAFETY: as above.
            good = unsafe { call_with_eight(number::ISEND, args) }.is_some();
        }
        good && (!takes || is_done(receive, PATIENCE)) && (!gives || is_done(send, PATIENCE))
    }

    /// So many bytes of each rank for all, or, if each has another part for each, by that.
    ///
    /// # Safety
    /// There are so many bytes at `own`, times the number of ranks if each gets its part, and times
    /// that number at `all`; they stay for good where this returns false.
    #[must_use]
    pub unsafe fn all(&self, own: *const u8, bytes: usize, all: *mut u8, parts: bool) -> bool {
        let mut request = 0u64;
        let request_at = (&raw mut request) as usize;
        let function = if parts { number::IALLTOALL } else { number::IALLGATHER };
        let communicator = self.communicator as usize;
        let (own, all, byte) = (own as usize, all as usize, self.byte);
        let args = [own, bytes, byte, all, bytes, byte, communicator, request_at];
        // SAFETY: by the caller.
        unsafe { call_with_eight(function, args) }.is_some() && is_done(request_at, PATIENCE)
    }
}

/// Calls a function of MPI that has up to eight arguments; None if there is none, or it fails.
///
/// # Safety
/// The words are its arguments.
pub unsafe fn call_with_eight(function: usize, a: [usize; 8]) -> Option<()> {
    type Words =
        unsafe extern "C" fn(usize, usize, usize, usize, usize, usize, usize, usize) -> i32;
    let target = below::own(function);
    if target == 0 {
        return None;
    }
    // SAFETY: a function of MPI that takes words; by the caller these are right.
    let error = unsafe {
        let f = core::mem::transmute::<usize, Words>(target);
        f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7])
    };
    (error == 0).then_some(())
}

/// Whether the program has made keys of attributes.
fn has_attributes() -> bool {
    [number::COMM_CREATE_KEYVAL, number::KEYVAL_CREATE].into_iter().any(|function| {
        spool::blocks().any(|block| block.rows.get(function).is_some_and(|row| row.calls > 0))
    })
}

/// Waits until all ranks are there, at most for some time: what they tell, all bits together.
fn all_come(library: &Library, told: u8) -> Option<u8> {
    TOLD.store(told, Relaxed);
    let request_at = COMING.as_ptr() as usize;
    let args = [
        TOLD.as_ptr() as usize,
        HEARD.as_ptr() as usize,
        1,
        library.byte as usize,
        library.bit_or as usize,
        library.comm_world as usize,
        request_at,
        0,
    ];
    // SAFETY: two buffers of one byte that are there for good, and the address of a handle.
    unsafe { call_with_eight(number::IALLREDUCE, args) }?;
    is_done(request_at, PATIENCE).then(|| HEARD.load(Acquire))
}

/// A communicator like the world: a duplicate, which does not block, unless the program's
/// callbacks for attributes would be called.
fn own_communicator(library: &Library, attributes: bool) -> Option<u64> {
    let world = library.comm_world as usize;
    let (mut communicator, mut request) = (0u64, 0u64);
    let made = (&raw mut communicator) as usize;
    if !attributes {
        let request_at = (&raw mut request) as usize;
        // SAFETY: a communicator, and the addresses of two handles.
        unsafe { call(number::COMM_IDUP, [world, made, request_at, 0, 0, 0]) }?;
        return is_done(request_at, u64::MAX).then_some(communicator);
    }
    let mut group = library::ask_handle(library, number::COMM_GROUP, world as u64)?;
    // SAFETY: communicator, group, and the address of a handle.
    let done = unsafe { call(number::COMM_CREATE, [world, group as usize, made, 0, 0, 0]) };
    // SAFETY: the address of a handle.
    unsafe { call(number::GROUP_FREE, [(&raw mut group) as usize, 0, 0, 0, 0, 0]) };
    done.map(|()| communicator)
}

/// Waits for a request, at most so many nanoseconds. False if it is not done then, or failed.
fn is_done(request_at: usize, patience: u64) -> bool {
    let mut began = 0;
    loop {
        let mut flag = 0i32;
        let mut status = [0u64; library::STATUS_ROOM / 8];
        let flag_at = (&raw mut flag) as usize;
        let status_at = status.as_mut_ptr() as usize;
        // SAFETY: the addresses of a handle, an integer, and room for a status.
        let tested = unsafe { call(number::TEST, [request_at, flag_at, status_at, 0, 0, 0]) };
        if tested.is_none() || flag != 0 {
            return tested.is_some();
        }
        let now = sys::monotonic();
        if began == 0 {
            began = now;
        }
        let waited = now.saturating_sub(began);
        if waited > patience {
            return false;
        }
        if waited > IMPATIENT {
            kernel::sleep_a_millisecond();
        } else {
            sys::give_way();
        }
    }
}
