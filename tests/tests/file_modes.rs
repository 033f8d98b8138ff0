//! Who can write, read, change and remove what, for each choice of modes that
//! `doc/operations.md` describes: tried by the users themselves.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use topas_tests::alone::{as_user, is_root, quiet, rank, says, unharmed};
use topas_tests::record::{Record, read_log};
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::note;

/// Two users, and a group that one of them is in.
const ANNA: u32 = 65534;
const BERT: u32 = 4242;
const GROUP: u32 = 4300;

/// A directory of logs, made as an administrator would, and the program.
struct Logs {
    scratch: Scratch,
    program: PathBuf,
    dir: PathBuf,
}

impl Logs {
    fn new(test: &str, mode: u32, group: Option<u32>) -> Option<Logs> {
        if !is_root(test) {
            return None;
        }
        let (scratch, program) = says();
        let dir = scratch.sub("logs");
        chown(&dir, Some(0), group).expect("group");
        fs::set_permissions(&dir, Permissions::from_mode(mode)).expect("mode");
        Some(Logs { scratch, program, dir })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// A file as `install -m MODE -g GROUP /dev/null` makes it.
    fn install(&self, name: &str, mode: u32, group: Option<u32>) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, "").expect("make a file");
        chown(&path, Some(0), group).expect("group");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("mode");
        path
    }

    /// Runs the measured program as a user; whether the target took the line.
    fn logs(&self, uid: u32, group: u32, pattern: &str) -> bool {
        let target = format!("file:{}", self.at(pattern).display());
        let said = unharmed(&run(&mut as_user(uid, group, &rank(&self.program, &target))));
        assert!(said.is_empty() || said.contains("denied") || said.contains("is a link"), "{said}");
        said.is_empty()
    }
}

/// Whether a user can do something to a file, `$0`.
fn can(uid: u32, group: u32, what: &str, path: &Path) -> bool {
    let mut shell = command("sh");
    shell.args(["-c", what]).arg(path);
    run(&mut as_user(uid, group, &shell)).code() == 0
}

const READ: &str = "cat \"$0\" > /dev/null";
const APPEND: &str = ": >> \"$0\"";
const TRUNCATE: &str = ": > \"$0\"";
const REMOVE: &str = "rm -f \"$0\"";
const RENAME: &str = "mv \"$0\" \"$0.moved\"";
const LIST: &str = "ls \"$0\"";

fn uids(lines: &[Record]) -> Vec<&str> {
    lines.iter().map(|line| line.extra("uid")).collect()
}

/// As installed: a file of each user in a directory of mode 1733.
#[test]
fn a_file_of_each_user() {
    let Some(logs) = Logs::new("a_file_of_each_user", 0o1733, None) else { return };
    for uid in [ANNA, BERT] {
        assert!(logs.logs(uid, uid, "%Y.%u.log"));
    }
    let year = fs::read_dir(&logs.dir).expect("logs").flatten().next().expect("a file");
    let year = year.file_name().into_string().expect("text")[..4].to_owned();
    let of_anna = logs.at(&format!("{year}.{ANNA}.log"));
    let about = fs::metadata(&of_anna).expect("file of one user");
    assert_eq!((about.uid(), about.mode() & 0o7777), (ANNA, 0o600));
    for what in [READ, APPEND, TRUNCATE, REMOVE, RENAME] {
        assert!(!can(BERT, BERT, what, &of_anna), "another user: {what}");
    }
    for uid in [ANNA, BERT] {
        assert!(!can(uid, uid, LIST, &logs.dir), "{uid} lists the directory");
    }
    // The administrator reads all of them.
    let mut stat = command(Site::shared().tool("topas-stat"));
    let report = run(stat.arg(&logs.dir)).good();
    assert!(report.err().is_empty(), "{}", report.err());
    // What is the user's own stays the user's own: there is no protection from its owner.
    for what in [READ, TRUNCATE, REMOVE] {
        assert!(can(ANNA, ANNA, what, &of_anna), "the owner: {what}");
    }
    // Somebody takes another one's name, even lets that one in, or leads it elsewhere: its
    // lines go to the next target. What the doctor says to the user:
    assert!(can(BERT, BERT, "ln -s /tmp \"$0\"", &of_anna));
    assert!(!logs.logs(ANNA, ANNA, "%Y.%u.log"));
    assert!(can(BERT, BERT, "rm \"$0\"; umask 077; : > \"$0\"", &of_anna));
    assert!(!logs.logs(ANNA, ANNA, "%Y.%u.log"));
    assert!(can(BERT, BERT, "chmod 0666 \"$0\"", &of_anna));
    assert!(!logs.logs(ANNA, ANNA, "%Y.%u.log"));
    let mut doctor = command("./topas-doctor");
    fs::copy(Site::shared().tool("topas-doctor"), logs.scratch.path().join("topas-doctor"))
        .expect("copy");
    doctor.current_dir(logs.scratch.path()).arg("--no-self-test");
    doctor.env("TOPAS_LOG", format!("file:{}/%Y.%u.log", logs.dir.display()));
    let report = run(&mut as_user(ANNA, ANNA, &doctor)).out();
    assert!(report.contains(&format!("not this user's but of uid {BERT}")), "{report}");
}

/// One file for all, made by the administrator: users append and do not read, and nothing
/// keeps them from overwriting but the attribute.
#[test]
fn a_shared_file() {
    let Some(logs) = Logs::new("a_shared_file", 0o1733, None) else { return };
    let path = logs.install("all.log", 0o622, None);
    for uid in [ANNA, BERT] {
        assert!(logs.logs(uid, uid, "all.log"));
        assert!(!can(uid, uid, READ, &path), "{uid} reads");
        assert!(!can(uid, uid, REMOVE, &path), "{uid} removes");
        assert!(!can(uid, uid, RENAME, &path), "{uid} renames");
        assert!(can(uid, uid, APPEND, &path), "{uid} appends");
    }
    assert_eq!(uids(&read_log(&path)), [ANNA.to_string(), BERT.to_string()]);
    assert!(can(ANNA, ANNA, TRUNCATE, &path), "the modes alone let users truncate");
    // Made by the first user it is everybody's.
    assert!(logs.logs(ANNA, ANNA, "free.log"));
    let free = logs.at("free.log");
    // Where systemd has set this, the kernel refuses to a shell, which opens files as if to make them,
    // the files of others in a directory where all may make files.
    let protected = fs::read_to_string("/proc/sys/fs/protected_regular").unwrap_or_default();
    let is_protected = !["", "0"].contains(&protected.trim());
    for (what, is_allowed) in [(READ, true), (APPEND, !is_protected), (TRUNCATE, !is_protected)] {
        assert_eq!(can(BERT, BERT, what, &free), is_allowed, "{what}");
    }
    assert!(can(ANNA, ANNA, REMOVE, &free));
}

/// `chattr +a`: lines are added and nothing else, not even by root.
#[test]
fn a_file_for_appends_only() {
    let test = "a_file_for_appends_only";
    let Some(logs) = Logs::new(test, 0o1733, None) else { return };
    let path = logs.install("all.log", 0o622, None);
    let attribute = |sign: &str| {
        have("chattr") && run(command("chattr").arg(format!("{sign}a")).arg(&path)).code() == 0
    };
    if !attribute("+") {
        // A property of the file system under the test, as on tmpfs of older kernels.
        return note(test, "this file system has no append-only attribute; nothing was tried");
    }
    assert!(logs.logs(ANNA, ANNA, "all.log") && logs.logs(BERT, BERT, "all.log"));
    for (uid, what) in [(ANNA, TRUNCATE), (0, TRUNCATE), (0, REMOVE), (0, RENAME), (ANNA, READ)] {
        assert!(!can(uid, uid, what, &path), "{uid}: {what}");
    }
    let other = format!("printf x | dd of={} conv=notrunc status=none", path.display());
    assert!(!can(ANNA, ANNA, &other, &path), "overwrites the beginning");
    assert!(attribute("-"));
    assert_eq!(uids(&read_log(&path)), [ANNA.to_string(), BERT.to_string()]);
}

/// Members of a group only: the directory is the group's, with set-group-id and sticky bit.
#[test]
fn a_directory_of_a_group() {
    let Some(logs) = Logs::new("a_directory_of_a_group", 0o3730, Some(GROUP)) else { return };
    assert!(logs.logs(ANNA, GROUP, "%u.log"));
    assert!(!logs.logs(BERT, BERT, "%u.log"), "no member");
    assert!(logs.logs(BERT, GROUP, "%u.log"), "the same user as a member");
    let of_anna = logs.at(&format!("{ANNA}.log"));
    let about = fs::metadata(&of_anna).expect("file of one user");
    assert_eq!((about.uid(), about.gid(), about.mode() & 0o7777), (ANNA, GROUP, 0o600));
    for what in [READ, APPEND, TRUNCATE, REMOVE, RENAME] {
        assert!(!can(BERT, GROUP, what, &of_anna), "another member: {what}");
    }
    assert!(!can(ANNA, GROUP, LIST, &logs.dir));
    // A shared file there: members append, nobody else does, none of them reads.
    let shared = logs.install("all.log", 0o620, Some(GROUP));
    assert!(logs.logs(ANNA, GROUP, "all.log"));
    assert!(!logs.logs(BERT, BERT, "all.log"));
    assert!(!can(ANNA, GROUP, READ, &shared) && !can(BERT, BERT, APPEND, &shared));
    assert_eq!(read_log(&shared).len(), 1);
}

/// Reports for people who are not root: a group that reads a shared file others append to.
#[test]
fn a_group_that_reads() {
    let Some(logs) = Logs::new("a_group_that_reads", 0o1733, None) else { return };
    let path = logs.install("all.log", 0o662, Some(GROUP));
    assert!(logs.logs(ANNA, ANNA, "all.log"), "others append");
    assert!(logs.logs(BERT, GROUP, "all.log"), "a reader runs programs, too");
    assert!(can(BERT, GROUP, READ, &path) && !can(ANNA, ANNA, READ, &path));
    // With 0642 the group's class comes first: readers lose their own lines.
    fs::set_permissions(&path, Permissions::from_mode(0o642)).expect("mode");
    assert!(!logs.logs(BERT, GROUP, "all.log"));
    assert!(logs.logs(ANNA, ANNA, "all.log"));
}

/// A directory by host, made by whichever user comes first, is everybody's in the same way.
#[test]
fn a_directory_by_host() {
    let Some(logs) = Logs::new("a_directory_by_host", 0o1733, None) else { return };
    for uid in [ANNA, BERT] {
        let target = format!("file:{}/%h/%u.log", logs.dir.display());
        quiet(&run(&mut as_user(uid, uid, &rank(&logs.program, &target))));
    }
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("host name");
    let dir = logs.at(host.trim());
    let about = fs::metadata(&dir).expect("directory of the host");
    assert_eq!((about.uid(), about.mode() & 0o7777), (ANNA, 0o1733));
    let of_bert = dir.join(format!("{BERT}.log"));
    for what in [READ, APPEND, TRUNCATE] {
        assert!(!can(ANNA, ANNA, what, &of_bert), "{what}");
    }
    // Its maker owns the directory, and so may list it and remove what is in it: better
    // make it beforehand.
    assert!(can(ANNA, ANNA, LIST, &dir) && can(ANNA, ANNA, REMOVE, &of_bert));
    assert!(!logs.scratch.log().exists());
}

/// A user who may not list the directory of logs gets the own mail all the same, of the own lines.
#[test]
fn a_mail_where_the_directory_is_closed() {
    if !is_root("a_mail_where_the_directory_is_closed") {
        return;
    }
    let (_scratch, program) = says();
    let site = Site::lent();
    let conf = fs::read_to_string(site.conf()).expect("topas.conf");
    let target = conf.lines().find_map(|line| line.strip_prefix("log = ")).expect("a target");
    assert!(target.contains("/%Y-%m.%u.log"), "{target}");
    for uid in [ANNA, BERT] {
        quiet(&run(&mut as_user(uid, uid, &rank(&program, target))));
    }
    let year = run(command("date").arg("+%Y")).good().out();
    let mut mail = command(site.tool("topas-report"));
    mail.args(["mail", "--show", "--period", year.trim(), "--user"]);
    let mail = |user: u32| {
        let mut own = as_user(ANNA, ANNA, &mail);
        run(own.arg(user.to_string()))
    };
    let own = mail(ANNA);
    let only = "topas-report: the directory of logs is closed to you: only your own lines are read";
    assert!(own.err().contains(only) && !own.err().contains("error"), "{}", own.err());
    assert!(own.good().out().contains("1 run"), "a mail of one run");
    let other = mail(BERT);
    assert!(other.code() == 3 && other.out().is_empty(), "{}{}", other.out(), other.err());
}
