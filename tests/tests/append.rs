//! Many processes append to one log at once, and every line stays whole.
//!
//! `TOPAS_TEST_APPENDS` is the number of lines of each process, 100 without it.

use std::collections::BTreeMap;
use std::env;

use topas_tests::build::plain;
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::record::read_log;
use topas_tests::running::{LIMIT, run_within};
use topas_tests::site::{Scratch, Site};

const PROCESSES: u32 = 64;

#[test]
fn sixty_four_processes_append_at_once() {
    let each: u32 =
        env::var("TOPAS_TEST_APPENDS").map_or(100, |n| n.parse().expect("TOPAS_TEST_APPENDS"));
    let site = Site::shared();
    let scratch = Scratch::new();
    let program = scratch.path().join("empty");
    plain(site, "c/empty.c", false, &program);
    let script = format!("i=0; while [ $i -lt {each} ]; do \"$0\" || exit 1; i=$((i+1)); done");
    std::thread::scope(|scope| {
        for rank in 0..PROCESSES {
            let (scratch, program, script) = (&scratch, &program, &script);
            scope.spawn(move || {
                let mut shell = scratch.command("sh");
                shell.args(["-c", script]).arg(program).env("TOPAS_PE", rank.to_string());
                // Lines of different lengths make a torn one more likely to show.
                shell.env("LOGNAME", "u".repeat(1 + rank as usize * 3));
                emulate_rank(&mut shell, rank, PROCESSES, "5eed");
                let ended = run_within(&mut shell, LIMIT * 5).good();
                assert_eq!(ended.err(), "", "rank {rank}");
            });
        }
    });
    // Every line parses and is as long as it says: that is checked on the way.
    let lines = read_log(&scratch.log());
    let mut of_rank = BTreeMap::new();
    for line in &lines {
        assert_eq!(line.user.len(), 1 + line.pe as usize * 3, "{}", line.text);
        *of_rank.entry(line.pe).or_insert(0) += 1;
    }
    assert_eq!(of_rank, (0..PROCESSES).map(|rank| (rank, each)).collect());
}
