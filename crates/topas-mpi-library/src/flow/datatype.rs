//! Sizes of datatypes.

use crate::element::{element, element_mut};
use crate::flow::ledger::{Ledger, Sized, age, generation, place};
use crate::flow::library::{self, Library};
use crate::generated::number;

/// The size in B of a datatype that means something: what one element of it takes in a message.
#[inline(always)]
pub fn size(library: &Library, ledger: &mut Ledger, datatype: usize) -> u64 {
    let handle = datatype as u64 & library.handle_mask;
    if library.sizes_in_handles
        && let Some(size) = library.abi.size_in_handle(handle)
    {
        return size;
    }
    if ledger.last.handle == handle && ledger.last.generation == age() {
        return ledger.last.size;
    }
    looked_up(ledger, handle)
}

/// The same, of a datatype whose size was asked for before.
#[inline(always)]
pub fn known(library: &Library, ledger: &Ledger, datatype: usize) -> Option<u64> {
    let handle = datatype as u64 & library.handle_mask;
    if library.sizes_in_handles
        && let Some(size) = library.abi.size_in_handle(handle)
    {
        return Some(size);
    }
    if ledger.last.handle == handle && ledger.last.generation == age() {
        return Some(ledger.last.size);
    }
    let at = place(handle);
    let kept = element(&ledger.sizes, at);
    (kept.handle == handle && kept.generation == generation(at)).then_some(kept.size)
}

#[inline(never)]
fn looked_up(ledger: &mut Ledger, handle: u64) -> u64 {
    let age = age();
    let at = place(handle);
    let kept = *element(&ledger.sizes, at);
    let size = if kept.handle == handle && kept.generation == generation(at) {
        kept.size
    } else {
        ask(ledger, handle, at)
    };
    ledger.last = Sized { handle, size, generation: age };
    size
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
