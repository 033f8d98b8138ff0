//! The extras that the module writes first, `v=1 t=... uid=...`: when a line was written, and of
//! whom it is. Every line is asked for both, so both are read in one go.

use memchr::memchr_iter;
use topas_format::line::{Extras, FirstNumbers};
use topas_format::number::{leading, whole};

/// Latest `t=` that is believed: the last second of the year 9999.
const LATEST: u64 = 253_402_300_799;

/// What a line says of its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    None,
    Uid(u64),
    /// Several, or what is no number
    Unclear,
}

/// What the first extras of a line tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstExtras {
    /// Seconds since 1970-01-01 UTC, if the line has a time that is believed
    pub(crate) epoch: Option<i64>,
    pub(crate) claim: Claim,
}

impl FirstExtras {
    /// Of a line.
    #[inline]
    pub(crate) fn of_line(extras: Extras<'_>) -> Self {
        if let Some((t, uid, rest)) = as_written(extras.text())
            && !names_another_uid(rest)
        {
            return FirstExtras { epoch: believed(t), claim: Claim::Uid(uid) };
        }
        FirstExtras { epoch: read_epoch(extras), claim: read_claim(extras) }
    }

    /// Of a line whose first numbers were read; `rest` is what stands behind them.
    #[inline]
    pub(crate) fn of_numbers(first: FirstNumbers, rest: &[u8], extras: Extras<'_>) -> Self {
        if names_another_uid(rest) {
            return FirstExtras::of_line(extras);
        }
        FirstExtras { epoch: believed(first.t), claim: Claim::Uid(first.uid) }
    }
}

/// The time and the user id of extras that begin as the module writes them, and what follows.
#[inline]
fn as_written(extras: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (t, rest) = leading(extras.strip_prefix(b" v=1 t=")?)?;
    let (uid, rest) = leading(rest.strip_prefix(b" uid=")?)?;
    matches!(rest, [] | [b' ', ..]).then_some((t, uid, rest))
}

/// Whether a second `uid=` may follow: readers that look for the last one would see another.
#[inline]
fn names_another_uid(rest: &[u8]) -> bool {
    stands(b'u', b" uid", rest)
}

/// Whether `word` is in `text`; `rare` is a byte of the word that the text seldom has.
#[inline]
pub(crate) fn stands(rare: u8, word: &[u8], text: &[u8]) -> bool {
    let Some(before) = word.iter().position(|byte| *byte == rare) else { return false };
    memchr_iter(rare, text)
        .any(|found| found.checked_sub(before).is_some_and(|begin| text[begin..].starts_with(word)))
}

/// A time `t=` in s since 1970, if it is believed.
pub(crate) fn believed(t: u64) -> Option<i64> {
    (t <= LATEST).then_some(t as i64)
}

/// The user that a line names by `uid=`.
#[inline]
pub(crate) fn claim(extras: Extras<'_>) -> Claim {
    FirstExtras::of_line(extras).claim
}

/// `t=` of a line, if it has one that is believed.
#[inline]
pub(crate) fn epoch(extras: Extras<'_>) -> Option<i64> {
    match as_written(extras.text()) {
        Some((t, ..)) => believed(t),
        None => read_epoch(extras),
    }
}

/// `t=` where the extras are not as the module writes them.
#[cold]
fn read_epoch(extras: Extras<'_>) -> Option<i64> {
    let epoch = match extras.text().strip_prefix(b" v=1 t=") {
        Some(digits) => match leading(digits) {
            Some((t, [] | [b' ', ..])) => Some(t),
            _ => None,
        },
        None => extras.number(b"t"),
    };
    epoch.and_then(believed)
}

/// `uid=` likewise.
#[cold]
fn read_claim(extras: Extras<'_>) -> Claim {
    let mut uids = extras.filter(|(key, _)| *key == b"uid").map(|(_, value)| value);
    match (uids.next(), uids.next()) {
        (None, _) => Claim::None,
        (Some(digits), None) => whole(digits).map_or(Claim::Unclear, Claim::Uid),
        (Some(_), Some(_)) => Claim::Unclear,
    }
}
