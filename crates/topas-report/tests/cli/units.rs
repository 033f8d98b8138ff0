//! The units of systemd, as systemd reads them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Units that are checked.
const UNITS: [&str; 13] = [
    "topas-log-close.service",
    "topas-log-close.timer",
    "topas-mpi-collect.service",
    "topas-mpi-collect.timer",
    "topas-purge.service",
    "topas-purge.timer",
    "topas-report-ingest.service",
    "topas-report-ingest.timer",
    "topas-report-mail.service",
    "topas-report-mail.timer",
    "topas-report-pages.service",
    "topas-report-pages.timer",
    "topas-report-serve.service",
];

/// The directory of the units in the sources.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../etc/systemd")
}

/// Whether systemd can be asked; if not, that is said.
fn has_systemd(test: &str) -> bool {
    let has = Command::new("systemd-analyze").arg("--version").output().is_ok();
    if !has {
        println!("skipped: {test}: systemd-analyze is not installed");
    }
    has
}

#[test]
fn no_unit_is_forgotten() {
    let mut names: Vec<String> = fs::read_dir(sources())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, UNITS);
}

/// What no timer starts is started with the machine, once `systemctl enable` was called.
#[test]
fn every_service_is_started_by_something() {
    for unit in UNITS.iter().filter(|name| name.ends_with(".service")) {
        let has_timer = UNITS.contains(&&*unit.replace(".service", ".timer"));
        let text = fs::read_to_string(sources().join(unit)).unwrap();
        assert_ne!(has_timer, text.contains("\n[Install]\nWantedBy="), "{unit}");
    }
}

#[test]
fn packages_have_every_unit() {
    let list = sources().join("../../packaging/files.list");
    let list = fs::read_to_string(list).unwrap();
    let patterns: Vec<&str> = list
        .lines()
        .filter_map(|line| line.split_once("/usr/lib/systemd/system/").map(|parts| parts.1))
        .collect();
    for unit in UNITS {
        let holds = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(first) => unit.starts_with(first),
            None => unit == *pattern,
        };
        assert!(patterns.iter().any(holds), "{unit} is in no package: {patterns:?}");
    }
}

/// When timers run next, as systemd computes it from a Thursday.
#[test]
fn systemd_runs_the_timers_when_the_manual_says() {
    if !has_systemd("systemd_runs_the_timers_when_the_manual_says") {
        return;
    }
    for (unit, next) in [
        ("topas-log-close.timer", "Wed 2026-12-02 03:00:00 UTC"),
        ("topas-purge.timer", "Thu 2026-12-03 03:00:00 UTC"),
        ("topas-report-ingest.timer", "Thu 2026-11-26 12:05:00 UTC"),
        ("topas-report-mail.timer", "Mon 2026-11-30 06:00:00 UTC"),
        ("topas-report-pages.timer", "Fri 2026-11-27 04:30:00 UTC"),
    ] {
        let text = fs::read_to_string(sources().join(unit)).unwrap();
        let at = text.lines().find_map(|line| line.strip_prefix("OnCalendar=")).unwrap();
        let mut analyze = Command::new("systemd-analyze");
        analyze.args(["calendar", "--base-time=2026-11-26 12:01:00 UTC", at]).env("TZ", "UTC");
        let output = analyze.env("LC_ALL", "C").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let elapses = said.lines().find_map(|line| line.trim().strip_prefix("Next elapse: "));
        assert_eq!(
            elapses,
            Some(next),
            "{unit}: {said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn systemd_takes_the_units() {
    if !has_systemd("systemd_takes_the_units") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("prefix");
    fs::create_dir_all(prefix.join("bin")).unwrap();
    for name in ["topas-report", "topas-log", "topas-mpi"] {
        symlink(env!("CARGO_BIN_EXE_topas-report"), prefix.join("bin").join(name)).unwrap();
    }
    let etc = sources();
    let paths = UNITS.map(|name| {
        let text = fs::read_to_string(etc.join(name)).unwrap();
        let text = text.replace("@PREFIX@", prefix.to_str().unwrap()).replace("@LOGS@", "/tmp");
        // The manual pages are not installed here.
        let is_page = |line: &&str| !line.starts_with("Documentation=man:");
        let text: String = text.lines().filter(is_page).map(|line| format!("{line}\n")).collect();
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    });
    let output = Command::new("systemd-analyze").arg("verify").args(&paths).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("topas-")).collect();
    assert!(output.status.success() && ours.is_empty(), "{said}");
}
