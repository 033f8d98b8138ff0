//! Programs of a few ranks that are looked at while they run, or once they were killed.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::mpi_installation::Mpi;
use crate::profile::{Places, build, library};
use crate::running::{Run, run};
use crate::site::{Scratch, Site};

const RANKS: u32 = 3;

/// A program that was started with waits and call paths, and all of whose ranks have come to MPI.
pub struct Started {
    /// Its directory
    pub scratch: Scratch,
    /// Where its profile is
    pub places: Places,
    /// The launcher
    pub child: Child,
}

impl Started {
    /// Builds a program of `tests/programs`, and starts it with an argument on three ranks.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn new(mpi: Mpi, source: &str, argument: &str) -> Started {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("program");
        build(mpi, "mpicc", &[source], &["-O1", "-g"], &program);
        let mut launch = mpi.launch_bare(&scratch, RANKS);
        launch.args(places.words(&[&library(Site::shared())]));
        launch.args(["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes"]).arg(&program).arg(argument);
        launch.stdout(Stdio::null()).stderr(Stdio::null());
        let child = launch.spawn().expect("launch");
        let begun = Instant::now();
        while places.spooled_so_far().len() < RANKS as usize
            && begun.elapsed() < Duration::from_secs(60)
        {
            thread::sleep(Duration::from_millis(20));
        }
        Started { scratch, places, child }
    }

    /// A tool, in a directory without any profile, on this node's mapped files.
    pub fn tool(&self, name: &str, words: &[&str]) -> Run {
        let mut tool = self.scratch.command(Site::shared().tool(name));
        tool.env("TOPAS_MPI_SPOOL", &self.places.spool).current_dir(self.scratch.sub("empty"));
        run(tool.args(words))
    }

    /// What a tool prints, in one line.
    pub fn said(&self, name: &str, words: &[&str]) -> String {
        let text = self.tool(name, words).good().out();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What `topasview` says before all else of the mapped files, in one line: behind the heading.
    pub fn first_words(&self, words: &[&str]) -> String {
        let spool = self.places.spool.display().to_string();
        let text = self.tool("topasview", &[words, &[&spool]].concat()).good().out();
        let paragraphs: Vec<&str> = text.split("\n\n").collect();
        paragraphs.get(1).unwrap_or(&"").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What `topas-top` says, once no rank goes on.
    pub fn standstill(&self) -> String {
        let begun = Instant::now();
        loop {
            let top = self.tool("topas-top", &["--once"]);
            let is_still = top.code() == 0 && top.out().contains("No call has ended for ");
            if is_still || begun.elapsed() > Duration::from_secs(60) {
                return top.good().out();
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Started {
    /// Waits until no rank runs.
    pub fn wait_for_the_end(&self) {
        let begun = Instant::now();
        while self.tool("topas-top", &["--once"]).code() == 0
            && begun.elapsed() < Duration::from_secs(30)
        {
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends all ranks after a while, as a batch system does at the end of their time.
    pub fn end_from_outside(&self) {
        // The kernel notes the second of an end.
        thread::sleep(Duration::from_secs(3));
        for process in self.processes() {
            // The launcher ends the others when it sees the first end.
            let _ = kill(process, Signal::SIGKILL);
        }
        self.wait_for_the_end();
    }

    /// The processes of the ranks, by rank.
    pub fn processes(&self) -> Vec<Pid> {
        let csv = self.places.spooled_so_far();
        let mut ranks: Vec<(u32, u32)> = csv.iter().map(|one| (one.rank, one.pid)).collect();
        ranks.sort_unstable();
        ranks.iter().map(|(_, pid)| Pid::from_raw(pid.cast_signed())).collect()
    }

    /// The processes above the ranks, up to the launcher.
    pub fn launchers(&self, ranks: &[Pid]) -> Vec<Pid> {
        let parent = |pid: Pid| -> Option<i32> {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
        };
        let first = Pid::from_raw(self.child.id().cast_signed());
        let mut above = Vec::new();
        let mut at = ranks[0];
        while at != first {
            at = Pid::from_raw(parent(at).expect("a parent"));
            above.push(at);
        }
        above
    }
}

/// Sends a signal to processes.
///
/// # Panics
///
/// If one of them is gone.
pub fn signal(processes: &[Pid], signal: Signal) {
    processes.iter().for_each(|process| kill(*process, signal).expect("signal"));
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

/// The line of a source with a mark, as it is named: `deadlock.c:15`.
pub fn line(source: &str, mark: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("programs/faults").join(source);
    let text = fs::read_to_string(path).expect("source");
    let mark = format!("// {mark}");
    let place = text.lines().position(|line| line.ends_with(&mark)).expect("a mark");
    format!("{source}:{}", place + 1)
}
