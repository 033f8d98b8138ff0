//! What a user can do to logs that others read: two users write what they like into a directory
//! as it is installed, and the administrator's tools read it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;
use topas_tests::alone::{as_user, is_root};
use topas_tests::running::{Run, command, run};
use topas_tests::site::{Scratch, Site};

/// Two users.
const ANNA: u32 = 65534;
const BERT: u32 = 4242;

/// A directory of logs, mode 1733, that root reads.
struct Logs {
    scratch: Scratch,
    dir: PathBuf,
}

impl Logs {
    fn new(test: &str) -> Option<Logs> {
        if !is_root(test) {
            return None;
        }
        let scratch = Scratch::new();
        let dir = scratch.sub("logs");
        fs::set_permissions(&dir, Permissions::from_mode(0o1733)).expect("mode");
        Some(Logs { scratch, dir })
    }

    /// Has a user run a command of the shell in the directory; `$0` is the text.
    fn shell(&self, uid: u32, script: &str, text: &str) {
        let mut shell = command("sh");
        shell.args(["-c", &format!("umask 077; {script}"), text]).current_dir(&self.dir);
        let ended = run(&mut as_user(uid, uid, &shell));
        assert_eq!(ended.code(), 0, "{script}: {}", ended.err());
    }

    /// Has a user write a file.
    fn write(&self, uid: u32, name: &str, text: &str) {
        self.shell(uid, &format!("printf %s \"$0\" >> {name}"), text);
    }

    /// A tool of the installation, which must have ended in time.
    fn tool(&self, name: &str, words: &[&str]) -> Run {
        let mut tool = command(Site::shared().tool(name));
        let since = Instant::now();
        let ended = run(tool.args(words).current_dir(self.scratch.path()));
        assert!(since.elapsed() < Duration::from_secs(60), "{name} {words:?} took too long");
        ended
    }

    fn name(&self) -> &str {
        self.dir.to_str().expect("text")
    }

    fn file(&self, name: &str) -> String {
        self.scratch.path().join(name).to_str().expect("text").to_owned()
    }

    /// What topas-stat says of a log, which it can read.
    fn report(&self, log: &str) -> Value {
        let report = self.tool("topas-stat", &["--json", "--quiet", log]);
        serde_json::from_str(&report.out()).unwrap_or_else(|e| panic!("{e}: {}", report.err()))
    }
}

/// A line with its length.
fn whole(text: &str) -> String {
    format!("{text} len={:03}\n", text.len() + 8)
}

/// A log line that says it is of this user; each id is a run.
fn line(uid: u32, id: &str) -> String {
    whole(&format!(
        "2026/10/04 12:00:00 user heat 0 2 t2450 B c mpi 1.000 0.100 2.000 f=1000 10 {id} v=1 \
         t=1791115200 uid={uid} host=n1 end=exit:0"
    ))
}

/// A record of an MPI profile, of one line.
fn profile(uid: u32, id: &str) -> String {
    whole(&format!(
        "2026/10/04 12:00:00 topas-mpi user heat 4 {id} v=1 of=run line=1/1 t=1791115200 \
         uid={uid} end=finalize host=n1 ranks=4 wall=40 wallmax=10 mpisum=2 mpimax=2 mpimin=2 \
         usemax=8 over=0 thr=1 f=Send:2:0.5:0.25:20:2:160"
    ))
}

/// Lines that are foreign, and whose files they stand in.
fn foreign(report: &Value) -> (u64, Vec<u64>) {
    let foreign = report.get("foreign").unwrap_or(&report["lines"]["foreign"]);
    let owners = foreign["owners"].as_array().expect("owners");
    (
        foreign["lines"].as_u64().expect("number"),
        owners.iter().map(|o| o["owner"].as_u64().expect("uid")).collect(),
    )
}

/// A line counts if it is of the user whom its file belongs to, wherever it goes then.
#[test]
fn nobody_writes_in_the_name_of_another() {
    let Some(logs) = Logs::new("nobody_writes_in_the_name_of_another") else { return };
    let anna = line(ANNA, "run-of-anna");
    logs.write(ANNA, "2026-10.65534.log", &(anna.clone() + &profile(ANNA, "run-of-anna")));
    // Other runs, a part of Anna's, two users at once, no user, one that looks as if it had been
    // set apart, a line cut in two; and one of his own.
    let twice = anna.trim_end().replace(" len=", &format!(" uid={BERT} len="));
    let twice = whole(twice.split(" len=").next().expect("line"));
    let none = line(ANNA, "none").replace("user", "root").replace(&format!(" uid={ANNA}"), "");
    let none = whole(none.split(" len=").next().expect("line"));
    let set_apart = format!("#foreign owner={ANNA} {}", line(BERT, "accused"));
    let of_bert = [
        line(BERT, "run-of-bert"),
        line(ANNA, "forged"),
        line(ANNA, "run-of-anna").replace("heat 0", "heat 1"),
        twice,
        none,
        set_apart,
        profile(ANNA, "run-of-anna").replace("Send:2:", "Send:9:"),
        line(BERT, "run-of-anna").replace("heat 0", "heat 1"),
    ];
    logs.write(BERT, "2026-10.4242.log", &of_bert.concat());

    let report = logs.report(logs.name());
    // Anna's, Bert's, and Bert's with the id of Anna's.
    assert_eq!(report["runs"], 3, "{report:#}");
    assert_eq!(foreign(&report), (5, vec![BERT.into()]), "{report:#}");
    let said = logs.tool("topas-stat", &[logs.name()]).err();
    assert!(said.contains("5 foreign lines are not counted"), "{said}");
    assert!(said.contains(&format!("in files of uid {BERT}: ")), "{said}");
    assert!(said.contains(&format!(" of uid {ANNA}")), "{said}");

    let check = logs.tool("topas-stat", &["--check", "--json", logs.name()]);
    assert_eq!(check.code(), 4, "{}", check.err());
    let found: Value = serde_json::from_str(&check.out()).expect("JSON");
    assert_eq!(foreign(&found), (5, vec![BERT.into()]), "{found:#}");

    let mpi = logs.tool("topasview", &["--mpi", "--list", logs.name()]).good();
    assert_eq!(mpi.out().matches("run-of-anna").count(), 1, "{}", mpi.out());
    assert!(mpi.err().contains("foreign"), "{}", mpi.err());

    let exported = logs.tool("topas-log", &["export", logs.name()]).good();
    assert!(!exported.out().contains("forged"), "{}", exported.out());
    assert_eq!(exported.out().matches("topas-mpi").count(), 1);

    // A merged log and a joined segment are root's: they vouch for what is in them.
    let merged = logs.file("merged.log");
    logs.tool("topas-log", &["merge", "-o", &merged, logs.name()]).good();
    let again = logs.file("again.log");
    logs.tool("topas-log", &["merge", "-o", &again, &merged]).good();
    let closed = logs.file("closed");
    fs::create_dir(&closed).expect("directory");
    let close = ["close", "--dir", logs.name(), "--to", &closed, "--join", "--before", "2026-11"];
    let now = ["--idle", "0", "--settle", "0"];
    logs.tool("topas-log", &[&close[..], &now[..]].concat()).good();
    for log in [&merged, &again, &closed] {
        let report = logs.report(log);
        assert_eq!(report["runs"], 3, "{log}: {report:#}");
        // What Bert's comment says of Anna is nobody's word.
        assert_eq!(foreign(&report), (6, vec![BERT.into()]), "{log}: {report:#}");
        let exported = logs.tool("topas-log", &["export", log]).good().out();
        assert_eq!(exported.lines().count(), 4, "{log}: {exported}");
        assert!(!exported.contains("forged"), "{log}: {exported}");
        assert_eq!(logs.tool("topas-stat", &["--check", log]).code(), 4, "{log}");
    }
}

/// Who collects lines of all users owns their files; topas.conf names that account.
#[test]
fn a_service_is_believed() {
    let Some(logs) = Logs::new("a_service_is_believed") else { return };
    logs.write(BERT, "2026-10.log", &(line(ANNA, "a") + &line(BERT, "b")));
    let runs = |conf: &str| {
        let file = logs.file("topas.conf");
        fs::write(&file, conf).expect("conf");
        let mut stat = command(Site::shared().tool("topas-stat"));
        stat.env("TOPAS_CONF", &file).args(["--json", "--quiet", logs.name()]);
        let report: Value = serde_json::from_str(&run(&mut stat).out()).expect("JSON");
        report["runs"].as_u64()
    };
    assert_eq!(runs(""), Some(1));
    assert_eq!(runs(&format!("log_owner = syslog {BERT}\n")), Some(2));
    // What comes through a pipe is the caller's word, and so is a file of the caller's own.
    let text = fs::read(logs.dir.join("2026-10.log")).expect("log");
    let piped = logs.file("piped.log");
    fs::write(&piped, text).expect("copy");
    let mut shell = command("sh");
    shell.args(["-c", "\"$0\" --json --quiet - < \"$1\""]);
    shell.arg(Site::shared().tool("topas-stat")).arg(&piped);
    let report: Value = serde_json::from_str(&run(&mut shell).out()).expect("JSON");
    assert_eq!(report["runs"], 2);
    assert_eq!(logs.report(&piped)["runs"], 2);
}

/// Whatever a user puts there: it is told, and all else is read and closed.
#[test]
fn nobody_stops_the_tools() {
    let Some(logs) = Logs::new("nobody_stops_the_tools") else { return };
    logs.write(ANNA, "2026-10.65534.log", &line(ANNA, "run-of-anna"));
    for (name, script) in [
        ("2026-10.nowhere.log", "ln -s /nowhere"),
        ("2026-10.kernel.log", "ln -s /proc/kmsg"),
        ("2026-10.pipe.log", "mkfifo"),
        ("2026-10.holes.log", "truncate -s 1T"),
        ("2026-10.deep.log", "mkdir -p deep/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17; :"),
    ] {
        logs.shell(BERT, &format!("{script} {name}"), "");
    }
    let cut = "printf %s \"$0\" | gzip -c | head -c 60 > 2026-10.cut.log.gz";
    logs.shell(BERT, cut, &line(BERT, "cut").repeat(2));
    logs.shell(
        BERT,
        "truncate -s 1T 2026-10.hollow.log.gz; printf '\\037\\213\\010\\000' | dd \
        of=2026-10.hollow.log.gz conv=notrunc status=none",
        "",
    );
    // The administrator's shell fills in `*`, which names what others put there.
    let all = format!("exec \"$0\" --json {}/*.log*", logs.name());
    let mut shell = command("sh");
    shell.args(["-c", &all]).arg(Site::shared().tool("topas-stat"));
    let named = run(&mut shell);
    assert_eq!(named.code(), 1, "{}", named.err());
    let report: Value = serde_json::from_str(&named.out()).expect("JSON");
    assert_eq!(report["runs"], 1, "{report:#}");
    assert!(named.err().contains(&format!("a pipe of uid {BERT}")), "{}", named.err());

    let stat = logs.tool("topas-stat", &["--json", logs.name()]);
    assert_eq!(stat.code(), 1, "two files are damaged: {}", stat.err());
    let report: Value = serde_json::from_str(&stat.out()).expect("JSON");
    assert_eq!(report["runs"], 1, "{report:#}");
    let said = stat.err();
    for word in ["symbolic link and 1 more", "a pipe, a socket", "too deep", "cut.log.gz", "hollow"]
    {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(logs.tool("topas-stat", &["--check", logs.name()]).code(), 1);
    let merged = logs.file("merged.log");
    let merge = logs.tool("topas-log", &["merge", "-o", &merged, logs.name()]);
    assert_eq!(merge.code(), 1, "{}", merge.err());
    assert!(fs::read_to_string(&merged).expect("merged").contains("run-of-anna"));
    let export = logs.tool("topas-log", &["export", logs.name()]);
    assert_eq!((export.code(), export.out()), (1, line(ANNA, "run-of-anna")));

    let close = ["close", "--dir", logs.name(), "--before", "2026-11", "--idle", "0"];
    let close = logs.tool("topas-log", &[&close[..], &["--settle", "0"]].concat());
    assert_eq!(close.code(), 0, "{}", close.err());
    assert!(close.out().contains("most of it is holes"), "{}", close.out());
    let left: Vec<String> = fs::read_dir(&logs.dir)
        .expect("directory")
        .map(|entry| entry.expect("entry").file_name().into_string().expect("text"))
        .collect();
    assert!(!left.iter().any(|name| name.contains(".closing-")), "{left:?}");
    assert!(left.contains(&"2026-10.65534.log.zst".to_owned()), "{left:?}");
    // A last look: the closed segment is Anna's, and read.
    assert_eq!(logs.report(logs.name())["runs"], 1);
}

/// No link leads a tool of root's to what its maker may not read.
#[test]
fn nobody_reads_through_root() {
    let Some(logs) = Logs::new("nobody_reads_through_root") else { return };
    let secret = logs.scratch.path().join("secret");
    fs::write(&secret, "the secret of root\n").expect("secret");
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).expect("mode");
    let secrets = logs.scratch.sub("secrets");
    fs::write(secrets.join("2026-10.log"), "the secret of root\n").expect("secret");
    logs.shell(BERT, "ln -s \"$0\" 2026-10.4242.log", secret.to_str().expect("text"));
    logs.shell(BERT, "ln -s \"$0\" host", secrets.to_str().expect("text"));
    logs.write(BERT, "2026-10.log", &line(BERT, "run-of-bert"));
    // As a hard link would lie there, where fs.protected_hardlinks is 0.
    fs::hard_link(&secret, logs.dir.join("2026-10.hard.log")).expect("link");
    let link = logs.dir.join("2026-10.4242.log");
    let link = link.to_str().expect("text");
    let merged = logs.file("merged.log");
    for log in [logs.name(), link, &format!("{}/2026*.log", logs.name())] {
        for (tool, words) in [
            ("topas-stat", &[log][..]),
            ("topas-stat", &["--check", log]),
            ("topas-log", &["merge", log]),
            ("topas-log", &["merge", "-o", &merged, log]),
            ("topas-log", &["export", log]),
            ("topasview", &[log]),
            ("topasview", &["--mpi", log]),
        ] {
            let ended = logs.tool(tool, words);
            let said = ended.out() + &ended.err();
            assert!(!said.contains("secret of"), "{tool} {words:?}: {said}");
        }
    }
    assert!(!fs::read_to_string(&merged).unwrap_or_default().contains("secret of"));
    let close = ["close", "--dir", logs.name(), "--before", "2026-11", "--idle", "0"];
    logs.tool("topas-log", &[&close[..], &["--settle", "0"]].concat());
    assert!(secrets.join("2026-10.log").exists() && secret.exists());
    assert_eq!(fs::read_to_string(&secret).expect("secret"), "the secret of root\n");
}

/// Whoever takes the name of an output first, in a directory of all users, neither gets what root
/// writes nor leads it to a file of root's.
#[test]
fn nobody_gets_what_root_writes() {
    let Some(logs) = Logs::new("nobody_gets_what_root_writes") else { return };
    logs.write(ANNA, "2026-10.65534.log", &line(ANNA, "run-of-anna"));
    let target = logs.scratch.path().join("target");
    fs::write(&target, "of root").expect("target");
    logs.shell(BERT, "ln -s \"$0\" link; ln -s none dangling", target.to_str().expect("text"));
    logs.shell(BERT, "umask 0; : > file; mkfifo pipe", "");
    // Without a reader, writing to the pipe would wait for ever.
    let log = logs.dir.join("2026-10.65534.log");
    let log = log.to_str().expect("text");
    for name in ["link", "dangling", "file", "pipe"] {
        let out = logs.dir.join(name);
        let out = out.to_str().expect("text");
        for (tool, words) in [
            ("topas-log", &["merge", "-o", out, log][..]),
            ("topas-log", &["merge", "--force", "-o", out, log]),
            ("topas-log", &["export", "-o", out, log]),
            ("topas-stat", &["--svg", out, log]),
            ("topasview", &["--html", out, log]),
        ] {
            let ended = logs.tool(tool, words);
            assert_eq!(ended.code(), 1, "{tool} {words:?}: {}", ended.err());
            let said = ended.err();
            assert!(said.contains(&format!("of uid {BERT} in a directory")), "{words:?}: {said}");
        }
    }
    assert_eq!(fs::read_to_string(&target).expect("target"), "of root");
    assert_eq!(fs::metadata(logs.dir.join("file")).expect("file").len(), 0);
    assert!(!logs.dir.join("none").exists());
    // In a directory of one user the file stays this user's, whoever writes it.
    logs.shell(BERT, "mkdir mine; : > mine/file", "");
    let mine = logs.dir.join("mine/file");
    logs.tool("topas-log", &["export", "-o", mine.to_str().expect("text"), log]).good();
    assert!(fs::read_to_string(&mine).expect("file").contains("run-of-anna"));
}

/// A name of a file acts on no terminal, and a name in a log on no spreadsheet.
#[test]
fn names_do_nothing() {
    let Some(logs) = Logs::new("names_do_nothing") else { return };
    let evil = "2026-10.\u{1b}]0;title\u{7}\nsecond\u{1b}[31m.log";
    logs.shell(BERT, "printf 'bad line\\n' > \"$0\"", evil);
    logs.shell(BERT, "printf x | gzip -c | head -c 15 > \"$0\".gz", evil);
    logs.shell(BERT, "ln -s /nowhere \"$0\".link; mkdir \"$0\".dir", evil);
    let formula = line(BERT, "run").replace(" user heat ", " =1+1 @heat ");
    let formula = whole(formula.split(" len=").next().expect("line"));
    logs.write(BERT, "2026-10.4242.log", &formula);
    let close = ["close", "--dir", logs.name(), "--before", "2026-11", "--idle", "0"];
    for (tool, words) in [
        ("topas-stat", &[logs.name()][..]),
        ("topas-stat", &["--check", logs.name()]),
        ("topas-stat", &["--check", "--json", logs.name()]),
        ("topas-stat", &[&format!("{}/{evil}", logs.name())]),
        ("topasview", &[logs.name()]),
        ("topasview", &["--mpi", logs.name()]),
        ("topas-log", &["merge", logs.name()]),
        ("topas-log", &["export", logs.name()]),
        ("topas-log", &[&close[..], &["--dry-run"]].concat()),
        ("topas-log", &[&close[..], &["--settle", "0"]].concat()),
    ] {
        let ended = logs.tool(tool, words);
        let said = ended.out() + &ended.err();
        let acts = |c: char| c.is_control() && c != '\n';
        // Merged lines are copied as they are, and there are none of these bytes in them.
        assert!(!said.contains(acts) && !said.contains("\nsecond"), "{tool} {words:?}: {said:?}");
    }
    for (tool, words) in [
        ("topas-stat", &["--csv", "--by", "user,exe", logs.name()][..]),
        ("topas-log", &["export", "--csv", logs.name()]),
    ] {
        let table = logs.tool(tool, words).out();
        assert!(table.contains("'=1+1") && table.contains("'@heat"), "{table}");
        assert!(!table.contains(",=") && !table.contains(",@"), "{table}");
    }
}

/// Files by host, as INSTALL.md has them for NFS, are found; an empty answer says where nothing
/// was.
#[test]
fn directories_are_read_with_what_is_below() {
    let Some(logs) = Logs::new("directories_are_read_with_what_is_below") else { return };
    let empty = logs.tool("topas-stat", &[logs.name()]);
    assert_eq!(empty.code(), 3);
    assert!(empty.err().contains("looked at 1 directory, 0 files, 0 lines"), "{}", empty.err());
    for (host, uid) in [("n1", ANNA), ("n2", BERT)] {
        logs.shell(uid, &format!("mkdir {host} && chmod 1733 {host}"), "");
        logs.write(uid, &format!("{host}/2026-10.{uid}.log"), &line(uid, host));
    }
    assert_eq!(logs.report(logs.name())["runs"], 2);
    let check = logs.tool("topas-stat", &["--check", logs.name()]);
    assert!(check.out().starts_with("2 files, 2 lines: 2 log lines of 2 runs"), "{}", check.out());
    assert_eq!(logs.tool("topas-log", &["merge", logs.name()]).good().out().lines().count(), 2);
    assert!(logs.tool("topasview", &["--list", logs.name()]).good().out().contains("n2"));
    let close = ["close", "--dir", logs.name(), "--before", "2026-11", "--idle", "0"];
    logs.tool("topas-log", &[&close[..], &["--settle", "0"]].concat()).good();
    assert!(logs.dir.join(format!("n1/2026-10.{ANNA}.log.zst")).exists());
    assert_eq!(logs.report(logs.name())["runs"], 2);
    // Links are not followed, and told.
    logs.shell(BERT, "ln -s n1 n3", "");
    let linked = logs.tool("topas-stat", &[logs.name()]).good();
    assert!(linked.err().contains("n3: a symbolic link"), "{}", linked.err());
    let one = logs.tool("topas-stat", &["--since", "2030-01-01", logs.name()]);
    assert!(one.err().contains("looked at 3 directories, 2 files, 2 lines"), "{}", one.err());
}
