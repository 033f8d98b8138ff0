//! What lies below: the next definitions of all functions.
//!
//! They are looked for when a name is called the first time, so a program pays for what it uses.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use topas_mpi_profile::layout::FUNCTIONS;

use crate::generated::name::name;
use crate::generated::number;
use crate::symbol::{BINDING_ROOM, FUNCTION_ROOM, StubBinding, StubSymbol};
use crate::{lookup, mode, sys, wrapped};

/// By number of the symbol; the length is a power of two. The assembly looks into it, too. Addresses
/// have their uppermost bit clear; here [`MORE`] may be set in it.
pub static TARGETS: [AtomicUsize; FUNCTION_ROOM * BINDING_ROOM] =
    [const { AtomicUsize::new(0) }; FUNCTION_ROOM * BINDING_ROOM];

/// More is to be done at the calls of a symbol than to count them: of every symbol until
/// [`note_plain`]. Of none that is looked for while nothing is measured, so that the assembly, which then
/// jumps to what stands in the table, has nothing to take off.
const MORE: usize = 1 << 63;

/// Where the next definition of a symbol is kept.
#[inline(always)]
fn slot(symbol: StubSymbol) -> &'static AtomicUsize {
    // SAFETY: a stub's number, which has no more bits.
    unsafe { TARGETS.get_unchecked(symbol.number() as usize) }
}

/// Room for the name of any symbol, with its NUL.
const LONGEST: usize = 96;

/// The next definition of a symbol; 0 if it was not looked for.
#[inline(always)]
pub fn known(symbol: StubSymbol) -> usize {
    Below::of(symbol).target()
}

/// What the table tells of a symbol.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Below(usize);

impl Below {
    /// That of a symbol.
    #[inline(always)]
    pub fn of(symbol: StubSymbol) -> Below {
        Below(slot(symbol).load(Relaxed))
    }

    /// The next definition; 0 if it was not looked for.
    #[inline(always)]
    pub fn target(self) -> usize {
        self.0 & !MORE
    }

    /// Whether the next definition was not looked for.
    #[inline(always)]
    pub fn is_unknown(self) -> bool {
        self.0 == 0
    }

    /// The next definition, if nothing is to be done at the calls of the symbol but to count them.
    #[inline(always)]
    pub fn plain(self) -> Option<usize> {
        (self.0 as isize > 0).then_some(self.0)
    }
}

/// Nothing is to be done at the calls of a symbol but to count them.
#[cold]
#[inline(never)]
pub fn note_plain(symbol: StubSymbol) {
    slot(symbol).fetch_and(!MORE, Relaxed);
}

/// Keeps the next definition of a symbol; 0 if it is to be looked for.
fn keep(symbol: StubSymbol, target: usize) {
    let more = if target == 0 || mode::has(mode::OFF) { 0 } else { MORE };
    slot(symbol).store(target | more, Relaxed);
}

/// The next definition of a symbol for who calls from an address.
pub fn target(symbol: StubSymbol, caller: usize) -> usize {
    match known(symbol) {
        0 => find(symbol, caller),
        target => target,
    }
}

/// Puts another target in place of what is called by this name; what it was, 0 if that was not
/// yet looked for.
pub fn replace(symbol: StubSymbol, target: usize) -> usize {
    let before = known(symbol);
    keep(symbol, target);
    before
}

/// Has a name, which ends without a NUL, lead to this function, found by a program itself. False if
/// it leads elsewhere.
pub fn adopt(symbol: &[u8], found: usize) -> bool {
    let Some(symbol) = named(symbol) else { return false };
    match slot(symbol).compare_exchange(0, found | MORE, Relaxed, Relaxed) {
        Ok(_) => {
            sys::note_opened(found);
            true
        }
        Err(known) => known & !MORE == found,
    }
}

/// The symbol of this name.
fn named(text: &[u8]) -> Option<StubSymbol> {
    // Most are told by their length, of which their names are a part.
    let functions = (0..FUNCTIONS).filter(|function| text.len() > name(*function).len());
    let symbols = functions.flat_map(|function| {
        StubBinding::all().map(move |binding| StubSymbol::new(function as u32, binding))
    });
    symbols.into_iter().find(|symbol| {
        let mut room = [0; LONGEST];
        compose(*symbol, &mut room);
        room.strip_prefix(text).is_some_and(|rest| rest.first() == Some(&0))
    })
}

/// The MPI's own definition in C, for our own use; 0 if it has none. A tool below us may define
/// functions that its MPI does not have, so the other name is as good only where the MPI has no
/// profiling interface.
pub fn own(function: usize) -> usize {
    let profiling = |function| StubSymbol::new(function as u32, StubBinding::PMPI);
    let symbol = profiling(function);
    match known(symbol) {
        0 => {
            if defined(profiling(number::INITIALIZED), 0) != 0 && defined(symbol, 0) == 0 {
                return 0;
            }
            look_up(symbol, 0)
        }
        target => target,
    }
}

/// The next definition of exactly this symbol for the library at `caller`, 0 if that is not known;
/// 0 if there is none.
fn defined(symbol: StubSymbol, caller: usize) -> usize {
    if cfg!(topas_mpi_wrap) {
        return wrapped::function(symbol);
    }
    let mut room = [0; LONGEST];
    compose(symbol, &mut room);
    sys::next_definition(&room, caller)
}

/// Finds and keeps the next definition. Without one there is nothing that could be called: what
/// answers is [`missing`].
#[cold]
#[inline(never)]
fn find(symbol: StubSymbol, caller: usize) -> usize {
    if !cfg!(topas_mpi_wrap) {
        lookup::update();
    }
    match look_up(symbol, caller) {
        0 => missing as *const () as usize,
        target => target,
    }
}

/// Looks for the next definition of a symbol, and keeps it if there is one; that of the profiling
/// interface is as good. The library that calls is at `caller`, 0 if that is not known.
fn look_up(symbol: StubSymbol, caller: usize) -> usize {
    let twin = symbol.binding().twin().map(|binding| StubSymbol::new(symbol.function(), binding));
    let known = core::iter::once(symbol).chain(twin);
    let found = known.map(|symbol| defined(symbol, caller)).find(|found| *found != 0).unwrap_or(0);
    if found != 0 {
        keep(symbol, found);
    }
    found
}

/// Writes the name of a symbol, with a NUL.
fn compose(symbol: StubSymbol, room: &mut [u8; LONGEST]) {
    let (first, last) = symbol.binding().affixes();
    let is_c = symbol.binding().is_c();
    let name = name(symbol.function() as usize);
    let middle = name.iter().map(|c| if is_c { *c } else { c.to_ascii_lowercase() });
    let bytes = first.iter().copied().chain(middle).chain(last.iter().copied()).chain([0]);
    room.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
}

/// Whether what would be called stands for a function that is not there. In a program without MPI
/// others, such as the module, ask by the names of the library whether MPI has begun.
pub fn is_missing(target: usize) -> bool {
    target == missing as *const () as usize
}

/// Stands for a function that this MPI does not have: the error `MPI_ERR_OTHER` of the MPIs that
/// have the fewest classes. Whoever asks the loader is told that there is none; who calls it
/// without having asked would have been ended by the loader.
extern "C" fn missing() -> i32 {
    const ERR_OTHER: i32 = 16;
    ERR_OTHER
}
