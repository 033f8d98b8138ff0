//! Time lines of logs of which all is known.

use topas_trace::{
    BODY, BlockContent, BlockHead, CallArguments, CallEvent, HEAD, TraceBlock, UNKNOWN_RANK,
    Writer, checksum,
};

use super::*;
use crate::trace::StreamedEvent;

mod clocks;
mod collectives;
mod epochs;
mod exchanges;
mod late_receivers;
mod neighbors;
mod pauses;
mod started;
#[path = "../../examples/generate-trace/synthetic.rs"]
pub(crate) mod synthetic;
mod tails;
mod threads;
mod worlds;

use synthetic::SyntheticTrace;

const MS: u64 = 1_000_000;
const NONE: CallArguments = CallArguments { communicator: 1, ..CallArguments::NONE };

/// Routines of logs that are made here, by number.
const NAMES: [&str; 21] = [
    "MPI_Send",
    "MPI_Recv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Waitall",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Recv_init",
    "MPI_Sendrecv",
    "MPI_Probe",
    "MPI_Iallreduce",
    "MPI_Wait",
    "MPI_Neighbor_alltoall",
    "MPI_Ineighbor_allgather",
    "MPI_Win_post",
    "MPI_Win_start",
    "MPI_Win_complete",
    "MPI_Win_wait",
    "MPI_Win_test",
    "MPI_Pcontrol",
];

/// A call: its name, when it began and ended in ms, and what it was about.
type MadeCall = (&'static str, u64, u64, CallArguments);

/// The block of a rank, number `number` after `before` events. A tick is a nanosecond.
fn block(rank: u32, number: u64, before: u64, calls: &[MadeCall]) -> Vec<u8> {
    let head = BlockHead {
        rank,
        process: 10 + u64::from(rank),
        number,
        before,
        first: calls[0].1 * MS,
        ..BlockHead::new(BlockContent::Events)
    };
    let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
    let mut writer = Box::new(Writer::new());
    writer.begin(&mut block);
    for (name, began, ended, arguments) in calls {
        let routine = NAMES.iter().position(|known| known == name).expect("a routine") as u16;
        let event =
            CallEvent { routine, began: began * MS, ended: ended * MS, arguments: *arguments };
        assert!(writer.put(&mut block, &event));
    }
    block.close(rank, writer.last());
    [&block.head.encode()[..], &block.body].concat()
}

/// The facts of a rank of so many, with more lines.
fn facts(rank: u32, ranks: u32, more: &str) -> Vec<u8> {
    facts_of(rank, ranks, "n1", 0, more)
}

/// The same on a host whose monotonic clock is so many ns ahead.
fn facts_of(rank: u32, ranks: u32, host: &str, ahead: u64, more: &str) -> Vec<u8> {
    let mut text = format!(
        "rank {rank}\nranks {ranks}\nhost {host}\nbegan 0 {ahead} 500\nlatest {} {} {}\n{more}",
        1000 * MS,
        ahead + 1000 * MS,
        500 + 1000 * MS
    );
    for (number, name) in NAMES.iter().enumerate() {
        text += &format!("routine {number} {name}\n");
    }
    let mut head = BlockHead {
        rank,
        process: 10 + u64::from(rank),
        filled: text.len() as u64,
        ..BlockHead::new(BlockContent::Facts)
    };
    head.check = checksum(&head, text.as_bytes());
    let mut bytes = [&head.encode()[..], text.as_bytes()].concat();
    bytes.resize(HEAD + BODY, 0);
    bytes
}

/// A log of these bytes.
fn log(bytes: &[u8]) -> TraceLog {
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), bytes).expect("written");
    TraceLog::open(file.path()).expect("a log")
}

/// The time line of ranks with these calls.
fn told(ranks: &[&[MadeCall]], check: impl FnOnce(&Timeline<'_>)) {
    let mut bytes = Vec::new();
    for (rank, calls) in ranks.iter().enumerate() {
        bytes.extend(block(rank as u32, 0, 0, calls));
        bytes.extend(facts(rank as u32, ranks.len() as u32, ""));
    }
    let logs = [log(&bytes)];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    for row in &timeline.rows {
        let life = row.ended() - row.began();
        assert_eq!(row.times.iter().sum::<u64>(), life, "classes add up");
    }
    check(&timeline);
}

fn time(timeline: &Timeline<'_>, rank: usize, class: TimeClass) -> u64 {
    timeline.rows[rank].times[class as usize] / MS
}

fn to(peer: i32, tag: i32, bytes: u64) -> CallArguments {
    CallArguments { peer, tag, sent: bytes, ..NONE }
}

fn from(peer: i32, tag: i32, bytes: u64) -> CallArguments {
    CallArguments { peer, tag, received: bytes, ..NONE }
}

#[test]
fn a_made_up_run_is_told_as_it_was() {
    for run in [
        SyntheticTrace::default(),
        // Several blocks of each rank.
        SyntheticTrace { ranks: 3, steps: 9000, late: 0, by: 15_000, ..SyntheticTrace::default() },
        SyntheticTrace { ranks: 2, steps: 5, by: 0, ..SyntheticTrace::default() },
    ] {
        let mut bytes = Vec::new();
        let truth = run.write(&mut bytes).expect("made");
        let logs = [log(&bytes)];
        let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
        assert_eq!((timeline.untold, timeline.unnamed, timeline.missing_ranks), (0, 0, 0));
        assert!(timeline.skips.is_empty());
        let calls: u64 = timeline.rows.iter().map(|row| row.calls).sum();
        assert_eq!(calls, truth.calls);
        let of = |class: TimeClass| -> Vec<u64> {
            timeline.rows.iter().map(|row| row.times[class as usize]).collect()
        };
        // Ticks of a third of a nanosecond are rounded down.
        let near = |told: &[u64], truth: &[u64]| {
            told.iter().zip(truth).all(|(told, truth)| told.abs_diff(*truth) <= calls)
        };
        assert!(near(&of(TimeClass::LateSender), &truth.late_sender), "{truth:?}");
        assert!(near(&of(TimeClass::CollectiveWait), &truth.collective), "{truth:?}");
        let messages = timeline.notes.iter().filter(|note| note.kind == NoteKind::Message);
        assert_eq!(messages.count() as u64, truth.messages);
        assert!(timeline.notes.is_sorted_by_key(|note| note.place));
        if run.by > 0 {
            let most = timeline.rows.iter().max_by_key(|row| row.delayed).expect("a row");
            assert_eq!(timeline.processes[most.process].1.rank, run.late);
        }
        // Each block that the page gets is the block of the log.
        let blocks = timeline.blocks(&logs).expect("read");
        let count: usize = timeline.rows.iter().map(|row| row.blocks.len()).sum();
        assert_eq!(blocks.len(), count);
        assert!(blocks.iter().all(|block| bytes.windows(64).any(|own| own == &block[..64])));
    }
}

/// The picture of all rows has the time of all rows, and a block can be read from each slice on.
#[test]
fn slices_and_their_places_are_those_of_the_calls() {
    let run = SyntheticTrace { ranks: 5, steps: 13_000, ..SyntheticTrace::default() };
    let mut bytes = Vec::new();
    run.write(&mut bytes).expect("memory");
    let logs = [log(&bytes)];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert!(timeline.slice_calls > 1 && timeline.rows[0].blocks.len() > 1);
    for class in TimeClass::ALL {
        let rows: u64 = timeline.rows.iter().map(|row| row.times[class as usize]).sum();
        for slices in [1, 7, 2048] {
            let all = timeline.overview(slices);
            assert_eq!(all.iter().map(|slice| slice.times[class as usize]).sum::<u64>(), rows);
            assert_eq!(all.last().expect("a slice").ended, timeline.ended);
        }
    }
    // The half of a slice that lies in both halves of the run is in each of them.
    let late = &timeline.rows[0];
    let halves = rows::overview(std::slice::from_ref(late), timeline.ended, 2);
    let cut = late.slices.iter().take_while(|slice| slice.ended <= halves[0].ended);
    let told: u64 = cut.map(|slice| slice.times[TimeClass::Outside as usize]).sum();
    let most = late.slices.iter().map(|slice| slice.times.iter().sum::<u64>()).max().unwrap_or(0);
    assert!(halves[0].times[TimeClass::Outside as usize].abs_diff(told) <= most);
    for row in 0..timeline.rows.len() {
        let own = &timeline.rows[row];
        let mut ends: Vec<(u64, u64)> = Vec::new();
        for (place, block) in own.blocks.iter().enumerate() {
            let body = logs[0].bytes_of(block.offset + HEAD as u64, block.bytes - HEAD as u32);
            let body = body.expect("a block");
            let end = own
                .blocks
                .get(place + 1)
                .map_or(own.slices.len(), |next| next.first_slice as usize);
            for (slice, told) in
                own.slices[..end].iter().enumerate().skip(block.first_slice as usize)
            {
                // The bytes from the slice on, as a block of their own.
                let left = block.calls - (slice as u32 - block.first_slice) * timeline.slice_calls;
                let rest = &body[told.place.offset as usize..];
                let head = BlockHead {
                    first: told.place.clock.max(block.first >> block.shift) << block.shift,
                    shift: block.shift,
                    filled: u64::from(left) << 32 | rest.len() as u64,
                    ..BlockHead::new(BlockContent::Events)
                };
                let mut events = Box::new(topas_trace::Events::new(&head, rest));
                let event = events.next().expect("an event").expect("whole");
                ends.push((event.began, event.ended));
            }
        }
        let mut calls = Vec::new();
        let each = |place: CallPlace, _, _, event: &CallEvent| {
            if place.call.is_multiple_of(timeline.slice_calls) {
                calls.push((event.began, event.ended));
            }
            Ok(())
        };
        timeline.calls(&logs, row, (0, u64::MAX), each).expect("read");
        assert!(ends == calls && ends.len() == own.slices.len(), "row {row}");
    }
}

#[test]
fn a_late_sender_and_a_late_receiver_are_told_apart() {
    told(
        &[
            &[("MPI_Send", 30, 31, to(1, 5, 8)), ("MPI_Send", 40, 71, to(1, 5, 9))],
            &[("MPI_Recv", 10, 32, from(0, 5, 8)), ("MPI_Recv", 70, 72, from(0, 5, 9))],
        ],
        |timeline| {
            assert_eq!(time(timeline, 1, TimeClass::LateSender), 20);
            assert_eq!(time(timeline, 1, TimeClass::PointToPoint), 4);
            assert_eq!(time(timeline, 0, TimeClass::LateReceiver), 30);
            assert_eq!(time(timeline, 0, TimeClass::Outside), 9);
            let waited = |rank: usize| timeline.rows[rank].delayed / MS;
            assert_eq!((waited(0), waited(1)), (20, 30));
            // The first call of the first rank is the origin of the clock, and not of the run.
            assert_eq!(timeline.rows[1].began(), 10 * MS);
        },
    );
}

#[test]
fn a_send_that_ended_before_the_receive_waited_for_nobody() {
    told(
        &[&[("MPI_Send", 10, 12, to(1, 5, 8))], &[("MPI_Recv", 30, 31, from(0, 5, 8))]],
        |timeline| {
            assert_eq!(time(timeline, 0, TimeClass::LateReceiver), 0);
            assert_eq!(time(timeline, 1, TimeClass::LateSender), 0);
            assert_eq!(timeline.notes.len(), 1, "the message");
        },
    );
}

#[test]
fn a_wait_for_several_messages_is_one_wait() {
    let post = |peer| CallArguments { peer, tag: 1, ..NONE };
    told(
        &[
            &[
                ("MPI_Irecv", 1, 2, post(1)),
                ("MPI_Irecv", 2, 3, post(2)),
                ("MPI_Waitall", 10, 60, CallArguments { received: 16, ..NONE }),
            ],
            &[("MPI_Isend", 30, 31, to(0, 1, 8))],
            &[("MPI_Isend", 50, 51, to(0, 1, 8))],
        ],
        |timeline| {
            assert_eq!(time(timeline, 0, TimeClass::LateSender), 40, "until the last message");
            let waits: Vec<(u32, u64)> =
                timeline.notes.iter().map(|note| (note.partner, note.wait / MS)).collect();
            assert_eq!(waits, [(1, 0), (2, 40)]);
        },
    );
}

#[test]
fn a_delay_is_that_of_the_rank_in_which_it_arose() {
    told(
        &[
            &[("MPI_Recv", 10, 51, from(1, 5, 8))],
            &[("MPI_Recv", 20, 41, from(2, 5, 8)), ("MPI_Send", 50, 51, to(0, 5, 8))],
            &[("MPI_Send", 40, 41, to(1, 5, 8))],
        ],
        |timeline| {
            // Rank 0 waits for 40 ms for rank 1, of which rank 1 itself waits for 20 ms for rank 2.
            let delayed: Vec<u64> = timeline.rows.iter().map(|row| row.delayed / MS).collect();
            assert_eq!(delayed, [0, 20, 40]);
            assert_eq!(time(timeline, 0, TimeClass::LateSender), 40);
            assert_eq!(time(timeline, 1, TimeClass::LateSender), 20);
        },
    );
}

/// Each rank sends to the next before it receives from the one before, so a delay goes on by a rank with each step: that
/// of rank 0, which computes 25 ms in a step, where the others compute 5 ms.
#[test]
fn what_all_ranks_compute_is_nobodys_delay() {
    let mut calls: Vec<Vec<MadeCall>> = vec![Vec::new(); 4];
    let mut now = [0; 4];
    for _ in 0..20 {
        let sent: Vec<u64> = now
            .iter()
            .enumerate()
            .map(|(rank, now)| now + if rank == 0 { 25 } else { 5 })
            .collect();
        for (rank, calls) in calls.iter_mut().enumerate() {
            let (begun, peer) = (sent[rank], rank as i32);
            now[rank] = begun + 1;
            if rank < 3 {
                calls.push(("MPI_Send", begun, begun + 1, to(peer + 1, 5, 8)));
            }
            if let Some(before) = rank.checked_sub(1) {
                let received = (begun + 1).max(sent[before]) + 1;
                calls.push(("MPI_Recv", begun + 1, received, from(peer - 1, 5, 8)));
                now[rank] = received;
            }
        }
    }
    let calls: Vec<&[MadeCall]> = calls.iter().map(Vec::as_slice).collect();
    told(&calls, |timeline| {
        let waited = |row: &TimelineRow| {
            row.times[TimeClass::LateSender as usize] + row.times[TimeClass::LateReceiver as usize]
        };
        let waits: u64 = timeline.rows.iter().map(waited).sum();
        let delayed: Vec<u64> = timeline.rows.iter().map(|row| row.delayed).collect();
        assert_eq!(delayed.iter().sum::<u64>(), waits);
        // What two ranks did before the first wait between them is not known.
        assert!(delayed[0] > waits * 9 / 10, "{delayed:?} of {waits} ns");
    });
}

#[test]
fn what_the_log_does_not_tell_is_counted_and_not_guessed() {
    // A receive from anybody that another call completes: nobody knows whose message it took.
    let open = CallArguments { peer: UNKNOWN_RANK, ..NONE };
    told(
        &[
            &[("MPI_Irecv", 1, 2, open), ("MPI_Recv", 10, 40, from(1, 5, 8))],
            &[("MPI_Send", 30, 31, to(0, 5, 8)), ("MPI_Send", 32, 33, to(0, 5, 8))],
        ],
        |timeline| {
            assert_eq!(timeline.notes, []);
            assert!(timeline.untold >= 1, "{}", timeline.untold);
        },
    );
    // Bytes that are not those of the message.
    told(
        &[&[("MPI_Recv", 10, 40, from(1, 5, 8))], &[("MPI_Send", 30, 31, to(0, 5, 9))]],
        |timeline| assert_eq!((timeline.notes.len(), timeline.untold), (0, 1)),
    );
    // A communicator without a number.
    let other = |told: CallArguments| CallArguments { communicator: 0, ..told };
    told(
        &[
            &[("MPI_Recv", 10, 40, other(from(1, 5, 8)))],
            &[("MPI_Send", 30, 31, other(to(0, 5, 8)))],
        ],
        |timeline| assert_eq!((timeline.notes.len(), timeline.unnamed), (0, 2)),
    );
    // Persistent receives.
    told(
        &[
            &[
                ("MPI_Recv_init", 1, 2, CallArguments { peer: 1, tag: 5, ..NONE }),
                ("MPI_Recv", 10, 40, from(1, 5, 8)),
            ],
            &[("MPI_Send", 30, 31, to(0, 5, 8))],
        ],
        |timeline| assert_eq!(timeline.notes, []),
    );
}

/// The numbers of the messages of a process with these blocks, in the order of its calls: of what is sent,
/// and of what is received.
fn numbers(blocks: &[Vec<u8>]) -> Vec<[Option<u64>; 2]> {
    let log = log(&[&facts(0, 2, ""), &blocks.concat()[..]].concat());
    let process = &log.processes[0];
    let (mut numbers, mut found) = (MessageNumbers::of(process), Vec::new());
    let mut skips = TraceSkips::default();
    let each = |thread, told: &StreamedEvent| {
        if told.after_hole {
            numbers.lose();
        }
        let MessageNumber { sent, received } = numbers.next(thread, &told.event);
        found.push([sent, received]);
        Ok(())
    };
    log.events_in_order(process, &mut skips, each).expect("read");
    found
}

/// A receive that stays open for the whole run, receives that take any message, and a great many others
/// between a post and its completion in the order in which blocks are read.
#[test]
fn what_stays_open_is_not_looked_at_for_each_completion() {
    const ROUNDS: u64 = 100_000;
    let mut rows = [Vec::new(), Vec::new()];
    rows[0].push(("MPI_Irecv", 0, 0, from(1, 99, 0)));
    for round in 0..ROUNDS {
        let at = 10 * round;
        rows[0].push(("MPI_Irecv", at, at, from(1, 5, 0)));
        rows[0].push((
            "MPI_Waitall",
            at,
            at + 4,
            CallArguments { received: 8, ..CallArguments::NONE },
        ));
        rows[1].push(("MPI_Send", at + 3, at + 3, to(0, 5, 8)));
    }
    let mut bytes = Vec::new();
    for (rank, calls) in (0..2).zip(&rows) {
        // So many fit into a block whatever their times are.
        let mut before = 0;
        for (number, some) in (0..).zip(calls.chunks(2000)) {
            bytes.extend(block(rank, number, before, some));
            before += some.len() as u64;
        }
        bytes.extend(facts(rank, 2, ""));
    }
    let logs = [log(&bytes)];
    let began = std::time::Instant::now();
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert_eq!(timeline.untold, 0);
    assert_eq!(time(&timeline, 0, TimeClass::LateSender), 3 * ROUNDS);
}

#[test]
fn messages_of_a_key_are_numbered() {
    const NO: [Option<u64>; 2] = [None, None];
    let [sent, received] = [|n| [Some(n), None], |n| [None, Some(n)]];
    let open = CallArguments { peer: UNKNOWN_RANK, ..NONE };
    let calls = [
        ("MPI_Send", 1, 2, to(1, 5, 8)),
        ("MPI_Isend", 3, 4, to(1, 6, 8)),
        ("MPI_Irecv", 5, 6, from(1, 5, 0)),
        ("MPI_Send", 7, 8, to(1, 5, 8)),
        ("MPI_Recv", 9, 10, from(1, 5, 8)),
        ("MPI_Barrier", 11, 12, NONE),
        ("MPI_Recv", 13, 14, CallArguments { communicator: 0, ..from(1, 5, 8) }),
        // Nobody knows whose message that took.
        ("MPI_Irecv", 15, 16, open),
        ("MPI_Recv", 17, 18, from(1, 5, 8)),
        ("MPI_Send", 19, 20, to(1, 5, 8)),
    ];
    let expected = [sent(1), sent(1), received(1), sent(2), received(2), NO, NO, NO, NO, sent(3)];
    assert_eq!(numbers(&[block(0, 0, 0, &calls)]), expected);
    // Where calls are missing, nothing has a number from there on.
    let after = [("MPI_Send", 30, 31, to(1, 5, 8))];
    let first = block(0, 0, 0, &calls[..1]);
    assert_eq!(numbers(&[first.clone(), block(0, 1, 1, &after)]), [sent(1), sent(2)]);
    assert_eq!(numbers(&[first, block(0, 2, 2, &after)]), [sent(1), NO]);
    assert_eq!(numbers(&[block(0, 1, 1, &after)]), [NO]);
}

/// Calls of two threads come in the order in which they began; what two send at the same time has no
/// number.
#[test]
fn messages_of_threads_are_numbered_in_the_order_of_their_calls() {
    let mut other =
        block(0, 0, 0, &[("MPI_Send", 5, 6, to(1, 5, 8)), ("MPI_Send", 8, 9, to(1, 7, 8))]);
    let mut head = BlockHead::decode(&other).expect("a head");
    head.thread = 1;
    head.check = checksum(&head, &other[HEAD..HEAD + head.used() as usize]);
    other[..HEAD].copy_from_slice(&head.encode());
    let calls = [
        ("MPI_Send", 1, 2, to(1, 5, 8)),
        ("MPI_Send", 7, 10, to(1, 7, 8)),
        ("MPI_Send", 11, 12, to(1, 5, 8)),
        ("MPI_Send", 13, 14, to(1, 7, 8)),
    ];
    let found = numbers(&[block(0, 0, 0, &calls), other]);
    let sent: Vec<Option<u64>> = found.iter().map(|[sent, _]| *sent).collect();
    assert_eq!(sent, [Some(1), Some(2), Some(1), None, Some(3), None]);
}

#[test]
fn calls_that_were_overwritten_leave_a_hole() {
    let barrier = |began| [("MPI_Barrier", began, began + 1, NONE)];
    let mut bytes = block(0, 0, 0, &barrier(5));
    // Events 1 to 6 are missing.
    bytes.extend(block(0, 2, 7, &barrier(20)));
    bytes.extend(facts(0, 1, ""));
    let logs = [log(&bytes)];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert_eq!(time(&timeline, 0, TimeClass::NotInLog), 14);
    assert_eq!(time(&timeline, 0, TimeClass::Outside), 0);
    assert!(timeline.rows[0].has_gap());
}

#[test]
fn one_launch_is_shown() {
    let barrier = |began| [("MPI_Barrier", began, began + 1, NONE)];
    let launch = |process: u64, id: &str, began: u64| {
        let mut bytes = [block(0, 0, 0, &barrier(5)), facts(0, 1, &format!("id {id}\n"))];
        for bytes in &mut bytes {
            let mut head = BlockHead::decode(bytes).expect("a head");
            head.process = process;
            let used = HEAD + head.used() as usize;
            let text = String::from_utf8_lossy(&bytes[HEAD..used]).into_owned();
            if text.contains("began 0 0 500") {
                let text = text.replace("began 0 0 500", &format!("began 0 0 {began}"));
                head.filled = text.len() as u64;
                bytes[HEAD..HEAD + text.len()].copy_from_slice(text.as_bytes());
            }
            let used = HEAD + head.used() as usize;
            head.check = checksum(&head, &bytes[HEAD..used]);
            bytes[..HEAD].copy_from_slice(&head.encode());
        }
        bytes.concat()
    };
    let logs = [log(&[launch(1, "old", 500), launch(2, "new", 900)].concat())];
    let id_of = |timeline: &Timeline<'_>| timeline.processes[0].1.facts.value("id").to_owned();
    let newest = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert_eq!((id_of(&newest), newest.rows.len(), newest.other_launches), ("new".into(), 1, 1));
    let named = Timeline::read(&logs, Some("ol"), |_, _| {}).expect("read").expect("a launch");
    assert_eq!(id_of(&named), "old");
    assert!(Timeline::read(&logs, Some("x"), |_, _| {}).expect("read").is_none());
}

/// Whatever a log says: times of a row add up to its length, and nothing ends with a panic.
#[test]
fn any_log_is_told_or_passed_over() {
    let run = SyntheticTrace { ranks: 3, steps: 40, ..SyntheticTrace::default() };
    let mut whole = Vec::new();
    run.write(&mut whole).expect("made");
    let mut random = 11u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    let mut told = 0;
    for _ in 0..400 {
        let mut bytes = whole.clone();
        for _ in 0..1 + next(6) {
            let block = next(bytes.len() / (HEAD + BODY)) * (HEAD + BODY);
            // Heads, and the part of the body that is in use.
            let place = if next(3) == 0 { 12 + next(HEAD - 12) } else { HEAD + next(1200) };
            bytes[block + place] = if next(2) == 0 { 0xff } else { next(256) as u8 };
        }
        for block in bytes.chunks_mut(HEAD + BODY) {
            let Ok(mut head) = BlockHead::decode(block) else { continue };
            let used = HEAD + head.used() as usize;
            head.check = checksum(&head, &block[HEAD..used]);
            block[..HEAD].copy_from_slice(&head.encode());
        }
        let logs = [log(&bytes)];
        let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read");
        let Some(timeline) = timeline else { continue };
        for (place, row) in timeline.rows.iter().enumerate() {
            let ended = row.slices.last().map_or(row.began(), |slice| slice.ended);
            assert_eq!(row.times.iter().sum::<u64>(), ended - row.began());
            let mut calls = 0;
            let all = (0, u64::MAX);
            let count = |_: CallPlace, began: u64, ended: u64, _: &CallEvent| {
                assert!(began <= ended && ended <= timeline.ended);
                calls += 1;
                Ok(())
            };
            timeline.calls(&logs, place, all, count).expect("read");
            assert_eq!(calls, row.calls);
            told += calls;
        }
    }
    assert!(told > 10_000, "{told}");
}
