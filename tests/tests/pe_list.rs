//! `TOPAS_PE`: ranks by name, and one clear message where the list makes no sense.

use std::process::Command;

use topas_tests::build::plain;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::record::Record;
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 8;

/// A launch of 8 ranks with a list: standard error and the lines by rank.
fn launch(mpi: Mpi, scratch: &Scratch, set: impl Fn(&mut Command)) -> (String, Vec<Record>) {
    let site = Site::shared();
    let program = scratch.path().join("tiny");
    if !program.exists() {
        plain(site, "c/no_mpi.c", false, &program);
    }
    let mut launch = mpi.launch(site, scratch, RANKS);
    launch.arg(&program);
    set(&mut launch);
    let run = launched(scratch, &mut launch).good();
    assert_eq!(run.out(), "no MPI here\n".repeat(RANKS as usize), "{launch:?}");
    let mut lines = scratch.take_log();
    lines.sort_by_key(|line| line.pe);
    (run.err(), lines)
}

fn ranks(lines: &[Record]) -> Vec<u32> {
    lines.iter().map(|line| line.pe).collect()
}

#[test]
fn ranks_by_name() {
    let scratch = Scratch::new();
    let sixteen: Vec<String> = (0..RANKS).map(|rank| rank.to_string()).collect();
    for mpi in Mpi::installed("ranks_by_name") {
        for (list, expected) in [
            ("3,7", vec![3, 7]),
            ("7,3", vec![3, 7]),
            ("0", vec![0]),
            ("5", vec![5]),
            ("0,1,7", vec![0, 1, 7]),
            ("007", vec![7]),
            (&sixteen.join(","), (0..RANKS).collect()),
        ] {
            let (err, lines) = launch(mpi, &scratch, |c| {
                c.env("TOPAS_PE", list);
            });
            assert_eq!(ranks(&lines), expected, "{} TOPAS_PE={list}", mpi.name());
            assert_eq!(err, "", "{} TOPAS_PE={list}", mpi.name());
        }
    }
}

/// Which of the named ranks counts what: the lowest floating point, the others integers.
#[test]
fn operations_alternate_from_the_lowest_named_rank() {
    let scratch = Scratch::new();
    for mpi in Mpi::installed("operations_alternate_from_the_lowest_named_rank") {
        let (_, lines) = launch(mpi, &scratch, |c| {
            c.env("TOPAS_PE", "7,3").env("TOPAS_OPS", "both");
        });
        let letters: Vec<_> = lines.iter().map(|line| line.metric.letter()).collect();
        assert_eq!(letters, [b'f', b'i'], "{}", mpi.name());
    }
}

#[test]
fn lists_that_make_no_sense() {
    let scratch = Scratch::new();
    let digits = "9".repeat(4096);
    let commas = "1,".repeat(2048);
    for mpi in Mpi::installed("lists_that_make_no_sense") {
        for (list, part) in [
            ("8", "names a rank this run lacks"),
            ("3,8", "names a rank this run lacks"),
            ("4294967299", "names a rank this run lacks"),
            ("18446744073709551619", "names a rank this run lacks"),
            (digits.as_str(), "names a rank this run lacks"),
            ("3,3", "names a rank twice"),
            (commas.as_str(), "names a rank twice"),
            ("", "is no list of ranks"),
            ("abc", "is no list of ranks"),
            ("3,,7", "is no list of ranks"),
            ("3,7,", "is no list of ranks"),
            (",3", "is no list of ranks"),
            ("-1", "is no list of ranks"),
            ("+3", "is no list of ranks"),
            ("0x3", "is no list of ranks"),
            ("3, 7", "is no list of ranks"),
            ("3-7", "is no list of ranks"),
            ("3 7", "is no list of ranks"),
            ("3\n7", "is no list of ranks"),
        ] {
            let (err, lines) = launch(mpi, &scratch, |c| {
                c.env("TOPAS_PE", list);
            });
            let case = format!("{} TOPAS_PE={list:.20}: {err}", mpi.name());
            let said: Vec<&str> = err.lines().collect();
            assert_eq!(said.len(), 1, "not one line on standard error: {case}");
            assert!(said[0].starts_with("topas: TOPAS_PE"), "{case}");
            let visible = list.get(..20).unwrap_or(list);
            assert!(visible.contains('\n') || said[0].contains(visible), "{case}");
            assert!(said[0].contains(part) && said[0].contains("at random"), "{case}");
            assert!(said[0].len() < 300, "{case}");
            let chosen = ranks(&lines);
            assert_eq!(chosen.len(), 2, "{case}");
            assert!(chosen[0] != chosen[1] && chosen.iter().all(|r| (1..=6).contains(r)), "{case}");
        }
    }
}

/// Nobody has a reason to name so many, and nothing is lost if they do.
#[test]
fn twenty_ranks() {
    let site = Site::shared();
    let scratch = Scratch::new();
    let program = scratch.path().join("tiny");
    plain(site, "c/no_mpi.c", false, &program);
    let list: Vec<String> = (0..20).rev().map(|rank: u32| rank.to_string()).collect();
    for mpi in Mpi::installed("twenty_ranks") {
        let mut launch = mpi.launch(site, &scratch, 21);
        launch.arg(&program).env("TOPAS_PE", list.join(","));
        let run = launched(&scratch, &mut launch).good();
        let mut lines = scratch.take_log();
        lines.sort_by_key(|line| line.pe);
        assert_eq!((run.err().as_str(), ranks(&lines)), ("", (0..20).collect()));
    }
}
