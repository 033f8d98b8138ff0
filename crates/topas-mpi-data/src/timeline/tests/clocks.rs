//! Clocks of processes and hosts beside each other.

use super::*;

#[test]
fn hosts_are_put_beside_each_other_by_their_time_of_day() {
    let calls = [[("MPI_Recv", 10, 40, from(1, 5, 8))], [("MPI_Send", 30, 31, to(0, 5, 8))]];
    // The second host was started an hour later.
    let hosts = [("n1", 3_600_000 * MS), ("n2", 0)];
    let logs: Vec<TraceLog> = (0..2u32)
        .zip(&calls)
        .zip(hosts)
        .map(|((rank, calls), (host, ahead))| {
            log(&[block(rank, 0, 0, calls), facts_of(rank, 2, host, ahead, "")].concat())
        })
        .collect();
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert_eq!(timeline.host_clocks, HostClocks::TimeOfDay);
    assert_eq!(time(&timeline, 0, TimeClass::LateSender), 20);
    assert_eq!(
        timeline.rows.iter().map(TimelineRow::began).collect::<Vec<_>>(),
        [10 * MS, 30 * MS]
    );
}

#[test]
fn hosts_are_put_beside_each_other_as_ranks_have_compared_their_clocks() {
    let calls = [[("MPI_Recv", 10, 40, from(1, 5, 8))], [("MPI_Send", 30, 31, to(0, 5, 8))]];
    // The clock of the second host is an hour behind at the end and runs faster by 1 %; its time of day
    // is wrong by 5 ms.
    let hosts = [
        ("n1", 3_600_000 * MS, "clock 0 0 0\n"),
        ("n2", 5 * MS, "clock 3599995000000 700 10000000\n"),
    ];
    let logs: Vec<TraceLog> = (0..2u32)
        .zip(&calls)
        .zip(hosts)
        .map(|((rank, calls), (host, ahead, clock))| {
            log(&[block(rank, 0, 0, calls), facts_of(rank, 2, host, ahead, clock)].concat())
        })
        .collect();
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert_eq!(timeline.host_clocks, HostClocks::Compared { error: 700 });
    // 970 ms before the comparison it was 9.7 ms less ahead than at the end.
    let began: Vec<u64> = timeline.rows.iter().map(TimelineRow::began).collect();
    assert_eq!(began, [10 * MS, 30 * MS + 970 * MS / 100]);
    assert_eq!(time(&timeline, 0, TimeClass::LateSender), 29);
}

#[test]
fn clocks_of_any_difference_and_drift_are_told_or_passed_over() {
    let calls = [[("MPI_Recv", 10, 40, from(1, 5, 8))], [("MPI_Send", 30, 31, to(0, 5, 8))]];
    let most = (i64::MAX, u64::MAX, i64::MAX);
    for (ahead, error, drift) in [most, (i64::MIN, 0, i64::MIN), (0, 0, i64::MAX), (7, 1, i64::MIN)]
    {
        let logs: Vec<TraceLog> = (0..2u32)
            .zip(&calls)
            .map(|(rank, calls)| {
                let clock = format!("clock {ahead} {error} {drift}\n");
                let (host, since) = (format!("n{rank}"), u64::MAX / 4 * u64::from(rank));
                log(&[block(rank, 0, 0, calls), facts_of(rank, 2, &host, since, &clock)].concat())
            })
            .collect();
        let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
        assert_eq!(timeline.host_clocks, HostClocks::Compared { error });
        assert!(timeline.rows.iter().all(|row| row.slices.is_sorted_by_key(|slice| slice.ended)));
    }
}

/// The second rank was interrupted for 3 us when it read its clocks at its first call.
#[test]
fn an_interrupted_rank_sends_no_message_back_in_time() {
    let calls = [[("MPI_Recv", 10, 40, from(1, 5, 8))], [("MPI_Send", 40, 41, to(0, 5, 8))]];
    let all = format!("latest {} {} 500\n", 2000 * MS, 2000 * MS);
    let late = format!("began 0 3000 500\nlatest {} {} 500\n", 1000 * MS, 1000 * MS);
    let bytes: Vec<u8> = (0..2u32)
        .zip(&calls)
        .zip([all, late])
        .flat_map(|((rank, calls), more)| {
            [block(rank, 0, 0, calls), facts_of(rank, 2, "n1", 0, &more)].concat()
        })
        .collect();
    let logs = [log(&bytes)];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert_eq!(timeline.untold, 0);
    let began: Vec<u64> = timeline.rows.iter().map(TimelineRow::began).collect();
    assert_eq!(began, [10 * MS, 40 * MS], "by the clock of the rank that was there longest");
    assert_eq!(time(&timeline, 0, TimeClass::LateSender), 30);
}

/// Between hosts, a message may seem to arrive before it was sent as far as their clocks may be wrong.
#[test]
fn an_order_that_cannot_be_is_an_error_of_clocks_as_far_as_these_are_known() {
    let calls = [[("MPI_Recv", 10, 40, from(1, 5, 8))], [("MPI_Send", 41, 42, to(0, 5, 8))]];
    for (error, untold) in [(2 * MS, 0), (1000, 1)] {
        let logs: Vec<TraceLog> = (0..2u32)
            .zip(&calls)
            .map(|(rank, calls)| {
                let clock = format!("clock 0 {error} 0\n");
                let facts = facts_of(rank, 2, &format!("n{rank}"), 0, &clock);
                log(&[block(rank, 0, 0, calls), facts].concat())
            })
            .collect();
        let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
        assert_eq!(timeline.untold, untold, "{error} ns");
    }
}
