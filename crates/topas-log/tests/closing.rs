//! `topas-log close`: what is kept, what is left, who can interfere.

mod tool;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use tool::{Dir, append, is_root, line};

/// Everything is old enough, and nobody is waited for.
const NOW: [&str; 6] = ["close", "--idle", "0", "--settle", "0", "--dir"];

fn close(dir: &Dir, more: &[&str]) -> (i32, String, String) {
    dir.run(&[&NOW[..], &["."], more].concat())
}

fn lines(user: &str, times: std::ops::Range<i64>) -> String {
    times.map(|t| line(t, user, t as usize)).collect()
}

/// The text of a file by zstd itself.
fn unpacked(path: &Path) -> String {
    let test = Command::new("zstd").arg("-qt").arg(path).output().unwrap();
    assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stderr));
    let out = Command::new("zstd").arg("-qdc").arg(path).output().unwrap();
    assert!(out.status.success());
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn past_months_are_compressed_and_the_present_one_is_not() {
    let dir = Dir::new();
    let text = lines("anna", 0..5000);
    let path = dir.file("2026-09.1000.log", &text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    dir.file("2026-09-30.1001.log", lines("bert", 0..3));
    dir.file("2026-10.1000.log", lines("anna", 0..2));
    dir.file("2026-09.7.log.gz", "closed by somebody else");
    dir.file("topas.log", lines("anna", 0..1));
    fs::create_dir(dir.path().join("2026-09")).unwrap();
    let planned = close(&dir, &["--before", "2026-10", "--dry-run"]);
    assert_eq!((planned.0, planned.2.as_str()), (0, ""));
    assert!(planned.1.contains("2026-09-30.1001.log: would be closed, "), "{}", planned.1);
    assert!(planned.1.contains("topas.log: left: no month"), "{}", planned.1);
    assert!(dir.path().join("2026-09.1000.log").exists());

    let (code, out, err) = close(&dir, &["--before", "2026-10"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(
        out.contains(&format!("2026-09.1000.log: 5000 lines, {} B, into", text.len())),
        "{out}"
    );
    assert!(out.contains("2 files, 5003 lines"), "{out}");
    let names = [
        "2026-09",
        "2026-09-30.1001.log.zst",
        "2026-09.1000.log.zst",
        "2026-09.7.log.gz",
        "2026-10.1000.log",
        "topas.log",
    ];
    assert_eq!(dir.names(), names);
    let closed = dir.path().join("2026-09.1000.log.zst");
    assert_eq!(unpacked(&closed), text);
    assert_eq!(fs::metadata(&closed).unwrap().mode() & 0o777, 0o640);
    let mut checksum = Command::new("zstd");
    let listed = checksum.args(["-lv"]).arg(&closed).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("XXH64"), "{listed}");

    let again = close(&dir, &["--before", "2026-10"]);
    assert!(again.1.ends_with(".: nothing to close\n"), "{}", again.1);
    assert_eq!(dir.names(), names);
}

#[test]
fn late_lines_are_added_and_torn_ones_swallow_none() {
    let dir = Dir::new();
    let late = dir.file("2026-09.1.log", lines("anna", 0..10) + "torn");
    assert_eq!(close(&dir, &[]).0, 0);
    fs::write(&late, lines("anna", 10..12)).unwrap();
    assert_eq!(close(&dir, &[]).0, 0);
    fs::write(&late, "").unwrap();
    let (code, out, _) = close(&dir, &[]);
    assert_eq!((code, out.contains("2026-09.1.log: 0 lines, 0 B")), (0, true), "{out}");
    assert_eq!(dir.names(), ["2026-09.1.log.zst"]);
    let text = unpacked(&dir.path().join("2026-09.1.log.zst"));
    assert_eq!(text, lines("anna", 0..10) + "torn\n" + &lines("anna", 10..12));
}

#[test]
fn one_segment_a_month_elsewhere() {
    let dir = Dir::new();
    fs::create_dir(dir.path().join("closed")).unwrap();
    for (name, user, times) in
        [("2026-08.1.log", "a", 0..4), ("2026-09.1.log", "a", 4..8), ("2026-09.2.log", "b", 0..9)]
    {
        dir.file(name, lines(user, times));
    }
    let (code, out, err) = close(&dir, &["--join", "--to", "closed"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(dir.names(), ["closed"]);
    let closed = dir.path().join("closed");
    assert_eq!(unpacked(&closed.join("2026-08.log.zst")), lines("a", 0..4));
    assert_eq!(unpacked(&closed.join("2026-09.log.zst")), lines("a", 4..8) + &lines("b", 0..9));
    assert_eq!(fs::metadata(closed.join("2026-09.log.zst")).unwrap().mode() & 0o777, 0o600);
    dir.file("2026-09.3.log", lines("c", 0..1));
    assert_eq!(close(&dir, &["--join", "--to", "closed"]).0, 0);
    assert!(unpacked(&closed.join("2026-09.log.zst")).ends_with(&lines("c", 0..1)));
}

#[test]
fn what_is_being_written_is_left() {
    let dir = Dir::new();
    dir.file("2026-09.1.log", lines("a", 0..4));
    let (_, out, _) = dir.run(&["close", "--dir", ".", "--settle", "0"]);
    assert!(out.contains("2026-09.1.log: left: written a moment ago"), "{out}");
    assert_eq!(dir.names(), ["2026-09.1.log"]);
    // Open for writing: it is set aside, and closed when nobody has it open.
    let mut writer =
        fs::OpenOptions::new().append(true).open(dir.path().join("2026-09.1.log")).unwrap();
    let (code, out, _) = close(&dir, &[]);
    assert!(code == 0 && out.contains("left: a process has it open"), "{out}");
    assert_eq!(dir.names().len(), 1);
    assert!(dir.names()[0].starts_with("2026-09.1.log.closing-"));
    std::io::Write::write_all(&mut writer, lines("a", 4..5).as_bytes()).unwrap();
    drop(writer);
    assert_eq!(close(&dir, &[]).0, 0);
    assert_eq!(unpacked(&dir.path().join("2026-09.1.log.zst")), lines("a", 0..5));
}

#[test]
fn two_closes_do_not_meet() {
    let dir = Dir::new();
    dir.file("2026-09.1.log", lines("a", 0..4));
    let lock = fs::File::open(dir.path()).unwrap();
    lock.lock().unwrap();
    let (code, _, err) = close(&dir, &[]);
    assert_eq!(code, 5);
    assert!(err.starts_with("topas-log: error: another close or purge is at work in ."), "{err}");
    drop(lock);
    assert_eq!(close(&dir, &[]).0, 0);
    let (code, _, err) = dir.run(&["close", "--dir", "missing"]);
    assert!(code == 1 && err.contains("No such file"), "{err}");
}

/// Writers of several processes' kind append all the time while months are closed.
#[test]
fn lines_that_come_meanwhile_are_all_there_once() {
    const WRITERS: usize = 6;
    let dir = Dir::new();
    let path = dir.path().join("2026-09.1.log");
    let stop = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (path, stop) = (&path, &stop);
                scope.spawn(move || {
                    let mut n = 0;
                    while !stop.load(Ordering::Relaxed) && n < 20_000 {
                        append(path, line(n as i64, &format!("w{writer}"), n).as_bytes());
                        n += 1;
                        std::thread::sleep(std::time::Duration::from_micros(300));
                    }
                    n
                })
            })
            .collect();
        for round in 0..12 {
            let settle = if round == 5 { "1" } else { "0" };
            let (code, _, err) =
                dir.run(&["close", "--dir", ".", "--idle", "0", "--settle", settle]);
            assert_eq!((code, err.as_str()), (0, ""));
        }
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<usize>>()
    });
    assert_eq!(close(&dir, &[]).0, 0);
    assert_eq!(dir.names(), ["2026-09.1.log.zst"]);
    let text = unpacked(&dir.path().join("2026-09.1.log.zst"));
    let mut got: Vec<&str> = text.split_inclusive('\n').collect();
    let mut expected: Vec<String> = written
        .iter()
        .enumerate()
        .flat_map(|(w, &lines)| (0..lines).map(move |n| line(n as i64, &format!("w{w}"), n)))
        .collect();
    got.sort();
    expected.sort();
    assert!(expected.len() > 1000, "{} lines are no load", expected.len());
    assert!(got == expected, "{} lines written, {} there", expected.len(), got.len());
}

/// Root closes in a directory that everybody may write to.
#[test]
fn users_keep_what_is_theirs_and_reach_nothing_else() {
    let test = "users_keep_what_is_theirs_and_reach_nothing_else";
    if !is_root(test) {
        return;
    }
    let (anna, bert) = (65534, 4242);
    let dir = Dir::new();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o1733)).unwrap();
    let owned = |name: &str, text: &str, uid: u32| {
        let path = dir.file(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        chown(&path, Some(uid), Some(uid)).unwrap();
        path
    };
    owned("2026-09.1.log", &lines("a", 0..3), anna);
    // Another user's names in the way of the segment, and what looks like an unfinished close.
    owned("2026-09.2.log", &lines("b", 0..3), anna);
    owned("2026-09.2.log.zst", "mine", bert);
    symlink("/etc/passwd", dir.path().join("2026-09.2.log.2.zst")).unwrap();
    owned("2026-09.1.log.closing-0123456789abcdef", &lines("forged", 0..1), bert);
    // Links and pipes in place of logs.
    let secret = dir.file("secret", "secret");
    symlink(&secret, dir.path().join("2026-09.3.log")).unwrap();
    fs::hard_link(&secret, dir.path().join("2026-09.4.log")).unwrap();
    nix::unistd::mkfifo(&dir.path().join("2026-09.5.log"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    symlink(&secret, dir.path().join("2026-09.6.log.closing-0123456789abcdef")).unwrap();

    let (code, out, err) = close(&dir, &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for left in [
        "2026-09.3.log: left: a link",
        "2026-09.4.log: left: it has more",
        "2026-09.5.log: left: a link",
        "2026-09.6.log: left: a link",
    ] {
        assert!(out.contains(left), "{left}: {out}");
    }
    let of = |name: &str| {
        let path = dir.path().join(name);
        let about = fs::metadata(&path).unwrap();
        (unpacked(&path), about.uid(), about.gid(), about.mode() & 0o777)
    };
    assert_eq!(of("2026-09.1.log.zst"), (lines("a", 0..3), anna, anna, 0o600));
    assert_eq!(of("2026-09.1.log.2.zst"), (lines("forged", 0..1), bert, bert, 0o600));
    assert_eq!(of("2026-09.2.log.3.zst"), (lines("b", 0..3), anna, anna, 0o600));
    assert_eq!(dir.text("2026-09.2.log.zst"), "mine");
    assert_eq!(dir.text("secret"), "secret");
    // The forger's part is where it was made first; late lines go to their owners' segments.
    owned("2026-09.1.log", &lines("a", 3..4), anna);
    assert_eq!(close(&dir, &[]).0, 0);
    assert_eq!(of("2026-09.1.log.zst").0, lines("a", 0..4));
    assert_eq!(of("2026-09.1.log.2.zst").0, lines("forged", 0..1));
}
