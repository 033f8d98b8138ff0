//! Call paths in lines.

use topas_format::text::Cursor;

use super::{nanoseconds, narrow, whole};
use crate::lines::PATH_END_LETTERS;
use crate::routine::number;

/// A call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathToken<'a> {
    /// Name of the function without `MPI_`; `-` of all other paths together
    pub name: &'a [u8],
    /// Its number, if this table has it
    pub number: Option<usize>,
    /// Calls
    pub calls: u128,
    /// Nanoseconds in them
    pub nanoseconds: u128,
    /// Bytes sent
    pub sent: u128,
    /// Bytes received
    pub received: u128,
    /// Nanoseconds by kind of wait: late senders, late receivers, collectives
    pub waits: [u128; 3],
    /// How it ends: a place in [`PATH_END_LETTERS`]
    pub end: usize,
    frames: &'a [u8],
}

impl<'a> PathToken<'a> {
    pub(super) fn read(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<PathToken<'a>> {
        let name = fields.next()?;
        let mut token = PathToken {
            name,
            number: number(name),
            calls: whole(fields.next()?)?,
            nanoseconds: nanoseconds(fields.next()?)?,
            sent: whole(fields.next()?)?,
            received: whole(fields.next()?)?,
            waits: [0; 3],
            end: 0,
            frames: b"",
        };
        for wait in &mut token.waits {
            *wait = nanoseconds(fields.next()?)?;
        }
        if name != b"-" {
            let letter = fields.next()?;
            token.end = PATH_END_LETTERS.iter().position(|known| [*known] == *letter)?;
            token.frames = fields.next()?;
            let all = token.frames.split(|byte| *byte == b',').filter(|frame| !frame.is_empty());
            if !all.clone().all(|text| frame(text).is_some()) {
                return None;
            }
        }
        Some(token)
    }

    /// Frames, innermost first: number of the module, if there is one, and offset in its file in
    /// B.
    pub fn frames(&self) -> impl Iterator<Item = (Option<u32>, u64)> + use<'a> {
        self.frames.split(|byte| *byte == b',').filter_map(frame)
    }
}

/// `MODULE+OFFSET`
fn frame(text: &[u8]) -> Option<(Option<u32>, u64)> {
    let mut text = Cursor::new(text);
    let module = match text.until(b'+') {
        b"-" => None,
        module => Some(narrow(module)?),
    };
    let digits = text.rest;
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut offset = 0;
    for digit in digits {
        offset = offset << 4 | u64::from(char::from(*digit).to_digit(16)?);
    }
    Some((module, offset))
}
