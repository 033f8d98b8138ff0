//! The units of systemd, as systemd reads them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Units that are checked.
const UNITS: [&str; 9] = [
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

#[test]
fn systemd_takes_the_units() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        println!("skipped: systemd_takes_the_units: systemd-analyze is not installed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("prefix");
    fs::create_dir_all(prefix.join("bin")).unwrap();
    for name in ["topas-report", "topas-log"] {
        symlink(env!("CARGO_BIN_EXE_topas-report"), prefix.join("bin").join(name)).unwrap();
    }
    let etc = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../etc/systemd");
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
