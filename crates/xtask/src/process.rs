//! Running other programs: what is run is shown, what fails is said.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The workspace's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").components().fold(
        PathBuf::new(),
        |mut path, part| {
            if part.as_os_str() == ".." {
                path.pop();
            } else {
                path.push(part);
            }
            path
        },
    )
}

/// Cargo's target directory.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The cargo that runs us.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command; an error with its line and status if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    let status = command.status().with_context(|| format!("cannot run: {line}"))?;
    if !status.success() {
        bail!("failed with {status}: {line}");
    }
    Ok(())
}

/// Runs a command for its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let out =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run: {line}"))?;
    if !out.status.success() {
        bail!("failed with {}: {line}", out.status);
    }
    String::from_utf8(out.stdout).with_context(|| format!("not UTF-8: output of {line}"))
}

/// Whether a program of this name is on the PATH.
pub fn on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

/// The command as a person would type it, nearly.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
