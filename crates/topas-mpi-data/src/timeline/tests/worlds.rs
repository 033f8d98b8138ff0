//! Worlds of one run beside each other.

use super::*;

/// The log of a world whose ranks have these calls and begin so many ms after the host started.
fn world(id: &str, host: &str, began: u64, ahead: u64, ranks: &[&[MadeCall]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (rank, calls) in ranks.iter().enumerate() {
        let (rank, count) = (rank as u32, ranks.len() as u32);
        let more = format!(
            "id {id}\nbegan {} {} {}\ninitialized {} {} {}\n",
            began * MS,
            ahead + began * MS,
            500 + began * MS,
            (began + 5) * MS,
            ahead + (began + 5) * MS,
            500 + (began + 5) * MS,
        );
        for mut made in [block(rank, 0, 0, calls), facts_of(rank, count, host, ahead, &more)] {
            // The key of a process is in its head: no two worlds have the same processes.
            let mut head = BlockHead::decode(&made).expect("a head");
            head.process += id.len() as u64 * 100;
            let used = HEAD + head.used() as usize;
            head.check = checksum(&head, &made[HEAD..used]);
            made[..HEAD].copy_from_slice(&head.encode());
            bytes.extend(made);
        }
    }
    bytes
}

/// Two worlds whose ranks have the same numbers, as the worlds of one run.
fn both(host: &str, ahead: u64, check: impl FnOnce(&Timeline<'_>, &[TraceLog])) {
    let first: [&[MadeCall]; 2] = [
        &[("MPI_Recv", 110, 140, from(1, 5, 8)), ("MPI_Barrier", 150, 200, NONE)],
        &[("MPI_Send", 130, 131, to(0, 5, 8)), ("MPI_Barrier", 190, 200, NONE)],
    ];
    let second: [&[MadeCall]; 2] =
        [&[("MPI_Recv", 320, 360, from(1, 5, 8))], &[("MPI_Send", 350, 351, to(0, 5, 8))]];
    let logs =
        [log(&world("a", "n1", 100, 0, &first)), log(&world("bb", host, 300, ahead, &second))];
    let ids = ["a", "not-in-the-logs", "bb"];
    let timeline = Timeline::read_worlds(&logs, &ids, |_, _| {}).expect("read").expect("worlds");
    check(&timeline, &logs);
}

#[test]
fn worlds_have_rows_of_their_own_and_one_time() {
    // On one host, and on another one that was started an hour later: by the time of day, they began as they do here.
    for (host, ahead, clocks) in
        [("n1", 0, HostClocks::One), ("n2", 3_600_000 * MS, HostClocks::TimeOfDay)]
    {
        both(host, ahead, |timeline, logs| {
            assert_eq!(timeline.host_clocks, clocks);
            let worlds: Vec<_> =
                timeline.worlds.iter().map(|world| (world.first, world.asked)).collect();
            assert_eq!(worlds, [(0, 0), (2, 2)]);
            let of: Vec<_> =
                timeline.rows.iter().map(|row| timeline.world_of(row.process)).collect();
            assert_eq!(of, [0, 0, 1, 1]);
            let ranks: Vec<_> =
                timeline.processes.iter().map(|(_, process)| process.rank).collect();
            assert_eq!(ranks, [0, 1, 0, 1]);
            // The origin is the beginning of the first world.
            let began: Vec<_> = timeline.rows.iter().map(|row| row.began() / MS).collect();
            assert_eq!(began, [10, 30, 220, 250], "{host}");
            assert_eq!((timeline.ended / MS, timeline.initialized / MS), (260, 5));
            // Each waits for the rank 1 of its own world.
            assert_eq!(time(timeline, 0, TimeClass::LateSender), 20);
            assert_eq!(time(timeline, 2, TimeClass::LateSender), 30);
            assert_eq!(time(timeline, 0, TimeClass::CollectiveWait), 40);
            let note = |row: usize| {
                let notes = timeline.notes_of(row).iter();
                notes.map(|note| (note.kind, note.partner, note.moment / MS)).collect::<Vec<_>>()
            };
            assert_eq!(
                note(0),
                [(NoteKind::Message, 1, 30), (NoteKind::Collective, 1, 90)],
                "{host}"
            );
            assert_eq!(note(2), [(NoteKind::Message, 3, 250)], "{host}");
            assert_eq!((timeline.other_launches, timeline.missing_ranks), (0, 0));
            // Calls are read again by the same clocks.
            let mut told = Vec::new();
            let each = |_, began: u64, ended: u64, _: &CallEvent| {
                told.push((began / MS, ended / MS));
                Ok(())
            };
            timeline.calls(logs, 2, (0, u64::MAX), each).expect("read");
            assert_eq!(told, [(220, 260)]);
        });
    }
}
