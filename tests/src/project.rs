//! Small projects of build systems: a copy of a directory below `tests/builds`, built as a
//! user would with the drop-in drivers in front of PATH.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_format::field::{Lang, Lib};

use crate::build::source;
use crate::mpi_installation::{Mpi, launched};
use crate::running::{Run, command, run, system_path};
use crate::site::{Scratch, Site, source_root};

/// Ranks of a launch.
pub const RANKS: u32 = 4;

/// What every copy of the module begins its facts with.
pub const MARK: &[u8] = topas_format::module_facts::MAGIC;

/// A copy, and the MPI it is built for.
#[derive(Debug)]
pub struct Project {
    /// The MPI.
    pub mpi: Mpi,
    scratch: Scratch,
}

impl Project {
    /// Copies `tests/builds/NAME`, and beside it `programs` of `tests/programs`.
    pub fn new(mpi: Mpi, name: &str, programs: &[&str]) -> Project {
        let project = Project { mpi, scratch: Scratch::new() };
        let dir = project.scratch.sub("project");
        copy(&source_root().join("tests/builds").join(name), &dir);
        for program in programs {
            let from = source(program);
            fs::copy(&from, dir.join(from.file_name().expect("name"))).expect("copy a program");
        }
        project
    }

    /// Its directory.
    pub fn dir(&self) -> PathBuf {
        self.scratch.sub("project")
    }

    /// A command of the project that finds the drivers first.
    pub fn tool(&self, program: &str) -> Command {
        let mut tool = self.mpi.driver(Site::shared(), &self.scratch, program);
        tool.current_dir(self.dir());
        tool
    }

    /// The same without TOPAS on PATH.
    pub fn bare_tool(&self, program: &str) -> Command {
        let mut tool = command(program);
        tool.env("PATH", format!("{}:{}", self.mpi.tools().display(), system_path()));
        tool.current_dir(self.dir());
        tool
    }

    /// Where the real program of a name is, as the search of PATH finds it.
    pub fn path_of(&self, program: &str) -> String {
        self.mpi.tools().join(program).display().to_string()
    }

    /// Runs a shell script in the project, with variables such as `CC=mpicc` before it.
    /// Panics if it fails, or leaves a line in the log.
    #[track_caller]
    pub fn build(&self, variables: &[(&str, &str)], script: &str) -> Run {
        let mut shell = self.tool("sh");
        shell.args(["-e", "-c", script]).envs(variables.iter().copied());
        let built = run(&mut shell).good();
        let lines = self.scratch.take_log();
        assert!(lines.is_empty(), "a build left lines: {lines:?}");
        built
    }

    /// Runs a program of [`RANKS`] ranks, as words below the project. It must end well and
    /// print what `says` has, and leave lines of two ranks in this language.
    #[track_caller]
    pub fn measured(&self, words: &str, lang: Lang, says: &str) {
        let ended = self.launched(words);
        assert!(ended.out().contains(says), "{words}: no '{says}' in {}", ended.out());
        let lines = self.scratch.take_log();
        let ranks: Vec<_> = lines.iter().map(|line| line.pe).collect();
        assert_eq!(ranks.len(), 2, "{words} under {}: lines {lines:?}", self.mpi.name());
        assert_ne!(ranks[0], ranks[1], "{words}: one rank twice");
        for line in &lines {
            assert_eq!((line.lang, line.lib), (lang, Lib::Mpi), "{words}: {}", line.text);
            assert_eq!(line.extra("end"), "exit:0", "{words}: {}", line.text);
            assert_eq!(line.npes, RANKS, "{words}: {}", line.text);
        }
    }

    /// Runs a program that must end well, print what `says` has, and leave no line.
    #[track_caller]
    pub fn not_measured(&self, words: &str, says: &str) {
        let ended = self.launched(words);
        assert!(ended.out().contains(says), "{words}: no '{says}' in {}", ended.out());
        let lines = self.scratch.take_log();
        assert!(lines.is_empty(), "{words}: {lines:?}");
    }

    #[track_caller]
    fn launched(&self, words: &str) -> Run {
        let mut launch = self.mpi.launch(Site::shared(), &self.scratch, RANKS);
        launch.current_dir(self.dir()).args(words.split_whitespace());
        let ended = launched(&self.scratch, &mut launch).good();
        assert_eq!(ended.err(), "", "{words}: standard error");
        ended
    }

    /// Whether a file below the project holds a module.
    #[track_caller]
    pub fn has_module(&self, file: &str) -> bool {
        has_module(&self.dir().join(file))
    }
}

/// Whether a file holds a module.
#[track_caller]
pub fn has_module(file: &Path) -> bool {
    let bytes = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    bytes.windows(MARK.len()).any(|window| window == MARK)
}

fn copy(from: &Path, to: &Path) {
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries.map(|entry| entry.expect("entry")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&target).expect("make directory");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copy");
        }
    }
}
