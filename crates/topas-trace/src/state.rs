//! States that a program names: an event of `MPI_Pcontrol` each for their begin and their end.
//!
//! The levels tell our calls of `MPI_Pcontrol` from those of the program and of other tools. The name
//! stands in the arguments that such a call has no use for, so it is where the event is, however the
//! process ends.

use crate::event::CallArguments;

/// The level of `MPI_Pcontrol` by which a state begins: `etc/include/topas.h` passes it.
pub const STATE_BEGINS: i32 = 0x746f_7001;

/// The level by which the state that began last ends.
pub const STATE_ENDS: i32 = 0x746f_7002;

/// Bytes of the name of a state that are kept.
pub const STATE_NAME: usize = 24;

/// The begin or the end of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserState {
    /// It begins here
    pub begins: bool,
    /// Its name, filled up with NUL
    pub name: [u8; STATE_NAME],
}

impl UserState {
    /// The arguments of the event.
    pub fn arguments(&self) -> CallArguments {
        let word = |place: usize| {
            let bytes = self.name.get(place..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        CallArguments {
            tag: self.begins.into(),
            sent: word(0),
            received: word(8),
            communicator: word(16),
            ..CallArguments::NONE
        }
    }

    /// What an event of `MPI_Pcontrol` with these arguments tells; None if it is none of ours.
    pub fn of(arguments: &CallArguments) -> Option<UserState> {
        if !(0..=1).contains(&arguments.tag) {
            return None;
        }
        let mut name = [0; STATE_NAME];
        let words = [arguments.sent, arguments.received, arguments.communicator];
        for (place, word) in name.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        Some(UserState { begins: arguments.tag == 1, name })
    }

    /// The name without what fills it up.
    pub fn text(&self) -> &[u8] {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(STATE_NAME);
        self.name.get(..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written() {
        for (begins, text) in [(true, "solve"), (false, "a name of 24 bytes: yes!"), (true, "")] {
            let mut name = [0; STATE_NAME];
            name[..text.len()].copy_from_slice(text.as_bytes());
            let state = UserState { begins, name };
            let read = UserState::of(&state.arguments());
            assert_eq!(read, Some(state));
            assert_eq!(state.text(), text.as_bytes());
        }
        assert_eq!(UserState::of(&CallArguments::NONE), None);
    }
}
