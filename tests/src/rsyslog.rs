//! Real rsyslogds: one as a node, one as the center, with the files of `etc/rsyslog`.
//!
//! Only what a site has to adapt is replaced: paths, the center's name, the port; and the
//! pause between attempts, so that tests are quick.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::running::{command, have, run};
use crate::site::{Scratch, source_root};
use crate::skip::skip;

/// How long a daemon may take to start, to end or to deliver.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running daemon; dropped, it is killed.
struct Daemon(Child);

impl Daemon {
    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id().cast_signed()), signal).expect("signal a daemon");
    }

    fn end(mut self, by: Signal) {
        self.signal(by);
        self.0.wait().expect("wait for a daemon");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A node and a center.
pub struct Chain {
    scratch: Scratch,
    node: Option<Daemon>,
    center: Option<Daemon>,
}

impl Chain {
    /// Both running. None, and a skip, without rsyslog.
    pub fn start(test: &str) -> Option<Chain> {
        let modules = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
        let relp = modules.iter().any(|dir| Path::new(dir).join("rsyslog/omrelp.so").exists());
        if !have("rsyslogd") || !relp {
            skip(test, "no rsyslogd with RELP on this machine");
            return None;
        }
        let mut chain = Chain { scratch: Scratch::new(), node: None, center: None };
        chain.configure();
        chain.start_center();
        chain.start_node();
        Some(chain)
    }

    fn configure(&self) {
        let dir = self.scratch.path().display().to_string();
        for sub in ["node-queue", "center-queue", "users"] {
            self.scratch.sub(sub);
        }
        // Free now; nobody else takes a port of this range by number.
        let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let port = format!("port=\"{}\"", port.expect("a free port").port());
        let node = shipped(
            "node.conf",
            &[
                ("center.example", "127.0.0.1"),
                ("port=\"20514\"", &port),
                ("\"/run/topas/log\"", &format!("\"{dir}/run/log\"")),
                ("resumeInterval=\"10\"", "resumeInterval=\"1\""),
            ],
        );
        let center = shipped(
            "center.conf",
            &[
                ("address=\"0.0.0.0\"", "address=\"127.0.0.1\""),
                ("port=\"20514\"", &port),
                ("\"/var/log/topas-center/", &format!("\"{dir}/center/")),
                // With the lines for users, too.
                ("\"/var/log/topas-users/", &format!("\"{dir}/users/")),
                ("#set $.uid", "set $.uid"),
                ("#action(", "action("),
                ("#       createDirs", "createDirs"),
            ],
        );
        // What distributions have around such files.
        let node = format!(
            "global(workDirectory=\"{dir}/node-queue\")\n\
             module(load=\"imuxsock\" SysSock.Name=\"{dir}/devlog\" SysSock.Annotate=\"on\" \
             SysSock.ParseTrusted=\"on\")\n\
             {node}\n*.* action(type=\"omfile\" file=\"{dir}/other.log\")\n"
        );
        let center = format!("global(workDirectory=\"{dir}/center-queue\")\n{center}\n");
        for (name, text) in [("node", node), ("center", center)] {
            let file = self.scratch.path().join(name).with_extension("conf");
            fs::write(&file, text).expect("write a configuration");
            let checked = run(command("rsyslogd").args(["-N1", "-f"]).arg(&file)).good();
            let faults = checked.err().lines().filter(|l| l.contains("error")).count();
            assert_eq!(faults, 0, "{name}.conf: {}", checked.err());
        }
    }

    fn daemon(&self, name: &str) -> Daemon {
        let path = |extension| self.scratch.path().join(name).with_extension(extension);
        let said = fs::File::options().create(true).append(true).open(path("said"));
        let mut rsyslogd = command("rsyslogd");
        rsyslogd.arg("-n").arg("-f").arg(path("conf")).arg("-i").arg(path("pid"));
        rsyslogd.stdout(Stdio::null()).stderr(said.expect("file for messages"));
        // A daemon that was killed leaves its pid file behind.
        let _ = fs::remove_file(path("pid"));
        let daemon = Daemon(rsyslogd.spawn().expect("rsyslogd"));
        wait_until(|| path("pid").exists(), &format!("the {name} to start"));
        daemon
    }

    /// Starts the node, again if it was stopped.
    pub fn start_node(&mut self) {
        for socket in [self.dev_log(), self.socket()] {
            let _ = fs::remove_file(socket);
        }
        self.node = Some(self.daemon("node"));
        let bound = |path: PathBuf| UnixDatagram::unbound().is_ok_and(|s| s.connect(path).is_ok());
        wait_until(|| bound(self.dev_log()) && bound(self.socket()), "the node's sockets");
    }

    /// Starts the center, again if it was stopped.
    pub fn start_center(&mut self) {
        self.center = Some(self.daemon("center"));
    }

    /// Stops the node in order: it writes its queue to disk.
    pub fn stop_node(&mut self) {
        self.node.take().expect("a running node").end(Signal::SIGTERM);
    }

    /// Ends the center by a signal.
    pub fn end_center(&mut self, by: Signal) {
        self.center.take().expect("a running center").end(by);
    }

    /// Makes the node's daemon hang, or go on.
    pub fn hang_node(&self, hang: bool) {
        let node = self.node.as_ref().expect("a running node");
        node.signal(if hang { Signal::SIGSTOP } else { Signal::SIGCONT });
        let threads = format!("/proc/{}/task", node.0.id());
        // Each of its threads stops by itself, and may read one message more.
        let stands = |thread: PathBuf| {
            let stat = fs::read_to_string(thread.join("stat")).unwrap_or_default();
            stat.rsplit(')').next().is_some_and(|state| state.starts_with(" T"))
        };
        let all = || fs::read_dir(&threads).expect("threads").flatten().all(|t| stands(t.path()));
        wait_until(|| !hang || all(), "the node to stop");
    }

    /// What stands for /dev/log.
    pub fn dev_log(&self) -> PathBuf {
        self.scratch.path().join("devlog")
    }

    /// The socket of TOPAS.
    pub fn socket(&self) -> PathBuf {
        self.scratch.path().join("run/log")
    }

    /// The chain's directory.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Waits until no line has come for a while.
    #[track_caller]
    pub fn wait_until_quiet(&self) {
        const WHILE: Duration = Duration::from_secs(3);
        let (mut known, mut since) = (self.arrived().len(), Instant::now());
        let begun = Instant::now();
        while since.elapsed() < WHILE {
            assert!(begun.elapsed() < PATIENCE, "{known} lines, and more come");
            sleep(Duration::from_millis(50));
            let now = self.arrived().len();
            if now != known {
                (known, since) = (now, Instant::now());
            }
        }
    }

    /// Whether the node has lines on disk.
    pub fn waits_on_disk(&self) -> bool {
        let queue = fs::read_dir(self.scratch.path().join("node-queue")).expect("queue");
        queue.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("topas."))
    }

    /// Waits until the node has lines on disk.
    #[track_caller]
    pub fn wait_for_lines_on_disk(&self) {
        wait_until(|| self.waits_on_disk(), "lines on the node's disk");
    }

    /// What the node keeps of messages that are not of TOPAS.
    pub fn others(&self) -> Vec<u8> {
        fs::read(self.scratch.path().join("other.log")).unwrap_or_default()
    }

    /// The files at the center.
    pub fn files(&self) -> Vec<PathBuf> {
        let dir = fs::read_dir(self.scratch.path().join("center"));
        dir.map_or_else(|_| Vec::new(), |dir| dir.flatten().map(|entry| entry.path()).collect())
    }

    /// The lines at the center, in the order they came. The daemon writes pieces of 4 kB, so that a file may
    /// end within a line that is being written: this line has not arrived.
    pub fn arrived(&self) -> Vec<Vec<u8>> {
        let mut arrived = Vec::new();
        for file in self.files() {
            let text = fs::read(file).expect("read a log");
            let lines = text.split_inclusive(|byte| *byte == b'\n');
            arrived.extend(lines.filter_map(|line| Some(line.strip_suffix(b"\n")?.to_vec())));
        }
        arrived
    }

    /// Waits for at least `count` lines at the center, and a little for more than those.
    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Vec<Vec<u8>> {
        self.wait_until_arrived(count, |lines| lines.len())
    }

    /// Waits for each of these lines, of which some may arrive twice, and a little for others: there must be none.
    #[track_caller]
    pub fn wait_for_each(&self, sent: &BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
        let distinct = |lines: &[Vec<u8>]| lines.iter().collect::<BTreeSet<_>>().len();
        let lines = self.wait_until_arrived(sent.len(), distinct);
        assert!(lines.iter().all(|line| sent.contains(line)), "lines that nobody sent");
        lines
    }

    /// Waits until `known` counts so many lines at the center, and a little for more than those.
    #[track_caller]
    fn wait_until_arrived(
        &self,
        count: usize,
        known: impl Fn(&[Vec<u8>]) -> usize,
    ) -> Vec<Vec<u8>> {
        let begun = Instant::now();
        while known(&self.arrived()) < count && begun.elapsed() < PATIENCE {
            sleep(Duration::from_millis(20));
        }
        sleep(Duration::from_millis(200));
        let lines = self.arrived();
        let said =
            |name: &str| fs::read_to_string(self.scratch.path().join(name)).unwrap_or_default();
        assert!(
            known(&lines) >= count,
            "{} of {count} lines arrived\n{}{}",
            known(&lines),
            said("node.said"),
            said("center.said")
        );
        lines
    }
}

/// A file of `etc/rsyslog` with parts replaced, each of which it must have.
#[track_caller]
fn shipped(name: &str, parts: &[(&str, &str)]) -> String {
    let path = source_root().join("etc/rsyslog").join(name);
    let mut text = fs::read_to_string(path).expect("configuration");
    for (from, to) in parts {
        assert!(text.contains(from), "etc/rsyslog/{name} has no {from}");
        text = text.replace(from, to);
    }
    text
}

/// Waits until something holds. Panics if that takes too long.
#[track_caller]
fn wait_until(holds: impl Fn() -> bool, what: &str) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        sleep(Duration::from_millis(5));
    }
}
