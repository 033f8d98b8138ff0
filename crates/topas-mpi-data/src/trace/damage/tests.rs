//! Logs of a ring of eight ranks that are damaged on purpose.

use std::path::Path;

use proptest::prelude::*;
use topas_trace::{BlockHead, HEAD, LENGTH, checksum};

use super::*;
use crate::replay::{Network, Replay, replay};
use crate::timeline::tests::synthetic::SyntheticTrace;
use crate::timeline::{TimeClass, Timeline};
use crate::trace::launches_in;

/// The whole log: of each rank a block of events, and behind it one of facts.
fn whole() -> Vec<u8> {
    of_steps(200)
}

fn of_steps(steps: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    SyntheticTrace { steps, ..SyntheticTrace::default() }.write(&mut bytes).expect("a log");
    // Rank by rank, as ranks append their blocks at their ends.
    let mut blocks: Vec<&[u8]> = bytes.chunks(LENGTH).collect();
    blocks.sort_by_key(|block| block[12]);
    blocks.concat()
}

fn opened(bytes: &[u8]) -> [TraceLog; 1] {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("written");
    [TraceLog::open(Path::new(file.path())).expect("a log")]
}

/// The heads of the blocks with their offsets.
fn heads(bytes: &[u8]) -> Vec<(usize, BlockHead)> {
    let starts = (0..bytes.len()).step_by(LENGTH);
    starts.map(|at| (at, BlockHead::decode(&bytes[at..]).expect("a head"))).collect()
}

/// Where the blocks of events of a rank begin.
fn blocks_of(bytes: &[u8], rank: u32) -> Vec<usize> {
    let all = heads(bytes).into_iter();
    all.filter(|(_, head)| head.rank == rank && head.content == 1).map(|(at, _)| at).collect()
}

/// Makes the sum of the block at an offset right.
fn mend(bytes: &mut [u8], at: usize) {
    let Ok(mut head) = BlockHead::decode(&bytes[at..]) else { return };
    head.check = checksum(&head, &bytes[at + HEAD..at + HEAD + head.used() as usize]);
    bytes[at..at + HEAD].copy_from_slice(&head.encode());
}

fn replayed(logs: &[TraceLog]) -> Replay {
    replay(logs, "made-up-1", &Network::default()).expect("a replay")
}

fn timeline(logs: &[TraceLog]) -> Timeline<'_> {
    Timeline::read(logs, None, |_, _| {}).expect("read").expect("a launch")
}

#[test]
fn a_whole_log_has_no_damage() {
    let logs = opened(&whole());
    assert!(!logs[0].is_damaged());
    assert_eq!(logs[0].damage_words(), [""; 0]);
    let told = replayed(&logs);
    assert!(told.is_whole() && told.factors().is_some());
}

#[test]
fn a_rank_whose_only_block_is_damaged_is_left_out_and_has_a_row() {
    let mut bytes = whole();
    let events = u64::from(heads(&bytes)[0].1.events());
    let at = blocks_of(&bytes, 3);
    assert_eq!(at.len(), 1, "the run is short");
    bytes[at[0] + HEAD + 1000] ^= 1;
    let logs = opened(&bytes);
    let words = logs[0].damage_words();
    assert_eq!(words.len(), 1);
    assert!(words[0].starts_with("1 block of rank 3 is damaged, 0.0"), "{words:?}");
    assert!(words[0].contains(" s of its run are missing, "), "{words:?}");
    let damage = logs[0].processes[3].damage().expect("damage");
    assert_eq!((damage.damaged, damage.absent, damage.events), (1, 0, events));

    let told = replayed(&logs);
    assert_eq!((told.ranks.len(), told.size), (7, Some(8)));
    assert!(told.ranks.iter().all(|rank| rank.rank != 3) && told.factors().is_none());
    assert_eq!(told.damage, std::slice::from_ref(&damage));

    let timeline = timeline(&logs);
    assert_eq!((timeline.rows.len(), timeline.damage.len()), (8, 1));
    let row = &timeline.rows[3];
    assert_eq!((row.calls, row.blocks.len()), (0, 0));
    let unknown = row.times[TimeClass::NotInLog as usize];
    assert_eq!(unknown, row.times.iter().sum::<u64>());
    assert!(unknown.abs_diff(damage.time) < 1000, "{unknown} {}", damage.time);
    assert_eq!(timeline.rows[4].process, 4, "the rows behind it are those of their ranks");
}

#[test]
fn what_is_damaged_in_the_midst_or_at_an_end_is_not_known_there() {
    let whole = of_steps(8_000);
    let at = blocks_of(&whole, 3);
    assert!(at.len() >= 3, "{} blocks", at.len());
    let end = heads(&whole);
    let end = |at: usize| end.iter().find(|(other, _)| *other == at).expect("a block").1;
    for place in [0, 1, at.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at[place] + HEAD + 9] ^= 1;
        let logs = opened(&bytes);
        let damage = logs[0].processes[3].damage().expect("damage");
        let head = end(at[place]);
        assert_eq!((damage.damaged, damage.events), (1, head.events().into()), "{place}");
        let length = (head.last - head.first) / 3;
        assert!(damage.time.abs_diff(length) < 100_000, "{place}: {} {length}", damage.time);
        assert_eq!(logs[0].processes[3].threads().next().expect("a thread").overwritten, 0);
        let timeline = timeline(&logs);
        let row = &timeline.rows[3];
        let unknown = row.times[TimeClass::NotInLog as usize];
        assert!(unknown.abs_diff(length) < 100_000, "{place}: {unknown} {length}");
        let slices = row.slices.iter();
        let ended = slices.fold(row.began(), |began, slice| {
            assert_eq!(slice.times.iter().sum::<u64>(), slice.ended - began);
            slice.ended
        });
        assert_eq!(ended - row.began(), row.times.iter().sum::<u64>());
        let first = timeline.rows[2].began();
        assert!(row.began().abs_diff(first) < 100_000, "{} {first}", row.began());
        for block in &row.blocks {
            assert_eq!(row.slices_of(block).last().expect("slices").ended, block.ended);
        }
        assert_eq!(replayed(&logs).ranks.len(), 7);
    }
}

#[test]
fn a_cut_log_is_one_launch_and_says_what_is_there() {
    let whole = whole();
    // In the midst of the block of events of rank 5, and a byte behind that block.
    let at = blocks_of(&whole, 5)[0];
    for length in [at + 9000, at + LENGTH + 1] {
        let logs = opened(&whole[..length]);
        let least = length.next_multiple_of(LENGTH) as u64;
        assert_eq!(logs[0].cut, Some(TraceCut { found: length as u64, least }));
        assert_eq!(launches_in(&logs), [("made-up-1".to_owned(), 6)]);
        let words = logs[0].damage_words();
        let start = format!("the file is cut: it has {length} B, and had {least} B or more");
        assert!(words[0].starts_with(&start), "{words:?}");
        assert!(words[0].contains("ranks that are whole: 0 to 4"), "{words:?}");
        assert!(words[0].contains("ranks that are there in part: 5"), "{words:?}");
        assert!(words[0].contains("ranks that are not in it: 6, 7"), "{words:?}");
        let told = replayed(&logs);
        assert_eq!((told.ranks.len(), told.damage.len(), told.is_cut), (5, 1, true));
        assert!(told.factors().is_none());
        let timeline = timeline(&logs);
        assert_eq!((timeline.other_launches, timeline.missing_ranks), (0, 2));
        assert!(timeline.is_cut);
    }
    // Between two blocks nobody can tell: ranks are missing.
    let logs = opened(&whole[..at]);
    assert_eq!(logs[0].cut, None);
    assert!(replayed(&logs).factors().is_none());
}

#[test]
fn facts_that_are_damaged_are_those_of_the_launch() {
    let mut bytes = whole();
    let at = blocks_of(&bytes, 2)[0] + LENGTH;
    bytes[at + HEAD + 3] ^= 1;
    let logs = opened(&bytes);
    let words = logs[0].damage_words();
    assert!(words[0].starts_with("what rank 2 says of itself is damaged"), "{words:?}");
    assert_eq!(launches_in(&logs), [("made-up-1".to_owned(), 8)]);
    let process = &logs[0].processes[2];
    assert_eq!((process.facts.value("host"), process.routine(0)), ("n001", "MPI_Init".to_owned()));
    let row = &timeline(&logs).rows[2];
    assert!(row.calls > 100 && row.times[TimeClass::LateSender as usize] > 0);
}

#[test]
fn blocks_that_are_all_damaged_are_no_log_of_no_calls() {
    let mut bytes = whole();
    for (at, _) in heads(&bytes).into_iter().filter(|(_, head)| head.content == 1) {
        bytes[at + HEAD + 20] ^= 4;
    }
    let logs = opened(&bytes);
    assert!(!is_readable(&logs) && logs[0].is_damaged());
    assert_eq!(logs[0].damage_words().len(), 8);
    assert_eq!((replayed(&logs).ranks.len(), replayed(&logs).damage.len()), (0, 8));
}

#[test]
fn times_outside_of_the_run_are_damage_although_sums_are_right() {
    let whole = whole();
    let at = blocks_of(&whole, 4)[0];
    let head = BlockHead::decode(&whole[at..]).expect("a head");
    // All calls a day later, and all a day earlier.
    let day = 3 * 86_400 * SECOND;
    let later = (head.first + day, head.last + day);
    for (first, last) in [later, (head.first - day, head.last - day)] {
        let mut bytes = whole.clone();
        let head = BlockHead { first, last, ..head };
        bytes[at..at + HEAD].copy_from_slice(&head.encode());
        mend(&mut bytes, at);
        let logs = opened(&bytes);
        let words = logs[0].damage_words();
        assert!(words[0].starts_with("1 block of rank 4 is damaged"), "{words:?}");
        assert_eq!(replayed(&logs).ranks.len(), 7);
    }
}

#[test]
fn ranks_are_told_as_ranges() {
    for (ranks, words) in [
        (&[][..], ""),
        (&[3], "3"),
        (&[0, 1], "0, 1"),
        (&[0, 2, 3, 4, 9], "0, 2 to 4, 9"),
        (&[u32::MAX], "4294967295"),
    ] {
        assert_eq!(ranks_in_words(ranks), words);
    }
    let many: Vec<u32> = (0..40).step_by(2).collect();
    assert_eq!(ranks_in_words(&many), "0, 2, 4, 6, 8, 10, 12, 14, ...");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Whatever bytes are changed, with sums made right or not, times are numbers.
    #[test]
    fn no_time_is_infinite(
        changes in prop::collection::vec((0usize..16, 0usize..LENGTH, any::<u8>()), 1..6),
        mended in any::<bool>(),
    ) {
        let mut bytes = of_steps(30);
        for (block, place, byte) in changes {
            // Mostly where something stands.
            let place = if place % 4 == 0 { place } else { place % (2 * HEAD) };
            bytes[block * LENGTH + place] = byte;
            if mended {
                mend(&mut bytes, block * LENGTH);
            }
        }
        let logs = opened(&bytes);
        for (launch, _) in launches_in(&logs) {
            let told = replay(&logs, &launch, &Network::default()).expect("a replay");
            let [real, model] = told.elapsed();
            prop_assert!(real.is_finite() && model.is_finite(), "{real} {model}");
            for rank in &told.ranks {
                for times in [rank.measured, rank.modelled] {
                    prop_assert!(times.elapsed.is_finite() && times.computing.is_finite(), "{rank:?}");
                    prop_assert!(times.elapsed >= 0.0 && times.computing >= 0.0, "{rank:?}");
                }
            }
            if let Some(factors) = told.factors() {
                let all = [factors.parallel, factors.load_balance, factors.communication];
                prop_assert!(all.iter().all(|factor| factor.is_finite()), "{factors:?}");
            }
            let _ = Timeline::read(&logs, Some(&launch), |_, _| {}).expect("read");
        }
    }
}
