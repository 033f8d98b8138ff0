//! An event: one call of a routine of MPI.

/// Numbers of routines are below this.
pub const ROUTINES: usize = 1024;

/// Arguments of an event.
pub const ARGUMENTS: usize = 8;

/// No rank, or no tag.
pub const NOBODY: i32 = -1;

/// A rank that is not known, or not in the world.
pub const UNKNOWN_RANK: i32 = -2;

/// What a call was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallArguments {
    /// The rank in the world to which a message went or from which one came, or the root;
    /// [`NOBODY`], [`UNKNOWN_RANK`]
    pub peer: i32,
    /// The rank from which a message came, if the call also sent one; else [`NOBODY`]
    pub source: i32,
    /// The tag of the message; [`NOBODY`] without one
    pub tag: i32,
    /// The tag of the message that came from `source`, if that differs from `tag`; else [`NOBODY`]
    pub received_tag: i32,
    /// The number of the call path in the process; 0 if it is not known
    pub path: u32,
    /// Bytes sent by the call
    pub sent: u64,
    /// Bytes received by the call
    pub received: u64,
    /// The number of the communicator, which is the same on all of its members: 1 is
    /// `MPI_COMM_WORLD`, 2 is `MPI_COMM_SELF`; 0 if none is known
    pub communicator: u64,
    /// The number of the collective on its communicator, plus 1; 0 if it is not known
    pub number: u64,
}

impl CallArguments {
    /// A call about nothing.
    pub const NONE: CallArguments = CallArguments {
        peer: NOBODY,
        source: NOBODY,
        tag: NOBODY,
        received_tag: NOBODY,
        path: 0,
        sent: 0,
        received: 0,
        communicator: 0,
        number: 0,
    };

    /// The tag of the message that the call receives; [`NOBODY`] without one.
    pub const fn tag_of_received(&self) -> i32 {
        if self.received_tag == NOBODY { self.tag } else { self.received_tag }
    }

    /// The arguments in the order in which they are written.
    #[inline(always)]
    pub(crate) const fn values(&self) -> [i64; ARGUMENTS] {
        [
            self.peer as i64,
            self.tag as i64,
            self.sent as i64,
            self.received as i64,
            self.communicator as i64,
            self.path as i64,
            self.number as i64,
            source_with_tag(self.source, self.received_tag),
        ]
    }

    /// The same, read back. None if a value is outside of its type.
    #[inline]
    pub(crate) fn of_values(values: &[i64; ARGUMENTS]) -> Option<CallArguments> {
        let [peer, tag, sent, received, communicator, path, number, source] = *values;
        let (source, received_tag) = parts_of_source(source)?;
        Some(CallArguments {
            peer: peer.try_into().ok()?,
            source,
            tag: tag.try_into().ok()?,
            received_tag,
            path: path.try_into().ok()?,
            sent: sent as u64,
            received: received as u64,
            communicator: communicator as u64,
            number: number as u64,
        })
    }
}

/// A rank from which a message came and its own tag in one argument, because a ninth one would need a second
/// byte of flags: the tag plus 1 in the upper 32 bits; the rank alone without such a tag.
#[inline(always)]
const fn source_with_tag(source: i32, tag: i32) -> i64 {
    if tag < 0 { source as i64 } else { ((tag as u64 + 1) << 32) as i64 | source as u32 as i64 }
}

/// What [`source_with_tag`] put together. None if there is no such tag.
#[inline]
fn parts_of_source(value: i64) -> Option<(i32, i32)> {
    if let Ok(source) = value.try_into() {
        return Some((source, NOBODY));
    }
    let tag = (value as u64 >> 32).checked_sub(1)?;
    Some((value as i32, tag.try_into().ok()?))
}

/// What the arguments of a call are expected to be, if the same routine was called with others
/// before: the same, and of collectives the next one.
#[inline(always)]
pub(crate) const fn expect(before: &[i64; ARGUMENTS]) -> [i64; ARGUMENTS] {
    let mut values = *before;
    go_on(&mut values);
    values
}

/// Makes the arguments of a call those that are expected of the next call of the same routine.
#[inline(always)]
pub(crate) const fn go_on(values: &mut [i64; ARGUMENTS]) {
    let [_, _, _, _, _, _, number, _] = values;
    *number = next(*number);
}

/// The number of a collective behind another; 0 behind none.
#[inline(always)]
pub(crate) const fn next(number: i64) -> i64 {
    if number == 0 { 0 } else { number.wrapping_add(1) }
}

/// A call that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallEvent {
    /// The number of the routine, below [`ROUTINES`]
    pub routine: u16,
    /// When the call began, in ticks
    pub began: u64,
    /// When it ended, in ticks
    pub ended: u64,
    /// What it was about
    pub arguments: CallArguments,
}
