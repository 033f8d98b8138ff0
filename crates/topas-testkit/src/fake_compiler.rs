//! A compiler that records how it was called: see `src/bin/topas-fake-compiler.rs`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use crate::scratch::place_program;

/// Source of the executable.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bin/topas-fake-compiler.rs");

/// Builds the executable, once per process, and gives its path.
///
/// It is built here with `rustc` because Cargo builds no executables of a dependency
/// for a test. Panics if there is no `rustc`.
pub fn executable() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let dir = tempfile::tempdir().expect("temporary directory");
        let path = dir.path().join("topas-fake-compiler");
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let status = Command::new(rustc)
            // Small: every driver in front of it looks whether it is one.
            .args(["--edition", "2024", "-C", "strip=symbols", "-o"])
            .args([path.as_os_str(), OsStr::new(SOURCE)])
            .status()
            .expect("run rustc");
        assert!(status.success(), "rustc {SOURCE}: {status}");
        (dir, path)
    });
    path
}

/// A directory with the fake compiler under one or more names.
#[derive(Debug)]
pub struct FakeCompiler {
    dir: PathBuf,
    log: PathBuf,
}

/// One call of the fake compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerCall {
    /// The arguments, the program's own name first.
    pub args: Vec<OsString>,
    /// The variables asked for, as far as they were set.
    pub env: BTreeMap<OsString, OsString>,
}

impl FakeCompiler {
    /// Puts it into `dir`, which is made, under `names`.
    pub fn install(dir: &Path, names: &[&str]) -> Self {
        fs::create_dir_all(dir).expect("make directory");
        for name in names {
            place_program(executable(), &dir.join(name));
        }
        FakeCompiler { dir: dir.to_path_buf(), log: dir.join(".calls") }
    }

    /// The directory, to be put on PATH.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Value for `FAKE_COMPILER_LOG`: the file of the records.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The calls since the last question, oldest first.
    pub fn take_calls(&self) -> Vec<CompilerCall> {
        let Ok(text) = fs::read(&self.log) else { return Vec::new() };
        fs::remove_file(&self.log).expect("remove the record");
        let mut words = text.split(|&b| b == 0);
        let mut list = || -> Option<Vec<OsString>> {
            let count: usize = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
            let words: Vec<_> = words.by_ref().take(count).collect();
            assert_eq!(words.len(), count, "the record is cut short");
            Some(words.into_iter().map(|word| OsString::from_vec(word.to_vec())).collect())
        };
        let mut calls = Vec::new();
        while let Some(args) = list() {
            let env = list().expect("variables follow the arguments");
            let env = env.into_iter().map(|entry| {
                let entry = entry.into_vec();
                let end = entry.iter().position(|&b| b == b'=').expect("NAME=VALUE");
                let (name, value) = (entry[..end].to_vec(), entry[end + 1..].to_vec());
                (OsString::from_vec(name), OsString::from_vec(value))
            });
            calls.push(CompilerCall { args, env: env.collect() });
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_arguments_and_variables_exactly() {
        let dir = tempfile::tempdir().unwrap();
        let fake = FakeCompiler::install(dir.path(), &["mpicc"]);
        let odd = OsString::from_vec(b"a\n\xff b".to_vec());
        let status = Command::new(dir.path().join("mpicc"))
            .arg(&odd)
            .arg("")
            .env("FAKE_COMPILER_LOG", fake.log())
            .env("FAKE_COMPILER_ENV", "SHOWN MISSING")
            .env("SHOWN", "x=y")
            .env("FAKE_COMPILER_EXIT", "42")
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(42));
        let calls = fake.take_calls();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].args, [dir.path().join("mpicc").into(), odd, OsString::new()]);
        assert_eq!(calls[0].env.get(OsStr::new("SHOWN")), Some(&OsString::from("x=y")));
        assert_eq!(calls[0].env.len(), 1);
        assert_eq!(fake.take_calls(), []);
    }
}
