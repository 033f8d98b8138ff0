//! Each process measures once, whatever was linked or loaded twice.
//!
//! Copies of the module in the executable and in shared libraries have to know of each other, and
//! none may export a symbol: a program's names are its own. So they share a word that every
//! process has and nobody reads: the value of the entry that ends the auxiliary vector (`AT_NULL`,
//! whose value has no meaning). The kernel makes it anew, as zero, for every program.

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::facts;
use crate::state::{STATE, auxiliary};

/// The entry that points to 16 random bytes, which the kernel puts close above the vector.
const AT_RANDOM: usize = 25;

/// Words between the vector's end and its random bytes, with the vector: about 60.
const NEAR: usize = 512;

/// The word that the copies share: 0, then the address of the facts that hold for this process.
/// Where there is no such vector, a copy is alone.
#[inline(never)]
pub fn shared() -> &'static AtomicUsize {
    let random = auxiliary(AT_RANDOM);
    let mut value = (random & !7) as *const usize;
    if random != 0 {
        for _ in 0..NEAR {
            // SAFETY: from the random bytes down to the vector all is stack; the vector ends with
            // an entry of type 0, of two words as all of them.
            unsafe {
                value = value.sub(1);
                if *value == random && *value.sub(1) == AT_RANDOM {
                    while *value.add(1) != 0 {
                        value = value.add(2);
                    }
                    return &*value.add(2).cast();
                }
            }
        }
    }
    STATE.alone()
}

/// True for the first caller in this process. What the executable knows of its site and language
/// holds even if a library's copy came first.
pub fn first(executable: bool) -> bool {
    let shared = shared();
    let before = shared.load(Ordering::Relaxed);
    if before == 0 || executable {
        shared.store(facts::own(), Ordering::Relaxed);
    }
    before == 0
}
