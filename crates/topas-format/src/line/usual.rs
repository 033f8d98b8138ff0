//! A line as the module writes it today, read by the vectors of x86-64: the digits of eleven tokens,
//! four tokens at a time, where [`Slot::count`] reads one. From its index to its record, such a line
//! takes 1,140 instructions in place of 1,700.
//!
//! A line of any other form is left to [`Line::parse_indexed`], which alone decides what is true. So
//! nothing here says what is wrong with a line.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_and_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_shuffle_epi8, _mm_sub_epi8,
    _mm256_add_epi64, _mm256_extract_epi64, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_mul_epu32, _mm256_or_si256, _mm256_packus_epi32, _mm256_set_m128i, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_srli_epi64, _mm256_subs_epu8,
    _mm256_testz_si256,
};

use super::{END, Extras, FirstNumbers, IndexedLine, Line};
use crate::civil::Date;
use crate::escape::Name;
use crate::field::{Lang, Lib, Mhz, Mode, Npes, Operations, Token, operations_metric};
use crate::number::{Count, Micros};
use crate::slot::Slot;

/// Gets a usual line.
pub trait UsualSink<'a> {
    /// The line, its extras, and where it stands, with what the first extras say.
    fn take(self, line: &Line<'a>, extras: Extras<'a>, of: &IndexedLine<'a>);
}

/// Reads usual lines, and remembers what comes again in other lines.
pub struct UsualReader {
    /// The date of the last line, and its text
    date: (Date, [u8; 10]),
    words: [UsualWords; PLACES],
}

/// Mode, language and library, and the last bytes of a text that ends with them; others are 0.
#[derive(Clone, Copy)]
struct UsualWords {
    text: u128,
    words: (Mode, Lang, Lib),
}

/// Places for words that are remembered: four times as many as there are.
const PLACES: usize = 256;

/// Bytes that are looked at for a number: more digits are not usual.
const WIDTH: usize = 16;

impl Default for UsualReader {
    fn default() -> Self {
        // No line has these texts.
        let words = UsualWords { text: 0, words: (Mode::Batch, Lang::C, Lib::None) };
        UsualReader { date: (Date::default(), [0; 10]), words: [words; PLACES] }
    }
}

impl UsualReader {
    /// Gives a line to a sink if the line is as the module writes it: true. It is not if it has no
    /// `uid=`, an escape, a number of 17 digits, or whatever else is rare.
    ///
    /// The line is not returned: a line that is returned would come through memory, with fields that
    /// nobody looks at.
    ///
    /// # Safety
    ///
    /// The processor has AVX2, BMI1, BMI2, LZCNT and POPCNT. Functions that are compiled for these
    /// call this one without `unsafe`.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub fn read<'a>(&mut self, of: &IndexedLine<'a>, sink: impl UsualSink<'a>) -> bool {
        self.try_read(of, sink).is_some()
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn try_read<'a>(&mut self, of: &IndexedLine<'a>, sink: impl UsualSink<'a>) -> Option<()> {
        if !of.plain {
            return None;
        }
        let text = of.text;
        let ends: &[u32; 19] = of.blanks.first_chunk()?;
        let end = |token: usize| ends.get(token).map_or(0, |end| *end as usize);

        // First what is missing where a line is not usual.
        let t = extra(text, b" v=1 t=", end(15), end(17))?;
        let uid = extra(text, b" uid=", end(17), end(18))?;
        let len = extra(text, b" len=", of.end.wrapping_sub(END - 1), of.end)?;

        let user_time = time(text, end(9) + 1, end(10))?;
        let sys_time = time(text, end(10) + 1, end(11))?;
        let wall_time = time(text, end(11) + 1, end(12))?;
        let l1_miss = estimate(text, end(13) + 1, end(14))?;
        let tokens = [user_time, sys_time, wall_time, l1_miss.digits];
        let (over_1, [user_time, sys_time, wall_time, misses]) = numbers(tokens);

        let pe = number(text, end(3) + 1, end(4))?;
        let npes = count(text, end(4) + 1, end(5))?;
        let mhz = frequency(text, end(5) + 1, end(6))?;
        let (over_2, [pe, ranks, frequency, uid]) = numbers([pe, npes.digits, mhz.digits, uid]);

        let ops = end(12) + 1;
        let [letter, mark] = *text.get(ops..)?.first_chunk()?;
        let ops = UsualCount { is_estimate: mark == b'~', ..count(text, ops + 2, end(13))? };
        let (over_3, [operations, t, len, _]) = numbers([ops.digits, t, len, len]);

        let over = _mm256_or_si256(_mm256_or_si256(over_1, over_2), over_3);
        let is_usual = _mm256_testz_si256(over, over) != 0
            && (pe | ranks | frequency) >> 32 == 0
            && (mark == b'=' || mark == b'~' && !ops.is_missing)
            && len == of.bytes().len() as u64;
        if !is_usual {
            return None;
        }
        let (mode, lang, lib) = self.words(text, end(6), [end(7), end(8), end(9)])?;
        let line = Line {
            date: self.date(text, of.begin, end(0))?,
            time: Token::read(Slot::new(text, end(0) + 1, end(1), true)?)?,
            user: name(text, end(1) + 1, end(2))?,
            exe: name(text, end(2) + 1, end(3))?,
            pe: pe as u32,
            npes: Npes((!npes.is_missing).then_some(ranks as u32)),
            mhz: Mhz((!mhz.is_missing).then_some(frequency as u32)),
            mode,
            lang,
            lib,
            user_time: Micros(user_time),
            sys_time: Micros(sys_time),
            wall_time: Micros(wall_time),
            ops: Operations { metric: operations_metric(letter)?, count: ops.count(operations) },
            l1_miss: l1_miss.count(misses),
            id: name(text, end(14) + 1, end(15))?,
        };
        let blanks = of.blanks.get(15..).unwrap_or_default();
        let extras = Extras { text: of.bytes(), at: end(15).wrapping_sub(of.begin), blanks };
        let first = Some(FirstNumbers { t, uid });
        sink.take(&line, extras, &IndexedLine { first, ..*of });
        Some(())
    }

    /// The date from a place to another. Lines of a day follow each other.
    #[inline(always)]
    fn date(&mut self, text: &[u8], begin: usize, end: usize) -> Option<Date> {
        let token = text.get(begin..end)?;
        if *token != self.date.1 {
            self.date = (Token::read(Slot::whole(token))?, *token.first_chunk()?);
        }
        Some(self.date.0)
    }

    /// Mode, language and library, which end at these places, behind a blank. No processor foretells
    /// which of the words come next, so they are compared with what was there before and not with
    /// one word after the other.
    #[inline(always)]
    fn words(&mut self, text: &[u8], blank: usize, ends: [usize; 3]) -> Option<(Mode, Lang, Lib)> {
        let len = ends[2].wrapping_sub(blank);
        let chunk = text.get(..ends[2])?.last_chunk()?;
        if len > WIDTH {
            return None;
        }
        // With the blank, so that a text of another length is another text.
        let last = u128::from_le_bytes(*chunk) & u128::from_le_bytes(*last_bytes(len));
        let hash = ((last >> 64) as u64 ^ last as u64).wrapping_mul(0xf135_7aea_2e62_a9c5);
        let place = self.words.get_mut((hash >> 56) as usize % PLACES)?;
        if place.text != last {
            *place = UsualWords { text: last, words: words(text, blank, ends)? };
        }
        Some(place.words)
    }
}

/// The words as each of them says.
#[cold]
#[inline(never)]
fn words(text: &[u8], blank: usize, ends: [usize; 3]) -> Option<(Mode, Lang, Lib)> {
    let word = |blank: usize, end| Slot::new(text, blank + 1, end, true);
    let [mode, lang, lib] = ends;
    Some((
        Token::read(word(blank, mode)?)?,
        Token::read(word(mode, lang)?)?,
        Token::read(word(lang, lib)?)?,
    ))
}

/// A name, which has no escape.
#[inline(always)]
fn name(text: &[u8], start: usize, end: usize) -> Option<Name<'_>> {
    match text.get(start..end)? {
        [] => None,
        token => Some(Name::of_token(token, false)),
    }
}

/// A token that is a number, or a `-` in place of one.
struct UsualCount {
    /// Those of 0 if it is a `-`
    digits: __m128i,
    is_missing: bool,
    /// Whether a `~` stands before the number
    is_estimate: bool,
}

impl UsualCount {
    #[inline(always)]
    fn count(&self, number: u64) -> Count {
        match (self.is_missing, self.is_estimate) {
            (true, _) => Count::Missing,
            (false, false) => Count::Exact(number),
            (false, true) => Count::Estimate(number),
        }
    }
}

/// The bytes up to the end of a token, and the length of the token, which is as usual.
#[inline(always)]
fn token(text: &[u8], start: usize, end: usize) -> Option<(&[u8; WIDTH], usize)> {
    let len = end.wrapping_sub(start);
    if !(1..=WIDTH).contains(&len) {
        return None;
    }
    Some((text.get(..end)?.last_chunk()?, len))
}

/// The digits of a token.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn number(text: &[u8], start: usize, end: usize) -> Option<__m128i> {
    let (chunk, len) = token(text, start, end)?;
    Some(last_digits(chunk, len))
}

/// The digits of a token that may be a `-`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn count(text: &[u8], start: usize, end: usize) -> Option<UsualCount> {
    let (chunk, len) = token(text, start, end)?;
    let is_missing = len == 1 && chunk.last() == Some(&b'-');
    let digits = last_digits(chunk, if is_missing { 0 } else { len });
    Some(UsualCount { digits, is_missing, is_estimate: false })
}

/// The same of one that has a `~` before it if it is an estimate.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn estimate(text: &[u8], start: usize, end: usize) -> Option<UsualCount> {
    let is_estimate = *text.get(start)? == b'~';
    let count = count(text, start + usize::from(is_estimate), end)?;
    (!(is_estimate && count.is_missing)).then_some(UsualCount { is_estimate, ..count })
}

/// The same of one that has a `t` before it if it is no `-`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn frequency(text: &[u8], start: usize, end: usize) -> Option<UsualCount> {
    let is_told = *text.get(start)? == b't';
    let count = count(text, start + usize::from(is_told), end)?;
    (is_told != count.is_missing).then_some(count)
}

/// The digits of the value of an extra; its key, with the blank before it, stands at a place.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn extra<const N: usize>(text: &[u8], key: &[u8; N], at: usize, end: usize) -> Option<__m128i> {
    if text.get(at..)?.first_chunk() != Some(key) {
        return None;
    }
    number(text, at + N, end)
}

/// The digits of seconds as those of millionths: seconds with three or six decimals, without the
/// point.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn time(text: &[u8], start: usize, end: usize) -> Option<__m128i> {
    let (chunk, len) = token(text, start, end)?;
    let &[_, _, _, _, _, _, _, _, _, before_six, _, _, before_three, _, _, _] = chunk;
    let has_six = len >= 8 && before_six == b'.';
    // Nine digits of seconds at most.
    if !has_six && (before_three != b'.' || !(5..=13).contains(&len)) {
        return None;
    }
    let moved = WITHOUT_POINT.get(usize::from(has_six))?;
    Some(_mm_shuffle_epi8(last_digits(chunk, len), load(moved)))
}

/// Nothing and then everything: from a place on, a mask of as many last bytes.
#[allow(clippy::indexing_slicing, reason = "done by the compiler")]
static LAST_BYTES: [u8; 2 * WIDTH + WIDTH] = {
    let mut bytes = [0xff; 3 * WIDTH];
    let mut place = 0;
    while place < WIDTH {
        bytes[place] = 0;
        place += 1;
    }
    bytes
};

/// A byte that is 0 afterwards, in what bytes are moved by.
const ZERO: u8 = 0x80;

/// Moves digits over a point that three of them follow, behind which three more are 0, and over a
/// point that six follow.
static WITHOUT_POINT: [[u8; WIDTH]; 2] = [
    [ZERO, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, ZERO, ZERO, ZERO],
    [ZERO, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15],
];

/// A mask of the last bytes.
#[inline(always)]
fn last_bytes(len: usize) -> &'static [u8; WIDTH] {
    let mask = LAST_BYTES.get(len % (2 * WIDTH)..).and_then(<[u8]>::first_chunk);
    mask.unwrap_or(&[0; WIDTH])
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn load(bytes: &[u8; WIDTH]) -> __m128i {
    let word = u128::from_le_bytes(*bytes);
    _mm_set_epi64x((word >> 64) as i64, word as i64)
}

/// The last bytes as numbers, those of digits from 0 to 9; all others are 0.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn last_digits(chunk: &[u8; WIDTH], len: usize) -> __m128i {
    let digits = _mm_sub_epi8(load(chunk), _mm_set1_epi8(b'0'.cast_signed()));
    _mm_and_si128(digits, load(last_bytes(len)))
}

/// The numbers of 16 digits each, and what is not 0 where a byte is no digit.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn numbers([a, b, c, d]: [__m128i; 4]) -> (__m256i, [u64; 4]) {
    let (one, two) = (_mm256_set_m128i(c, a), _mm256_set_m128i(d, b));
    let nine = _mm256_set1_epi8(9);
    let over = _mm256_or_si256(_mm256_subs_epu8(one, nine), _mm256_subs_epu8(two, nine));
    // Joins neighbours four times: a number is twice as wide each time, and the first one of a pair
    // counts for more.
    let pairs = |digits| _mm256_maddubs_epi16(digits, _mm256_set1_epi16(1 << 8 | 10));
    let fours = |digits| _mm256_madd_epi16(pairs(digits), _mm256_set1_epi32(1 << 16 | 100));
    let fours = _mm256_packus_epi32(fours(one), fours(two));
    let eights = _mm256_madd_epi16(fours, _mm256_set1_epi32(1 << 16 | 10_000));
    let high = _mm256_mul_epu32(eights, _mm256_set1_epi64x(100_000_000));
    let all = _mm256_add_epi64(high, _mm256_srli_epi64::<32>(eights));
    let numbers = [
        _mm256_extract_epi64::<0>(all),
        _mm256_extract_epi64::<1>(all),
        _mm256_extract_epi64::<2>(all),
        _mm256_extract_epi64::<3>(all),
    ];
    (over, numbers.map(i64::cast_unsigned))
}
