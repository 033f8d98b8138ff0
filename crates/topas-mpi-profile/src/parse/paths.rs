//! Call paths in lines.

use topas_format::text::Cursor;

use super::{hex, nanoseconds, narrow, waited, whole};
use crate::layout::SLACKS;
use crate::lines::PATH_END_LETTERS;
use crate::routine::number;
use crate::sums::WaitedSums;

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
    /// Its number in the record; None if it is not told
    pub place: Option<u32>,
    /// Nanoseconds in calls of which it is not known whether they were waits
    pub unknown: u128,
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
            place: None,
            unknown: 0,
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
        // Records that are older end here.
        if let Some(place) = fields.next() {
            token.place = Some(narrow(place)?);
            token.unknown = nanoseconds(fields.next()?)?;
        }
        Some(token)
    }

    /// Frames, innermost first: number of the module, if there is one, and offset in its file in
    /// B.
    pub fn frames(&self) -> impl Iterator<Item = (Option<u32>, u64)> + use<'a> {
        self.frames.split(|byte| *byte == b',').filter_map(frame)
    }
}

/// Whom a path waited for: a path of another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartnerToken {
    /// Number of the path in this record
    pub path: u32,
    /// The other rank
    pub peer: u32,
    /// Number of its path in its record; 0 if it is not known
    pub peer_path: u32,
    /// Waits for which it is to blame: it sent late, received late, came late to a collective
    pub waits: [WaitedSums; 3],
    /// Calls whose last message it had sent before they began, of those that were looked at
    pub on_time: u128,
    /// Calls by how long behind their beginning, and before it, their last message was sent
    pub slack: [[u128; SLACKS]; 2],
}

impl PartnerToken {
    pub(super) fn read<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<PartnerToken> {
        let mut token = PartnerToken {
            path: narrow(fields.next()?)?,
            peer: narrow(fields.next()?)?,
            peer_path: narrow(fields.next()?)?,
            waits: [waited(fields)?, waited(fields)?, waited(fields)?],
            on_time: whole(fields.next()?)?,
            slack: [[0; SLACKS]; 2],
        };
        for class in fields.next().unwrap_or_default().split(|byte| *byte == b',') {
            if class.is_empty() {
                continue;
            }
            let mut text = Cursor::new(class);
            let (sign, class) = match text.until(b'=') {
                [b'-', digits @ ..] => (0, narrow(digits)?),
                digits => (1, narrow(digits)?),
            };
            let place = token.slack.get_mut(sign)?.get_mut(class as usize)?;
            *place = place.checked_add(whole(text.rest)?)?;
        }
        Some(token)
    }
}

/// `MODULE+OFFSET`
fn frame(text: &[u8]) -> Option<(Option<u32>, u64)> {
    let mut text = Cursor::new(text);
    let module = match text.until(b'+') {
        b"-" => None,
        module => Some(narrow(module)?),
    };
    Some((module, hex(text.rest)?))
}
