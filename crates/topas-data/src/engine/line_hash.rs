//! A hash of a whole line, of which some bits tell a line that stands there twice from another one.
//!
//! Each line has one, so it must cost little: products of 32 bits, as XXH3 adds them up, are made
//! four at a time by vectors of any x86-64.

/// Bytes that are looked at together.
const CHUNK: usize = 32;

/// Chunks of the longest line that is hashed by products; longer ones are rare.
const MOST: usize = 16;

/// A number without a pattern for each word of a line, and for its last words.
static SALT: [[u64; 4]; MOST + 1] = {
    let mut salt = [[0; 4]; MOST + 1];
    let mut state = 0u64;
    let mut at = 0;
    while at < 4 * salt.len() {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        salt[at / 4][at % 4] = z ^ z >> 31;
        at += 1;
    }
    salt
};

/// The hash of a line. Equal lines have equal ones, whoever reads them.
#[inline(always)]
pub(super) fn line_hash(text: &[u8]) -> u64 {
    let (Some(last), true) = (text.last_chunk::<CHUNK>(), text.len() <= MOST * CHUNK) else {
        return rapidhash::v3::rapidhash_v3(text);
    };
    let [salts @ .., of_last] = &SALT;
    let mut sums = [text.len() as u64; 4];
    // The rest, with bytes of the chunk before.
    add(&mut sums, last, of_last);
    // The compiler makes steps of this loop: of many chunks at once, it would exchange rows and
    // columns.
    for (number, salt) in salts.iter().enumerate() {
        let Some(chunk) = text.get(number * CHUNK..).and_then(<[u8]>::first_chunk) else { break };
        add(&mut sums, chunk, salt);
    }
    let sum = sums.iter().fold(0, |sum: u64, one| sum.wrapping_add(*one));
    let sum = (sum ^ sum >> 37).wrapping_mul(0x1656_6791_9e37_79f9);
    sum ^ sum >> 32
}

/// Adds the product of both halves of each word.
#[inline(always)]
fn add(sums: &mut [u64; 4], chunk: &[u8; CHUNK], salt: &[u64; 4]) {
    let words = chunk.as_chunks::<8>().0;
    for ((sum, word), salt) in sums.iter_mut().zip(words).zip(salt) {
        let word = u64::from_le_bytes(*word) ^ salt;
        *sum = sum.wrapping_add((word & 0xffff_ffff) * (word >> 32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits that a record keeps, see `Marks::of_hash`.
    fn kept(text: &[u8]) -> u32 {
        ((line_hash(text) >> 32) as u32) << 7
    }

    /// Lines of one launch differ in few digits, or in their order. Of 25 bits, one of 33 million
    /// pairs is the same by chance.
    #[test]
    fn lines_that_differ_little_have_other_bits() {
        let text: Vec<u8> = (0..700u32).map(|n| b'0' + (n * n / 7 % 10) as u8).collect();
        let mut pairs = 0;
        for len in (0..text.len()).step_by(9) {
            let text = &text[..len];
            let hash = kept(text);
            for at in 0..len {
                let mut other = text.to_vec();
                other[at] = b'0' + (other[at] - b'0' + 1) % 10;
                assert_ne!(kept(&other), hash, "{at} of {len}");
                if let Some(same) = at.checked_add(32).filter(|at| *at < len) {
                    // The opposite change in the same column of the next chunk.
                    other[same] = b'0' + (other[same] - b'0' + 9) % 10;
                    assert_ne!(kept(&other), hash, "{at} and {same} of {len}");
                }
                pairs += 1;
            }
            for step in [1, 4, 8, 32] {
                let mut other = text.to_vec();
                other.rotate_left(step.min(len));
                assert!(other == text || kept(&other) != hash, "{step} of {len}");
            }
            assert_ne!(kept(&[text, b"0"].concat()), hash, "{len}");
        }
        assert!(pairs > 20_000);
    }
}
