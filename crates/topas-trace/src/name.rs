//! Names in events: they stand in arguments that the call has no use for, so a name is where the event
//! is, however the process ends.

use crate::event::CallArguments;

/// Bytes of a name that are kept.
pub const NAME: usize = 24;

/// A name, filled up with NUL.
pub type NameBytes = [u8; NAME];

/// A name as three numbers, the first byte lowest.
pub(crate) fn numbers(name: &NameBytes) -> [u64; 3] {
    let word = |place: usize| {
        let bytes = name.get(place..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    [word(0), word(8), word(16)]
}

/// The name in three numbers.
pub(crate) fn of_numbers(numbers: [u64; 3]) -> NameBytes {
    let mut name = [0; NAME];
    for (place, number) in name.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    name
}

/// A name without what fills it up.
pub(crate) fn text(name: &NameBytes) -> &[u8] {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
    name.get(..end).unwrap_or_default()
}

/// The name that a call of `MPI_Comm_set_name` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommunicatorName {
    /// The number of the communicator, as in [`CallArguments`]; 0 if it is not known
    pub communicator: u64,
    /// The name
    pub name: NameBytes,
}

impl CommunicatorName {
    /// The arguments of the event.
    pub fn arguments(&self) -> CallArguments {
        let [sent, received, number] = numbers(&self.name);
        let communicator = self.communicator;
        CallArguments { sent, received, number, communicator, ..CallArguments::NONE }
    }

    /// What an event of `MPI_Comm_set_name` with these arguments tells; None if it tells no name.
    pub fn of(arguments: &CallArguments) -> Option<CommunicatorName> {
        let name = of_numbers([arguments.sent, arguments.received, arguments.number]);
        let communicator = arguments.communicator;
        (!text(&name).is_empty()).then_some(CommunicatorName { communicator, name })
    }

    /// The name without what fills it up.
    pub fn text(&self) -> &[u8] {
        text(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_communicators_are_read_back() {
        for text in [&b"rows"[..], b"x", b"exactly twenty-four byte"] {
            let mut name = [0; NAME];
            name[..text.len()].copy_from_slice(text);
            let named = CommunicatorName { communicator: 0x9af3, name };
            let read = CommunicatorName::of(&named.arguments());
            assert_eq!((read, named.text()), (Some(named), text));
        }
        assert_eq!(CommunicatorName::of(&CallArguments::NONE), None);
    }
}
