//! What a reader on another node prints: a line of JSON for each rank, then one that ends the reading.
//! Sums alone, so that 1,000 ranks are some hundred kB.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use topas_mpi_data::{
    Inside, LastSign, MessageEnd, MpiProfile, MpiRank, MpiRecordFacts, MpiSums, NowPeer,
    OpenMessages, Origin, RoutineAmount, RoutineWaits, Routines, WaitSums,
};
use topas_render::mpi_views::CallPlaces;

/// A line of a reader.
#[derive(Clone, Debug)]
pub enum ReaderLine {
    /// A rank
    Rank(Box<RankLine>),
    /// All ranks of a node were told
    End,
}

/// A rank; times in ns.
#[derive(Clone, Debug)]
pub struct RankLine {
    id: String,
    exe: String,
    job: String,
    npes: Option<u32>,
    epoch: Option<u64>,
    host: String,
    rank: u32,
    wall: u64,
    mpi: u64,
    outside: u64,
    threads: u32,
    waits: bool,
    routines: Vec<RoutineLine>,
    now: Vec<NowLine>,
    /// For how long no thread has begun a call
    quiet: Option<u64>,
    /// Ranks that have not posted their windows for it
    unposted: Vec<u32>,
    /// What is open of the messages for which it waits
    open: OpenMessages,
}

/// A routine: its name, calls, time, bytes sent and received, and times of waiting for late senders,
/// for late receivers, and in collectives.
#[derive(Clone, Debug)]
struct RoutineLine(String, u64, u64, Option<u64>, Option<u64>, [u64; 3]);

/// A call that a thread is in: routine, the rank that it names and whether that is of the world, for how
/// long, the number of its call path, where that is in the source, and the tag that it names.
#[derive(Clone, Debug)]
struct NowLine(String, Option<(i32, bool)>, Option<u64>, Option<u32>, Option<String>, Option<i32>);

impl ReaderLine {
    /// As it is printed.
    pub fn text(&self) -> String {
        let ReaderLine::Rank(line) = self else { return json!({ "end": true }).to_string() };
        let routine = |RoutineLine(name, calls, time, sent, received, waits): &RoutineLine| {
            json!([name, calls, time, sent, received, waits])
        };
        let now = |NowLine(name, peer, time, path, place, tag): &NowLine| {
            json!([name, peer, time, path, place, tag])
        };
        let ends = |messages: &[MessageEnd]| -> Vec<(u32, i32, Option<u32>)> {
            messages.iter().map(|message| (message.rank, message.tag, message.comm)).collect()
        };
        json!({
            "id": line.id,
            "exe": line.exe,
            "job": line.job,
            "npes": line.npes,
            "epoch": line.epoch,
            "host": line.host,
            "rank": line.rank,
            "wall": line.wall,
            "mpi": line.mpi,
            "outside": line.outside,
            "threads": line.threads,
            "waits": line.waits,
            "routines": line.routines.iter().map(routine).collect::<Vec<_>>(),
            "now": line.now.iter().map(now).collect::<Vec<_>>(),
            "quiet": line.quiet,
            "unposted": line.unposted,
            "awaited": ends(&line.open.awaited),
            "untaken": ends(&line.open.untaken),
            "unreceived": ends(&line.open.unreceived),
        })
        .to_string()
    }

    /// What a reader printed; None if it is something else.
    pub fn read(text: &[u8]) -> Option<ReaderLine> {
        let value: Value = serde_json::from_slice(text).ok()?;
        if value.get("end").is_some() {
            return Some(ReaderLine::End);
        }
        let number = |key: &str| value.get(key)?.as_u64();
        let narrow = |key: &str| number(key).and_then(|n| u32::try_from(n).ok());
        let words = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
        let list = |key: &str| value.get(key).and_then(Value::as_array);
        let end = |of: &Value| {
            let (rank, tag) = (of.get(0)?.as_u64()?, of.get(1)?.as_i64()?);
            Some(MessageEnd {
                rank: u32::try_from(rank).ok()?,
                tag: i32::try_from(tag).ok()?,
                // Older readers do not tell it.
                comm: of.get(2).and_then(Value::as_u64).and_then(|comm| u32::try_from(comm).ok()),
            })
        };
        let ends = |key: &str| list(key).into_iter().flatten().filter_map(end).collect();
        Some(ReaderLine::Rank(Box::new(RankLine {
            id: words("id")?,
            exe: words("exe")?,
            job: words("job")?,
            npes: narrow("npes"),
            epoch: number("epoch"),
            host: words("host")?,
            rank: narrow("rank")?,
            wall: number("wall")?,
            mpi: number("mpi")?,
            outside: number("outside")?,
            threads: narrow("threads")?,
            waits: value.get("waits")?.as_bool()?,
            routines: list("routines")?.iter().map(read_routine).collect::<Option<_>>()?,
            now: list("now")?.iter().map(read_now).collect::<Option<_>>()?,
            quiet: number("quiet"),
            // Older readers do not tell it.
            unposted: list("unposted").map_or(Vec::new(), |ranks| {
                let ranks = ranks.iter().filter_map(Value::as_u64);
                ranks.filter_map(|rank| u32::try_from(rank).ok()).collect()
            }),
            open: OpenMessages {
                awaited: ends("awaited"),
                untaken: ends("untaken"),
                unreceived: ends("unreceived"),
            },
        })))
    }
}

fn read_routine(value: &Value) -> Option<RoutineLine> {
    let waits = |place: usize| value.get(5)?.get(place)?.as_u64();
    let number = |place: usize| value.get(place)?.as_u64();
    Some(RoutineLine(
        value.get(0)?.as_str()?.to_owned(),
        number(1)?,
        number(2)?,
        number(3),
        number(4),
        [waits(0)?, waits(1)?, waits(2)?],
    ))
}

fn read_now(value: &Value) -> Option<NowLine> {
    let peer = value.get(1)?;
    let rank = peer.get(0).and_then(Value::as_i64).and_then(|rank| i32::try_from(rank).ok());
    let peer = rank.zip(peer.get(1).and_then(Value::as_bool));
    let path = value.get(3).and_then(Value::as_u64).and_then(|path| u32::try_from(path).ok());
    let place = value.get(4).and_then(Value::as_str).map(str::to_owned);
    let tag = value.get(5).and_then(Value::as_i64).and_then(|tag| i32::try_from(tag).ok());
    let name = value.get(0)?.as_str()?.to_owned();
    Some(NowLine(name, peer, value.get(2)?.as_u64(), path, place, tag))
}

fn narrow(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The lines of the ranks of a launch, with the places of their calls.
pub fn lines_of(profile: &MpiProfile, places: &CallPlaces) -> impl Iterator<Item = ReaderLine> {
    profile.ranks.iter().map(move |rank| {
        let sums = &rank.sums;
        let name = |number| profile.routines.name(number).to_owned();
        let routine = |of: &topas_mpi_data::RoutineCalls| {
            let waits = sums.waits.routine(of.number);
            let waits = [&waits.late, &waits.late_receiver, &waits.collective];
            let bytes = |amount: RoutineAmount| amount.counted().map(narrow);
            RoutineLine(
                name(of.number),
                narrow(of.calls),
                narrow(of.time),
                bytes(of.sent),
                bytes(of.received),
                waits.map(|figure| narrow(figure.nanoseconds)),
            )
        };
        let own = profile.inside.iter().filter(|(of, _)| *of == rank.rank);
        let now = own.map(|(_, inside)| {
            let peer = inside.peer.map(|peer| (peer.rank, peer.of_world));
            let place = inside.path.and_then(|path| places.get(&(rank.rank, path)).cloned());
            NowLine(name(inside.routine), peer, inside.time, inside.path, place, inside.tag)
        });
        ReaderLine::Rank(Box::new(RankLine {
            id: text(&profile.facts.id),
            exe: text(&profile.facts.exe),
            job: text(&profile.facts.job),
            npes: profile.facts.npes,
            epoch: profile.facts.epoch,
            host: text(&rank.host),
            rank: rank.rank,
            wall: narrow(sums.wall),
            mpi: narrow(sums.mpi),
            outside: narrow(sums.outside()),
            threads: sums.threads,
            waits: sums.waits.measured,
            routines: sums.routines.iter().map(routine).collect(),
            now: now.collect(),
            quiet: rank.last.and_then(|last| last.quiet),
            unposted: profile.unposted(rank.rank).to_vec(),
            open: profile.open_messages(rank.rank).cloned().unwrap_or_default(),
        }))
    })
}

/// Where the calls of a launch were made that lines tell.
pub fn places(profile: &MpiProfile, lines: &[RankLine]) -> CallPlaces {
    let is_of = |line: &&RankLine| {
        line.id.as_bytes() == &*profile.facts.id && line.npes == profile.facts.npes
    };
    let calls = lines.iter().filter(is_of).flat_map(|line| {
        line.now.iter().map(move |NowLine(.., path, place, _)| (line.rank, *path, place))
    });
    calls.filter_map(|(rank, path, place)| Some(((rank, path?), place.clone()?))).collect()
}

/// A profile for each launch that lines are of, `here` those that were read on this node.
pub fn launches(here: Vec<MpiProfile>, lines: impl Iterator<Item = RankLine>) -> Vec<MpiProfile> {
    let mut all: BTreeMap<(Vec<u8>, Option<u32>), MpiProfile> = BTreeMap::new();
    for profile in here {
        all.insert((profile.facts.id.to_vec(), profile.facts.npes), profile);
    }
    for line in lines {
        let key = (line.id.clone().into_bytes(), line.npes);
        add(all.entry(key).or_insert_with(|| empty(&line)), &line);
    }
    let mut all: Vec<MpiProfile> = all.into_values().collect();
    for profile in &mut all {
        profile.ranks.sort_by_key(|rank| rank.rank);
    }
    all
}

fn empty(line: &RankLine) -> MpiProfile {
    let date = topas_format::civil::Date { year: 1970, month: 1, day: 1 };
    let time = topas_format::civil::Time { hour: 0, minute: 0, second: 0 };
    let facts = MpiRecordFacts {
        id: line.id.as_bytes().into(),
        exe: line.exe.as_bytes().into(),
        job: line.job.as_bytes().into(),
        npes: line.npes,
        epoch: line.epoch,
        ..MpiRecordFacts::at(date, time)
    };
    MpiProfile {
        facts,
        origin: Origin::Live,
        total: MpiSums::default(),
        ranks: Vec::new(),
        subtotals: Vec::new(),
        routines: Routines::default(),
        lost_lines: 0,
        inside: Vec::new(),
        unposted: Vec::new(),
        open_messages: Vec::new(),
        logged: None,
        is_log_silent: false,
    }
}

fn add(profile: &mut MpiProfile, line: &RankLine) {
    // A rank that this node has told itself, or another reader of the same node.
    if profile.ranks.iter().any(|known| known.rank == line.rank) {
        return;
    }
    let mut sums = MpiSums {
        ranks: 1,
        wall: line.wall.into(),
        wall_max: line.wall,
        mpi: line.mpi.into(),
        mpi_max: line.mpi,
        mpi_min: line.mpi,
        outside_max: line.outside,
        threads: line.threads,
        ..MpiSums::default()
    };
    sums.waits.measured = line.waits;
    let mut waits = Vec::new();
    for RoutineLine(name, calls, time, sent, received, waited) in &line.routines {
        let Some(number) = profile.routines.number(name) else { continue };
        let of = sums.routine_mut(number);
        let amount = |bytes: Option<u64>| {
            bytes.map_or(RoutineAmount::Nothing, |n| RoutineAmount::Exact(n.into()))
        };
        (of.calls, of.time) = ((*calls).into(), (*time).into());
        (of.sent, of.received) = (amount(*sent), amount(*received));
        let mut told = WaitSums::NONE;
        let kinds = [&mut told.late, &mut told.late_receiver, &mut told.collective];
        for (to, time) in kinds.into_iter().zip(waited) {
            to.nanoseconds = (*time).into();
        }
        if !told.is_empty() {
            waits.push(RoutineWaits { number, sums: told });
        }
    }
    waits.sort_by_key(|of| of.number);
    sums.waits.routines = waits;
    for NowLine(name, peer, time, path, _, tag) in &line.now {
        let Some(routine) = profile.routines.number(name) else { continue };
        let peer = peer.map(|(rank, of_world)| NowPeer { rank, of_world });
        let (tag, path, time) = (*tag, *path, *time);
        profile.inside.push((line.rank, Inside { routine, peer, tag, path, time }));
    }
    if !line.unposted.is_empty() {
        profile.unposted.push((line.rank, line.unposted.clone()));
    }
    if line.open != OpenMessages::default() {
        profile.open_messages.push((line.rank, line.open.clone()));
    }
    profile.total.add(&sums);
    profile.ranks.push(MpiRank {
        last: line.quiet.map(|quiet| LastSign { quiet: Some(quiet), ..LastSign::default() }),
        started: Vec::new(),
        rank: line.rank,
        pid: None,
        host: line.host.as_bytes().into(),
        ending: None,
        missed: Vec::new(),
        sums,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::board;

    #[test]
    fn what_a_reader_prints_comes_back() {
        let mut profile = board().profile;
        profile.unposted = vec![(1, vec![0, 5])];
        let end = |rank, tag, comm| MessageEnd { rank, tag, comm };
        let open = OpenMessages {
            awaited: vec![end(0, 7, None)],
            untaken: vec![end(0, 8, Some(0)), end(5, 7, Some(3))],
            unreceived: vec![end(2, 7, None)],
        };
        profile.open_messages = vec![(0, open)];
        let here = CallPlaces::from([((0, 7), "solve (heat.c:12)".to_owned())]);
        let lines: Vec<String> = lines_of(&profile, &here).map(|line| line.text()).collect();
        assert_eq!(lines.len(), 2);
        let read = |text: &String| match ReaderLine::read(text.as_bytes()) {
            Some(ReaderLine::Rank(line)) => *line,
            _ => panic!("{text}"),
        };
        assert!(matches!(ReaderLine::read(b"{\"end\":true}"), Some(ReaderLine::End)));
        assert!(ReaderLine::read(b"Welcome to n3!").is_none());
        let back = launches(Vec::new(), lines.iter().map(read));
        let [launch] = back.as_slice() else { panic!("{} launches", back.len()) };
        assert_eq!((launch.ranks.len(), launch.total.ranks), (2, 2));
        assert_eq!(launch.inside, profile.inside);
        assert_eq!(launch.unposted, profile.unposted);
        assert_eq!(launch.open_messages, profile.open_messages);
        let told: Vec<RankLine> = lines.iter().map(read).collect();
        assert_eq!(places(launch, &told), here);
        let quiet = |rank: &MpiRank| rank.last.and_then(|last| last.quiet);
        assert_eq!(
            launch.ranks.iter().map(quiet).collect::<Vec<_>>(),
            [Some(3_000_000_000), Some(2_000_000_000)]
        );
        assert_eq!(launch.total.mpi, profile.total.mpi);
        // A rank that is told twice is one.
        let twice = launches(vec![profile], lines.iter().map(read));
        assert_eq!((twice.len(), twice[0].ranks.len(), twice[0].total.ranks), (1, 2, 2));
    }
}
