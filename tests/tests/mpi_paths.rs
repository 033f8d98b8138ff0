//! Call paths of real programs: `topasview --mpi --paths` names the functions and lines that called
//! MPI, in C, C++ and Fortran.

use topas_tests::build::source;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 3;

/// A function, and a text in the line from which it calls.
type Caller = (&'static str, &'static str);

/// A program, and what must be told of it: routine, calls of all ranks, and the callers.
struct Case {
    compiler: &'static str,
    file: &'static str,
    paths: &'static [(&'static str, u32, &'static [Caller])],
}

const CASES: [Case; 3] = [
    Case {
        compiler: "mpicc",
        file: "halo.c",
        paths: &[
            (
                "MPI_Allreduce",
                50 * RANKS,
                &[("sum", "MPI_Allreduce("), ("solve", "x += sum"), ("main", "= solve(50)")],
            ),
            (
                "MPI_Waitall",
                50 * RANKS,
                &[
                    ("exchange", "MPI_Waitall("),
                    ("solve", "exchange(100)"),
                    ("main", "= solve(50)"),
                ],
            ),
            ("MPI_Waitall", RANKS, &[("exchange", "MPI_Waitall("), ("main", "exchange(7)")]),
            ("MPI_Finalize", RANKS, &[("main", "MPI_Finalize(")]),
        ],
    },
    Case {
        compiler: "mpicxx",
        file: "halo.cc",
        paths: &[(
            "MPI_Sendrecv_replace",
            25 * RANKS,
            &[("Ring::exchange", "MPI_Sendrecv_replace("), ("operator()", "grid.exchange(halo)")],
        )],
    },
    Case {
        compiler: "mpif90",
        file: "halo.f90",
        paths: &[
            (
                "MPI_Allreduce",
                20 * RANKS,
                &[
                    ("halo::refine", "call MPI_Allreduce("),
                    ("halo::refine", "call refine(level"),
                    ("cascade", "call refine(3)"),
                ],
            ),
            ("MPI_Barrier", RANKS, &[("cascade", "call MPI_Barrier(")]),
        ],
    },
];

/// The number of the line with this text.
fn line(text: &str, with: &str) -> usize {
    let found = text.lines().position(|line| line.contains(with));
    found.unwrap_or_else(|| panic!("no line with {with}")) + 1
}

#[test]
fn callers_are_those_of_the_source() {
    for mpi in Mpi::installed("callers_are_those_of_the_source") {
        for case in &CASES {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let exe = scratch.path().join("halo");
            let name = format!("paths/{}", case.file);
            build(mpi, case.compiler, &[&name], &["-O2", "-g", "-fomit-frame-pointer"], &exe);
            let words = ["TOPAS_MPI_PATHS=yes", exe.to_str().expect("path")];
            profiled(mpi, &scratch, RANKS, &words, &places).good();
            let shown = view(&scratch, &places, &["--csv", "--paths"]);
            let text = std::fs::read_to_string(source(&name)).expect("a source");
            for (routine, calls, callers) in case.paths {
                let waits = shown.lines().next().is_some_and(|row| row.contains("late_sender"));
                let at = |row: &&str| {
                    // The columns of waits are the last five.
                    let row = if waits { row.rsplitn(6, ',').last().unwrap_or(row) } else { row };
                    let cells: Vec<&str> = row.splitn(9, ',').collect();
                    let place = |(function, with): &(&str, &str)| {
                        cells[8].contains(function)
                            && cells[8].contains(&format!("({}:{})", case.file, line(&text, with)))
                    };
                    let first = format!("{}:{})", case.file, line(&text, callers[0].1));
                    format!("MPI_{}", cells[1]) == *routine
                        && cells[3] == RANKS.to_string()
                        && cells[4] == calls.to_string()
                        && cells[8].split(" < ").next().is_some_and(|c| c.ends_with(&first))
                        && callers.iter().all(place)
                        // Of C++ the frames of templates stand between them.
                        && (case.file.ends_with(".cc")
                            || cells[8].split(" < ").count() == callers.len())
                };
                let found = shown.lines().filter(at).count();
                assert_eq!(found, 1, "{routine} of {} under {}: {shown}", case.file, mpi.name());
            }
            // Nothing is counted twice, and nothing is left out.
            let routines = view(&scratch, &places, &["--csv", "--routines"]);
            for (routine, ..) in case.paths {
                let sum: u64 = shown
                    .lines()
                    .map(|row| row.splitn(9, ',').collect::<Vec<_>>())
                    .filter(|cells| format!("MPI_{}", cells[1]) == *routine)
                    .map(|cells| cells[4].parse::<u64>().expect("calls"))
                    .sum();
                let row = format!("{},", routine.trim_start_matches("MPI_"));
                let told = routines.lines().find(|line| line.starts_with(&row));
                let told = told.unwrap_or_else(|| panic!("{routine}: {routines}"));
                assert!(told.split(',').any(|cell| cell == sum.to_string()), "{sum}: {told}");
            }
        }
    }
}

/// `topasview --mpi` of the user's data file.
fn view(scratch: &Scratch, places: &Places, args: &[&str]) -> String {
    let mut view = scratch.command(Site::shared().tool("topasview"));
    view.env("LC_ALL", "C.UTF-8").arg("--mpi").args(args).arg(&places.out);
    run(&mut view).good().out()
}

/// An executable that has gone, or is another one by now, is told as file and offset, and why.
#[test]
fn an_executable_that_has_changed_is_not_believed() {
    for mpi in Mpi::installed("an_executable_that_has_changed_is_not_believed") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let exe = scratch.path().join("halo");
        build(mpi, "mpicc", &["paths/halo.c"], &["-O2", "-g"], &exe);
        let words = ["TOPAS_MPI_PATHS=4", exe.to_str().expect("path")];
        profiled(mpi, &scratch, RANKS, &words, &places).good();
        build(mpi, "mpicc", &["paths/halo.c"], &["-O1", "-g"], &exe);
        // Sentences are broken into lines where the width of the terminal wants it.
        let shown = || {
            let text = view(&scratch, &places, &["--paths"]);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let changed = shown();
        assert!(changed.contains("its file is not the one that ran"), "{changed}");
        assert!(!changed.contains("halo.c:"), "{changed}");
        assert!(changed.contains("halo+0x"), "{changed}");
        std::fs::remove_file(&exe).expect("remove");
        let gone = shown();
        assert!(gone.contains("its file is not here") && gone.contains("halo+0x"), "{gone}");
    }
}
