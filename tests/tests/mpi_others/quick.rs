//! Programs that Debian has as packages: the testers of ScaLAPACK and of BLACS in Fortran and C,
//! for both MPIs, and what comes with mpi4py.

use std::fs;
use std::path::Path;

use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::running::{command, run};
use topas_tests::skip::{note, skip};

use super::Side;

/// Testers of ScaLAPACK that are done with the input of their package in seconds.
const TESTERS: [&str; 6] = ["xdlu", "xdllt", "xdqr", "xdtrd", "xdinv", "xzlu"];

/// What they say without times and rates: numbers of the problem, and the verdict.
fn verdicts(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.contains("PASSED") || line.contains(' '));
    let whole = |word: &&str| !word.contains('.') || word.parse::<f64>().is_err();
    lines.map(|line| line.split_whitespace().filter(whole).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn scalapack_passes_its_tests() {
    let test = "scalapack_passes_its_tests";
    for mpi in Mpi::installed(test) {
        let dir = format!("/usr/lib/x86_64-linux-gnu/scalapack/{}-tests", mpi.name());
        if !Path::new(&dir).exists() {
            skip(test, &format!("no {dir}: Debian's scalapack-mpi-test is not installed"));
            continue;
        }
        let (mut passed, mut calls) = (0, 0);
        for tester in TESTERS {
            let [without, with] = [Side::without(mpi), Side::with(mpi)].map(|side| {
                for entry in fs::read_dir("/usr/share/scalapack").expect("input").flatten() {
                    if entry.path().is_file() {
                        fs::copy(entry.path(), side.scratch.path().join(entry.file_name()))
                            .expect("copy");
                    }
                }
                let mut launch = side.launch(2);
                launch.env("OPENBLAS_NUM_THREADS", "1").arg(format!("{dir}/{tester}"));
                let ended = launched(&side.scratch, &mut launch).good();
                if let Some(places) = &side.places {
                    let ranks = places.counted();
                    assert_eq!(ranks.len(), 2, "{tester} under {}: ranks", mpi.name());
                    calls += ranks.iter().map(|rank| rank.routine("mpi").calls).sum::<u64>();
                }
                ended
            });
            let case = format!("{tester} under {}", mpi.name());
            assert_eq!(verdicts(&with.out()), verdicts(&without.out()), "{case}");
            assert_eq!(with.err(), without.err(), "{case}");
            let of_tester = with.out().matches(" PASSED").count();
            assert!(of_tester > 0, "{case} passed nothing:\n{}", with.out());
            passed += of_tester;
        }
        assert!(calls > 1_000, "{calls} calls only under {}", mpi.name());
        note(test, &format!("{passed} tests passed under {}, {calls} calls", mpi.name()));
    }
}

/// Python: programs that come with Debian's mpi4py, which stands on Open MPI.
#[test]
fn programs_of_mpi4py_are_the_same() {
    let test = "programs_of_mpi4py_are_the_same";
    let found = run(command("python3").args(["-c", "import mpi4py.bench"]));
    if found.code() != 0 || Mpi::OpenMpi.real("mpiexec").is_none() {
        return skip(test, "mpi4py is not installed, or no Open MPI");
    }
    for (words, routines) in [
        (&["helloworld", "-q"][..], &["Get_processor_name"][..]),
        (&["ringtest", "-q", "-n", "1000", "-s", "100"], &["Send", "Recv"]),
        (&["ringtest", "-q", "-l", "500", "-s", "0"], &["Send", "Recv"]),
    ] {
        let [without, with] = [Side::without(Mpi::OpenMpi), Side::with(Mpi::OpenMpi)].map(|side| {
            let mut launch = side.launch(3);
            launch.args(["python3", "-m", "mpi4py.bench"]).args(words);
            let ended = launched(&side.scratch, &mut launch).good();
            (ended, side)
        });
        assert_eq!(with.0.out(), without.0.out(), "{words:?}");
        assert_eq!(with.0.err(), without.0.err(), "{words:?}");
        let ranks = with.1.places.expect("with the library").counted();
        assert_eq!(ranks.len(), 3, "{words:?}: ranks");
        for (rank, routine) in ranks.iter().flat_map(|rank| routines.iter().map(move |r| (rank, r)))
        {
            assert!(rank.routine(routine).calls > 0, "{words:?}: {routine} of {}", rank.rank);
        }
    }
}
