//! A whole event log, of any bytes or of calls that were written well and damaged afterwards: its
//! events, its replay on two networks and its time line are read or refused, and take memory and time
//! that the file explains.
#![no_main]

use std::fs;
use std::io;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use topas_findings::{FactValues, add_replay_facts, add_timeline_facts};
use topas_mpi_data::{Network, Timeline, TraceLog, TraceSkips, launches_in, replay};
use topas_trace::{
    BODY, BlockContent, BlockHead, CallArguments, CallEvent, HEAD, LENGTH, MOST_OF_OBJECT,
    TraceBlock, Writer, checksum, most_of_epoch,
};

/// A routine of each kind that readers tell apart, by number.
const ROUTINES: [&str; 39] = [
    "MPI_Init",
    "MPI_Finalize",
    "MPI_Send",
    "MPI_Recv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Test",
    "MPI_Testsome",
    "MPI_Testall",
    "MPI_Iprobe",
    "MPI_Probe",
    "MPI_Mprobe",
    "MPI_Sendrecv",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Scan",
    "MPI_Allreduce",
    "MPI_Iallreduce",
    "MPI_Comm_split",
    "MPI_Send_init",
    "MPI_Recv_init",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Pcontrol",
    "MPI_Win_lock",
    "MPI_File_write_all",
    "MPI_Comm_spawn",
    "MPI_Win_post",
    "MPI_Win_start",
    "MPI_Win_complete",
    "MPI_Win_wait",
    "MPI_Win_test",
    "MPI_Win_set_name",
    "MPI_File_open",
];

/// Bytes that make a call, and those that make a damage.
const CALL: usize = 8;
const DAMAGE: usize = 6;

/// Small numbers, and numbers of any size.
fn number(byte: u8) -> u64 {
    if byte < 192 { u64::from(byte) } else { u64::MAX >> (byte - 192) }
}

/// The blocks of a rank with these calls, a thread for some.
fn blocks(rank: u32, told: u8, calls: &[[u8; CALL]]) -> Vec<u8> {
    let mut file = Vec::new();
    for thread in 0..2u32 {
        let mut clock = number(told) << 8;
        let (mut number_of_block, mut before) = (0, 0);
        let mut mine = calls.iter().filter(|call| u32::from(call[0] >> 7) == thread).peekable();
        while mine.peek().is_some() {
            let head = BlockHead {
                process: u64::from(rank) + 1,
                rank,
                thread,
                shift: u32::from(told % 4),
                number: number_of_block,
                before,
                first: clock,
                ..BlockHead::new(BlockContent::Events)
            };
            let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
            let mut writer = Box::new(Writer::new());
            writer.begin(&mut block);
            while let Some([routine, gap, length, peer, tag, bytes, place, how]) = mine.next() {
                let began = clock.saturating_add(number(*gap));
                clock = began.saturating_add(number(*length));
                let received = if how & 4 == 0 { 0 } else { number(*bytes) };
                let arguments = CallArguments {
                    peer: i32::from(*peer as i8),
                    source: if how & 1 == 0 { -1 } else { i32::from(*tag as i8) },
                    tag: if how & 2 == 0 { i32::from(*tag as i8) } else { number(*tag) as i32 },
                    received_tag: if how & 0x11 == 0x11 { i32::from(*place) } else { -1 },
                    path: u32::from(how >> 5),
                    sent: number(*bytes) ^ received,
                    received,
                    communicator: number(place & 0xc7),
                    number: if how & 8 == 0 { 0 } else { number(place << 2) },
                };
                let routine = u16::from(routine % 40);
                let event = CallEvent { routine, began, ended: clock, arguments };
                match routine {
                    32..37 => {
                        let most = most_of_epoch(4);
                        writer.put_with_supplement(&mut block, &event, most, |log| {
                            log.epoch(u32::from(place % 4), how & 1 == 0);
                            (0..u32::from(tag % 4)).for_each(|nth| {
                                log.rank(u32::from(peer % 4) + nth, number(*bytes));
                            });
                        });
                    }
                    37..39 | 23 => {
                        writer.put_with_supplement(&mut block, &event, MOST_OF_OBJECT, |log| {
                            log.object(number(*place), &[*tag, *peer, 0]);
                        });
                    }
                    _ => {
                        writer.put(&mut block, &event);
                    }
                }
                if how & 0xf0 == 0xf0 {
                    break;
                }
            }
            block.close(rank, writer.last());
            number_of_block += 1 + u64::from(told >> 7);
            before += u64::from(block.head.events());
            let used = block.head.used() as usize;
            file.extend(block.head.encode());
            file.extend(&block.body[..used]);
            file.resize(file.len().next_multiple_of(LENGTH), 0);
        }
    }
    file.extend(facts(rank, told));
    file.resize(file.len().next_multiple_of(LENGTH), 0);
    file
}

fn facts(rank: u32, told: u8) -> Vec<u8> {
    let began = number(told) << 8;
    let ended = began.saturating_add(1 << (told % 60));
    let ranks = number(told.rotate_left(3));
    let mut text = format!(
        "id {}\nhost n{}\nranks {ranks}\nbegan {began} {began} {began}\nlatest {ended} {ended} {ended}\n",
        told % 2,
        rank % 2
    );
    ROUTINES.iter().enumerate().for_each(|(at, name)| text += &format!("routine {at} {name}\n"));
    let mut head = BlockHead {
        process: u64::from(rank) + 1,
        rank,
        filled: text.len() as u64,
        ..BlockHead::new(BlockContent::Facts)
    };
    head.check = checksum(&head, text.as_bytes());
    [&head.encode()[..], text.as_bytes()].concat()
}

/// Makes the sums of all blocks right, so that what they say is believed.
fn mend(file: &mut [u8]) {
    for block in file.chunks_mut(LENGTH) {
        let Ok(mut head) = BlockHead::decode(block) else { continue };
        let used = HEAD + head.used() as usize;
        let Some(body) = block.get(HEAD..used) else { continue };
        head.check = checksum(&head, body);
        block[..HEAD].copy_from_slice(&head.encode());
    }
}

/// The file that some bytes make.
fn made(bytes: &[u8]) -> Vec<u8> {
    let Some(([kind, ranks, damages], rest)) = bytes.split_first_chunk::<3>() else {
        return bytes.to_vec();
    };
    if kind % 8 == 0 {
        return rest.to_vec();
    }
    let (calls, damages) =
        rest.split_at(rest.len() - rest.len().min(DAMAGE * usize::from(damages % 9)));
    let (calls, _) = calls.as_chunks::<CALL>();
    let count = 1 + usize::from(ranks % 4);
    let mut file = Vec::new();
    for (rank, calls) in (0u32..).zip(calls.chunks(calls.len().div_ceil(count).max(1))) {
        file.extend(blocks(rank << (kind >> 6), *ranks, calls));
    }
    if file.is_empty() {
        return file;
    }
    for damage in damages.chunks_exact(DAMAGE) {
        let [block, a, b, to, by, how] = damage else { continue };
        let start = usize::from(*block) * LENGTH % file.len();
        // Mostly in the head and at the beginning of the calls.
        let room = if how % 4 == 0 { LENGTH } else { 2 * HEAD };
        let at = start + usize::from(u16::from_le_bytes([*a, *b])) % room;
        match how >> 2 & 3 {
            0 | 1 => file[at] = *to,
            2 => {
                file[at / 8 * 8..][..8].copy_from_slice(&(number(*to) ^ number(*by)).to_le_bytes())
            }
            _ => {
                // A block a second time, or in the place of another.
                let from = usize::from(*to) * LENGTH % file.len();
                let copied = file[from..from + LENGTH].to_vec();
                file[start..start + LENGTH].copy_from_slice(&copied);
            }
        }
    }
    if kind & 8 != 0 {
        mend(&mut file);
    }
    if kind & 0x30 == 0x30 {
        file.truncate(file.len() - file.len().min(usize::from(*kind) * 997));
    }
    file
}

fuzz_target!(|bytes: &[u8]| {
    let path = PathBuf::from(format!("/dev/shm/topas-fuzz-event-log.{}", std::process::id()));
    let file = made(bytes);
    fs::write(&path, &file).unwrap();
    let logs = [TraceLog::open(&path).unwrap()];
    let [log] = &logs;
    let mut events = 0;
    for process in &log.processes {
        let mut skips = TraceSkips::default();
        let each = |_, event: &CallEvent| {
            events += 1;
            process.nanoseconds(event.began);
            process.user_state(event);
            Ok::<(), io::Error>(())
        };
        log.events(process, &mut skips, each).unwrap();
        process.threads().for_each(|thread| assert!(thread.bytes <= file.len() as u64));
    }
    assert!(events <= file.len());
    let slow = Network { latency: 1e3, per_byte: 0.5, calibration: None, processors: 2.0 };
    let mut facts = FactValues::default();
    for (launch, _) in launches_in(&logs) {
        for network in [&Network::default(), &slow] {
            let told = replay(&logs, &launch, network).unwrap();
            assert!(told.events <= events as u64 && told.received <= told.sent);
            let [real, model] = told.elapsed();
            assert!(real >= 0.0 && model >= 0.0, "{real} {model}");
            add_replay_facts(&told, &mut facts);
        }
        let Some(timeline) = Timeline::read(&logs, Some(&launch), |_, _| {}).unwrap() else {
            continue;
        };
        let end = timeline.ended;
        for row in 0..timeline.rows.len() {
            for window in [(0, u64::MAX), (end / 3, end / 2)] {
                let mut before = 0;
                let each = |_, began, ended, _: &CallEvent| {
                    assert!(began >= before && ended >= began);
                    before = ended;
                    Ok(())
                };
                timeline.calls(&logs, row, window, each).unwrap();
            }
            assert!(timeline.notes_of(row).len() <= events * 2);
            timeline.states_of(row);
        }
        timeline.blocks(&logs).unwrap();
        add_timeline_facts(&timeline, None, &mut facts);
    }
    // As the worlds of one run, all of them are told together.
    let launches = launches_in(&logs);
    let ids: Vec<&str> = launches.iter().map(|(id, _)| id.as_str()).collect();
    let Some(timeline) = Timeline::read_worlds(&logs, &ids, |_, _| {}).unwrap() else { return };
    assert!(timeline.worlds.len() <= ids.len());
    for (place, row) in timeline.rows.iter().enumerate() {
        assert!(timeline.world_of(row.process) < timeline.worlds.len());
        for note in timeline.notes_of(place) {
            assert!((note.partner as usize) < timeline.rows.len());
        }
        timeline.calls(&logs, place, (0, u64::MAX), |_, _, _, _| Ok(())).unwrap();
    }
});
