//! Messages of which one side only knows, of ranks that are in a call which waits for messages: receives that nobody has sent
//! to, and messages that nobody has received.
//!
//! Ranks of a node count what they have sent and posted for each other, by communicator and tag. A key of these counts is a number from
//! which the tag can be found again, if the communicator is known: that is the one of the world, and those that were made from
//! this one as a whole.

use topas_mpi_table::{CallProgress, FunctionClass};
use topas_mpi_waits::key::{MixedRanks, Side, UnfoldedKey, WORLD, derived, of_messages};

use super::boards::Board;
use super::live::FoundSpool;
use super::routine::RoutineNumber;
use super::standstill::SHORTEST_STANDSTILL;

/// Communicators made from that of the world whose messages are looked through.
const MADE: u64 = 16;

/// Ranks of a launch whose messages are looked through.
const RANKS: usize = 1024;

/// Keys are compared with ranks that may have sent so often at most, for all ranks that wait: within a tenth of a second. What
/// further ranks wait for is not told.
const COMPARED: usize = 20_000_000;

/// A message by its other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageEnd {
    /// The rank of the world that sends it
    pub from: u32,
    /// Its tag
    pub tag: i32,
}

/// What is open between a rank that waits and others of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenMessages {
    /// Messages for which it has posted a receive, and which have not been sent, ascending
    pub awaited: Vec<MessageEnd>,
    /// Messages that ranks have sent to it for which it waits, and for which it has not posted a receive, ascending
    pub untaken: Vec<MessageEnd>,
}

impl RoutineNumber {
    /// Whether calls wait for requests, which the call does not name.
    pub fn waits_for_requests(self) -> bool {
        self.function().is_some_and(|function| matches!(function.class, FunctionClass::Wait))
    }

    /// Whether calls wait for a message from a rank that they name.
    fn waits_for_message(self) -> bool {
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
pub(super) fn open_messages(launch: &[FoundSpool]) -> Vec<(u32, OpenMessages)> {
    let is_long = |time: Option<u64>| time.is_some_and(|time| time >= SHORTEST_STANDSTILL);
    let boards: Vec<(u32, Board<'_>)> = (launch.iter().take(RANKS))
        .filter_map(|found| Some((found.spool.header.rank, Board::of(&found.spool)?)))
        .collect();
    let mut left = COMPARED;
    let mut of = |found: &FoundSpool| {
        let rank = found.spool.header.rank;
        let (_, own) = boards.iter().find(|(of, _)| *of == rank)?;
        let long = || found.rank.inside.iter().filter(|inside| is_long(inside.time));
        let mut open = OpenMessages::default();
        let mut senders: Vec<u32> = long()
            .filter(|inside| inside.routine.waits_for_message())
            .filter_map(|inside| inside.peer.filter(|peer| peer.of_world))
            .filter_map(|peer| u32::try_from(peer.rank).ok())
            .collect();
        if long().any(|inside| inside.routine.waits_for_requests()) {
            open.awaited = awaited(rank, own, &boards, &mut left);
            senders.extend(open.awaited.iter().map(|message| message.from));
        }
        senders.sort_unstable();
        senders.dedup();
        let sent = boards.iter().filter(|(sender, _)| senders.contains(sender));
        open.untaken = sent.flat_map(|sender| untaken(sender, (rank, own))).collect();
        open.untaken.sort_unstable();
        (open != OpenMessages::default()).then_some((rank, open))
    };
    launch.iter().take(RANKS).filter_map(&mut of).collect()
}

/// Numbers of communicators.
fn communicators() -> impl Iterator<Item = u64> {
    std::iter::once(WORLD).chain((0..MADE).map(|nth| derived(WORLD, nth)))
}

/// Messages for which a rank has posted more receives than were sent.
fn awaited(
    rank: u32,
    own: &Board<'_>,
    boards: &[(u32, Board<'_>)],
    left: &mut usize,
) -> Vec<MessageEnd> {
    let senders: Vec<_> =
        boards.iter().map(|(from, board)| (*from, MixedRanks::of(*from, rank), board)).collect();
    let mut all = Vec::new();
    for (key, posted) in own.keys().into_iter().flatten() {
        for comm in communicators() {
            *left = left.saturating_sub(senders.len());
            if *left == 0 {
                return Vec::new();
            }
            let key = UnfoldedKey::of(key, comm);
            for (from, ranks, board) in &senders {
                let Some((tag, Side::Post)) = key.tag(*ranks) else { continue };
                let sent = board.published(of_messages(comm, *from, rank, tag, Side::Send));
                if sent.is_some_and(|sent| posted() > Some(sent)) {
                    all.push(MessageEnd { from: *from, tag });
                }
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Messages that a rank has sent to another one, which has posted fewer receives.
fn untaken((from, sender): &(u32, Board<'_>), (rank, own): (u32, &Board<'_>)) -> Vec<MessageEnd> {
    let ranks = MixedRanks::of(*from, rank);
    let mut all = Vec::new();
    for (key, sent) in sender.keys().into_iter().flatten() {
        for comm in communicators() {
            let Some((tag, Side::Send)) = UnfoldedKey::of(key, comm).tag(ranks) else { continue };
            let posted = own.published(of_messages(comm, *from, rank, tag, Side::Post));
            if posted.is_some_and(|posted| sent() > Some(posted)) {
                all.push(MessageEnd { from: *from, tag });
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}
