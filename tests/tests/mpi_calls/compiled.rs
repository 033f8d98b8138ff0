//! Collectives of a program that a compiler of Fortran made, by both modules: what their buffers
//! are passed as is the compiler's own.

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, Routine, bare, compiler, profiled};
use topas_tests::running::run;
use topas_tests::site::Scratch;

/// Processes of `compiled.f90`.
const RANKS: u32 = 4;

/// Its root.
const ROOT: u64 = 1;

/// Calls, sum of the count arguments, messages and bytes out, messages and bytes in.
type Numbers = [u64; 6];

/// What a process counts. `sections` if one more broadcast is of every other element.
fn expected(rank: u64, sections: bool) -> [(&'static str, Numbers); 15] {
    let root = u64::from(rank == ROOT);
    let other = 1 - root;
    // MPICH hands a section to C as one element of a type made for it.
    let (casts, elements, bytes) = if sections { (2, 5 + 1, 40 + 16) } else { (1, 5, 40) };
    [
        ("Init", [1, 0, 0, 0, 0, 0]),
        ("Comm_rank", [1, 0, 0, 0, 0, 0]),
        ("Comm_size", [1, 0, 0, 0, 0, 0]),
        ("Bcast", [casts, elements, casts * root, bytes * root, casts * other, bytes * other]),
        ("Allreduce", [2, 5 + 2, 2, 40 + 16, 2, 40 + 16]),
        // In place nothing of the root moves the second time.
        ("Gather", [2, 3 + 3 * other, 1 + other, 12 + 12 * other, 2 * root, (48 + 36) * root]),
        ("Gatherv", [1, rank, 1, 4 * rank, root, 24 * root]),
        ("Scatter", [1, 3, root, 48 * root, 1, 12]),
        ("Alltoall", [1, 2, 1, 32, 1, 32]),
        ("Alltoallv", [1, 0, 1, 24, 1, 16 * rank]),
        ("Alltoallw", [1, 0, 1, 24, 1, 16 * rank]),
        ("Reduce", [1, 3, 1, 12, root, 12 * root]),
        ("Scan", [1, 3, 1, 12, 1, 12]),
        ("Ibcast", [1, 5, root, 40 * root, other, 40 * other]),
        ("Wait", [1, 0, 0, 0, 0, 0]),
    ]
}

fn numbers(r: &Routine) -> Numbers {
    [r.calls, r.count, r.sends, r.sent, r.receives, r.received]
}

#[test]
fn what_a_compiler_of_fortran_makes_is_counted_to_the_byte() {
    let mut complaints = Vec::new();
    for mpi in Mpi::installed("what_a_compiler_of_fortran_makes_is_counted_to_the_byte") {
        for (language, word) in [("f08", "-DF08"), ("mpifh", "-DMPI")] {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let path = scratch.path().join("compiled");
            let mut compiler = compiler(mpi, "mpifort");
            compiler.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mpi_calls/compiled.f90"));
            // The module `mpi` of MPICH knows no buffers of any type.
            compiler.args(["-cpp", "-g", "-w", "-fallow-argument-mismatch", word, "-o"]);
            run(compiler.arg(&path)).good();
            let program = [path.to_str().expect("a path")];
            let without = bare(mpi, &scratch, RANKS, &program).good().out();
            let with = profiled(mpi, &scratch, RANKS, &program, &places).good().out();
            assert_eq!(with, without, "{} {language}", mpi.name());
            let sections = with.contains("broadcasts 2");
            assert_eq!(sections, (mpi, language) == (Mpi::Mpich, "f08"), "{}", mpi.name());
            let ranks = places.counted();
            assert_eq!(ranks.len(), RANKS as usize, "{} {language}", mpi.name());
            for counted in ranks {
                let mut complain = |what: String| {
                    let rank = counted.rank;
                    complaints.push(format!("{} {language} rank {rank}: {what}", mpi.name()));
                };
                if counted.languages != language {
                    complain(format!("languages {}", counted.languages));
                }
                if !counted.missed.is_empty() {
                    complain(format!("missed {:?}", counted.missed));
                }
                let expected = expected(counted.rank.into(), sections);
                let mut names: Vec<_> = expected.iter().map(|(name, _)| *name).collect();
                names.push("Finalize");
                for name in counted.routines.keys().filter(|n| !names.contains(&n.as_str())) {
                    complain(format!("{name}: never called"));
                }
                for (name, wanted) in expected {
                    let got = numbers(&counted.routine(name));
                    if got != wanted {
                        complain(format!("{name}: {wanted:?}, counted {got:?}"));
                    }
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
