//! Every zone of the tz database on this machine against GNU date.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_format::zone::{footer, offset_at};

/// 2040-01-15 and 2040-07-15, 12:00 UTC: behind 2037, up to which files list changes one by one,
/// among them exceptions from a zone's own rule (Morocco and Cuba in 2026). Not in Ramadan, for
/// which files of Morocco held exceptions for longer.
const INSTANTS: [i64; 2] = [2_210_241_600, 2_225_966_400];

fn zones(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        // Names in `right` count leap seconds, which no system clock does.
        if path.is_dir() && !path.ends_with("right") && !path.ends_with("posix") {
            zones(&path, found);
        } else if fs::read(&path).is_ok_and(|text| text.starts_with(b"TZif")) {
            found.push(path);
        }
    }
}

#[test]
fn agree_with_date() {
    let mut all = Vec::new();
    zones(Path::new("/usr/share/zoneinfo"), &mut all);
    if all.is_empty() {
        // Past the capture of libtest.
        let _ = std::io::stderr().write_all(b"skipped: agree_with_date: no tz database here\n");
        return;
    }
    let mut rules = BTreeSet::new();
    for path in all {
        let text = fs::read(&path).unwrap();
        let rule = footer(&text[text.len().saturating_sub(128)..]).to_vec();
        // One zone of each rule is enough.
        if !rules.insert(rule.clone()) {
            continue;
        }
        for instant in INSTANTS {
            let date = Command::new("date")
                .args(["-d", &format!("@{instant}"), "+%:::z"])
                .env("TZ", format!(":{}", path.display()))
                .output()
                .unwrap();
            let printed = String::from_utf8(date.stdout).unwrap();
            let (sign, rest) = printed.trim().split_at(1);
            let parts = rest.split(':').zip([3600, 60, 1]);
            let seconds: i64 = parts.map(|(n, unit)| n.parse::<i64>().unwrap() * unit).sum();
            let expected = if sign == "-" { -seconds } else { seconds };
            let shown = format!("{} {}", path.display(), String::from_utf8_lossy(&rule));
            assert_eq!(offset_at(&rule, instant), Some(expected), "{shown}");
        }
    }
    assert!(rules.len() > 20, "only {} rules", rules.len());
}
