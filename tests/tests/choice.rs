//! Which ranks measure: always two different ones, never an edge from four ranks on, the
//! same choice on all ranks of a launch, another id for each launch.
//!
//! `TOPAS_TEST_LAUNCHES` is the number of launches under each MPI, 20 without it. From 100
//! on, each inner rank must have been chosen.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use topas_tests::build::{by_driver, plain};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::record::Record;
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::note;

/// One launch in so many runs a program that calls MPI; the others save the time.
const REAL_EVERY: u32 = 5;

fn launches() -> u32 {
    env::var("TOPAS_TEST_LAUNCHES").map_or(20, |n| n.parse().expect("TOPAS_TEST_LAUNCHES"))
}

/// The lines of one launch, by rank, after a check of what every launch has in common.
#[track_caller]
fn lines_of(scratch: &Scratch, launch: &mut Command, ranks: u32, expected: usize) -> Vec<Record> {
    launched(scratch, launch).good();
    let mut lines = scratch.take_log();
    let shown: Vec<_> = lines.iter().map(|line| line.text.clone()).collect();
    assert_eq!(lines.len(), expected, "lines of {launch:?}:\n{}", shown.join("\n"));
    lines.sort_by_key(|line| line.pe);
    for pair in lines.windows(2) {
        assert_ne!(pair[0].pe, pair[1].pe, "one rank twice:\n{}", shown.join("\n"));
        assert_eq!(pair[0].id, pair[1].id, "ids differ:\n{}", shown.join("\n"));
    }
    assert!(lines.iter().all(|line| line.npes == ranks), "number of ranks");
    lines
}

/// Ids seen and how often each rank was chosen in `count` launches of 8 ranks.
fn many(mpi: Mpi, count: u32) -> (BTreeSet<String>, [u32; 8]) {
    let site = Site::shared();
    let scratch = Scratch::new();
    let (tiny, real) = (scratch.path().join("tiny"), scratch.path().join("real"));
    plain(site, "c/no_mpi.c", false, &tiny);
    run(&mut by_driver(site, &scratch, mpi, "mpicc", "c/hello.c", &real)).good();
    let (mut ids, mut chosen) = (BTreeSet::new(), [0; 8]);
    for n in 0..count {
        let program = if n % REAL_EVERY == 0 { &real } else { &tiny };
        let lines = lines_of(&scratch, mpi.launch(site, &scratch, 8).arg(program), 8, 2);
        for line in &lines {
            assert!((1..=6).contains(&line.pe), "an edge measures: {}", line.text);
            chosen[line.pe as usize] += 1;
        }
        assert!(ids.insert(lines[0].id.clone()), "launch {n} repeats an id: {}", lines[0].text);
    }
    (ids, chosen)
}

#[test]
fn eight_ranks_many_launches() {
    let count = launches();
    let mpis = Mpi::installed("eight_ranks_many_launches");
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> =
            mpis.iter().map(|mpi| scope.spawn(move || many(*mpi, count))).collect();
        threads.into_iter().map(|thread| thread.join().expect("launches")).collect::<Vec<_>>()
    });
    let mut all = BTreeSet::new();
    for ((ids, chosen), mpi) in results.into_iter().zip(mpis) {
        for id in ids {
            assert!(all.insert(id.clone()), "id {id} under two MPIs");
        }
        if count >= 100 {
            let every = chosen[1..=6].iter().all(|times| *times > 0);
            assert!(every, "{}: times chosen by rank: {chosen:?}", mpi.name());
        } else {
            let why = format!("{count} launches tell little: cargo xtask test --full");
            note(&format!("each of ranks 1 to 6 is chosen ({})", mpi.name()), &why);
        }
    }
}

#[test]
fn few_ranks() {
    let site = Site::shared();
    let scratch = Scratch::new();
    for mpi in Mpi::installed("few_ranks") {
        let program = scratch.path().join("hello");
        run(&mut by_driver(site, &scratch, mpi, "mpicc", "c/hello.c", &program)).good();
        let lines = |ranks, expected| {
            let mut launch = mpi.launch(site, &scratch, ranks);
            let lines = lines_of(&scratch, launch.arg(&program), ranks, expected);
            lines.iter().map(|line| line.pe).collect::<Vec<_>>()
        };
        assert_eq!(lines(1, 0), [0; 0], "{}", mpi.name());
        assert_eq!(lines(2, 2), [0, 1], "{}", mpi.name());
        assert_eq!(lines(4, 2), [1, 2], "{}", mpi.name());
        for _ in 0..6 {
            let three = lines(3, 2);
            assert!(three == [0, 1] || three == [1, 2], "{}: {three:?}", mpi.name());
        }
    }
}

/// A program that is run without a launcher is one process and leaves no line.
#[test]
fn without_a_launcher_nothing_is_measured() {
    let site = Site::shared();
    let scratch = Scratch::new();
    for mpi in Mpi::installed("without_a_launcher_nothing_is_measured") {
        let program = scratch.path().join("hello");
        run(&mut by_driver(site, &scratch, mpi, "mpicc", "c/hello.c", &program)).good();
        let alone = run(&mut scratch.command(&program)).good();
        assert_eq!(alone.out(), "hello from rank 0 of 1\n", "{}", mpi.name());
        assert_eq!((alone.err().as_str(), scratch.take_log().len()), ("", 0), "{}", mpi.name());
    }
}

/// The launcher itself, without the drop-in in front: the ranks still agree.
#[test]
fn by_the_real_launcher() {
    let site = Site::shared();
    let scratch = Scratch::new();
    let program = scratch.path().join("tiny");
    plain(site, "c/no_mpi.c", false, &program);
    for mpi in Mpi::installed("by_the_real_launcher") {
        let mut last = String::new();
        for _ in 0..5 {
            let mut launch = mpi.launch_bare(&scratch, 8);
            launch.env("TOPAS_LOG", scratch.log_target()).arg(&program);
            let lines = lines_of(&scratch, &mut launch, 8, 2);
            assert!(lines.iter().all(|line| (1..=6).contains(&line.pe)), "{}", lines[0].text);
            assert_ne!(lines[0].id, last, "{}: the id of the launch before", mpi.name());
            last = lines[0].id.clone();
        }
    }
}

/// Two launches one after the other from one script, and one inside a rank of another.
#[test]
fn launches_of_a_script_and_within_a_rank() {
    let site = Site::shared();
    let scratch = Scratch::new();
    let program = scratch.path().join("tiny");
    plain(site, "c/no_mpi.c", false, &program);
    for mpi in Mpi::installed("launches_of_a_script_and_within_a_rank") {
        // Rank 0 of the outer launch starts an inner one with other numbers of ranks.
        let script = format!(
            "case ${{PMI_RANK-$OMPI_COMM_WORLD_RANK}} in 0) \
             unset $(env | sed -n 's/^\\(OMPI_[A-Za-z_]*\\|PMI[A-Z_0-9]*\\)=.*/\\1/p'); \
             export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
             OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_orte_tmpdir_base={1}; \
             mpiexec -n 6 {0};; esac; {0}",
            program.display(),
            scratch.path().display()
        );
        let mut launch = mpi.launch(site, &scratch, 4);
        launched(&scratch, launch.args(["sh", "-c", &script])).good();
        let lines = scratch.take_log();
        let of = |size| lines.iter().filter(|line| line.npes == size).collect::<Vec<_>>();
        let (outer, inner) = (of(4), of(6));
        let shown: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((outer.len(), inner.len()), (2, 2), "{}:\n{}", mpi.name(), shown.join("\n"));
        assert_eq!((&outer[0].id, &inner[0].id), (&outer[1].id, &inner[1].id));
        assert_ne!(outer[0].id, inner[0].id, "{}", mpi.name());
    }
}
