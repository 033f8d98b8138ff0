//! Every example of the manual pages is run.

use std::fs;

use topas_tests::site::source_root;

use crate::room::Room;

/// The pages, with examples whose commands are shown by a term of a list. Those of topas-stat have
/// a test in its crate.
const PAGES: [&str; 7] = [
    "topas.1",
    "topas-run.1",
    "topasview.1",
    "topas-log.1",
    "topas-mpi.1",
    "topas-report.1",
    "topas-doctor.8",
];

/// The commands of the examples of a page.
fn examples(page: &str) -> Vec<String> {
    let text = fs::read_to_string(source_root().join("doc").join(page)).unwrap();
    let (before, rest) = text.split_once(".SH EXAMPLES\n").expect("a section of examples");
    let sections: Vec<&str> = before.lines().filter(|line| line.starts_with(".SH ")).collect();
    assert_eq!(sections, [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"], "{page}: examples first");
    let section = rest.split("\n.SH ").next().unwrap();
    let plain = |line: &str| {
        line.replace("\\(aq", "'").replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    };
    section.lines().filter_map(|line| line.strip_prefix(".B ")).map(plain).collect()
}

#[test]
fn every_example_of_the_manual_runs() {
    let Some(room) = Room::new("every_example_of_the_manual_runs") else { return };
    room.shell("mpicc cg.c -o a.out -lm && mpirun -n 2 topas-run --all-pe --mpi=log ./a.out")
        .good();
    let copies = "mkdir before && cat topas.out* > before/topas.out && cp before/topas.out topas.out && \
         cp topas-mpi.out before";
    room.shell(copies).good();
    let mut count = 0;
    for page in PAGES {
        for example in examples(page) {
            let done = room.shell(&room.here(&example));
            let (code, error) = (done.code(), done.err());
            // A node without counters, or one that does not measure, is no fault of the command.
            let is_doctor = example.contains("topas-doctor");
            // Last week has no runs here, which a code tells.
            let is_nothing = page == "topas-report.1" && code == 3;
            let is_good = code == 0 || is_doctor && code < 2 || is_nothing;
            assert!(is_good, "{page}: {example}: {code}: {error}");
            assert!(!error.contains("unexpected argument"), "{page}: {example}: {error}");
            count += 1;
        }
    }
    assert!(count > 25, "{count}");
}
