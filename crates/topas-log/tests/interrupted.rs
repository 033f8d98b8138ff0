//! `topas-log close` is killed, or the disk is full, at each system call in turn: afterwards no
//! line is lost and none is there twice.

mod tool;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use tool::{Dir, append, have, line};
use topas_testkit::numbers_below;

/// What is there before a close: a closed segment, late lines of it, another file, and one
/// whose close was interrupted.
fn site() -> (Dir, Vec<String>) {
    let dir = Dir::new();
    let mut all = Vec::new();
    let mut write = |name: &str, user: &str| {
        for n in 0..20 {
            let line = line(n as i64, user, n);
            append(&dir.path().join(name), line.as_bytes());
            all.push(line);
        }
    };
    write("2026-09.1.log", "early");
    close(&dir, None);
    write("2026-09.1.log", "late");
    write("2026-09.2.log", "other");
    write("2026-08.3.log.closing-00000000000000ab", "before");
    all.sort();
    (dir, all)
}

/// Closes; with strace if something is to happen at a system call.
fn close(dir: &Dir, inject: Option<&str>) -> Output {
    let mut command = Command::new("strace");
    match inject {
        None => command = Command::new(env!("CARGO_BIN_EXE_topas-log")),
        Some(inject) => {
            command.args(["-f", "-qq", "-o", "/dev/null", "-e", inject]);
            command.arg(env!("CARGO_BIN_EXE_topas-log"));
        }
    }
    command.args(["close", "--dir", ".", "--idle", "0", "--settle", "0"]);
    command.current_dir(dir.path()).output().unwrap()
}

/// Every line in the directory by what zstd and cat say.
fn all_lines(dir: &Dir) -> Vec<String> {
    let mut text = String::new();
    for name in dir.names() {
        if name.starts_with(".topas-close-") {
            continue;
        }
        let tool = if name.ends_with(".zst") { "zstdcat" } else { "cat" };
        let out = Command::new(tool).arg(dir.path().join(&name)).output().unwrap();
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        text += &String::from_utf8(out.stdout).unwrap();
    }
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    lines.sort();
    lines
}

/// No line is missing even now; one may be in its file and in the segment.
fn nothing_is_lost(dir: &Dir, all: &[String], when: &str) {
    let mut there = all_lines(dir);
    there.dedup();
    assert!(there == all, "{when}: {} of {} lines; {:?}", there.len(), all.len(), dir.names());
}

/// The next close brings all to order.
fn then_all_is_well(dir: &Dir, all: &[String], when: &str) {
    let out = close(dir, None);
    assert!(out.status.success(), "{when}: {}", String::from_utf8_lossy(&out.stderr));
    assert!(all_lines(dir) == all, "{when}: a line is lost or there twice: {:?}", dir.names());
    let names = ["2026-08.3.log.zst", "2026-09.1.log.zst", "2026-09.2.log.zst"];
    assert_eq!(dir.names(), names, "{when}");
}

#[test]
fn killed_at_each_system_call() {
    let test = "killed_at_each_system_call";
    if !have(test, "strace") || !have(test, "zstd") {
        return;
    }
    let mut killed = 0;
    for n in 1.. {
        let (dir, all) = site();
        let out = close(&dir, Some(&format!("inject=all:signal=SIGKILL:when={n}")));
        let when = format!("killed at system call {n}");
        nothing_is_lost(&dir, &all, &when);
        then_all_is_well(&dir, &all, &when);
        if out.status.success() {
            break;
        }
        assert!(out.status.signal() == Some(9) || out.status.code() == Some(137), "{out:?}");
        killed += 1;
        assert!(n < 5000, "it never ends");
    }
    assert!(killed > 80, "{killed} system calls are too few to have closed three files");
}

#[test]
fn no_room_and_no_permission_at_each_call_that_can_say_so() {
    let test = "no_room_and_no_permission_at_each_call_that_can_say_so";
    if !have(test, "strace") || !have(test, "zstd") {
        return;
    }
    let mut failed: BTreeMap<&str, u32> = BTreeMap::new();
    for (call, error) in [
        ("write", "ENOSPC"),
        ("copy_file_range", "ENOSPC"),
        ("fsync", "EIO"),
        ("linkat", "ENOSPC"),
        ("renameat2", "EACCES"),
        ("renameat", "ENOSPC"),
        ("unlink", "EACCES"),
        ("read", "EIO"),
        ("fchmod", "EPERM"),
    ] {
        let mut unhurt = 0;
        for n in 1..200 {
            let (dir, all) = site();
            let out = close(&dir, Some(&format!("inject={call}:error={error}:when={n}")));
            let when = format!("{error} at {call} {n}");
            nothing_is_lost(&dir, &all, &when);
            let text = String::from_utf8_lossy(&out.stderr).into_owned();
            // Whatever failed: an exit code that is documented, and words if it was an error.
            let started = text.contains("topas-log: error: ");
            assert!(matches!(out.status.code(), Some(0 | 1 | 127)), "{when}: {out:?}");
            if out.status.code() == Some(1) {
                assert!(started && text.contains("  cause: "), "{when}: {text}");
                *failed.entry(call).or_default() += 1;
            }
            then_all_is_well(&dir, &all, &when);
            unhurt = if out.status.success() { unhurt + 1 } else { 0 };
            if unhurt > 12 {
                break;
            }
        }
    }
    for call in ["write", "fsync", "linkat", "renameat2", "renameat", "unlink", "read"] {
        assert!(failed.contains_key(call), "{call} never failed: {failed:?}");
    }
}

/// As a machine does it: at any moment, over and over, while programs write.
#[test]
fn killed_at_random_while_lines_come_in() {
    let dir = Dir::new();
    let path = dir.path().join("2026-09.1.log");
    let mut written = Vec::new();
    let mut micros = numbers_below(0x9e37_79b9_7f4a_7c15);
    for round in 0..60usize {
        let mut child = Command::new(env!("CARGO_BIN_EXE_topas-log"))
            .args(["close", "-q", "--dir", ".", "--idle", "0", "--settle", "0"])
            .current_dir(dir.path())
            .spawn()
            .unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_micros(micros(8192));
        while std::time::Instant::now() < until {
            let line = line(written.len() as i64, &format!("r{round}"), written.len());
            append(&path, line.as_bytes());
            written.push(line);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(close(&dir, None).status.success());
    written.sort();
    assert!(written.len() > 500, "{} lines are no load", written.len());
    assert!(all_lines(&dir) == written, "{} lines, then {}", written.len(), all_lines(&dir).len());
}
