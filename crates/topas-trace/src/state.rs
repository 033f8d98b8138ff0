//! States that a program names: an event of `MPI_Pcontrol` each for their begin and their end.
//!
//! The levels tell our calls of `MPI_Pcontrol` from those of the program and of other tools.

use crate::event::CallArguments;
use crate::name::{self, NameBytes};

/// The level of `MPI_Pcontrol` by which a state begins: `etc/include/topas.h` passes it.
pub const STATE_BEGINS: i32 = 0x746f_7001;

/// The level by which the state that began last ends.
pub const STATE_ENDS: i32 = 0x746f_7002;

/// The begin or the end of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserState {
    /// It begins here
    pub begins: bool,
    /// Its name, filled up with NUL
    pub name: NameBytes,
}

impl UserState {
    /// The arguments of the event.
    pub fn arguments(&self) -> CallArguments {
        let [sent, received, communicator] = name::numbers(&self.name);
        let tag = self.begins.into();
        CallArguments { tag, sent, received, communicator, ..CallArguments::NONE }
    }

    /// What an event of `MPI_Pcontrol` with these arguments tells; None if it is none of ours.
    pub fn of(arguments: &CallArguments) -> Option<UserState> {
        if !(0..=1).contains(&arguments.tag) {
            return None;
        }
        let numbers = [arguments.sent, arguments.received, arguments.communicator];
        let name = name::of_numbers(numbers);
        Some(UserState { begins: arguments.tag == 1, name })
    }

    /// The name without what fills it up.
    pub fn text(&self) -> &[u8] {
        name::text(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written() {
        for (begins, text) in [(true, "solve"), (false, "a name of 24 bytes: yes!"), (true, "")] {
            let mut name = [0; name::NAME];
            name[..text.len()].copy_from_slice(text.as_bytes());
            let state = UserState { begins, name };
            let read = UserState::of(&state.arguments());
            assert_eq!(read, Some(state));
            assert_eq!(state.text(), text.as_bytes());
        }
        assert_eq!(UserState::of(&CallArguments::NONE), None);
    }
}
