//! `topas-report` as centers call it.

mod access;
mod browser;
mod export;
mod figures;
mod killed;
mod mail;
mod pages;
mod purge;
mod sending;
mod serve;
mod stores;
mod units;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A center: a prefix with `topas.conf`, and a log.
pub(crate) struct Center {
    dir: TempDir,
}

impl Center {
    /// With these lines in its log.
    pub(crate) fn new(log: &str) -> Self {
        let center = Center { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(center.path("etc")).unwrap();
        fs::write(center.path("etc/topas.conf"), "").unwrap();
        fs::write(center.log(), log).unwrap();
        center
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path("log")
    }

    /// Runs the tool in the directory of the center.
    pub(crate) fn report(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_topas-report"))
            .args(args)
            .current_dir(self.dir.path())
            .env_clear()
            .env("TOPAS_CONF", self.path("etc/topas.conf"))
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap()
    }

    /// Appends runs with one line each, whose ids no other round has.
    pub(crate) fn append_runs(&self, round: u64, runs: u64) {
        let mut log = fs::OpenOptions::new().append(true).open(self.log()).unwrap();
        for number in 0..runs {
            let (id, user) = (format!("r{round}.{number}"), format!("user{}", number % 7));
            let line = Line {
                user: &user,
                uid: Some(1000 + (number % 7) as u32),
                id: &id,
                day: 1 + (number % 28) as u8,
                seconds: 10 + (number % 90) as u32,
                ..Line::default()
            };
            log.write_all(line.text().as_bytes()).unwrap();
        }
    }

    /// Starts to put the log into the index.
    pub(crate) fn ingest(&self, options: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_topas-report"))
            .args(["ingest", "log", "--index", "index"])
            .args(options)
            .current_dir(self.dir.path())
            .env_clear()
            .env("TOPAS_CONF", self.path("etc/topas.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The text of a mail of the week of the examples.
    pub(crate) fn shown(&self, args: &[&str]) -> String {
        let base = ["mail", "log", "--period", "2026-W47"];
        let output = self.report(&[&base, args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A run with one line: day of November 2026, user and id, executable, PEs, seconds, operations.
pub(crate) struct Line<'l> {
    pub(crate) day: u8,
    pub(crate) user: &'l str,
    pub(crate) uid: Option<u32>,
    pub(crate) exe: &'l str,
    pub(crate) npes: u32,
    pub(crate) seconds: u32,
    pub(crate) ops: u64,
    pub(crate) id: &'l str,
    pub(crate) end: &'l str,
}

impl Default for Line<'_> {
    fn default() -> Self {
        Line {
            day: 17,
            user: "root",
            uid: Some(0),
            exe: "heat",
            npes: 8,
            seconds: 3600,
            ops: 3_600_000_000,
            id: "a1",
            end: "exit:0",
        }
    }
}

impl Line<'_> {
    pub(crate) fn text(&self) -> String {
        let Line { day, user, uid, exe, npes, seconds, ops, id, end } = self;
        // 2026-11-01 12:00 UTC
        let t = 1_793_534_400 + u64::from(*day - 1) * 86_400;
        let uid = uid.map_or_else(String::new, |uid| format!(" uid={uid}"));
        topas_testkit::with_lengths(&format!(
            "2026/11/{day:02} 12:00:00 {user} {exe} 1 {npes} t2400 B f90 mpi {seconds}.0 0.1 \
             {seconds}.0 f={ops} 1000 {id} v=1 t={t}{uid} end={end}"
        )) + "\n"
    }
}

/// Runs of a user in the week and before.
pub(crate) fn log() -> String {
    let mut text = String::new();
    for (day, id, seconds, ops) in [
        (17, "a1", 3600, 3_600_000_000_000),
        (18, "a2", 1800, 900_000_000_000),
        (3, "a0", 7200, 7_200_000_000),
    ] {
        text += &Line { day, id, seconds, ops, ..Line::default() }.text();
    }
    text += &Line {
        day: 19,
        id: "a3",
        exe: "post",
        npes: 1,
        seconds: 60,
        ops: 60,
        end: "sig:11",
        ..Line::default()
    }
    .text();
    for (number, ops) in
        [(1, 1_000_000_000), (2, 2_000_000_000), (3, 3_000_000_000), (4, 4_000_000_000)]
    {
        text += &other(number, ops);
    }
    text
}

/// An hour of another user in the same class.
pub(crate) fn other(number: u32, ops: u64) -> String {
    let (user, id) = (format!("other{number}"), format!("b{number}"));
    let uid = Some(70_000 + number);
    Line { user: &user, uid, id: &id, ops: ops * 3600, ..Line::default() }.text()
}

/// A file that exists.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
