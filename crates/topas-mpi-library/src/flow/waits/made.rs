//! Communicators that are not made by all members of another one, and those whose messages may
//! overtake each other.

use core::ffi::{CStr, c_char};

use topas_mpi_waits::key::mix;

use super::{Returned, handle, with};
use crate::flow::amount::word;
use crate::flow::library::call;
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers;
use crate::flow::plan::NONE;
use crate::generated::number;

impl Returned<'_> {
    /// A group made a communicator, or two of them one between them: its number follows from its
    /// members and the tag, which are the same on all of these.
    #[cold]
    #[inline(never)]
    pub fn made_by_group(&mut self) {
        let made = self.made();
        if made == self.library.comm_null {
            return;
        }
        let number = self.number_of_group(made);
        let beside = number.map_or(0, |(_, number)| number);
        with(|_, numbers, _| numbers.put_beside(made, beside));
        if let Some((group, _)) = number {
            self.met_group(made, group);
        }
    }

    /// Tells a communicator that is one of several parts from the others, by the rank in the world of its first
    /// member, plus 1. 0 of others, and of parts of two groups each, which see different first members.
    #[cold]
    #[inline(never)]
    pub fn first_of_part(&mut self, made: u64) -> u32 {
        let (library, ledger) = (self.library, &mut *self.ledger);
        if !self.role.makes_parts
            || made == library.comm_null
            || object::object(library, ledger, made, ObjectKind::Comm).inter
        {
            return 0;
        }
        object::world_rank(library, ledger, made, ObjectKind::Comm, 0).wrapping_add(1)
    }

    /// What tells a group from others, and the communicator from others that it makes.
    fn number_of_group(&mut self, made: u64) -> Option<(u64, u64)> {
        let object = object::object(self.library, self.ledger, made, ObjectKind::Comm);
        let (inter, size) = (object.inter, object.size);
        let mut members = self.hash(made, size)?;
        if inter {
            let local = handle(self.library, self.args, self.role.comm);
            let size = object::object(self.library, self.ledger, local, ObjectKind::Comm).size;
            // From the other side the two are the other way round.
            members = members.wrapping_add(self.hash(local, size)?);
        }
        let tag = word(self.args, self.role.recvtag);
        let tag = if self.role.comm == NONE {
            // SAFETY: the text by which those who make a communicator of a session find each other.
            let text = unsafe { CStr::from_ptr(tag as *const c_char) };
            text.to_bytes().iter().fold(1, |hash, byte| mix(hash, (*byte).into()))
        } else {
            tag as u32 as u64
        };
        Some((members, mix(members, tag) | 1))
    }

    /// Tells the members of a communicator, in their order, from others; None if some are not of
    /// the world.
    fn hash(&mut self, handle: u64, size: u32) -> Option<u64> {
        let (library, ledger) = (self.library, &mut *self.ledger);
        (0..size as i32).try_fold(0x6772_6f75_7000, |hash, rank| {
            let member = object::world_rank(library, ledger, handle, ObjectKind::Comm, rank);
            (member != peers::OTHERS).then(|| mix(hash, member.into()))
        })
    }

    /// Something was asserted of a communicator: if its messages may overtake each other, their
    /// numbers mean nothing.
    #[cold]
    #[inline(never)]
    pub fn asserted(&mut self) {
        let made = self.made();
        let of = if made == 0 { self.comm().0 } else { made };
        if of != self.library.comm_null && may_overtake(of) {
            with(|_, numbers, _| numbers.give_up(self.library, of));
        }
    }
}

fn may_overtake(comm: u64) -> bool {
    const KEY: &CStr = c"mpi_assert_allow_overtaking";
    const LENGTH: usize = 15;
    let (mut info, mut flag, mut value) = (0u64, 0i32, [0u8; LENGTH + 1]);
    let at = (&raw mut info) as usize;
    // SAFETY: a communicator, and the address of a handle.
    if unsafe { call(number::COMM_GET_INFO, [comm as usize, at, 0, 0, 0, 0]) }.is_none() {
        return false;
    }
    let (text, flag_at) = (value.as_mut_ptr() as usize, (&raw mut flag) as usize);
    let args = [info as usize, KEY.as_ptr() as usize, LENGTH, text, flag_at, 0];
    // SAFETY: an information, a text, room for another with its NUL, and that of an integer.
    let told = unsafe { call(number::INFO_GET, args) }.is_some();
    // SAFETY: the address of a handle.
    unsafe { call(number::INFO_FREE, [at, 0, 0, 0, 0, 0]) };
    told && flag != 0 && value.starts_with(b"true")
}
