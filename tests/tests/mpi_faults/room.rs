//! Where there is no room for the counters, or less than the library would like.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use topas_tests::alone::{can_mount, in_namespace};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, alike, library, spool_files};
use topas_tests::running::Run;
use topas_tests::site::Site;
use topas_tests::skip::skip;
use topas_tests::small_disk::SmallDisk;

use super::{FaultProgram, text};

/// Runs a program after a shell's `before`, without the library and with it, its mapped files in
/// `spool`. Panics unless both end and say the same.
#[track_caller]
fn alike_after(program: &FaultProgram, before: &str, spool: &Path, places: &Places) -> Run {
    let script = format!("{before} exec {}", text(&program.path));
    let run_by = |words: Vec<String>| {
        let mut launch = program.mpi.launch_bare(&program.scratch, program.expected.ranks);
        launch.args(words).args(["sh", "-c", &script]).current_dir(program.scratch.path());
        launched(&program.scratch, &mut launch)
    };
    let without = run_by(vec!["env".to_owned()]).good();
    let mut words = places.words(&[]);
    words.retain(|word| !word.starts_with("LD_PRELOAD=") && !word.starts_with("TOPAS_MPI_SPOOL="));
    words.push(format!("TOPAS_MPI_SPOOL={}", spool.display()));
    // For the program alone: limits are meant for it.
    let library = library(Site::shared());
    let script = format!("{before} LD_PRELOAD={} exec {}", library.display(), text(&program.path));
    let mut launch = program.mpi.launch_bare(&program.scratch, program.expected.ranks);
    launch.args(words).args(["sh", "-c", &script]).current_dir(program.scratch.path());
    let with = launched(&program.scratch, &mut launch).good();
    alike(&without, &with);
    with
}

fn traffic(mpi: Mpi) -> (FaultProgram, Places) {
    let program = FaultProgram::new(mpi, "mpicc", "traffic.c", &["-O1", "-w"]);
    let places = Places::new(&program.scratch);
    (program, places)
}

#[track_caller]
fn judged(program: &FaultProgram, places: &Places) {
    assert_eq!(program.expected.faults(&places.counted(), ""), "", "under {}", program.mpi.name());
}

#[test]
fn limits_of_files_and_addresses_are_the_program_s() {
    for mpi in Mpi::installed("limits") {
        // In 512 B and in kB: less than a mapped file might grow to, and hardly more than MPIs
        // need.
        for before in ["ulimit -f 60000;", "ulimit -v 4000000;"] {
            let (program, places) = traffic(mpi);
            alike_after(&program, before, &places.spool, &places);
            judged(&program, &places);
        }
    }
}

#[test]
fn a_spool_that_is_not_there_or_closed() {
    for mpi in Mpi::installed("closed spool") {
        let (program, places) = traffic(mpi);
        let closed = program.scratch.sub("closed");
        fs::set_permissions(&closed, Permissions::from_mode(0o500)).expect("mode");
        for spool in [
            Path::new("/nonexistent/spool"),
            Path::new("/proc/self"),
            Path::new("relative"),
            &closed,
        ] {
            alike_after(&program, "", spool, &places);
            // Elsewhere, or in memory.
            judged(&program, &places);
            fs::remove_file(&places.out).expect("data file");
        }
    }
}

/// The counters are in memory of the ranks. UCX, below MPICH, does not run on such a node.
#[test]
fn a_node_without_memory_files() {
    let test = "no /dev/shm";
    if !can_mount(test) {
        return;
    }
    for mpi in Mpi::installed(test).into_iter().filter(|mpi| *mpi == Mpi::OpenMpi) {
        let (program, places) = traffic(mpi);
        let script = "mount -t tmpfs -o ro none /dev/shm && \
            { ! test -d /run/topas || mount -t tmpfs -o ro none /run/topas; }";
        let launch = |words: Vec<String>| {
            let mut launch = mpi.launch_bare(&program.scratch, program.expected.ranks);
            launch.args(words).arg(&program.path).current_dir(program.scratch.path());
            let nowhere = Path::new("/");
            launched(&program.scratch, &mut in_namespace(script, [nowhere, nowhere], &launch))
                .good()
        };
        let without = launch(vec!["env".to_owned()]);
        let mut words = places.words(&[&library(Site::shared())]);
        words.retain(|word| !word.starts_with("TOPAS_MPI_SPOOL="));
        alike(&without, &launch(words));
        judged(&program, &places);
    }
}

/// A file system of its own, full or nearly so: nothing must be touched that has no room.
#[test]
fn a_full_file_system() {
    let test = "a full file system";
    for mpi in Mpi::installed(test) {
        for (size, left) in [("64k", 0), ("64k", 40_000), ("400k", 400_000), ("4m", 3_000_000)] {
            let (program, places) = traffic(mpi);
            let dir = program.scratch.sub("small");
            let options = format!("size={size},mode=1777");
            let Some(disk) = SmallDisk::mount(&dir, &options) else {
                return skip(test, "no file system can be mounted");
            };
            disk.leave(left);
            alike_after(&program, "", &dir, &places);
            let left_over = spool_files(&dir).len();
            drop(disk);
            judged(&program, &places);
            assert_eq!(left_over, 0, "mapped files with {left} B free of {size}");
        }
    }
}

/// Hundreds of threads while the file system fills up: those that found room are counted, and what
/// was not is told.
#[test]
fn a_file_system_that_fills_while_threads_begin() {
    let test = "a file system that fills";
    for mpi in Mpi::installed(test) {
        let options = ["-O1", "-w", "-pthread"];
        let program = FaultProgram::new(mpi, "mpicc", "threads.c", &options);
        let places = Places::new(&program.scratch);
        let dir = program.scratch.sub("small");
        let Some(disk) = SmallDisk::mount(&dir, "size=500k,mode=1777") else {
            return skip(test, "no file system can be mounted");
        };
        alike_after(&program, "", &dir, &places);
        drop(disk);
        let counted = places.counted();
        let calls: u64 = counted.iter().map(|one| one.routine("Allreduce").calls).sum();
        assert!(calls < 800_000, "{calls} calls in 500 kB of two ranks");
        assert!(
            counted.iter().any(|one| one.missed.iter().any(|word| word == "threads")),
            "not said: {counted:?}"
        );
    }
}
