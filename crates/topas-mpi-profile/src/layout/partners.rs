//! Whom a call path waited for: another rank, and the call path by which that one sent, received or
//! came to a collective.

use super::WaitTicks;

/// Partners of a rank. The first place is that of all for which there was no room.
pub const PARTNERS: usize = 512;

/// Classes of how long before or behind a call its message was sent: class 0 is below 1 us, class k
/// from 2^(k-1) us to less than 2^k us, and the last has no end.
pub const SLACKS: usize = 20;

/// A path of this rank with a path of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Partner {
    /// Number of the path in this process: see [`super::PathTable::number`]; 0 of all others
    pub path: u16,
    /// Number of the path in the process of the other; 0 if it is not known
    pub peer_path: u16,
    /// The other, a rank of the world
    pub peer: u32,
    /// It sent late
    pub late: WaitTicks,
    /// It received late
    pub late_receiver: WaitTicks,
    /// It was the last of a collective
    pub collective: WaitTicks,
    /// Calls whose last message it had sent before they began, of those that were looked at
    pub on_time: u64,
    /// Calls whose last message it sent so long behind their beginning, and so long before it
    pub slack: [[u32; SLACKS]; 2],
}

/// All partners of a rank.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Partners {
    /// Places in use
    pub count: u32,
    /// Room for what comes
    pub reserved: [u32; 15],
    /// Partners
    pub partner: [Partner; PARTNERS],
}

/// The class of a slack in ticks, of which a microsecond has so many.
pub const fn slack_class(ticks: u64, microsecond: u64) -> usize {
    let microseconds = match ticks.checked_div(microsecond) {
        Some(microseconds) => microseconds,
        None => 0,
    };
    let class = (64 - microseconds.leading_zeros()) as usize;
    if class < SLACKS { class } else { SLACKS - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_powers_of_two_microseconds() {
        let class = |microseconds: u64| slack_class(microseconds * 10, 10);
        assert_eq!((class(0), class(1), class(2), class(3), class(4)), (0, 1, 2, 2, 3));
        assert_eq!((slack_class(9, 10), slack_class(19, 10)), (0, 1));
        assert_eq!((class(1 << 17), class(1 << 40)), (18, SLACKS - 1));
        assert_eq!(slack_class(5, 0), 0);
    }
}
