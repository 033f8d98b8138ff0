//! Numbers as if by chance, the same every time.

/// A sequence that begins with `seed`; each call gives a number below its argument.
///
/// The generator is linear congruential with the constants of D. E. Knuth, MMIX (The Art of
/// Computer Programming, volume 2, section 3.3.4), of which the upper bits are taken.
pub fn numbers_below(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}
