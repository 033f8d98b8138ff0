//! What a rank did when it ended, in lines.

use super::{nanoseconds, narrow, whole};
use crate::lines::{OpenMessage, OpenSide};

/// A call in which a thread was when its rank ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCallToken<'a> {
    /// Name of the routine without `MPI_`
    pub routine: &'a [u8],
    /// For how long, in ns; None if nobody noted it
    pub nanoseconds: Option<u64>,
    /// Number of its call path in this record; 0 if it is not known
    pub path: u32,
    /// The rank that it named, and whether that is one of the world
    pub peer: Option<(i32, bool)>,
    /// The tag of the message that it named; less than 0 for any. None if it is not known
    pub tag: Option<i32>,
}

/// The last that is known of a rank; times in ns since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastSignToken<'a> {
    /// When its first call began
    pub began: u64,
    /// When its last call began
    pub last_call: u64,
    /// The second in which its process ended; None if nobody noted it
    pub died: Option<u64>,
    /// Name of the routine of its last call; empty if it is not known
    pub routine: &'a [u8],
    /// Number of the call path of this call in this record; 0 if it is not known
    pub path: u32,
    /// How many ranks ended after it on its node; None if nobody noted it
    pub ended_after: Option<u32>,
}

impl<'a> OpenCallToken<'a> {
    pub(super) fn read(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        Some(OpenCallToken {
            routine: fields.next()?,
            nanoseconds: match fields.next()? {
                b"" => None,
                time => Some(short(time)?),
            },
            path: narrow(fields.next()?)?,
            peer: match fields.next() {
                None => None,
                Some(rank) => Some((signed(rank)?, fields.next() == Some(b"w"))),
            },
            tag: match fields.next() {
                None => None,
                Some(tag) => Some(signed(tag)?),
            },
        })
    }
}

impl<'a> LastSignToken<'a> {
    pub(super) fn read(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        Some(LastSignToken {
            began: short(fields.next()?)?,
            last_call: short(fields.next()?)?,
            died: match fields.next()? {
                b"" => None,
                second => Some(u64::try_from(whole(second)?).ok()?),
            },
            routine: fields.next()?,
            path: narrow(fields.next()?)?,
            ended_after: match fields.next() {
                None => None,
                Some(ranks) => Some(narrow(ranks)?),
            },
        })
    }
}

fn short(text: &[u8]) -> Option<u64> {
    u64::try_from(nanoseconds(text)?).ok()
}

fn signed(text: &[u8]) -> Option<i32> {
    match text.strip_prefix(b"-") {
        Some(digits) => i32::try_from(whole(digits)?).ok()?.checked_neg(),
        None => i32::try_from(whole(text)?).ok(),
    }
}

/// What stands behind `o=`.
pub(super) fn open_message<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<OpenMessage> {
    let [letter] = fields.next()? else { return None };
    let side = OpenSide::ALL.into_iter().find(|side| side.letter() == *letter)?;
    Some(OpenMessage {
        side,
        rank: narrow(fields.next()?)?,
        tag: signed(fields.next()?)?,
        comm: match fields.next() {
            None => None,
            Some(comm) => Some(narrow(comm)?),
        },
    })
}
