//! The same look at 64 bytes by the vectors of x86-64, and by words on other processors.

use super::{Marks, Places};

/// Bytes that are looked at together.
pub(super) const CHUNK: usize = 64;

/// [`Places::fill_by`] by the widest vectors that this processor has.
pub(super) fn fill(places: &mut Places<'_>, text: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has these instructions.
        return unsafe { vectors::fill(places, text) };
    }
    places.fill_by(text, by_words);
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8,
    };

    use super::{CHUNK, Marks, Places};

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn fill(places: &mut Places<'_>, text: &[u8]) {
        places.fill_by(text, |chunk| marks(chunk));
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn marks(chunk: &[u8; CHUNK]) -> Marks {
        let at = chunk.as_ptr().cast::<__m256i>();
        // SAFETY: both parts are in the chunk, and need not be aligned.
        let (one, two) = unsafe { (_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))) };
        let equal = |byte: u8| {
            let byte = _mm256_set1_epi8(byte.cast_signed());
            (_mm256_cmpeq_epi8(one, byte), _mm256_cmpeq_epi8(two, byte))
        };
        let bits = |(one, two)| {
            let bits = |part| u64::from(_mm256_movemask_epi8(part).cast_unsigned());
            bits(one) | bits(two) << 32
        };
        let (one, two) = equal(b'%');
        Marks {
            blanks: bits(equal(b' ')),
            newlines: bits(equal(b'\n')),
            percent: _mm256_movemask_epi8(_mm256_or_si256(one, two)) != 0,
        }
    }
}

/// The marks of a chunk, eight bytes at a time.
#[inline(always)]
pub(super) fn by_words(chunk: &[u8; CHUNK]) -> Marks {
    let mut marks = Marks { blanks: 0, newlines: 0, percent: false };
    for (at, word) in chunk.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        marks.blanks |= u64::from(equal_bytes(word, b' ')) << (8 * at);
        marks.newlines |= u64::from(equal_bytes(word, b'\n')) << (8 * at);
        marks.percent |= equal_bytes(word, b'%') != 0;
    }
    marks
}

/// A bit for each byte of a word, from the lowest on, that is such a byte.
#[inline(always)]
fn equal_bytes(word: u64, byte: u8) -> u8 {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let others = word ^ u64::from_ne_bytes([byte; 8]);
    // The highest bit of each byte that is 0 now; nothing is carried from a byte to the next.
    let zeros = !((others & LOW).wrapping_add(LOW) | others | LOW);
    // Moves the bits to the highest byte.
    ((zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}
