//! Random programs that know what they move: per routine, by size, per peer, per communicator.

use std::collections::BTreeMap;
use std::env;
use std::fs;

use topas_mpi_profile::layout::BINS;
use topas_tests::build::source;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::library;
use topas_tests::running::{command, run as run_command};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::note;

use super::launch::{Names, ProfiledRank, Program, other_calls};
use super::profile::{Counts, Exchange};

/// Processes of a program.
const RANKS: u32 = 4;

/// Programs in the default set, each of some thirty acts. Ranks of MPICH spin where they wait.
const PROGRAMS: [(Mpi, u64); 2] = [(Mpi::OpenMpi, 180), (Mpi::Mpich, 20)];

/// The first number; a whole set can be had elsewhere.
const SEED: u64 = 20_261_120;

/// What a rank expects.
#[derive(Debug, Default)]
struct Expected {
    functions: BTreeMap<String, Counts>,
    peers: Vec<Exchange>,
    communicators: BTreeMap<String, Exchange>,
}

fn exchange(numbers: &str) -> Exchange {
    let n: Vec<u64> = numbers.split(' ').map(|n| n.parse().expect(numbers)).collect();
    Exchange { sends: n[0], sent: n[1], receives: n[2], received: n[3] }
}

fn expected(program: &Program, rank: usize) -> Expected {
    let mut all = Expected::default();
    let path = program.path("with").join(format!("expected.{rank}"));
    let text = fs::read_to_string(path).expect("what a rank expects");
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(3, '|').collect();
        let name = words[1].to_owned();
        match words[0] {
            "function" => {
                let moved = exchange(words[2]);
                let counts = all.functions.entry(name).or_default();
                counts.sent.number = moved.sends;
                counts.sent.bytes = moved.sent;
                counts.received.number = moved.receives;
                counts.received.bytes = moved.received;
            }
            "sizes" => {
                let numbers: Vec<u64> =
                    words[2].split(' ').map(|n| n.parse().expect(line)).collect();
                let counts = all.functions.entry(name).or_default();
                let sizes: [u64; BINS] = numbers[1..].try_into().expect("bins");
                if numbers[0] == 0 {
                    counts.sent.sizes = sizes;
                } else {
                    counts.received.sizes = sizes;
                }
            }
            "peer" => all.peers.push(exchange(words[2])),
            "comm" => {
                all.communicators.insert(name, exchange(words[2]));
            }
            other => panic!("{other}"),
        }
    }
    all
}

/// What the library counted otherwise than a rank expects.
fn complaints(
    rank: &ProfiledRank,
    expected: &Expected,
    names: Names,
    communicators: bool,
) -> Vec<String> {
    let mut all = other_calls(rank, names);
    let nothing = Counts::default();
    let mut routines: Vec<&str> = expected.functions.keys().map(String::as_str).collect();
    let moves = |c: &Counts| c.sent.number + c.received.number > 0;
    routines.extend(rank.profile.functions.iter().filter(|(_, c)| moves(c)).map(|(name, _)| name));
    routines.sort_unstable();
    routines.dedup();
    for name in routines {
        let wanted = expected.functions.get(name).unwrap_or(&nothing);
        let counts = rank.profile.functions.get(name).unwrap_or(&nothing);
        for (way, wanted, got) in
            [("sent", &wanted.sent, &counts.sent), ("received", &wanted.received, &counts.received)]
        {
            if (wanted.number, wanted.bytes) != (got.number, got.bytes) {
                all.push(format!(
                    "{name}: {way} {} with {} B, counted {} with {} B",
                    wanted.number, wanted.bytes, got.number, got.bytes
                ));
            } else if wanted.sizes != got.sizes {
                all.push(format!("{name}: {way} {:?}, counted {:?}", wanted.sizes, got.sizes));
            }
        }
        if counts.missed {
            all.push(format!("{name}: not all could be counted"));
        }
    }
    for (i, peer) in expected.peers.iter().enumerate() {
        if rank.profile.peers[i] != *peer {
            all.push(format!("peer {i}: {peer:?}, counted {:?}", rank.profile.peers[i]));
        }
    }
    if communicators {
        for (name, wanted) in &expected.communicators {
            let found = rank.profile.communicators.iter().find(|(own, _, _)| own == name);
            let moved = found.map(|(_, _, moved)| *moved).unwrap_or_default();
            if moved != *wanted {
                all.push(format!("{name}: {wanted:?}, counted {moved:?}"));
            }
        }
    }
    all
}

/// What an MPI cannot do, whatever calls it.
fn broken(mpi: Mpi, names: Names) -> [(&'static str, bool); 12] {
    let (open_mpi, mpich) = (mpi == Mpi::OpenMpi, mpi == Mpi::Mpich);
    [
        // 4.1.4: the status of a read for all does not tell of the end of the file
        ("EARLY_END_BREAKS", open_mpi),
        // 4.1.4: calls a datatype without elements invalid
        ("EMPTY_DARRAY_BREAKS", open_mpi),
        // 4.1.4: MPI_Ialltoallw in place with empty blocks hangs or is truncated:
        // `ialltoallw_in_place.c`
        ("IN_PLACE_BREAKS", open_mpi),
        // 4.1.4: in Fortran it frees lists of datatypes that it is not done with
        ("LISTS_BREAK", open_mpi && [Names::Fortran, Names::F08].contains(&names)),
        // 4.0.2: copies too few datatypes between groups, and takes every topology for a graph
        ("COPIES_BREAK", mpich && names == Names::F08),
        // 4.0.2: an assertion in broadcasts between groups that are not blocking
        ("IBCAST_BREAKS", mpich),
        // 4.0.2: its status tells nothing, and derived datatypes are freed once too often
        ("ISENDRECV_BREAKS", mpich),
        // 4.0.2: packs types with gaps and finds the message truncated
        ("REPLACE_BREAKS", mpich),
        // 4.0.2: writes that are not blocking never end with some datatypes; `single` has files
        ("FILES_BREAK", mpich),
        // 4.0.2: MPI_Neighbor_alltoallw and its kin read behind the counts where a process has more
        // neighbours on one side than on the other, and hang or not by what stands there
        ("GRAPHS_BREAK", mpich),
        // 4.0.2: persistent collectives can be started once, then they have no communicator
        ("RESTART_BREAKS", mpich),
        // 4.0.2: to ask for a request of a file does not move it
        ("ASKING_BREAKS", mpich),
    ]
}

/// Words for the compiler.
fn words(mpi: Mpi, names: Names) -> Vec<String> {
    let directory = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/tests/mpi_calls/traffic");
    let broken = broken(mpi, names).map(|(what, is)| format!("-D{what}={}", i32::from(is)));
    [directory.to_owned(), "-DROOT_IS_PEER=0".to_owned()].into_iter().chain(broken).collect()
}

fn run(program: &Program, names: Names, first: u64, n: u64, only: Option<&str>) -> Vec<String> {
    let dir = program.path("files");
    let _ = fs::create_dir(&dir);
    let (seed, number) = (first.to_string(), n.to_string());
    let mut words = vec![dir.to_str().expect("a path"), &seed, &number];
    words.extend(only);
    // One launch in three also tells why ranks wait, and one of these by which path.
    let variables =
        VARIABLES.get(first as usize / LAUNCH as usize % 6).copied().unwrap_or_default();
    let ranks = program.profiled_with(RANKS, variables, &words);
    let each = ranks.iter().enumerate().flat_map(|(i, rank)| {
        let wrong = complaints(rank, &expected(program, i), names, n == 1);
        wrong.into_iter().map(move |what| format!("rank {i}: {what}"))
    });
    each.collect()
}

/// Programs of one launch.
const LAUNCH: u64 = 5;

/// What the library is asked for beside, launch by launch.
const VARIABLES: [&[&str]; 2] =
    [&["TOPAS_MPI_WAITS=yes"], &["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=4"]];

/// Runs programs, and those one by one that are not counted as they should.
fn programs(mpi: Mpi, names: Names, first: u64, n: u64) -> Vec<String> {
    let words = words(mpi, names);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let program = Program::new(mpi, names, "#include \"traffic.c\"\n", &words);
    let only = env::var("TOPAS_TEST_TRAFFIC_ONLY").ok();
    for first in (first..first + n).step_by(LAUNCH as usize) {
        let n = LAUNCH.min(n);
        let all = run(&program, names, first, n, only.as_deref());
        if all.is_empty() {
            continue;
        }
        for seed in first..first + n {
            let one = run(&program, names, seed, 1, only.as_deref());
            if !one.is_empty() {
                let head = format!("{} {names:?} seed {seed}", mpi.name());
                return one.into_iter().map(|what| format!("{head}: {what}")).collect();
            }
        }
        return all;
    }
    println!("{} {names:?}: {n} programs from {first}", mpi.name());
    Vec::new()
}

/// What is left out of the traffic of an MPI because it fails there is no fault of the library: it
/// fails without the library, too.
#[test]
fn an_exchange_in_place_ends_with_the_library_as_without() {
    /// Codes of `timeout` where a program did not end in time.
    const LATE: [i32; 2] = [124, 137];
    const LAUNCHES: usize = 3;
    const ABORTED: [&str; 2] =
        ["MPI_ABORT was invoked", "Out of resource in file ../../../orte/util/show_help.c"];
    for mpi in Mpi::installed("exchange in place") {
        let scratch = Scratch::new();
        let program = scratch.path().join("program");
        let mut compiler = command(mpi.real("mpicc").expect("mpicc"));
        compiler.arg(source("faults/ialltoallw_in_place.c")).arg("-o").arg(&program);
        run_command(&mut compiler).good();
        let fails = |words: &[String]| {
            let mut launch = mpi.launch_bare(&scratch, RANKS);
            launch.env("TOPAS_MPI", "yes").env("TOPAS_MPI_SPOOL", scratch.path());
            launch.arg("env").args(words).arg(&program);
            let mut limited = command("timeout");
            limited.args(["-k", "5", "40"]).arg(launch.get_program()).args(launch.get_args());
            limited.envs(launch.get_envs().filter_map(|(name, value)| Some((name, value?))));
            limited.current_dir(scratch.path());
            // Open MPI's launcher sometimes does not end after it has said that a rank aborted, or failed to
            // say so, also without the library: a launch that ends decides.
            let ends = || {
                let ended = launched(&scratch, &mut limited);
                let is_late = LATE.contains(&ended.code());
                let said = ended.err();
                let aborted = ABORTED.iter().any(|words| said.contains(words));
                assert!(!is_late || aborted, "hangs: {said}");
                (!is_late).then_some(ended)
            };
            let ended = std::iter::repeat_with(ends).take(LAUNCHES).flatten().next();
            ended.unwrap_or_else(|| panic!("hangs {LAUNCHES} times: {limited:?}")).code() != 0
        };
        let without = fails(&[]);
        let preload = format!("LD_PRELOAD={}", library(Site::shared()).display());
        assert_eq!(fails(&[preload]), without, "{}", mpi.name());
        let masked = broken(mpi, Names::Plain).contains(&("IN_PLACE_BREAKS", true));
        assert!(masked || !without, "{} has to be masked in the traffic", mpi.name());
    }
}

/// The parts of the time of each routine are together no more than it.
fn judge_waits(text: &str) {
    let mut times = BTreeMap::new();
    for (key, value) in text.split_whitespace().filter_map(|word| word.split_once('=')) {
        let fields: Vec<&str> = value.split(':').collect();
        let number = |at: usize| fields[at].parse::<f64>().expect("seconds");
        match key {
            "rank" => times.clear(),
            "f" => drop(times.insert(fields[0], number(2))),
            "l" => {
                let parts: Vec<f64> = (2..fields.len()).step_by(2).map(number).collect();
                assert!(parts.iter().all(|part| *part >= 0.0), "{value}");
                let all: f64 = parts[..5].iter().sum();
                assert!(all <= times[fields[0]] + 1e-8, "{value} of {} s", times[fields[0]]);
            }
            _ => {}
        }
    }
}

/// Launches of random programs in which waits are told apart: each ends, with all data where they
/// belong, is counted to the byte, and leaves nothing.
#[test]
#[ignore = "cargo xtask test --full"]
fn launches_with_waits_end_and_are_counted_to_the_byte() {
    let test = "launches_with_waits_end_and_are_counted_to_the_byte";
    let number = |name: &str| env::var(name).ok().map(|n| n.parse::<u64>().expect(name));
    let first = number("TOPAS_TEST_TRAFFIC_SEED").unwrap_or(SEED);
    let n = number("TOPAS_TEST_TRAFFIC").unwrap_or(500);
    for mpi in Mpi::installed(test) {
        let words = words(mpi, Names::Plain);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let program = Program::new(mpi, Names::Plain, "#include \"traffic.c\"\n", &words);
        let files = program.path("files");
        fs::create_dir(&files).expect("a directory");
        let mut failing = 0;
        for seed in first..first + n {
            let head = format!("{} seed {seed}", mpi.name());
            let text = seed.to_string();
            let arguments = [files.to_str().expect("a path"), &text, "1"];
            let variables = VARIABLES[seed as usize / 3 % 2];
            let ranks = 2 + (seed % 3) as u32;
            let ended = program.launch(ranks, variables, &arguments);
            if ended.code() != 0 && program.fails_without(ranks, &arguments) {
                // An MPI's own fault, with the datatypes of such a program.
                failing += 1;
                continue;
            }
            ended.good();
            let ranks = program.counted(ranks);
            for (i, rank) in ranks.iter().enumerate() {
                let wrong = complaints(rank, &expected(&program, i), Names::Plain, true);
                assert!(wrong.is_empty(), "{head} rank {i}: {wrong:#?}");
            }
            let left = fs::read_dir(program.path("spool")).expect("a directory").count();
            assert_eq!(left, 0, "{head} left files");
            let profile = program.path("topas-mpi.out");
            judge_waits(&fs::read_to_string(&profile).expect("a profile"));
            fs::remove_file(&profile).expect("a profile");
        }
        println!("{}: {n} launches from {first}, {failing} fail without", mpi.name());
        assert!(failing * 20 <= n, "{}: {failing} of {n} fail without the library", mpi.name());
    }
}

#[test]
fn random_traffic_is_counted_to_the_byte() {
    let test = "random_traffic_is_counted_to_the_byte";
    let number = |name: &str| env::var(name).ok().map(|n| n.parse::<u64>().expect(name));
    let first = number("TOPAS_TEST_TRAFFIC_SEED").unwrap_or(SEED);
    let asked = number("TOPAS_TEST_TRAFFIC");
    if asked.is_none() {
        note(test, "more programs: TOPAS_TEST_TRAFFIC=NUMBER, TOPAS_TEST_TRAFFIC_SEED=SEED");
    }
    let mut all = Vec::new();
    for mpi in Mpi::installed(test) {
        let default = PROGRAMS.iter().find(|(of, _)| *of == mpi).map(|(_, n)| *n);
        let n = asked.or(default).expect("a number of programs");
        all.extend(programs(mpi, Names::Plain, first, n));
        for (i, names) in (1..).zip(&Names::ALL[1..]) {
            all.extend(programs(mpi, *names, first + i * n, n.div_ceil(10)));
        }
    }
    assert!(all.is_empty(), "{} complaints:\n{}", all.len(), all.join("\n"));
}
