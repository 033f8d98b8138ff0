//! `topas-stat --check` and `--mine`: each thing that can be found, and who sees what.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use topas_testkit::scratch::place_program;
use topas_testkit::{numbers_below, with_lengths};

struct CheckSite(tempfile::TempDir);

impl CheckSite {
    fn new() -> Self {
        CheckSite(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Exit code, standard output, standard error.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        texts(&mut self.command(args))
    }

    /// Findings by name: count and places.
    fn check(&self, args: &[&str]) -> (i32, BTreeMap<String, (u64, Vec<String>)>) {
        let (code, out, err) = self.run(&[&["--check", "--json"], args].concat());
        assert_eq!(err, "");
        let value: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["schema"], "topas.check/1");
        assert_eq!(value["clean"], code == 0, "{out}");
        let finding = |finding: &Value| {
            let place = |place: &Value| {
                let file = place["file"].as_str().unwrap();
                place["line"].as_u64().map_or(file.to_owned(), |line| format!("{file}:{line}"))
            };
            let places = finding["places"].as_array().unwrap().iter().map(place).collect();
            let count = finding["count"].as_u64().unwrap();
            (finding["name"].as_str().unwrap().to_owned(), (count, places))
        };
        (code, value["findings"].as_array().unwrap().iter().map(finding).collect())
    }
}

fn texts(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// 2026-10-20 08:00:00 UTC, and the seconds after it.
const EPOCH: i64 = 1_792_483_200;

/// A line at a second of that day, in a zone an hour ahead of UTC.
fn line(second: i64, pe: u32, npes: u32, id: &str, extras: &str) -> String {
    let text = format!(
        "2026/10/20 09:{:02}:{:02} anna heat {pe} {npes} t2596 B f90 mpi 1.000 0.100 20.000 f=1000 10 \
         {id} v=1 t={} uid=1000{extras}",
        second / 60,
        second % 60,
        EPOCH + second
    );
    format!("{text} len={:03}\n", text.len() + 8)
}

/// Both lines of a run.
fn run(second: i64, id: &str) -> String {
    line(second, 1, 4, id, "") + &line(second, 2, 4, id, "")
}

#[test]
fn a_clean_log() {
    let site = CheckSite::new();
    site.file("a.log", format!("# a comment\n\n{}{}", run(0, "a"), run(5, "b")));
    let (code, out, err) = site.run(&["--check", "a.log"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "1 files, 6 lines: 4 log lines of 2 runs\n\nNo faults.\n");
    assert_eq!(site.check(&["."]), (0, BTreeMap::new()));
}

#[test]
fn every_finding_has_its_place() {
    let site = CheckSite::new();
    let whole = line(30, 1, 4, "torn", "");
    let future = run(0, "f").replace(&format!("t={EPOCH}"), "t=4102444800");
    let cases: Vec<(&str, String, &str, &str, bool)> = vec![
        ("torn", format!("{}{}{whole}", run(0, "a"), &whole[..50]), "torn", ":3", true),
        ("cut", format!("{}{}", run(0, "a"), &whole[..whole.len() - 9]), "unfinished", ":3", true),
        ("mhz", run(0, "a") + &run(1, "b").replacen("t2596", "2596", 1), "bad_mhz", ":3", true),
        ("long", format!("{}{}\n", run(0, "a"), "x".repeat(200_000)), "too_long", ":3", true),
        (
            "version",
            run(0, "a") + &run(0, "b").replacen("v=1", "v=9", 1),
            "bad_version",
            ":3",
            true,
        ),
        ("twice", run(0, "a") + &run(0, "a"), "duplicate", ":3", true),
        ("npes", run(0, "a") + &line(1, 1, 8, "a", ""), "id_collision", ":3", true),
        ("pe", run(0, "a") + &line(1, 4, 4, "b", ""), "pe_beyond_npes", ":3", true),
        ("zone", run(0, "a").replacen("09:00:00", "09:07:00", 1), "clock_zone", ":1", true),
        (
            "span",
            run(0, "a").replacen(" 1.000 0.100", " 999999999.000 0.100", 1),
            "clock_span",
            ":1",
            true,
        ),
        ("future", future, "future", ":1", true),
        ("order", run(100, "a") + &run(0, "b"), "order", ":3", false),
        ("alone", run(0, "a") + &line(1, 1, 4, "b", ""), "single_line", "", false),
        ("extra", run(0, "a") + &line(1, 0, 1, "b", " new=1"), "unknown_extra", ":3", false),
        (
            "versions",
            run(0, "a") + "1999/05/04 12:00:00 m h 0 1 t450 B f90 mpi 1.0 0.1 2.0 f=1 1 4711\n",
            "versions",
            "",
            false,
        ),
    ];
    for (name, text, finding, place, fault) in cases {
        site.file(name, &text);
        // Lengths that a case has changed on purpose are not what it is about.
        let fixed: String = if matches!(name, "mhz" | "version" | "zone" | "span" | "future") {
            with_lengths(&text)
        } else {
            text
        };
        site.file(name, &fixed);
        let (code, found) = site.check(&[name]);
        assert_eq!(code, if fault { 4 } else { 0 }, "{name}: {found:?}");
        let (count, places) = found.get(finding).unwrap_or_else(|| panic!("{name}: {found:?}"));
        assert!(*count >= 1);
        if !place.is_empty() {
            assert_eq!(places[0], format!("{name}{place}"), "{found:?}");
        }
        let (_, out, _) = site.run(&["--check", name]);
        assert!(out.contains(if fault { "\nFaults\n" } else { "No faults." }), "{out}");
    }
}

/// Every part of a line: the warning, the report and the check count the same, and none passes
/// for a line.
#[test]
fn cut_lines_are_counted_alike() {
    let site = CheckSite::new();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/logs/v1/module.log");
    let golden = fs::read_to_string(golden).unwrap();
    let whole = golden.lines().next().unwrap();
    let version = whole.find(" v=1").unwrap();
    let id = whole[..version].rfind(' ').unwrap();
    let cuts: String = (1..whole.len()).map(|cut| format!("{}\n", &whole[..cut])).collect();
    site.file("cuts", format!("{cuts}{whole}\n"));
    let skipped = whole.len() as u64 - 1;
    let agree = |name: &str, good: u64, skipped: u64| {
        let (_, out, err) = site.run(&["--json", name]);
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["lines"]["good"], good, "{name}");
        assert_eq!(report["lines"]["skipped"], skipped, "{name}");
        let of = format!("{skipped} of {} lines skipped", good + skipped);
        assert!(err.contains(&of), "{err}");
        let (_, found) = site.check(&[name]);
        let bad = found.iter().filter(|(name, _)| {
            ["bad_", "torn", "unfinished"].iter().any(|word| name.starts_with(word))
        });
        assert_eq!(bad.map(|(_, (count, _))| count).sum::<u64>(), skipped, "{name}: {found:?}");
        let (_, out, _) = site.run(&["--check", name]);
        assert!(out.contains(&format!(" {good} log lines of ")), "{out}");
    };
    agree("cuts", 1, skipped);
    // Without its newline at the end of the file, whatever it looks like.
    for cut in [5, 40, id + 1, id + 5, version, version + 1, version + 3, version + 9] {
        site.file("last", format!("{whole}\n{}", &whole[..cut]));
        agree("last", 1, 1);
    }
    for cut in (version + 4..whole.len()).step_by(13) {
        site.file("last", format!("{whole}\n{}", &whole[..cut]));
        agree("last", 1, 1);
    }
}

/// Counts and first places over files against awk and sort, with so little memory that
/// everything goes through temporary files.
#[test]
fn duplicates_over_many_files_as_sort_finds_them() {
    let site = CheckSite::new();
    let mut next = numbers_below(7);
    for file in 0..5 {
        let lines: String = (0..2000)
            .map(|_| {
                line(
                    next(3) as i64,
                    next(4) as u32,
                    4 + next(2) as u32,
                    &format!("{:x}", next(900)),
                    "",
                )
            })
            .collect();
        site.file(&format!("{file}.log"), lines);
    }
    let sh = |program: &str| {
        let out =
            Command::new("sh").args(["-c", program]).current_dir(site.path()).output().unwrap();
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    let duplicates =
        sh("cat ?.log | sort | awk '$0 == last { n++ } { last = $0 } END { print n }'");
    let collisions = sh(
        "cat ?.log | awk '{ print $16, $6 }' | sort -u | awk '{ n[$1]++ } END { for (i in n) if (n[i] > 1) c++; print c }'",
    );
    let first = sh("awk 'seen[$0]++ && n++ < 3 { print FILENAME \":\" FNR }' ?.log");
    let files = ["0.log", "1.log", "2.log", "3.log", "4.log"];
    for memory in ["256M", "1K"] {
        let (code, found) = site.check(&[&["--memory", memory], &files[..]].concat());
        assert_eq!(code, 4);
        assert_eq!(found["duplicate"].0.to_string(), duplicates, "{memory}");
        assert_eq!(found["id_collision"].0.to_string(), collisions, "{memory}");
        assert_eq!(found["duplicate"].1.join("\n"), first, "{memory}");
    }
}

#[test]
fn files_of_users_belong_to_them() {
    let site = CheckSite::new();
    let own = nix::unistd::getuid().as_raw();
    let text = run(0, "a").replace("uid=1000", &format!("uid={own}"));
    let text: String = with_lengths(&text);
    let path = site.file(&format!("2026-10.{own}.log"), &text);
    assert_eq!(site.check(&["."]).0, 0);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(site.check(&["."]).1["file_mode"].0, 1);
    fs::remove_file(&path).unwrap();
    if own == 0 {
        // Another user's file that holds lines of uid 0.
        let path = site.file("2026-10.4242.log", &text);
        assert_eq!(site.check(&["."]).1.keys().collect::<Vec<_>>(), ["other_user"]);
        chown(&path, Some(65534), None).unwrap();
        let found = site.check(&["."]).1;
        assert_eq!(found.keys().collect::<Vec<_>>(), ["file_owner", "foreign"]);
        assert_eq!(found["foreign"].0, 2);
    }
    // Mode 0666 protects nobody; a shared file that users only append to does.
    let shared = site.file("all.log", run(0, "x"));
    for (mode, found) in [(0o622, false), (0o644, false), (0o666, true)] {
        fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
        assert_eq!(site.check(&["all.log"]).1.contains_key("file_mode"), found, "{mode:o}");
    }
}

#[test]
fn what_cannot_be_checked() {
    let site = CheckSite::new();
    site.file("a.log", run(0, "a"));
    let (code, _, err) = site.run(&["--check", "missing"]);
    assert!(code == 1 && err.contains("cannot read missing"), "{err}");
    let (code, _, err) = site.run(&["--check", "-"]);
    assert!(code == 2 && err.contains("standard input can be read once"), "{err}");
    assert_eq!(site.run(&["--check", "--user", "anna", "a.log"]).0, 2);
    site.file("empty", "");
    let (code, out, _) = site.run(&["--check", "empty"]);
    assert_eq!(
        (code, out.as_str()),
        (0, "1 files, 0 lines: 0 log lines of 0 runs\n\nNo faults.\n")
    );
    site.file("nul", b"\0\0\0\n\0".repeat(3));
    assert_eq!(site.check(&["nul"]).0, 4);
}

/// Users in a directory of mode 1733, as installed: each finds the own files without listing
/// it, plain and closed, and nobody those of others.
#[test]
fn users_see_their_own_lines_only() {
    let site = CheckSite::new();
    if !nix::unistd::getuid().is_root() {
        let _ =
            std::io::stderr().write_all(b"skipped: users_see_their_own_lines_only: needs root\n");
        return;
    }
    let (anna, bert) = (65534, 4242);
    let program = site.path().join("topas-stat");
    place_program(Path::new(env!("CARGO_BIN_EXE_topas-stat")), &program);
    fs::set_permissions(site.path(), Permissions::from_mode(0o711)).unwrap();
    let logs = site.path().join("logs");
    fs::create_dir(&logs).unwrap();
    fs::set_permissions(&logs, Permissions::from_mode(0o1733)).unwrap();
    let of = |uid: u32, id: &str| -> String {
        let text = run(0, id).replace("uid=1000", &format!("uid={uid}"));
        with_lengths(&text)
    };
    for (uid, ids) in [(anna, ["a1", "a2", "a3"]), (bert, ["b1", "b2", "b3"])] {
        let name = |month: &str, end: &str| format!("logs/2026-{month}.{uid}.log{end}");
        let compressed = zstd::encode_all(of(uid, ids[0]).as_bytes(), 1).unwrap();
        for path in [
            site.file(&name("08", ".zst"), compressed),
            site.file(&name("09", ""), of(uid, ids[1])),
            // A line that somebody wrote in another's name.
            site.file(&name("10", ""), of(uid, ids[2]) + &of(1, "x")),
        ] {
            chown(&path, Some(uid), Some(uid)).unwrap();
        }
    }
    let shared = site.file("logs/all.log", of(anna, "s1") + &of(bert, "s2") + &of(1, "s3"));
    fs::set_permissions(&shared, Permissions::from_mode(0o644)).unwrap();
    let conf = site.file("topas.conf", format!("log = file:{}/%Y-%m.%u.log\n", logs.display()));
    fs::set_permissions(&conf, Permissions::from_mode(0o644)).unwrap();
    let as_user = |uid: u32, args: &[&str]| {
        let mut command = Command::new(&program);
        command.args(args).current_dir("/").uid(uid).gid(uid).stdin(Stdio::null());
        // Whatever the environment says of who it is.
        command.env_clear().env("USER", "anna").env("LOGNAME", "anna").env("UID", "1");
        command.env("TOPAS_CONF", &conf);
        texts(&mut command)
    };
    let runs = |(code, out, err): (i32, String, String)| -> u64 {
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        let value: Value = serde_json::from_str(&out).unwrap();
        value["runs"].as_u64().unwrap()
    };
    let pattern = format!("{}/%Y-%m.%u.log", logs.display());
    for uid in [anna, bert] {
        assert_eq!(runs(as_user(uid, &["--mine", "--json"])), 3, "{uid}");
        assert_eq!(runs(as_user(uid, &["--mine", "--json", &pattern])), 3, "{uid}");
        assert_eq!(runs(as_user(uid, &["--mine", "--json", shared.to_str().unwrap()])), 1, "{uid}");
    }
    let other = logs.join(format!("2026-09.{bert}.log"));
    let (code, _, err) = as_user(anna, &["--mine", other.to_str().unwrap()]);
    assert!(code == 1 && err.contains("Permission denied"), "{err}");
    let (code, _, err) = as_user(anna, &["--mine", logs.to_str().unwrap()]);
    assert!(code == 1 && err.contains("Permission denied"), "{err}");
    // A user without a line, and a site whose log is no file.
    let (code, _, err) = as_user(7777, &["--mine"]);
    assert!(code == 3 && err.contains("no runs"), "{err}");
    fs::write(&conf, "log = unix:/run/topas/log\n").unwrap();
    let (code, _, err) = as_user(anna, &["--mine"]);
    assert!(code == 2 && err.contains("names no files"), "{err}");
}

/// Lines of MPI profiles stand in the same log: they are no log lines, and not bad.
#[test]
fn lines_of_mpi_profiles_are_what_they_are() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/logs/v1/mpi.log");
    let profiles = fs::read_to_string(golden).unwrap();
    let run = "1999/11/20 12:00:00 mohr heat 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=100000000 10 4711\n";
    let site = CheckSite::new();
    let count = profiles.lines().count();
    site.file("log", format!("{profiles}{run}"));
    let (code, out, err) = site.run(&["--json", "log"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["lines"]["good"], 1);
    assert_eq!(value["lines"]["mpi_profile"], count);
    assert_eq!(value["lines"]["skipped"], 0);
    let (_, out, _) = site.run(&["--check", "log"]);
    let words = format!("1 log lines of 1 runs, {count} lines of MPI profiles\n");
    assert!(out.contains(&words), "{out}");
    assert!(!out.contains("Faults"), "{out}");

    // One that was torn, and one in a file of another user.
    let uid = nobody(&profiles);
    site.file(
        &format!("2026-11.{uid}.log"),
        format!("{}\n{profiles}", &profiles[..profiles.find('\n').unwrap() - 9]),
    );
    let (_, found) = site.check(&[&format!("2026-11.{uid}.log")]);
    assert_eq!(found["bad_profile"].0, 1, "{found:?}");
    assert_eq!(found["other_user"].0, count as u64, "{found:?}");
}

/// A user that the lines do not name.
fn nobody(text: &str) -> u64 {
    (4000..).find(|uid| !text.contains(&format!(" uid={uid} "))).unwrap()
}
