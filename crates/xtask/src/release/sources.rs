//! The archive of the sources of a release and of all crates that these need, for builders without network.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Release, VERSION};
use crate::process::{cargo, output, root};

/// Where the crates stand in the archive.
const CRATES: &str = "vendor";

/// What tells Cargo that it finds them there.
const CONFIG: &str = "
# The crates of Cargo.lock are part of this archive: nothing is fetched.
[source.crates-io]
replace-with = \"vendored-sources\"

[source.vendored-sources]
directory = \"vendor\"
";

/// The name of the archive.
pub fn name() -> String {
    format!("topas-{VERSION}-source.tar.zst")
}

/// Makes the archive, with the directory `topas-VERSION-source`. None where there is no repository that tells
/// which files are sources: what was built from such an archive does not make it again.
pub fn archive(release: &Release) -> Result<Option<PathBuf>> {
    if !root().join(".git").exists() {
        eprintln!("{} is not made, because there is no repository here", name());
        return Ok(None);
    }
    let directory = format!("topas-{VERSION}-source");
    let to = release.work.join(&directory);
    fs::create_dir_all(&to)?;
    copy_tracked(&to)?;
    let mut vendor = cargo();
    vendor.args(["vendor", "--quiet", "--locked", "--versioned-dirs"]).arg(to.join(CRATES));
    // Cargo also says on standard output what stands in the configuration.
    output(&mut vendor)?;
    let config = to.join(".cargo/config.toml");
    let mut config = fs::OpenOptions::new().append(true).open(&config).context("Cargo's file")?;
    config.write_all(CONFIG.as_bytes())?;
    release.archive(&directory, &[], &name()).map(Some)
}

/// Copies the files that the repository tracks, as they are in its directory.
fn copy_tracked(to: &Path) -> Result<()> {
    let mut git = Command::new("git");
    let list = output(git.current_dir(root()).args(["ls-files", "-z"]))?;
    for name in list.split_terminator('\0') {
        let target = to.join(name);
        fs::create_dir_all(target.parent().unwrap_or(to))?;
        fs::copy(root().join(name), target).with_context(|| format!("cannot copy {name}"))?;
    }
    Ok(())
}
