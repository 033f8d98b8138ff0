//! `topas-stat --runs`, `--job` and `--run` on real launches: what ran is what is told.

use std::thread;
use std::time::Duration;

use serde_json::Value;
use topas_tests::build::by_driver;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, library};
use topas_tests::record::read_log;
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 4;

#[test]
fn real_runs_are_told() {
    for mpi in Mpi::installed("real_runs_are_told") {
        let (scratch, site) = (Scratch::new(), Site::shared());
        let places = Places::new(&scratch);
        let ring = scratch.path().join("ring");
        run(&mut by_driver(site, &scratch, mpi, "mpicc", "output/ring.c", &ring)).good();
        // Three launches, of which the last has an MPI profile; ends are whole seconds.
        for profiled in [false, false, true] {
            let mut launch = mpi.launch(site, &scratch, RANKS);
            launch.current_dir(scratch.path());
            if profiled {
                launch.args(places.words(&[&library(site)]));
            }
            launched(&scratch, launch.arg(&ring)).good();
            thread::sleep(Duration::from_millis(1100));
        }
        let lines = read_log(&scratch.log());
        assert_eq!(lines.len(), 6, "two lines of each launch under {}", mpi.name());
        let last = lines[5].id.clone();
        let stat = |arguments: &[&str]| {
            let mut stat = scratch.command(site.tool("topas-stat"));
            stat.args(arguments).arg(scratch.log()).arg(&places.out);
            run(&mut stat).good().out()
        };

        let told = stat(&["--run", &last]);
        let sentences = told.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            " ran on 4 PEs for ",
            " and ended normally (exit:0).",
            "% of the time of 4 ranks was spent in MPI",
            " 2 earlier runs of ring by ",
            "2 PEs of 4 were not measured, by design: rates are of the PEs",
            if mpi == Mpi::OpenMpi { ", Open MPI " } else { ", MPICH " },
        ] {
            assert!(sentences.contains(words), "no '{words}' under {}: {told}", mpi.name());
        }
        assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
        let first = stat(&["--run", &lines[0].id]);
        assert!(first.contains("no earlier run of ring"), "{first}");
        assert!(first.contains("there is no MPI profile of this run"), "{first}");

        let object: Value = serde_json::from_str(&stat(&["--run", &last, "--json"])).expect("JSON");
        let told = &object["runs"][0];
        let mut measured: Vec<_> = lines.iter().filter(|line| line.id == last).collect();
        measured.sort_by_key(|line| line.pe);
        for (line, at) in measured.iter().zip(0..) {
            let told = &told["lines"][at];
            assert_eq!(told["pe"], line.pe, "{told}");
            assert_eq!(told["wall_s"], decimal(line.wall), "{told}");
            assert_eq!(told["end"], line.extra("end"), "{told}");
            assert_eq!(told["rss_bytes"].to_string(), line.extra("rss"), "{told}");
        }
        let profile = &told["mpi_profile"];
        assert_eq!(profile["ranks"], RANKS, "{object}");
        let share = profile["share"].as_f64().expect("a share");
        assert!((0.0..=1.0).contains(&share), "{object}");

        let list = stat(&["--runs", "--csv", "--columns", "id,npes,wall,end,lines"]);
        let mut expected = vec!["id,npes,wall,end,lines".to_owned()];
        for pair in lines.chunks(2).rev() {
            let wall = decimal(pair[0].wall.max(pair[1].wall));
            expected.push(format!("{},{RANKS},{wall},exit:0,2", pair[0].id));
        }
        assert_eq!(list.lines().collect::<Vec<_>>(), expected, "under {}", mpi.name());
    }
}

/// The decimal number of milliseconds that a sum of parts stands for.
fn decimal(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}
