//! Waits in `MPI_Finalize`, and in functions that free what ranks share, in programs that note themselves when they
//! came: the seconds of the profile are those of the notes.

use topas_tests::launched_again::launched_again;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::waits::{holds, holds_on, profile, under_each, view};

#[test]
fn waits_at_ends_are_those_that_the_program_noted() {
    for mpi in Mpi::installed("waits_at_ends_are_those_that_the_program_noted") {
        let scratch = Scratch::new();
        let [program, fortran] = ["ends", "ends_f"].map(|name| scratch.path().join(name));
        build(mpi, "mpicc", &["waits/ends.c"], &["-O1"], &program);
        build(mpi, "mpifort", &["waits/ends.f90"], &["-O1"], &fortran);
        let [program, fortran] = [&program, &fortran].map(|path| path.to_str().expect("path"));
        holds(mpi, program, "finalize", 3, 100);
        let text = holds(mpi, fortran, "fortran", 2, 100);
        let found = profile(&text)[&(1, "Finalize".to_owned())];
        assert!(found.waits[2] > 0.09, "under {}: {found:?}", mpi.name());
        for case in ["files", "windows"] {
            let text = holds(mpi, program, case, 3, 12);
            // Each rank is late in a third of the rounds, and the two others wait for it.
            let routine = if case == "files" { "File_close" } else { "Win_free" };
            for rank in 0..3 {
                let found = profile(&text)[&(rank, routine.to_owned())];
                assert!(found.waits[2] > 0.08, "{case} under {}: {found:?}", mpi.name());
            }
        }
        holds(mpi, program, "communicators", 3, 12);
    }
}

/// The same with ranks on several hosts, whose clocks differ by 1,234 s and 20 ppm.
#[test]
fn waits_at_ends_between_hosts_are_those_that_the_program_noted() {
    under_each(
        Mpi::installed_with("waits_at_ends_between_hosts", &["unshare", "hostname"]),
        "ends",
        |mpi, program| {
            for (case, hosts, ranks, rounds) in
                [("finalize", 2, 2, 100), ("finalize", 2, 3, 100), ("files", 2, 3, 12)]
            {
                let text = holds_on(mpi, Some(hosts), &[], program, case, ranks, rounds);
                if case == "finalize" {
                    let found = profile(&text)[&(1, "Finalize".to_owned())];
                    assert!(found.waits[2] > 0.005, "{case} under {}: {found:?}", mpi.name());
                }
            }
        },
    );
}

/// A rank that comes late to the end of the program is named, with the line from which it comes. Where others take the
/// processors, more than one may wait there.
#[test]
fn the_last_rank_of_all_is_named() {
    for mpi in Mpi::installed("the_last_rank_of_all_is_named") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("ends");
        build(mpi, "mpicc", &["waits/ends.c"], &["-O1", "-g"], &program);
        let notes = scratch.path().join("notes");
        let [program, notes] = [&program, &notes].map(|path| path.to_str().expect("path"));
        let variables = ["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes"];
        let words = [&variables[..], &[program, "finalize", notes, "2000"]].concat();
        launched_again(|| {
            places.clear();
            profiled(mpi, &scratch, 3, &words, &places).good();
            for args in [&[][..], &["--waits"]] {
                let shown = view(&scratch, &places.out, args);
                let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
                for said in [
                    " s for rank 0, ",
                    "mostly in Finalize because it comes there last.",
                    "They wait for it in Finalize, from main (ends.c:",
                ] {
                    if !text.contains(said) {
                        return Err(format!(
                            "no {said:?}, {args:?} under {}:\n{shown}",
                            mpi.name()
                        ));
                    }
                }
            }
            let mut why = scratch.command(Site::shared().tool("topasview"));
            let told = run(why.args(["--why", "--json"]).arg(&places.out)).good().out();
            let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
            // If others took the processors, what is found is told as perhaps because of them.
            let lists = ["findings", "unsure"].map(|list| told[list].as_array().expect("a list"));
            let first = lists.into_iter().flatten().next().expect("a finding");
            let is_right = first["rule"] == "late-to-finalize" && first["where"] == "rank 0";
            if is_right { Ok(()) } else { Err(format!("under {}: {told:#}", mpi.name())) }
        });
    }
}
