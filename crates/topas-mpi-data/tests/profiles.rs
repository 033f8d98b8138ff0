//! Profiles of MPI calls: lines between other lines, records under way at the same time, damage;
//! and mapped files as a rank writes them.

use std::fs::{self, File};
use std::mem::{offset_of, size_of};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use topas_data::Source;
use topas_mpi_data::{
    Ending, MessageClass, MpiProfile, NowPeer, Origin, Profiles, RoutineAmount, Spool, SpoolError,
    collect, read_profiles, read_rank, read_spool, threads_now,
};
use topas_mpi_profile::layout::now::NowLine;
use topas_mpi_profile::layout::{
    self, BLOCKS_AT, Beside, Block, FUNCTIONS, Header, Moment, Row, TABLE,
};
use topas_testkit::numbers_below;

fn line(text: &str) -> String {
    format!("{text} len={:03}\n", text.len() + 8)
}

fn head(of: &str, number: &str) -> String {
    format!("2026/11/20 18:00:00 topas-mpi mohr heat3d 4 81f277aa v=1 of={of} line={number}")
}

fn run_record() -> [String; 2] {
    [
        line(&format!(
            "{} t=1795197600 uid=1000 end=finalize host=n1 mpi=Open_MPI ranks=4 wall=40 \
             wallmax=10 mpisum=8.5 mpimax=3 mpimin=1.5 usemax=8 over=0.001 thr=2 lang=c,f08 \
             level=multiple miss=requests f=Send:8:1.5:0.25:80:8:640:::4",
            head("run", "1/2")
        )),
        line(&format!(
            "{} f=Recv:8:7:3:80:::8:640+:4 f=Newer_thing:1:0.5:0.5 h=p2p:s:7=8 h=coll:r:0=1 \
             w=read:2:0.5 c=my%20world:4:16:8.5:8:640:8:640 e=OMPI_MCA_btl=self ci.CYC=10 co.CYC=90",
            head("run", "2/2")
        )),
    ]
}

fn rank_record(rank: u32) -> String {
    line(&format!(
        "{} t=1795197600 uid=1000 end=finalize host=n1 rank={rank} pid={} ranks=1 wall=10 \
         wallmax=10 mpisum=2 mpimax=2 mpimin=2 usemax=8 over=0 thr=1 \
         f=Send:2:0.5:0.25:20:2:160 h=Send:s:7=2 p={}:2:160:0:0",
        head("rank", "1/1"),
        100 + rank,
        (rank + 1) % 4
    ))
}

fn read(text: &str) -> Profiles {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    fs::write(&path, text).unwrap();
    let (profiles, failed) = read_profiles(&[Source::File(path)], &mut |_| {});
    assert!(failed.is_empty());
    profiles
}

fn the_one(text: &str) -> MpiProfile {
    let mut read = read(text);
    assert_eq!(read.tally.skipped(), 0, "{:?}", read.tally.examples());
    assert_eq!(read.profiles.len(), 1);
    read.profiles.remove(0)
}

fn whole_file() -> String {
    let [first, second] = run_record();
    let ranks: String = (0..4).map(rank_record).collect();
    format!("{first}{second}{ranks}")
}

#[test]
fn everything_that_lines_say_is_there() {
    let profile = the_one(&whole_file());
    let name = |name: &str| {
        let routines = &profile.total.routines;
        *routines.iter().find(|r| profile.routines.name(r.number) == name).unwrap()
    };
    let (send, recv) = (name("Send"), name("Recv"));
    assert_eq!((send.calls, send.time, send.longest), (8, 1_500_000_000, 250_000_000));
    assert_eq!((send.sends, send.sent), (RoutineAmount::Exact(8), RoutineAmount::Exact(640)));
    assert_eq!(
        (send.receives, send.received, send.ranks),
        (RoutineAmount::Nothing, RoutineAmount::Nothing, Some(4))
    );
    assert_eq!(recv.received, RoutineAmount::AtLeast(640));
    assert_eq!((name("Newer_thing").calls, name("Newer_thing").ranks), (1, None));
    let total = &profile.total;
    assert_eq!((total.ranks, total.wall, total.mpi), (4, 40_000_000_000, 8_500_000_000));
    assert_eq!((total.mpi_max, total.mpi_min), (3_000_000_000, 1_500_000_000));
    assert_eq!((total.overhead, total.threads), (1_000_000, 2));
    assert_eq!(total.class(MessageClass::PointToPoint).sent[7], 8);
    assert_eq!(total.class(MessageClass::Collective).received[0], 1);
    assert_eq!(total.waited[layout::Waited::Read as usize].time, 500_000_000);
    let comm = &total.communicators[0];
    assert_eq!((&*comm.name, comm.size, comm.traffic.sent), ("my world", Some(4), 640));
    assert_eq!((total.counters[0].inside, total.counters[0].outside), (Some(10), Some(90)));
    let facts = &profile.facts;
    assert_eq!((&*facts.id, facts.npes, facts.uid), (&b"81f277aa"[..], Some(4), Some(1000)));
    assert_eq!(facts.ending, Some(Ending::Finalize));
    assert_eq!(facts.switches, [("OMPI_MCA_btl".into(), Some("self".into()))]);
    assert_eq!((profile.ranks.len(), profile.origin, profile.lost_lines), (4, Origin::Lines, 0));
    let rank = &profile.ranks[3];
    assert_eq!((rank.rank, rank.pid, rank.sums.peers[0].rank), (3, Some(103), Some(0)));
    assert_eq!(rank.sums.class(MessageClass::PointToPoint).sent[7], 2);
}

#[test]
fn lines_may_stand_between_others_and_twice() {
    let expected = the_one(&whole_file());
    let [first, second] = run_record();
    let ranks: Vec<String> = (0..4).map(rank_record).collect();
    let run = "1999/05/04 12:00:00 mohr heat 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=1 10 4711\n";
    let mixed = [&ranks[2], &first, run, "\n# comment\n", &ranks[0], &second, &ranks[3], &ranks[1]];
    let mixed: String = mixed.into_iter().map(|text| text as &str).collect();
    assert!(the_one(&mixed) == expected);
    // The log and the user's file: what stands in both counts once.
    let twice = format!("{mixed}{}", whole_file());
    assert!(the_one(&twice) == expected, "what stands twice counts once");
    assert_eq!(read(&twice).tally.profile, 12);
    assert_eq!(read(&twice).tally.good, 1);
}

#[test]
fn an_id_that_is_given_again_is_another_launch() {
    let later = whole_file().replace("18:00:00", "19:00:00").replace("=1795197600", "=1795201200");
    let later = later.replace(":80:8:640", ":80:8:641");
    let both = read(&format!("{}{later}", whole_file()));
    assert_eq!(both.profiles.len(), 2);
    assert_eq!(both.profiles[0].facts.epoch, Some(1_795_201_200), "the newest is first");
    assert!(both.profiles.iter().all(|profile| profile.ranks.len() == 4));
}

#[test]
fn damage_is_counted_and_the_rest_used() {
    let [first, second] = run_record();
    let torn = &first[..200];
    let text = format!("{torn}{first}{}{second}", second.replace("8.5", "9"));
    let profiles = read(&text);
    let words: Vec<String> =
        profiles.tally.problems().map(|(problem, n)| format!("{n} {}", problem.words())).collect();
    assert_eq!(words, ["2 MPI profile: not of the length it says"]);
    assert_eq!(profiles.profiles[0].total.routines.len(), 3, "the whole line behind the torn one");
    // A line that is missing is told, and one that the file ends in.
    let profiles = read(&second);
    assert_eq!(profiles.profiles[0].lost_lines, 1);
    let profiles = read(&first[..first.len() - 30]);
    assert!(profiles.profiles.is_empty() && profiles.tally.skipped() == 1);
    assert_eq!(read(first.trim_end()).tally.profile, 1, "only the newline is missing");
}

#[test]
fn hosts_make_the_sum_where_there_is_no_other() {
    let host = |host: &str, ranks: u32, end: &str| {
        line(&format!(
            "{} t=1795197600 uid=1000 end={end} host={host} ranks={ranks} wall=10 wallmax=5 \
             mpisum=4 mpimax=2 mpimin=1 usemax=3 over=0 thr=1 f=Send:2:0.5:0.25:20:2:160:::{ranks}",
            head("host", "1/1")
        ))
    };
    let both = host("n1", 3, "lost") + &host("n2", 1, "abort:7") + &host("n1", 3, "lost");
    let profile = the_one(&both);
    assert_eq!((profile.total.ranks, profile.total.calls()), (4, 4));
    assert_eq!((profile.total.wall, profile.total.mpi_min), (20_000_000_000, 1_000_000_000));
    assert_eq!(profile.facts.ending, Some(Ending::Abort(7)));
    assert_eq!(profile.facts.hosts.len(), 2);
    // With the sum of all ranks, what a host told is in it.
    let [first, second] = run_record();
    let profile = the_one(&format!("{first}{second}{both}"));
    assert_eq!((profile.total.ranks, profile.total.calls()), (4, 17));
}

/// A mapped file with one thread that called `MPI_Send` (bytes, a histogram) and is in `MPI_Recv`.
fn spool(dir: &tempfile::TempDir, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
    let uid = fs::metadata(dir.path()).unwrap().uid();
    let mut bytes = vec![0u8; BLOCKS_AT + size_of::<Block>()];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    let began = offset_of!(Header, began);
    let latest = offset_of!(Header, latest);
    let moment = [
        (offset_of!(Moment, ticks), 1000u64, 3000u64),
        (offset_of!(Moment, monotonic), 5_000, 6_000),
        (offset_of!(Moment, realtime), 1_000_000_000_000, 1_000_000_001_000),
    ];
    for (at, first, last) in moment {
        put(began + at, &first.to_ne_bytes());
        put(latest + at, &last.to_ne_bytes());
    }
    put(0, &layout::MAGIC);
    for (at, value) in [
        (offset_of!(Header, version), layout::VERSION),
        (offset_of!(Header, functions), FUNCTIONS as u32),
        (offset_of!(Header, uid), uid),
        // No process has this number.
        (offset_of!(Header, pid), u32::MAX),
        (offset_of!(Header, rank), 2),
        (offset_of!(Header, ranks), 4),
        (offset_of!(Header, blocks), 1),
    ] {
        put(at, &value.to_ne_bytes());
    }
    put(offset_of!(Header, table), &TABLE.to_ne_bytes());
    put(offset_of!(Header, used), &((BLOCKS_AT + size_of::<Block>()) as u64).to_ne_bytes());
    put(offset_of!(Header, first_block), &(BLOCKS_AT as u64).to_ne_bytes());
    put(offset_of!(Header, id), b"81f277aa");
    put(offset_of!(Header, exe), b"heat3d");
    let number = |name: &str| topas_mpi_table::functions().position(|f| f.name == name).unwrap();
    let (send, recv) = (number("MPI_Send"), number("MPI_Recv"));
    let row = BLOCKS_AT + offset_of!(Block, rows) + send * size_of::<Row>();
    for (place, value) in [3u64, 500, 300, 30, 3, 240, 0, 0].into_iter().enumerate() {
        put(row + place * 8, &value.to_ne_bytes());
    }
    let beside = BLOCKS_AT + offset_of!(Block, beside) + send * size_of::<Beside>();
    put(beside + offset_of!(Beside, sent), &1u16.to_ne_bytes());
    put(BLOCKS_AT + offset_of!(Block, sizes) + 7 * 8, &3u64.to_ne_bytes());
    put(BLOCKS_AT + offset_of!(Block, now.inside), &(recv as u32 + 1).to_ne_bytes());
    put(BLOCKS_AT + offset_of!(Block, now.since), &5000u64.to_ne_bytes());
    change(&mut bytes);
    let path = dir.path().join(format!("topas-mpi.{uid}.1.1"));
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_mapped_file_says_what_its_rank_counted() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(&spool(&dir, |_| {})).unwrap();
    let rank = read_rank(&spool, false).unwrap();
    let sums = &rank.rank.sums;
    // Two ticks are a nanosecond; the last call began 4000 ticks after the first.
    assert_eq!((sums.wall, sums.mpi), (2000, 250));
    let send = sums.routines[0];
    assert_eq!((send.calls, send.time, send.longest), (3, 250, 150));
    assert_eq!((send.count, send.sent), (RoutineAmount::Exact(30), RoutineAmount::Exact(240)));
    assert_eq!(sums.class(MessageClass::PointToPoint).sent[7], 3);
    assert_eq!((rank.rank.rank, rank.rank.ending), (2, Some(Ending::Lost)));
    assert_eq!(rank.inside.len(), 1);
    assert_eq!(rank.inside[0].time, None, "nobody knows when it ended");
}

#[test]
fn a_mapped_file_says_what_its_threads_do() {
    let dir = tempfile::tempdir().unwrap();
    let now = |path: &Path| threads_now(&Spool::open(path).unwrap()).unwrap()[0].call;
    let line = BLOCKS_AT + offset_of!(Block, now);
    let path = spool(&dir, |bytes| {
        let peer = line + offset_of!(NowLine, peer);
        bytes[peer..peer + 4].copy_from_slice(&3i32.to_ne_bytes());
        let path = line + offset_of!(NowLine, path);
        bytes[path..path + 4].copy_from_slice(&7u32.to_ne_bytes());
        // Its upper half means nothing where handles are integers.
        let comm = line + offset_of!(NowLine, comm);
        bytes[comm..comm + 8].copy_from_slice(&0x1234_4400_0000u64.to_ne_bytes());
        let world = offset_of!(Header, comm_world);
        bytes[world..world + 8].copy_from_slice(&0x4400_0000u64.to_ne_bytes());
    });
    let call = now(&path).unwrap();
    assert_eq!(call.peer, Some(NowPeer { rank: 3, of_world: true }));
    let name = call.routine.function().unwrap().name;
    assert_eq!((name, call.path), ("MPI_Recv", 7));
    assert!(call.time.is_some());
    // The same file is asked again.
    let file = File::options().write(true).open(&path).unwrap();
    let barrier = topas_mpi_table::functions().position(|f| f.name == "MPI_Barrier").unwrap();
    let inside = (line + offset_of!(NowLine, inside)) as u64;
    file.write_all_at(&(barrier as u32 + 1).to_ne_bytes(), inside).unwrap();
    assert_eq!(now(&path).unwrap().peer, None, "what an earlier call left");
    file.write_all_at(&[0; 4], inside).unwrap();
    assert_eq!(now(&path), None);
}

#[test]
fn a_spool_is_read_and_collected() {
    let dir = tempfile::tempdir().unwrap();
    let path = spool(&dir, |_| {});
    let reading = read_spool(dir.path(), None).unwrap();
    assert!(reading.refused.is_empty());
    let profile = &reading.profiles[0];
    assert_eq!((profile.origin, profile.total.calls()), (Origin::Left, 3));
    assert_eq!(&*profile.facts.id, b"81f277aa");

    let uid = fs::metadata(&path).unwrap().uid();
    let another = collect(dir.path(), uid, "81f277ab", |_, _| ()).unwrap();
    assert!(another.launches.is_empty() && path.exists());
    let mut collection = collect(dir.path(), uid, "81f277", |_, _| ()).unwrap();
    // Whoever comes meanwhile finds it locked.
    assert_eq!(collect(dir.path(), uid, "", |_, _| ()).unwrap().busy, 1);
    let launch = collection.launches.remove(0);
    let lines =
        String::from_utf8([launch.record(), launch.rank_records(Path::new("/own"))].concat())
            .unwrap();
    launch.remove().unwrap();
    assert!(!path.exists());
    let told = the_one(&lines);
    assert_eq!(told.total.routines, profile.total.routines);
    assert_eq!(told.total.classes, profile.total.classes);
    assert_eq!(told.ranks[0].sums.sizes, profile.ranks[0].sums.sizes);
    assert_eq!(told.facts.epoch, Some(1000));
}

/// Anybody may make a file whose name says that it is of somebody else.
#[test]
fn a_name_makes_no_file_anybodys() {
    let dir = tempfile::tempdir().unwrap();
    let path = spool(&dir, |_| {});
    let uid = fs::metadata(&path).unwrap().uid();
    assert_eq!(read_spool(dir.path(), Some(uid)).unwrap().profiles.len(), 1);
    let victim = uid + 1;
    let name = format!("topas-mpi.{victim}.1.1");
    fs::rename(&path, dir.path().join(name)).unwrap();
    let reading = read_spool(dir.path(), Some(victim)).unwrap();
    assert_eq!(reading.profiles.len(), 0);
    let [(_, SpoolError::Owner { says, is })] = reading.refused[..] else {
        panic!("{:?}", reading.refused);
    };
    assert_eq!((says, is), (victim, uid));
    assert_eq!(collect(dir.path(), victim, "", |_, _| ()).unwrap().refused.len(), 1);
    // For whoever reads everybody's it is its owner's.
    assert_eq!(read_spool(dir.path(), None).unwrap().profiles.len(), 1);
}

/// A file may be of any length at no cost, and its blocks may stand in a circle.
#[test]
fn a_circle_in_a_file_of_holes_ends_soon() {
    let dir = tempfile::tempdir().unwrap();
    let next = BLOCKS_AT + offset_of!(Block, next);
    let path = spool(&dir, |bytes| {
        bytes[next..next + 8].copy_from_slice(&(BLOCKS_AT as u64).to_ne_bytes());
    });
    File::options().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
    let since = std::time::Instant::now();
    let spool = Spool::open(&path).unwrap();
    assert!(matches!(read_rank(&spool, false), Err(SpoolError::Damaged(_))));
    assert!(matches!(threads_now(&spool), Err(SpoolError::Damaged(_))));
    // Half an hour, if as many blocks were read as the file has room for.
    assert!(since.elapsed() < std::time::Duration::from_secs(60));
}

#[test]
fn what_is_no_profile_is_refused_with_a_reason() {
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let dir = tempfile::tempdir().unwrap();
        let path = spool(&dir, |bytes| change(bytes));
        let result = Spool::open(&path).and_then(|spool| read_rank(&spool, false).map(|_| ()));
        result.unwrap_err()
    };
    assert!(matches!(refused(&|b| b[..8].fill(0)), SpoolError::Unfinished));
    assert!(matches!(refused(&|b| b.clear()), SpoolError::Unfinished));
    assert!(matches!(refused(&|b| b[0] = b'x'), SpoolError::Foreign));
    assert!(matches!(refused(&|b| b[8] = 10), SpoolError::Version(_)));
    assert!(matches!(refused(&|b| b[offset_of!(Header, table)] ^= 1), SpoolError::Table));
    assert!(matches!(refused(&|b| b[offset_of!(Header, uid)] ^= 1), SpoolError::Owner { .. }));
    assert!(matches!(refused(&|b| b.truncate(BLOCKS_AT + 8)), SpoolError::Short { .. }));
    let next = BLOCKS_AT + offset_of!(Block, next);
    let circle =
        |b: &mut Vec<u8>| b[next..next + 8].copy_from_slice(&(BLOCKS_AT as u64).to_ne_bytes());
    assert!(matches!(refused(&circle), SpoolError::Damaged(_)));
    let wild = |b: &mut Vec<u8>| b[next + 7] = 0x7f;
    assert!(matches!(refused(&wild), SpoolError::Damaged(_)));
    let histogram = BLOCKS_AT + offset_of!(Block, beside);
    assert!(matches!(refused(&|b| b[histogram..histogram + 2].fill(0xff)), SpoolError::Damaged(_)));

    // No pipe, link or directory is waited for or followed.
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("topas-mpi.0.9.9");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(Spool::open(&pipe), Err(SpoolError::Foreign)));
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(spool(&dir, |_| {}), &link).unwrap();
    assert!(matches!(Spool::open(&link), Err(SpoolError::File(_))));
}

/// Any bytes at all: no panic, no endless loop, no memory without end.
#[test]
fn noise_in_a_mapped_file_harms_nobody() {
    let mut number = numbers_below(1);
    let dir = tempfile::tempdir().unwrap();
    let path = spool(&dir, |_| {});
    let length = fs::metadata(&path).unwrap().len();
    let file = File::options().write(true).open(&path).unwrap();
    for _ in 0..300 {
        let at = if number(2) == 0 { number(600) } else { number(length) };
        // What makes it a profile stays.
        if at >= offset_of!(Header, state) as u64 {
            file.write_all_at(&[number(256) as u8], at).unwrap();
        }
        let _ = Spool::open(&path).and_then(|spool| read_rank(&spool, number(2) == 0));
    }
}
