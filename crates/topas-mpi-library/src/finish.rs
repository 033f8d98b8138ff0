//! The end: sums of all ranks, records, files; and subtotals before it.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use topas_mpi_profile::layout::{Header, RankState, flag};
use topas_mpi_profile::lines::{Of, text};
use topas_mpi_profile::sums::Sums;
use topas_mpi_profile::wire;
use topas_node::sys as kernel;

use topas_format::out::Out;

use crate::files::File;
use crate::flow::library::call;
use crate::generated::number;
use crate::ranks::{self, Ranks};
use crate::report::{Gathered, Now, ProfileRecord, open_own, own_sums, to_center, to_table};
use crate::workspace::{self, CHUNK, Workspace, keep};
use crate::{absent, clock, flow, languages, life, paths, process, say, spool, trace};

/// Tick at which `MPI_Finalize` was entered.
static ENTERED: AtomicU64 = AtomicU64::new(0);

/// Before `MPI_Finalize` of the MPI: writes what was counted.
pub fn finalize() {
    let Some(header) = process::header() else { return };
    // Destructors may end MPI after the library has seen the process end.
    let ends = [RankState::Running as u32, RankState::Exited as u32].contains(&header.state);
    if header.pid != kernel::pid() || !ends {
        return;
    }
    let entered = clock::ticks();
    ENTERED.store(entered, Relaxed);
    header.state = RankState::Finalizing as u32;
    flow::begin();
    header.latest = clock::now();
    let ranks = ranks_of(header);
    if ranks.is_some() {
        // The wait for the last rank is the program's; that for ranks that do not come is not.
        header.latest = clock::now();
    }
    trace::finalizing(entered, header.latest.ticks);
    flow::waits::finish();
    let ended = header.latest.ticks;
    let settle = |ranks| flow::waits::between::settle(ranks, header, entered, ended);
    let clock = ranks.as_ref().and_then(settle);
    let written = workspace::with(|room| {
        describe(header, room);
        let now = Now::new(&mut room.file);
        let finalize = Some(ended.wrapping_sub(entered));
        own_sums(&mut room.sums, header, ended, finalize);
        paths::finalizing(ended.wrapping_sub(entered));
        match &ranks {
            Some(ranks) => {
                together(header, &now, room, ranks, 0);
                true
            }
            None => {
                if alone(header, &now, room, 0, true) {
                    header.flags |= flag::TOLD_ALONE;
                }
                false
            }
        }
    });
    if let Some(ranks) = ranks {
        ranks.part();
    }
    trace::write(header, clock);
    // What the ranks did not write together is left for whoever collects it.
    if written == Some(true) {
        header.state = RankState::Written as u32;
        spool::remove();
    } else {
        life::end(header);
        // Nobody collects a rank without a file.
        if spool::path().is_none() {
            life::leave(header);
        }
    }
    workspace::release();
}

/// All ranks, once they are there. None without a world, or in an MPI that is not known.
fn ranks_of(header: &Header) -> Option<Ranks> {
    let known = header.flags & flag::WORLD != 0 && header.flags & flag::UNKNOWN_MPI == 0;
    let wanted = header.flags & flag::USER != 0;
    match header.ranks {
        1 => Some(Ranks::alone(wanted)),
        ranks if known && ranks > 1 => Ranks::gather(header.rank, ranks, wanted),
        _ => None,
    }
}

/// A subtotal that the program asked for: of this process, or of all. For who wants files only: a
/// program may mean another tool.
pub fn subtotal(all: bool) {
    let Some(header) = process::header() else { return };
    let running = header.pid == kernel::pid() && header.state == RankState::Running as u32;
    if !running || header.flags & flag::USER == 0 {
        return;
    }
    let began = clock::ticks();
    flow::begin();
    if header.flags & flag::WORLD == 0 {
        return;
    }
    let ranks = if all { ranks_of(header) } else { None };
    header.latest = clock::now();
    let ended = header.latest.ticks;
    workspace::with(|room| {
        describe(header, room);
        let now = Now::new(&mut room.file);
        own_sums(&mut room.sums, header, ended, None);
        header.subtotals += 1;
        match &ranks {
            Some(ranks) => together(header, &now, room, ranks, header.subtotals),
            None => {
                alone(header, &now, room, header.subtotals, all);
            }
        }
    });
    if let Some(ranks) = ranks {
        ranks.part();
    }
    header.own_ticks += clock::ticks().wrapping_sub(began);
}

/// Notes what the MPI says of itself.
pub fn describe_mpi(header: &mut Header) {
    workspace::with(|room| describe_library(header, room));
}

/// Notes what is known late: languages, and the MPI if it was not yet.
fn describe(header: &mut Header, room: &mut Workspace) {
    describe_library(header, room);
    header.languages |= languages::seen(text(&header.exe), &mut room.file);
}

fn describe_library(header: &mut Header, room: &mut Workspace) {
    if header.mpi[0] == 0 {
        let mut length = 0i32;
        room.file[0] = 0;
        let (to, length) = (room.file.as_mut_ptr() as usize, (&raw mut length) as usize);
        // SAFETY: room for the text of any MPI (8,192 B at most), and for its length.
        let told = unsafe { call(number::GET_LIBRARY_VERSION, [to, length, 0, 0, 0, 0]) };
        if told.is_some() {
            let mut name = [0; 128];
            let mut out = Out::new(&mut name);
            out.one_word(&room.file);
            keep(&mut header.mpi, out.text());
        }
    }
}

/// All ranks tell rank 0, which writes. The sums of this rank are in the room.
fn together(header: &Header, now: &Now, room: &mut Workspace, ranks: &Ranks, subtotal: u32) {
    let first = ranks.rank == 0;
    reduce(ranks, room);
    let Workspace { conf, path, tagged, sums, other, message, text: gathered, .. } = room;
    if first {
        let record = ProfileRecord { header, now, of: Of::Run, subtotal, alone: false };
        if subtotal == 0 {
            to_center(&record, sums, conf, path, gathered, tagged);
        }
        if ranks.wanted {
            to_table(&record, sums, path, gathered);
            own_sums_again(other, header, subtotal);
            files(&record, sums, other, path, gathered, message, ranks);
        }
    } else if ranks.wanted && subtotal == 0 {
        own_sums_again(other, header, subtotal);
        send_lines(header, now, other, gathered, ranks);
    }
}

/// Sums of this rank alone, where those of others have been added already.
fn own_sums_again(sums: &mut Sums, header: &Header, subtotal: u32) {
    let ended = header.latest.ticks;
    let finalize = (subtotal == 0).then(|| ended.wrapping_sub(ENTERED.load(Relaxed)));
    own_sums(sums, header, ended, finalize);
}

/// Adds up all ranks in a binomial tree: at most log2 of their number in steps one after another.
fn reduce(ranks: &Ranks, room: &mut Workspace) {
    const LENGTH: usize = 4;
    let mut bit = 1;
    while bit < ranks.size {
        if ranks.rank & bit != 0 {
            let (front, body) = room.message.split_at_mut(LENGTH);
            let length = wire::write(&room.sums, body).unwrap_or(0);
            front.copy_from_slice(&(length as u32).to_le_bytes());
            let message = room.message.get(..LENGTH + length).unwrap_or_default();
            if !ranks.send(ranks.rank - bit, message) {
                return;
            }
            return;
        }
        if ranks.rank + bit < ranks.size {
            let arrived = ranks.receive(ranks.rank + bit, &mut room.message, LENGTH);
            let (front, body) = room.message.split_at(LENGTH);
            let length = front.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            let body = body.get(..length as usize).unwrap_or_default();
            if arrived && wire::read(body, &mut room.other).is_ok() {
                room.sums.merge(&room.other);
            } else {
                room.sums.flags |= flag::RANKS_LOST;
            }
        }
        bit <<= 1;
    }
}

/// First bytes of a message of lines: how many follow, and whether it is the last.
const FRONT: usize = 8;

/// The lines of this rank for rank 0.
fn send_lines(header: &Header, now: &Now, sums: &Sums, room: &mut [u8; CHUNK], ranks: &Ranks) {
    let mut len = FRONT;
    let send = |room: &mut [u8; CHUNK], len: usize, last: bool| {
        let (front, _) = room.split_at_mut(FRONT);
        let (count, mark) = front.split_at_mut(4);
        count.copy_from_slice(&((len - FRONT) as u32).to_le_bytes());
        mark.copy_from_slice(&u32::from(last).to_le_bytes());
        ranks.send(0, room.get(..len).unwrap_or_default())
    };
    let record = ProfileRecord { header, now, of: Of::Rank, subtotal: 0, alone: false };
    record.lines(sums, &mut |line| {
        if len + line.len() > CHUNK {
            send(room, len, false);
            len = FRONT;
        }
        if let Some(place) = room.get_mut(len..len + line.len()) {
            place.copy_from_slice(line);
            len += line.len();
        }
    });
    send(room, len, true);
}

/// The user's data file: sums of all ranks, then the lines of each, as they come from it.
fn files(
    record: &ProfileRecord<'_>,
    sums: &Sums,
    own: &Sums,
    path: &mut [u8],
    room: &mut [u8; CHUNK],
    message: &mut [u8],
    ranks: &Ranks,
) {
    let file = open_own(record, File::Data, path);
    let mut good = file.is_some();
    // One message is enough, and what the others send is taken in any case.
    let mut write = |lines: &[u8]| {
        good = good && file.is_some_and(|file| file.append(path, lines));
    };
    let mut gathered = Gathered::new(room);
    record.lines(sums, &mut |line| gathered.line(line, &mut write));
    if record.subtotal == 0 {
        let rank = ProfileRecord { of: Of::Rank, ..*record };
        rank.lines(own, &mut |line| gathered.line(line, &mut write));
    }
    gathered.flush(&mut write);
    if record.subtotal == 0 {
        for from in 1..ranks.size {
            loop {
                if !ranks.receive(from, message, FRONT) {
                    break;
                }
                let (front, body) = message.split_at(FRONT);
                let word = |at: usize| {
                    let bytes = front.get(at..).and_then(|bytes| bytes.first_chunk());
                    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
                };
                write(body.get(..word(0) as usize).unwrap_or_default());
                if word(4) != 0 {
                    break;
                }
            }
        }
    }
    if let Some(file) = file {
        file.close();
    }
}

/// A record of this rank alone, into the user's files if there are to be any. `expected` if it
/// should have been one of all. Whether it was written.
fn alone(header: &Header, now: &Now, room: &mut Workspace, subtotal: u32, expected: bool) -> bool {
    if header.flags & flag::USER == 0 {
        return false;
    }
    let Workspace { path, sums, text: gathered, .. } = room;
    let record = ProfileRecord { header, now, of: Of::Rank, subtotal, alone: true };
    if !expected || header.rank == 0 {
        to_table(&record, sums, path, gathered);
    }
    let Some(file) = open_own(&record, File::Data, path) else { return false };
    let mut good = true;
    let mut write = |lines: &[u8]| good = good && file.append(path, lines);
    let mut gathered = Gathered::new(gathered);
    record.lines(sums, &mut |line| gathered.line(line, &mut write));
    gathered.flush(&mut write);
    file.close();
    if expected && ranks::has_given_up() && header.rank == 0 {
        say::not_together(text(path), absent::was_found());
    }
    good
}

/// Before `MPI_Abort`: says so in the file, which stays for whoever collects it.
pub fn abort(code: i32) {
    let Some(header) = process::header() else { return };
    if header.pid == kernel::pid() && header.state == RankState::Running as u32 {
        header.latest = clock::now();
        header.code = code;
        header.state = RankState::Aborted as u32;
        life::end(header);
    }
}

/// At the end of the process. Without `MPI_Finalize` before it, the file says so and stays.
pub extern "C" fn exit() {
    process::end();
    let Some(header) = process::header() else { return };
    if header.pid == kernel::pid() && header.state == RankState::Running as u32 {
        if !has_begun() {
            header.state = RankState::Written as u32;
            spool::remove();
            return;
        }
        header.latest = clock::now();
        header.state = RankState::Exited as u32;
        life::end(header);
    }
}

/// Whether the program has done more with MPI than to ask for its version, and whether it has
/// begun.
fn has_begun() -> bool {
    const QUESTIONS: [usize; 4] =
        [number::INITIALIZED, number::FINALIZED, number::GET_VERSION, number::GET_LIBRARY_VERSION];
    spool::blocks().any(|block| {
        let mut rows = block.rows.iter().enumerate();
        rows.any(|(function, row)| row.calls > 0 && !QUESTIONS.contains(&function))
    })
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = exit;
