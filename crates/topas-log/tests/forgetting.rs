//! `topas-log purge --user`: the lines of a user are gone, and no line of anybody else.

mod tool;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use tool::{Dir, append, have, is_root, line};
use topas_testkit::with_lengths;

/// The user who asks, and somebody else. The system knows neither.
const ANNA: u32 = 54_321;
const BERT: u32 = 54_322;

/// A line of a user.
fn of(uid: u32, n: usize) -> String {
    let user = if uid == ANNA { "anna" } else { "bert" };
    let line = line(n as i64, user, n).replace("uid=1000", &format!("uid={uid}"));
    with_lengths(line.trim_end().rsplit_once(" len=").unwrap().0) + "\n"
}

/// An MPI profile of two lines; only the first says whose it is.
fn profile(uid: u32, id: &str) -> String {
    let user = if uid == ANNA { "anna" } else { "bert" };
    let head = format!("2026/10/01 12:00:00 topas-mpi {user} heat3d 8 {id} v=1 of=run");
    let first = format!(
        "{head} line=1/2 t=1790856000 uid={uid} end=finalize host=n1 mpi=Open_MPI ranks=8 wall=80 \
         wallmax=10 mpisum=40"
    );
    format!(
        "{}\n{}\n",
        with_lengths(&first),
        with_lengths(&format!("{head} line=2/2 f=Barrier:2:1:1::::::"))
    )
}

/// All text of a file, by zstd and the like.
fn text(dir: &Dir, name: &str) -> String {
    let tool = match name.rsplit('.').next() {
        Some("zst") => "zstdcat",
        Some("gz") => "zcat",
        Some("xz") => "xzcat",
        _ => "cat",
    };
    let out = Command::new(tool).arg(dir.path().join(name)).output().unwrap();
    assert!(out.status.success(), "{name}");
    String::from_utf8(out.stdout).unwrap()
}

const CLOSE: [&str; 7] = ["close", "-q", "--idle", "0", "--settle", "0", "--dir"];

/// A log of two users: a shared file that was closed in two parts, compressed files without an index,
/// and files of each user.
fn site() -> Dir {
    let dir = Dir::new();
    let shared = dir.path().join("2026-09.log");
    for (part, first) in [(0, 0), (1, 100)] {
        for n in first..first + 20 {
            append(&shared, of(if n % 3 == 0 { ANNA } else { BERT }, n).as_bytes());
        }
        append(&shared, profile(ANNA, &format!("a{part}")).as_bytes());
        append(&shared, profile(BERT, &format!("b{part}")).as_bytes());
        append(&shared, format!("#foreign owner={ANNA} {}", of(BERT, 7)).as_bytes());
        // A disk that was full, and lines that are none.
        append(&shared, b"2026/10/01 00:00:03 anna heat3d 5");
        append(&shared, of(BERT, first + 50).as_bytes());
        append(&shared, b"2026/10/01 00:00:03 bert heat3d 5");
        append(&shared, of(ANNA, first + 51).as_bytes());
        append(&shared, format!("x uid={ANNA} torn\n# a comment\n").as_bytes());
        assert_eq!(dir.run(&[&CLOSE[..], &["."]].concat()).0, 0);
    }
    for tool in ["gzip", "xz"] {
        let name = format!("topas.log-{tool}");
        dir.file(&name, of(ANNA, 200) + &of(BERT, 201) + &of(ANNA, 202));
        assert!(Command::new(tool).arg(dir.path().join(&name)).status().unwrap().success());
    }
    let only = dir.file("only-anna", of(ANNA, 203));
    assert!(Command::new("zstd").args(["-q", "--rm"]).arg(only).status().unwrap().success());
    dir.file("2026-11.54321.log", of(ANNA, 300));
    dir.file("2026-11.54322.log", of(BERT, 301));
    if nix::unistd::geteuid().is_root() {
        chown(dir.path().join("2026-11.54321.log"), Some(ANNA), None).unwrap();
        chown(dir.path().join("2026-11.54322.log"), Some(BERT), None).unwrap();
        chown(dir.path().join("2026-09.log.zst"), Some(BERT), Some(BERT)).unwrap();
    }
    fs::set_permissions(dir.path().join("2026-09.log.zst"), fs::Permissions::from_mode(0o640))
        .unwrap();
    dir
}

/// What bert had, line by line.
fn of_bert(dir: &Dir) -> Vec<String> {
    let mut lines = Vec::new();
    for name in dir.names() {
        lines.extend(text(dir, &name).split_inclusive('\n').map(str::to_owned));
    }
    lines.retain(|line| {
        line.contains(" bert ") && !line.contains("54321") || line == "# a comment\n"
    });
    // A whole line of bert stays without what a full disk left of anna's.
    for line in &mut lines {
        if let Some(at) = line.rfind("2026/").filter(|_| line.contains("anna")) {
            line.drain(..at);
        }
    }
    lines
}

fn nothing_is_left(dir: &Dir, when: &str) {
    for name in dir.names() {
        let text = text(dir, &name);
        assert!(!text.contains("anna") && !text.contains("54321"), "{when}, {name}: {text}");
    }
}

#[test]
fn lines_of_a_user_are_gone_and_no_others() {
    if !is_root("lines_of_a_user_are_gone_and_no_others") {
        return;
    }
    let dir = site();
    let before = of_bert(&dir);
    assert!(before.len() > 30, "{before:?}");
    let all: Vec<(String, String)> =
        dir.names().into_iter().map(|name| (name.clone(), text(&dir, &name))).collect();
    let (code, out, err) = dir.run(&["purge", "--user", "54321", "--dir", ".", "-n"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("2026-09.log.zst: 25 lines would be removed\n"), "{out}");
    assert!(all.iter().all(|(name, before)| text(&dir, name) == *before));

    let about = fs::metadata(dir.path().join("2026-09.log.zst")).unwrap();
    let (code, out, err) = dir.run(&["purge", "--user", "54321", "--dir", "."]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("2026-11.54321.log: removed, "), "{out}");
    nothing_is_left(&dir, "after the purge");
    assert_eq!(of_bert(&dir), before);
    let names = ["2026-09.log.zst", "2026-11.54322.log", "topas.log-gzip.gz", "topas.log-xz.xz"];
    assert_eq!(dir.names(), names);
    let now = fs::metadata(dir.path().join("2026-09.log.zst")).unwrap();
    assert_eq!((now.uid(), now.gid(), now.mode()), (about.uid(), about.gid(), about.mode()));
    // A second call finds nothing, and the segment is as good as before: a later close adds to it.
    let (code, out, _) = dir.run(&["purge", "--user", "54321", "--dir", "."]);
    assert_eq!(code, 0);
    assert!(out.contains(": 0 files of the user and 0 lines were removed"), "{out}");
    chown(dir.path().join("2026-09.log.zst"), Some(0), Some(0)).unwrap();
    append(&dir.path().join("2026-09.log"), of(BERT, 999).as_bytes());
    assert_eq!(dir.run(&[&CLOSE[..], &["."]].concat()).0, 0);
    assert_eq!(of_bert(&dir).len(), before.len() + 1);
    assert_eq!(dir.names(), names);
}

#[test]
fn a_file_that_programs_write_to_is_told_and_closed_first() {
    if !is_root("a_file_that_programs_write_to_is_told_and_closed_first") {
        return;
    }
    let dir = Dir::new();
    let text_of_both = of(ANNA, 1) + &of(BERT, 2);
    let path = dir.file("2026-11.log", &text_of_both);
    fs::hard_link(dir.file("a.gz", ""), dir.path().join("b.gz")).unwrap();
    let (code, _, err) = dir.run(&["purge", "--user", "54321", "--dir", "."]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("2026-11.log still has 1 lines of the user"), "{err}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text_of_both);
    let close = [&CLOSE[..], &[".", "--before", "2027-01"]].concat();
    assert_eq!(dir.run(&close).0, 0);
    assert_eq!(dir.run(&["purge", "--user", "54321", "--dir", "."]).0, 0);
    assert_eq!(text(&dir, "2026-11.log.zst"), of(BERT, 2));
    for wrong in
        [&["purge", "--user", "nobody-of-this-name"][..], &["purge", "--user", "1", "--keep", "3"]]
    {
        assert_eq!(dir.run(wrong).0, 2, "{wrong:?}");
    }
}

/// A purge that is killed at each of its system calls: no line of anybody else is lost, and the next
/// call removes the rest.
#[test]
fn killed_at_each_system_call() {
    let test = "killed_at_each_system_call";
    if !have(test, "strace") || !have(test, "zstd") || !is_root(test) {
        return;
    }
    let purge = ["purge", "-q", "--user", "54321", "--dir", "."];
    let mut killed = 0;
    let step = if std::env::var_os("TOPAS_TEST_FULL").is_some() { 1 } else { 4 };
    for n in (1..).step_by(step) {
        let dir = site();
        let before = of_bert(&dir);
        let inject = format!("inject=all:signal=SIGKILL:when={n}");
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", &inject]);
        command.arg(env!("CARGO_BIN_EXE_topas-log")).args(purge).current_dir(dir.path());
        let out = command.output().unwrap();
        let when = format!("killed at system call {n}");
        let named: Vec<String> =
            dir.names().into_iter().filter(|name| name.starts_with(".topas-close-")).collect();
        if named.is_empty() {
            assert!(of_bert(&dir) == before, "{when}: {:?}", of_bert(&dir));
        }
        assert_eq!(dir.run(&purge).0, 0, "{when}");
        nothing_is_left(&dir, &when);
        assert!(of_bert(&dir) == before, "{when}: {:?}", of_bert(&dir));
        if out.status.success() {
            break;
        }
        assert!(out.status.signal() == Some(9) || out.status.code() == Some(137), "{out:?}");
        killed += 1;
        assert!(n < 5000, "it never ends");
    }
    assert!(killed > 80 / step, "{killed} system calls are too few to have written four files");
}
