//! `topas-top` on running programs: of one that hangs it names the ranks, their calls and the rank
//! that is waited for.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, library};
use topas_tests::running::{Run, command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// `topas-top` on the mapped files of these places.
fn top(scratch: &Scratch, places: &Places, args: &[&str]) -> Run {
    let mut top = scratch.command(Site::shared().tool("topas-top"));
    run(top.arg("--spool").arg(&places.spool).args(args))
}

#[test]
fn a_program_that_hangs_is_named() {
    for mpi in Mpi::installed("a_program_that_hangs_is_named") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("hang");
        build(mpi, "mpicc", &["paths/hang.c"], &[], &program);
        let none = top(&scratch, &places, &["--once"]);
        assert_eq!(none.code(), 3, "{}", none.err());
        assert!(none.err().contains("no program of yours runs"), "{}", none.err());
        let mut launch = mpi.launch_bare(&scratch, 3);
        launch.args(places.words(&[&library(Site::shared())])).arg(&program);
        launch.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = launch.spawn().expect("launch");
        let begun = Instant::now();
        let last = loop {
            let shown = top(&scratch, &places, &["--once"]);
            let found = shown.out().contains("No call has ended for");
            if found || begun.elapsed() > Duration::from_secs(60) {
                break shown.out();
            }
            thread::sleep(Duration::from_millis(50));
        };
        let csv = top(&scratch, &places, &["--csv", "--sort", "now", "--filter", "MPI_Recv"]);
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("launcher");
        child.wait().expect("launcher");
        let name = mpi.name();
        assert!(last.contains("rank 0 in MPI_Recv from 1 for "), "under {name}: {last}");
        assert!(last.contains("ranks 1-2 in MPI_Bcast with root 0 for "), "under {name}: {last}");
        assert!(last.starts_with("hang  3 of 3 ranks here"), "under {name}: {last}");
        let rows: Vec<String> = csv.good().out().lines().map(str::to_owned).collect();
        assert_eq!(rows.len(), 2, "under {name}: {rows:?}");
        assert!(rows[1].starts_with("0,") && rows[1].contains("MPI_Recv from 1"), "{rows:?}");
        // The longest call of those that stand still had lasted a second when it was named.
        let seconds = last
            .split("No call has ended for ")
            .nth(1)
            .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        let seconds = seconds.unwrap_or_else(|| panic!("under {name}: {last}"));
        assert!(seconds >= 1.0, "{seconds} under {name}: {last}");
    }
}

/// Words without numbers and their units, which go on while a program runs; numbers of ranks stay.
fn words_of(text: &str) -> String {
    const UNITS: [&str; 8] = ["%", "s", "ms", "us", "min", "h", "kB", "MB"];
    let mut words: Vec<&str> = Vec::new();
    let mut is_number = false;
    for word in text.split_whitespace() {
        let is_unit =
            is_number && UNITS.contains(&word.trim_matches(|end: char| ".,;:()".contains(end)));
        is_number = word.contains(|byte: char| byte.is_ascii_digit())
            && words.last().is_none_or(|before| !before.starts_with("rank"));
        if !is_number && !is_unit {
            words.push(word);
        }
    }
    words.join(" ")
}

/// While a program with a late rank runs, the monitor says what the search says of it at the end.
#[test]
fn a_late_rank_is_told_in_the_same_words_while_and_after_the_program_runs() {
    let name = "a_late_rank_is_told_in_the_same_words_while_and_after_the_program_runs";
    let Some(mpi) = Mpi::installed(name).into_iter().next() else { return };
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let program = scratch.path().join("patterns");
    build(mpi, "mpicc", &["waits/patterns.c"], &["-O1"], &program);
    let notes = scratch.path().join("notes");
    let mut launch = mpi.launch_bare(&scratch, 2);
    launch.args(places.words(&[&library(Site::shared())])).arg("TOPAS_MPI_WAITS=yes");
    launch.arg(&program).arg("late_broadcast").arg(&notes).arg("1000");
    launch.stdout(Stdio::null()).stderr(Stdio::null());
    // On a machine with other work there may be more to tell: this is what the program is made for.
    const LATE: &str = "ranks that wait in collectives, rank 1: it costs";
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut last = String::new();
    let mut child = launch.spawn().expect("launch");
    while child.try_wait().expect("launcher").is_none() {
        let shown = in_one_line(&top(&scratch, &places, &["--once"]).out());
        if let Some(place) = shown.find(LATE) {
            last = shown[place..].to_owned();
        }
        thread::sleep(Duration::from_millis(100));
    }
    let mut why = scratch.command(Site::shared().tool("topasview"));
    let why = in_one_line(&run(why.arg("--why").arg(&places.out)).good().out());
    if last.is_empty() && why.contains(&format!("May be: {LATE}")) {
        skip(name, "other programs took the processors, so nothing is sure");
        return;
    }
    // The title ends with how sure it is; it may be surer at the end.
    let (title, rest) = last.split_once(" (").unwrap_or_else(|| panic!("not told: {why}"));
    let sentence = rest.split_once("). ").and_then(|(_, rest)| rest.split(". ").next());
    let sentence = words_of(sentence.unwrap_or_default());
    let (told, title) = (words_of(&why), words_of(title));
    assert!(told.contains(&title), "{title}\nis not in\n{why}");
    assert!(sentence.len() > 20 && told.contains(&sentence), "{sentence}\nis not in\n{why}");
}

/// Ranks of another node, as far as this can be had on one: a script in place of ssh starts the reader
/// where the mapped files of rank 2 are.
#[test]
fn ranks_of_other_nodes_are_told_by_readers() {
    let Some(mpi) = Mpi::installed("ranks_of_other_nodes_are_told_by_readers").into_iter().next()
    else {
        return;
    };
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let other = scratch.path().join("other-spool");
    fs::create_dir(&other).expect("directory");
    let program = scratch.path().join("hang");
    build(mpi, "mpicc", &["paths/hang.c"], &[], &program);
    let script = |name: &str, text: String| {
        let path = scratch.path().join(name);
        fs::write(&path, text).expect("script");
        format!("sh {}", path.display())
    };
    let pid = scratch.path().join("reader-pid");
    let via = script(
        "ssh.sh",
        format!(
            "shift\nexport TOPAS_MPI_SPOOL={}\necho $$ > {}\necho Welcome\nexec \"$@\"\n",
            other.display(),
            pid.display()
        ),
    );
    let refuse = script("refuse.sh", "echo no route to $1 >&2\nexit 255\n".to_owned());
    let elsewhere = script(
        "rank.sh",
        format!(
            "case ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in 2) export TOPAS_MPI_SPOOL={};; esac\n\
             exec \"$@\"\n",
            other.display()
        ),
    );
    let mut launch = mpi.launch_bare(&scratch, 3);
    launch.args(places.words(&[&library(Site::shared())])).args(elsewhere.split(' ')).arg(&program);
    launch.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = launch.spawn().expect("launch");
    let top = |args: &[&str]| {
        let mut top = scratch.command(Site::shared().tool("topas-top"));
        run(top.env("TOPAS_MPI_SPOOL", &places.spool).args(args))
    };
    let remote = ["--once", "--every", "0.2", "--hosts", "n2", "--via", &via];
    let begun = Instant::now();
    let last = loop {
        let shown = top(&remote);
        let found = shown.out().contains("No call has ended for");
        if found || begun.elapsed() > Duration::from_secs(60) {
            break shown.out();
        }
        thread::sleep(Duration::from_millis(50));
    };
    let alone = top(&["--once"]);
    let broken = top(&["--once", "--hosts", "n2,n3", "--via", &refuse]);
    let option = top(&["--once", "--hosts=-oProxyCommand", "--via", &refuse]);
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("launcher");
    child.wait().expect("launcher");
    assert!(last.starts_with("hang  3 of 3 ranks here"), "{last}");
    assert!(last.contains("rank 0 in MPI_Recv from 1 for "), "{last}");
    assert!(last.contains("ranks 1-2 in MPI_Bcast with root 0 for "), "{last}");
    // Without a reader the third is not there.
    assert!(alone.good().out().starts_with("hang  2 of 3 ranks here"));
    // A node that cannot be reached is said, and the others are shown.
    assert!(
        broken.err().contains("the reader on n3 has ended: no route to n3"),
        "{}",
        broken.err()
    );
    assert!(broken.out().starts_with("hang  2 of 3 ranks here"), "{}", broken.out());
    assert_eq!(option.code(), 2, "{}", option.err());
    // The reader ends with what it prints for.
    let reader: i32 = fs::read_to_string(&pid).expect("pid").trim().parse().expect("a number");
    let begun = Instant::now();
    while kill(Pid::from_raw(reader), None).is_ok() && begun.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(50));
    }
    assert!(kill(Pid::from_raw(reader), None).is_err(), "the reader still runs");
}

/// A server of ssh of this test alone: its processes find mapped files in a directory of their own.
struct SshServer(Child);

impl SshServer {
    /// Starts it on a port of the loopback interface.
    fn start(dir: &Path, port: u16, spool: &Path) -> SshServer {
        // A server that runs as root insists on this directory.
        let _ = fs::create_dir_all("/run/sshd");
        let name = |name: &str| dir.join(name).display().to_string();
        let text = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
             StrictModes no\nPasswordAuthentication no\nUsePAM no\nSetEnv TOPAS_MPI_SPOOL={}\n",
            name("host"),
            name("own.pub"),
            spool.display()
        );
        let conf = dir.join(format!("sshd.{port}"));
        fs::write(&conf, text).expect("a configuration");
        let log = dir.join(format!("log.{port}"));
        let mut server = command("/usr/sbin/sshd");
        server.arg("-D").arg("-f").arg(&conf).arg("-E").arg(&log);
        SshServer(server.spawn().expect("a server of ssh"))
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nobody uses now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|of| of.local_addr()).expect("a port").port()
}

/// The same with a real ssh: two nodes by name, which are two servers on this one.
#[test]
#[ignore = "cargo xtask test --full"]
fn readers_are_reached_by_a_real_ssh() {
    let test = "readers_are_reached_by_a_real_ssh";
    if !have("ssh-keygen") || !Path::new("/usr/sbin/sshd").exists() {
        return skip(test, "no server of ssh (openssh-server)");
    }
    let Some(mpi) = Mpi::installed(test).into_iter().next() else { return };
    let scratch = Scratch::new();
    let dir = scratch.path();
    for key in ["host", "own"] {
        let mut keygen = command("ssh-keygen");
        run(keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(dir.join(key))).good();
    }
    let spools = ["n1", "n2"].map(|name| scratch.sub(name));
    let ports = [free_port(), free_port()];
    let _servers: Vec<_> = ports
        .iter()
        .zip(&spools)
        .map(|(port, spool)| SshServer::start(dir, *port, spool))
        .collect();
    let host =
        |(name, port): (&str, u16)| format!("Host {name}\n HostName 127.0.0.1\n Port {port}\n");
    let mut text: String = [("n1", ports[0]), ("n2", ports[1])].map(host).concat();
    text += &format!(
        "Host *\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n BatchMode yes\n \
         StrictHostKeyChecking accept-new\n LogLevel ERROR\n ConnectionAttempts 20\n",
        dir.join("own").display(),
        dir.join("known").display()
    );
    let conf = dir.join("ssh.conf");
    fs::write(&conf, text).expect("a configuration");
    let via = format!("ssh -F {}", conf.display());

    let program = dir.join("hang");
    build(mpi, "mpicc", &["paths/hang.c"], &[], &program);
    let script = dir.join("rank.sh");
    let node = "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 2) n=n2;; *) n=n1;; esac";
    let spool = format!("export TOPAS_MPI_SPOOL={}/$n", dir.display());
    fs::write(&script, format!("{node}\n{spool}\nexec \"$@\"\n")).expect("script");
    let places = Places { spool: spools[0].clone(), out: dir.join("out") };
    let mut launch = mpi.launch_bare(&scratch, 3);
    launch.args(places.words(&[&library(Site::shared())])).arg("sh").arg(&script).arg(&program);
    launch.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = launch.spawn().expect("launch");
    let begun = Instant::now();
    let last = loop {
        let mut top = scratch.command(Site::shared().tool("topas-top"));
        // This node has no ranks: both are reached by ssh.
        top.env("TOPAS_MPI_SPOOL", scratch.sub("none"));
        let shown = run(top.args(["--once", "--every", "0.2", "--hosts", "n1,n2", "--via", &via]));
        let found = shown.out().contains("No call has ended for");
        if found || begun.elapsed() > Duration::from_secs(60) {
            break shown;
        }
        thread::sleep(Duration::from_millis(50));
    };
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("launcher");
    child.wait().expect("launcher");
    let (out, err) = (last.out(), last.err());
    assert!(out.starts_with("hang  3 of 3 ranks here"), "{out}{err}");
    assert!(out.contains("rank 0 in MPI_Recv from 1 for "), "{out}{err}");
    assert!(out.contains("ranks 1-2 in MPI_Bcast with root 0 for "), "{out}{err}");
}
