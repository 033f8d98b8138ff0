//! What is told of a thread in front of its oldest event in the log, and behind its last one.

use super::*;

const BARRIER: [MadeCall; 1] = [("MPI_Barrier", 5, 6, NONE)];

/// The number of MPI_Barrier.
const IN_BARRIER: u16 = 5;

/// The time line of a rank of two with these facts.
fn told_with(more: &str, check: impl FnOnce(&Timeline<'_>)) {
    let logs = [log(&[block(0, 0, 0, &BARRIER), facts(0, 2, more)].concat())];
    check(&Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch"));
}

/// Classes of the time behind the last event, with where they begin and end in ms.
fn tail(timeline: &Timeline<'_>) -> Vec<(TimeClass, u64, u64, Option<u16>)> {
    let parts = timeline.rows[0].tail.iter();
    parts.map(|part| (part.class, part.began / MS, part.ended / MS, part.routine)).collect()
}

#[test]
fn a_rank_that_was_killed_was_in_a_call() {
    use TimeClass::{CollectiveWait, Outside};
    told_with(&format!("inside {IN_BARRIER} {}\n", 30 * MS), |timeline| {
        assert_eq!(timeline.rows[0].inside, Some((IN_BARRIER, 30 * MS)));
        assert_eq!(timeline.ended, 1000 * MS, "the latest moment of the rank");
        assert_eq!(timeline.missing_ranks, 1);
        assert_eq!(timeline.notes, [], "of the barrier, a rank is missing");
        let wait = (CollectiveWait, 30, 1000, Some(IN_BARRIER));
        assert_eq!(tail(timeline), [(Outside, 6, 30, None), wait]);
        // The wait that did not end is in the sums of the row, and can be told apart.
        let row = &timeline.rows[0];
        assert_eq!(row.times[CollectiveWait as usize], 970 * MS);
        assert_eq!(row.unended_wait(), 970 * MS);
        assert_eq!(row.times_of_events()[CollectiveWait as usize], 0);
        assert_eq!(row.times_of_events().iter().sum::<u64>(), MS);
        let whole = timeline.course(1)[0].iter().sum::<u64>();
        assert_eq!(whole, MS, "the course of a run is that of its events");
    });
    // Whoever collected the log knows until when the call lasted, to a second.
    let state = format!("state 0\ninside {IN_BARRIER} {}\nended {}\n", 30 * MS, 2500 * MS);
    told_with(&state, |timeline| {
        assert_eq!(timeline.ended, 2500 * MS);
        let wait = (CollectiveWait, 30, 2500, Some(IN_BARRIER));
        assert_eq!(tail(timeline), [(Outside, 6, 30, None), wait]);
    });
}

#[test]
fn a_rank_that_was_killed_was_outside_of_mpi() {
    use TimeClass::{NotInLog, Outside, Paused};
    let state = |ended: u64| format!("state 0\nended {}\n", ended * MS);
    told_with(&state(700), |timeline| {
        // The kernel notes a second: up to its end nobody knows.
        assert_eq!((tail(timeline), timeline.ended), (vec![(Outside, 6, 700, None)], 700 * MS));
    });
    let mut bytes = [block(0, 0, 0, &BARRIER), facts(0, 2, &state(700))].concat();
    bytes.extend([block(1, 0, 0, &[("MPI_Barrier", 4, 4000, NONE)]), facts(1, 2, "")].concat());
    let logs = [log(&bytes)];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert_eq!(tail(&timeline), [(Outside, 6, 700, None), (NotInLog, 700, 1700, None)]);
    assert_eq!(timeline.rows[1].tail, [], "a rank that came to its end");
    // Nobody noted when it ended, or it paused measuring.
    let bytes = [block(0, 0, 0, &BARRIER), facts(0, 1, "state 0\n")].concat();
    let more = [block(1, 0, 0, &[("MPI_Barrier", 4, 4000, NONE)]), facts(1, 2, "")].concat();
    let logs = [log(&[bytes, more].concat())];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert_eq!(tail(&timeline), [(Outside, 6, 1000, None), (NotInLog, 1000, 4000, None)]);
    let calls = [BARRIER[0], ("MPI_Pcontrol", 9, 9, CallArguments::PAUSING)];
    let logs = [log(&[block(0, 0, 0, &calls), facts(0, 1, &state(700))].concat())];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert_eq!(tail(&timeline), [(Paused, 9, 700, None)]);
}

#[test]
fn what_was_overwritten_at_the_beginning_is_not_in_the_log() {
    let barrier = |began| [("MPI_Barrier", began, began + 1, NONE)];
    let bytes = [block(0, 3, 90, &barrier(20)), facts(0, 1, "")].concat();
    let logs = [log(&bytes)];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    let first = CallPlace { row: 0, block: 0, call: 0 };
    assert_eq!(timeline.rows[0].class_before(first), TimeClass::NotInLog);
    assert_eq!(timeline.rows[0].began(), 0, "the first call of the rank");
    assert_eq!(time(&timeline, 0, TimeClass::NotInLog), 20);
    assert_eq!(time(&timeline, 0, TimeClass::Outside), 0);
}
