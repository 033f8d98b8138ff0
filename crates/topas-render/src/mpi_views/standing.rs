//! In which calls ranks have been for long while a program runs, and which rank was lost first in one
//! that was killed: the same words for every tool.

use std::collections::HashMap;

use serde_json::{Value, json};
use topas_data::clock;
use topas_mpi_data::{
    Hang, Inside, LastSign, LostRanks, MessageEnd, Mismatch, MpiProfile, MpiRank, NowPeer,
    OpenMessages, PeerSide, RoutineNumber, Standstill, asked_until_the_end,
};

use super::callers::caller;
use super::ended;
use super::heading::ranges;
use super::open_messages::open_in_words;
use super::paths::PathViews;
use crate::number::duration;
use crate::wording::{capital, clean, some_pes};

/// Ranges of ranks that are named of one call.
const NAMED: usize = 8;

/// Calls that are told apart by the ranks that they name; of more the rank that each names is left
/// out.
const CALLS: usize = 6;

/// Ranks of a circle of waiting that are named.
const CIRCLE: usize = 12;

/// Circles that are told beside the first.
const CIRCLES: usize = 2;

/// Where calls were made in the source, by rank and by the number of the call path there.
pub type CallPlaces = HashMap<(u32, u32), String>;

/// Where the calls were made in which ranks are, and the last calls of all ranks.
pub fn call_places(profile: &MpiProfile, paths: &PathViews) -> CallPlaces {
    let open = profile.inside.iter().filter_map(|(rank, inside)| Some((*rank, inside.path?)));
    let last = profile.ranks.iter().filter_map(|rank| Some((rank.rank, rank.last?.path?)));
    let scripts = profile.scripts();
    let mut words: HashMap<u64, String> = HashMap::new();
    open.chain(last)
        .filter_map(|(rank, number)| {
            let path = paths.paths.numbered(rank, number)?;
            let place = || paths.call_place(path, &scripts) + &caller(paths, path, &[]);
            Some(((rank, number), words.entry(path.id).or_insert_with(place).clone()))
        })
        .collect()
}

/// A call by its routine and the rank that it names: `MPI_Send to 1`.
pub fn call_words(profile: &MpiProfile, routine: RoutineNumber, peer: Option<NowPeer>) -> String {
    call_with(profile, routine, peer, "")
}

/// The same with words behind its name.
fn call_with(
    profile: &MpiProfile,
    routine: RoutineNumber,
    peer: Option<NowPeer>,
    with: &str,
) -> String {
    let name = format!("{}{with}", clean(profile.routines.name(routine).as_bytes()));
    let Some(peer) = peer else { return format!("MPI_{name}") };
    let of = match routine.peer_side() {
        Some(PeerSide::To) => "to",
        Some(PeerSide::From) => "from",
        Some(PeerSide::Root) => "with root",
        Some(PeerSide::Other) | None => "of",
    };
    match peer {
        NowPeer { rank, .. } if rank < 0 => format!("MPI_{name} ({of} any rank)"),
        NowPeer { rank, of_world: true } => format!("MPI_{name} {of} {rank}"),
        NowPeer { rank, of_world: false } => {
            let whose = if routine.names_window() { "window" } else { "communicator" };
            format!("MPI_{name} {of} {rank} of its {whose}")
        }
    }
}

/// With which tag a call waits for a message: ` with tag 7`. That is told where another message is there, and where nobody knows from
/// which rank of the world it would come.
fn with_tag(inside: &Inside, is_another_there: bool) -> String {
    let is_of_other = inside.peer.is_some_and(|peer| !peer.of_world);
    let is_told = inside.routine.waits_for_message() && (is_another_there || is_of_other);
    match inside.tag.filter(|_| is_told && inside.peer.is_some()) {
        None => String::new(),
        Some(tag) if tag < 0 => " with any tag".to_owned(),
        Some(tag) => format!(" with tag {tag}"),
    }
}

/// The same with its place in the source: `MPI_Send to 1 at exchange (halo.c:20)`.
fn placed(profile: &MpiProfile, places: &CallPlaces, rank: u32, inside: &Inside) -> String {
    let Inside { routine, peer, path, .. } = *inside;
    let open = profile.open_messages(rank).map(|open| open_in_words(open, routine, peer));
    let open = open.unwrap_or_default();
    let mut call = call_with(profile, routine, peer, &with_tag(inside, !open.is_empty()));
    let unposted = if routine.names_group() { profile.unposted(rank) } else { &[] };
    if !unposted.is_empty() {
        let have = if unposted.len() == 1 { "has" } else { "have" };
        call += &format!(", for which {} {have} not posted,", rank_words(unposted));
    }
    call += &open;
    match path.and_then(|path| places.get(&(rank, path))) {
        Some(place) => format!("{call} at {place}"),
        None => call,
    }
}

/// ns in words.
fn time(ns: u64) -> String {
    duration(ns as f64 / 1e9)
}

/// `rank 3`, `ranks 1 and 3`, or `ranks 0-2, 5`.
pub(super) fn rank_words(ranks: &[u32]) -> String {
    if let [one, other] = ranks
        && one.abs_diff(*other) > 1
    {
        return format!("ranks {one} and {other}");
    }
    let listed = some_pes(&ranges(ranks.iter().map(|rank| u64::from(*rank))), NAMED);
    if ranks.len() == 1 { format!("rank {listed}") } else { format!("ranks {listed}") }
}

/// Ranks by the call that they are in, with the longest time of each call.
fn grouped(
    profile: &MpiProfile,
    places: &CallPlaces,
    calls: &[(u32, Inside)],
    with_peers: bool,
) -> Vec<(String, Vec<u32>, Option<u64>)> {
    let mut groups: Vec<(String, Vec<u32>, Option<u64>)> = Vec::new();
    for (rank, inside) in calls {
        let peer = inside.peer.filter(|_| with_peers);
        let words = placed(profile, places, *rank, &Inside { peer, ..*inside });
        match groups.iter_mut().find(|(of, ..)| *of == words) {
            Some((_, ranks, longest)) => {
                ranks.push(*rank);
                *longest = (*longest).max(inside.time);
            }
            None => groups.push((words, vec![*rank], inside.time)),
        }
    }
    groups
}

/// Which ranks are in which calls.
fn calls_in_words(
    profile: &MpiProfile,
    places: &CallPlaces,
    calls: &[(u32, Inside)],
) -> Vec<String> {
    let mut groups = grouped(profile, places, calls, true);
    if groups.len() > CALLS {
        groups = grouped(profile, places, calls, false);
    }
    let rest = groups.split_off(CALLS.min(groups.len()));
    // The end of a rank that is gone is known by the second, if at all.
    let is_gone = |rank: &MpiRank| rank.last.is_some_and(|last| last.quiet.is_none());
    let at_least = |ranks: &[u32]| {
        let mut gone = profile.ranks.iter().filter(|rank| is_gone(rank));
        if gone.any(|rank| ranks.contains(&rank.rank)) { "at least " } else { "" }
    };
    let one = |(call, ranks, longest): &(String, Vec<u32>, Option<u64>)| {
        let in_call = format!("{} in {call}", rank_words(ranks));
        match longest {
            Some(longest) => format!("{in_call} for {}{}", at_least(ranks), time(*longest)),
            None => in_call,
        }
    };
    let mut words: Vec<String> = groups.iter().map(one).collect();
    if !rest.is_empty() {
        let ranks: usize = rest.iter().map(|(_, ranks, _)| ranks.len()).sum();
        words.push(format!("{ranks} more in other calls"));
    }
    words
}

/// Ranks of which each waits for the next: `0 -> 1 -> 0`.
fn circle(cycle: &[u32]) -> String {
    let first = cycle.first().copied();
    let mut words: Vec<String> = cycle.iter().take(CIRCLE).map(u32::to_string).collect();
    if cycle.len() > CIRCLE {
        words.push("...".to_owned());
    }
    words.extend(first.map(|rank| rank.to_string()));
    words.join(" -> ")
}

/// That ranks in circles wait: `ranks 0-1 each wait for the next, 0 -> 1 -> 0, and ranks 2-3, 2 -> 3 -> 2`; None if there
/// are no circles.
fn in_circles(cycles: &[Vec<u32>], wait: &str) -> Option<String> {
    let (first, others) = cycles.split_first()?;
    let ranks = |cycle: &[u32]| {
        let mut ranks = cycle.to_vec();
        ranks.sort_unstable();
        rank_words(&ranks)
    };
    let mut text = format!("{} each {wait} for the next, {}", ranks(first), circle(first));
    for cycle in others.iter().take(CIRCLES) {
        text += &format!(", and {}, {}", ranks(cycle), circle(cycle));
    }
    match others.len().saturating_sub(CIRCLES) {
        0 => {}
        1 => text += ", and those of another such circle",
        more => text += &format!(", and those of {more} more such circles"),
    }
    Some(text)
}

/// That ranks wait for each other so that none of these goes on; None if that is not known.
fn deadlock(cycles: &[Vec<u32>], closed_by: Option<u32>, wait: &str) -> Option<String> {
    let all = |rank| format!("the others all {wait} for rank {rank}, and it for one of them");
    in_circles(cycles, wait).or_else(|| closed_by.map(all))
}

/// Why the collective operations do not end in which all ranks are: a sentence. Empty if they are in others.
fn mismatch_words(
    profile: &MpiProfile,
    mismatch: Option<Mismatch>,
    calls: &[(u32, Inside)],
) -> String {
    let (Some(mismatch), Some((_, first))) = (mismatch, calls.first()) else {
        return String::new();
    };
    let of = call_words(profile, first.routine, None);
    let differ = match mismatch {
        Mismatch::Routines if calls.iter().any(|(_, call)| call.routine.ends_mpi()) => {
            "No rank is outside of MPI: those in MPI_Finalize take part in no other collective operation.".to_owned()
        }
        Mismatch::Routines => {
            "All ranks are in collective operations, but not in the same one: they must call those of a communicator \
             in the same order."
                .to_owned()
        }
        Mismatch::Roots => format!("All ranks are in {of}, but they name different roots."),
        Mismatch::Communicators => {
            format!("All ranks are in {of}, but not of the same communicator.")
        }
        Mismatch::Hidden => format!(
            "All ranks are in {of}, which does not end: they may have called it for different communicators, or one \
             of them a collective operation more than others."
        ),
    };
    format!(" {differ}")
}

/// In which calls ranks of a running program have been for long, and whether it may hang; None if its ranks
/// go on.
pub fn standstill_words(profile: &MpiProfile, places: &CallPlaces) -> Option<String> {
    let standstill = Standstill::of(profile)?;
    let Standstill { calls, outside, asking, since, waited_for, .. } = &standstill;
    let mut words = calls_in_words(profile, places, calls);
    words.extend(last_calls_in_words(profile, places, asking, "asking again and again by"));
    let ranks: Vec<u32> = outside.iter().map(|(rank, _)| *rank).collect();
    if let Some(quiet) = outside.iter().map(|(_, quiet)| *quiet).min() {
        let no = if ranks.len() == 1 { "without" } else { "all without" };
        let ranks = rank_words(&ranks);
        words.push(format!("{ranks} outside of MPI, {no} a new call for {}", time(quiet)));
    }
    let words = words.join("; ");
    let mut text = match since {
        Some(since) => format!("No call has ended for {}: {words}.", time(*since)),
        None => {
            let least = calls.iter().filter_map(|(_, call)| call.time).min().unwrap_or(0);
            let (some, all) = (calls.len(), profile.ranks.len());
            let have = if some == 1 { "has" } else { "have" };
            let least = time(least);
            let some = match all {
                1 => "1 rank".to_owned(),
                _ => format!("{some} of {all} ranks"),
            };
            format!("{some} {have} been in a call for {least} or longer: {words}.")
        }
    };
    let deadlock = deadlock(&standstill.cycles, standstill.closed_by, "wait");
    text += &match (deadlock, waited_for, since) {
        (Some(wait), ..) => {
            format!(" {}: the program may hang in a deadlock.", capital(&wait))
        }
        (None, Some(rank), _) => format!(
            " They wait for rank {rank}, which is outside of MPI: it computes, or the program may hang."
        ),
        (None, None, Some(_)) => " The program may hang.".to_owned(),
        (None, None, None) => String::new(),
    };
    text += &mismatch_words(profile, standstill.mismatch, calls);
    Some(text)
}

/// The last call of a rank that is in none, of which no rank is known that it named.
fn last_call(routine: RoutineNumber, last: &LastSign) -> Inside {
    Inside { routine, peer: None, tag: None, path: last.path, time: None }
}

/// What a rank did at its end.
fn end_of(profile: &MpiProfile, places: &CallPlaces, rank: &MpiRank, last: &LastSign) -> String {
    let call = LostRanks::calls(profile, &[rank.rank]).into_iter().next();
    let began = time(last.last_call.saturating_sub(last.began));
    match (call, last.routine) {
        (Some((of, inside)), _) => {
            let call = placed(profile, places, of, &inside);
            format!("in {call}, which it had entered {began} after its first call")
        }
        (None, Some(routine)) => {
            let call = placed(profile, places, rank.rank, &last_call(routine, last));
            format!(
                "outside of MPI, after {call}, its last call, which began {began} after its first"
            )
        }
        (None, None) => {
            format!("outside of MPI; its last call had begun {began} after its first")
        }
    }
}

/// Which rank of a launch was lost first, where, what became of the others, and whether they may have hung; None if no
/// rank was lost.
fn lost_words(profile: &MpiProfile, places: &CallPlaces) -> Option<String> {
    let lost = LostRanks::of(profile)?;
    let hang = lost.hang(profile);
    if let Some(hang) = hang.as_ref().filter(|hang| hang.is_first()) {
        return Some(hung(profile, places, &lost, hang));
    }
    let mut text = lost_first(profile, places, hang.as_ref())?;
    if let Some(waited) = deadlock(&lost.cycles(profile), lost.closed_by(profile), "waited") {
        text += &format!(" {} then: the program may have hung in a deadlock.", capital(&waited));
    }
    Some(text)
}

/// That the program hung before its ranks ended.
fn hung(profile: &MpiProfile, places: &CallPlaces, lost: &LostRanks, hang: &Hang) -> String {
    let inside: Vec<u32> = hang.calls.iter().map(|(rank, _)| *rank).collect();
    let mut ranks = [&inside[..], &hang.outside].concat();
    ranks.sort_unstable();
    let mut words = calls_in_words(profile, places, &hang.calls);
    words.extend(outside_in_words(profile, places, &hang.outside));
    let died = ranks
        .iter()
        .filter_map(|rank| profile.ranks.iter().find(|known| known.rank == *rank)?.last?.died);
    let at = died.max().and_then(second_of_end).unwrap_or_default();
    let why = match deadlock(&lost.cycles(profile), lost.closed_by(profile), "waited") {
        None => "the program may have hung, and was ended from outside.".to_owned(),
        Some(waited) => format!(
            "{waited}: the program may have hung in a deadlock, and was ended from outside."
        ),
    };
    let mismatch = mismatch_words(profile, Mismatch::of(profile, &hang.calls), &hang.calls);
    let intro = if hang.outside.is_empty() {
        format!("No call had ended for at least {}", time(hang.time))
    } else {
        capital(&had_been(hang))
    };
    let ended = rank_words(&ranks);
    let alone = match lost.first[..] {
        [first] if hang.may_be_alone => format!(
            " Or rank {first}, which ended first, was killed alone, and the others ended because of that."
        ),
        _ => String::new(),
    };
    format!(
        "{intro} when {ended} ended{at} without a word: {}. So {why}{mismatch}{alone}",
        words.join("; ")
    )
}

/// For how long ranks had been in their calls when they ended.
fn had_been(hang: &Hang) -> String {
    let inside: Vec<u32> = hang.calls.iter().map(|(rank, _)| *rank).collect();
    format!("{} had been in a call for {} or longer", rank_words(&inside), time(hang.time))
}

/// What ranks outside of MPI did when their launch was ended, by their last calls.
fn outside_in_words(profile: &MpiProfile, places: &CallPlaces, outside: &[u32]) -> Vec<String> {
    let asked = |rank: &u32| {
        let known = profile.ranks.iter().find(|known| known.rank == *rank);
        known.is_some_and(asked_until_the_end)
    };
    let (asking, outside): (Vec<u32>, Vec<u32>) = outside.iter().partition(|rank| asked(rank));
    let asking =
        last_calls_in_words(profile, places, &asking, "asking again and again, until the end, by");
    let outside = last_calls_in_words(profile, places, &outside, "outside of MPI, after");
    [asking, outside].concat()
}

/// The last calls of ranks that are in none, behind words that say what these do.
fn last_calls_in_words(
    profile: &MpiProfile,
    places: &CallPlaces,
    ranks: &[u32],
    what: &str,
) -> Vec<String> {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for known in profile.ranks.iter().filter(|known| ranks.contains(&known.rank)) {
        let last = known.last.unwrap_or_default();
        let words = match last.routine {
            Some(routine) => {
                let call = placed(profile, places, known.rank, &last_call(routine, &last));
                format!("{what} {call}")
            }
            None => "outside of MPI".to_owned(),
        };
        match groups.iter_mut().find(|(of, _)| *of == words) {
            Some((_, ranks)) => ranks.push(known.rank),
            None => groups.push((words, vec![known.rank])),
        }
    }
    let rest = groups.split_off(CALLS.min(groups.len()));
    let one = |(words, ranks): &(String, Vec<u32>)| format!("{} {words}", rank_words(ranks));
    let mut words: Vec<String> = groups.iter().map(one).collect();
    if !rest.is_empty() {
        let ranks: usize = rest.iter().map(|(_, ranks)| ranks.len()).sum();
        words.push(format!("{ranks} more after other calls"));
    }
    words
}

/// When the kernel saw a process end, in words: ` at 14:47:43`.
fn second_of_end(died: u64) -> Option<String> {
    let at = clock::local(i64::try_from(died).ok()?).time;
    Some(format!(" at {:02}:{:02}:{:02}", at.hour, at.minute, at.second))
}

/// Which rank was lost first, and that the ranks may have hung before.
fn lost_first(profile: &MpiProfile, places: &CallPlaces, hang: Option<&Hang>) -> Option<String> {
    /// Ranks whose end is told one by one.
    const ONE_BY_ONE: usize = 3;
    let LostRanks { first, is_certain, is_cause, others } = LostRanks::of(profile)?;
    let known = |rank: &u32| {
        let found = profile.ranks.iter().find(|known| known.rank == *rank)?;
        Some((found, found.last?))
    };
    let is_all = others.is_empty();
    let runs = profile.ranks.iter().any(|rank| rank.last.is_some_and(|last| last.quiet.is_some()));
    let others_end = |intro: &str, others: &[u32]| {
        let calls = LostRanks::calls(profile, others);
        let is_outside = |rank: &&u32| !calls.iter().any(|(of, _)| of == *rank);
        let outside: Vec<u32> = others.iter().filter(is_outside).copied().collect();
        let mut words = calls_in_words(profile, places, &calls);
        if hang.is_some_and(|hang| hang.may_be_alone) {
            words.extend(outside_in_words(profile, places, &outside));
        } else if !outside.is_empty() {
            words.push(format!("{} outside of MPI", rank_words(&outside)));
        }
        format!("{intro}: {}.", words.join("; "))
    };
    let second = |last: &LastSign| second_of_end(last.died?);
    if first.is_empty() {
        let seconds: Option<Vec<u64>> =
            others.iter().map(|rank| known(rank).and_then(|(_, last)| last.died)).collect();
        let when = match seconds.as_deref() {
            Some([one, ..]) => {
                let one = LastSign { died: Some(*one), ..LastSign::default() };
                format!(", all of them in the same second{}", second(&one).unwrap_or_default())
            }
            _ => String::new(),
        };
        let intro = format!(
            "{} ended without a word{when}, and nothing tells which was lost first",
            capital(&rank_words(&others))
        );
        return Some(others_end(&intro, &others));
    }
    let probably = if is_certain { "" } else { "probably " };
    let were = if first.len() == 1 { "was" } else { "were" };
    let before = if is_all { "" } else { " first" };
    let mut text = format!("{} {were} {probably}lost{before}", capital(&rank_words(&first)));
    let told: Vec<String> = (first.iter().take(ONE_BY_ONE))
        .filter_map(known)
        .map(|(rank, last)| {
            let host = match &*rank.host {
                b"" => String::new(),
                host => format!(" on {}", clean(host)),
            };
            let it = if first.len() == 1 { "it".to_owned() } else { format!("rank {}", rank.rank) };
            let when = second(&last).unwrap_or_default();
            let end = end_of(profile, places, rank, &last);
            format!("{it} ended without a word{host}{when}, {end}")
        })
        .collect();
    text += &format!(": {}.", told.join("; "));
    if runs {
        text += " Other ranks of the launch still run.";
    } else if !is_all {
        let intro = match (is_cause, is_certain) {
            (true, _) => " The others ended because of that",
            (false, true) => " The others ended after it",
            (false, false) => " The others ended a second later",
        };
        text += &others_end(intro, &others);
        if is_certain && !is_cause {
            text += " If all were killed from outside, as by the batch system, this order means nothing";
            text += &match hang {
                Some(hang) => {
                    let outside = match hang.outside[..] {
                        [one] => format!(", while rank {one} was in none"),
                        _ => String::new(),
                    };
                    format!(", and the program may have hung: {}{outside}.", had_been(hang))
                }
                None => ".".to_owned(),
            };
        }
    }
    Some(text)
}

/// How a launch ended, if not as a program ends: which rank ended it, or was lost first; None if neither.
pub fn ending_words(profile: &MpiProfile, places: &CallPlaces) -> Option<String> {
    ended::words(profile, places).into_iter().chain(lost_words(profile, places)).reduce(joined)
}

/// Two sentences.
fn joined(first: String, second: String) -> String {
    format!("{first} {second}")
}

/// What is to be said first of a launch: which rank ended it or was lost, and in which calls ranks have been for long; None if
/// there is nothing of the kind.
pub fn standing_words(profile: &MpiProfile, places: &CallPlaces) -> Option<String> {
    let ending = ending_words(profile, places);
    ending.into_iter().chain(standstill_words(profile, places)).reduce(joined)
}

/// The same, with places of these call paths.
pub(super) fn sentence(profile: &MpiProfile, paths: Option<&PathViews>) -> Option<String> {
    let places = paths.map(|paths| call_places(profile, paths)).unwrap_or_default();
    standing_words(profile, &places)
}

/// For JSON: the sentence, and the calls in which ranks are, or were when they ended.
pub(super) fn value(profile: &MpiProfile, paths: Option<&PathViews>) -> Value {
    let places = paths.map(|paths| call_places(profile, paths)).unwrap_or_default();
    let open = |rank: u32, which: &dyn Fn(&OpenMessages) -> &[MessageEnd]| -> Vec<Value> {
        let messages = profile.open_messages(rank).map(which).unwrap_or_default();
        let one = |message: &MessageEnd| {
            let of_world = message.comm.map(|comm| comm == 0);
            json!({ "rank": message.rank, "tag": message.tag, "of_world": of_world })
        };
        messages.iter().map(one).collect()
    };
    let call = |(rank, inside): &(u32, Inside)| {
        json!({
            "rank": rank,
            "routine": format!("MPI_{}", clean(profile.routines.name(inside.routine).as_bytes())),
            "peer": inside.peer.map(|peer| peer.rank),
            "peer_of_world": inside.peer.map(|peer| peer.of_world),
            "tag": inside.tag,
            "awaited": open(*rank, &|open| &open.awaited),
            "untaken": open(*rank, &|open| &open.untaken),
            "unreceived": open(*rank, &|open| &open.unreceived),
            "unposted": if inside.routine.names_group() { profile.unposted(*rank) } else { &[] },
            "seconds": inside.time.map(|time| time as f64 / 1e9),
            "place": inside.path.and_then(|path| places.get(&(*rank, path))),
        })
    };
    json!({
        "sentence": standing_words(profile, &places),
        "calls": profile.inside.iter().map(call).collect::<Vec<_>>(),
    })
}

/// Whether there is something of the kind to be said.
pub(super) fn is_told(profile: &MpiProfile) -> bool {
    ended::words(profile, &CallPlaces::new()).is_some()
        || LostRanks::of(profile).is_some()
        || Standstill::of(profile).is_some()
}
