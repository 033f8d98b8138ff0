//! Which signals a program's site wants handlers for.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use topas_tests::build::plain;
use topas_tests::ending::{is_caught, status};
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// What ends a program from outside, as its site wants it: by default it is left alone, and ends
/// the program at once, also in a wait that no handler interrupts. With `sigterm = yes` it leaves
/// a line, and ends the program when that wait is over.
#[test]
fn ends_from_outside() {
    let scratch = Scratch::new();
    let site = Site::lent();
    let [waits, dies] = ["vforks", "ends"].map(|name| scratch.sub("programs").join(name));
    plain(&site, "c/vforks.c", false, &waits);
    plain(&site, "c/ends.c", false, &dies);
    for (conf, line) in [("", false), ("sigterm = yes\n", true)] {
        fs::write(site.conf(), conf).expect("write topas.conf");
        let mut rank = scratch.command(&waits);
        rank.env("TOPAS_PE", "1,2").stdout(Stdio::piped());
        emulate_rank(&mut rank, 1, 8, KEY);
        let mut child = rank.spawn().expect("start");
        let mut said = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("output"));
        out.read_line(&mut said).expect("read");
        assert_eq!(said, "waiting\n");
        let sent = Instant::now();
        kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).expect("kill");
        let ended = child.wait().expect("wait");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(15), "{conf}");
        assert_eq!(sent.elapsed() < Duration::from_secs(2), !line, "{conf}: {:?}", sent.elapsed());
        assert_eq!(scratch.take_log().len(), usize::from(line), "{conf}");
        // Faults leave their line in any case.
        let mut rank = scratch.command(&dies);
        emulate_rank(rank.args(["abort", "3"]).env("TOPAS_PE", "1,2"), 1, 8, KEY);
        assert_eq!(status(&run(&mut rank)).trim_end_matches(" core"), "signal 6");
        assert_eq!(scratch.take_log().len(), 1, "{conf}");
    }
}

/// By default only signals are caught that a handler does not delay; `sigterm = yes` adds the
/// others, but for SIGINT. `signals = no`: dispositions and stack are untouched, ends by exit leave
/// their line, ends by a signal none.
#[test]
fn no_handlers() {
    let scratch = Scratch::new();
    let site = Site::lent();
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
    let caught = |now: Vec<String>| -> Vec<i32> {
        let both = now.iter().zip(&before).filter(|(now, before)| now != before);
        both.filter_map(|(now, _)| now.split(' ').nth(1)?.parse().ok()).collect()
    };
    assert_eq!(caught(probe(&linked)), [3, 4, 5, 6, 7, 8, 11, 13, 24, 25, 31]);
    assert_eq!(scratch.take_log().len(), 1);
    fs::write(site.conf(), "sigterm = yes\n").expect("write topas.conf");
    let all: Vec<i32> = (1..32).filter(|signal| is_caught(*signal)).collect();
    assert_eq!(caught(probe(&linked)), all);
    assert_eq!(scratch.take_log().len(), 1);

    fs::write(site.conf(), "signals = no\nsigterm = yes\n").expect("write topas.conf");
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
