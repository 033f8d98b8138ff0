//! For whose messages a rank waits that is in a call for long, and who has not received its own.

use topas_mpi_data::{MessageEnd, NowPeer, OpenMessages, RoutineNumber};

use super::standing::rank_words;

/// What is open of the messages for which a call waits: `, for which rank 1 has not sent a message with tag 7,`, or what
/// the rank that it names has sent in place of that. Empty if nothing is known to be.
pub(super) fn open_in_words(
    open: &OpenMessages,
    routine: RoutineNumber,
    peer: Option<NowPeer>,
) -> String {
    let ranks = |messages: &[MessageEnd]| -> Vec<u32> {
        let mut ranks: Vec<u32> = messages.iter().map(|message| message.rank).collect();
        ranks.dedup();
        ranks
    };
    let awaited = ranks(&open.awaited);
    let have = |ranks: &[u32]| if ranks.len() == 1 { "has" } else { "have" };
    if routine.waits_for_unnamed(peer) && !awaited.is_empty() {
        let others = ranks(&open.untaken);
        let mut text = format!(
            ", for which {} {} not sent {}",
            rank_words(&awaited),
            have(&awaited),
            messages_with_tags(&open.awaited)
        );
        if !others.is_empty() {
            let who = if others == awaited { String::new() } else { rank_words(&others) + " " };
            let is_same = |comm| open.awaited.iter().any(|message| message.comm == comm);
            let is_other = |message: &MessageEnd| message.comm.is_some() && !is_same(message.comm);
            text += &format!(", but {who}{}", messages_on(&open.untaken, is_other, ANOTHER));
        }
        return text + ",";
    }
    if routine.waits_for_unnamed(peer) && !open.unreceived.is_empty() {
        let others = ranks(&open.unreceived);
        return format!(
            ", for whose {} {} {} posted no receive,",
            with_tags(&open.unreceived),
            rank_words(&others),
            have(&others),
        );
    }
    let is_of_world = |message: &MessageEnd| message.comm == Some(0);
    if peer.is_some_and(|peer| !peer.of_world) && !open.untaken.is_empty() {
        let (from, are) =
            (rank_words(&ranks(&open.untaken)), if open.untaken.len() == 1 { "is" } else { "are" });
        return format!(
            ", while {} from {from} {are} not received,",
            messages_on(&open.untaken, is_of_world, "MPI_COMM_WORLD")
        );
    }
    let named = peer.filter(|peer| peer.of_world).and_then(|peer| u32::try_from(peer.rank).ok());
    let is_of = |message: &&MessageEnd| Some(message.rank) == named;
    let sent: Vec<MessageEnd> = open.untaken.iter().filter(is_of).copied().collect();
    let is_other = |message: &MessageEnd| message.comm.is_some() && !is_of_world(message);
    let is = match &*sent {
        [] => return String::new(),
        [_] => "is",
        _ => "are",
    };
    format!(", which has sent {} that {is} not received,", messages_on(&sent, is_other, ANOTHER))
}

/// Of which nothing is known but that it is not the one of a call.
const ANOTHER: &str = "another communicator";

/// Messages with their tags, and of those that are somewhere else where that is: `a message with tag 7 and a message with tag 5 on
/// another communicator`.
fn messages_on(
    messages: &[MessageEnd],
    is_elsewhere: impl Fn(&MessageEnd) -> bool,
    place: &str,
) -> String {
    let (there, here): (Vec<MessageEnd>, Vec<MessageEnd>) =
        messages.iter().partition(|message| is_elsewhere(message));
    let there = (!there.is_empty()).then(|| messages_with_tags(&there) + " on " + place);
    let here = (!here.is_empty()).then(|| messages_with_tags(&here));
    here.into_iter().chain(there).collect::<Vec<_>>().join(" and ")
}

/// `a message with tag 7`, or `messages with tags 7, 8`.
fn messages_with_tags(messages: &[MessageEnd]) -> String {
    let article = if messages.len() == 1 { "a " } else { "" };
    article.to_owned() + &with_tags(messages)
}

/// The same without an article.
fn with_tags(messages: &[MessageEnd]) -> String {
    /// Tags that are named.
    const TAGS: usize = 4;
    let mut tags: Vec<i32> = messages.iter().map(|message| message.tag).collect();
    tags.sort_unstable();
    tags.dedup();
    let named: Vec<String> = tags.iter().take(TAGS).map(i32::to_string).collect();
    let more = if tags.len() > TAGS { ", ..." } else { "" };
    match (messages, &*tags) {
        ([_], [tag]) => format!("message with tag {tag}"),
        (_, [tag]) => format!("messages with tag {tag}"),
        _ => format!("messages with tags {}{more}", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use topas_mpi_data::Routines;

    use super::*;

    #[test]
    fn messages_are_told_with_ranks_and_tags() {
        let ends = |all: &[(u32, i32)]| -> Vec<MessageEnd> {
            let one = |(rank, tag): &(u32, i32)| MessageEnd { rank: *rank, tag: *tag, comm: None };
            all.iter().map(one).collect()
        };
        let mut routines = Routines::default();
        let mut words = |routine: &str, peer: Option<u32>, open: [&[(u32, i32)]; 3]| {
            let [awaited, untaken, unreceived] = open.map(ends);
            let open = OpenMessages { awaited, untaken, unreceived };
            let peer = peer.map(|rank| NowPeer { rank: rank as i32, of_world: true });
            open_in_words(&open, routines.number(routine).expect("a routine"), peer)
        };
        let mut all = |open| words("Waitall", None, open);
        assert_eq!(
            all([&[(1, 7)], &[], &[]]),
            ", for which rank 1 has not sent a message with tag 7,"
        );
        assert_eq!(
            all([&[(1, 7), (1, 9)], &[(1, 8)], &[]]),
            ", for which rank 1 has not sent messages with tags 7, 9, but a message with tag 8,"
        );
        assert_eq!(
            all([&[(0, 7), (2, 7)], &[(2, 5)], &[]]),
            ", for which ranks 0 and 2 have not sent messages with tag 7, but rank 2 a message with tag 5,"
        );
        assert_eq!(
            all([&[], &[], &[(3, 1), (3, 2), (3, 3), (3, 4), (3, 5)]]),
            ", for whose messages with tags 1, 2, 3, 4, ... rank 3 has posted no receive,"
        );
        let sent = [&[(0, 11), (2, 12)][..], &[(0, 11), (2, 12)], &[]];
        assert_eq!(
            words("Recv", Some(0), sent),
            ", which has sent a message with tag 11 that is not received,"
        );
        assert_eq!(words("Recv", Some(1), sent), "");
        let mut of_other = |routine: &str, open: OpenMessages| {
            let peer = NowPeer { rank: 0, of_world: false };
            open_in_words(&open, routines.number(routine).expect("a routine"), Some(peer))
        };
        let untaken = ends(&[(0, 11), (2, 12)]);
        assert_eq!(
            of_other("Recv", OpenMessages { untaken, ..OpenMessages::default() }),
            ", while messages with tags 11, 12 from ranks 0 and 2 are not received,"
        );
        let unreceived = ends(&[(3, 5)]);
        assert_eq!(
            of_other("Ssend", OpenMessages { unreceived, ..OpenMessages::default() }),
            ", for whose message with tag 5 rank 3 has posted no receive,"
        );
    }
    /// Messages are told to be on another communicator where both are known.
    #[test]
    fn messages_on_another_communicator_are_told_to_be_there() {
        let end = |rank, tag, comm| MessageEnd { rank, tag, comm: Some(comm) };
        let words = |routine: &str, peer: Option<(i32, bool)>, open: OpenMessages| {
            let routine = Routines::default().number(routine).expect("a routine");
            let peer = peer.map(|(rank, of_world)| NowPeer { rank, of_world });
            open_in_words(&open, routine, peer)
        };
        let untaken = |untaken: &[MessageEnd]| OpenMessages {
            untaken: untaken.to_vec(),
            ..OpenMessages::default()
        };
        let world = Some((0, true));
        assert_eq!(
            words("Recv", world, untaken(&[end(0, 5, 1)])),
            ", which has sent a message with tag 5 on another communicator that is not received,"
        );
        assert_eq!(
            words("Recv", world, untaken(&[end(0, 7, 0), end(0, 5, 1), end(0, 6, 2)])),
            ", which has sent a message with tag 7 and messages with tags 5, 6 on another communicator that are not \
             received,"
        );
        assert_eq!(
            words("Probe", world, untaken(&[end(0, 7, 0)])),
            ", which has sent a message with tag 7 that is not received,"
        );
        assert_eq!(
            words("Recv", Some((0, false)), untaken(&[end(0, 5, 0), end(0, 5, 3)])),
            ", while a message with tag 5 and a message with tag 5 on MPI_COMM_WORLD from rank 0 are not received,"
        );
        let requests = OpenMessages { awaited: vec![end(0, 5, 0)], ..untaken(&[end(0, 5, 1)]) };
        assert_eq!(
            words("Wait", None, requests.clone()),
            ", for which rank 0 has not sent a message with tag 5, but a message with tag 5 on another communicator,"
        );
        let same = OpenMessages { untaken: vec![end(2, 5, 0)], ..requests };
        assert_eq!(
            words("Wait", None, same),
            ", for which rank 0 has not sent a message with tag 5, but rank 2 a message with tag 5,"
        );
    }
}
