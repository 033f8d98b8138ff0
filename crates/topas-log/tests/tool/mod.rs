//! The tool in a directory of a test's own.
#![allow(dead_code, reason = "each test uses a part")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory with files.
pub struct Dir(tempfile::TempDir);

impl Dir {
    pub fn new() -> Self {
        Dir(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path().join(name)).unwrap()).unwrap()
    }

    /// Names of the files, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_topas-log"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Exit code, standard output, standard error.
    pub fn run(&self, args: &[&str]) -> (i32, String, String) {
        texts(self.command(args).output().unwrap())
    }

    pub fn pipe(&self, args: &[&str], input: &[u8]) -> (i32, String, String) {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut to = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // The tool may end before it has read all.
            scope.spawn(move || drop(to.write_all(input)));
            texts(child.wait_with_output().unwrap())
        })
    }
}

pub fn texts(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// A log line that ended at `t`, by `user`; `n` makes it different from others.
pub fn line(t: i64, user: &str, n: usize) -> String {
    let day = 1 + t / 86_400 % 28;
    let line = format!(
        "2026/10/{day:02} {:02}:{:02}:{:02} {user} heat3d 5 16 t2596 B f90 mpi 12.340 0.120 12.460 \
         f=123456789 4567 {n:016x} v=1 t={t} uid=1000 end=exit:0 host=n0042",
        t / 3600 % 24,
        t / 60 % 60,
        t % 60
    );
    format!("{line} len={:03}\n", line.len() + 8)
}

/// Says past the capture of output that a test cannot run here.
pub fn skip(test: &str, reason: &str) {
    let _ = std::io::stderr().write_all(format!("skipped: {test}: {reason}\n").as_bytes());
}

/// Whether a program is there; if not, says that the test is skipped.
pub fn have(test: &str, program: &str) -> bool {
    let find = format!("command -v {program} > /dev/null");
    let there = Command::new("sh").args(["-c", &find]).status().unwrap().success();
    if !there {
        skip(test, &format!("needs {program}"));
    }
    there
}

/// Whether this is root; if not, says that the test is skipped.
pub fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        skip(test, "needs root");
    }
    root
}

/// Appends a line as the module does: open or make, one write, close.
pub fn append(path: &Path, line: &[u8]) {
    use std::io::ErrorKind::{AlreadyExists, NotFound};
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = loop {
        let found = fs::OpenOptions::new().append(true).open(path);
        let made = || fs::OpenOptions::new().append(true).create_new(true).mode(0o600).open(path);
        match found.or_else(|e| if e.kind() == NotFound { made() } else { Err(e) }) {
            Ok(file) => break file,
            Err(error) if error.kind() == AlreadyExists => {}
            Err(error) => panic!("{}: {error}", path.display()),
        }
    };
    assert_eq!(file.write(line).unwrap(), line.len());
}
