//! What lies below: the next definitions of all functions.
//!
//! They are looked for when a name is called the first time, so a program pays for what it uses.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use topas_mpi_profile::layout::FUNCTIONS;

use crate::element::element;
use crate::generated::number;
use crate::generated::table::name;
use crate::{lookup, sys, wrapped};

/// Names of a function, as the generated stubs number them.
pub mod binding {
    use topas_mpi_profile::layout::language;

    /// `MPI_Send`
    pub const MPI: u32 = 0;
    /// `PMPI_Send`
    pub const PMPI: u32 = 1;
    /// `MPI_Send_c`
    pub const MPI_LARGE: u32 = 2;
    /// `PMPI_Send_c`
    pub const PMPI_LARGE: u32 = 3;
    /// `mpi_send_`
    pub const FORTRAN: u32 = 4;
    /// Endings of all Fortran names, from [`FORTRAN`] on.
    pub const ENDINGS: [&[u8]; 8] = [
        b"_",
        b"_cptr_",
        b"_f08_",
        b"_f08ts_",
        b"_c_f08_",
        b"_c_f08ts_",
        b"_f08_large_",
        b"_f08ts_large_",
    ];
    /// How many there are.
    pub const COUNT: usize = FORTRAN as usize + ENDINGS.len();

    /// Whether words are those of C.
    #[inline(always)]
    pub const fn is_c(binding: u32) -> bool {
        binding < FORTRAN
    }

    /// Whether it is the variant for large counts, in C.
    #[inline(always)]
    pub const fn is_large(binding: u32) -> bool {
        binding == MPI_LARGE || binding == PMPI_LARGE
    }

    /// The language, a bit of [`language`].
    #[inline(always)]
    pub const fn language(binding: u32) -> u32 {
        match binding {
            ..FORTRAN => language::C,
            FORTRAN | 5 => language::FORTRAN,
            _ => language::F08,
        }
    }
}

/// Tables whose lengths are powers of two.
static TARGETS: [[AtomicUsize; 1024]; 16] = [const { [const { AtomicUsize::new(0) }; 1024] }; 16];

const _: () = assert!(FUNCTIONS <= 1024 && binding::COUNT <= 16);

/// Where the next definition of a function under this name is kept.
#[inline(always)]
fn slot(function: usize, binding: u32) -> &'static AtomicUsize {
    element(element(&TARGETS, binding as usize), function)
}

/// Room for the name of any symbol, with its NUL.
const LONGEST: usize = 96;

/// The next definition of a function under this name.
#[inline(always)]
pub fn target(function: u32, binding: u32, stack: *const usize) -> usize {
    match slot(function as usize, binding).load(Relaxed) {
        0 => find(function, binding, stack),
        target => target,
    }
}

/// Puts another target in place of what is called by this name; what it was, 0 if that was not
/// yet looked for.
pub fn replace(function: usize, binding: u32, target: usize) -> usize {
    slot(function, binding).swap(target, Relaxed)
}

/// Has a name, which ends without a NUL, lead to this function, found by a program itself. False if it leads
/// elsewhere.
pub fn adopt(symbol: &[u8], found: usize) -> bool {
    let Some((function, binding)) = numbers(symbol) else { return false };
    match slot(function, binding).compare_exchange(0, found, Relaxed, Relaxed) {
        Ok(_) => {
            sys::note_opened(found);
            true
        }
        Err(known) => known == found,
    }
}

/// The number of the function of a symbol, and that of its name.
fn numbers(symbol: &[u8]) -> Option<(usize, u32)> {
    (0..FUNCTIONS).flat_map(|function| (0..binding::COUNT as u32).map(move |b| (function, b))).find(
        |(function, binding)| {
            let mut room = [0; LONGEST];
            // Most are told by their length, of which their names are a part.
            symbol.len() > name(*function).len() && {
                compose(*function as u32, *binding, &mut room);
                room.strip_prefix(symbol).is_some_and(|rest| rest.first() == Some(&0))
            }
        },
    )
}

/// The MPI's own definition in C, for our own use; 0 if it has none. A tool below us may define
/// functions that its MPI does not have, so the other name is as good only where the MPI has no
/// profiling interface.
pub fn own(function: usize) -> usize {
    match slot(function, binding::PMPI).load(Relaxed) {
        0 => {
            let has_profiling = defined(number::INITIALIZED as u32, binding::PMPI) != 0;
            if has_profiling && defined(function as u32, binding::PMPI) == 0 {
                return 0;
            }
            look_up(function as u32, binding::PMPI, 0)
        }
        target => target,
    }
}

/// The next definition of exactly this name; 0 if there is none.
fn defined(function: u32, binding: u32) -> usize {
    if cfg!(topas_mpi_wrap) {
        return wrapped::function(function | binding << 10);
    }
    let mut room = [0; LONGEST];
    compose(function, binding, &mut room);
    sys::next_definition(&room, 0)
}

/// Finds and keeps the next definition. Without one there is nothing that could be called: what
/// answers is [`missing`].
#[cold]
#[inline(never)]
fn find(function: u32, binding: u32, stack: *const usize) -> usize {
    // SAFETY: the return address lies in front of the arguments on the stack.
    let caller = unsafe { *stack.sub(1) };
    if !cfg!(topas_mpi_wrap) {
        lookup::update();
    }
    match look_up(function, binding, caller) {
        0 => missing as *const () as usize,
        target => target,
    }
}

/// Looks for the next definition of a name, and keeps it if there is one. The library that calls
/// is at `caller`, 0 if that is not known.
fn look_up(function: u32, binding: u32, caller: usize) -> usize {
    let mut room = [0; LONGEST];
    let mut found = 0;
    for binding in also(binding) {
        if cfg!(topas_mpi_wrap) {
            found = wrapped::function(function | binding << 10);
        } else {
            compose(function, binding, &mut room);
            found = sys::next_definition(&room, caller);
        }
        if found != 0 {
            break;
        }
    }
    if found != 0 {
        slot(function as usize, binding).store(found, Relaxed);
    }
    found
}

/// Names under which a definition may be found: that of the profiling interface is as good.
fn also(binding: u32) -> impl Iterator<Item = u32> {
    let other = match binding {
        binding::MPI => Some(binding::PMPI),
        binding::PMPI => Some(binding::MPI),
        binding::MPI_LARGE => Some(binding::PMPI_LARGE),
        binding::PMPI_LARGE => Some(binding::MPI_LARGE),
        _ => None,
    };
    core::iter::once(binding).chain(other)
}

/// Writes the name of a symbol, with a NUL.
fn compose(function: u32, binding: u32, room: &mut [u8; LONGEST]) {
    let name = name(function as usize);
    let fortran = (binding as usize).checked_sub(binding::FORTRAN as usize);
    let profiling = matches!(binding, binding::PMPI | binding::PMPI_LARGE);
    let (first, last): (&[u8], &[u8]) = match fortran {
        Some(ending) => (b"mpi_", binding::ENDINGS.get(ending).copied().unwrap_or_default()),
        None => (
            if profiling { b"PMPI_" } else { b"MPI_" },
            if binding::is_large(binding) { b"_c" } else { b"" },
        ),
    };
    let middle = name.iter().map(|c| if fortran.is_some() { c.to_ascii_lowercase() } else { *c });
    let bytes = first.iter().copied().chain(middle).chain(last.iter().copied()).chain([0]);
    room.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
}

/// Whether what would be called stands for a function that is not there. In a program without MPI
/// others, such as the module, ask by the names of the library whether MPI has begun.
pub fn is_missing(target: usize) -> bool {
    target == missing as *const () as usize
}

/// Stands for a function that this MPI does not have: the error `MPI_ERR_OTHER` of the MPIs that
/// have the fewest classes. Whoever asks the loader is told that there is none; who calls it without having
/// asked would have been ended by the loader.
extern "C" fn missing() -> i32 {
    16
}
