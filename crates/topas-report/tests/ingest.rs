//! `topas-report ingest` as a timer calls it.

use std::fs;
use std::path::Path;
use std::process::Command;

use topas_testkit::with_lengths;

/// Exit code and standard error.
fn ingest(dir: &Path, more: &[&str]) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_topas-report"))
        .arg("ingest")
        .arg("--index")
        .arg(dir.join("index.sqlite"))
        .args(more)
        .arg(dir.join("log"))
        .output()
        .unwrap();
    assert!(out.stdout.is_empty());
    (out.status.code(), String::from_utf8(out.stderr).unwrap())
}

#[test]
fn what_came_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    fs::create_dir(&log).unwrap();
    let line = |pe: u32, id: &str| {
        with_lengths(&format!(
            "2026/10/04 12:00:00 anna heat {pe} 16 t450 B f90 mpi 1.0 0.1 2.0 f=1 10 {id} v=1 t=1791115200\n"
        ))
    };
    fs::write(log.join("a"), line(3, "one") + &line(7, "one") + "nonsense\n").unwrap();
    let (code, text) = ingest(dir.path(), &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 lines that are no log lines"), "{text}");
    assert!(text.contains("2 of 2 lines are new, in 1 files that changed; 1 runs"), "{text}");
    fs::write(log.join("b"), line(5, "two")).unwrap();
    let (_, text) = ingest(dir.path(), &[]);
    assert!(text.contains("1 of 1 lines are new, in 1 files"), "{text}");
    let (_, text) = ingest(dir.path(), &["--rebuild"]);
    assert!(text.contains("3 of 3 lines are new, in 2 files"), "{text}");
    assert_eq!(ingest(dir.path(), &["--quiet"]), (Some(0), String::new()));
}

#[test]
fn what_is_no_index_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("log")).unwrap();
    let index = dir.path().join("index.sqlite");
    fs::write(
        &index,
        "a file of somebody else, which is long enough to have a header in it\n".repeat(20),
    )
    .unwrap();
    let before = fs::read(&index).unwrap();
    let (code, text) = ingest(dir.path(), &[]);
    assert_eq!(code, Some(1));
    assert!(text.contains("error: cannot use the index") && text.contains("hint: "), "{text}");
    assert_eq!(fs::read(&index).unwrap(), before);
}
