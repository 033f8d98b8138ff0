//! The event log of programs in Fortran and with threads.

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, event_log, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

/// Programs in Fortran, and threads: every message finds its receiver.
#[test]
fn logs_of_fortran_and_of_threads_are_replayed() {
    for mpi in Mpi::installed("logs_of_fortran_and_of_threads_are_replayed") {
        for (tool, source, options, args, threads) in [
            ("mpif90", "f90/heat.f90", &["-O2"][..], &[][..], 1),
            ("mpicc", "waits/kinds.c", &["-O1", "-pthread"], &["threads", "NOTES", "20"], 2),
        ] {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let exe = scratch.path().join("program");
            build(mpi, tool, &[source], options, &exe);
            let notes = scratch.path().join("notes");
            let mut words = vec!["TOPAS_MPI_LOG=yes", exe.to_str().expect("a path")];
            let notes = notes.to_str().expect("a path");
            words.extend(args.iter().map(|word| if *word == "NOTES" { notes } else { *word }));
            profiled(mpi, &scratch, 2, &words, &places).good();
            let log = event_log(places.out.parent().expect("a directory"));
            let mut replay = scratch.command(Site::shared().tool("topas-mpi"));
            let told = run(replay.args(["replay", "--json"]).arg(&log)).good().out();
            let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
            let of = &told["messages"];
            assert!(of["sent"].as_u64().is_some_and(|sent| sent > 0), "{source}: {told:#}");
            assert_eq!(of["sent"], of["received"], "{source} under {}: {told:#}", mpi.name());
            let most = told["ranks"].as_array().expect("ranks").iter();
            let most = most.filter_map(|rank| rank["threads"].as_u64()).max();
            assert!(most >= Some(threads), "{source} under {}: {told:#}", mpi.name());
        }
    }
}
