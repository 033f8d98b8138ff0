//! Logs are rotated by the real logrotate with `etc/logrotate/topas` while lines come in:
//! none is lost, none is torn, none comes twice.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use nix::unistd::{geteuid, mkfifo};
use topas_tests::build::plain;
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::record::{Record, read_log};
use topas_tests::rsyslog::Chain;
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site, source_root};
use topas_tests::skip::skip;

const WRITERS: usize = 8;
const LINES: usize = 2000;

/// Names hold seconds, so one rotation a second.
const PAUSE: Duration = Duration::from_millis(1100);

/// A scratch directory with the shipped file adapted to it.
struct Rotation {
    scratch: Scratch,
    log: PathBuf,
    closed: PathBuf,
}

impl Rotation {
    /// None, and a skip, where logrotate cannot act as root. `reload` tells the daemon of
    /// `center` to open its files anew.
    fn new(test: &str, center: &Path, reload: &str) -> Option<Rotation> {
        if !have("logrotate") || !geteuid().is_root() {
            skip(test, "needs logrotate, and root");
            return None;
        }
        let scratch = Scratch::new();
        let (log, closed) = (scratch.sub("log"), scratch.path().join("closed"));
        fs::set_permissions(&log, Permissions::from_mode(0o1733)).expect("mode");
        let path = source_root().join("etc/logrotate/topas");
        let mut text = fs::read_to_string(path).expect("etc/logrotate/topas");
        for (from, to) in [
            ("/var/log/topas/", format!("{}/", log.display())),
            ("/var/log/topas-center/", format!("{}/", center.display())),
            ("olddir /var/log/topas-closed\n", format!("olddir {}\n", closed.display())),
            ("/usr/lib/rsyslog/rsyslog-rotate", reload.to_owned()),
        ] {
            assert!(text.contains(from), "etc/logrotate/topas has no {from}");
            text = text.replace(from, &to);
        }
        fs::write(scratch.path().join("conf"), text).expect("write");
        Some(Rotation { scratch, log, closed })
    }

    /// Rotates everything, whatever its age.
    #[track_caller]
    fn rotate(&self) {
        let mut logrotate = command("logrotate");
        logrotate.arg("--force").arg("--state").arg(self.scratch.path().join("state"));
        let ended = run(logrotate.arg(self.scratch.path().join("conf"))).good();
        assert_eq!(ended.err(), "");
    }

    /// Closed files: those that are compressed, those that are not, or all.
    fn closed(&self, packed: Option<bool>) -> Vec<PathBuf> {
        let all = fs::read_dir(&self.closed).expect("closed files").flatten();
        let is_packed = |path: &PathBuf| path.extension().is_some_and(|end| end == "gz");
        let wanted = |path: &PathBuf| packed.is_none_or(|packed| packed == is_packed(path));
        all.map(|entry| entry.path()).filter(wanted).collect()
    }

    /// Every line of `open` and of the closed files, unpacked by gzip.
    fn lines(&self, open: &Path) -> Vec<Vec<u8>> {
        let mut cat = command("sh");
        let all = "find \"$@\" -type f -exec zcat -f {} +";
        let text = run(cat.args(["-c", all, "sh"]).arg(open).arg(&self.closed)).good().stdout;
        assert!(text.is_empty() || text.ends_with(b"\n"), "the last line has no end");
        text.split_inclusive(|b| *b == b'\n').map(|line| line[..line.len() - 1].to_vec()).collect()
    }
}

/// A whole line that no other is equal to.
fn line(writer: usize, n: usize) -> Vec<u8> {
    let mut line = format!(
        "2026/11/20 08:01:02 {} heat3d 1 4 t2596 B f90 mpi 12.340 0.120 12.460 f=1 2 {writer:08x}{n:08x} \
         v=1 t=1795161662 uid={} end=exit:0",
        // Lines of different lengths make a torn one more likely to show.
        "u".repeat(1 + writer * 20),
        geteuid()
    );
    line = format!("{line} len={:03}", line.len() + 8);
    assert!(Record::parse(line.as_bytes()).is_ok());
    line.into_bytes()
}

/// One line as the module writes it: open or make, one write, close.
fn append(path: &Path, line: &[u8]) {
    let mut file = loop {
        let found = OpenOptions::new().append(true).open(path);
        let made = || OpenOptions::new().append(true).create_new(true).mode(0o600).open(path);
        match found.or_else(|e| if e.kind() == ErrorKind::NotFound { made() } else { Err(e) }) {
            Ok(file) => break file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => panic!("{}: {error}", path.display()),
        }
    };
    let whole = [line, b"\n"].concat();
    assert_eq!(file.write(&whole).expect("write"), whole.len());
}

/// Eight writers of 2,000 lines each, and programs with the module beside them.
#[test]
fn nothing_is_lost_while_programs_end() {
    const ROTATIONS: usize = 5;
    let nowhere = Path::new("/nonexistent");
    let Some(rotation) = Rotation::new("nothing_is_lost_while_programs_end", nowhere, "true")
    else {
        return;
    };
    let program = rotation.scratch.path().join("empty");
    plain(Site::shared(), "c/empty.c", false, &program);
    let path = rotation.log.join("2026-11.log");
    let done = AtomicBool::new(false);
    let programs = scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let path = &path;
                scope.spawn(move || {
                    let begun = Instant::now();
                    for n in 0..LINES {
                        append(path, &line(writer, n));
                        // Over all rotations.
                        let due = PAUSE * (ROTATIONS as u32) * n as u32 / LINES as u32;
                        sleep(due.saturating_sub(begun.elapsed()));
                    }
                })
            })
            .collect();
        let runs = scope.spawn(|| {
            let mut runs = 0;
            while !done.load(Ordering::Relaxed) {
                let mut rank = command(&program);
                emulate_rank(&mut rank, 1, 4, &format!("{runs:016x}-0"));
                rank.env("TOPAS_PE", "1,2").env("TOPAS_LOG", format!("file:{}", path.display()));
                run(&mut rank).good();
                runs += 1;
            }
            runs
        });
        for _ in 0..ROTATIONS {
            sleep(PAUSE);
            rotation.rotate();
        }
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok), "a writer could not write");
        runs.join().expect("runs")
    });

    let (written, by_module): (Vec<_>, Vec<_>) = rotation
        .lines(&rotation.log)
        .into_iter()
        .partition(|line| String::from_utf8_lossy(line).contains(" heat3d "));
    let distinct: BTreeSet<_> = written.iter().cloned().collect();
    let expected: BTreeSet<_> =
        (0..WRITERS).flat_map(|writer| (0..LINES).map(move |n| line(writer, n))).collect();
    assert_eq!((written.len(), distinct.len()), (WRITERS * LINES, WRITERS * LINES));
    assert_eq!(distinct, expected);
    for line in &by_module {
        let record = Record::parse(line).expect("a line of the module");
        assert_eq!(record.extra("len"), format!("{:03}", line.len()), "{}", record.text);
    }
    assert_eq!(by_module.len(), programs, "lines of {programs} programs");
    assert!(programs > ROTATIONS, "{programs} programs ran");

    // All but the last are compressed, and the report reads all of them as they are.
    let (packed, fresh) = (rotation.closed(Some(true)), rotation.closed(Some(false)));
    assert_eq!((packed.len(), fresh.len()), (ROTATIONS - 1, 1));
    let mut stat = command(Site::shared().tool("topas-stat"));
    let report = run(stat.arg(&rotation.log).arg(&rotation.closed)).good();
    assert_eq!(report.err(), "");
    let all = format!(" of {} runs", WRITERS * LINES + programs);
    assert!(report.out().contains(&all), "no `{all}` in\n{}", report.out());
}

/// What users put into the directory is no way to anybody else's files.
#[test]
fn links_and_pipes_of_users_are_left_alone() {
    let nowhere = Path::new("/nonexistent");
    let test = "links_and_pipes_of_users_are_left_alone";
    let Some(rotation) = Rotation::new(test, nowhere, "true") else { return };
    let secret = rotation.scratch.path().join("secret");
    fs::write(&secret, "of root\n").expect("write");
    symlink(&secret, rotation.log.join("a.log")).expect("link");
    mkfifo(&rotation.log.join("c.log"), nix::sys::stat::Mode::S_IRWXU).expect("pipe");
    fs::create_dir(rotation.log.join("d.log")).expect("directory");
    append(&rotation.log.join("e.log"), &line(0, 0));
    for _ in 0..2 {
        let mut logrotate = command("logrotate");
        logrotate.arg("--force").arg("--state").arg(rotation.scratch.path().join("state"));
        // It may say that it leaves something alone.
        run(logrotate.arg(rotation.scratch.path().join("conf")));
        sleep(PAUSE);
    }
    assert_eq!(fs::read(&secret).expect("secret"), b"of root\n");
    assert_eq!(rotation.lines(&rotation.log).len(), 1);
    let names: Vec<_> = rotation.closed(None).iter().map(|p| p.display().to_string()).collect();
    assert!(names.len() == 1 && names[0].contains("/e.log-"), "{names:?}");
    let mode = fs::metadata(&rotation.closed).expect("closed").permissions().mode();
    assert_eq!(mode & 0o7777, 0o700, "users cannot reach closed files");
}

/// The center's file, which rsyslogd keeps open.
#[test]
fn nothing_is_lost_at_the_center() {
    const ROTATIONS: usize = 3;
    let test = "nothing_is_lost_at_the_center";
    let Some(chain) = Chain::start(test) else { return };
    let center = chain.scratch().path().join("center");
    let pid = chain.scratch().path().join("center.pid");
    let reload = format!("kill -HUP $(cat {})", pid.display());
    let Some(rotation) = Rotation::new(test, &center, &reload) else { return };
    let socket = UnixDatagram::unbound().expect("socket");
    socket.connect(chain.socket()).expect("connect");
    let mut expected = BTreeSet::new();
    scope(|scope| {
        let rotating = scope.spawn(|| {
            for _ in 0..ROTATIONS {
                sleep(PAUSE);
                rotation.rotate();
            }
        });
        let mut n = 0;
        while !rotating.is_finished() {
            socket.send(&line(0, n)).expect("send");
            expected.insert(line(0, n));
            n += 1;
            sleep(Duration::from_millis(1));
        }
        rotating.join().expect("rotations");
    });
    let begun = Instant::now();
    while rotation.lines(&center).len() < expected.len() && begun.elapsed().as_secs() < 20 {
        sleep(Duration::from_millis(50));
    }
    let lines = rotation.lines(&center);
    assert_eq!(lines.len(), expected.len(), "lines at the center");
    assert_eq!(lines.into_iter().collect::<BTreeSet<_>>(), expected);
    assert_eq!(rotation.closed(Some(true)).len(), ROTATIONS - 1);
}

/// Users whose files were rotated go on in new ones of their own.
#[test]
fn a_new_file_has_the_right_mode() {
    let nowhere = Path::new("/nonexistent");
    let Some(rotation) = Rotation::new("a_new_file_has_the_right_mode", nowhere, "true") else {
        return;
    };
    let program = rotation.scratch.path().join("empty");
    plain(Site::shared(), "c/empty.c", false, &program);
    for (pattern, mode) in [("%u.log", 0o600), ("all.log", 0o666)] {
        for round in 0..2 {
            let mut rank = command("setpriv");
            rank.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
            rank.arg(&program);
            emulate_rank(&mut rank, 1, 4, &format!("{round:016x}-0"));
            rank.env("TOPAS_PE", "1,2");
            rank.env("TOPAS_LOG", format!("file:{}/{pattern}", rotation.log.display()));
            run(&mut rank).good();
            let file = rotation.log.join(pattern.replace("%u", "65534"));
            let about = fs::metadata(&file).expect("log");
            assert_eq!(about.permissions().mode() & 0o7777, mode, "{pattern} {round}");
            assert_eq!(read_log(&file).len(), 1, "{pattern} {round}");
            if round == 0 {
                rotation.rotate();
                assert!(!file.exists(), "{pattern} was not rotated");
                sleep(PAUSE);
            }
        }
    }
}

/// The example that is installed is for the prefix it is installed in.
#[test]
fn the_installed_example_names_this_prefix() {
    if !have("logrotate") {
        return skip("the_installed_example_names_this_prefix", "needs logrotate");
    }
    let site = Site::shared();
    let prefix = site.conf().ancestors().nth(3).expect("prefix").to_owned();
    let example = prefix.join("share/doc/topas/examples/logrotate/topas");
    let text = fs::read_to_string(&example).expect("example");
    let logs = prefix.join("var/log/topas");
    assert!(text.contains(&format!("\n{}/*.log {{\n", logs.display())), "{text}");
    assert!(text.contains(&format!("olddir {}-closed\n", logs.display())), "{text}");
    let scratch = Scratch::new();
    let mut check = command("logrotate");
    check.arg("--debug").arg("--state").arg(scratch.path().join("state")).arg(&example);
    let checked = run(&mut check).good();
    assert!(!checked.err().contains("error:"), "{}", checked.err());
}
