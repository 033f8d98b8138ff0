//! The trails of walks: what of the stack a walk depended on. While nothing of that has changed, another
//! walk from the same place would find the same frames, and can be spared.

use crate::rows::Rows;
use crate::sys::{Memory, StackWords};
use crate::walk::Caller;
#[cfg(target_arch = "x86_64")]
use crate::walk::{is_followed, step, uses_base};

/// What the frames that a walk found depend on. All zero is none.
#[derive(Clone, Copy)]
#[repr(C)]
struct Trail {
    caller: Caller,
    /// The bits of the caller's base that count: all of them if the walk used it, else none
    base_mask: usize,
    words: StackWords,
}

impl Trail {
    /// Whether a walk from here would find the same. `stack` is the thread's stack from `caller.stack` on.
    #[inline(always)]
    fn leads_from(&self, caller: Caller, stack: Memory) -> bool {
        self.caller.address == caller.address
            && (self.caller.base ^ caller.base) & self.base_mask == 0
            && self.words.are_in(stack)
    }

    /// The trail of a walk through at most `depth` frames; None if there is no room for it, or if the walk
    /// led out of the stack.
    #[cfg(target_arch = "x86_64")]
    fn noted(rows: &mut Rows, caller: Caller, mut stack: Memory, depth: usize) -> Option<Trail> {
        let mut trail = Trail { caller, base_mask: 0, words: StackWords::of(stack) };
        let Caller { mut address, mut base, .. } = caller;
        // Where the base was read; None while it is the caller's.
        let mut base_word = None;
        for frame in 1..=depth {
            let rule = rows.rule(address);
            if !is_followed(rule) {
                break;
            }
            let next = step(rule, stack, base)?;
            if uses_base(rule) {
                match base_word {
                    None => trail.base_mask = usize::MAX,
                    Some(at) => trail.words.note(at)?,
                }
            }
            // Nothing depends on who called the last frame.
            if frame == depth {
                break;
            }
            if let Some(at) = next.end_word {
                trail.words.note(at)?;
            }
            trail.words.note(next.stack.from().wrapping_sub(8))?;
            base_word = next.base_word.or(base_word);
            (address, stack, base) = (next.address, next.stack, next.base);
        }
        Some(trail)
    }

    /// The same: frame records, each of which depends on the one before.
    #[cfg(target_arch = "aarch64")]
    fn noted(_: &mut Rows, caller: Caller, stack: Memory, depth: usize) -> Option<Trail> {
        let mut trail = Trail { caller, base_mask: usize::MAX, words: StackWords::of(stack) };
        let mut base = caller.base;
        for _ in 0..depth {
            if base == 0 {
                break;
            }
            let back = base.wrapping_add(8);
            trail.words.note(base)?;
            trail.words.note(back)?;
            if stack.word(back)? == 0 {
                break;
            }
            base = stack.word(base)?;
        }
        Some(trail)
    }
}

/// A trail, and what is known by it.
#[derive(Clone, Copy)]
#[repr(C)]
struct KnownTrail {
    trail: Trail,
    key: u32,
    value: u32,
}

/// Trails from one place: a function that calls MPI may be called from several places in turn.
#[derive(Clone, Copy)]
#[repr(C)]
struct TrailSet {
    ways: [KnownTrail; WAYS],
    /// The one that was noted or found last
    last: u32,
    /// How often a trail was not found
    missed: u32,
    /// How many were noted
    noted: u32,
}

const WAYS: usize = 4;
const SETS_BITS: u32 = 5;
const SETS: usize = 1 << SETS_BITS;
/// So many trails of a set are noted at once.
const AT_ONCE: u32 = 8;
/// Of later ones, one of so many: where no trail is met again, noting them must not cost much.
const THEN_ONE_OF: u32 = 16;

/// The last trails of one thread, and for each a value by which its path is known: 42 kB, at first all
/// zero, which is no trail.
#[repr(C)]
pub struct Trails {
    sets: [TrailSet; SETS],
    /// As in the rows when the trails were noted
    unloads: u64,
}

impl Trails {
    /// No trails.
    pub const fn new() -> Trails {
        let nowhere = Caller { address: 0, stack: 0, base: 0 };
        let trail = Trail { caller: nowhere, base_mask: 0, words: StackWords::NONE };
        let ways = [KnownTrail { trail, key: 0, value: 0 }; WAYS];
        Trails { sets: [TrailSet { ways, last: 0, missed: 0, noted: 0 }; SETS], unloads: 0 }
    }

    #[inline(always)]
    fn place(caller: Caller) -> usize {
        let place = (caller.address ^ caller.stack << 20) as u64;
        (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SETS_BITS)) as usize
    }

    /// What is known of a walk from here with this key, if it would find the same frames as when that was
    /// noted. `stack` is the thread's stack from `caller.stack` on.
    #[inline(always)]
    pub fn find(&mut self, caller: Caller, stack: Memory, key: u32) -> Option<u32> {
        let set = self.sets.get_mut(Trails::place(caller))?;
        let way = set.ways.iter().position(|known| known.is_of(caller, stack, key))?;
        set.last = way as u32;
        Some(set.ways.get(way)?.value)
    }

    /// The same, of the likeliest trail alone: in fewer instructions.
    #[inline(always)]
    pub fn find_last(&self, caller: Caller, stack: Memory, key: u32) -> Option<u32> {
        let set = self.sets.get(Trails::place(caller))?;
        let last = set.ways.get(set.last as usize)?;
        last.is_of(caller, stack, key).then_some(last.value)
    }

    /// Notes what is to be known of a walk through at most `depth` frames, which has just been made with
    /// these rows, and was not found by its trail.
    #[cold]
    #[inline(never)]
    pub fn note(
        &mut self,
        rows: &mut Rows,
        (caller, stack, depth): (Caller, Memory, usize),
        key: u32,
        value: u32,
    ) {
        if rows.unloads() != self.unloads {
            self.forget();
            self.unloads = rows.unloads();
        }
        let Some(set) = self.sets.get_mut(Trails::place(caller)) else { return };
        set.missed = set.missed.wrapping_add(1);
        if set.missed > AT_ONCE && set.missed % THEN_ONE_OF != 0 {
            return;
        }
        let Some(trail) = Trail::noted(rows, caller, stack, depth) else { return };
        let way = set.noted as usize % WAYS;
        if let Some(oldest) = set.ways.get_mut(way) {
            *oldest = KnownTrail { trail, key, value };
            set.noted = set.noted.wrapping_add(1);
            set.last = way as u32;
        }
    }

    /// Forgets all: the stack is another one.
    #[cold]
    pub fn forget(&mut self) {
        for set in &mut self.sets {
            for known in &mut set.ways {
                known.trail.caller.address = 0;
            }
            set.missed = 0;
        }
    }
}

impl Default for Trails {
    fn default() -> Self {
        Trails::new()
    }
}

impl KnownTrail {
    #[inline(always)]
    fn is_of(&self, caller: Caller, stack: Memory, key: u32) -> bool {
        self.key == key && self.trail.leads_from(caller, stack)
    }
}
