//! Worlds of spawned processes in lines.

use topas_format::escape::Name;

use super::{nanoseconds, narrow};
use crate::lines::SpawnedWorld;

/// A world that a rank started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartedWorldToken<'a> {
    /// Name of the program, without its directory
    pub command: Name<'a>,
    /// Processes
    pub ranks: u32,
    /// When the call began, in ns since 1970
    pub began: u64,
    /// How long it took, in ns
    pub nanoseconds: u64,
    /// Name of the routine without `MPI_`
    pub routine: &'a [u8],
    /// Number of the call path in this record; 0 if it is not known
    pub path: u32,
    /// Hash of the launcher's name of the rank's own world; 0 if it is not known
    pub world: u64,
    /// The launcher, as [`SpawnedWorld::launcher`]
    pub launcher: u64,
}

impl<'a> StartedWorldToken<'a> {
    pub(super) fn read(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        Some(StartedWorldToken {
            command: Name::from_token(fields.next()?),
            ranks: narrow(fields.next()?)?,
            began: time(fields.next()?)?,
            nanoseconds: time(fields.next()?)?,
            routine: fields.next()?,
            path: narrow(fields.next()?)?,
            world: hex(fields.next()?)?,
            launcher: launcher(fields)?,
        })
    }
}

impl SpawnedWorld {
    pub(super) fn read<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<SpawnedWorld> {
        let began = time(fields.next()?)?;
        let Some(parent) = fields.next() else {
            return Some(SpawnedWorld { began, parent: None, launcher: 0 });
        };
        let parent = (hex(parent)?, narrow(fields.next()?)?);
        let parent = (parent.0 != 0).then_some(parent);
        Some(SpawnedWorld { began, parent, launcher: launcher(fields)? })
    }
}

/// The last field of either token: 0 if it is not there.
fn launcher<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<u64> {
    fields.next().map_or(Some(0), hex)
}

fn time(text: &[u8]) -> Option<u64> {
    u64::try_from(nanoseconds(text)?).ok()
}

/// Up to 16 hexadecimal digits.
pub(super) fn hex(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits.iter().try_fold(0, |n, digit| Some(n << 4 | u64::from(char::from(*digit).to_digit(16)?)))
}
