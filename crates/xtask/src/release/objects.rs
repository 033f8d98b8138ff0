//! Objects of earlier releases, which programs of users still contain: how to build each again.
//!
//! An object is not kept itself, because nobody could review it. `tests/fixtures/objects/objects.list`
//! has the commit, the compiler and the checksum of each, and the same bits come out of these.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{COMPILER, VERSION};
use crate::process::{output, root, run, target_dir};

/// The list, below the workspace.
const LIST: &str = "tests/fixtures/objects/objects.list";

/// The object that is kept of the objects of a release, as `cargo xtask object` makes it.
const OBJECT: &str = "topas.c.o";

/// How to build an object of an earlier release.
#[derive(Debug, PartialEq, Eq)]
pub struct KeptObject {
    /// The version of the release
    pub version: String,
    /// The commit of its sources
    commit: String,
    /// The version of Rust
    rust: String,
    /// The SHA-256 of the object, in hexadecimal digits
    sum: String,
}

/// The objects in the list.
///
/// # Errors
/// If the list cannot be read, or a line does not have four words.
pub fn kept() -> Result<Vec<KeptObject>> {
    let path = root().join(LIST);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    objects_in(&text).with_context(|| LIST.to_owned())
}

fn objects_in(text: &str) -> Result<Vec<KeptObject>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let [version, commit, rust, sum] = words.try_into().map_err(|words: Vec<String>| {
                anyhow::anyhow!("{} words in place of four: {line}", words.len())
            })?;
            Ok(KeptObject { version, commit, rust, sum })
        })
        .collect()
}

/// Builds the object of each earlier release in a directory, as `VERSION.o`.
///
/// # Errors
/// If there is no history of the sources, of the old build, and if the checksum is another one.
pub fn build(out: &Path) -> Result<()> {
    fs::create_dir_all(out)?;
    for object in kept()? {
        let to = std::path::absolute(out)?.join(format!("{}.o", object.version));
        object.build(&to).with_context(|| format!("the object of {}", object.version))?;
        println!("{}", to.display());
    }
    Ok(())
}

impl KeptObject {
    fn build(&self, to: &Path) -> Result<()> {
        let work = target_dir().join("kept-objects").join(&self.version);
        let work = std::path::absolute(work)?;
        let (sources, built) = (work.join("sources"), work.join("built"));
        if sources.exists() {
            fs::remove_dir_all(&sources)?;
        }
        fs::create_dir_all(&sources)?;
        let tar = work.join("sources.tar");
        let mut git = Command::new("git");
        git.current_dir(root()).args(["archive", "--output"]).arg(&tar).arg(&self.commit);
        run(&mut git).context("the history of the sources is needed: git fetch --unshallow")?;
        run(Command::new("tar").arg("-C").arg(&sources).arg("-xf").arg(&tar))?;
        fs::remove_file(&tar)?;
        // The compiler of that time, and none of the settings of the Cargo that runs us.
        let mut cargo = Command::new("rustup");
        cargo.args(["run", &self.rust, "cargo", "xtask", "object", "--out"]).arg(&built);
        cargo.current_dir(&sources).env("CARGO_TARGET_DIR", work.join("target"));
        for name in ["CARGO", "CARGO_MANIFEST_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            cargo.env_remove(name);
        }
        run(cargo.stdout(Stdio::null()))?;
        fs::remove_dir_all(&sources)?;
        fs::copy(built.join(OBJECT), to)?;
        let sum = sum_of(to)?;
        if sum != self.sum {
            bail!("has the checksum {sum}, and the list says {}", self.sum);
        }
        Ok(())
    }
}

/// The line that the list gets when this release is out: of the object that was just installed below
/// `lib`.
///
/// # Errors
/// Without git or the object.
pub fn line_of(lib: &Path) -> Result<String> {
    let mut git = Command::new("git");
    let commit = output(git.current_dir(root()).args(["rev-parse", "HEAD"]))?;
    Ok(format!("{VERSION} {} {COMPILER} {}", commit.trim(), sum_of(&lib.join(OBJECT))?))
}

/// The SHA-256 of a file.
fn sum_of(path: &Path) -> Result<String> {
    let told = output(Command::new("sha256sum").arg(path))?;
    Ok(told.split_whitespace().next().context("a checksum")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_list_is_an_object() {
        let text = "# VERSION COMMIT RUST SHA-256\n\n0.1.0 abc 1.95.0 00ff\n";
        let expected = KeptObject {
            version: "0.1.0".into(),
            commit: "abc".into(),
            rust: "1.95.0".into(),
            sum: "00ff".into(),
        };
        assert_eq!(objects_in(text).unwrap(), [expected]);
        assert!(objects_in("0.1.0 abc 1.95.0\n").is_err());
        assert!(!kept().unwrap().is_empty());
    }
}
