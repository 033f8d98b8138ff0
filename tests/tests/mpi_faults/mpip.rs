//! mpiP beside the library, in front of it and behind: both report, and its counts, which it takes
//! by wrappers of its own, are ours.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, build, library};
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};

use super::expected;

/// Calls by rank and routine.
type Calls = BTreeMap<(u32, String), u64>;

/// Builds mpiP for an MPI, without what it needs to name lines of sources.
fn built(sources: &Path, mpi: Mpi, scratch: &Scratch) -> PathBuf {
    let dir = scratch.path().join("mpip");
    run(command("cp").arg("-a").arg(sources).arg(&dir)).good();
    let tool = |name| mpi.real(name).expect("a driver").display().to_string();
    let mut configure = command("./configure");
    for (variable, driver) in
        [("CC", "mpicc"), ("MPICC", "mpicc"), ("F77", "mpif77"), ("FC", "mpifort")]
    {
        configure.arg(format!("{variable}={}", tool(driver)));
    }
    configure.args(["--disable-libunwind", "--disable-bfd"]).current_dir(&dir);
    run(&mut configure).good();
    run(command("make").args(["PYTHON=python3", "shared"]).current_dir(&dir)).good();
    dir.join("libmpiP.so")
}

/// Rows `NAME SITE RANK COUNT ...` of its report on times, without the sums.
fn reported(dir: &Path) -> Calls {
    let entries = fs::read_dir(dir).expect("directory of reports").flatten();
    let mut reports: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mpiP"))
        .collect();
    let report = reports.pop().expect("a report of mpiP");
    assert!(reports.is_empty(), "more reports: {reports:?}");
    let text = fs::read_to_string(&report).expect("report");
    fs::remove_file(&report).expect("remove a report");
    let rows = text.lines().skip_while(|line| !line.starts_with("@--- Callsite Time statistics"));
    let mut calls = Calls::new();
    for row in rows.skip(1).take_while(|line| !line.starts_with("@---")) {
        let words: Vec<_> = row.split_whitespace().collect();
        if let [name, _, rank, count, ..] = &words[..]
            && let (Ok(rank), Ok(count)) = (rank.parse(), count.parse::<u64>())
        {
            *calls.entry((rank, (*name).to_owned())).or_default() += count;
        }
    }
    calls
}

#[test]
#[ignore = "cargo xtask test --mpip"]
fn mpip_counts_the_same() {
    let sources = PathBuf::from(env::var_os("TOPAS_TEST_MPIP").expect("TOPAS_TEST_MPIP=DIR"));
    for mpi in Mpi::installed("mpiP") {
        let scratch = Scratch::new();
        let (ours, theirs) = (library(Site::shared()), built(&sources, mpi, &scratch));
        let program = scratch.path().join("traffic");
        build(mpi, "mpicc", &["faults/traffic.c"], &["-O1", "-w"], &program);
        let places = Places::new(&scratch);
        let launch = |loaded: &[&Path]| {
            places.clear();
            let mut launch = mpi.launch_bare(&scratch, 2);
            launch.args(places.words(loaded)).arg(&program).current_dir(scratch.path());
            launched(&scratch, &mut launch).good();
            reported(scratch.path())
        };
        let alone = launch(&[&theirs]);
        let orders = [[&*ours, &*theirs], [&*theirs, &*ours]];
        for (in_front, order) in [true, false].into_iter().zip(orders) {
            let calls = launch(&order);
            assert_eq!(calls, alone, "mpiP with the library, and alone, under {}", mpi.name());
            let counted = places.counted();
            if in_front {
                assert_eq!(expected("faults/traffic.c").faults(&counted, ""), "");
            }
            for ((rank, name), calls) in calls {
                let own = counted[rank as usize].routine(&name).calls;
                // Who comes first calls us for its own report, too, by names of the profiling
                // interface.
                let fits = if in_front { own == calls } else { own >= calls };
                assert!(fits, "{name} of rank {rank} under {}: {own}, {calls}", mpi.name());
            }
        }
    }
}
