//! Ranks that all measure, and end in different ways at the same moment: each that reaches its
//! end has its line, whatever becomes of the others and of the one that writes for them.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;
use std::{fs, thread};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use topas_tests::alone::through;
use topas_tests::build::{source, with_module};
use topas_tests::gang::Gang;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::record::{Record, read_log};
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 64;

fn gate(scratch: &Scratch) -> PathBuf {
    let program = scratch.path().join("gate");
    let mut gcc = command("gcc");
    gcc.args(["-static", "-O1"]).arg(source("c/gate.c")).arg("-o").arg(&program);
    run(gcc.arg(with_module(Site::shared(), "c.all"))).good();
    program
}

/// The lines by rank; those that a writer began and could not end are left out. Panics if a whole
/// line is not one.
fn by_rank(path: &Path, torn_allowed: usize) -> BTreeMap<u32, Vec<Record>> {
    let text = fs::read(path).unwrap_or_default();
    let mut lines: BTreeMap<u32, Vec<Record>> = BTreeMap::new();
    let mut torn = 0;
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match Record::parse(line) {
            Ok(line) => lines.entry(line.pe).or_default().push(line),
            Err(_) => torn += 1,
        }
    }
    assert!(torn <= torn_allowed, "{torn} lines that are none in {}", path.display());
    lines
}

#[test]
fn each_end_is_told() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let mut gang = Gang::new();
    for rank in 0..RANKS {
        let mut command = Gang::rank(&scratch, &program, rank, RANKS);
        match rank % 4 {
            0 => command.arg("0"),
            1 => command.arg((rank % 256).to_string()),
            2 => command.args(["0", "11"]),
            _ => command.args(["0", "15"]),
        };
        gang.start(&mut command);
    }
    let (statuses, _) = gang.release();
    let lines = by_rank(&scratch.path().join("topas.out"), 0);
    for (rank, status) in (0..RANKS).zip(statuses) {
        let (expected, told) = match rank % 4 {
            0 => (ExitStatus::from_raw(0), "exit:0".to_owned()),
            1 => (ExitStatus::from_raw((rank as i32 % 256) << 8), format!("exit:{rank}")),
            2 => (ExitStatus::from_raw(11), "sig:11".to_owned()),
            _ => (ExitStatus::from_raw(15), "sig:15".to_owned()),
        };
        // With or without a core.
        assert_eq!(status.into_raw() & !0x80, expected.into_raw(), "rank {rank}");
        let own = lines.get(&rank).unwrap_or_else(|| panic!("rank {rank} has no line"));
        assert_eq!(own.len(), 1, "rank {rank}");
        assert_eq!(own[0].extra("end"), told, "rank {rank}");
    }
}

/// SIGKILL comes to ranks at any moment of their end, so also to those that write for others.
#[test]
fn killed_ranks_take_no_line_of_others_with_them() {
    const ROUNDS: u64 = 40;
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let out = scratch.path().join("topas.out");
    let (mut killed, mut ended, mut twice, mut killed_with_line) = (0, 0, 0, 0);
    for round in 0..ROUNDS {
        let gang = Gang::of(&scratch, &program, RANKS);
        let pids: Vec<u32> = gang.ranks.iter().map(std::process::Child::id).collect();
        // A third of the ranks, by turns, one after the other while all end.
        let victims: Vec<Pid> = (0..RANKS as u64)
            .filter(|rank| (rank * 7 + round * 5) % 3 == 0)
            .map(|rank| Pid::from_raw(pids[rank as usize] as i32))
            .collect();
        let statuses = gang.release_after(|| {
            thread::sleep(Duration::from_micros(round * 50));
            for pid in victims {
                kill(pid, Signal::SIGKILL).expect("kill");
                thread::sleep(Duration::from_micros(100));
            }
        });
        // A write that was interrupted leaves one torn line.
        let lines = by_rank(&out, RANKS as usize);
        for (rank, status) in (0..RANKS).zip(statuses) {
            let own = lines.get(&rank).map_or(0, Vec::len);
            if status.code() == Some(0) {
                assert!(own >= 1, "round {round}: rank {rank} ended and has no line");
                ended += 1;
            } else {
                assert_eq!(status.signal(), Some(9), "round {round}: rank {rank}");
                killed += 1;
                killed_with_line += usize::from(own > 0);
            }
            twice += usize::from(own > 1);
        }
        let _ = fs::remove_file(&out);
        scratch.take_log();
    }
    eprintln!(
        "{ended} ranks ended, {killed} were killed, {killed_with_line} of these after they wrote; \
         {twice} lines are there twice"
    );
    assert!(killed > 0 && killed_with_line > 0 && ended > 0);
}

/// The rank that writes for others needs a descriptor for each of them at a time.
#[test]
fn few_descriptors() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    // Standard input, output and error, the socket, the file.
    for limit in 4..=8 {
        let mut gang = Gang::new();
        for rank in 0..RANKS {
            let inner = Gang::rank(&scratch, &program, rank, RANKS);
            gang.start(&mut through(&["prlimit", &format!("--nofile={limit}")], &inner));
        }
        let (statuses, time) = gang.release();
        assert!(statuses.iter().all(ExitStatus::success));
        assert!(time < Duration::from_secs(20), "{limit} descriptors: {time:?}");
        let out = scratch.path().join("topas.out");
        // With four a rank can have the socket, or the file.
        if limit > 4 {
            let lines = by_rank(&out, 0);
            assert_eq!(lines.len(), RANKS as usize, "{limit} descriptors");
            assert!(lines.values().all(|lines| lines.len() == 1), "{limit} descriptors");
        }
        let _ = fs::remove_file(&out);
    }
}

/// A write that was cut short ends the line it began, and no other.
#[test]
fn what_comes_after_half_a_line_is_whole() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let out = scratch.path().join("topas.out");
    let torn = b"2026/11/20 08:01:02 mohr heat3d 5 16 t25";
    for ranks in [1, 8] {
        fs::write(&out, torn).expect("write");
        let (statuses, _) = Gang::of(&scratch, &program, ranks).release();
        assert!(statuses.iter().all(ExitStatus::success));
        let text = fs::read(&out).expect("read");
        assert_eq!(text.split(|byte| *byte == b'\n').next(), Some(&torn[..]));
        let lines = by_rank(&out, 1);
        assert_eq!(lines.keys().copied().collect::<BTreeSet<_>>(), (0..ranks).collect());
    }
}

/// Where one rank fails its launcher ends the others: what ends by a signal that can be caught
/// has its line.
#[test]
fn a_rank_that_fails_under_open_mpi() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let all: Vec<Mpi> = Mpi::installed("a_rank_that_fails_under_open_mpi");
    for mpi in all.into_iter().filter(|mpi| *mpi == Mpi::OpenMpi) {
        let mut launch = mpi.launch(Site::shared(), &scratch, 3);
        launch.arg(&program).args(["0", "11", ":", "-n", "3"]).arg(&program);
        launch.current_dir(scratch.path());
        let ended = launched(&scratch, &mut launch);
        assert_ne!(ended.code(), 0);
        let lines = read_log(&scratch.path().join("topas.out"));
        assert!(lines.iter().any(|line| line.extra("end") == "sig:11"), "{}", ended.err());
    }
}
