//! The frame of a call: what the assembly puts on the stack, and what is kept in it from before the
//! call until after it.

use core::mem::{MaybeUninit, offset_of};

use crate::requests::{FoundRequest, RequestEntry};
use crate::symbol::StubSymbol;

/// Most words that any function has in any language.
pub const WORDS: usize = 16;

/// The frame of a call, on the stack of the program. Nothing of it is initialized but what
/// `enter` was passed.
#[repr(C, align(16))]
pub struct Frame {
    /// Words behind those in registers, where the callee finds them
    pub outgoing: [usize; WORDS - 6],
    /// The arguments as the program passed them; what is changed here is what the callee gets
    pub args: [usize; WORDS],
    /// What the callee returned
    pub result: usize,
    /// What it returned if that is a floating point number
    double: u64,
    /// Ticks at the beginning of the call
    pub began: u64,
    /// The function, and its name
    pub symbol: StubSymbol,
    /// What `flow` keeps from before the call until after it
    pub kept: CallNotes,
    /// Vector registers, which the assembly keeps if they may hold arguments
    vectors: [u128; 9],
}

impl Frame {
    /// What lies behind the frame: a word of the assembly's, the return address, and the words of
    /// arguments that are not in registers.
    #[inline(always)]
    fn behind(&self, words: usize) -> *const usize {
        (&raw const *self).wrapping_add(1).cast::<usize>().wrapping_add(words)
    }

    /// Arguments behind those in registers; where the stack pointer of the caller was.
    #[inline(always)]
    pub fn stack(&self) -> *const usize {
        self.behind(2)
    }

    /// Frame pointer of the caller. On x86-64 the assembly keeps it only while something
    /// is switched on.
    #[inline(always)]
    pub fn base(&self) -> usize {
        // SAFETY: the word between the frame and the return address.
        unsafe { *self.behind(0) }
    }

    /// Address to which the call returns: who called.
    #[inline(always)]
    pub fn caller(&self) -> usize {
        // SAFETY: the assembly makes frames below their return address.
        unsafe { *self.behind(1) }
    }

    /// Number of the function.
    #[inline(always)]
    pub fn function(&self) -> usize {
        self.symbol.function() as usize
    }

    /// Changes an argument of the call.
    #[inline(always)]
    pub fn pass(&mut self, place: usize, word: usize) {
        *crate::element::element_mut(&mut self.args, place) = word;
        if let Some(place) = place.checked_sub(crate::arch::REGISTERS)
            && let Some(outgoing) = self.outgoing.get_mut(place)
        {
            *outgoing = word;
        }
    }
}

/// Size of the frame, and places in it, for the assembly.
pub const FRAME: usize = size_of::<Frame>();
/// See [`FRAME`].
pub const ARGUMENTS: usize = offset_of!(Frame, args);
/// See [`FRAME`].
pub const RESULT: usize = offset_of!(Frame, result);
/// See [`FRAME`].
pub const DOUBLE: usize = offset_of!(Frame, double);
/// See [`FRAME`].
pub const VECTORS: usize = offset_of!(Frame, vectors);

const _: () = assert!(FRAME.is_multiple_of(16));

/// What is kept from before a call until after it, in its frame.
#[repr(C, align(16))]
pub struct CallNotes {
    /// A status
    pub status: [u64; 8],
    /// For `flow::waits`: the number of the collective that the rank came to, plus 1; 0 if none is
    /// known
    pub came: u64,
    /// For `flow::waits`: where it knows who comes to the collective, plus 1; 0 if it does not
    pub gathering: usize,
    /// For the event log and call paths: what calls of the function had moved before this one was counted
    pub moved: [u64; 2],
    /// Room for one request
    pub one: MaybeUninit<PendingRequest>,
    /// Requests of the call
    pub pending: *mut PendingRequest,
    /// How many
    pub count: usize,
    /// Requests that are started, as they were before
    pub handles: *mut u64,
    /// The communicator of a message that is received, if it is known
    pub message: MaybeUninit<RequestEntry>,
}

/// A request of a call.
#[derive(Clone, Copy)]
pub struct PendingRequest {
    /// Where it is; None of those that many operations share
    pub found: Option<FoundRequest>,
    /// The place of the request among those of the call
    pub place: u32,
    /// What it is, if it was not this thread that was given it: who was may be given another by
    /// the same handle before we come to read it
    pub entry: MaybeUninit<RequestEntry>,
}
