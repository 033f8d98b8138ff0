//! The boards on which ranks of a node tell each other what they have begun, as their mapped files have them.

use std::mem::offset_of;

use topas_mpi_profile::layout::Waits;
use topas_mpi_waits::board::{KEYS, Keys, PLACES, Ring};

use super::spool::{Spool, SpoolError};

/// The board of a rank.
pub(super) struct Board<'s> {
    spool: &'s Spool,
    /// Where its keys are in the file
    at: u64,
}

impl<'s> Board<'s> {
    /// That of a file; None if its rank tells no waits, or it cannot be read.
    pub(super) fn of(spool: &'s Spool) -> Option<Board<'s>> {
        if spool.header.waits == 0 {
            return None;
        }
        let waits = spool.header.waits.saturating_add(offset_of!(Waits, board) as u64);
        let at = spool.decode(waits).ok()?;
        (at != 0).then_some(Board { spool, at })
    }

    /// How many stamps there were of a key; None if its numbers mean nothing, or there is no room for it.
    pub(super) fn published(&self, key: u64) -> Option<u64> {
        for place in Keys::places_of(key) {
            let at = self.in_keys(Keys::PLACES_AT + 16 * place);
            let known: u64 = self.spool.decode(at).ok()?;
            if known == 0 {
                // In a full table new keys have no room.
                let keys: u32 = self.spool.decode(self.in_keys(Keys::COUNT_AT)).ok()?;
                return ((keys as usize) < KEYS).then_some(0);
            }
            if known == key {
                let ring = self.spool.decode(at.saturating_add(8)).ok()?;
                return self.stamps(ring);
            }
        }
        None
    }

    /// All keys, and how many stamps there were of each whose numbers mean something, which is found out when it is
    /// asked for.
    pub(super) fn keys(
        &self,
    ) -> Result<impl Iterator<Item = (u64, impl Fn() -> Option<u64>)>, SpoolError> {
        let places: Vec<u64> = self.spool.array(self.in_keys(Keys::PLACES_AT), 2 * PLACES)?;
        let places = (0..PLACES).map(move |place| (places[2 * place], places[2 * place + 1]));
        let known = places.filter(|(key, _)| *key != 0);
        Ok(known.map(move |(key, ring)| (key, move || self.stamps(ring))))
    }

    /// Where something is in the file that is so far behind the beginning of its keys: anybody can write a file.
    const fn in_keys(&self, at: usize) -> u64 {
        self.at.saturating_add(at as u64)
    }

    /// The same of the ring that stands there.
    fn stamps(&self, ring: u64) -> Option<u64> {
        let [published, void] =
            Ring::HEAD.map(|at| self.spool.decode::<u64>(ring.saturating_add(at as u64)));
        (void.ok()? as u32 == 0).then_some(published.ok()?)
    }
}
