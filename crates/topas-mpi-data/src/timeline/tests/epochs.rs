//! Waits at windows that are posted and started.

use topas_trace::most_of_epoch;

use super::*;
use crate::timeline::notes::NoteKind::{AccessEnd, Post};

/// What an event tells of an epoch: its number, whether all ranks are there, and these with their numbers.
type MadeEpoch<'e> = (u32, bool, &'e [(u32, u64)]);

/// A call at a window: its name, when it began and ended in ms, the window, and its epoch.
type WindowCall<'e> = (&'static str, u64, u64, u64, Option<MadeEpoch<'e>>);

/// A block of a rank with such calls, after `before` others.
fn window_block(rank: u32, thread: u32, before: u64, calls: &[WindowCall<'_>]) -> Vec<u8> {
    let head = BlockHead {
        rank,
        thread,
        process: 10 + u64::from(rank),
        before,
        first: calls[0].1 * MS,
        ..BlockHead::new(BlockContent::Events)
    };
    let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
    let mut writer = Box::new(Writer::new());
    writer.begin(&mut block);
    for (name, began, ended, communicator, epoch) in calls {
        let routine = NAMES.iter().position(|known| known == name).expect("a routine") as u16;
        let arguments = CallArguments { communicator: *communicator, ..CallArguments::NONE };
        let event = CallEvent { routine, began: began * MS, ended: ended * MS, arguments };
        assert!(match epoch {
            None => writer.put(&mut block, &event),
            Some((number, is_whole, ranks)) => {
                let most = most_of_epoch(ranks.len() as u32);
                writer.put_with_supplement(&mut block, &event, most, |epoch| {
                    epoch.epoch(*number, *is_whole);
                    ranks.iter().for_each(|(rank, number)| epoch.rank(*rank, *number));
                })
            }
        });
    }
    block.close(rank, writer.last());
    [&block.head.encode()[..], &block.body].concat()
}

/// The time line of blocks, each of a rank.
fn told_of(blocks: &[(u32, Vec<u8>)], ranks: u32, check: impl FnOnce(&Timeline<'_>)) {
    let mut bytes: Vec<u8> = blocks.iter().flat_map(|(_, block)| block.clone()).collect();
    (0..ranks).for_each(|rank| bytes.extend(facts(rank, ranks, "")));
    let logs = [log(&bytes)];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    for row in &timeline.rows {
        let life = row.ended() - row.began();
        assert_eq!(row.times.iter().sum::<u64>(), life, "classes add up");
    }
    check(&timeline);
}

/// The same of calls of each rank.
fn told_windows(ranks: &[&[WindowCall<'_>]], check: impl FnOnce(&Timeline<'_>)) {
    let block = |(rank, calls): (u32, &&[WindowCall<'_>])| (rank, window_block(rank, 0, 0, calls));
    let blocks: Vec<_> = (0..).zip(ranks).map(block).collect();
    told_of(&blocks, ranks.len() as u32, check);
}

/// Kind, wait in ms, partner and moment in ms of the notes of a row.
fn notes(timeline: &Timeline<'_>, row: usize) -> Vec<(NoteKind, u64, u32, u64)> {
    let shown = |note: &TimelineNote| (note.kind, note.wait / MS, note.partner, note.moment / MS);
    timeline.notes_of(row).iter().map(shown).collect()
}

const WINDOW: u64 = 0x77;

/// Rank 2 accesses the windows of ranks 0 and 1, both of which post late, rank 1 last; then they wait for it.
#[test]
fn calls_wait_for_the_last_post_and_the_last_end_of_an_access() {
    for waits_in_start in [true, false] {
        let start_until = if waits_in_start { 31 } else { 6 };
        let ranks: [&[WindowCall<'_>]; 3] = [
            &[
                ("MPI_Win_post", 20, 21, WINDOW, Some((1, true, &[(2, 1_000)]))),
                ("MPI_Win_wait", 22, 62, WINDOW, Some((1, true, &[]))),
            ],
            &[
                ("MPI_Win_post", 30, 31, WINDOW, Some((4, true, &[(2, 7)]))),
                ("MPI_Win_wait", 70, 71, WINDOW, Some((4, true, &[]))),
            ],
            &[
                ("MPI_Win_start", 5, start_until, WINDOW, Some((9, true, &[(0, 1_000), (1, 7)]))),
                (
                    "MPI_Win_complete",
                    if waits_in_start { 60 } else { 10 },
                    61,
                    WINDOW,
                    Some((9, true, &[])),
                ),
            ],
        ];
        told_windows(&ranks, |timeline| {
            let ended = if waits_in_start { 60 } else { 10 };
            // Of a start that is over before a window is posted, nothing is told.
            let accesses =
                if waits_in_start { vec![(Post, 25, 1, 30)] } else { vec![(Post, 20, 1, 30)] };
            assert_eq!(notes(timeline, 2), accesses);
            let first = if ended > 22 { vec![(AccessEnd, ended - 22, 2, ended)] } else { vec![] };
            assert_eq!(notes(timeline, 0), first);
            assert_eq!(notes(timeline, 1), [], "nobody was late");
            let waited = if waits_in_start { 25 } else { 20 };
            assert_eq!(time(timeline, 2, TimeClass::LateSender), waited);
            let in_calls = (start_until - 5) + (61 - ended);
            assert_eq!(time(timeline, 2, TimeClass::OneSided), in_calls - waited);
            assert_eq!((timeline.untold, timeline.unnamed), (0, 0));
            // While rank 0 waited for rank 2, that waited for rank 1 for a part of the time.
            let handed_on = if waits_in_start { 30 - 22 } else { 0 };
            assert_eq!(timeline.rows[1].delayed / MS, waited + handed_on);
        });
    }
}

/// Epochs of two windows at once, and many of one: each call has its own, whatever the order in which they are read.
#[test]
fn epochs_are_told_apart_by_window_and_number() {
    let mut all: [Vec<WindowCall<'_>>; 2] = Default::default();
    let numbers: Vec<[(u32, u64); 1]> = (0..300).map(|n| [(0, n)]).collect();
    let others: Vec<[(u32, u64); 1]> = (0..300).map(|n| [(1, n)]).collect();
    for round in 0..300u64 {
        let at = 100 * round;
        let (window, nth) = (WINDOW + round % 2, (round / 2) as usize);
        let epoch = round as u32 + 1;
        all[0].push(("MPI_Win_post", at + 10, at + 11, window, Some((epoch, true, &others[nth]))));
        all[1].push(("MPI_Win_start", at, at + 12, window, Some((epoch, true, &numbers[nth]))));
        all[1].push(("MPI_Win_complete", at + 30, at + 31, window, Some((epoch, true, &[]))));
        all[0].push(("MPI_Win_wait", at + 15, at + 32, window, Some((epoch, true, &[]))));
    }
    // In blocks of some calls, so that posts are read before and behind the calls that wait for them.
    let mut blocks = Vec::new();
    for (rank, calls) in (0..).zip(&all) {
        for (part, calls) in calls.chunks(70 + 23 * rank as usize).enumerate() {
            let before = part as u64 * (70 + 23 * u64::from(rank));
            let mut block = window_block(rank, 0, before, calls);
            block[40..48].copy_from_slice(&(part as u64).to_le_bytes());
            // The sum of a block that is written says nothing.
            block[72..80].fill(0);
            blocks.push((rank, block));
        }
    }
    told_of(&blocks, 2, |timeline| {
        assert_eq!(timeline.untold, 0);
        assert_eq!(time(timeline, 1, TimeClass::LateSender), 300 * 10);
        assert_eq!(time(timeline, 0, TimeClass::LateSender), 300 * 15);
        assert_eq!(timeline.notes.len(), 600);
    });
}

/// What the log lacks is counted and never guessed: an epoch whose begin is missing, one with ranks that have no
/// number, and one whose post is missing. A test waits for nobody.
#[test]
fn what_is_missing_is_counted() {
    let ranks: [&[WindowCall<'_>]; 2] = [
        &[
            ("MPI_Win_post", 20, 21, WINDOW, Some((1, true, &[(1, 5)]))),
            ("MPI_Win_test", 50, 51, WINDOW, Some((1, true, &[]))),
            ("MPI_Win_wait", 60, 99, WINDOW, Some((7, true, &[]))),
        ],
        &[
            ("MPI_Win_start", 5, 21, WINDOW, Some((1, false, &[(0, 5)]))),
            ("MPI_Win_complete", 30, 31, WINDOW, Some((1, true, &[]))),
            ("MPI_Win_start", 35, 36, WINDOW, Some((2, true, &[(0, 6)]))),
            ("MPI_Win_complete", 40, 41, WINDOW, Some((2, true, &[]))),
            ("MPI_Win_start", 50, 51, 0, None),
            ("MPI_Win_complete", 60, 61, WINDOW, Some((0, true, &[]))),
            ("MPI_Win_post", 70, 71, 0, None),
        ],
    ];
    told_windows(&ranks, |timeline| {
        assert_eq!(timeline.notes, []);
        assert_eq!(
            timeline.untold, 6,
            "a wait, two of an epoch that is not whole, two without a post, one without a number"
        );
        assert_eq!(timeline.unnamed, 1);
    });
}

/// Another thread ends what one has begun, and its block is read first.
#[test]
fn threads_end_epochs_of_each_other() {
    let early = |moment| ("MPI_Win_test", moment, moment, WINDOW, None);
    let exposed = [("MPI_Win_post", 4, 5, WINDOW, Some((1, true, &[(1, 0)][..])))];
    let waits = [early(1), ("MPI_Win_wait", 6, 50, WINDOW, Some((1, true, &[][..])))];
    let started = [("MPI_Win_start", 7, 8, WINDOW, Some((3, true, &[(0, 0)][..])))];
    let completed = [early(2), ("MPI_Win_complete", 40, 49, WINDOW, Some((3, true, &[][..])))];
    let blocks = [
        (0, window_block(0, 0, 0, &exposed)),
        (0, window_block(0, 1, 0, &waits)),
        (1, window_block(1, 0, 0, &started)),
        (1, window_block(1, 1, 0, &completed)),
    ];
    told_of(&blocks, 2, |timeline| {
        assert_eq!(timeline.untold, 0);
        assert_eq!(notes(timeline, 1), [(AccessEnd, 34, 3, 40)]);
    });
}
