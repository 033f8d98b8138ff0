//! Signals of a program whose site wants no handlers.

use std::fs;
use std::path::Path;

use topas_tests::build::plain;
use topas_tests::ending::status;
use topas_tests::mpi::emulate_rank;
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// `signals = no`: dispositions and stack are untouched, ends by exit leave their line, ends
/// by a signal none.
#[test]
fn no_handlers() {
    let scratch = Scratch::new();
    let site = Site::installed_at(&scratch.path().join("prefix"));
    let (bare, linked) = (scratch.sub("bare"), scratch.sub("linked"));
    plain(&site, "c/probe.c", true, &bare.join("program"));
    plain(&site, "c/probe.c", false, &linked.join("program"));
    let probe = |dir: &Path| {
        let mut probe = scratch.command("./program");
        probe.current_dir(dir).env("TOPAS_PE", "1,2");
        emulate_rank(&mut probe, 1, 8, KEY);
        let lines = run(&mut probe).ends(42).out();
        lines.lines().filter(|line| line.starts_with("signal ")).map(str::to_owned).collect()
    };
    let before: Vec<String> = probe(&bare);
    assert_eq!(before.len(), 62 + 1, "{before:#?}");
    assert_ne!(probe(&linked), before, "by default there are handlers");
    assert_eq!(scratch.take_log().len(), 1);

    fs::write(site.conf(), "signals = no\n").expect("write topas.conf");
    assert_eq!(probe(&linked), before);
    assert_eq!(scratch.take_log().len(), 1);
    let program = scratch.sub("kills").join("program");
    plain(&site, "c/ends.c", false, &program);
    for (way, ended, lines) in [("exit", "exit 3", 1), ("abort", "signal 6", 0)] {
        let mut ends = scratch.command(&program);
        ends.args([way, "3"]).env("TOPAS_PE", "1,2");
        emulate_rank(&mut ends, 1, 8, KEY);
        assert_eq!(status(&run(&mut ends)).trim_end_matches(" core"), ended);
        assert_eq!(scratch.take_log().len(), lines, "{way}");
    }
}
