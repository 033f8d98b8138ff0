//! What the way of a call needs to know of its function.

// Done by the compiler: what panics is an error of the build.
#![allow(clippy::indexing_slicing)]

use topas_mpi_profile::layout::FUNCTIONS;
use topas_mpi_profile::layout::now::peer_place;
use topas_mpi_table::CHAPTERS;

use crate::arch::REGISTERS;
use crate::flow::plan::{Hot, NONE, PLANS};
use crate::flow::waits::role::ROLES;
use crate::symbol::{FUNCTION_ROOM, StubBinding};

/// A function, as the way of its calls sees it.
#[derive(Clone, Copy)]
pub struct Descriptor {
    /// Words of its arguments in C
    words: u8,
    /// Words in Fortran, with those behind the arguments
    fortran_words: u8,
    /// What else there is to do
    flags: u16,
    /// The argument that names a rank, and that with the object of which it is one
    rank: [u8; 2],
    /// The status, if it alone tells what the call received
    status: u8,
    /// The shape of the function, which tells what is to be done after its call
    hot: Hot,
}

/// The function begins, ends or steers the measurement.
const SPECIAL: u16 = 1;
/// The function moves bytes.
const MOVES: u16 = 1 << 1;
/// Handles or statuses are to be looked at before its call.
const BEFORE: u16 = 1 << 2;
/// There is something to count after it.
const AFTER: u16 = 1 << 3;
/// The function frees handles or cancels requests.
const FREES: u16 = 1 << 4;
/// The function names a rank.
const NAMES: u16 = 1 << 5;
/// The status of the call is needed, and nothing else before the call.
const STATUS: u16 = 1 << 6;
/// Some of its arguments in C are not in registers.
const STACKED: u16 = 1 << 7;
/// The calls of the function count for their communicator.
const TRAFFIC: u16 = 1 << 8;
/// The function means something for waits, and the event log tells what it is about.
const MATTERS: u16 = 1 << 9;
/// The rank tells before the call that it comes to it.
const COMES: u16 = 1 << 10;
/// The shape of the function is [`Hot::Both`]: the most frequent one is told by a bit.
const BOTH: u16 = 1 << 11;
/// All of a communicator come to the call, and nothing else is to be known of it for waits.
const MEETS: u16 = 1 << 12;
/// The function waits or asks for requests.
const COMPLETES: u16 = 1 << 13;

impl Descriptor {
    /// The descriptor of a function of which only the words of its arguments are known, in C and in
    /// Fortran.
    pub const fn of_words(words: u8, fortran_words: u8) -> Descriptor {
        let flags = if words as usize > REGISTERS { STACKED } else { 0 };
        Descriptor { words, fortran_words, flags, rank: [0; 2], status: NONE, hot: Hot::No }
    }

    /// The same of a function that begins, ends or steers the measurement.
    pub const fn steers(self) -> Descriptor {
        self.with(SPECIAL)
    }

    /// The same of a function that moves bytes.
    pub const fn transfers(self) -> Descriptor {
        self.with(MOVES)
    }

    const fn with(self, flag: u16) -> Descriptor {
        Descriptor { flags: self.flags | flag, ..self }
    }

    /// The table, filled up so that every number that a stub can tell has an entry.
    pub const fn table(known: &[Descriptor; FUNCTIONS]) -> [Descriptor; FUNCTION_ROOM] {
        let mut table = [Descriptor::of_words(0, 0); FUNCTION_ROOM];
        let (mut number, mut chapter) = (0, 0);
        while chapter < CHAPTERS.len() {
            let functions = CHAPTERS[chapter].functions;
            let mut i = 0;
            while i < functions.len() {
                let plan = &PLANS[number];
                let before = if plan.before() { BEFORE } else { 0 };
                let after = if plan.after() { AFTER } else { 0 };
                let frees = if plan.frees() { FREES } else { 0 };
                let traffic = if plan.traffic { TRAFFIC } else { 0 };
                let matters = if ROLES[number].matters() { MATTERS } else { 0 };
                let comes = if ROLES[number].comes() { COMES } else { 0 };
                let mut one = known[number].with(before | after | frees);
                let meets = if ROLES[number].meets() { MEETS } else { 0 };
                let both = if matches!(plan.hot, Hot::Both) { BOTH } else { 0 };
                let completes = if plan.act.completes() { COMPLETES } else { 0 };
                one.flags |= traffic | matters | comes | meets | both | completes;
                one.hot = plan.hot;
                if plan.status_alone() {
                    one.status = plan.status;
                    one.flags |= STATUS;
                }
                if let Some(place) = peer_place(&functions[i])
                    && plan.object != NONE
                {
                    one.rank = [place as u8, plan.object];
                    one.flags |= NAMES;
                }
                table[number] = one;
                number += 1;
                i += 1;
            }
            chapter += 1;
        }
        table
    }

    /// A copy of a descriptor of the table whose flags are what stands there. The compiler knows the table,
    /// and would rather compare the number of a function with those of all that have a flag, one by one.
    #[inline(always)]
    pub fn as_it_stands(&self) -> Descriptor {
        // SAFETY: a field of a descriptor.
        let flags = unsafe { core::ptr::read_volatile(&raw const self.flags) };
        Descriptor { flags, ..*self }
    }

    /// Words of its arguments by this name.
    #[inline(always)]
    pub fn words(&self, binding: StubBinding) -> usize {
        usize::from(if binding.is_c() { self.words } else { self.fortran_words })
    }

    /// Words of its arguments in C.
    #[inline(always)]
    pub fn c_words(&self) -> usize {
        usize::from(self.words)
    }

    /// Whether anything is to be done before its call in C.
    #[inline(always)]
    pub fn prepares(&self) -> bool {
        self.flags & (SPECIAL | BEFORE | NAMES | STATUS | STACKED) != 0
    }

    /// Whether nothing is to be done before a call by this name but to count it, while nothing is
    /// switched on.
    #[inline(always)]
    pub fn is_plain(&self, binding: StubBinding) -> bool {
        if binding.is_c() {
            return !self.prepares();
        }
        !self.awaited() && usize::from(self.fortran_words) <= REGISTERS
    }

    /// Whether its function in C is of interest below that of Fortran.
    #[inline(always)]
    pub fn awaited(&self) -> bool {
        self.flags & (SPECIAL | MOVES | BEFORE | AFTER | NAMES | STATUS) != 0
    }

    /// Whether handles are to be looked at before its call, or it steers the measurement.
    #[inline(always)]
    pub fn before(&self) -> bool {
        self.flags & (SPECIAL | BEFORE) != 0
    }

    /// Whether something is to be done after its call.
    #[inline(always)]
    pub fn after(&self) -> bool {
        self.flags & (SPECIAL | AFTER) != 0
    }

    /// Whether something is to be noted after its call even while measuring is paused: it steers the
    /// measurement, gives or completes requests, or makes objects.
    #[inline(always)]
    pub fn follows(&self) -> bool {
        self.flags & (SPECIAL | AFTER) != 0
            && !matches!(
                self.hot,
                Hot::Send | Hot::Rma | Hot::Recv | Hot::Both | Hot::Bcast | Hot::Sendrecv
            )
    }

    /// The shape of the function, of those that have something to do after their calls.
    #[inline(always)]
    pub fn hot(&self) -> Hot {
        self.hot
    }

    /// Whether its shape is [`Hot::Both`].
    #[inline(always)]
    pub fn is_both(&self) -> bool {
        self.flags & BOTH != 0
    }

    /// Whether it waits or asks for requests.
    #[inline(always)]
    pub fn completes(&self) -> bool {
        self.flags & COMPLETES != 0
    }

    /// Whether it moves bytes.
    #[inline(always)]
    pub fn moves(&self) -> bool {
        self.flags & MOVES != 0
    }

    /// Whether something is to be noted after its call by what [`mode`](crate::mode) can switch on.
    #[inline(always)]
    pub fn notes(&self) -> bool {
        self.flags & (TRAFFIC | MATTERS) != 0
    }

    /// Whether the rank tells before the call that it comes to it: all of a communicator, window or file
    /// do, or it ends an access to windows.
    #[inline(always)]
    pub fn comes(&self) -> bool {
        self.flags & COMES != 0
    }

    /// Whether all of a communicator come to the call, and nothing else is to be known of it for waits.
    #[inline(always)]
    pub fn meets(&self) -> bool {
        self.flags & MEETS != 0
    }

    /// Whether it begins, ends or steers the measurement.
    #[inline(always)]
    pub fn special(&self) -> bool {
        self.flags & SPECIAL != 0
    }

    /// Whether even nested calls matter, because they free handles.
    #[inline(always)]
    pub fn looks_nested(&self) -> bool {
        self.flags & FREES != 0
    }

    /// Whether it names a rank: see [`Descriptor::rank_and_object`].
    #[inline(always)]
    pub fn names_rank(&self) -> bool {
        self.flags & NAMES != 0
    }

    /// The arguments that name a rank, and the object of which it is one.
    #[inline(always)]
    pub fn rank_and_object(&self) -> [usize; 2] {
        self.rank.map(usize::from)
    }

    /// The status, if that is all that is needed before its call.
    #[inline(always)]
    pub fn status(&self) -> Option<usize> {
        (self.flags & STATUS != 0).then_some(usize::from(self.status))
    }
}
