//! Long work tells on a terminal how far it is: every tool that reads a log, with an input that takes
//! longer than the second after which something must be shown.

use std::fs;

use topas_tests::running::{Run, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// Longer than a tool may be silent.
const PAUSE: &str = "sleep 1.2; ";

/// Lines of a log, of one launch each.
fn lines(from: u32, to: u32) -> String {
    (from..to)
        .map(|n| {
            let line = format!(
                "2026/11/20 08:{:02}:{:02} mohr heat3d 0 1 t2596 B f90 mpi 12.340 0.120 12.460 f={n} 4567 \
                 {n:016x} v=1 t={} uid=1000 end=exit:0",
                n / 60 % 60,
                n % 60,
                1_795_161_600 + n % 3600
            );
            format!("{line} len={:03}\n", line.len() + 8)
        })
        .collect()
}

/// Rows of sacct.
fn rows(from: u32, to: u32) -> String {
    (from..to).map(|job| format!("{job}|COMPLETED|4|00:01:00\n")).collect()
}

/// Runs a command of the shell on a terminal; its standard input gets the parts of a text with a
/// pause before each but the first.
fn on_terminal(scratch: &Scratch, parts: &[String], words: &str) -> Run {
    let mut feed = String::new();
    for (at, part) in parts.iter().enumerate() {
        let file = scratch.path().join(format!("part{at}"));
        fs::write(&file, part).expect("write a part");
        let pause = if at > 0 { PAUSE } else { "" };
        feed += &format!("{pause}cat {}; ", file.display());
    }
    let mut script = scratch.command("script");
    // What is on standard output is no report of progress.
    let words = format!("( {feed}) | {words} >/dev/null");
    run(script.args(["-qec", &words, "/dev/null"]).current_dir(scratch.path()))
}

#[test]
fn every_tool_that_reads_a_log_tells_how_far_it_is() {
    if !have("script") {
        return skip("every_tool_that_reads_a_log_tells_how_far_it_is", "no script");
    }
    let scratch = Scratch::new();
    let site = Site::shared();
    fs::write(scratch.path().join("whole.log"), lines(0, 10)).expect("write a log");
    let log = [lines(0, 9000), lines(9000, 18_000), lines(18_000, 18_010)];
    let jobs = ["JobID|State|AllocCPUS|Elapsed\n".to_owned() + &rows(1, 9000), rows(9000, 18_000)];
    for (tool, words, parts, expected) in [
        ("topas-stat", "-", &log[..], "MB read"),
        ("topas-stat", "--runs -", &log, "MB of standard input read"),
        ("topas-stat", "--sacct - --coverage whole.log", &jobs, "-: 0 MB read"),
        ("topas-log", "export -", &log, "lines read so far"),
        ("topas-log", "merge -", &log, "MB read"),
        ("topasview", "--list -", &log, "MB of text read"),
    ] {
        let command = format!("{} {words}", site.tool(tool).display());
        let ended = on_terminal(&scratch, parts, &command);
        let shown = ended.out();
        assert_eq!(ended.code(), 0, "{words}: {shown}{}", ended.err());
        assert!(shown.contains(expected), "{tool} {words}: {shown:?}");
        // The line is written over itself, and wiped in the end.
        assert!(shown.contains(&format!("\r{tool}: ")), "{tool} {words}: {shown:?}");
    }
    let command = format!("{} -q -", site.tool("topas-stat").display());
    assert_eq!(on_terminal(&scratch, &log, &command).out(), "", "-q says errors only");
}
