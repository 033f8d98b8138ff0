//! Where measuring pauses: an event of `MPI_Pcontrol` that tells it, because no call is an event from then on.

use crate::event::CallArguments;

/// What stands in the place of the tag. A state that a program names has 0 or 1 there.
const PAUSES: i32 = 2;

impl CallArguments {
    /// The arguments of the event of a call of `MPI_Pcontrol` at whose end measuring pauses.
    pub const PAUSING: CallArguments = CallArguments { tag: PAUSES, ..CallArguments::NONE };

    /// Whether an event of `MPI_Pcontrol` with these arguments tells that measuring pauses: what its thread did up to
    /// its next event is not in the log.
    #[inline]
    pub const fn pauses(&self) -> bool {
        self.tag == PAUSES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NAME, UserState};

    #[test]
    fn a_pause_is_no_state_and_no_other_call() {
        assert!(CallArguments::PAUSING.pauses());
        assert_eq!(UserState::of(&CallArguments::PAUSING), None);
        assert!(!CallArguments::NONE.pauses());
        for begins in [false, true] {
            assert!(!UserState { begins, name: [0; NAME] }.arguments().pauses());
        }
    }
}
