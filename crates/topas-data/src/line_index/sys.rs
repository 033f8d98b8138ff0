//! The same look at 64 bytes by the vectors of x86-64, and by words on other processors.

use super::{Marks, Places, put_blanks};

/// Bytes that are looked at together.
pub(super) const CHUNK: usize = 64;

/// Whether this processor has what x86-64 has had since 2013.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_vectors() -> bool {
    std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("lzcnt")
        && std::is_x86_feature_detected!("popcnt")
}

/// Finds all of a text.
pub(super) type Fill = fn(&mut Places<'_>, &[u8]);

/// The ways in which this processor can do that, the fastest first.
pub(super) fn ways() -> impl Iterator<Item = Fill> {
    let by_words: Fill = |places, text| places.fill_by(text, by_words, put_blanks);
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: it is called if the processor has these instructions.
        let narrow: Fill = |places, text| unsafe { vectors::fill(places, text) };
        // SAFETY: likewise.
        let wide: Fill = |places, text| unsafe { wide_vectors::fill(places, text) };
        let is_wide = has_vectors()
            && std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vbmi2");
        let vectors = is_wide.then_some(wide).into_iter().chain(has_vectors().then_some(narrow));
        vectors.chain([by_words])
    }
    #[cfg(not(target_arch = "x86_64"))]
    [by_words].into_iter()
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8,
    };

    use super::{CHUNK, Marks, Places, put_blanks};

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn fill(places: &mut Places<'_>, text: &[u8]) {
        places.fill_by(text, |chunk| marks(chunk), put_blanks);
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

/// The same where one instruction moves the numbers of all blanks of a chunk together: no loop over
/// them, which is most of the work otherwise.
#[cfg(target_arch = "x86_64")]
mod wide_vectors {
    use std::arch::x86_64::{
        __m128i, __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask,
        _mm512_cvtepu8_epi32, _mm512_extracti32x4_epi32, _mm512_loadu_si512,
        _mm512_maskz_compress_epi8, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_storeu_si512,
    };

    use super::{CHUNK, Marks, Places};

    /// Places that are written at once.
    const AT_ONCE: usize = 16;

    /// The number of each byte of a chunk.
    static NUMBERS: [u8; CHUNK] = {
        let mut numbers = [0; CHUNK];
        let mut number = 0;
        while number < CHUNK {
            numbers[number] = number as u8;
            number += 1;
        }
        numbers
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
    pub(super) fn fill(places: &mut Places<'_>, text: &[u8]) {
        places.fill_by(text, |chunk| marks(chunk), |room, at, blanks| put(room, at, blanks));
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
    fn load(chunk: &[u8; CHUNK]) -> __m512i {
        // SAFETY: as many bytes are there, and need not be aligned.
        unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
    fn marks(chunk: &[u8; CHUNK]) -> Marks {
        let chunk = load(chunk);
        let equal = |byte: u8| _mm512_cmpeq_epi8_mask(chunk, _mm512_set1_epi8(byte.cast_signed()));
        Marks { blanks: equal(b' '), newlines: equal(b'\n'), percent: equal(b'%') != 0 }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
    fn put(room: &mut [u32; CHUNK], at: u32, blanks: u64) {
        let numbers = _mm512_maskz_compress_epi8(blanks, load(&NUMBERS));
        let (room, _) = room.as_chunks_mut::<AT_ONCE>();
        let [first, second, third, fourth] = room else { return };
        let count = blanks.count_ones() as usize;
        put_part(first, at, _mm512_castsi512_si128(numbers));
        if count > AT_ONCE {
            put_part(second, at, _mm512_extracti32x4_epi32::<1>(numbers));
            put_part(third, at, _mm512_extracti32x4_epi32::<2>(numbers));
            put_part(fourth, at, _mm512_extracti32x4_epi32::<3>(numbers));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
    fn put_part(room: &mut [u32; AT_ONCE], at: u32, numbers: __m128i) {
        let places =
            _mm512_add_epi32(_mm512_cvtepu8_epi32(numbers), _mm512_set1_epi32(at.cast_signed()));
        // SAFETY: the room has as many bytes, and need not be aligned.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), places) };
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
