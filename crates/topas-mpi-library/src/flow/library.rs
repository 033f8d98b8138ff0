//! The MPI below: its family, constants as numbers, and functions of its that are asked.
//!
//! Nothing is believed before it is verified: a status tells what it was told, a byte has the
//! size of a byte, `MPI_PROC_NULL` is where a probe says it is. What does not verify is an MPI that
//! is not known, and none of its arguments is looked at.

use core::cell::UnsafeCell;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_mpi_table::abi::{self, Abi, Handles, Length, Predefined};

use crate::below;
use crate::generated::number;
use crate::sys;

/// A function of MPI whose arguments are words.
type Words = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> i32;

/// What is known of the MPI.
#[derive(Clone, Copy)]
pub struct Library {
    /// Bits of a word that belong to a handle
    pub handle_mask: u64,
    /// Bytes of a handle in memory
    pub handle_size: usize,
    /// Sizes of most datatypes are in their handles
    pub sizes_in_handles: bool,
    /// The family of the MPI
    pub abi: &'static Abi,
    /// `MPI_COMM_WORLD`
    pub comm_world: u64,
    /// `MPI_COMM_SELF`
    pub comm_self: u64,
    /// `MPI_COMM_NULL`
    pub comm_null: u64,
    /// `MPI_BYTE`
    pub byte: u64,
    /// `MPI_BOR`
    pub bit_or: u64,
    /// `MPI_REQUEST_NULL`
    pub request_null: u64,
    /// `MPI_MESSAGE_NO_PROC`
    pub message_no_proc: u64,
    /// `MPI_NO_OP`
    pub no_op: u64,
    /// Requests that many operations share
    pub completed: [u64; 2],
    /// `MPI_IN_PLACE`
    pub in_place: usize,
    /// `MPI_STATUS_IGNORE`
    pub status_ignore: usize,
    /// `MPI_PROC_NULL`
    pub proc_null: i32,
    /// Size of a status in B
    pub status_size: usize,
    /// Offset of its source
    pub status_source: usize,
    /// Offset of its error
    pub status_error: usize,
    /// Where it has the length
    pub length: Length,
}

struct Shared(UnsafeCell<Option<Library>>);

// SAFETY: written once, before `STATE` says that it is there.
unsafe impl Sync for Shared {}

static LIBRARY: Shared = Shared(UnsafeCell::new(None));
static STATE: AtomicU32 = AtomicU32::new(NEW);

/// Nobody asked yet.
const NEW: u32 = 0;
/// Somebody is finding out.
const BUSY: u32 = 1;
/// The MPI is known.
const KNOWN: u32 = 2;
/// The MPI is none that is known.
const UNKNOWN: u32 = 3;

/// The MPI, if it is known by now.
#[inline(always)]
pub fn library() -> Option<&'static Library> {
    if STATE.load(Acquire) != KNOWN {
        return None;
    }
    // SAFETY: written before the state was.
    Some(unsafe { (*LIBRARY.0.get()).as_ref().unwrap_unchecked() })
}

/// The MPI, where it is known by what was done with it.
///
/// # Safety
/// The caller has a ledger: threads have one only if the MPI is known.
#[inline(always)]
pub unsafe fn known() -> &'static Library {
    // SAFETY: written before any ledger was made.
    unsafe { (*LIBRARY.0.get()).as_ref().unwrap_unchecked() }
}

/// Finds out which MPI this is, once a call has shown that it works. False if it is one that is
/// not known.
pub fn find_out() -> bool {
    loop {
        match STATE.load(Acquire) {
            KNOWN => return true,
            UNKNOWN => return false,
            NEW if STATE.compare_exchange(NEW, BUSY, Acquire, Relaxed).is_ok() => break,
            _ => core::hint::spin_loop(),
        }
    }
    let found = abi::ALL.iter().find(|abi| is(abi)).and_then(verified);
    // SAFETY: nobody else writes, and nobody reads before the state tells that it is there.
    unsafe { *LIBRARY.0.get() = found };
    STATE.store(if found.is_some() { KNOWN } else { UNKNOWN }, Release);
    found.is_some()
}

/// Whether nobody has asked yet.
pub fn is_new() -> bool {
    STATE.load(Relaxed) == NEW
}

/// Calls a function of MPI; None if there is none of this number, or it fails.
///
/// # Safety
/// The words are its arguments; those it does not have are ignored.
pub unsafe fn call(function: usize, args: [usize; 6]) -> Option<()> {
    let target = below::own(function);
    if target == 0 {
        return None;
    }
    // SAFETY: a function of MPI that takes words; by the caller these are right. More than it
    // takes do no harm where arguments go in registers.
    let error = unsafe {
        let f = core::mem::transmute::<usize, Words>(target);
        f(args[0], args[1], args[2], args[3], args[4], args[5])
    };
    (error == 0).then_some(())
}

/// Asks for an `int` that is the last of the arguments.
pub fn ask(function: usize, handle: u64) -> Option<i32> {
    let mut answer = 0i32;
    // SAFETY: functions that are asked take a handle and the address of an `int`.
    unsafe { call(function, [handle as usize, (&raw mut answer) as usize, 0, 0, 0, 0]) }?;
    Some(answer)
}

/// Asks for a handle, such as the group of a communicator.
pub fn ask_handle(library: &Library, function: usize, handle: u64) -> Option<u64> {
    let mut answer = 0u64;
    // SAFETY: functions that are asked take a handle and the address of another.
    unsafe { call(function, [handle as usize, (&raw mut answer) as usize, 0, 0, 0, 0]) }?;
    Some(answer & library.handle_mask)
}

/// Whether this looks like a family.
fn is(abi: &Abi) -> bool {
    match abi.comm_world {
        Predefined::Symbol(_) => value(abi.comm_world).is_some(),
        Predefined::Value(_) if abi.standard => {
            let (mut major, mut minor) = (-1i32, -1i32);
            let (major_at, minor_at) = (&raw mut major, &raw mut minor);
            // SAFETY: takes the addresses of two integers.
            let told = unsafe {
                call(number::ABI_GET_VERSION, [major_at as usize, minor_at as usize, 0, 0, 0, 0])
            };
            told.is_some() && major >= 1
        }
        Predefined::Value(_) => {
            // Room of MPI_MAX_LIBRARY_VERSION_STRING: 8,192 is the most of any MPI.
            let mut text = [0u8; 8192 + 1];
            let mut length = 0i32;
            let (text_at, length_at) = (text.as_mut_ptr(), &raw mut length);
            // SAFETY: takes the address of room for a text, and that of an integer.
            let told = unsafe {
                call(
                    number::GET_LIBRARY_VERSION,
                    [text_at as usize, length_at as usize, 0, 0, 0, 0],
                )
            };
            let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
            let text = text.get(..end).unwrap_or_default();
            let says = |words: &&str| {
                let mut rest = (0..text.len()).filter_map(|at| text.get(at..));
                rest.any(|rest| rest.starts_with(words.as_bytes()))
            };
            told.is_some() && abi.says.iter().any(says)
        }
    }
}

/// The number of a predefined object.
fn value(object: Predefined) -> Option<u64> {
    match object {
        Predefined::Value(value) => Some(value),
        Predefined::Symbol(name) => {
            let mut room = [0u8; 64];
            room.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
            let address = match sys::definition(&room) {
                // An MPI that was opened for one library alone.
                0 => sys::next_definition(&room, below::own(number::INITIALIZED)),
                address => address,
            };
            (address != 0).then_some(address as u64)
        }
    }
}

/// The constants of a family, if this MPI bears them out.
fn verified(abi: &'static Abi) -> Option<Library> {
    let pointers = abi.handles == Handles::Pointers;
    let mut completed = [u64::MAX; 2];
    let shared = abi.completed.iter().filter_map(|request| value(*request));
    completed.iter_mut().zip(shared).for_each(|(to, request)| *to = request);
    let byte = value(abi.byte)?;
    let library = Library {
        handle_mask: if pointers { u64::MAX } else { u32::MAX.into() },
        handle_size: if pointers { 8 } else { 4 },
        sizes_in_handles: abi.sizes_in_handles,
        abi,
        comm_world: value(abi.comm_world)?,
        comm_self: value(abi.comm_self)?,
        comm_null: value(abi.comm_null)?,
        byte,
        bit_or: value(abi.bit_or)?,
        request_null: value(abi.request_null)?,
        message_no_proc: value(abi.message_no_proc).unwrap_or(u64::MAX),
        no_op: value(abi.no_op).unwrap_or(u64::MAX),
        completed,
        in_place: abi.in_place as usize,
        status_ignore: abi.status_ignore as usize,
        proc_null: abi.proc_null,
        status_size: abi.status.size,
        status_source: abi.status.source,
        status_error: abi.status.error,
        length: verified_length(abi, byte)?,
    };
    (ask(number::TYPE_SIZE, byte)? == 1 && finds_nobody(&library)).then_some(library)
}

/// Whether there is a world.
pub fn is_initialized() -> bool {
    let mut initialized = 0i32;
    let at = (&raw mut initialized) as usize;
    // SAFETY: takes the address of an integer.
    let asked = unsafe { call(number::INITIALIZED, [at, 0, 0, 0, 0, 0]) };
    asked.is_some() && initialized != 0
}

/// How threads may call, in the constants of the MPI.
pub fn provided() -> Option<i32> {
    let mut provided = 0i32;
    // SAFETY: takes the address of an integer.
    unsafe { call(number::QUERY_THREAD, [(&raw mut provided) as usize, 0, 0, 0, 0, 0]) }?;
    Some(provided)
}

/// Longer than any status.
pub const STATUS_ROOM: usize = 64;

/// The place in a status that tells the length it was told.
fn verified_length(abi: &Abi, byte: u64) -> Option<Length> {
    abi.status.length.iter().copied().find(|length| {
        [0x1234_5678u64, 0, 0x0765_4321].iter().all(|bytes| {
            let mut status = [0u8; STATUS_ROOM];
            let at = status.as_mut_ptr() as usize;
            // SAFETY: room for any status, a datatype, a count.
            let told = unsafe {
                call(number::STATUS_SET_ELEMENTS, [at, byte as usize, *bytes as usize, 0, 0, 0])
                    .and_then(|()| {
                        call(number::STATUS_SET_CANCELLED, [at, 1, 0, 0, 0, 0])?;
                        let set = is_cancelled(*length, &raw const status[0]);
                        call(number::STATUS_SET_CANCELLED, [at, 0, 0, 0, 0, 0])?;
                        let clear = !is_cancelled(*length, &raw const status[0]);
                        (set && clear).then_some(())
                    })
            };
            // SAFETY: a status of this size at least.
            told.is_some() && unsafe { bytes_in(*length, &raw const status[0]) } == *bytes
        })
    })
}

/// Whether a probe for a message of nobody finds one, as the standard demands.
fn finds_nobody(library: &Library) -> bool {
    if !is_initialized() {
        // There is no world, but there may be sessions.
        return true;
    }
    let mut flag = 0i32;
    let mut status = [0u64; STATUS_ROOM / 8];
    let args = [
        library.proc_null as usize,
        0,
        library.comm_world as usize,
        (&raw mut flag) as usize,
        status.as_mut_ptr() as usize,
        0,
    ];
    // SAFETY: source, tag, communicator, room for a flag and a status.
    let found = unsafe { call(number::IPROBE, args) };
    let status = status.as_ptr().cast();
    // SAFETY: a status of this MPI.
    let (source, bytes) = unsafe { (source_in(library, status), bytes_in(library.length, status)) };
    found.is_some() && flag != 0 && source == library.proc_null && bytes == 0
}

/// The length in B that a status tells.
///
/// # Safety
/// `status` is one.
#[inline(always)]
pub unsafe fn bytes_in(length: Length, status: *const u8) -> u64 {
    // SAFETY: places in the status.
    unsafe {
        match length {
            Length::Word { at, .. } => status.add(at).cast::<u64>().read_unaligned(),
            Length::Halves { at } => {
                let low = status.add(at).cast::<u32>().read_unaligned();
                let high = status.add(at + 4).cast::<u32>().read_unaligned();
                u64::from(low) | u64::from(high >> 1) << 32
            }
        }
    }
}

/// Whether a status tells that the message was cancelled.
///
/// # Safety
/// `status` is one.
#[inline(always)]
pub unsafe fn is_cancelled(length: Length, status: *const u8) -> bool {
    // SAFETY: places in the status.
    unsafe {
        match length {
            Length::Word { cancelled, .. } => {
                status.add(cancelled).cast::<i32>().read_unaligned() != 0
            }
            Length::Halves { at } => status.add(at + 4).cast::<u32>().read_unaligned() & 1 != 0,
        }
    }
}

/// The rank that a status names as the source.
///
/// # Safety
/// `status` is one.
#[inline(always)]
pub unsafe fn source_in(library: &Library, status: *const u8) -> i32 {
    // SAFETY: a place in the status.
    unsafe { status.add(library.status_source).cast::<i32>().read_unaligned() }
}

/// From whom a message came, and its tag, which stands behind the source in all families.
///
/// # Safety
/// `status` is that of a receive.
#[inline(always)]
pub unsafe fn source_and_tag_in(library: &Library, status: *const u8) -> (i32, i32) {
    // SAFETY: places in the status.
    unsafe {
        let tag = status.add(library.status_source + 4).cast::<i32>().read_unaligned();
        (source_in(library, status), tag)
    }
}

/// The error that a status tells; of calls for many requests only.
///
/// # Safety
/// `status` is one.
#[inline(always)]
pub unsafe fn error_in(library: &Library, status: *const u8) -> i32 {
    // SAFETY: a place in the status.
    unsafe { status.add(library.status_error).cast::<i32>().read_unaligned() }
}

/// The handle at this place of an array of handles.
///
/// # Safety
/// The array is there, and long enough.
#[inline(always)]
pub unsafe fn handle_at(library: &Library, array: usize, place: usize) -> u64 {
    // SAFETY: by the caller.
    unsafe {
        if library.handle_size == 8 {
            *(array as *const u64).add(place)
        } else {
            u64::from(*(array as *const u32).add(place))
        }
    }
}

/// `MPI_BYTE` and `MPI_COMM_WORLD` as a program passes them; None if the MPI is not known.
pub fn byte_and_world() -> Option<(usize, usize)> {
    library().map(|library| (library.byte as usize, library.comm_world as usize))
}
