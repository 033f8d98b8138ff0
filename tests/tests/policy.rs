//! The site's rules in topas.conf, each key with programs that were linked before: what is
//! measured, what is not, and that nothing else changes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal::{self, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGSEGV, SIGTERM};
use topas_testkit::scratch::place_program;
use topas_tests::alone::{as_nobody, is_root, through, unharmed};
use topas_tests::build::{by_driver, plain, with_module};
use topas_tests::mpi_installation::{Mpi, emulate_rank, launched};
use topas_tests::record::Record;
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site, source_root};
use topas_tests::skip::skip;

/// An installation of its own, whose topas.conf a test changes.
struct PolicySite {
    scratch: Scratch,
    site: Site,
    program: PathBuf,
}

impl PolicySite {
    fn new() -> PolicySite {
        let scratch = Scratch::new();
        let site = Site::lent();
        let program = scratch.path().join("says");
        plain(&site, "c/says.c", false, &program);
        PolicySite { scratch, site, program }
    }

    /// Writes topas.conf: these lines, and the log.
    fn configure(&self, lines: &str) {
        self.write(format!("{lines}\nlog = {}\n", self.scratch.log_target()).as_bytes());
    }

    fn write(&self, text: &[u8]) {
        fs::write(self.site.conf(), text).expect("write topas.conf");
    }

    /// Rank 1 of `size`, with the site's log.
    fn rank(&self, program: &Path, size: u32) -> Command {
        let mut rank = command(program);
        emulate_rank(&mut rank, 1, size, "0123456789abcdef-0123456789abcdef");
        rank.env("TOPAS_PE", "0,1").env("TOPAS_VERBOSE", "1");
        rank
    }

    /// Runs `c/says.c`; the lines it left, after a check that it tells why where it left none.
    #[track_caller]
    fn lines(&self, rank: &mut Command) -> Vec<Record> {
        let said = unharmed(&run(rank));
        let lines = self.scratch.take_log();
        let expected = if lines.is_empty() { "topas: not measured: by topas.conf\n" } else { "" };
        assert_eq!(said, expected, "{rank:?}");
        lines
    }

    #[track_caller]
    fn measures(&self, rank: &mut Command) -> bool {
        self.lines(rank).len() == 1
    }
}

#[test]
fn batch_only() {
    let own = PolicySite::new();
    let batch = |rank: &mut Command| {
        rank.env("PBS_ENVIRONMENT", "PBS_BATCH").env("PBS_JOBID", "8.s");
    };
    for (value, interactive) in [("yes", false), ("no", true)] {
        own.configure(&format!("batch_only = {value}"));
        assert_eq!(own.measures(&mut own.rank(&own.program, 4)), interactive, "{value}");
        let mut rank = own.rank(&own.program, 4);
        batch(&mut rank);
        let lines = own.lines(&mut rank);
        assert_eq!((lines.len(), lines[0].mode.word()), (1, "B"), "{value}");
        // A job that somebody sits in front of is none.
        let mut rank = own.rank(&own.program, 4);
        rank.env("PBS_ENVIRONMENT", "PBS_INTERACTIVE").env("PBS_JOBID", "8.s");
        assert_eq!(own.measures(&mut rank), interactive, "{value}");
    }
}

#[test]
fn min_pes() {
    let own = PolicySite::new();
    for (least, sizes) in [
        ("4", &[(2, false), (3, false), (4, true), (5, true), (100_000, true)][..]),
        ("0", &[(2, true)]),
        ("1", &[(2, true)]),
        ("4294967295", &[(100_000, false)]),
        // No number: as if it were not there.
        ("4294967296", &[(2, true)]),
        ("4 ranks", &[(2, true)]),
        ("-4", &[(2, true)]),
    ] {
        own.configure(&format!("min_pes = {least}"));
        for (size, expected) in sizes {
            let measures = own.measures(&mut own.rank(&own.program, *size));
            assert_eq!(measures, *expected, "min_pes = {least}, {size} ranks");
        }
    }
    own.configure("min_pes = 3");
    let program = own.scratch.path().join("hello");
    for mpi in Mpi::installed("min_pes") {
        run(&mut by_driver(&own.site, &own.scratch, mpi, "mpicc", "c/hello.c", &program)).good();
        for (ranks, lines) in [(2, 0), (3, 2), (4, 2)] {
            let mut launch = mpi.launch(&own.site, &own.scratch, ranks);
            launched(&own.scratch, launch.arg(&program).env_remove("TOPAS_LOG")).good();
            assert_eq!(own.scratch.take_log().len(), lines, "{} {ranks}", mpi.name());
        }
    }
}

/// `*`, several words, names with any bytes, users by name and by number; leaving out wins.
#[test]
fn only_and_skip() {
    let own = PolicySite::new();
    let uid = nix::unistd::geteuid().to_string();
    let other = "4242";
    for (lines, exe, user, expected) in [
        ("only_exe = heat", &b"heat"[..], "mohr", true),
        ("only_exe = heat", b"heat3d", "mohr", false),
        ("only_exe = heat*", b"heat3d", "mohr", true),
        ("only_exe = *heat", b"heat3d", "mohr", false),
        ("only_exe = *eat*", b"heat3d", "mohr", true),
        ("only_exe = cg  heat3d", b"heat3d", "mohr", true),
        ("only_exe = *", b"x", "mohr", true),
        // Of several such lines the last counts, and no path.
        ("only_exe = heat3d\nonly_exe = cg", b"heat3d", "mohr", false),
        ("only_exe = /*/heat", b"heat", "mohr", false),
        // Nothing but the star is special.
        ("only_exe = h?at h[e]at h.at", b"heat", "mohr", false),
        ("only_exe = h\\*", b"heat", "mohr", false),
        ("skip_exe = conftest cmTC_*", b"conftest", "mohr", false),
        ("skip_exe = conftest cmTC_*", b"cmTC_1a2b3", "mohr", false),
        ("skip_exe = conftest cmTC_*", b"conftest2", "mohr", true),
        ("skip_exe = *", b"heat", "mohr", false),
        ("only_exe = heat*\nskip_exe = heat3d", b"heat3d", "mohr", false),
        ("only_exe = heat*\nskip_exe = heat3d", b"heat2d", "mohr", true),
        ("only_exe = caf\u{e9}*", "caf\u{e9}s".as_bytes(), "mohr", true),
        ("skip_exe = ****************a*b", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "mohr", false),
        ("only_user = mohr anna", b"heat", "anna", true),
        ("only_user = mohr anna", b"heat", "annas", false),
        ("only_user = guest*", b"heat", "guest7", true),
        (&format!("only_user = {uid}"), b"heat", "anna", true),
        (&format!("only_user = {other}"), b"heat", "anna", false),
        ("skip_user = mohr", b"heat", "mohr", false),
        ("skip_user = mohr", b"heat", "anna", true),
        (&format!("skip_user = {uid}"), b"heat", "anna", false),
        (&format!("only_user = anna\nskip_user = {uid}"), b"heat", "anna", false),
        ("only_user = anna\nonly_exe = heat", b"heat", "anna", true),
        ("only_user = anna\nonly_exe = heat", b"cg", "anna", false),
        // Without a value a key is no entry.
        ("only_user =\nonly_exe = ", b"heat", "anna", true),
    ] {
        own.configure(lines);
        let program = own.scratch.path().join(OsStr::from_bytes(exe));
        place_program(&own.program, &program);
        let mut rank = own.rank(&program, 4);
        let measures = own.measures(rank.env("LOGNAME", user));
        fs::remove_file(&program).expect("remove");
        assert_eq!(measures, expected, "{lines}: {} {user}", String::from_utf8_lossy(exe));
    }
}

/// Values are bytes: no encoding is asked for.
#[test]
fn values_that_are_no_text() {
    let own = PolicySite::new();
    let exe = b"caf\xe9\xff";
    let program = own.scratch.path().join(OsStr::from_bytes(exe));
    fs::copy(&own.program, &program).expect("copy");
    let log = [own.scratch.path().as_os_str().as_bytes(), b"/l\xe9\xfeg"].concat();
    let conf =
        |key: &[u8]| [key, b"\nlog = file:", &log, b"\n\xff\xfe = \x80\nlog \xff= x\n"].concat();
    for (key, expected) in
        [(&b"only_exe = caf\xe9*"[..], 1), (b"skip_exe = *\xff", 0), (b"skip_exe = *\xfe", 1)]
    {
        own.write(&conf(key));
        unharmed(&run(&mut own.rank(&program, 4)));
        let lines = fs::read(OsStr::from_bytes(&log)).unwrap_or_default();
        let _ = fs::remove_file(OsStr::from_bytes(&log));
        let count = lines.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(count, expected, "{}", String::from_utf8_lossy(key));
        assert!(expected == 0 || lines.windows(exe.len()).any(|part| part == exe));
    }
}

/// No variable of a user makes a program measured that the site leaves out.
#[test]
fn variables_do_not_override_the_site() {
    let own = PolicySite::new();
    for line in ["measure = no", "min_pes = 8", "batch_only = yes", "skip_exe = says"] {
        own.configure(line);
        let mut rank = own.rank(&own.program, 4);
        rank.env("TOPAS", "on").env("TOPAS_OPS", "loads").env("TOPAS_PRINT", "yes");
        rank.env("TOPAS_CONF", "/dev/null").env("TOPAS_LOG", own.scratch.log_target());
        assert!(!own.measures(&mut rank), "{line}");
    }
}

/// Programs alone: only those linked for it, only while the site wants it.
#[test]
fn serial() {
    let own = PolicySite::new();
    let (plain_one, for_alone) =
        (own.scratch.path().join("plain"), own.scratch.path().join("alone"));
    for mpi in Mpi::installed("serial") {
        let link = |program: &Path| {
            let source = "c/no_mpi.c";
            run(&mut by_driver(&own.site, &own.scratch, mpi, "mpicc", source, program)).good();
        };
        own.configure("serial = no");
        link(&plain_one);
        own.configure("serial = yes");
        link(&for_alone);
        for (conf, program, expected) in [
            ("serial = yes", &for_alone, 1),
            ("serial = yes", &plain_one, 0),
            ("serial = no", &for_alone, 0),
            ("serial = yes\nskip_exe = al*", &for_alone, 0),
            ("serial = yes\nbatch_only = yes", &for_alone, 0),
            ("serial = yes\nmin_pes = 2", &for_alone, 0),
            ("serial = yes\nmeasure = no", &for_alone, 0),
        ] {
            own.configure(conf);
            for by_launcher in [false, true] {
                let mut one = if by_launcher {
                    mpi.launch(&own.site, &own.scratch, 1)
                } else {
                    command(program)
                };
                if by_launcher {
                    one.arg(program);
                }
                let ended = launched(&own.scratch, one.env_remove("TOPAS_LOG")).good();
                assert_eq!((ended.out().as_str(), ended.err().as_str()), ("no MPI here\n", ""));
                let lines = own.scratch.take_log();
                let case = format!("{} {conf}, launcher {by_launcher}", mpi.name());
                assert_eq!(lines.len(), expected, "{case}");
                for line in lines {
                    assert_eq!((line.pe, line.npes), (0, 1), "{case}: {}", line.text);
                }
            }
        }
        // Two ranks are two lines, whatever it was linked for.
        own.configure("serial = yes");
        for program in [&plain_one, &for_alone] {
            let mut two = mpi.launch(&own.site, &own.scratch, 2);
            launched(&own.scratch, two.arg(program).env_remove("TOPAS_LOG")).good();
            assert_eq!(own.scratch.take_log().len(), 2, "{}", mpi.name());
        }
    }
}

/// Linked without it, a program alone makes no system call more than without the module.
#[test]
fn a_program_alone_makes_no_system_call() {
    let test = "a_program_alone_makes_no_system_call";
    if !have("strace") || run(command("strace").args(["-o", "/dev/null", "true"])).code() != 0 {
        return skip(test, "strace does not work here");
    }
    let own = PolicySite::new();
    own.configure("serial = yes");
    let calls = |name: &str, bare: bool| {
        let dir = own.scratch.sub(name);
        plain(&own.site, "c/empty.c", bare, &dir.join("program"));
        let report = dir.join("calls");
        let inner = command("./program");
        let mut traced = through(&["strace", "-f", "-o", report.to_str().expect("path")], &inner);
        run(traced.current_dir(&dir)).good();
        let text = fs::read_to_string(&report).expect("report of strace");
        let name =
            |line: &str| line.split_once(' ')?.1.trim().split_once('(').map(|n| n.0.to_owned());
        text.lines().filter_map(name).collect::<Vec<_>>()
    };
    let bare = calls("bare", true);
    assert!(bare.contains(&"execve".to_owned()), "{bare:?}");
    assert_eq!(calls("linked", false), bare);
    assert_eq!(own.scratch.take_log().len(), 0);
}

/// Which signals leave a line is the site's choice; the program ends by them as ever.
#[test]
fn signals() {
    let own = PolicySite::new();
    let source = own.scratch.path().join("raises.c");
    let text = "#include <signal.h>\n#include <stdlib.h>\n\
                int main(int n, char **words) { return raise(atoi(words[n - 1])); }\n";
    fs::write(&source, text).expect("write");
    let program = own.scratch.path().join("raises");
    let mut gcc = command("gcc");
    run(gcc.arg(&source).arg("-o").arg(&program).arg(with_module(&own.site, "c"))).good();
    const ALL: [Signal; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGPIPE, SIGTERM];
    // Those that no handler delays; never SIGINT, by which people end what they see.
    const BY_DEFAULT: [Signal; 3] = [SIGQUIT, SIGSEGV, SIGPIPE];
    const BUT_INT: [Signal; 5] = [SIGHUP, SIGQUIT, SIGSEGV, SIGPIPE, SIGTERM];
    for (lines, with_line) in [
        ("", &BY_DEFAULT[..]),
        ("signals = yes", &BY_DEFAULT),
        ("signals = perhaps", &BY_DEFAULT),
        ("sigterm = yes", &BUT_INT),
        ("signals = no", &[]),
        ("signals = no\nsigterm = yes", &[]),
    ] {
        own.configure(lines);
        for signal in ALL {
            let mut rank = own.rank(&program, 4);
            let number = signal as i32;
            rank.arg(number.to_string());
            // What a terminal leaves, whatever the tests were started by.
            let mut rank = through(&["env", "--default-signal=HUP,INT,QUIT"], &rank);
            let ended = run(rank.current_dir(own.scratch.path())).ends(128 + number);
            assert_eq!((ended.out().as_str(), ended.err().as_str()), ("", ""), "{lines} {signal}");
            let lines_of_log = own.scratch.take_log();
            let ends: Vec<_> = lines_of_log.iter().map(|line| line.extra("end")).collect();
            let expected = format!("sig:{number}");
            let expected = if with_line.contains(&signal) { vec![&*expected] } else { Vec::new() };
            assert_eq!(ends, expected, "{lines}: signal {signal}");
        }
        // A normal end does not depend on it.
        assert!(own.measures(&mut own.rank(&own.program, 4)), "{lines}");
    }
}

/// Programs read so many bytes; what a site says there holds, and what is cut is no entry.
#[test]
fn a_long_file_loses_its_end_only() {
    const READ: usize = topas_format::conf::MAX_READ;
    let own = PolicySite::new();
    let log = format!("log = {}\n", own.scratch.log_target());
    let comment = |bytes: usize| "#".repeat(bytes - 1) + "\n";
    // All of it at the end of what is read.
    own.write([comment(READ - log.len()), log.clone(), comment(9000)].concat().as_bytes());
    assert!(own.measures(&mut own.rank(&own.program, 4)));
    own.write([log.clone(), comment(READ), "measure = no\n".to_owned()].concat().as_bytes());
    assert!(own.measures(&mut own.rank(&own.program, 4)));
    // A value that is cut would be another one: here the log of somebody else.
    let cut = format!("log = {}.of.this.site\n", own.scratch.log_target());
    let seen = log.len() - 1;
    own.write([comment(READ - seen), cut, comment(100)].concat().as_bytes());
    let said = unharmed(&run(&mut own.rank(&own.program, 4)));
    assert_eq!(own.scratch.take_log().len(), 0, "a log that topas.conf does not name: {said}");
}

/// A file that the user may not read is none.
#[test]
fn a_file_that_cannot_be_read() {
    if !is_root("a_file_that_cannot_be_read") {
        return;
    }
    let own = PolicySite::new();
    own.configure("ops = loads");
    fs::set_permissions(own.site.conf(), PermissionsExt::from_mode(0o600)).expect("mode");
    let said = unharmed(&run(&mut as_nobody(&own.rank(&own.program, 4))));
    if Path::new("/etc/topas/topas.conf").exists() {
        return skip("a_file_that_cannot_be_read", "this machine has an /etc/topas/topas.conf");
    }
    assert!(said.contains("no log in topas.conf"), "{said}");
    assert!(!own.scratch.log().exists());
    // Nothing is said unless it is asked for.
    let mut silent = own.rank(&own.program, 4);
    assert_eq!(unharmed(&run(&mut as_nobody(silent.env("TOPAS_VERBOSE", "0")))), "");
}

/// The sample as installed measures everything into the prefix.
#[test]
fn the_sample_measures() {
    let sample = fs::read_to_string(source_root().join("etc/topas.conf")).expect("sample");
    let own = PolicySite::new();
    // Each example, uncommented, is taken: no key of another version.
    let all =
        sample.lines().map(|l| l.strip_prefix('#').filter(|l| !l.starts_with(' ')).unwrap_or(""));
    let all: Vec<_> = all.filter(|l| l.contains(" = ") && !l.starts_with("log")).collect();
    assert!(all.len() > 10, "{all:?}");
    own.configure(&all.join("\n"));
    let mut rank = own.rank(&own.program, 4);
    let root = nix::unistd::geteuid().is_root();
    // Its example leaves out root.
    assert_eq!(own.measures(&mut rank), !root);
    let but_users: Vec<_> = all.into_iter().filter(|l| !l.starts_with("skip_user")).collect();
    own.configure(&but_users.join("\n"));
    assert!(own.measures(&mut own.rank(&own.program, 4)));
}
