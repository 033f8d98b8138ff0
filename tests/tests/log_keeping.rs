//! Users and their own lines at a center: rsyslog writes them, as `doc/operations.md` says, and
//! `topas-stat --mine` and `topas-log export --mine` read them; names are hidden and statistics
//! stay; closed months are read as before.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use topas_tests::alone::{as_user, is_root};
use topas_tests::rsyslog::Chain;
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

const ANNA: u32 = 65534;
const BERT: u32 = 4242;

/// A line of a run of its own.
fn line(uid: u32, n: usize) -> Vec<u8> {
    let text = format!(
        "2026/10/20 08:01:02 user{uid} heat3d 0 1 t2596 B f90 mpi 12.340 0.120 12.460 f={n}000000 \
         4567 {uid:x}{n:08x} v=1 t=1792483262 uid={uid} end=exit:0 job={n}"
    );
    format!("{text} len={:03}", text.len() + 8).into_bytes()
}

/// Runs that a tool sees as a user, in a copy that every user can reach.
fn runs(scratch: &Scratch, uid: u32, input: &str) -> (i32, u64, String) {
    let tool = scratch.path().join("topas-stat");
    if !tool.exists() {
        fs::copy(Site::shared().tool("topas-stat"), &tool).expect("copy");
    }
    let mut stat = command(&tool);
    stat.args(["--mine", input]).current_dir("/");
    let ended = run(&mut as_user(uid, uid, &stat));
    // Of the line that says what the percentages are of.
    let runs =
        ended.out().split("Num% of ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    (ended.code(), runs.unwrap_or_default(), ended.err())
}

#[test]
fn users_read_their_own_lines_at_a_center() {
    let test = "users_read_their_own_lines_at_a_center";
    if !is_root(test) {
        return;
    }
    if !have("setfacl") {
        return skip(test, "needs setfacl (acl)");
    }
    let Some(chain) = Chain::start(test) else { return };
    let users = chain.scratch().path().join("users");
    // The scratch directory is root's alone; users need a way in.
    fs::set_permissions(chain.scratch().path(), Permissions::from_mode(0o711)).expect("mode");
    fs::set_permissions(&users, Permissions::from_mode(0o711)).expect("mode");
    for uid in [ANNA, BERT] {
        let dir = users.join(uid.to_string());
        fs::create_dir(&dir).expect("directory of a user");
        fs::set_permissions(&dir, Permissions::from_mode(0o700)).expect("mode");
        run(command("setfacl").arg("-m").arg(format!("u:{uid}:rx")).arg(&dir)).good();
    }
    let socket = chain.socket();
    // Each user sends by logger's kin: the kernel tells rsyslog who it is.
    let send = |uid: u32, of: u32, n: usize| {
        let text = String::from_utf8(line(of, n)).expect("text");
        let mut python = command("python3");
        python.args([
            "-c",
            "import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); \
             s.connect(sys.argv[1]); s.send(sys.argv[2].encode())",
        ]);
        run(&mut as_user(uid, uid, python.arg(&socket).arg(text))).good();
    };
    for n in 0..5 {
        send(ANNA, ANNA, n);
        send(BERT, BERT, n);
    }
    // One in another's name, and one of a user without a directory between the others.
    send(BERT, ANNA, 100);
    let sender = UnixDatagram::unbound().expect("socket");
    sender.connect(&socket).expect("connect");
    sender.send(&line(0, 7)).expect("send");
    send(ANNA, ANNA, 6);
    assert_eq!(chain.wait_for(12).len(), 12);

    let pattern = format!("{}/%u/%Y-%m.log", users.display());
    assert_eq!(runs(chain.scratch(), ANNA, &pattern), (0, 6, String::new()));
    assert_eq!(runs(chain.scratch(), BERT, &pattern), (0, 5, String::new()));
    assert!(!users.join("0").exists());
    let of_anna = fs::read_dir(users.join(ANNA.to_string())).expect("files").flatten().next();
    let of_anna = of_anna.expect("a file").path();
    assert_eq!(fs::metadata(&of_anna).expect("file").uid(), 0);
    let can = |uid: u32, what: &str, path: &Path| {
        let mut shell = command("sh");
        shell.args(["-c", what]).arg(path);
        run(&mut as_user(uid, uid, &shell)).code() == 0
    };
    assert!(can(ANNA, "cat \"$0\" > /dev/null", &of_anna));
    for (uid, what) in [
        (BERT, "cat \"$0\""),
        (ANNA, ": >> \"$0\""),
        (ANNA, "rm -f \"$0\""),
        (ANNA, "mv \"$0\" \"$0.moved\""),
        (ANNA, "ln -s /etc/passwd \"$0.link\""),
        (ANNA, "chmod 700 \"$(dirname \"$0\")\""),
    ] {
        assert!(!can(uid, what, &of_anna), "{uid}: {what}");
    }
    let (code, _, said) = runs(chain.scratch(), BERT, &of_anna.display().to_string());
    assert!(code == 1 && said.contains("denied"), "{said}");
}

/// The report of the installed tool on a log.
fn report(path: &Path) -> String {
    let ended = run(command(Site::shared().tool("topas-stat")).arg(path)).good();
    assert_eq!(ended.err(), "");
    ended.out()
}

#[test]
fn statistics_without_names_and_of_closed_months_are_the_same() {
    let scratch = Scratch::new();
    let logs = scratch.sub("logs");
    for uid in [1000, 1001] {
        let lines: Vec<Vec<u8>> = (0..50).map(|n| [&line(uid, n)[..], b"\n"].concat()).collect();
        let path = logs.join(format!("2026-10.{uid}.log"));
        fs::write(&path, lines.concat()).expect("write a log");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("mode");
    }
    let before = report(&logs);
    assert!(before.contains("Num% of 100 runs"), "{before}");
    let tool = || command(Site::shared().tool("topas-log"));
    let (key, hidden) = (scratch.path().join("key"), scratch.path().join("hidden.log.xz"));
    run(tool().arg("key").arg(&key)).good();
    run(tool().args(["export", "-q", "-a", "-k"]).arg(&key).arg("-o").arg(&hidden).arg(&logs))
        .good();
    assert_eq!(report(&hidden), before);
    run(tool()
        .args(["close", "-q", "--idle", "0", "--settle", "0", "--before", "2026-11", "--dir"])
        .arg(&logs))
    .good();
    let names: Vec<_> =
        fs::read_dir(&logs).expect("logs").flatten().map(|e| e.file_name()).collect();
    assert!(names.iter().all(|name| name.to_string_lossy().ends_with(".log.zst")), "{names:?}");
    assert_eq!(report(&logs), before);
    let check = run(command(Site::shared().tool("topas-stat")).arg("--check").arg(&logs)).good();
    assert!(check.out().contains("100 log lines of 100 runs"), "{}", check.out());
}
