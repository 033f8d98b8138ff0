//! What the words of a command lead to: the program that runs in the end, behind scripts and
//! programs that become another.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use topas_config::Environment;
use topas_launch::through::becomes_another;

use super::elf::{self, Elf, Facts};
use super::sys;
use crate::search;

/// Most files looked at on the way: interpreters of interpreters, programs behind programs.
const MAX_STEPS: usize = 8;

/// Longest first line of a script that the kernel reads, in bytes.
const FIRST_LINE: usize = 256;

/// Interpreters that run other programs for what they do.
const SHELLS: [&str; 13] = [
    "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "ksh93", "mksh", "rbash", "sh", "tcsh",
    "zsh",
];

/// Programs that run another in a process of its own, behind a daemon or in a root directory
/// of its own: the loader there may not see what is here.
const STARTERS: [&str; 21] = [
    "Rscript",
    "apptainer",
    "ch-run",
    "chroot",
    "crun",
    "docker",
    "enroot",
    "gdb",
    "ltrace",
    "parallel",
    "perf",
    "podman",
    "sarus",
    "shifter",
    "singularity",
    "setsid",
    "strace",
    "time",
    "timeout",
    "unshare",
    "valgrind",
];

/// The program of a command.
#[derive(Debug)]
pub struct Program {
    /// What the first word leads to.
    pub path: PathBuf,
    /// File name of what runs in the end: an executable, or a script of a shell.
    pub exe: OsString,
    /// Whether other programs come before it, which become it.
    pub behind: bool,
    /// What it is.
    pub kind: ExecutableKind,
}

impl Program {
    /// Whether the program was linked with the measurement module.
    pub fn has_module(&self) -> bool {
        matches!(&self.kind, ExecutableKind::Elf(facts) if facts.has_module)
    }
}

/// Kinds of programs.
#[derive(Debug)]
pub enum ExecutableKind {
    /// An executable of this machine
    Elf(Facts),
    /// An executable of another machine, or of 32 bits
    Foreign,
    /// A script of a shell, or a shell
    Shell,
    /// A program that runs another in its own way
    Starter,
    /// It runs with the rights of another user or group, or with some of root's
    Privileged,
    /// It can be run, but not read
    Unreadable(io::Error),
}

/// Why there is no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFound;

/// The program that `command` is, its first word the program's name.
///
/// # Errors
/// [`NotFound`] if the first word is nothing that could be executed.
pub fn find(command: &[OsString], env: &Environment) -> Result<Program, NotFound> {
    let first = command.first().ok_or(NotFound)?;
    let path = located(first, env).ok_or(NotFound)?;
    let mut words: Vec<OsString> = command.to_vec();
    let mut at = path.clone();
    let mut exe = file_name(&at);
    let mut behind = false;
    // Of a script it is the script that the user named.
    let mut script: Option<OsString> = None;
    for _ in 0..MAX_STEPS {
        match Step::at(&at) {
            Step::Interpreted(mut line) => {
                script.get_or_insert_with(|| exe.clone());
                line.push(at.into_os_string());
                line.extend(words.into_iter().skip(1));
                words = line;
            }
            Step::End(kind @ ExecutableKind::Elf(_)) if becomes_another(exe.as_bytes()) => {
                let Some(next) = next_program(&words, env) else {
                    return Ok(Program { path, exe, behind, kind });
                };
                behind = true;
                words = words.split_off(next);
            }
            Step::End(kind) => {
                let named = exe.to_str().unwrap_or_default();
                let kind = match kind {
                    ExecutableKind::Elf(_) if SHELLS.contains(&named) => ExecutableKind::Shell,
                    ExecutableKind::Elf(_) if STARTERS.contains(&named) => ExecutableKind::Starter,
                    kind => kind,
                };
                if let ExecutableKind::Shell | ExecutableKind::Starter = kind {
                    // Of many names that lead to one file it is the one that was used.
                    exe = script.unwrap_or_else(|| at.file_name().unwrap_or_default().to_owned());
                }
                return Ok(Program { path, exe, behind, kind });
            }
        }
        let next = words.first().and_then(|word| located(word, env));
        let Some(next) = next else { break };
        exe = file_name(&next);
        at = next;
    }
    // The kernel will say what is wrong with it.
    Ok(Program { path, exe: script.unwrap_or(exe), behind, kind: ExecutableKind::Shell })
}

/// What a word names: a path, or the first executable file of that name on PATH.
fn located(word: &OsStr, env: &Environment) -> Option<PathBuf> {
    if word.as_bytes().contains(&b'/') {
        return fs::metadata(word).is_ok().then(|| PathBuf::from(word));
    }
    if word.is_empty() { None } else { search::any_program(word, env) }
}

/// The file name by which the kernel will know the program.
fn file_name(path: &Path) -> OsString {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    real.file_name().unwrap_or_default().to_owned()
}

/// The place of the program among the words of one that becomes it: the first word that is
/// neither option nor assignment, and names an executable file.
fn next_program(words: &[OsString], env: &Environment) -> Option<usize> {
    let named = |word: &&OsString| {
        let bytes = word.as_bytes();
        let option = bytes.starts_with(b"-");
        let assignment = bytes.contains(&b'=') && !bytes.contains(&b'/');
        !option
            && !assignment
            && located(word, env).is_some_and(|path| path.is_file() && search::is_executable(&path))
    };
    words.iter().skip(1).position(|word| named(&word)).map(|at| at + 1)
}

/// What stands at a path.
enum Step {
    /// A script: the words in front of its own path
    Interpreted(Vec<OsString>),
    /// Anything else
    End(ExecutableKind),
}

impl Step {
    fn at(path: &Path) -> Step {
        match Step::read(path) {
            Ok(step) => step,
            Err(error) => Step::End(ExecutableKind::Unreadable(error)),
        }
    }

    fn read(path: &Path) -> io::Result<Step> {
        const SET_ID: u32 = 0o6000;
        let about = fs::metadata(path)?;
        if !about.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if about.mode() & SET_ID != 0 || sys::has_capabilities(path) {
            return Ok(Step::End(ExecutableKind::Privileged));
        }
        let mut file = File::open(path)?;
        let mut head = Vec::with_capacity(FIRST_LINE);
        file.by_ref().take(FIRST_LINE as u64).read_to_end(&mut head)?;
        if head.starts_with(elf::MAGIC_NUMBER) {
            return Ok(Step::End(match elf::read(&file)? {
                Elf::Ours(facts) => ExecutableKind::Elf(facts),
                Elf::Foreign => ExecutableKind::Foreign,
            }));
        }
        Ok(match interpreter(&head) {
            Some(words) => Step::Interpreted(words),
            // The shell takes what the kernel does not.
            None => Step::End(ExecutableKind::Shell),
        })
    }
}

/// The words of a script's first line `#!interpreter argument`; of `env -S` all that it takes
/// apart.
pub fn interpreter(head: &[u8]) -> Option<Vec<OsString>> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let (program, argument) = match line.iter().position(blank) {
        Some(at) => line.split_at_checked(at)?,
        None => (line, &[][..]),
    };
    let argument = argument.trim_ascii();
    let mut words = vec![program];
    match argument.strip_prefix(b"-S") {
        Some(rest) => words.extend(rest.split(blank).filter(|word| !word.is_empty())),
        None if !argument.is_empty() => words.push(argument),
        None => {}
    }
    let words: Vec<OsString> =
        words.into_iter().map(|word| OsString::from_vec(word.to_vec())).collect();
    (!program.is_empty()).then_some(words)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn first_lines() {
        let of = |text: &str| {
            interpreter(text.as_bytes()).map(|words| {
                words.iter().map(|w| w.to_str().unwrap().to_owned()).collect::<Vec<_>>()
            })
        };
        for (text, expected) in [
            ("#!/bin/sh\necho", Some(vec!["/bin/sh"])),
            ("#! /bin/sh  -eu \necho", Some(vec!["/bin/sh", "-eu"])),
            ("#!/usr/bin/env python3", Some(vec!["/usr/bin/env", "python3"])),
            ("#!/usr/bin/env -S python3 -u\n", Some(vec!["/usr/bin/env", "python3", "-u"])),
            ("#!/usr/bin/perl -w -T\n", Some(vec!["/usr/bin/perl", "-w -T"])),
            ("#!\n", None),
            ("#!", None),
            ("echo", None),
            ("", None),
        ] {
            let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect());
            assert_eq!(of(text), expected, "{text:?}");
        }
    }

    /// A directory with scripts, and an environment that finds them.
    fn bench() -> (tempfile::TempDir, Environment) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("s.sh", "#!/bin/sh\n"),
            ("by_env", "#!/usr/bin/env -S nice sh\n"),
            ("by_s", "#!/nonexistent/interpreter\n"),
            ("plain", "echo\n"),
            ("round", "#!round\n"),
        ] {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", dir.path().display());
        (dir, [("PATH", path)].into_iter().collect())
    }

    #[test]
    fn what_runs_in_the_end() {
        let (_dir, env) = bench();
        for (command, exe, behind, kind) in [
            ("sleep 1", "sleep", false, "elf"),
            ("nice -n 5 sleep 1", "sleep", true, "elf"),
            ("env A=1 nice sleep", "sleep", true, "elf"),
            ("env", "env", false, "elf"),
            ("sh -c true", "sh", false, "shell"),
            ("s.sh", "s.sh", false, "shell"),
            ("nice s.sh", "s.sh", true, "shell"),
            ("by_env", "by_env", true, "shell"),
            ("by_s", "by_s", false, "shell"),
            ("plain", "plain", false, "shell"),
            ("round", "round", false, "shell"),
            ("timeout 1 sleep 1", "timeout", false, "starter"),
        ] {
            let found = find(&words(command), &env).unwrap();
            let found_kind = match found.kind {
                ExecutableKind::Elf(_) => "elf",
                ExecutableKind::Shell => "shell",
                ExecutableKind::Starter => "starter",
                kind => panic!("{command}: {kind:?}"),
            };
            let shown = (found.exe.to_str().unwrap(), found.behind, found_kind);
            assert_eq!(shown, (exe, behind, kind), "{command}");
        }
        assert_eq!(find(&words("nothing-of-that-name"), &env).unwrap_err(), NotFound);
        assert_eq!(find(&words("/nonexistent/a"), &env).unwrap_err(), NotFound);
        assert_eq!(find(&[], &env).unwrap_err(), NotFound);
    }

    #[test]
    fn rights_of_others_and_what_cannot_be_read() {
        let (dir, env) = bench();
        let path = dir.path().join("s.sh");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
        let kind = find(&words("s.sh"), &env).unwrap().kind;
        assert!(matches!(kind, ExecutableKind::Privileged), "{kind:?}");
        let kind = find(&[dir.path().into()], &env).unwrap().kind;
        assert!(matches!(kind, ExecutableKind::Unreadable(_)), "{kind:?}");
    }
}
