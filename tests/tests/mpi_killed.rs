//! MPI profile of ranks that hung in a call and were killed: the call has its time, and is marked.

use std::fs;
use std::io::Read;
use std::mem::{offset_of, size_of};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use topas_mpi_profile::layout::now::NowLine;
use topas_mpi_profile::layout::{Block, Header};
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, library, spool_files};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const RANKS: usize = 2;

/// How long ranks hang, in s.
const HANGS: f64 = 4.0;

/// The kernel notes the second of an end, so a rank may have lived one longer.
const RESOLUTION: f64 = 1.0;

/// What slow machines add: between the signal and the end, and before the look at the calls.
const SLACK: f64 = 20.0;

/// Process of each mapped file, and the sets of semaphores by which its end, and the order of all ends, are noted, plus 1. A file
/// that has just been made, or that goes, has none.
fn lives(dir: &Path) -> Vec<(u32, [u32; 2])> {
    let life = |path: &PathBuf| {
        let mut header = [0; size_of::<Header>()];
        fs::File::open(path).and_then(|mut file| file.read_exact(&mut header)).ok()?;
        let word = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().expect("word"));
        let sets = [offset_of!(Header, life), offset_of!(Header, order)].map(word);
        Some((word(offset_of!(Header, pid)), sets))
    };
    spool_files(dir).iter().filter_map(life).collect()
}

/// What a rank does by its mapped file: its rank, the name of the function it is in, the rank that the
/// call names, and whether that is one of the world.
fn does(path: &PathBuf) -> (u32, &'static str, i32, bool) {
    let file = fs::File::open(path).expect("mapped file");
    let word = |at: u64| {
        let mut word = [0; 8];
        file.read_exact_at(&mut word, at).expect("word");
        u64::from_ne_bytes(word)
    };
    let header = |at: usize| word(at as u64);
    let line = header(offset_of!(Header, first_block)) + offset_of!(Block, now) as u64;
    let now = |at: usize| word(line + at as u64);
    let inside = now(offset_of!(NowLine, inside)) as u32;
    let function = topas_mpi_table::functions().nth(inside as usize - 1).expect("a function");
    let world = header(offset_of!(Header, comm_world));
    // Where handles are integers the upper half of a word may hold anything.
    let bits = if world > u64::from(u32::MAX) { u64::MAX } else { u32::MAX.into() };
    let peer = (now(offset_of!(NowLine, peer)) as u32).cast_signed();
    let of_world = now(offset_of!(NowLine, comm)) & bits == world;
    (header(offset_of!(Header, rank)) as u32, function.name, peer, of_world)
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The numbers of all sets of semaphores on this node.
fn semaphores() -> Vec<u32> {
    let table = fs::read_to_string("/proc/sysvipc/sem").expect("table of semaphores");
    table.lines().filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).collect()
}

#[test]
fn ranks_that_end_by_themselves_leave_no_semaphores() {
    const RANKS: usize = 5;
    for mpi in Mpi::installed("semaphores") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("killed");
        build(mpi, "mpicc", &["faults/killed.c"], &[], &program);
        let mut launch = mpi.launch_bare(&scratch, RANKS as u32);
        launch.args(places.words(&[&library(Site::shared())])).arg(&program).arg("goes");
        let mut child = launch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("launch");
        let mut own = Vec::new();
        wait_until("all ranks share a set", || {
            let sets = lives(&places.spool);
            own = sets.iter().flat_map(|(_, sets)| sets.map(|set| set.wrapping_sub(1))).collect();
            let order = own.get(1).filter(|order| semaphores().contains(order));
            sets.len() == RANKS
                && order.is_some()
                && own.iter().skip(1).step_by(2).all(|set| Some(set) == order)
        });
        assert!(child.wait().expect("end").success(), "under {}", mpi.name());
        let left = semaphores();
        assert!(!own.iter().any(|set| left.contains(set)), "{own:?} under {}", mpi.name());
    }
}

#[test]
fn a_call_that_had_not_ended_counts_until_the_rank_was_killed() {
    for mpi in Mpi::installed("killed in a call") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("hangs");
        build(mpi, "mpicc", &["faults/hangs.c"], &[], &program);
        let mut launch = mpi.launch_bare(&scratch, RANKS as u32);
        launch.args(places.words(&[&library(Site::shared())])).arg(&program);
        let mut child = launch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("launch");
        wait_until("all ranks are in Recv", || {
            let counted = places.spooled_so_far();
            counted.iter().filter(|one| one.routine("Recv").calls == 1).count() == RANKS
        });
        thread::sleep(Duration::from_secs_f64(HANGS));
        for path in spool_files(&places.spool) {
            let (rank, function, peer, of_world) = does(&path);
            let from = (rank + 1) as i32 % RANKS as i32;
            assert_eq!((function, peer, of_world), ("MPI_Recv", from, true), "{}", mpi.name());
        }
        let ranks = lives(&places.spool);
        let process = |pid: u32| Pid::from_raw(pid.cast_signed());
        for (pid, _) in &ranks {
            // The launcher may have killed the others as soon as the first one was gone.
            let result = kill(process(*pid), Signal::SIGKILL);
            assert!(matches!(result, Ok(()) | Err(Errno::ESRCH)), "{result:?}");
        }
        child.wait().expect("launcher");
        let is_there = |(pid, _): &(u32, [u32; 2])| kill(process(*pid), None).is_ok();
        wait_until("all ranks are gone", || !ranks.iter().any(is_there));
        // What happens later is no life of the ranks.
        thread::sleep(Duration::from_secs(2));
        let lives: Vec<u32> =
            ranks.iter().flat_map(|(_, sets)| sets).filter_map(|set| set.checked_sub(1)).collect();
        assert_eq!(lives.len(), 2 * RANKS, "the kernel notes the end of each, and the order");
        assert_eq!(lives[1], lives[3], "the order is noted in one set");
        assert!(lives.iter().all(|life| semaphores().contains(life)));

        let mut collect = scratch.command(Site::shared().tool("topas-mpi"));
        collect.args(["collect", "--no-log", "--spool"]).arg(&places.spool);
        run(collect.arg("--out").arg(&places.out)).good();
        assert!(!lives.iter().any(|life| semaphores().contains(life)), "they are removed");
        let text = fs::read_to_string(&places.out).expect("records");
        let fields = |of: &str, key: &str| -> Vec<Vec<String>> {
            let lines = text.lines().filter(|line| line.contains(&format!(" of={of} ")));
            let words = lines.flat_map(|line| line.split(' '));
            let values = words.filter_map(|word| word.strip_prefix(key)?.strip_prefix("=Recv:"));
            values.map(|value| value.split(':').map(str::to_owned).collect()).collect()
        };
        let hung = HANGS - RESOLUTION..HANGS + SLACK;
        for rank in fields("rank", "f") {
            let seconds: f64 = rank[1].parse().expect("seconds");
            assert!(hung.contains(&seconds), "under {}: {text}", mpi.name());
        }
        let [ref all] = fields("host", "u")[..] else { panic!("one mark: {text}") };
        assert_eq!(all[0], RANKS.to_string(), "{text}");
        let seconds: f64 = all[1].parse().expect("seconds");
        assert!(seconds >= RANKS as f64 * hung.start, "{text}");
        assert_eq!(fields("rank", "u").len(), RANKS, "{text}");

        let mut view = scratch.command(Site::shared().tool("topasview"));
        let shown = run(view.arg("--mpi").arg(&places.out)).good().out();
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("Had not ended when their ranks did: Recv 2 calls, "), "{shown}");
        assert!(!shown.contains("MPI_Finalize;"), "{shown}");
        let mut view = scratch.command(Site::shared().tool("topasview"));
        let shown = run(view.args(["--mpi", "--routines", "--no-heading"]).arg(&places.out)).good();
        assert!(shown.out().contains(" Recv* "), "{}", shown.out());
        assert!(shown.out().contains("* Had not ended when their ranks did:"), "{}", shown.out());
    }
}
