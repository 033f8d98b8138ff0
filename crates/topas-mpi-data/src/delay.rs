//! Where a delay began: a rank that makes others wait may have waited itself.

use std::collections::BTreeMap;

use crate::{
    AskedInVain, Blame, MpiProfile, MpiRank, MpiSums, computes_unseen, outside_of_rank,
    unmeasured_ranks,
};

/// Delays that are less than this part of all are not followed further: a thousandth.
const NEGLIGIBLE: f64 = 1000.0;

/// A rank computes longer than the others from a twentieth above their mean on.
const LONGER: u128 = 20;

/// Where the delay of a rank began.
#[derive(Clone, Copy, Debug)]
pub struct DelayBeginning {
    /// The rank that computes longer than the others
    pub first: u32,
    /// The rank that waited for it
    pub next: u32,
    /// How long that rank waited for it, in MPI or asleep between calls that asked in vain, and why
    pub waited: Blame,
    /// What that rank did between calls that asked it in vain
    pub asked: AskedInVain,
}

impl DelayBeginning {
    /// A rank that is late may have waited itself, and the rank for which it waited, too: where that began,
    /// because a rank computes longer. None if the rank itself does, or if the waits lead to none that does.
    pub fn of(profile: &MpiProfile, late: u32) -> Option<DelayBeginning> {
        let mut waits = None;
        let (mut delayed, mut found) = (vec![late], None);
        let mut waiting: Vec<u32> = profile.ranks.iter().map(|rank| rank.rank).collect();
        loop {
            let next = *delayed.last()?;
            let (own, mean) = computing(profile, next)?;
            if is_longer(own, mean) {
                return found.filter(|found| explains(own - mean, found));
            }
            let waits = waits.get_or_insert_with(|| Waits::of(profile));
            let (mut delay, mut handed_on) = (0.0, BTreeMap::<u32, f64>::new());
            for rank in waiting {
                let time = waits.between(rank, next);
                delay += time;
                for (peer, part) in waits.handed_on(rank, next) {
                    *handed_on.entry(peer).or_default() += time * part;
                }
            }
            // Most of the delay was handed on, and most of that by one rank, else the delay is another.
            let all: f64 = handed_on.values().sum();
            let (first, most) = handed_on.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
            if 2.0 * all < delay || 2.0 * most < all || delayed.contains(&first) {
                return None;
            }
            let known = profile.ranks.iter().find(|known| known.rank == next)?;
            let waited = waited_for_others(known).find(|(peer, _)| *peer == first);
            let waited = waited.map_or_else(Blame::default, |(_, waited)| waited);
            let asked = known.sums.waits.asked.iter().find(|(peer, _)| *peer == first);
            let asked = asked.map_or_else(AskedInVain::default, |(_, asked)| *asked);
            (waiting, found) = (vec![next], Some(DelayBeginning { first, next, waited, asked }));
            delayed.push(first);
        }
    }
}

/// Whether a rank that computes so much longer than the others, in ns, begins a delay by that: for a quarter of it, because sums
/// differ by chance.
fn explains(longer: u128, delay: &DelayBeginning) -> bool {
    4 * longer >= delay.waited.time()
}

/// To so many of those for which a late rank waited most its delay is followed.
const FOLLOWED: usize = 16;

/// The delay of a rank is followed by so many of those that waited longest for it, which stand for all.
const WAITING: usize = 64;

/// Waits are followed until so many of them were compared with others. What is left then, most of all what goes round
/// among many ranks, is taken to begin in none.
const COMPARED: usize = 4_000_000;

/// The largest of some times, as many as `most`, in any order.
fn largest(mut times: Vec<(u32, f64)>, most: usize) -> Vec<(u32, f64)> {
    if times.len() > most {
        times.select_nth_unstable_by(most, |(_, a), (_, b)| b.total_cmp(a));
        times.truncate(most);
    }
    times
}

/// The time of a rank among times in the order of ranks.
fn between(times: &[(u32, f64)], peer: u32) -> f64 {
    times.binary_search_by_key(&peer, |(peer, _)| *peer).map_or(0.0, |place| times[place].1)
}

/// How long ranks waited for others, in MPI or asleep between calls that asked in vain.
struct Waits {
    /// By the rank that waited: the others in order, and the time in s
    times: BTreeMap<u32, Vec<(u32, f64)>>,
    /// The same, of those for which a rank waited most
    most: BTreeMap<u32, Vec<(u32, f64)>>,
}

impl Waits {
    fn of(profile: &MpiProfile) -> Waits {
        let mut waits = Waits { times: BTreeMap::new(), most: BTreeMap::new() };
        let is_one_thread = has_one_caller(profile);
        for rank in &profile.ranks {
            let asking = asking(rank);
            let times: Vec<_> = waited_for_others(rank)
                .map(|(peer, blame)| (peer, asking * blame.time() as f64 / 1e9))
                .collect();
            // What a thread waits delays no other thread, and waits are known of ranks.
            if is_one_thread {
                waits.most.insert(rank.rank, largest(times.clone(), FOLLOWED));
            }
            waits.times.insert(rank.rank, times);
        }
        waits
    }

    /// How long a rank waited for another, in s.
    fn between(&self, rank: u32, peer: u32) -> f64 {
        self.times.get(&rank).map_or(0.0, |times| between(times, peer))
    }

    /// Which parts of the time that a rank waited for a late one are those of ranks for which the late one had waited.
    ///
    /// A wait delays the late one only as far as it is longer than that of the other rank for the same third: what both
    /// waited, neither is ahead of. So of thirds i it is E_i / max(P, sum of all E), where
    /// E_i = max(0, W(late, i) - W(rank, i)) and P = W(rank, late).
    fn handed_on(&self, rank: u32, late: u32) -> impl Iterator<Item = (u32, f64)> {
        let most = self.most.get(&late).map_or(&[][..], Vec::as_slice);
        let waits = self.times.get(&rank).map_or(&[][..], Vec::as_slice);
        let (mut longer, mut count, mut all) = ([(0, 0.0); FOLLOWED], 0, 0.0);
        for (peer, time) in most.iter().filter(|(peer, _)| *peer != rank) {
            let time = time - between(waits, *peer);
            if time > 0.0
                && let Some(place) = longer.get_mut(count)
            {
                *place = (*peer, time);
                count += 1;
                all += time;
            }
        }
        let whole = all.max(between(waits, late));
        longer.into_iter().take(count).map(move |(peer, time)| (peer, time / whole))
    }
}

/// How long a rank was on the way from calls that asked in vain to the next ones, which is no time of any call, in ns.
pub fn on_the_way_to_ask(sums: &MpiSums) -> u128 {
    awake_between(sums).saturating_sub(between_questions(sums).map(|(_, time)| time).sum())
}

/// What a rank waited for others, in order of these, in MPI or asleep between calls that asked in vain. What its threads waited
/// for each other is no wait for another rank.
pub fn waited_for_others(rank: &MpiRank) -> impl Iterator<Item = (u32, Blame)> {
    let own = rank.rank;
    rank.sums.waits.with_sleep().into_iter().filter(move |(peer, _)| *peer != own)
}

/// What all others waited for a rank, as [`waited_for_others`] tells it of each.
pub fn waited_for_rank(profile: &MpiProfile, rank: u32) -> Blame {
    let waits = profile.ranks.iter().flat_map(waited_for_others);
    waits.filter(|(of, _)| *of == rank).fold(Blame::default(), |mut all, (_, blame)| {
        all.add(&blame);
        all
    })
}

/// What a rank computes, in ns, as far as anybody knows: its time outside of MPI without that in which it slept between
/// calls that asked in vain, and the way from one call that asks to the next.
pub fn computed(sums: &MpiSums) -> u128 {
    outside_of_rank(sums).saturating_sub(sums.waits.slept() + way_to_ask(sums))
}

/// The way from each call of a rank that asks to the next, in ns, if it does nothing else in between: no longer than was
/// measured between those calls that asked in vain. Of others this is not measured.
fn way_to_ask(sums: &MpiSums) -> u128 {
    /// The longest way from such a call to the next of a program that does nothing but ask, in ns, with what the measurement adds.
    const WAY: u128 = 130;
    /// The shortest one.
    const SHORTEST: u128 = 30;
    let asking = sums.routines.iter().filter(|routine| routine.number.asks());
    let calls = asking.map(|routine| routine.calls).sum::<u128>();
    match awake_between(sums) {
        0 => calls * WAY,
        measured => measured.clamp(calls * SHORTEST, calls * WAY),
    }
}

/// The time of a rank between calls that asked in vain in which the process did not sleep, in ns.
fn awake_between(sums: &MpiSums) -> u128 {
    sums.waits.asked.iter().map(|(_, asked)| awake(asked)).sum()
}

/// As much of it as was for one rank.
fn awake(asked: &AskedInVain) -> u128 {
    asked.between.time.saturating_sub(asked.slept)
}

/// For whom a rank asked in vain, and what it did between such calls without sleeping there, in ns: that is more than the way from one of these
/// calls to the next: all of it counts if it is twice as long as the longest way. It may have computed, or passed time in a way that nothing tells, as by `sched_yield`.
pub fn between_questions(sums: &MpiSums) -> impl Iterator<Item = (u32, u128)> {
    let all = awake_between(sums);
    let more = all.min(2 * all.saturating_sub(way_to_ask(sums)));
    let part = move |time: u128| (time * more).checked_div(all).unwrap_or(0);
    sums.waits.asked.iter().map(move |(peer, asked)| (*peer, part(awake(asked))))
}

/// How many times as long as its waits in calls a rank is kept by them: a loop that asks is outside of MPI for a part of its time,
/// in which the rank computes nothing either.
fn asking(rank: &MpiRank) -> f64 {
    let waits = &rank.sums.waits;
    let of = |asks: bool| {
        let routines = waits.routines.iter().filter(|of| !asks || of.number.asks());
        routines.map(|of| of.sums.waited()).sum::<u128>() as f64
    };
    let computed = computed(&rank.sums) + waits.slept();
    let way = outside_of_rank(&rank.sums).saturating_sub(computed) as f64;
    let all = of(false);
    if all > 0.0 { 1.0 + way * of(true) / all / all } else { 1.0 }
}

/// What the threads of a rank waited for each other: no rank is late for that.
pub fn waited_for_itself(rank: &MpiRank) -> Blame {
    let of_it = |(peer, _): &&(u32, Blame)| *peer == rank.rank;
    rank.sums.waits.blamed.iter().find(of_it).map_or_else(Blame::default, |(_, blame)| *blame)
}

/// Whether of each rank one thread makes nearly all calls, but for those that begin and end MPI: what this thread is outside of
/// MPI the rank computes, and what it waits delays the rank. Of several threads, each may compute while others are in MPI: so
/// does the main one beside a thread that does nothing but wait for messages.
pub fn has_one_caller(profile: &MpiProfile) -> bool {
    /// In twentieths of the time in MPI: so much of it is that of one thread.
    const NEARLY_ALL: u128 = 19;
    let is_one = |rank: &MpiRank| {
        let sums = &rank.sums;
        let edges = sums.routines.iter().filter(|routine| routine.number.is_edge());
        let edges: u128 = edges.map(|routine| routine.time).sum();
        let busiest = sums.wall.saturating_sub(outside_of_rank(sums) + sums.paused);
        let has_nearly_all = 20 * busiest >= NEARLY_ALL * sums.mpi.saturating_sub(edges);
        sums.threads <= 1 || has_nearly_all && !computes_unseen(sums)
    };
    let all_are_told = profile.ranks.len() as u64 == profile.total.ranks;
    profile.total.threads <= 1 || all_are_told && profile.ranks.iter().all(is_one)
}

/// What a rank computes, and the mean of all others, in ns; None if that is not known, as of ranks in which several
/// threads call MPI: see [`has_one_caller`]. What ranks did that were lost first, or outside of MPI
/// for long while others stood still, is nobody's measure, if there are others: see [`unmeasured_ranks`].
pub fn computing(profile: &MpiProfile, rank: u32) -> Option<(u128, u128)> {
    computing_among(profile, rank, |_| true)
}

/// The same with the mean of some of the others.
fn computing_among(
    profile: &MpiProfile,
    rank: u32,
    is_among: impl Fn(u32) -> bool,
) -> Option<(u128, u128)> {
    if !has_one_caller(profile) {
        return None;
    }
    let lost = unmeasured_ranks(profile);
    let mut own = None;
    // Of the others, and of those that are no measure: what they compute, and how many they are.
    let (mut others, mut gone) = ((0, 0), (0, 0));
    for known in &profile.ranks {
        let outside = computed(&known.sums);
        if known.rank == rank {
            own = Some(outside);
        } else if is_among(known.rank) {
            let (sum, count) = if lost.contains(&known.rank) { &mut gone } else { &mut others };
            *sum += outside;
            *count += 1;
        }
    }
    let (sum, count): (u128, u128) = if others.1 > 0 { others } else { gone };
    Some((own?, sum.checked_div(count)?))
}

/// Whether a rank that computes so long computes longer than the others, whose mean this is.
pub const fn is_longer(own: u128, mean: u128) -> bool {
    own > mean + mean / LONGER
}

/// The other ranks that compute as long as one that computes longer than their mean.
pub fn compute_as_long(profile: &MpiProfile, rank: u32) -> Vec<u32> {
    /// As long is what lacks no more than this part of what is longer: a tenth.
    const LACKING: u128 = 10;
    let Some((own, mean)) = computing(profile, rank) else { return Vec::new() };
    let Some(longer) = own.checked_sub(mean) else { return Vec::new() };
    let lost = unmeasured_ranks(profile);
    let is_other = |known: &&MpiRank| known.rank != rank && !lost.contains(&known.rank);
    let others = profile.ranks.iter().filter(is_other);
    let as_long = others.filter(|known| computed(&known.sums) >= own - longer / LACKING);
    as_long.map(|known| known.rank).collect()
}

/// In which ranks waits begin: the time of waits in s, by rank, in the order of ranks.
///
/// What others waited for a rank is followed to those for which this rank waited itself, in the parts of
/// `Waits::handed_on`. The rest begins in the rank. What goes round among ranks for ever begins in none of them.
fn delay_origins(profile: &MpiProfile, of: impl Fn(&Blame) -> u128) -> BTreeMap<u32, f64> {
    // By the rank that is late: who waited for it, and how long.
    let mut delays = BTreeMap::<u32, Vec<(u32, f64)>>::new();
    for rank in &profile.ranks {
        for (peer, blame) in waited_for_others(rank) {
            delays.entry(peer).or_default().push((rank.rank, of(&blame) as f64 / 1e9));
        }
    }
    let waits = Waits::of(profile);
    let sum = |waiting: &[(u32, f64)]| waiting.iter().map(|(_, delay)| delay).sum::<f64>();
    let all: f64 = delays.values().map(|waiting| sum(waiting)).sum();
    let (mut origins, mut compared) = (BTreeMap::<u32, f64>::new(), 0);
    while delays.values().map(|waiting| sum(waiting)).sum::<f64>() > all / NEGLIGIBLE
        && compared < COMPARED
    {
        let mut next = BTreeMap::<u32, Vec<(u32, f64)>>::new();
        for (late, waiting) in delays {
            let whole = sum(&waiting);
            let waiting = largest(waiting, WAITING);
            let scale = whole / sum(&waiting).max(f64::MIN_POSITIVE);
            let mut own = whole;
            compared += waiting.len();
            // Those to whom a delay is handed on are few.
            let mut handed_on = Vec::<(u32, f64)>::with_capacity(FOLLOWED);
            for (rank, delay) in waiting {
                for (peer, part) in waits.handed_on(rank, late) {
                    let delay = delay * scale * part;
                    own -= delay;
                    match handed_on.iter_mut().find(|(known, _)| *known == peer) {
                        Some((_, all)) => *all += delay,
                        None => handed_on.push((peer, delay)),
                    }
                    compared += 1;
                }
            }
            for (peer, delay) in handed_on {
                next.entry(peer).or_default().push((late, delay));
            }
            *origins.entry(late).or_default() += own.max(0.0);
        }
        delays = next;
    }
    origins
}

/// Shares out among ranks what sums lead to one of, if that is more than it can cause; None if it is not.
///
/// Each of the others waits for a rank for no longer than it computes. If n - 1 times that is less than what is said to
/// begin in it, several ranks were late, one after the other, and all the others waited each time. Then the waits are
/// (n - 1) times what each rank computes longer than the one that computes least, and so they are shared out if these
/// are most of what was waited: a rank that lacks a processor may be late for longer than it computes. For the one that is
/// late most somebody must have waited, else it is a guess.
fn shared_out(profile: &MpiProfile, origins: &BTreeMap<u32, f64>) -> Option<BTreeMap<u32, f64>> {
    /// Times that are so many times as long differ by more than chance.
    const SURELY: f64 = 1.05;
    /// Part of the waits.
    const MOST: f64 = 0.75;
    /// So many times as long as the waits for a rank may be what begins in it.
    const DIRECT: f64 = 10.0;
    let (first, begins) = origins.iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let lost = unmeasured_ranks(profile);
    let known = profile.ranks.iter().filter(|known| !lost.contains(&known.rank));
    let times: BTreeMap<u32, f64> =
        known.map(|known| (known.rank, computed(&known.sums) as f64 / 1e9)).collect();
    let least = times.values().copied().fold(f64::INFINITY, f64::min);
    let longer: f64 = times.values().map(|time| time - least).sum();
    let others = profile.ranks.len().saturating_sub(1) as f64;
    let all: f64 = origins.values().sum();
    let is_too_long = *begins > SURELY * others * times.get(first)?;
    let is_one_thread = has_one_caller(profile);
    if !is_one_thread || !is_too_long || others * longer < MOST * all {
        return None;
    }
    let share = |(rank, time): (u32, f64)| (rank, all * (time - least) / longer);
    let shared: BTreeMap<u32, f64> = times.into_iter().map(share).collect();
    let (late, share) = shared.iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let waited = profile.ranks.iter().flat_map(waited_for_others);
    let for_late = waited.filter(|(peer, _)| peer == late);
    let direct = for_late.map(|(_, blame)| blame.time() as f64 / 1e9).sum::<f64>();
    (DIRECT * direct >= *share).then_some(shared)
}

/// The rank that has most of some times, if one has: at least half of all and half as much again as the next, or at
/// least half of all while it waits itself, `own` s long, for less than half of its time. Of ranks that wait for each
/// other alike none has.
pub fn leading<R>(
    times: impl IntoIterator<Item = (R, f64)>,
    all: f64,
    own: impl Fn(&R) -> f64,
) -> Option<(R, f64)> {
    let (mut first, mut second) = (None::<(R, f64)>, 0.0_f64);
    for (rank, time) in times {
        match &first {
            Some((_, most)) if time <= *most => second = second.max(time),
            _ => second = first.replace((rank, time)).map_or(0.0, |(_, most)| most),
        }
    }
    first.filter(|(rank, most)| {
        let is_alone = 2.0 * most >= 3.0 * second || 2.0 * own(rank) < *most;
        *most > 0.0 && 2.0 * most >= all && is_alone
    })
}

/// How long a rank waited for others, in s.
pub fn own_waits(profile: &MpiProfile, rank: u32) -> f64 {
    profile.ranks.iter().filter(|known| known.rank == rank).map(|rank| waits_of(rank, None)).sum()
}

/// The same of a rank that is at hand, without its waits for `but`.
fn waits_of(rank: &MpiRank, but: Option<u32>) -> f64 {
    let others = waited_for_others(rank).filter(|(peer, _)| Some(*peer) != but);
    others.map(|(_, blame)| blame.time() as f64 / 1e9).sum()
}

/// How much longer the others wait than a rank itself, all together, in s: W - n w, of which W is what all n ranks wait
/// for others, and w what this rank waits. Negative if it waits longer. Whom a delay of a rank reaches, waits for it
/// while the rank does not, so if all delays begin in it this is W; if the ranks take turns it is about 0.
pub fn others_wait_longer(profile: &MpiProfile, rank: u32) -> f64 {
    others_wait_longer_but(profile, rank, None)
}

/// Whether ranks take turns where so long is waited for a rank, in s, or so much begins in it: the others wait hardly longer
/// than it does.
pub fn take_turns(profile: &MpiProfile, rank: u32, time: f64) -> bool {
    4.0 * others_wait_longer(profile, rank) < time
}

/// Whether an event log tells that so much begins in a rank, in s, though ranks take turns: in a circle that each rank holds up
/// in turn, most delays may seem to arise in any of them. What a thread waits says nothing of that.
pub fn seems_to_begin(profile: &MpiProfile, rank: u32, time: f64) -> bool {
    profile.logged.is_some() && has_one_caller(profile) && take_turns(profile, rank, time)
}

/// The rank in which by the event log most of the waits of a kind begin, if that is a third of them or more. It is half as much
/// again as in the next one, or two fifths, and the rank computes a quarter longer than the others; or it computes half as long
/// again. The next one is none of these others: of two late ranks either may be named.
pub fn far_ahead(profile: &MpiProfile, of: impl Fn(&Blame) -> u128) -> Option<u32> {
    let logged = profile.logged.as_ref()?;
    let mut begins: Vec<(u32, u128)> =
        logged.begins().map(|(rank, blame)| (rank, of(&blame))).collect();
    begins.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let all: u128 = begins.iter().map(|(_, time)| time).sum();
    let (rank, first) = *begins.first()?;
    let (next, second) = begins.get(1).copied().unwrap_or((rank, 0));
    let (own, mean) = computing_among(profile, rank, |other| other != next)?;
    let is_ahead = 2 * first >= 3 * second || 5 * first >= 2 * all;
    let is_slow = is_ahead && 4 * own >= 5 * mean || 2 * own >= 3 * mean;
    (3 * first >= all && first > second && is_slow).then_some(rank)
}

/// The same without one rank and the waits for it.
fn others_wait_longer_but(profile: &MpiProfile, rank: u32, but: Option<u32>) -> f64 {
    let (mut all, mut count, mut own) = (0.0, 0.0, 0.0);
    for known in profile.ranks.iter().filter(|known| Some(known.rank) != but) {
        let time = waits_of(known, but);
        all += time;
        count += 1.0;
        if known.rank == rank {
            own += time;
        }
    }
    all - count * own
}

/// In which ranks the waits of a launch begin.
pub struct DelayOrigins<'p> {
    profile: &'p MpiProfile,
    /// What all ranks waited for others, in s
    all: f64,
    /// What of that begins in each rank, in s
    begins: BTreeMap<u32, f64>,
    /// These are shared out by what ranks compute
    is_shared: bool,
    /// See [`DelayOrigins::first`]
    first: Option<(u32, f64)>,
}

impl DelayOrigins<'_> {
    /// Of a kind of waits, or of all.
    pub fn of(profile: &MpiProfile, of: impl Fn(&Blame) -> u128) -> DelayOrigins<'_> {
        let waited = profile.ranks.iter().flat_map(waited_for_others);
        let all = waited.map(|(_, blame)| of(&blame) as f64 / 1e9).sum();
        let logged = profile.logged.as_ref().map(|logged| {
            logged.begins().map(|(rank, blame)| (rank, of(&blame) as f64 / 1e9)).collect()
        });
        let is_logged = logged.is_some();
        let begins = logged.unwrap_or_else(|| delay_origins(profile, of));
        let shared = (!is_logged).then(|| shared_out(profile, &begins)).flatten();
        let is_shared = shared.is_some();
        let begins = shared.unwrap_or(begins);
        let mut origins = DelayOrigins { profile, all, begins, is_shared, first: None };
        origins.first = origins.foremost();
        origins
    }

    /// The rank in which most of the waits begin, and how long these are in s, if there is one and it computes no
    /// shorter than the others. The others must wait longer than it does: by at least half of what begins in it, because less
    /// than two thirds of the waits begin in some rank of any run by chance, or else by a quarter. Where ranks are late in
    /// turn, for many steps each, sums can lead to any of them, and all wait alike.
    pub const fn first(&self) -> Option<(u32, f64)> {
        self.first
    }

    /// Whether the waits were shared out by what each rank computes: followed from rank to rank, they lead to one rank, in
    /// which so many cannot begin.
    pub const fn are_shared(&self) -> bool {
        self.is_shared
    }

    /// [`DelayOrigins::first`], found anew.
    fn foremost(&self) -> Option<(u32, f64)> {
        let begins = self.begins.iter().map(|(rank, time)| (*rank, *time));
        let first = leading(begins, self.all, |rank| own_waits(self.profile, *rank))?;
        let (rank, begins) = first;
        let least = if 3.0 * begins >= 2.0 * self.all { begins / 4.0 } else { begins / 2.0 };
        let is_sure = self.is_shared || others_wait_longer(self.profile, rank) >= least;
        let computes = || computing(self.profile, rank).is_some_and(|(own, mean)| own >= mean);
        (is_sure && computes()).then_some(first)
    }

    /// The rank in which most of the waits begin that do not begin in `first`, and how long these are in s, if they are
    /// three twentieths of all or more. The others wait longer than it does by at least half of that, in all or apart from
    /// `first`, and it computes so much longer than they do that this accounts for half of what they wait: what only
    /// passes through a rank is less. What an event log tells needs no comparison of waits.
    pub fn beside(&self, first: u32) -> Option<(u32, f64)> {
        /// The part of all waits from which on they are no matter of chance.
        const WORTH_A_NAME: f64 = 0.15;
        let others = self.begins.iter().filter(|(rank, _)| **rank != first);
        let (rank, begins) = others.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let (rank, begins) = (*rank, *begins);
        let (own, mean) = computing_among(self.profile, rank, |other| other != first)?;
        let longer = own.saturating_sub(mean) as f64 / 1e9;
        let waiting = self.profile.ranks.len().saturating_sub(1) as f64;
        let is_worth = begins > 0.0 && begins >= WORTH_A_NAME * self.all;
        let is_cause = is_longer(own, mean) && 2.0 * longer * waiting >= begins;
        let is_sure = || {
            let longer = |but| others_wait_longer_but(self.profile, rank, but);
            // Apart from `first`, there is nothing of what that waits.
            let apart = begins * (waiting - 1.0) / waiting.max(1.0);
            2.0 * longer(None) >= begins || apart > 0.0 && 2.0 * longer(Some(first)) >= apart
        };
        let is_lost = || unmeasured_ranks(self.profile).contains(&rank);
        let is_known = self.is_shared || self.profile.logged.is_some();
        let is_told = is_worth && is_cause && (is_known || is_sure()) && !is_lost();
        is_told.then_some((rank, begins))
    }

    /// The same as [`DelayOrigins::beside`] if `last`, for which most is waited, hands on what begins in it: `last` computes no
    /// longer than others, and the rank half as long again. A third of all waits or more begins in it, half as much again
    /// as in any third rank. What an event log tells of `last` is handed on by it no more.
    pub fn handed_on(&self, last: u32) -> Option<(u32, f64)> {
        if self.profile.logged.is_some() {
            return None;
        }
        computing(self.profile, last).filter(|(own, mean)| !is_longer(*own, *mean))?;
        let (rank, begins) = self.beside(last)?;
        let others = self.begins.iter().filter(|(other, _)| ![rank, last].contains(other));
        let next = others.map(|(_, time)| *time).fold(0.0, f64::max);
        let (own, mean) = computing_among(self.profile, rank, |other| other != last)?;
        let is_alone = 3.0 * begins >= self.all && 2.0 * begins >= 3.0 * next;
        (is_alone && 2 * own >= 3 * mean).then_some((rank, begins))
    }
}

/// The rank in which most of the waits of a kind begin; see [`DelayOrigins::first`].
pub fn delay_origin(profile: &MpiProfile, of: impl Fn(&Blame) -> u128) -> Option<(u32, f64)> {
    DelayOrigins::of(profile, of).first()
}
