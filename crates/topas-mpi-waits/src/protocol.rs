//! Whether a message goes without its receiver, as far as messages between the same two ranks have shown.
//!
//! Each MPI has limits of its own, for each way between two ranks. A message that was over before its receive was
//! posted has shown that messages of its size need no receiver, and a sender that waited for nothing else, and went
//! on soon after the receive was posted, that they do.

/// Messages of at most so many bytes are taken for such that go without their receiver, until some were seen to wait for it.
pub const SMALL_MESSAGE: u64 = 4096;

/// Bytes of a message that needs its receiver whatever its size is.
pub const SYNCHRONOUS: u32 = u32::MAX;

/// Bytes of a message that needs no receiver whatever its size is.
pub const BUFFERED: u32 = 0;

/// A sender must have waited so many microseconds to have shown that it needs its receiver: in shorter calls a
/// receive may be posted by chance.
pub const EVIDENT: u64 = 64;

/// Bytes of a message as they count here.
#[inline(always)]
pub const fn counted(bytes: u64) -> u32 {
    if bytes < SYNCHRONOUS as u64 { bytes as u32 } else { SYNCHRONOUS - 1 }
}

/// A wait of less than one part of so many of another wait is as good as none.
const NEARLY: u64 = 16;

/// Whether a call of a length waited for a receiver, and not for what else it waited. `goes`: what it sent goes without,
/// as far as is known; then that is so only if the call ended sooner after the receiver came than it had waited.
/// Otherwise it is so unless all else took nearly as long: who is late for both sides often sends before it receives.
pub const fn explains(goes: bool, receiver: u64, other: u64, length: u64) -> bool {
    let more = receiver.saturating_sub(other);
    if goes { more > length.saturating_sub(receiver) } else { more > receiver / NEARLY }
}

/// Whether a call that waited for nothing but a receiver has shown that it needed that. `evident`: [`EVIDENT`].
pub const fn shows_need(receiver: u64, length: u64, evident: u64) -> bool {
    receiver >= evident && length.saturating_sub(receiver) < receiver / 2
}

/// Soon is no more than one part of so many.
const SOON: u64 = 4;

/// Whether a call of a length may be one that [`ends_with`] a receiver, and of which that says something. `evident`:
/// [`EVIDENT`].
pub const fn may_end_with(length: u64, evident: u64) -> bool {
    length >= evident + evident / SOON
}

/// Whether a call that also received, and whose message goes without its receiver as far as is known, waited for that: what
/// it received was there, and it ended soon after the receiver came.
pub const fn ends_with(receiver: u64, other: u64, length: u64) -> bool {
    let rest = length.saturating_sub(receiver);
    other <= receiver / NEARLY && rest < receiver / SOON
}

/// A message that was sent, as far as it may have waited for its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentSize {
    /// Its bytes as they count here; 0 if they are not told
    pub bytes: u32,
    /// Messages of so many bytes go without their receiver, as far as is known
    pub goes: bool,
    /// That is so, and the call received something, too
    pub beside: bool,
}

impl SentSize {
    /// Of what is no message that was sent.
    pub const NOTHING: SentSize = SentSize { bytes: 0, goes: false, beside: false };
    /// Of a message that goes without its receiver, as far as is known, beside another that was received. Whether the
    /// call waited for its receiver says nothing of other messages: a rank without a processor may go on by chance then.
    pub const BESIDE: SentSize = SentSize { bytes: 0, goes: true, beside: true };
}

/// What was seen of messages from one rank to another.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// The most bytes that went without their receiver
    free: u32,
    /// The least bytes that waited for it
    bound: u32,
}

impl Protocol {
    /// Nothing was seen.
    pub const UNSEEN: Protocol = Protocol { free: SMALL_MESSAGE as u32, bound: SYNCHRONOUS };

    /// Whether messages of so many bytes go without their receiver. Not if some were seen to go and some to wait.
    #[inline(always)]
    pub const fn goes(&self, bytes: u32) -> bool {
        bytes == BUFFERED || bytes <= self.free && bytes < self.bound
    }

    /// A message of so many bytes was over before its receive was posted.
    pub fn went(&mut self, bytes: u32) {
        if bytes != SYNCHRONOUS {
            self.free = self.free.max(bytes);
        }
    }

    /// A message of so many bytes waited for its receiver.
    pub fn waited(&mut self, bytes: u32) {
        if bytes != BUFFERED {
            self.bound = self.bound.min(bytes);
        }
    }
}

/// Ranks of which something is kept at the same time.
const PEERS: usize = 256;

/// What was seen of messages to other ranks. Zero at its beginning.
#[derive(Debug)]
pub struct Protocols {
    /// The rank, plus 1; 0 if nothing is here
    all: [(u32, Protocol); PEERS],
}

impl Protocols {
    /// Nothing was seen.
    pub const fn new() -> Protocols {
        Protocols { all: [(0, Protocol { free: 0, bound: 0 }); PEERS] }
    }

    /// Whether messages of so many bytes to a rank go without it.
    #[inline(always)]
    pub fn goes(&self, peer: u32, bytes: u32) -> bool {
        let known = self.all.get(peer as usize % PEERS);
        let known = known.filter(|(of, _)| *of == peer.wrapping_add(1));
        known.map_or(Protocol::UNSEEN, |(_, protocol)| *protocol).goes(bytes)
    }

    /// What is known of a rank, to be changed: what was known of another one may go for it.
    #[cold]
    #[inline(never)]
    pub fn of(&mut self, peer: u32) -> Option<&mut Protocol> {
        let (of, protocol) = self.all.get_mut(peer as usize % PEERS)?;
        if *of != peer.wrapping_add(1) {
            (*of, *protocol) = (peer.wrapping_add(1), Protocol::UNSEEN);
        }
        Some(protocol)
    }
}

impl Default for Protocols {
    fn default() -> Self {
        Protocols::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_a_rank_tells_the_next_messages() {
        let mut all = Protocols::new();
        let told = |all: &Protocols, peer| {
            [8, 4096, 4097, 6_400, 70_000].map(|bytes| all.goes(peer, bytes))
        };
        assert_eq!(told(&all, 3), [true, true, false, false, false]);
        all.of(3).unwrap().went(6_400);
        all.of(3).unwrap().waited(70_000);
        assert_eq!(told(&all, 3), [true, true, true, true, false]);
        assert_eq!(told(&all, 4), [true, true, false, false, false]);
        // Some of a size went and some waited.
        all.of(3).unwrap().waited(5_000);
        assert_eq!(told(&all, 3), [true, true, true, false, false]);
        all.of(3).unwrap().waited(2_000);
        assert_eq!(told(&all, 3), [true, false, false, false, false]);
        // What says nothing of sizes.
        all.of(3).unwrap().waited(BUFFERED);
        all.of(3).unwrap().went(SYNCHRONOUS);
        assert_eq!(told(&all, 3), [true, false, false, false, false]);
        assert!(all.goes(3, BUFFERED) && !all.goes(3, SYNCHRONOUS));
        assert_eq!(counted(1 << 40), SYNCHRONOUS - 1);
        // Another rank at the same place.
        all.of(3 + PEERS as u32).unwrap().went(100_000);
        assert_eq!(told(&all, 3), [true, true, false, false, false]);
    }

    #[test]
    fn a_late_sender_that_explains_a_call_is_the_cause() {
        // The receiver came 1 after the sender, the call ended 3 later.
        assert_eq!([true, false].map(|goes| explains(goes, 301, 300, 304)), [false; 2]);
        // The receiver came long after the sender, and then the call ended, sooner or later.
        assert_eq!([true, false].map(|goes| explains(goes, 500, 300, 510)), [true; 2]);
        assert_eq!([true, false].map(|goes| explains(goes, 500, 300, 900)), [false, true]);
        // Nobody sent late.
        assert_eq!([true, false].map(|goes| explains(goes, 100, 0, 190)), [true; 2]);
        assert_eq!([true, false].map(|goes| explains(goes, 100, 0, 400)), [false, true]);
        assert_eq!([true, false].map(|goes| explains(goes, 100, 100, 100)), [false; 2]);
        assert_eq!([true, false].map(|goes| explains(goes, 0, 0, 100)), [false; 2]);
        assert!(shows_need(800, 1_190, 640) && !shows_need(800, 1_200, 640));
        assert!(!shows_need(600, 601, 640));
        // What was received had come long before, or not.
        assert!(ends_with(800, 50, 999) && !ends_with(800, 51, 999));
        assert!(!ends_with(800, 0, 1_000) && !ends_with(0, 0, 0));
        assert!(may_end_with(800, 640) && !may_end_with(799, 640));
    }
}
