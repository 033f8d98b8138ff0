//! Copies and comparisons of memory for static tools.
//!
//! musl compares byte by byte, and starts a string instruction of the processor for each copy, however
//! short. Most texts of a log are shorter than 64 B, so `topas-stat` spent a tenth of its time there.
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
        if n > SHORT {
            core::arch::asm!(
                "rep movsb",
                inout("rcx") n => _, inout("rdi") to => _, inout("rsi") from => _,
                options(nostack, preserves_flags)
            );
        } else {
            short(to, from, n);
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
    // SAFETY: the caller's promise; the direction is reset at once.
    unsafe {
        if n <= SHORT {
            short(to, from, n);
        } else if (to as usize).wrapping_sub(from as usize) >= n {
            core::arch::asm!(
                "rep movsb",
                inout("rcx") n => _, inout("rdi") to => _, inout("rsi") from => _,
                options(nostack, preserves_flags)
            );
        } else {
            // The source would be overwritten before it is read, so from the end.
            core::arch::asm!(
                "std", "rep movsb", "cld",
                inout("rcx") n => _,
                inout("rdi") to.add(n - 1) => _,
                inout("rsi") from.add(n - 1) => _,
                options(nostack)
            );
        }
    }
    to
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
        let from = bytes(700);
        for n in (0..300).chain([511, 512, 600]) {
            for begin in [0, 1, 7, 13] {
                let mut to = vec![0xee; 700];
                // SAFETY: 20 + 600 and 13 + 600 are less than 700.
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
        for n in [0, 1, 3, 5, 9, 17, 33, 65, 127, 128, 129, 200, 400] {
            for (to, from) in [(100, 100), (100, 101), (101, 100), (100, 120), (120, 100), (0, 300)]
            {
                let mut place = bytes(800);
                let mut expected = place.clone();
                expected.copy_within(from..from + n, to);
                let begin = place.as_mut_ptr();
                // SAFETY: both places are within the 800 bytes.
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
