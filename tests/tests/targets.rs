//! Targets that take no line: the next one has it, else the run is unharmed and silent.
//! Files are in `log_faults.rs`; here are sockets and syslog.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use topas_tests::alone::{
    as_nobody, can_mount, in_namespace, is_root, quiet, rank, says, unharmed, with_dev,
};
use topas_tests::record::Record;
use topas_tests::running::{run, run_within};
use topas_tests::site::Scratch;

/// No target may take so long; far less than any time limit of a kernel or daemon.
const AT_ONCE: Duration = Duration::from_secs(10);

/// With a target of the user's that takes nothing: alone, and before a file, silent and verbose.
#[track_caller]
fn faulty(
    scratch: &Scratch,
    program: &Path,
    target: &str,
    why: &str,
    by: impl Fn(&mut Command) -> Command,
) {
    for verbose in ["0", "1"] {
        let mut alone = rank(program, target);
        let alone = &mut by(alone.env("TOPAS_VERBOSE", verbose));
        // It is the user's own target, so it is told in any case.
        let said = unharmed(&run_within(alone, AT_ONCE));
        assert_eq!(said.lines().count(), 1, "{target}: {said}");
        assert!(said.starts_with("topas: TOPAS_LOG=") && said.contains(why), "{target}: {said}");
        assert_eq!(scratch.take_log().len(), 0, "{target}");
    }
    let list = format!("{target} {}", scratch.log_target());
    let mut silent = rank(program, &list);
    quiet(&run_within(&mut by(silent.env("TOPAS_VERBOSE", "0")), AT_ONCE));
    assert_eq!(scratch.take_log().len(), 1, "{list}");
    let said = unharmed(&run_within(&mut by(&mut rank(program, &list)), AT_ONCE));
    assert_eq!(said.lines().count(), 1, "{list}: {said}");
    assert_eq!(scratch.take_log().len(), 1, "{list}");
}

fn as_it_is(command: &mut Command) -> Command {
    std::mem::replace(command, Command::new("false"))
}

#[test]
fn sockets_that_take_nothing() {
    let (scratch, program) = says();
    let at = |name: &str| scratch.path().join(name);
    // Bound, and left behind by a daemon that has gone.
    drop(UnixDatagram::bind(at("dead")).expect("bind"));
    // Of another kind.
    let _stream = UnixListener::bind(at("stream")).expect("bind");
    fs::write(at("file"), "").expect("write");
    let dir = scratch.path().display();
    for (target, why) in [
        (format!("unix:{dir}/missing"), "no such directory"),
        (format!("unix:{dir}/missing/socket"), "no such directory"),
        (format!("unix:{dir}/dead"), "not writable"),
        (format!("unix:{dir}/stream"), "not writable"),
        (format!("unix:{dir}/file"), "not writable"),
        (format!("unix:{dir}"), "not writable"),
        (format!("unix:/{}", "long/".repeat(21)), "no such directory"),
        (format!("unix:/{}", "long/".repeat(22)), "is no target"),
        ("unix:relative".to_owned(), "is no target"),
        ("unix:".to_owned(), "is no target"),
        ("syslog:local0".to_owned(), "is no target"),
        ("syslogd".to_owned(), "is no target"),
    ] {
        faulty(&scratch, &program, &target, why, as_it_is);
    }
    assert_eq!(fs::read(at("file")).expect("file"), b"");
}

/// A reader that does not read: the queue is full, and no program waits for it.
#[test]
fn a_reader_that_hangs() {
    let (scratch, program) = says();
    let path = scratch.path().join("socket");
    let reader = UnixDatagram::bind(&path).expect("bind");
    reader.set_nonblocking(true).expect("non-blocking");
    let sender = UnixDatagram::unbound().expect("socket");
    sender.connect(&path).expect("connect");
    sender.set_nonblocking(true).expect("non-blocking");
    let filled = (0..100_000).take_while(|_| sender.send(b"x").is_ok()).count();
    assert!(filled < 100_000, "the queue is never full");
    let target = format!("unix:{}", path.display());
    faulty(&scratch, &program, &target, "not writable", as_it_is);
    // Once there is room again the line comes, without a newline.
    let mut buffer = [0; 2000];
    while reader.recv(&mut buffer).is_ok() {}
    quiet(&run(&mut rank(&program, &target)));
    let n = reader.recv(&mut buffer).expect("a line");
    let record = Record::parse(&buffer[..n]).expect("a good line");
    assert_eq!(record.extra("len"), format!("{n:03}"));
    assert!(reader.recv(&mut buffer).is_err(), "one datagram");
}

#[test]
fn a_socket_of_others() {
    let test = "a_socket_of_others";
    if !is_root(test) {
        return;
    }
    let (scratch, program) = says();
    let log = scratch.sub("log");
    fs::set_permissions(&log, Permissions::from_mode(0o1733)).expect("mode");
    let path = scratch.path().join("socket");
    let _reader = UnixDatagram::bind(&path).expect("bind");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("mode");
    let target = format!("unix:{} file:{}/%u.log", path.display(), log.display());
    let said = unharmed(&run_within(&mut as_nobody(&rank(&program, &target)), AT_ONCE));
    assert!(said.contains("permission denied") && said.lines().count() == 1, "{said}");
    assert_eq!(fs::read_dir(&log).expect("log").count(), 1);
}

/// No daemon, a dead one, and one that hangs, behind /dev/log.
#[test]
fn syslog_without_a_daemon() {
    if !can_mount("syslog_without_a_daemon") {
        return;
    }
    let (scratch, program) = says();
    let dev = scratch.sub("dev");
    let by = |log: Option<&Path>| {
        let (dev, log) = (dev.clone(), log.map(Path::to_owned));
        move |inner: &mut Command| with_dev(&dev, log.as_deref(), inner)
    };
    faulty(&scratch, &program, "syslog", "no such directory", by(None));
    let dead = scratch.path().join("dead");
    drop(UnixDatagram::bind(&dead).expect("bind"));
    faulty(&scratch, &program, "syslog", "not writable", by(Some(&dead)));
    let hangs = scratch.path().join("hangs");
    let reader = UnixDatagram::bind(&hangs).expect("bind");
    let sender = UnixDatagram::unbound().expect("socket");
    sender.connect(&hangs).expect("connect");
    sender.set_nonblocking(true).expect("non-blocking");
    while sender.send(b"x").is_ok() {}
    faulty(&scratch, &program, "syslog", "not writable", by(Some(&hangs)));
    drop(reader);
}

/// A full and a read-only file system before another target.
#[test]
fn file_systems_that_take_nothing() {
    if !can_mount("file_systems_that_take_nothing") {
        return;
    }
    let (scratch, program) = says();
    let disk = scratch.sub("disk");
    let target = format!("file:{}/topas.log", disk.display());
    for (script, why) in [
        ("mount -t tmpfs -o size=4k tmpfs \"$1\" && head -c 4096 /dev/zero > \"$1/x\"", "no space"),
        ("mount -t tmpfs -o ro tmpfs \"$1\"", "read-only"),
    ] {
        let by = |inner: &mut Command| in_namespace(script, [&disk, Path::new("/")], inner);
        faulty(&scratch, &program, &target, why, by);
    }
}

/// Only the first target that takes the line gets it.
#[test]
fn one_target_gets_the_line() {
    let (scratch, program) = says();
    let path = scratch.path().join("socket");
    let reader = UnixDatagram::bind(&path).expect("bind");
    reader.set_nonblocking(true).expect("non-blocking");
    let list = format!("unix:{} {}", path.display(), scratch.log_target());
    quiet(&run(&mut rank(&program, &list)));
    let mut buffer = [0; 2000];
    assert!(reader.recv(&mut buffer).is_ok());
    assert_eq!(scratch.take_log().len(), 0);
    let list = format!("{} unix:{}", scratch.log_target(), path.display());
    quiet(&run(&mut rank(&program, &list)));
    assert!(reader.recv(&mut buffer).is_err());
    assert_eq!(scratch.take_log().len(), 1);
}
