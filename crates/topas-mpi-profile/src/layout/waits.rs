//! Why the rank waited: ticks by function and by the rank to blame, beside the boards that ranks of
//! a node read of each other.

use super::FUNCTIONS;

/// Functions that may wait for other ranks, and were called. Others have no row.
pub const WAIT_ROWS: usize = 96;

/// Ticks, and in how many calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct WaitTicks {
    /// Calls
    pub calls: u64,
    /// Ticks
    pub ticks: u64,
}

/// Where the ticks of a function went. What is left of its time is transfer and other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct WaitRow {
    /// The sender was late
    pub late: WaitTicks,
    /// The receiver was late
    pub late_receiver: WaitTicks,
    /// Others came to the collective later
    pub collective: WaitTicks,
    /// The other side is on another node, or does not measure: not known
    pub elsewhere: WaitTicks,
    /// Not known for sure
    pub unsure: WaitTicks,
    /// Calls that were too short to look: of these ticks as many may have been waits
    pub below: WaitTicks,
}

/// Ticks for which a rank of the world is to blame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct WaitPeer {
    /// It sent late
    pub late: WaitTicks,
    /// It received late
    pub late_receiver: WaitTicks,
    /// It was the last of a collective
    pub collective: WaitTicks,
    /// Between calls that asked in vain for what it had not begun yet: time of the program, and of no call
    pub between: WaitTicks,
    /// As much of that in which the process slept
    pub slept: WaitTicks,
}

/// Of the whole process.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Waits {
    /// Offset of the keys of its board
    pub board: u64,
    /// Offset of [`super::Header::ranks`] of [`WaitPeer`]; 0 if there is no room
    pub peers: u64,
    /// Tells its world from others of the same launch, as far as the launcher does
    pub world: u64,
    /// Offset of the [`super::Partners`]; 0 if there are none
    pub partners: u64,
    /// Offset of the [`super::Bridges`]; 0 if this rank shares no communicator with another world
    pub bridges: u64,
    /// Rows in use
    pub used: u64,
    /// By number of the function: its row, plus 1
    pub of: [u8; FUNCTIONS],
    /// Rows
    pub rows: [WaitRow; WAIT_ROWS],
}

impl Waits {
    /// The row of a function; None if it has none.
    pub fn row(&self, function: usize) -> Option<&WaitRow> {
        let row = usize::from(*self.of.get(function)?);
        self.rows.get(row.checked_sub(1)?)
    }

    /// The row of a function, which gets one if there is room.
    #[inline(always)]
    pub fn row_mut(&mut self, function: usize) -> Option<&mut WaitRow> {
        let place = self.of.get_mut(function)?;
        if *place == 0 {
            if self.used as usize >= WAIT_ROWS {
                return None;
            }
            self.used += 1;
            *place = self.used as u8;
        }
        self.rows.get_mut(usize::from(*place) - 1)
    }
}

impl WaitTicks {
    /// One more call.
    #[inline(always)]
    pub fn add(&mut self, ticks: u64) {
        self.calls += 1;
        self.ticks += ticks;
    }
}
