//! Waits of ranks in which several threads call MPI.

use super::*;

/// The block of a second thread of rank 0.
fn second_thread(calls: &[MadeCall]) -> Vec<u8> {
    let mut bytes = block(0, 0, 0, calls);
    let mut head = BlockHead::decode(&bytes).expect("a head");
    head.thread = 1;
    head.check = checksum(&head, &bytes[HEAD..HEAD + head.used() as usize]);
    bytes[..HEAD].copy_from_slice(&head.encode());
    bytes
}

/// A thread waits for another of its rank, which waits for rank 1: only this is a wait for another rank. Rank 2 waits
/// for the first of these threads, and so for rank 1, too.
#[test]
fn what_threads_of_a_rank_wait_for_each_other_is_no_wait_for_a_rank() {
    let first = [("MPI_Recv", 10, 42, from(0, 5, 8)), ("MPI_Send", 42, 43, to(2, 5, 8))];
    let second = [("MPI_Recv", 10, 41, from(1, 5, 8)), ("MPI_Send", 41, 42, to(0, 5, 8))];
    let bytes = [
        block(0, 0, 0, &first),
        second_thread(&second),
        facts(0, 3, ""),
        block(1, 0, 0, &[("MPI_Send", 40, 41, to(0, 5, 8))]),
        facts(1, 3, ""),
        block(2, 0, 0, &[("MPI_Recv", 10, 43, from(0, 5, 8))]),
        facts(2, 3, ""),
    ];
    let logs = [log(&bytes.concat())];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    let times = |class| -> Vec<u64> { (0..4).map(|row| time(&timeline, row, class)).collect() };
    assert_eq!(times(TimeClass::LateSender), [0, 30, 0, 32]);
    assert_eq!(times(TimeClass::PointToPoint), [33, 2, 1, 1]);
    let delayed: Vec<u64> = timeline.rows.iter().map(|row| row.delayed / MS).collect();
    assert_eq!(delayed.iter().sum::<u64>(), 62, "{delayed:?}");
    assert!(delayed[2] >= 60, "{delayed:?}");
    let waits: Vec<u64> = timeline.notes.iter().map(|note| note.wait / MS).collect();
    assert_eq!(waits, [0, 30, 32], "the message between threads has no wait");
}

/// A thread joins another one of its rank, which waits for rank 1, and then serves rank 2: no call tells that it waited.
/// If it goes on for long behind that, it computes.
#[test]
fn who_joins_a_thread_that_waited_for_a_rank_is_late_because_of_that_rank() {
    let delayed = |served: u64| {
        let bytes = [
            block(
                0,
                0,
                0,
                &[("MPI_Send", 9, 10, to(2, 5, 8)), ("MPI_Send", served, served + 1, to(2, 5, 8))],
            ),
            second_thread(&[("MPI_Recv", 10, 41, from(1, 5, 8))]),
            facts(0, 3, ""),
            block(1, 0, 0, &[("MPI_Send", 40, 41, to(0, 5, 8))]),
            facts(1, 3, ""),
            block(
                2,
                0,
                0,
                &[("MPI_Recv", 8, 11, from(0, 5, 8)), ("MPI_Recv", 11, served + 1, from(0, 5, 8))],
            ),
            facts(2, 3, ""),
        ];
        let logs = [log(&bytes.concat())];
        let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
        timeline.rows.iter().map(|row| row.delayed / MS).collect::<Vec<u64>>()
    };
    // 30 ms of the second thread, and 31 of rank 2.
    let joined = delayed(42);
    assert!(joined[2] >= 58 && joined[0] <= 2, "{joined:?}");
    let computed = delayed(70);
    assert!(computed[0] >= 58 && computed[2] == 30, "{computed:?}");
}
