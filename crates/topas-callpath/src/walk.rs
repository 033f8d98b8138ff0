//! The walk from a frame to those that called it.

use crate::rows::Rows;
#[cfg(target_arch = "x86_64")]
use crate::rule::{FrameEnd, Rule, SavedBase};
use crate::sys::Memory;

/// Where a walk begins: a function is called and has not changed anything yet.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
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

/// The return addresses from the caller on, innermost first, as many as there is room for. Those
/// of frames that only begin a program or a thread are left out, if [`mark_base`] was asked.
/// `stack` is the thread's stack from `caller.stack` on.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn walk(rows: &mut Rows, caller: Caller, mut stack: Memory, frames: &mut [usize]) -> Walk {
    let Caller { mut address, mut base, .. } = caller;
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
        let Some(next) = step(rule, stack, base) else {
            found.end = WalkEnd::Cut;
            return found;
        };
        (address, stack, base) = (next.address, next.stack, next.base);
    }
    found
}

/// The caller of a frame.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Step {
    /// Address that the frame returns to
    pub(crate) address: usize,
    /// The stack from there on
    pub(crate) stack: Memory,
    /// The caller's base
    pub(crate) base: usize,
    /// Where the base was read; None if it was kept
    pub(crate) base_word: Option<usize>,
    /// Where the end of the frame was read; None if it was not read
    pub(crate) end_word: Option<usize>,
}

/// Whether a rule leads to the caller of a frame.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_followed(rule: Rule) -> bool {
    rule.end() <= FrameEnd::ByBase as u64
}

/// Whether what a rule leads to depends on the base.
#[cfg(target_arch = "x86_64")]
pub(crate) fn uses_base(rule: Rule) -> bool {
    rule.end() != FrameEnd::Stack as u64 || matches!(rule.base(), SavedBase::ByBase(_))
}

/// From a frame to its caller's.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn step(rule: Rule, stack: Memory, base: usize) -> Option<Step> {
    const IN_STACK: u64 = FrameEnd::Stack as u64;
    const IN_BASE: u64 = FrameEnd::Base as u64;
    const BY_BASE: u64 = FrameEnd::ByBase as u64;
    let mut end_word = None;
    let above = match rule.end() {
        IN_STACK => stack.from().wrapping_add_signed(rule.offset()),
        IN_BASE => base.wrapping_add_signed(rule.offset()),
        BY_BASE => {
            let at = base.wrapping_add_signed(rule.offset());
            end_word = Some(at);
            stack.word(at)?
        }
        _ => return None,
    };
    // Frames lie one above the other, and each has a return address at its end.
    let address = stack.word(above.wrapping_sub(8))?;
    let base_word = match rule.base() {
        SavedBase::Kept => None,
        SavedBase::ByEnd(from) => Some(above.wrapping_add_signed(from as isize)),
        SavedBase::ByBase(from) => Some(base.wrapping_add_signed(from as isize)),
    };
    let base = match base_word {
        None => base,
        Some(at) => stack.word(at)?,
    };
    Some(Step { address, stack: stack.part(above, stack.end())?, base, base_word, end_word })
}

/// As deep as the outermost frame is looked for.
#[cfg(target_arch = "x86_64")]
const DEEPEST: usize = 256;

/// Notes which frames only begin a program or a thread: the outermost, and those of the one module
/// in front of it, which is libc. Walks end in front of them from then on. To be asked before the
/// first walk of a thread, so that all its walks agree.
/// `stack` as for [`walk`].
#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
pub fn mark_base(rows: &mut Rows, caller: Caller, mut stack: Memory) {
    let mut frames = [0; DEEPEST];
    let Caller { mut address, mut base, .. } = caller;
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
        let Some(next) = step(rule, stack, base) else { return };
        (address, stack, base) = (next.address, next.stack, next.base);
    }
    let Some(found) = frames.get(..count) else { return };
    let base_of = |address: &usize| {
        crate::module::module_of(address.wrapping_sub(1)).map(|module| module.base())
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
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn walk(_: &mut Rows, caller: Caller, mut stack: Memory, frames: &mut [usize]) -> Walk {
    /// What of a word is an address: the rest may sign it.
    const ADDRESS: usize = (1 << 48) - 1;
    let Caller { mut address, mut base, .. } = caller;
    let mut found = Walk { count: 0, end: WalkEnd::Deeper, hash: START };
    for place in frames {
        *place = address & ADDRESS;
        found.count += 1;
        found.hash = mix(found.hash, *place);
        if base == 0 {
            found.end = WalkEnd::Outermost;
            return found;
        }
        let above = base.wrapping_add(16);
        let next = stack.word(base).zip(stack.word(base.wrapping_add(8)));
        let Some(((below, back), rest)) = next.zip(stack.part(above, stack.end())) else {
            found.end = WalkEnd::Cut;
            return found;
        };
        if back == 0 {
            found.end = WalkEnd::Outermost;
            return found;
        }
        (address, stack, base) = (back, rest, below);
    }
    found
}

/// Frame records do not tell which frames begin a program.
#[cfg(target_arch = "aarch64")]
pub fn mark_base(_: &mut Rows, _: Caller, _: Memory) {}
