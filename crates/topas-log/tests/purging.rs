//! `topas-log purge`: what is removed, and what is left.

mod tool;

use std::fs;
use std::os::unix::fs::symlink;

use tool::{Dir, line};

fn names(dir: &Dir) -> Vec<String> {
    let mut names: Vec<String> = walk(dir.path(), "");
    names.sort();
    names
}

fn walk(dir: &std::path::Path, before: &str) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries
        .flat_map(|entry| {
            let name = format!("{before}{}", entry.file_name().to_string_lossy());
            match entry.file_type().unwrap().is_dir() {
                true => walk(&entry.path(), &format!("{name}/")),
                false => vec![name],
            }
        })
        .collect()
}

/// Closed segments of three months, in two directories.
fn closed() -> Dir {
    let dir = Dir::new();
    fs::create_dir(dir.path().join("node7")).unwrap();
    for month in ["2024-10", "2024-11", "2024-12"] {
        dir.file(&format!("{month}.log"), line(1, "anna", 1));
        dir.file(&format!("node7/{month}.log"), line(2, "bert", 2));
    }
    let close = ["close", "--idle", "0", "--settle", "0", "--dir", ".", "--before", "2025-01"];
    assert_eq!(dir.run(&close).0, 0);
    dir
}

#[test]
fn segments_of_older_months_are_removed_and_nothing_else() {
    let dir = closed();
    dir.file("2024-09.log", line(3, "anna", 3));
    dir.file("topas.log", line(4, "anna", 4));
    let before = names(&dir);
    let (code, out, err) = dir.run(&["purge", "--before", "2024-12", "--dir", ".", "-n"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("node7/2024-11.log.zst: would be removed, "), "{out}");
    assert_eq!(names(&dir), before);

    let (code, out, err) = dir.run(&["purge", "--before", "2024-12", "--dir", "."]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("2024-09.log: left: not closed yet (topas-log close)"), "{out}");
    assert!(out.contains(": 4 segments of "), "{out}");
    let left = ["2024-09.log", "2024-12.log.zst", "node7/2024-12.log.zst", "topas.log"];
    assert_eq!(names(&dir), left);
    let (code, out, _) = dir.run(&["purge", "--before", "2024-12", "--dir", ".", "-q"]);
    assert_eq!((code, out.as_str()), (0, ""));
    // Long ago, so that whole months before the present one are kept.
    assert_eq!(dir.run(&["purge", "--keep", "1200", "--dir", "."]).0, 0);
    assert_eq!(names(&dir), left);
    assert_eq!(dir.run(&["purge", "--keep", "1", "--dir", "."]).0, 0);
    assert_eq!(names(&dir), ["2024-09.log", "topas.log"]);
}

#[test]
fn links_stay_and_what_they_lead_to() {
    let (dir, other) = (closed(), closed());
    let elsewhere = other.path().join("2024-10.log.zst");
    symlink(&elsewhere, dir.path().join("2024-08.log.zst")).unwrap();
    symlink(other.path(), dir.path().join("2024-07")).unwrap();
    fs::hard_link(dir.path().join("2024-10.log.zst"), dir.path().join("copy")).unwrap();
    let (code, out, _) = dir.run(&["purge", "--before", "2025-01", "--dir", "."]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("2024-08.log.zst: left: a link, or no regular file"), "{out}");
    assert!(out.contains("2024-10.log.zst: left: it has more than one name"), "{out}");
    assert_eq!(names(&other).len(), 6);
    assert!(dir.path().join("2024-10.log.zst").exists());
}

#[test]
fn one_of_the_ages_is_needed_and_a_close_is_not_disturbed() {
    let dir = closed();
    assert_eq!(dir.run(&["purge", "--dir", "."]).0, 2);
    assert_eq!(dir.run(&["purge", "--keep", "0", "--dir", "."]).0, 2);
    assert_eq!(dir.run(&["purge", "--keep", "1", "--before", "2024-12", "--dir", "."]).0, 2);
    let lock = fs::File::open(dir.path()).unwrap();
    lock.lock().unwrap();
    let (code, _, err) = dir.run(&["purge", "--before", "2025-01", "--dir", "."]);
    assert!(code == 5 && err.contains("another close or purge is at work"), "{code}: {err}");
    assert_eq!(names(&dir).len(), 6);
    drop(lock);
    assert_eq!(dir.run(&["purge", "--before", "2025-01", "--dir", "nowhere"]).0, 1);
}
