//! Copies and comparisons of memory for static tools.
//!
//! musl compares byte by byte, and starts a string instruction of the processor for each copy, however
//! short. Most texts of a log are shorter than 64 B, so `topas-stat` spent a tenth of its time there.
//! Where texts move towards the end of their own place, as in a list into which something is inserted,
//! this instruction takes ten to forty times as long as a loop.
//! These functions stand in place of those of musl. They have no loop that a compiler could take for
//! a call of themselves.

use core::ffi::c_int;

/// Copies `n` bytes. Defined together with [`memmove`], because that of musl needs that of musl.
///
/// # Safety
/// As for `memcpy` of C: both places have `n` bytes, and do not overlap.
#[cfg(target_arch = "x86_64")]
#[cfg_attr(all(target_env = "musl", not(debug_assertions)), unsafe(no_mangle))]
#[cfg_attr(not(all(target_env = "musl", not(debug_assertions))), allow(dead_code))]
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    unsafe {
        if n <= SHORT {
            short(to, from, n);
        } else if n < LONG {
            upwards(to, from, n);
        } else {
            by_processor(to, from, n);
        }
    }
    to
}

/// Copies `n` bytes between places that may overlap.
///
/// # Safety
/// As for `memmove` of C: both places have `n` bytes.
#[cfg(target_arch = "x86_64")]
#[cfg_attr(all(target_env = "musl", not(debug_assertions)), unsafe(no_mangle))]
#[cfg_attr(not(all(target_env = "musl", not(debug_assertions))), allow(dead_code))]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    // How far the target is behind the source, and the source behind the target; very far if it is
    // before it.
    let (behind, before) =
        ((to as usize).wrapping_sub(from as usize), (from as usize).wrapping_sub(to as usize));
    // SAFETY: the caller's promise. Downwards where the source would be overwritten before it is
    // read.
    unsafe {
        if n <= SHORT {
            short(to, from, n);
        } else if behind < n {
            downwards(to, from, n);
        } else if n < LONG || before < ROUND {
            upwards(to, from, n);
        } else {
            by_processor(to, from, n);
        }
    }
    to
}

/// From this many bytes on the string instruction of the processor is faster than a loop, unless the
/// target is just before the source, or within it: then this instruction copies byte by byte.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 1536;

/// Copies by the string instruction.
///
/// # Safety
/// As for [`memcpy`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn by_processor(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        core::arch::asm!(
            "rep movsb",
            inout("rcx") n => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags)
        );
    }
}

/// Bytes of a round of the loops below.
#[cfg(target_arch = "x86_64")]
const ROUND: usize = 64;

/// Copies more than [`ROUND`] bytes from the beginning on. The last ones are read before any is written.
///
/// # Safety
/// As for [`memmove`], and the place of the source does not begin before the other one within it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn upwards(to: *mut u8, from: *const u8, n: usize) {
    use core::arch::x86_64::__m128i as Wide;
    let last = n - ROUND;
    // SAFETY: the caller's promise; a round begins only if it ends within the n bytes.
    unsafe {
        let end = from.add(last).cast::<[Wide; 4]>().read_unaligned();
        core::arch::asm!(
            "2:",
            "movdqu {a}, [{from} + {at}]",
            "movdqu {b}, [{from} + {at} + 16]",
            "movdqu {c}, [{from} + {at} + 32]",
            "movdqu {d}, [{from} + {at} + 48]",
            "movdqu [{to} + {at}], {a}",
            "movdqu [{to} + {at} + 16], {b}",
            "movdqu [{to} + {at} + 32], {c}",
            "movdqu [{to} + {at} + 48], {d}",
            "add {at}, 64",
            "cmp {at}, {last}",
            "jb 2b",
            from = in(reg) from, to = in(reg) to, last = in(reg) last, at = inout(reg) 0usize => _,
            a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
            options(nostack)
        );
        to.add(last).cast::<[Wide; 4]>().write_unaligned(end);
    }
}

/// Copies more than [`ROUND`] bytes from the end on. The first ones are read before any is written.
///
/// # Safety
/// As for [`memmove`], and the source does not begin within the other place.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn downwards(to: *mut u8, from: *const u8, n: usize) {
    use core::arch::x86_64::__m128i as Wide;
    // SAFETY: the caller's promise; a round begins only if it ends within the n bytes.
    unsafe {
        let begin = from.cast::<[Wide; 4]>().read_unaligned();
        core::arch::asm!(
            "2:",
            "movdqu {a}, [{from} + {at} - 16]",
            "movdqu {b}, [{from} + {at} - 32]",
            "movdqu {c}, [{from} + {at} - 48]",
            "movdqu {d}, [{from} + {at} - 64]",
            "movdqu [{to} + {at} - 16], {a}",
            "movdqu [{to} + {at} - 32], {b}",
            "movdqu [{to} + {at} - 48], {c}",
            "movdqu [{to} + {at} - 64], {d}",
            "sub {at}, 64",
            "cmp {at}, 64",
            "ja 2b",
            from = in(reg) from, to = in(reg) to, at = inout(reg) n => _,
            a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
            options(nostack)
        );
        to.cast::<[Wide; 4]>().write_unaligned(begin);
    }
}

/// Most bytes that are read before the first one is written.
#[cfg(target_arch = "x86_64")]
const SHORT: usize = 128;

/// Copies at most [`SHORT`] bytes between places that may overlap.
///
/// # Safety
/// Both places have `n` bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn short(to: *mut u8, from: *const u8, n: usize) {
    use core::arch::x86_64::__m128i as Wide;
    /// Copies two words that may overlap, of the beginning and of the end.
    ///
    /// # Safety
    /// As above, and `n` is at least the size of a word and at most two of them.
    #[inline(always)]
    unsafe fn ends<T>(to: *mut u8, from: *const u8, n: usize) {
        let last = n - size_of::<T>();
        // SAFETY: the caller's promise.
        unsafe {
            let begin = from.cast::<T>().read_unaligned();
            let end = from.add(last).cast::<T>().read_unaligned();
            to.cast::<T>().write_unaligned(begin);
            to.add(last).cast::<T>().write_unaligned(end);
        }
    }
    // SAFETY: the caller's promise, and the size of each branch.
    unsafe {
        match n {
            0 => {}
            1 => *to = *from,
            2..4 => ends::<u16>(to, from, n),
            4..8 => ends::<u32>(to, from, n),
            8..16 => ends::<u64>(to, from, n),
            16..=32 => ends::<Wide>(to, from, n),
            33..=64 => ends::<[Wide; 2]>(to, from, n),
            _ => ends::<[Wide; 4]>(to, from, n),
        }
    }
}

/// Compares `n` bytes: less than 0, 0 or more than 0.
///
/// # Safety
/// As for `memcmp` of C: both places have `n` bytes.
#[cfg_attr(all(target_env = "musl", not(debug_assertions)), unsafe(no_mangle))]
#[cfg_attr(not(all(target_env = "musl", not(debug_assertions))), allow(dead_code))]
pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> c_int {
    const WORD: usize = size_of::<u64>();
    // SAFETY: `at` and the bytes behind it are among the n bytes of the caller.
    unsafe {
        let word = |of: *const u8, at: usize| of.add(at).cast::<u64>().read_unaligned();
        let order = |at: usize| {
            // The first byte in memory is the highest one of a number.
            let (a, b) = (word(a, at).to_be(), word(b, at).to_be());
            c_int::from(a > b) - c_int::from(a < b)
        };
        let mut at = 0;
        while at + WORD <= n {
            if word(a, at) != word(b, at) {
                return order(at);
            }
            at += WORD;
        }
        if n >= WORD {
            // The bytes that are looked at twice are the same.
            return order(n - WORD);
        }
        while at < n {
            let difference = c_int::from(*a.add(at)) - c_int::from(*b.add(at));
            if difference != 0 {
                return difference;
            }
            at += 1;
        }
    }
    0
}

/// Whether `n` bytes differ: 0 if they do not.
///
/// # Safety
/// As for [`memcmp`].
#[cfg_attr(all(target_env = "musl", not(debug_assertions)), unsafe(no_mangle))]
#[cfg_attr(not(all(target_env = "musl", not(debug_assertions))), allow(dead_code))]
pub unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { memcmp(a, b, n) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that differ from their neighbours.
    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|at| (at * 167 + at / 256) as u8).collect()
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn copies_of_every_length_and_place_are_exact() {
        let from = bytes(6000);
        for n in (0..300).chain([511, 512, 600, LONG - 1, LONG, LONG + 1]) {
            for begin in [0, 1, 7, 13] {
                let mut to = vec![0xee; 6000];
                // SAFETY: 20 and 13 more than the largest n are less than 6000.
                let result = unsafe { memcpy(to[20..].as_mut_ptr(), from[begin..].as_ptr(), n) };
                assert_eq!(result, to[20..].as_mut_ptr());
                assert_eq!(to[20..20 + n], from[begin..begin + n], "{n} from {begin}");
                assert!(to[..20].iter().chain(&to[20 + n..]).all(|byte| *byte == 0xee), "{n}");
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn moves_within_a_place_are_exact() {
        let places =
            [(100, 100), (100, 101), (101, 100), (100, 163), (100, 164), (164, 100), (300, 0)];
        for n in (0..300).chain([400, LONG - 1, LONG, LONG + 1, 5000]) {
            for (to, from) in places {
                let mut place = bytes(6000);
                let mut expected = place.clone();
                expected.copy_within(from..from + n, to);
                let begin = place.as_mut_ptr();
                // SAFETY: both places are within the 6000 bytes.
                unsafe { memmove(begin.add(to), begin.add(from), n) };
                assert_eq!(place, expected, "{n} from {from} to {to}");
            }
        }
    }

    #[test]
    fn comparisons_agree_with_those_of_slices() {
        let one = bytes(100);
        for n in 0..=80 {
            for at in 0..n.max(1) {
                for change in [0, 1, 0x80, 0xff] {
                    let mut other = one.clone();
                    other[at + 3] ^= change;
                    let (a, b) = (&one[3..3 + n], &other[3..3 + n]);
                    // SAFETY: both have n bytes.
                    let (order, differ) = unsafe {
                        (memcmp(a.as_ptr(), b.as_ptr(), n), bcmp(a.as_ptr(), b.as_ptr(), n))
                    };
                    assert_eq!(order.cmp(&0), a.cmp(b), "{n} {at} {change}");
                    assert_eq!(differ == 0, a == b);
                }
            }
        }
    }
}
