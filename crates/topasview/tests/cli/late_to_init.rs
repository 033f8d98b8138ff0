//! A rank that comes to `MPI_Init` later than the others.

use std::fmt::Write as _;

use super::{command, directory};

/// What is shown of ranks of 10 s each, of which it is told for how many seconds each ran before its first call of MPI, if
/// that is not 0, and was in `MPI_Init`.
fn shown(ranks: &[(f64, f64)], args: &[&str]) -> String {
    let mut text = String::new();
    let count = ranks.len();
    for (rank, (before, init)) in ranks.iter().enumerate() {
        let told = if *before > 0.0 { format!(" before={before}") } else { String::new() };
        let _ = writeln!(
            text,
            "2026/11/24 10:50:41 topas-mpi #0 made {count} 9eb2e2e308beb768 v=1 of=rank line=1/1 \
             t=1795517441 uid=0 end=finalize host=n1 rank={rank} pid={}{told} ranks=1 wall=10 wallmax=10 \
             mpisum={init} mpimax={init} mpimin={init} usemax={} over=0.001 thr=1 lang=c late=0 latercv=0 coll=0 \
             f=Init:1:{init}:{init}",
            100 + rank,
            10.0 - init
        );
    }
    let dir = directory(topas_testkit::with_lengths(&text));
    let file = dir.path().join("topas.out");
    let args = [args, &[file.to_str().unwrap()]].concat();
    let output = command(dir.path(), &args).env("COLUMNS", "100").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const LATE: &[(f64, f64)] = &[(0.25, 2.0), (0.5, 1.75), (0.25, 2.0), (1.75, 0.25)];

#[test]
fn the_first_sentence_names_it() {
    let text = shown(LATE, &["--mpi"]);
    let said = "Rank 3 comes to MPI_Init 1.250 s later than the others, which wait there for it for 3.750 s, 9.38% of \
                the time of all ranks. Behind MPI_Init, ranks hardly wait for each other";
    assert!(text.contains(said), "{text}");
}

#[test]
fn the_search_finds_it() {
    let text = shown(LATE, &["--why"]);
    for said in [
        "1. ranks that wait at the beginning, rank 3",
        "The ranks waited in MPI_Init for rank 3, which came there 1.250 s later than the others, for 9.4% of their \
         time, 937.5 ms per rank. It ran for 1.750 s before, the others for 333.3 ms on average.",
    ] {
        assert!(text.contains(said), "no {said:?}:\n{text}");
    }
}

/// A launcher that starts one rank after the other, or the last one late: all ran for the same time before. Two ranks
/// that are late: it is not one. Ranks that do not tell, as of older versions. A wait of less than a second, and one
/// of less than a twentieth.
#[test]
fn others_are_not_accused() {
    let cases: [(&[(f64, f64)], bool); 6] = [
        (&[(0.25, 2.0), (0.25, 1.5), (0.25, 1.0), (0.25, 0.5)], true),
        (&[(0.25, 2.0), (0.25, 2.0), (1.75, 0.5), (1.75, 0.5)], true),
        (&[(0.25, 2.0), (0.0, 2.0), (0.25, 2.0), (1.75, 0.25)], false),
        (&[(0.25, 1.0), (0.25, 1.0), (0.25, 1.0), (0.5, 0.75)], true),
        // It ran for long, but the others were not in MPI_Init meanwhile.
        (&[(0.25, 0.5), (0.25, 0.5), (0.25, 0.5), (9.0, 0.5)], true),
        (&[(0.25, 1.0), (0.25, 1.0), (0.25, 1.0), (0.75, 0.625)], true),
    ];
    for (ranks, is_known) in cases {
        let text = shown(ranks, &["--mpi"]);
        assert!(!text.contains("comes to MPI_Init"), "{ranks:?}: {text}");
        let why = shown(ranks, &["--why"]);
        assert!(!why.contains("1. "), "{ranks:?}: {why}");
        let ruled_out = why.split("Not known").next().unwrap_or_default();
        assert_eq!(
            ruled_out.contains("ranks that wait at the beginning"),
            is_known,
            "{ranks:?}: {why}"
        );
    }
}
