//! A rank that comes late to `MPI_Init`, for which the others wait there.

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::waits::under_each;
use topas_tests::waits::view;

/// How late it comes.
const MILLISECONDS: &str = "1200";

/// What `topasview` says first of a launch of three ranks with these words, and whether `--why` finds such a rank.
fn said(mpi: Mpi, words: &[&str]) -> (String, Option<String>) {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let words = [&["TOPAS_MPI_WAITS=yes"], words].concat();
    profiled(mpi, &scratch, 3, &words, &places).good();
    let shown = view(&scratch, &places.out, &[]);
    let mut why = scratch.command(Site::shared().tool("topasview"));
    let told = run(why.args(["--why", "--json"]).arg(&places.out)).good().out();
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    // If others took the processors, what is found is told as perhaps because of them.
    let lists = ["findings", "unsure"].map(|list| told[list].as_array().expect("a list").clone());
    let found = lists.into_iter().flatten().find(|found| found["rule"] == "late-to-init");
    let place = found.map(|found| found["where"].as_str().expect("a place").to_owned());
    (shown.split_whitespace().collect::<Vec<_>>().join(" "), place)
}

#[test]
fn a_rank_that_comes_late_to_init_is_named() {
    under_each(
        Mpi::installed("a_rank_that_comes_late_to_init_is_named"),
        "late_init",
        |mpi, program| {
            let (text, place) = said(mpi, &[program, MILLISECONDS]);
            assert!(text.contains("Rank 1 comes to MPI_Init 1."), "under {}: {text}", mpi.name());
            assert_eq!(place.as_deref(), Some("rank 1"), "under {}", mpi.name());
            // What a launcher does first is not the rank's.
            const SLOW: &str = "if [ \"$OMPI_COMM_WORLD_RANK$PMI_RANK\" = 1 ]; then sleep 1.2; fi; \"$@\"; exit $?";
            let (text, place) = said(mpi, &["sh", "-c", SLOW, "sh", program, "0"]);
            assert!(!text.contains("comes to MPI_Init"), "under {}: {text}", mpi.name());
            assert_eq!(place, None, "under {}", mpi.name());
        },
    );
}
