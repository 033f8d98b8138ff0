//! The archive of the sources of a release and of all crates that these need, for builders without network.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{Release, VERSION};
use crate::process::{cargo, output, root, run};

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
    let mut tar = Command::new("tar");
    tar.args(["--null", "--files-from=-", "--create", "--file=-"]).current_dir(root());
    let mut pack = tar.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("tar")?;
    let mut names = pack.stdin.take().context("the input of tar")?;
    let files = pack.stdout.take().context("the output of tar")?;
    let write = std::thread::spawn(move || names.write_all(list.as_bytes()));
    run(Command::new("tar").arg("-C").arg(to).args(["--extract", "--file=-"]).stdin(files))?;
    write.join().expect("no panic")?;
    if !pack.wait()?.success() {
        bail!("tar could not read all files of the repository");
    }
    Ok(())
}
