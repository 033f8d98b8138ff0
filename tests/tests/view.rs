//! `topasview` on topas.out of real runs: an imbalance that was put in is what it points at.

use std::process::Command;

use topas_tests::build::source;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::running::{Run, run};
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 8;

/// `topasview` in the directory where the program ran.
fn view(scratch: &Scratch, args: &[&str]) -> Run {
    let mut view: Command = scratch.command(Site::shared().tool("topasview"));
    run(view.current_dir(scratch.path()).args(args)).good()
}

#[test]
fn a_rank_with_more_work_stands_out() {
    let site = Site::shared();
    for mpi in Mpi::installed("a_rank_with_more_work_stands_out") {
        let scratch = Scratch::new();
        let program = scratch.path().join("uneven");
        let mut topas = mpi.driver(site, &scratch, site.tool("topas").to_str().unwrap());
        topas.env("PATH", format!("{}:/usr/bin:/bin", mpi.tools().display()));
        run(topas.arg("mpicc").arg(source("c/uneven.c")).arg("-o").arg(&program)).good();
        let mut launch = mpi.launch(site, &scratch, RANKS);
        launch.arg(&program).args(["0.2", "5", "4"]).current_dir(scratch.path());
        launched(&scratch, &mut launch).good();

        let table = view(&scratch, &[]);
        assert_eq!(table.err(), "");
        let out = table.out();
        assert!(out.starts_with("uneven of "), "{out}");
        assert!(out.contains(&format!(", {RANKS} PEs on ")), "{out}");
        let rows = view(&scratch, &["--raw", "--no-heading"]).out();
        assert_eq!(rows.lines().count(), 2 + RANKS as usize, "{rows}");
        assert!(out.contains("\nPE 5 stands out: CPU time "), "{}: {out}", mpi.name());

        let worst = view(&scratch, &["--csv", "--sort", "cpu", "--top", "1"]).out();
        let row: Vec<&str> = worst.lines().nth(1).unwrap().split(',').collect();
        assert_eq!(row[0], "5");
        let busy: f64 = row[6].parse::<f64>().unwrap() + row[7].parse::<f64>().unwrap();
        assert!((4.2..30.0).contains(&busy), "{worst}");
    }
}
