//! A scratch site with a fake compiler behind the real driver executable.

// Every test binary uses a part of it.
#![allow(dead_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use topas_testkit::fake_compiler::{CompilerCall, FakeCompiler};
use topas_testkit::scratch::ScratchSite;

/// The driver under test.
pub const DRIVER: &str = env!("CARGO_BIN_EXE_topas-driver");

/// Names of real programs.
pub const NAMES: &[&str] =
    &["mpicc", "mpicxx", "mpic++", "mpiCC", "mpif77", "mpif90", "mpifort", "mpiexec", "mpirun"];

/// A site, and the programs behind it.
pub struct Site {
    /// The installation.
    pub scratch: ScratchSite,
    /// The real programs.
    pub fake: FakeCompiler,
}

impl Site {
    /// Lays out both.
    pub fn new() -> Self {
        Site::with_prefix("prefix")
    }

    /// The same with another name for the prefix directory.
    pub fn with_prefix(name: &str) -> Self {
        let scratch = ScratchSite::named(Path::new(DRIVER), name);
        let fake = FakeCompiler::install(&scratch.beside("mpi"), NAMES);
        Site { scratch, fake }
    }

    /// A command that calls the driver as `name`, with a bare environment.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.scratch.wrappers().join(name));
        command
            .env_clear()
            .env("PATH", self.scratch.path_before(&[self.fake.dir()]))
            .env("FAKE_COMPILER_LOG", self.fake.log())
            .current_dir(self.scratch.beside("work"));
        command
    }

    /// The same for a name of any set, whose directory stands in front of PATH.
    pub fn command_of_any_set(&self, name: &str) -> Command {
        if self.scratch.wrappers().join(name).exists() {
            return self.command(name);
        }
        let sets = self.scratch.prefix().join("libexec/topas");
        let sets =
            std::fs::read_dir(&sets).expect("directory").map(|set| set.expect("entry").path());
        let mut found: Vec<_> = sets.filter(|set| set.join(name).exists()).collect();
        found.sort();
        let set = found.first().unwrap_or_else(|| panic!("no driver is called {name}"));
        let mut command = Command::new(set.join(name));
        command
            .env_clear()
            .env("PATH", path(&[set, &self.scratch.wrappers(), self.fake.dir()]))
            .env("FAKE_COMPILER_LOG", self.fake.log())
            .current_dir(self.work());
        command
    }

    /// Directory the commands run in.
    pub fn work(&self) -> PathBuf {
        self.scratch.beside("work")
    }

    /// Runs a command, which must succeed silently, and gives the one call it led to.
    pub fn call(&self, command: &mut Command) -> CompilerCall {
        let output = command.output().expect("run the driver");
        self.checked(&output)
    }

    /// The one call behind a silent success.
    pub fn checked(&self, output: &Output) -> CompilerCall {
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stderr), "");
        assert_eq!(text(&output.stdout), "");
        let mut calls = self.fake.take_calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls.remove(0)
    }

    /// Runs `name args` and asserts the arguments the real program gets behind its name.
    #[track_caller]
    pub fn expect(&self, name: &str, args: &[&str], added: &[OsString]) {
        let call = self.call(self.command(name).args(args));
        assert_eq!(call.args[0], self.fake.dir().join(name), "argv[0]");
        let mut expected: Vec<OsString> = args.iter().map(OsString::from).collect();
        expected.extend(added.iter().cloned());
        assert_eq!(call.args[1..], expected, "{name} {args:?}");
    }

    /// What is added for a language.
    pub fn module_words(&self, language: &str) -> Vec<OsString> {
        vec![self.word(&self.scratch.module(language))]
    }

    /// The word that passes an object to the linker.
    pub fn word(&self, object: &Path) -> OsString {
        let mut word = OsString::from("-Wl,");
        word.push(object);
        word
    }
}

/// Output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A PATH of these directories.
pub fn path(dirs: &[&Path]) -> OsString {
    std::env::join_paths(dirs.iter().map(|dir| dir.as_os_str())).expect("no colons")
}
