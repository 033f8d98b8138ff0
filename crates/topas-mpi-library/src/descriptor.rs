//! What the way of a call needs to know of its function.

// Done by the compiler: what panics is an error of the build.
#![allow(clippy::indexing_slicing)]

use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

use topas_mpi_profile::layout::FUNCTIONS;

use crate::flow::plan::PLANS;
use crate::symbol::{FUNCTION_ROOM, StubBinding};

/// What is known of a function when this is compiled.
#[derive(Clone, Copy)]
pub struct Descriptor {
    /// Words of its arguments in C
    words: u8,
    /// Words in Fortran, with those behind the arguments
    fortran_words: u8,
    /// What else there is to do
    flags: u16,
}

/// A function, as the way of its calls sees it.
pub struct LiveDescriptor {
    words: u8,
    fortran_words: u8,
    /// What else there is to do, which a measurement that wants more adds to
    flags: AtomicU16,
}

/// It begins, ends or steers the measurement, or is looked at more closely.
const SPECIAL: u16 = 1;
/// It moves bytes.
const MOVES: u16 = 1 << 1;
/// Handles or statuses are to be looked at before its call.
const BEFORE: u16 = 1 << 2;
/// There is something to count after it.
const AFTER: u16 = 1 << 3;
/// It frees handles or cancels requests.
const FREES: u16 = 1 << 4;

impl Descriptor {
    /// That of a function of which nothing but the words of its arguments is known, in C and in
    /// Fortran.
    pub const fn of_words(words: u8, fortran_words: u8) -> Descriptor {
        Descriptor { words, fortran_words, flags: 0 }
    }

    /// It begins, ends or steers the measurement.
    pub const fn steers(self) -> Descriptor {
        self.with(SPECIAL)
    }

    /// It moves bytes.
    pub const fn transfers(self) -> Descriptor {
        self.with(MOVES)
    }

    const fn with(self, flag: u16) -> Descriptor {
        Descriptor { flags: self.flags | flag, ..self }
    }

    /// The table, filled up so that every number that a stub can tell has an entry.
    pub const fn table(known: &[Descriptor; FUNCTIONS]) -> [LiveDescriptor; FUNCTION_ROOM] {
        let mut table = [const { Descriptor::of_words(0, 0).live() }; FUNCTION_ROOM];
        let mut i = 0;
        while i < known.len() {
            let plan = &PLANS[i];
            let before = if plan.before() { BEFORE } else { 0 };
            let after = if plan.after() { AFTER } else { 0 };
            let frees = if plan.frees() { FREES } else { 0 };
            table[i] = known[i].with(before | after | frees).live();
            i += 1;
        }
        table
    }

    const fn live(self) -> LiveDescriptor {
        let Descriptor { words, fortran_words, flags } = self;
        LiveDescriptor { words, fortran_words, flags: AtomicU16::new(flags) }
    }
}

impl LiveDescriptor {
    /// From now on it is looked at more closely, before its call and after it.
    pub fn look_closely(&self) {
        self.flags.fetch_or(SPECIAL, Relaxed);
    }

    #[inline(always)]
    fn has(&self, flags: u16) -> bool {
        self.flags.load(Relaxed) & flags != 0
    }

    /// Words of its arguments by this name.
    #[inline(always)]
    pub fn words(&self, binding: StubBinding) -> usize {
        usize::from(if binding.is_c() { self.words } else { self.fortran_words })
    }

    /// Whether something is to be done before its call.
    #[inline(always)]
    pub fn before(&self) -> bool {
        self.has(SPECIAL | BEFORE)
    }

    /// Whether something is to be done after its call.
    #[inline(always)]
    pub fn after(&self) -> bool {
        self.has(SPECIAL | AFTER)
    }

    /// Whether it moves bytes.
    #[inline(always)]
    pub fn moves(&self) -> bool {
        self.has(MOVES)
    }

    /// Whether it begins, ends or steers the measurement, or is looked at more closely.
    #[inline(always)]
    pub fn special(&self) -> bool {
        self.has(SPECIAL)
    }

    /// Whether even nested calls matter, because they free handles.
    #[inline(always)]
    pub fn looks_nested(&self) -> bool {
        self.has(FREES)
    }
}
