//! A log of any length, from a part that is repeated: formatting each line takes longer than reading it.

use std::io::{self, Write};

use crate::synthetic::{Log, Random};

/// Which word of a line is the id of its launch; the date and the time are two words.
const ID: usize = 15;

/// Writes the first `lines` lines of a log so many `times`, and gives the launches other ids each time.
pub fn write(lines: u64, times: u64, out: &mut impl Write) -> io::Result<()> {
    let mut log = Log::new(1);
    let mut text = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..lines {
        let line = log.line();
        let before: usize =
            line.split(|byte| *byte == b' ').take(ID).map(|word| word.len() + 1).sum();
        let digits = str::from_utf8(&line[before..before + 16]).map_err(io::Error::other)?;
        let id = u64::from_str_radix(digits, 16).map_err(io::Error::other)?;
        ids.push((text.len() + before, id));
        text.extend_from_slice(line);
    }
    let mut others = Random::new(2);
    let mut other = 0;
    for _ in 0..times {
        for (at, id) in &ids {
            put_digits(&mut text[*at..*at + 16], id ^ other);
        }
        out.write_all(&text)?;
        other = others.next();
    }
    Ok(())
}

/// Writes a number in hexadecimal digits over all of `to`.
fn put_digits(to: &mut [u8], number: u64) {
    let digits = (0..16).rev().map(|place| (number >> (4 * place) & 15) as usize);
    for (byte, digit) in to.iter_mut().zip(digits) {
        *byte = b"0123456789abcdef"[digit];
    }
}
