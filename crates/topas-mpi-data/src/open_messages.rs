//! Messages of which one side only knows, of ranks that are in a call which waits for messages: receives that nobody has sent
//! to, and messages that nobody has received.
//!
//! Ranks of a node count what they have sent and posted for each other, by communicator and tag. A key of these counts is a number from
//! which the tag can be found again, if the communicator is known: that is the one of the world, and the first that were made from
//! this one, and from those.

use topas_mpi_profile::lines::{OpenMessage, OpenSide};
use topas_mpi_table::{CallProgress, FunctionClass};
use topas_mpi_waits::key::{MixedRanks, Side, UnfoldedKey, WORLD, derived, of_messages};

use super::boards::Board;
use super::live::FoundSpool;
use super::now::NowPeer;
use super::rank::Inside;
use super::routine::RoutineNumber;
use super::standstill::SHORTEST_STANDSTILL;

/// Communicators that were made from a communicator, by their order, whose messages are looked through.
const MADE: u64 = 8;

/// The same, of those whose own communicators are looked through; of parts that with rank 0 alone.
const MADE_OF_MADE: u64 = 4;

/// Of worlds of so many ranks all parts into which communicators were split are looked through, of others those of rank 0.
const PARTS: usize = 16;

/// Ranks of a launch whose messages are looked through.
const RANKS: usize = 1024;

/// Keys are compared with ranks that may have sent so often at most, for all ranks that wait: within a tenth of a second. What
/// further ranks wait for is not told.
const COMPARED: usize = 20_000_000;

/// A message by its other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageEnd {
    /// The rank of the world that sends it, or that is to receive it
    pub rank: u32,
    /// Its tag
    pub tag: i32,
    /// Its communicator, by the order in which communicators are looked through: 0 is that of the world. None if it is not known
    pub comm: Option<u32>,
}

/// What is open between a rank that waits and others of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenMessages {
    /// Messages for which it has posted a receive, and which have not been sent, ascending
    pub awaited: Vec<MessageEnd>,
    /// Messages that were sent to it, and for which it has not posted a receive, ascending: by ranks for which it waits, which
    /// may be any if it receives from one of another communicator than that of the world, and by others with a tag for which it
    /// waits
    pub untaken: Vec<MessageEnd>,
    /// If it awaits none: messages that it has sent, and for which no receive was posted, ascending. Those that need no receiver
    /// are over
    pub unreceived: Vec<MessageEnd>,
}

/// Messages of a side that are in the record of a rank: reports name fewer.
const RECORDED: usize = 64;

impl OpenMessages {
    /// The messages of a side.
    fn of(&self, side: OpenSide) -> &[MessageEnd] {
        match side {
            OpenSide::Awaited => &self.awaited,
            OpenSide::Untaken => &self.untaken,
            OpenSide::Unreceived => &self.unreceived,
        }
    }

    /// Adds one, as a record has it.
    pub(super) fn add(&mut self, message: &OpenMessage) {
        let of_side = match message.side {
            OpenSide::Awaited => &mut self.awaited,
            OpenSide::Untaken => &mut self.untaken,
            OpenSide::Unreceived => &mut self.unreceived,
        };
        let OpenMessage { rank, tag, comm, .. } = *message;
        of_side.push(MessageEnd { rank, tag, comm });
    }

    /// The messages that a record of the rank has.
    pub(super) fn recorded(&self) -> impl Iterator<Item = OpenMessage> {
        let one = |side| {
            let told = move |end: &MessageEnd| {
                let MessageEnd { rank, tag, comm } = *end;
                OpenMessage { side, rank, tag, comm }
            };
            self.of(side).iter().take(RECORDED).map(told)
        };
        OpenSide::ALL.into_iter().flat_map(one)
    }
}

impl RoutineNumber {
    /// Whether calls wait for requests, which the call does not name.
    fn waits_for_requests(self) -> bool {
        self.function().is_some_and(|function| matches!(function.class, FunctionClass::Wait))
    }

    /// Whether only messages of which one side knows tell for whom a call waits: it waits for requests, or sends to a rank of
    /// another communicator than that of the world.
    pub fn waits_for_unnamed(self, peer: Option<NowPeer>) -> bool {
        let is_of_other = peer.is_some_and(|peer| !peer.of_world);
        self.waits_for_requests() || is_of_other && self.may_wait_to_send()
    }

    /// Whether calls may wait until a message has left.
    fn may_wait_to_send(self) -> bool {
        let class = self.function().map(|function| &function.class);
        let sends = matches!(class, Some(FunctionClass::Send(CallProgress::Blocking)));
        sends || self.waits_for_requests()
    }

    /// Whether calls wait for a message from a rank that they name.
    pub fn waits_for_message(self) -> bool {
        self.function().is_some_and(|function| {
            matches!(
                function.class,
                FunctionClass::Receive(CallProgress::Blocking)
                    | FunctionClass::SendReceive(CallProgress::Blocking)
                    | FunctionClass::Probe(CallProgress::Blocking)
                    | FunctionClass::MatchedProbe(CallProgress::Blocking)
            )
        })
    }
}

/// What is open of the messages of each rank of a launch on this node that has waited for messages for long; by rank.
pub(super) fn open_messages(launch: &[&FoundSpool]) -> Vec<(u32, OpenMessages)> {
    let mut search = MessageSearch {
        boards: (launch.iter().take(RANKS))
            .filter_map(|found| Some((found.spool.header.rank, Board::of(&found.spool)?)))
            .collect(),
        comms: communicators(launch.len()),
        left: COMPARED,
    };
    launch.iter().take(RANKS).filter_map(|found| search.open(found)).collect()
}

/// Numbers of communicators in a world of so many ranks.
fn communicators(ranks: usize) -> Vec<u64> {
    // A part is told by its first member, plus 1: see [`derived`].
    let parts = if ranks <= PARTS { ranks as u64 } else { 1 };
    let made = |parent: u64, most: u64, parts: u64| {
        let of_part = move |nth| (0..=parts).map(move |part| derived(parent, nth | part << 32));
        (0..most).flat_map(of_part)
    };
    let parents = made(WORLD, MADE_OF_MADE, 1);
    let of_made = parents.flat_map(|parent| made(parent, MADE_OF_MADE, parts));
    std::iter::once(WORLD).chain(made(WORLD, MADE, parts)).chain(of_made).collect()
}

/// The search for messages of which one side only knows.
struct MessageSearch<'l> {
    /// Of the ranks that tell waits, by rank
    boards: Vec<(u32, Board<'l>)>,
    /// Communicators whose messages are looked through
    comms: Vec<u64>,
    /// How many keys may still be compared with ranks
    left: usize,
}

impl MessageSearch<'_> {
    /// What is open of the messages of a rank, if it has waited for messages for long.
    fn open(&mut self, found: &FoundSpool) -> Option<(u32, OpenMessages)> {
        let is_long = |time: Option<u64>| time.is_some_and(|time| time >= SHORTEST_STANDSTILL);
        let long = || found.rank.inside.iter().filter(|inside| is_long(inside.time));
        let rank = found.spool.header.rank;
        let own = self.boards.iter().position(|(of, _)| *of == rank)?;
        let mut open = OpenMessages::default();
        let mut senders: Vec<u32> = long()
            .filter(|inside| inside.routine.waits_for_message())
            .filter_map(|inside| inside.peer.filter(|peer| peer.of_world))
            .filter_map(|peer| u32::try_from(peer.rank).ok())
            .collect();
        if long().any(|inside| inside.routine.waits_for_unnamed(inside.peer)) {
            open.awaited = self.awaited(own).unwrap_or_default();
            senders.extend(open.awaited.iter().map(|message| message.rank));
            if open.awaited.is_empty() {
                open.unreceived = self.unreceived(own);
            }
        }
        // A receive is counted when it ends, so nothing tells which rank one of another communicator names.
        let is_of_other = |inside: &Inside| inside.peer.is_some_and(|peer| !peer.of_world);
        let waits_for_any =
            long().any(|inside| inside.routine.waits_for_message() && is_of_other(inside));
        for sender in 0..self.boards.len() {
            let Some(from) = self.boards.get(sender).map(|(from, _)| *from) else { continue };
            let is_awaited = senders.contains(&from) || waits_for_any;
            // Of other ranks those messages matter that may be meant: they have a tag that is awaited.
            if is_awaited || !open.awaited.is_empty() {
                let ends = self.untaken(sender, own, from).unwrap_or_default();
                let is_meant =
                    |end: &MessageEnd| open.awaited.iter().any(|message| message.tag == end.tag);
                let ends = ends.into_iter().filter(|end| is_awaited || is_meant(end));
                let ends: Vec<_> = ends.collect();
                open.untaken.extend(ends);
            }
        }
        open.untaken.sort_unstable();
        open.unreceived.sort_unstable();
        (open != OpenMessages::default()).then_some((rank, open))
    }

    /// Messages for which the rank of a board has posted more receives than were sent; None if there is too much to look through.
    fn awaited(&mut self, own: usize) -> Option<Vec<MessageEnd>> {
        let (rank, own) = self.boards.get(own)?;
        let senders: Vec<_> = (self.boards.iter())
            .map(|(from, board)| (*from, MixedRanks::of(*from, *rank), board))
            .collect();
        let mut all = Vec::new();
        for (key, posted) in own.keys().ok()? {
            self.left = self.left.checked_sub(self.comms.len() * senders.len())?;
            for (number, comm) in (0..).zip(self.comms.iter().copied()) {
                let key = UnfoldedKey::of(key, comm);
                for (from, ranks, board) in &senders {
                    let Some((tag, Side::Post)) = key.tag(*ranks) else { continue };
                    let sent = board.published(of_messages(comm, *from, *rank, tag, Side::Send));
                    if sent.is_some_and(|sent| posted() > Some(sent)) {
                        all.push(MessageEnd { rank: *from, tag, comm: Some(number) });
                    }
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        Some(all)
    }

    /// Messages that the rank of a board has sent, and for which no receive was posted.
    fn unreceived(&mut self, own: usize) -> Vec<MessageEnd> {
        let mut all = Vec::new();
        for receiver in 0..self.boards.len() {
            let rank = self.boards.get(receiver).map_or(0, |(rank, _)| *rank);
            let Some(ends) = self.untaken(own, receiver, rank) else { return Vec::new() };
            all.extend(ends);
        }
        all
    }

    /// Messages that the rank of a board has sent to that of another one, which has posted fewer receives, with one of both as
    /// their other end; None as before.
    fn untaken(&mut self, sender: usize, own: usize, other: u32) -> Option<Vec<MessageEnd>> {
        let (from, sender) = self.boards.get(sender)?;
        let (rank, own) = self.boards.get(own)?;
        let ranks = MixedRanks::of(*from, *rank);
        let mut all = Vec::new();
        for (key, sent) in sender.keys().ok()? {
            self.left = self.left.checked_sub(self.comms.len())?;
            for (number, comm) in (0..).zip(self.comms.iter().copied()) {
                let tag = UnfoldedKey::of(key, comm).tag(ranks);
                let Some((tag, Side::Send)) = tag else { continue };
                let posted = own.published(of_messages(comm, *from, *rank, tag, Side::Post));
                if posted.is_some_and(|posted| sent() > Some(posted)) {
                    all.push(MessageEnd { rank: other, tag, comm: Some(number) });
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        Some(all)
    }
}
