//! Functions that free a communicator, window or file. All of its members come to them, and no member comes to
//! anything of it later.
//!
//! What is freed has no meaning any more when the call has returned, so all that is to be known of it is noted before
//! the call. An MPI need not let a member wait for the others: who has come later than the call has returned was not
//! waited for.

use topas_mpi_waits::engine::Surroundings;
use topas_mpi_waits::far::{CollectiveNote, Stamp};

use super::collectives::{end_meeting, key_among, meet_far, turn};
use super::{Returned, boards, far, with};
use crate::clock;
use crate::flow::ledger::Ledger;
use crate::flow::library::{self, Library};
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers;
use crate::frame::CallNotes;
use crate::generated::number;

/// What is kept of a communicator, window or file that goes: words, as they lie in [`CallNotes::status`].
struct Departure {
    /// Its number; 0 if it has none
    object: u64,
    /// The number of the call among those of the object
    number: u64,
    /// How many come
    size: u32,
    /// The rank of this process among them
    rank: u32,
    handle: u64,
    /// Tells a communicator whose ranks are not those of the world from others; 0: ranks are those of the world
    serial: u32,
    /// Whether all members are on this node, if that is known
    near: Option<bool>,
}

impl Departure {
    const fn pack(&self) -> [u64; 8] {
        let near = match self.near {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        };
        let Departure { object, number, handle, .. } = *self;
        [object, number, self.size as u64, self.rank as u64, handle, self.serial as u64, near, 0]
    }

    const fn unpack(words: &[u64; 8]) -> Departure {
        let [object, number, size, rank, handle, serial, near, _] = *words;
        let near = match near {
            0 => None,
            near => Some(near == 2),
        };
        let (size, rank, serial) = (size as u32, rank as u32, serial as u32);
        Departure { object, number, size, rank, handle, serial, near }
    }
}

/// Before a call that frees the object whose handle is at this address: the rank comes to it now.
#[cold]
#[inline(never)]
pub fn leave(
    library: &Library,
    ledger: &mut Ledger,
    function: usize,
    address: usize,
    kept: &mut CallNotes,
) {
    kept.status = [0; 8];
    if address == 0 {
        return;
    }
    // SAFETY: the address of a handle.
    let handle = unsafe { library::handle_at(library, address, 0) };
    let (object, bridged) =
        with(|_, numbers, _| (numbers.of(library, handle), numbers.bridged(handle)));
    // Ranks of other worlds have no names once it is gone.
    if object == 0 || bridged.is_some() {
        return;
    }
    let is_communicator = [number::COMM_FREE, number::COMM_DISCONNECT].contains(&function);
    let (size, rank, serial) = if is_communicator {
        let kind = ObjectKind::Comm;
        // Its group can be asked now only.
        object::world_rank(library, ledger, handle, kind, 0);
        let known = object::object(library, ledger, handle, kind);
        let size = if known.inter { 0 } else { known.size };
        (size, known.rank, if known.is_world() { 0 } else { known.serial })
    } else {
        // Of windows and files those are known that all ranks of the world share.
        let rank = with(|_, _, boards| boards.rank());
        (with(|_, numbers, _| numbers.size(handle)), rank, 0)
    };
    if size == 0 {
        return;
    }
    let now = clock::ticks();
    let number = with(|engine, _, boards| engine.arrived(boards, object, now));
    let near = with(|_, numbers, _| numbers.is_near(library, handle));
    let Some(number) = number else { return };
    kept.status = Departure { object, number, size, rank, handle, serial, near }.pack();
}

impl Returned<'_> {
    /// All members of an object came to the call that freed it.
    pub fn departed(&mut self, kept: &[u64; 8]) {
        let of = Departure::unpack(kept);
        let Departure { object, number, size, rank, .. } = of;
        let call = self.call;
        let is_known = object != 0;
        let is_near = is_known && (of.near.unwrap_or_else(|| self.all_are_near(&of)));
        let long = with(|engine, _, boards| engine.is_long(boards, &call, size));
        let mut far = 0;
        if is_known && !is_near {
            far = self.tell_departure(&of, long && call.counts);
        }
        if !long {
            return;
        }
        let Some(mut waiting) = with(|engine, _, _| Some(engine.begin(call))) else { return };
        if is_near {
            for other in (0..size).filter(|other| *other != rank && call.counts) {
                let peer = self.member_of(&of, other);
                with(|engine, _, boards| {
                    engine.gathered(boards, &mut waiting, object, number, peer);
                });
            }
            with(|engine, _, _| engine.looked(&mut waiting));
        } else {
            meet_far(&mut waiting, far, number);
        }
        end_meeting(waiting, size);
    }

    /// The rank of the world of a member.
    fn member_of(&mut self, of: &Departure, rank: u32) -> u32 {
        if of.serial == 0 {
            return rank;
        }
        object::world_rank_of_gone(self.library, self.ledger, (of.handle, of.serial), rank)
    }

    fn all_are_near(&mut self, of: &Departure) -> bool {
        (0..of.size).all(|other| {
            let member = self.member_of(of, other);
            with(|_, _, _| boards::is_near(member) || boards::seek(member))
        })
    }

    /// Tells a member, where others are on other nodes, that this rank came: the key by which the object is known
    /// there; 0 if it is not.
    fn tell_departure(&mut self, of: &Departure, asks: bool) -> u64 {
        let (first, to) = (self.member_of(of, 0), self.member_of(of, turn(of.number, of.size)));
        if first == peers::OTHERS || to == peers::OTHERS {
            return 0;
        }
        let key = key_among(of.object, first);
        let note = CollectiveNote { counts: true, asks, awaited: of.size }.pack();
        let stamp = Stamp { key, moment: self.call.began, number: of.number as u32, note };
        with(|_, _, _| far::put(to, stamp));
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_departure_is_found_again() {
        for near in [None, Some(false), Some(true)] {
            let kept = Departure {
                object: 1 << 63,
                number: 7,
                size: 3,
                rank: 2,
                handle: u64::MAX,
                serial: 9,
                near,
            };
            let found = Departure::unpack(&kept.pack());
            assert_eq!(found.pack(), kept.pack());
            assert_eq!(found.near, near);
        }
        assert_eq!(Departure::unpack(&[0; 8]).object, 0);
    }
}
