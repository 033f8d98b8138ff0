//! Sources of real projects: from Debian's archive by `apt-get source`, from PyPI by `pip
//! download`. Fetched once, kept below the target directory; neither the machine's list of
//! sources nor its packages are touched.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::running::{command, run_within};
use crate::site::work_dir;

/// How long one transfer may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// An archive and what it is.
#[derive(Debug)]
pub struct Archive {
    /// The file.
    pub path: PathBuf,
    /// Version of the project.
    pub version: String,
}

/// Fetches what `wanted` names: `apt:PACKAGE`, or `pip:NAME==VERSION`.
///
/// # Errors
/// Why that cannot be had.
pub fn fetch(wanted: &str) -> Result<Archive, String> {
    let dir = work_dir().join("sources");
    fs::create_dir_all(&dir).expect("make directory");
    let lock = File::create(dir.join("lock")).expect("lock file");
    lock.lock().expect("lock");
    match wanted.split_once(':') {
        Some(("apt", package)) => from_debian(&dir, package),
        Some(("pip", requirement)) => from_pypi(&dir, requirement),
        _ => Err(format!("'{wanted}' names no source")),
    }
}

fn from_debian(dir: &Path, package: &str) -> Result<Archive, String> {
    let found = || archive(dir, &format!("{package}_"), ".orig.tar.");
    if let Some(archive) = found() {
        return Ok(archive);
    }
    for part in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(dir.join("apt").join(part)).expect("make directory");
    }
    let listed = run_within(
        command("apt-get").args(["indextargets", "--format"]).args([
            "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)",
            "Identifier: Packages",
            "Origin: Debian",
        ]),
        PATIENCE,
    );
    let sources = listed.out();
    if sources.is_empty() {
        return Err("this machine has no Debian archive, which has the sources".to_owned());
    }
    fs::write(dir.join("apt/sources.list"), sources).expect("write sources.list");
    let option = |name: &str, value: &str| format!("{name}={}", dir.join(value).display());
    let mut said = String::new();
    for words in
        [&["update", "-qq"][..], &["source", "-qq", "--download-only", "--tar-only", package]]
    {
        let mut apt = command("apt-get");
        apt.current_dir(dir).args(["-o", "Dir::Etc::sourceparts=-"]);
        for (name, value) in [
            ("Dir::Etc::sourcelist", "apt/sources.list"),
            ("Dir::State::lists", "apt/lists"),
            ("Dir::Cache", "apt/cache"),
        ] {
            apt.arg("-o").arg(option(name, value));
        }
        said = run_within(apt.args(words), PATIENCE).err();
    }
    found().ok_or_else(|| format!("apt-get source {package}: {said}"))
}

fn from_pypi(dir: &Path, requirement: &str) -> Result<Archive, String> {
    let (name, version) =
        requirement.split_once("==").ok_or_else(|| format!("'{requirement}' has no =="))?;
    let found = || archive(dir, &format!("{name}-{version}"), ".tar.gz");
    if found().is_none() {
        let mut pip = command("python3");
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name]);
        let ended = run_within(pip.arg("--dest").arg(dir).arg(requirement), PATIENCE);
        if found().is_none() {
            return Err(format!("pip download {requirement}: {}", ended.err()));
        }
    }
    found()
        .map(|archive| Archive { version: version.to_owned(), ..archive })
        .ok_or_else(|| format!("{requirement} has gone"))
}

/// The file in `dir` of these ends; its version is what stands between.
fn archive(dir: &Path, begin: &str, part: &str) -> Option<Archive> {
    fs::read_dir(dir).ok()?.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (version, end) = name.strip_prefix(begin)?.split_once(part)?;
        // Signatures stand beside archives.
        (!end.ends_with(".asc"))
            .then(|| Archive { path: entry.path(), version: version.to_owned() })
    })
}
