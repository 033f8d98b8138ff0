//! Sizes of datatypes.

use crate::element::{element, element_mut};
use crate::flow::ledger::{Ledger, RECENT, Sized, age, generation, place};
use crate::flow::library::{self, Library};
use crate::generated::number;

/// The size in B of a datatype that means something: what one element of it takes in a message.
#[inline(always)]
pub fn size(library: &Library, ledger: &mut Ledger, datatype: usize) -> u64 {
    match recent(ledger, datatype) {
        Some(size) => size,
        None => looked_up(library, ledger, datatype),
    }
}

/// The same, if it is one of the last that were asked for.
#[inline(always)]
pub fn recent(ledger: &Ledger, datatype: usize) -> Option<u64> {
    let age = age();
    let is = |kept: &Sized| kept.handle == datatype as u64 && kept.generation == age;
    if is(&ledger.last) {
        return Some(ledger.last.size);
    }
    let kept = element(&ledger.recent, spot(datatype));
    is(kept).then_some(kept.size)
}

/// The place of a datatype among the recent ones.
#[inline(always)]
const fn spot(datatype: usize) -> usize {
    (datatype as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (64 - RECENT.ilog2())
}

/// Makes a datatype a recent one if its size was asked for before. False if it is one already, or not
/// known.
#[inline(never)]
pub fn recall(library: &Library, ledger: &mut Ledger, datatype: usize) -> bool {
    // Before the size is looked for: what is freed meanwhile makes it old.
    let age = age();
    if recent(ledger, datatype).is_some() {
        return false;
    }
    let handle = datatype as u64 & library.handle_mask;
    let size = if library.sizes_in_handles
        && let Some(size) = library.abi.size_in_handle(handle)
    {
        size
    } else {
        let at = place(handle);
        let kept = element(&ledger.sizes, at);
        if kept.handle != handle || kept.generation != generation(at) {
            return false;
        }
        kept.size
    };
    keep(ledger, Sized { handle: datatype as u64, size, generation: age });
    true
}

/// Makes a datatype the most recent one.
fn keep(ledger: &mut Ledger, datatype: Sized) {
    ledger.last = datatype;
    *element_mut(&mut ledger.recent, spot(datatype.handle as usize)) = datatype;
}

#[inline(never)]
fn looked_up(library: &Library, ledger: &mut Ledger, datatype: usize) -> u64 {
    let age = age();
    if !recall(library, ledger, datatype) {
        let handle = datatype as u64 & library.handle_mask;
        let size = ask(ledger, handle, place(handle));
        keep(ledger, Sized { handle: datatype as u64, size, generation: age });
    }
    ledger.last.size
}

#[cold]
#[inline(never)]
fn ask(ledger: &mut Ledger, handle: u64, at: usize) -> u64 {
    let generation = generation(at);
    // An MPI_Count; those that write an int leave the upper half.
    let mut size = 0u64;
    let args = [handle as usize, (&raw mut size) as usize, 0, 0, 0, 0];
    // SAFETY: a datatype that a call has just accepted, and room for its size.
    let told = unsafe {
        library::call(number::TYPE_SIZE_X, args).or_else(|| library::call(number::TYPE_SIZE, args))
    };
    if told.is_none() {
        return 0;
    }
    *element_mut(&mut ledger.sizes, at) = Sized { handle, size, generation };
    size
}
