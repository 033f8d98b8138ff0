//! Lines of profiles among those of a log, for whom their content does not matter.

use topas_format::escape::Name;
use topas_mpi_profile::parse::{Line, ProfileLineFault, Token, is_profile, whole};

use crate::first_extras::believed;

/// Whether a text is a line of a profile: None if it is something else, else what is wrong with
/// it, or when it was written in s since 1970-01-01, which only the first line of a record tells.
pub(crate) fn judge(text: &[u8]) -> Option<Result<Option<i64>, ProfileLineFault>> {
    if !is_profile(text) {
        return None;
    }
    let judged = Line::parse(text).and_then(|line| {
        let mut time = None;
        for token in line.tokens() {
            if let Token::Fact(b"t", value) = token? {
                time = number(value).and_then(|t| believed(u64::try_from(t).ok()?));
            }
        }
        Ok(time)
    });
    Some(judged)
}

fn number(value: Name<'_>) -> Option<u128> {
    whole(value.plain()?)
}

/// The user that a line tells; only the first line of a record does.
pub(crate) fn uid(text: &[u8]) -> Option<u64> {
    let uid = |token| match token {
        Ok(Token::Fact(b"uid", value)) => number(value),
        _ => None,
    };
    Line::parse(text).ok()?.tokens().find_map(uid).and_then(|uid| u64::try_from(uid).ok())
}

/// The whole line of a profile at the end of a text that begins with a part of another line.
pub(crate) fn behind_torn(text: &[u8]) -> Option<&[u8]> {
    let digits = text.rsplit(|byte| *byte == b'=').next()?;
    let len: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let whole = text.get(text.len().checked_sub(len)?..)?;
    (len < text.len() && Line::parse(whole).is_ok()).then_some(whole)
}
