//! The walk from a frame to those that called it.

use crate::rows::Rows;
#[cfg(target_arch = "x86_64")]
use crate::rule::{FrameEnd, Rule, SavedBase};

/// Where a walk begins: a function is called and has not changed anything yet.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// Address it returns to
    pub address: usize,
    /// Stack pointer when it will have returned
    pub stack: usize,
    /// Frame pointer of the caller (`rbp`, `x29`), whatever it is used for
    pub base: usize,
}

/// How a walk ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WalkEnd {
    /// At the outermost function
    Outermost,
    /// There was no more room: there are further frames
    Deeper,
    /// No rule was known
    Cut,
}

/// What a walk found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// Frames
    pub count: usize,
    /// How it ended
    pub end: WalkEnd,
    /// Hash of the addresses
    pub hash: u64,
}

const START: u64 = 0x243f_6a88_85a3_08d3;

#[inline(always)]
fn mix(hash: u64, address: usize) -> u64 {
    (hash ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Reads a word of the stack; None if it is not between these bounds.
#[inline(always)]
fn word(address: usize, from: usize, end: usize) -> Option<usize> {
    if address < from || address > end.wrapping_sub(8) || !address.is_multiple_of(8) {
        return None;
    }
    // SAFETY: a word of the thread's own stack, between the caller's frame and the end as told.
    Some(unsafe { (address as *const usize).read() })
}

/// The return addresses from the caller on, innermost first, as many as there is room for. Those
/// of frames that only begin a program or a thread are left out, if [`mark_base`] was asked.
///
/// # Safety
/// The stack can be read from `caller.stack` until `end`, which is a multiple of 8.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn walk(rows: &mut Rows, caller: Caller, end: usize, frames: &mut [usize]) -> Walk {
    let Caller { mut address, mut stack, mut base } = caller;
    let mut found = Walk { count: 0, end: WalkEnd::Deeper, hash: START };
    for place in frames {
        let rule = rows.rule(address);
        let kind = rule.end();
        if kind > FrameEnd::ByBase as u64 && kind != FrameEnd::Unknown as u64 {
            let outermost = kind == FrameEnd::Outermost as u64;
            found.end = if outermost { WalkEnd::Outermost } else { WalkEnd::Cut };
            return found;
        }
        *place = address;
        found.count += 1;
        found.hash = mix(found.hash, address);
        let Some((back, above, below)) = step(rule, stack, base, end) else {
            found.end = WalkEnd::Cut;
            return found;
        };
        (address, stack, base) = (back, above, below);
    }
    found
}

/// From a frame to its caller's: return address, stack pointer, base.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn step(rule: Rule, stack: usize, base: usize, end: usize) -> Option<(usize, usize, usize)> {
    const IN_STACK: u64 = FrameEnd::Stack as u64;
    const IN_BASE: u64 = FrameEnd::Base as u64;
    const BY_BASE: u64 = FrameEnd::ByBase as u64;
    let above = match rule.end() {
        IN_STACK => stack.wrapping_add_signed(rule.offset()),
        IN_BASE => base.wrapping_add_signed(rule.offset()),
        BY_BASE => word(base.wrapping_add_signed(rule.offset()), stack, end)?,
        _ => return None,
    };
    // Frames lie one above the other.
    if above <= stack || above > end {
        return None;
    }
    let back = word(above.wrapping_sub(8), stack, end)?;
    let below = match rule.base() {
        SavedBase::Kept => base,
        SavedBase::ByEnd(from) => word(above.wrapping_add_signed(from as isize), stack, end)?,
        SavedBase::ByBase(from) => word(base.wrapping_add_signed(from as isize), stack, end)?,
    };
    Some((back, above, below))
}

/// As deep as the outermost frame is looked for.
#[cfg(target_arch = "x86_64")]
const DEEPEST: usize = 256;

/// Notes which frames only begin a program or a thread: the outermost, and those of the one module
/// in front of it, which is libc. Walks end in front of them from then on. To be asked before the
/// first walk of a thread, so that all its walks agree.
///
/// # Safety
/// As for [`walk`].
#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
pub unsafe fn mark_base(rows: &mut Rows, caller: Caller, end: usize) {
    let mut frames = [0; DEEPEST];
    let Caller { mut address, mut stack, mut base } = caller;
    let mut count = 0;
    // Not `walk`: the outermost frame is wanted, too.
    loop {
        let Some(place) = frames.get_mut(count) else { return };
        let rule = rows.rule(address);
        if rule.end() == FrameEnd::Outermost as u64 {
            break;
        }
        *place = address;
        count += 1;
        let Some(next) = step(rule, stack, base, end) else { return };
        (address, stack, base) = next;
    }
    let Some(found) = frames.get(..count) else { return };
    let base_of = |address: &usize| {
        crate::module::module_of(address.wrapping_sub(1)).map(|module| module.base)
    };
    // The caller's own frame is never one of them.
    let mut outer = found.iter().skip(1).rev();
    let Some(first) = outer.next() else { return };
    let libc = base_of(first);
    // A static executable has its libc in the module of its own functions.
    let executable = base_of(&caller.address);
    if libc.is_none() || libc == executable {
        return;
    }
    rows.put(*first, Rule::plain(FrameEnd::Outermost));
    for address in outer {
        if base_of(address) != libc {
            break;
        }
        rows.put(*address, Rule::plain(FrameEnd::Outermost));
    }
}

/// See the other [`walk`]: frame records, each of which leads to that of the caller.
///
/// # Safety
/// The stack can be read from `caller.stack` until `end`, which is a multiple of 8.
#[cfg(target_arch = "aarch64")]
#[inline]
pub unsafe fn walk(_: &mut Rows, caller: Caller, end: usize, frames: &mut [usize]) -> Walk {
    /// What of a word is an address: the rest may sign it.
    const ADDRESS: usize = (1 << 48) - 1;
    let Caller { mut address, mut stack, mut base } = caller;
    let mut found = Walk { count: 0, end: WalkEnd::Deeper, hash: START };
    for place in frames {
        *place = address & ADDRESS;
        found.count += 1;
        found.hash = mix(found.hash, *place);
        if base == 0 {
            found.end = WalkEnd::Outermost;
            return found;
        }
        let next = word(base, stack, end).zip(word(base.wrapping_add(8), stack, end));
        let Some((below, back)) = next else {
            found.end = WalkEnd::Cut;
            return found;
        };
        if back == 0 {
            found.end = WalkEnd::Outermost;
            return found;
        }
        stack = base.wrapping_add(16);
        (address, base) = (back, below);
    }
    found
}

/// Frame records do not tell which frames begin a program.
///
/// # Safety
/// As for [`walk`].
#[cfg(target_arch = "aarch64")]
pub unsafe fn mark_base(_: &mut Rows, _: Caller, _: usize) {}
