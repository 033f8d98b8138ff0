//! Logs that cannot be written: the run is unharmed and silent, `TOPAS_VERBOSE=1` says why.
//! And topas.conf, with logs that several users share.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::stat::Mode;
use nix::unistd::{geteuid, mkfifo};
use topas_format::event::Metric;
use topas_tests::alone::is_root;
use topas_tests::build::{plain, source};
use topas_tests::mpi_installation::{Mpi, emulate_rank, launched};
use topas_tests::profile::library;
use topas_tests::record::{Record, read_log};
use topas_tests::running::{Run, command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;
use topas_tests::small_disk::SmallDisk;

const KEY: &str = "0123456789abcdef-0123456789abcdef";
const NOBODY: &str = "65534";

/// A program that was linked with the shared site.
fn says() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let program = scratch.path().join("says");
    plain(Site::shared(), "c/says.c", false, &program);
    (scratch, program)
}

fn rank(command: &mut Command) {
    command.env("TOPAS_PE", "1,2");
    emulate_rank(command, 1, 4, KEY);
}

/// What the program itself does, whatever becomes of its line.
#[track_caller]
fn unharmed(run: &Run, case: &str) {
    assert_eq!((run.code(), run.out().as_str()), (3, "result 42\n"), "{case}: {}", run.err());
}

/// Runs with a log target by which no line can be written; `why` is what verbose says.
#[track_caller]
fn faulty(program: &Path, target: &str, why: &str, set: impl Fn(&mut Command) -> Command) {
    for verbose in [false, true] {
        let mut command = command(program);
        rank(&mut command);
        command.env("TOPAS_LOG", target);
        if verbose {
            command.env("TOPAS_VERBOSE", "1");
        }
        let run = run(&mut set(&mut command));
        let case = format!("TOPAS_LOG={target}");
        unharmed(&run, &case);
        let own = "a warning of the program\n";
        let said = run.err().replacen(own, "", 1);
        // The lower of the two ranks says in any case what is wrong with the user's variable, and
        // if asked whether the site's log takes no line, either.
        let lines: Vec<&str> = said.lines().collect();
        let most = 1 + usize::from(verbose);
        assert!((1..=most).contains(&lines.len()), "{case}: {said}");
        let first = lines[0];
        assert!(first.starts_with("topas: TOPAS_LOG=") && first.contains(why), "{case}: {said}");
        // A long one as far as it fits.
        assert!(first.contains(target.get(..40).unwrap_or(target)), "{case}: {said}");
        assert!(said.ends_with('\n') && first.len() < 600, "{case}: {said}");
    }
}

/// The command as it is.
fn as_it_is(command: &mut Command) -> Command {
    std::mem::replace(command, Command::new("false"))
}

/// The command by another program that runs it: its program and arguments follow.
fn through(words: &[&str]) -> impl Fn(&mut Command) -> Command {
    move |inner| {
        let mut outer = command(words[0]);
        outer.args(&words[1..]).arg(inner.get_program()).args(inner.get_args());
        for (name, value) in inner.get_envs() {
            outer.env(name, value.unwrap_or_default());
        }
        outer
    }
}

fn as_nobody() -> impl Fn(&mut Command) -> Command {
    through(&["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"])
}

#[test]
fn targets_that_are_none() {
    let (scratch, program) = says();
    let dir = scratch.path().display();
    for (target, why) in [
        (format!("file:{dir}/missing/topas.log"), "no such directory"),
        (format!("file:{dir}/missing-%u/deeper/topas.log"), "no such directory"),
        (format!("file:{dir}"), "is a directory"),
        (format!("file:{}/topas.log", program.display()), "not writable"),
        ("file:relative.log".to_owned(), "is no target"),
        (format!("{dir}/topas.log"), "is no target"),
        ("pigeon:home".to_owned(), "is no target"),
        (format!("file:{dir}/%x.log"), "is no target"),
        (format!("file:/{}", "long/".repeat(800)), "no such directory"),
        (format!("file:/{}", "long/".repeat(900)), "is no target"),
        ("file:/proc/version".to_owned(), "not writable"),
    ] {
        faulty(&program, &target, why, as_it_is);
    }
    let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "something was made: {left:?}");
}

#[test]
fn full_devices() {
    let (_scratch, program) = says();
    faulty(&program, "file:/dev/full", "no space left", as_it_is);
}

/// Nobody reads the pipe: the run does not wait for a reader. A reader gets the line.
#[test]
fn a_pipe() {
    let (scratch, program) = says();
    let pipe = scratch.path().join("pipe");
    mkfifo(&pipe, Mode::from_bits_truncate(0o600)).expect("named pipe");
    let target = format!("file:{}", pipe.display());
    faulty(&program, &target, "no reader", as_it_is);
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).expect("read the pipe")
    });
    // Opening for writing waits until the reader is there.
    let held = fs::OpenOptions::new().write(true).open(&pipe).expect("open the pipe");
    let mut command = command(&program);
    rank(&mut command);
    unharmed(&run(command.env("TOPAS_LOG", &target)), "pipe with a reader");
    drop(held);
    let line = reader.join().expect("reader");
    Record::parse(line.strip_suffix(b"\n").expect("a line")).expect("a good line");
}

#[test]
fn directories_and_files_of_others() {
    if !is_root("directories_and_files_of_others") {
        return;
    }
    let (scratch, program) = says();
    let dir = scratch.sub("closed");
    let file = scratch.path().join("closed.log");
    fs::write(&file, "").expect("write");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("mode");
    for target in [format!("file:{}/topas.log", dir.display()), format!("file:{}", file.display())]
    {
        faulty(&program, &target, "permission denied", as_nobody());
    }
    assert_eq!(fs::read(&file).unwrap(), b"");
}

/// A full file system, and one that is read-only. Where it ends in the middle of a line, the
/// run is unharmed all the same.
#[test]
fn full_and_read_only_file_systems() {
    let test = "full_and_read_only_file_systems";
    if !is_root(test) {
        return;
    }
    let (scratch, program) = says();
    let disk = scratch.sub("disk");
    let Some(writable) = SmallDisk::mount(&disk, "size=4k") else {
        return skip(test, "no right to mount");
    };
    let target = format!("file:{}/topas.log", disk.display());
    fs::write(disk.join("ballast"), [0; 4096]).expect("fill the file system");
    faulty(&program, &target, "no space left", as_it_is);
    fs::remove_file(disk.join("ballast")).expect("remove");
    // The file system has one page: room for 50 bytes of the line.
    fs::write(disk.join("topas.log"), [b'\n'; 4096 - 50]).expect("nearly fill");
    faulty(&program, &target, "no space left", as_it_is);
    drop(writable);
    let Some(_read_only) = SmallDisk::mount(&disk, "size=4k,ro") else {
        return skip(test, "no right to mount read-only");
    };
    faulty(&program, &target, "read-only", as_it_is);
}

/// A limit on the size of files must not turn the log into a signal.
#[test]
fn a_limit_of_file_size() {
    let (scratch, program) = says();
    fs::write(scratch.log(), "#".repeat(4096) + "\n").expect("write");
    let target = scratch.log_target();
    let limited = through(&["sh", "-c", "ulimit -f 1; exec \"$0\""]);
    for verbose in [false, true] {
        let mut inner = command(&program);
        rank(&mut inner);
        inner.env("TOPAS_LOG", &target);
        inner.env("TOPAS_VERBOSE", if verbose { "1" } else { "0" });
        unharmed(&run(&mut limited(&mut inner)), "ulimit -f 1");
    }
}

/// What the program has in its buffers is written after our line, and may well kill it.
#[test]
fn signals_by_the_programs_own_output() {
    let (scratch, program) = says();
    let file = scratch.path().join("output");
    let log = scratch.log_target();
    for (script, status) in [
        ("(sleep 0.3; exec \"$0\") | true; exit ${PIPESTATUS[0]}", 128 + 13),
        ("ulimit -f 0; exec \"$0\" > \"$1\"", 128 + 25),
    ] {
        for (target, topas) in [(log.as_str(), "off"), (&log, "on"), ("file:/dev/full", "on")] {
            let mut bash = Command::new("bash");
            bash.args(["-c", script]).arg(&program).arg(&file);
            rank(&mut bash);
            bash.env("TOPAS_LOG", target).env("TOPAS", topas).env("TOPAS_PRINT", "yes");
            assert_eq!(run(&mut bash).code(), status, "TOPAS={topas} {target}: {script}");
        }
    }
}

/// Through the launchers: eight ranks, and one word of one of them.
#[test]
fn under_a_launcher() {
    let site = Site::shared();
    let scratch = Scratch::new();
    let program = scratch.path().join("tiny");
    plain(site, "c/no_mpi.c", false, &program);
    for mpi in Mpi::installed("under_a_launcher") {
        for target in ["file:/dev/full", "file:/nonexistent/topas.log", "file:/tmp"] {
            let mut launch = mpi.launch(site, &scratch, 8);
            launch.arg(&program).env("TOPAS_LOG", target);
            let ended = launched(&scratch, &mut launch).good();
            let said = ended.err();
            assert_eq!(said.matches("topas: TOPAS_LOG=").count(), 1, "{} {said}", mpi.name());
            assert_eq!(said.lines().count(), 1, "{} {said}", mpi.name());
            assert_eq!(ended.out(), "no MPI here\n".repeat(8), "{} {target}", mpi.name());
        }
    }
}

/// The next target takes what the one before does not.
#[test]
fn a_list_of_targets() {
    let (scratch, program) = says();
    let list = format!("file:/nonexistent/x  pigeon:home {} file:/dev/full", scratch.log_target());
    let mut command = command(&program);
    rank(&mut command);
    let ended = run(command.env("TOPAS_LOG", list).env("TOPAS_VERBOSE", "1"));
    unharmed(&ended, "list");
    let said = ended.err().replacen("a warning of the program\n", "", 1);
    assert_eq!(said.lines().count(), 2, "the two that failed: {said}");
    assert_eq!(scratch.take_log().len(), 1);
}

/// An installation of its own, with a program linked there.
struct OwnSite {
    scratch: Scratch,
    site: Site,
    program: PathBuf,
}

impl OwnSite {
    fn new(scratch: Scratch, site: Site) -> OwnSite {
        let program = scratch.path().join("says");
        plain(&site, "c/says.c", false, &program);
        OwnSite { scratch, site, program }
    }

    fn configure(&self, text: &str) {
        fs::write(self.site.conf(), text).expect("write topas.conf");
    }

    /// Runs rank 1 with more variables; what it says beyond the program's own.
    #[track_caller]
    fn run(&self, variables: &[(&str, &str)], by: impl Fn(&mut Command) -> Command) -> String {
        let mut command = command(&self.program);
        rank(&mut command);
        let run = run(&mut by(command.envs(variables.iter().copied())));
        unharmed(&run, "own site");
        run.err().replacen("a warning of the program\n", "", 1)
    }
}

/// A wrong log of the user's costs the site no line of `topas-run`, loaded or from outside, nor the
/// record of an MPI profile, and is told once.
#[test]
fn a_wrong_log_of_the_users_leaves_the_line_to_the_site() {
    let own = OwnSite::new(Scratch::new(), Site::lent());
    let log = own.scratch.log();
    own.configure(&format!("log = file:{}\n", log.display()));
    let bare = own.scratch.path().join("bare");
    plain(&own.site, "c/says.c", true, &bare);
    for wrong in ["user.log", "file:/nonexistent/log", "file:/dev/full", "unix:/nonexistent"] {
        for options in [&[][..], &["--outside"]] {
            let mut command = command(own.site.tool("topas-run"));
            rank(&mut command);
            command.env("TOPAS_LOG", wrong).args(options).arg(&bare);
            let ended = run(&mut command);
            unharmed(&ended, wrong);
            let said = ended.err().replacen("a warning of the program\n", "", 1);
            assert_eq!(said.lines().count(), 1, "{options:?}: {said}");
            assert!(said.starts_with(&format!("topas: TOPAS_LOG={wrong}")), "{options:?}: {said}");
            let lines = own.scratch.take_log();
            assert_eq!(lines.len(), 1, "{wrong} {options:?}");
            assert_eq!(lines[0].extra("via"), "run", "{wrong} {options:?}");
        }
    }
    for mpi in Mpi::installed("a_wrong_log_of_the_users_leaves_the_line_to_the_site") {
        let program = own.scratch.path().join("hello");
        let mut driver = command(mpi.real("mpicc").expect("a driver of this MPI"));
        run(driver.arg(source("c/hello.c")).arg("-o").arg(&program)).good();
        let mut launch = mpi.launch_bare(&own.scratch, 4);
        launch.args(["env", &format!("LD_PRELOAD={}", library(&own.site).display())]);
        launch.arg(&program).env("TOPAS_LOG", "file:/dev/full").env("TOPAS_MPI", "yes");
        launch.env("TOPAS_MPI_SPOOL", own.scratch.sub("spool")).current_dir(own.scratch.path());
        let said = launched(&own.scratch, &mut launch).good().err();
        assert_eq!(said.matches("not written to file:/dev/full").count(), 1, "{said}");
        let text = fs::read_to_string(&log).expect("log of the site");
        assert_eq!(text.lines().count(), 1, "{}: {text}", mpi.name());
        fs::remove_file(&log).expect("remove");
    }
}

/// topas.conf in all that a measuring rank takes from it.
#[test]
fn topas_conf() {
    let scratch = Scratch::new();
    let prefix = scratch.path().join("prefix");
    let own = OwnSite::new(scratch, Site::installed_at(&prefix));
    let dir = own.scratch.path().display().to_string();
    let log = own.scratch.log();
    let take = || own.scratch.take_log();

    // As installed: into the prefix, a file of this user.
    own.run(&[], as_it_is);
    let installed = prefix.join("var/log/topas");
    let files: Vec<_> = fs::read_dir(&installed).expect("log directory").flatten().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(read_log(&files[0].path()).len(), 1);

    own.configure(&format!("log = file:{dir}/topas.log\n"));
    assert_eq!(own.run(&[], as_it_is), "");
    assert_eq!(take().len(), 1);
    // A user's own log takes its place, unless the site forbids it.
    let user_log = format!("file:{dir}/user.log");
    own.run(&[("TOPAS_LOG", &user_log)], as_it_is);
    assert_eq!((take().len(), read_log(&own.scratch.path().join("user.log")).len()), (0, 1));
    // One that takes no line does not cost the site its own, and one rank says so.
    for (wrong, why) in [
        ("user.log".to_owned(), "is no target"),
        (format!("file:{dir}/missing/user.log"), "no such directory"),
        ("file:relative.log".to_owned(), "is no target"),
        (format!("{dir}/a file:/dev/full"), "no space left"),
    ] {
        let said = own.run(&[("TOPAS_LOG", &wrong)], as_it_is);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("topas: TOPAS_LOG=") && said.contains(why), "{said}");
        assert_eq!(take().len(), 1, "{wrong}");
        let mut second = command(&own.program);
        rank(&mut second);
        emulate_rank(second.env("TOPAS_LOG", &wrong), 2, 4, KEY);
        let ended = run(&mut second);
        unharmed(&ended, &wrong);
        assert_eq!(ended.err(), "a warning of the program\n", "{wrong}");
        assert_eq!(take().len(), 1, "{wrong}");
    }
    own.configure(&format!("user_log = no\nlog = file:{dir}/topas.log\n"));
    own.run(&[("TOPAS_LOG", &user_log)], as_it_is);
    assert_eq!((take().len(), read_log(&own.scratch.path().join("user.log")).len()), (1, 1));

    own.configure(&format!("measure = no\nlog = file:{dir}/topas.log\n"));
    assert_eq!(own.run(&[], as_it_is), "");
    assert!(own.run(&[("TOPAS_VERBOSE", "1")], as_it_is).contains("topas.conf"));
    assert_eq!(take().len(), 0);

    own.configure(&format!("ops = loads\nlog = file:{dir}/topas.log\n"));
    own.run(&[], as_it_is);
    own.run(&[("TOPAS_OPS", "stores")], as_it_is);
    let metrics: Vec<_> = take().iter().map(|line| line.metric).collect();
    assert_eq!(metrics, [Metric::Loads, Metric::Stores]);

    own.configure(&format!("print_batch = yes\nlog = file:{dir}/topas.log\n"));
    assert_eq!(own.run(&[], as_it_is), "", "interactive");
    let batch = own.run(&[("PBS_ENVIRONMENT", "PBS_BATCH"), ("PBS_JOBID", "8.s")], as_it_is);
    assert!(batch.contains("PE 1 of 4"), "{batch}");
    let lines = take();
    assert_eq!(lines[1].extra("job"), "8.s", "{}", lines[1].text);
    let modes: Vec<_> = lines.iter().map(|line| line.mode.word()).collect();
    assert_eq!(modes, ["I", "B"]);

    // Nonsense changes nothing, and a run that begins without a log ends without a word.
    own.configure("what is this\nlog\n= x\nmeasure = perhaps\n\0\u{fffd}\n");
    assert_eq!(own.run(&[], as_it_is), "");
    assert!(own.run(&[("TOPAS_VERBOSE", "1")], as_it_is).contains("no log in topas.conf"));
    own.configure(&"# long\n".repeat(5000));
    assert_eq!(own.run(&[], as_it_is), "");
    // The installation is gone; the executable still runs.
    fs::remove_dir_all(&prefix).expect("remove the prefix");
    assert_eq!(own.run(&[], as_it_is), "");
    assert!(!log.exists());
}

/// A program that overwrites the text of its environment still gets its line, with its names
/// and in the log its user asked for.
#[test]
fn an_overwritten_environment() {
    let mut own = OwnSite::new(Scratch::new(), Site::lent());
    own.program = own.scratch.path().join("overwrites");
    plain(&own.site, "c/overwrites.c", false, &own.program);
    own.configure("log = file:/nonexistent/x\n");
    let target = format!("file:{}", own.scratch.log().display());
    let told = [
        ("ENVIRONMENT", "BATCH"),
        ("PBS_JOBID", "8.server"),
        ("LOGNAME", "mohr"),
        ("TOPAS_LOG", target.as_str()),
    ];
    assert_eq!(own.run(&told, as_it_is), "");
    let lines = own.scratch.take_log();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!((line.exe.as_slice(), line.pe, line.npes), (&b"overwrites"[..], 1, 4));
    assert_eq!((line.id.len(), line.extra("end")), (16, "exit:3"), "{}", line.text);
    assert_eq!((line.user.as_slice(), line.extra("job")), (&b"mohr"[..], "8.server"));
    assert_eq!(line.mode.word(), "B", "{}", line.text);
}

/// A directory named after the host is made, for everybody; its files too.
#[test]
fn directories_by_host() {
    let (scratch, program) = says();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("host name");
    let pattern = format!("file:{}/%h/%Y-%m-%d.%u.log", scratch.path().display());
    let mut shell =
        through(&["sh", "-c", "umask 077; exec \"$0\""])(command(&program).env("X", ""));
    rank(&mut shell);
    unharmed(&run(shell.env("TOPAS_LOG", &pattern)), "%h");
    let dir = scratch.path().join(host.trim());
    let mode = |path: &Path| fs::metadata(path).expect("made").mode() & 0o7777;
    assert_eq!(mode(&dir), 0o1733, "mode of the directory");
    let files: Vec<_> = fs::read_dir(&dir).expect("directory").flatten().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let name = files[0].file_name().into_string().expect("text");
    assert!(name.ends_with(&format!(".{}.log", geteuid())), "{name}");
    assert_eq!((name.as_bytes()[4], name.as_bytes()[7]), (b'-', b'-'), "{name}");
    assert_eq!(mode(&files[0].path()), 0o600, "a file of one user");
    assert_eq!(read_log(&files[0].path()).len(), 1);
}

/// Two users write to one file, whoever was first, in a directory as it is installed.
#[test]
fn two_users_share_a_file() {
    if !is_root("two_users_share_a_file") {
        return;
    }
    let (scratch, program) = says();
    let as_root = as_it_is as fn(&mut Command) -> Command;
    for (first, root_first) in [("root", true), ("nobody", false)] {
        let dir = scratch.sub(first);
        fs::set_permissions(&dir, Permissions::from_mode(0o1733)).expect("mode");
        let target = format!("file:{}/%Y.log", dir.display());
        for root in [root_first, !root_first] {
            let mut inner =
                through(&["sh", "-c", "umask 077; exec \"$0\""])(&mut command(&program));
            rank(&mut inner);
            inner.env("TOPAS_LOG", &target).env("TOPAS_VERBOSE", "1");
            let ended = run(&mut if root { as_root(&mut inner) } else { as_nobody()(&mut inner) });
            unharmed(&ended, first);
            assert_eq!(ended.err(), "a warning of the program\n", "{first} was first");
        }
        let files: Vec<_> = fs::read_dir(&dir).expect("directory").flatten().collect();
        assert_eq!(files.len(), 1, "{files:?}");
        let mut uids: Vec<_> =
            read_log(&files[0].path()).iter().map(|l| l.extra("uid").to_owned()).collect();
        uids.sort();
        assert_eq!(uids, ["0", NOBODY], "{first} was first");
    }
}
