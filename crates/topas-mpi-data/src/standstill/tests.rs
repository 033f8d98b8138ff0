//! Standstills and lost ranks of made-up launches.

use topas_format::civil::{Date, Time};

use super::*;
use crate::last_sign::LastSign;
use crate::now::NowPeer;
use crate::profile::MpiRecordFacts;
use crate::routine::{RoutineCalls, Routines};
use crate::sums::MpiSums;

const S: u64 = 1_000_000_000;

/// A rank: its call with the rank that this names and for how many s, and for how long it is quiet; or how
/// it ended.
struct Told {
    call: Option<(&'static str, Option<i32>, u64)>,
    quiet: u64,
    died: Option<u64>,
}

fn at(call: &'static str, peer: Option<i32>, seconds: u64) -> Told {
    Told { call: Some((call, peer, seconds)), quiet: seconds, died: None }
}

fn outside(quiet: u64) -> Told {
    Told { call: None, quiet, died: None }
}

fn died(second: u64, call: Option<(&'static str, Option<i32>, u64)>) -> Told {
    Told { call, quiet: 0, died: Some(second) }
}

/// A program of these ranks, which has run for so many s.
fn profile(told: &[Told], wall: u64) -> MpiProfile {
    let mut routines = Routines::default();
    let (mut ranks, mut inside) = (Vec::new(), Vec::new());
    let mut total = MpiSums::default();
    for (rank, one) in (0..).zip(told) {
        if let Some((routine, peer, seconds)) = one.call {
            let routine = routines.number(routine).expect("a routine");
            let peer = peer.map(|rank| NowPeer { rank, of_world: true });
            inside.push((
                rank,
                Inside { routine, peer, tag: None, path: None, time: Some(seconds * S) },
            ));
        }
        let sums = MpiSums { ranks: 1, wall_max: wall * S, ..MpiSums::default() };
        total.add(&sums);
        let quiet = one.died.is_none().then_some(one.quiet * S);
        ranks.push(MpiRank {
            rank,
            pid: None,
            host: (*b"n1").into(),
            ending: Some(if one.died.is_some() { Ending::Lost } else { Ending::Running }),
            missed: Vec::new(),
            sums,
            started: Vec::new(),
            last: Some(LastSign { quiet, died: one.died, ..LastSign::default() }),
        });
    }
    let (date, time) =
        (Date { year: 2026, month: 1, day: 1 }, Time { hour: 0, minute: 0, second: 0 });
    let origin =
        if told.iter().any(|one| one.died.is_none()) { Origin::Live } else { Origin::Left };
    MpiProfile {
        facts: MpiRecordFacts { npes: Some(told.len() as u32), ..MpiRecordFacts::at(date, time) },
        origin,
        total,
        ranks,
        subtotals: Vec::new(),
        routines,
        lost_lines: 0,
        inside,
        unposted: Vec::new(),
        open_messages: Vec::new(),
        logged: None,
        is_log_silent: false,
    }
}

#[test]
fn sends_in_a_circle_wait_for_each_other() {
    let told = [1, 2, 0].map(|peer| at("Send", Some(peer), 20));
    let found = Standstill::of(&profile(&told, 21)).expect("stands still");
    assert_eq!((found.cycles, found.since), (vec![vec![0, 1, 2]], Some(20 * S)));
    assert_eq!((found.calls.len(), found.waited_for, found.hides_costs), (3, None, true));
    // Ranks that wait for a second or two for one that computes are no reason to tell nothing else.
    let told = [at("Barrier", None, 2), outside(3)];
    let found = Standstill::of(&profile(&told, 100)).expect("stands still");
    assert_eq!((found.since, found.hides_costs), (Some(2 * S), false));
}

#[test]
fn a_rank_that_goes_on_makes_it_no_standstill() {
    let told = [at("Recv", Some(1), 20), outside(0)];
    let found = Standstill::of(&profile(&told, 21)).expect("a long call");
    assert_eq!((found.since, found.cycles, found.waited_for), (None, vec![], None));
    assert_eq!((found.calls[0].0, found.calls.len()), (0, 1));
    assert!(!found.hides_costs);
    // Two hang, and two go on: what these compute longer costs nothing that matters.
    let told = [at("Recv", Some(1), 20), at("Recv", Some(0), 20), outside(0), outside(0)];
    let found = Standstill::of(&profile(&told, 21)).expect("a circle");
    assert_eq!((found.since, found.cycles, found.hides_costs), (None, vec![vec![0, 1]], true));
    // One that only asks computes nothing that could be spread.
    let mut polls = profile(&[at("Recv", Some(1), 20), outside(0)], 21);
    let last = LastSign { routine: polls.routines.number("Iprobe"), ..LastSign::default() };
    polls.ranks[1].last = Some(LastSign { quiet: Some(0), ..last });
    let found = Standstill::of(&polls).expect("a long call");
    assert_eq!((found.since, found.asking, found.hides_costs), (None, vec![1], true));
    // A short call of a long run is nothing.
    let told = [at("Recv", Some(1), 3), outside(0)];
    assert_eq!(Standstill::of(&profile(&told, 100)), None);
    assert!(Standstill::of(&profile(&told, 10)).is_some(), "it is a large part");
    // Any rank of them is not the one for which a receive from any rank waits.
    let told = [at("Recv", Some(-1), 20), outside(20)];
    let found = Standstill::of(&profile(&told, 21)).expect("stands still");
    assert_eq!((found.since, found.waited_for), (Some(20 * S), None));
}

#[test]
fn all_wait_for_the_rank_that_is_not_in_their_collective() {
    let barrier = || at("Barrier", None, 7);
    let told = [barrier(), outside(8), barrier()];
    let found = Standstill::of(&profile(&told, 9)).expect("stands still");
    assert_eq!((found.waited_for, &found.outside[..]), (Some(1), &[(1, 8 * S)][..]));
    let told = [barrier(), at("Recv", Some(0), 6), barrier()];
    let found = Standstill::of(&profile(&told, 9)).expect("stands still");
    assert_eq!(found.cycles, [[0, 1]]);
    // Two wait for one that has ended its work: one of them closes the circle.
    let told = [at("Finalize", None, 7), at("Recv", Some(0), 6), at("Recv", Some(1), 6)];
    let found = Standstill::of(&profile(&told, 9)).expect("stands still");
    assert_eq!(found.cycles, [[0, 1]]);
    // Where communicators of some ranks were made, nobody knows which of two ranks takes part.
    let told = [barrier(), at("Recv", Some(2), 6), barrier(), at("Recv", Some(0), 6)];
    let mut launch = profile(&told, 9);
    assert_eq!(Standstill::of(&launch).expect("stands still").cycles, [[0, 3], [1, 2]]);
    let split = launch.routines.number("Comm_split").expect("a routine");
    launch.total.routines.push(RoutineCalls::new(split));
    assert_eq!(Standstill::of(&launch).expect("stands still").cycles, Vec::<Vec<u32>>::new());
    // One of them may wait in a collective of a part of the ranks: all are in collectives but the one outside of MPI.
    let part = |told: &[Told]| {
        let mut launch = profile(told, 9);
        launch.inside[0].1.peer.iter_mut().for_each(|root| root.of_world = false);
        Standstill::of(&launch).expect("stands still").waited_for
    };
    let reduce = || at("Reduce", Some(0), 7);
    assert_eq!(part(&[reduce(), outside(8), barrier(), barrier()]), Some(1));
    assert_eq!(part(&[reduce(), outside(8), barrier(), outside(8)]), None);
    let told = [reduce(), outside(8), barrier(), at("Recv", Some(-1), 7)];
    assert_eq!(part(&told), None, "it may be the receive for which they wait");
    // With two others nobody knows.
    let told = [barrier(), outside(8), outside(8), barrier()];
    assert_eq!(Standstill::of(&profile(&told, 9)).expect("stands still").waited_for, None);
}

/// A rank may wait for one of another communicator, of which nobody knows which rank of the world it is: if all others wait for
/// that rank, it is one that waits for it.
#[test]
fn a_rank_for_which_all_others_wait_closes_the_circle() {
    let barrier = || at("Barrier", None, 7);
    let of_other = |told: &[Told]| {
        let mut launch = profile(told, 9);
        launch.inside.iter_mut().for_each(|(_, call)| {
            call.peer.iter_mut().for_each(|peer| peer.of_world = false);
        });
        let found = Standstill::of(&launch).expect("stands still");
        assert!(found.cycles.is_empty());
        found.closed_by
    };
    for routine in ["Probe", "Recv", "Ssend", "Sendrecv"] {
        let told = [barrier(), barrier(), at(routine, Some(0), 7)];
        assert_eq!(of_other(&told), Some(2), "{routine}");
    }
    // One that is outside of MPI may go on, any rank may be another one, and who asks does not wait.
    assert_eq!(of_other(&[barrier(), outside(8), at("Probe", Some(0), 7)]), None);
    for routine in ["Probe", "Iprobe", "Reduce"] {
        let peer = if routine == "Probe" { -1 } else { 0 };
        assert_eq!(
            of_other(&[barrier(), barrier(), at(routine, Some(peer), 7)]),
            None,
            "{routine}"
        );
    }
    let ended = |call| died(12, Some((call, (call == "Probe").then_some(0), 7)));
    let mut launch = profile(&[ended("Barrier"), ended("Probe"), ended("Barrier")], 9);
    launch.inside[1].1.peer.iter_mut().for_each(|peer| peer.of_world = false);
    let lost = LostRanks::of(&launch).expect("lost");
    assert_eq!((lost.closed_by(&launch), lost.is_deadlock(&launch)), (Some(1), true));
}

/// What a rank does that has been outside of MPI for long, while others stand still, is no measure of what these compute.
#[test]
fn a_rank_that_stands_still_outside_of_mpi_is_no_measure() {
    let barrier = || at("Barrier", None, 7);
    assert_eq!(unmeasured_ranks(&profile(&[barrier(), outside(8), barrier()], 9)), [1]);
    // It may compute in the same way in each step of a long run.
    assert_eq!(unmeasured_ranks(&profile(&[barrier(), outside(8), barrier()], 99)), [0; 0]);
    assert_eq!(unmeasured_ranks(&profile(&[barrier(), outside(0), barrier()], 9)), [0; 0]);
    let ended = || died(12, Some(("Barrier", None, 7)));
    assert_eq!(unmeasured_ranks(&profile(&[ended(), died(12, None), ended()], 9)), [1]);
    assert_eq!(unmeasured_ranks(&profile(&[ended(), died(10, None), ended()], 9)), [1]);
}

#[test]
fn who_has_not_posted_a_window_is_waited_for() {
    let told = || [at("Win_start", None, 7), outside(8), outside(8)];
    let waited_for = |unposted: &[u32]| {
        let mut launch = profile(&told(), 9);
        launch.unposted = vec![(0, unposted.to_vec())];
        Standstill::of(&launch).expect("stands still").waited_for
    };
    assert_eq!(waited_for(&[2]), Some(2));
    assert_eq!([waited_for(&[1, 2]), waited_for(&[])], [None; 2]);
    // Two accesses that wait for each other.
    let told = [at("Win_start", None, 7), at("Win_start", None, 8)];
    let mut launch = profile(&told, 9);
    launch.unposted = vec![(0, vec![1]), (1, vec![0])];
    assert_eq!(Standstill::of(&launch).expect("stands still").cycles, [[0, 1]]);
}

#[test]
fn each_circle_is_found() {
    let peers = [3, 0, 4, 1, 2, 0, 7, 6];
    let told = peers.map(|peer| at("Recv", Some(peer), 20));
    let found = Standstill::of(&profile(&told, 21)).expect("stands still");
    assert_eq!(found.cycles, [vec![0, 3, 1], vec![2, 4], vec![6, 7]]);
    // The last waits for nobody.
    let told = [at("Recv", Some(1), 20), at("Waitall", None, 20), at("Recv", Some(0), 20)];
    assert!(Standstill::of(&profile(&told, 21)).expect("stands still").cycles.is_empty());
}

#[test]
fn collectives_that_do_not_match_are_told_apart() {
    let mismatch = |told: &[Told]| Standstill::of(&profile(told, 21)).and_then(|of| of.mismatch);
    let barrier = || at("Barrier", None, 20);
    let bcast = |root| at("Bcast", Some(root), 20);
    assert_eq!(mismatch(&[barrier(), bcast(1), barrier()]), Some(Mismatch::Routines));
    assert_eq!(mismatch(&[barrier(), at("Finalize", None, 20)]), Some(Mismatch::Routines));
    assert_eq!(mismatch(&[bcast(0), bcast(2), bcast(0)]), Some(Mismatch::Roots));
    assert_eq!(mismatch(&[barrier(), barrier()]), Some(Mismatch::Hidden));
    let other = || [barrier(), at("Recv", Some(0), 20)];
    assert_eq!((mismatch(&other()), mismatch(&[barrier(), outside(20)])), (None, None));
    // Large data take their time.
    let slow = profile(&[at("Barrier", None, 2), at("Bcast", Some(1), 2)], 100);
    assert_eq!(Standstill::of(&slow).expect("stands still").mismatch, None);
    let finalize = || at("Finalize", None, 20);
    assert_eq!(mismatch(&[finalize(), finalize()]), None);
    // Of roots in other communicators nobody knows whether they are the same rank.
    let in_others = |of_world: [bool; 2]| {
        let mut launch = profile(&[bcast(0), bcast(1)], 21);
        for ((_, call), of_world) in launch.inside.iter_mut().zip(of_world) {
            call.peer.iter_mut().for_each(|peer| peer.of_world = of_world);
        }
        Standstill::of(&launch).and_then(|of| of.mismatch)
    };
    assert_eq!(in_others([false; 2]), Some(Mismatch::Hidden));
    assert_eq!(in_others([true, false]), Some(Mismatch::Communicators));
}

#[test]
fn roots_do_not_wait_for_themselves() {
    let told = [at("Bcast", Some(0), 5), at("Bcast", Some(0), 5)];
    let found = Standstill::of(&profile(&told, 9)).expect("stands still");
    assert_eq!((found.cycles, found.waited_for), (vec![], None));
}

/// A root that has sent what is broadcast goes on while others wait for those from which they get it.
#[test]
fn nobody_waits_for_a_root_that_has_left_the_call() {
    let circles = |ended_of_root: u128| {
        let told = [at("Allreduce", None, 20), at("Bcast", Some(0), 20)];
        let mut launch = profile(&told, 21);
        let number = launch.inside[1].1.routine;
        // The call in which rank 1 is counts, too.
        for (rank, (calls, unended)) in launch.ranks.iter_mut().zip([(ended_of_root, 0), (4, 1)]) {
            rank.sums.routines.push(RoutineCalls { calls, unended, ..RoutineCalls::new(number) });
        }
        Standstill::of(&launch).expect("stands still").cycles
    };
    assert_eq!(circles(3), [[0, 1]]);
    assert!(circles(4).is_empty());
}

#[test]
fn the_rank_that_ended_before_the_others_was_lost_first() {
    let mut launch = profile(&[died(10, None), died(12, Some(("Recv", Some(2), 1)))], 20);
    launch.facts.ending = Some(Ending::Lost);
    let found = LostRanks::of(&launch).expect("lost");
    assert_eq!((&found.first[..], found.is_certain, &found.others[..]), (&[0][..], true, &[1][..]));
    // One second may be a matter of rounding, unless another waited for it.
    let near = profile(&[died(11, None), died(12, Some(("Recv", Some(2), 1)))], 20);
    assert!(!LostRanks::of(&near).expect("lost").is_certain);
    let waits = profile(&[died(11, None), died(12, Some(("Recv", Some(0), 1)))], 20);
    assert!(LostRanks::of(&waits).expect("lost").is_certain);
    let same = profile(&[died(12, None), died(12, Some(("Recv", Some(0), 0)))], 20);
    let found = LostRanks::of(&same).expect("lost");
    assert_eq!((found.first.len(), found.others.len(), found.is_certain), (0, 2, false));
    // The kernel noted the order on a node.
    let ordered = |mut launch: MpiProfile, after: &[Option<u32>]| {
        for (rank, after) in launch.ranks.iter_mut().zip(after) {
            rank.last.as_mut().expect("a last sign").ended_after = *after;
        }
        launch
    };
    let three = || profile(&[died(12, None), died(12, None), died(12, None)], 20);
    let found = |launch: &MpiProfile| {
        let LostRanks { first, is_certain, is_cause, others } =
            LostRanks::of(launch).expect("lost");
        (first, is_certain, is_cause, others)
    };
    let known = ordered(three(), &[Some(1), Some(2), Some(0)]);
    assert_eq!(found(&known), (vec![1], true, false, vec![0, 2]));
    let nothing = (vec![], false, false, vec![0, 1, 2]);
    assert_eq!(found(&ordered(three(), &[Some(1), None, Some(0)])), nothing);
    assert_eq!(found(&ordered(three(), &[Some(1), Some(1), Some(0)])), nothing);
    let mut apart = ordered(three(), &[Some(1), Some(2), Some(0)]);
    apart.ranks[2].host = (*b"n2").into();
    assert_eq!(found(&apart), nothing);
    // Ranks of which nothing is known may have ended before.
    let mut more = ordered(three(), &[Some(1), Some(2), Some(0)]);
    more.facts.npes = Some(4);
    assert_eq!(found(&more), nothing);
    // Whoever is waited for is the cause, but not if that is a matter of a moment.
    for (seconds, is_cause) in [(1, true), (0, false)] {
        let waits = [died(12, Some(("Recv", Some(1), seconds))), died(12, None), died(12, None)];
        let waits = ordered(profile(&waits, 20), &[Some(1), Some(2), Some(0)]);
        assert_eq!(found(&waits), (vec![1], true, is_cause, vec![0, 2]), "{seconds} s");
    }
    // Nor if it waits itself for those that wait for it, as in a ring that was ended from outside.
    let ring = [2, 0, 1].map(|peer| died(12, Some(("Sendrecv", Some(peer), 1))));
    let ring = ordered(profile(&ring, 20), &[Some(1), Some(2), Some(0)]);
    assert_eq!(found(&ring), (vec![1], true, false, vec![0, 2]));
    // Of those of the first second the order tells which was first.
    let seconds = [died(10, None), died(10, None), died(12, None)];
    let seconds = ordered(profile(&seconds, 20), &[Some(1), Some(2), Some(0)]);
    assert_eq!(found(&seconds), (vec![1], true, true, vec![0, 2]));
    // An end of another kind explains those without a word.
    let mut exits = profile(&[died(10, None), died(12, None)], 20);
    exits.ranks[1].ending = Some(Ending::Exit);
    assert_eq!(LostRanks::of(&exits), None);
    let runs = profile(&[died(10, None), at("Recv", Some(0), 3)], 20);
    assert_eq!(LostRanks::of(&runs).expect("lost").first, [0]);
    let calls = LostRanks::calls(&same, &[0, 1]);
    assert_eq!(calls.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [1]);
}

#[test]
fn ranks_that_were_in_their_calls_for_long_when_they_ended_had_hung() {
    let hung = |told: &[Told], wall: u64| {
        let launch = profile(told, wall);
        LostRanks::of(&launch)
            .expect("lost")
            .hang(&launch)
            .filter(|hang| hang.is_sure)
            .map(|hang| hang.time)
    };
    let send = |second, peer, seconds| died(second, Some(("Send", Some(peer), seconds)));
    assert_eq!(hung(&[send(12, 1, 20), send(12, 0, 19)], 21), Some(19 * S));
    assert_eq!(hung(&[send(12, 1, 20), send(13, 0, 21)], 21), Some(20 * S));
    // One ended well before the others, was outside of MPI, or in its call for a short part of the run.
    assert_eq!(hung(&[send(12, 1, 20), send(14, 0, 20)], 21), None);
    assert_eq!(hung(&[send(12, 1, 20), died(12, None)], 21), None);
    assert_eq!(hung(&[send(12, 1, 20), send(12, 0, 5)], 21), None);
    assert_eq!(hung(&[send(12, 1, 3), send(12, 0, 3)], 21), None);
    assert_eq!(hung(&[send(12, 1, 20), at("Recv", Some(0), 20)], 21), None);
}

#[test]
fn a_rank_that_asks_until_the_end_or_does_not_end_first_has_not_failed() {
    let barrier = |after| (died(12, Some(("Barrier", None, 9))), after);
    let (alone, is_first) = (std::cell::Cell::new(false), std::cell::Cell::new(false));
    let hang = |told: Vec<(Told, u32)>, last: Option<(&str, u64)>| {
        let (told, after): (Vec<Told>, Vec<u32>) = told.into_iter().unzip();
        let mut launch = profile(&told, 11);
        for (rank, after) in launch.ranks.iter_mut().zip(after) {
            rank.last.as_mut().expect("a last sign").ended_after = Some(after);
        }
        let sign = launch.ranks[1].last.as_mut().expect("a last sign");
        if let Some((routine, second)) = last {
            sign.routine = launch.routines.number(routine);
            sign.last_call = second * S;
        }
        let hang = LostRanks::of(&launch).expect("lost").hang(&launch).expect("long calls");
        alone.set(hang.may_be_alone);
        is_first.set(hang.is_first());
        (hang.time / S, hang.calls.len(), hang.outside, hang.is_sure)
    };
    let first = || vec![barrier(1), (died(12, None), 2), barrier(0)];
    // Who was outside of MPI and ended first may have failed there.
    for last in [None, Some(("Send", 12)), Some(("Iprobe", 9))] {
        assert_eq!(hang(first(), last), (9, 2, vec![1], false), "{last:?}");
    }
    assert_eq!(hang(first(), Some(("Iprobe", 12))), (9, 2, vec![1], true));
    // One that waited and ended first may have been killed alone, while the other computed.
    let later = || vec![barrier(2), (died(12, None), 1), barrier(0)];
    assert_eq!((hang(later(), None), alone.get()), ((9, 2, vec![1], true), true));
    let asks = hang(later(), Some(("Iprobe", 12)));
    assert_eq!((asks, alone.get()), ((9, 2, vec![1], true), false));
    assert!(is_first.get());
    // More of the ranks computed, as those of a master do.
    let master =
        vec![(died(12, Some(("Recv", None, 9))), 2), (died(12, None), 1), (died(12, None), 0)];
    assert_eq!((hang(master, None), alone.get()), ((9, 1, vec![1, 2], true), true));
    assert!(!is_first.get());
    // So it was if it ended in an earlier second than all others.
    let ended_at = |second, after| (died(second, Some(("Barrier", None, 9))), after);
    let clear = |other| vec![ended_at(12, 2), (died(other, None), 1), ended_at(13, 0)];
    assert_eq!((hang(clear(13), None), alone.get()), ((8, 2, vec![1], false), true));
    assert_eq!((hang(clear(12), None), alone.get()), ((8, 2, vec![1], true), true));
    // Not if those that waited did so for each other.
    let receive = |peer, after| (died(12, Some(("Recv", Some(peer), 9))), after);
    let circle = vec![receive(2, 2), (died(12, None), 1), receive(0, 0)];
    assert_eq!((hang(circle, None), alone.get()), ((9, 2, vec![1], true), false));
    // In the middle of a question.
    let asks = vec![barrier(1), (died(12, Some(("Test", None, 0))), 2), barrier(0)];
    assert_eq!(hang(asks, None), (9, 2, vec![1], true));
    let told = [at("Barrier", None, 7), at("Iprobe", Some(0), 1), at("Barrier", None, 7)];
    assert!(Standstill::of(&profile(&told, 9)).expect("stands still").cycles.is_empty());
    // The kernel notes seconds, and all ended together.
    let rounded = vec![barrier(1), (died(13, Some(("Barrier", None, 10))), 2), barrier(0)];
    assert_eq!(hang(rounded, None), (9, 3, vec![], true));
}
