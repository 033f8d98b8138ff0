//! `cargo xtask release`: what a center installs without a compiler of Rust.
//!
//! One build of static tools, one installation in /usr for the packages, and one with room for other
//! prefixes for the tarball. All files depend on the sources, the compilers and the date of the last
//! commit only, so that two builders make the same bits.

pub mod check;
mod deb;
pub mod file_list;
pub mod objects;
mod recipes;
mod rpm;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use topas_config::Paths;

use crate::install::{InstallOptions, install_tools};
use crate::process::{on_path, output, root, run};
use crate::tools::{self, BuiltTools, builders_paths};
use crate::{licences, needs, object};

/// The version of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The compiler with which releases are built: another one makes other bits.
const COMPILER: &str = "1.95.0";

/// Where an installation from the tarball is said to stand until it is relocated.
const TARBALL_PREFIX: &str = "/opt/topas";

/// The list of checksums.
const SUMS: &str = "SHA256SUMS";

/// The signature of the checksums, beside them.
const SIGNATURE: &str = "SHA256SUMS.asc";

/// What is released.
#[derive(Args)]
pub struct ReleaseOptions {
    /// Where the files go; the directory is made, and what is in it replaced
    #[arg(long, value_name = "DIR", default_value = "target/release-files")]
    out: PathBuf,
    /// Walk the list of what a release needs, and say for each point: ok, not ok, or not checked here
    #[arg(long)]
    check: bool,
    /// With --check: a directory with the same release, built in another directory, whose bits have to
    /// be the same
    #[arg(long, value_name = "DIR", requires = "check")]
    other: Option<PathBuf>,
    /// The processor that the tools are for, by Rust's name: x86_64 or aarch64
    #[arg(long, value_name = "NAME", default_value = std::env::consts::ARCH, value_parser = tools::PROCESSORS)]
    processor: String,
    /// Sign the checksums with this key of GnuPG
    #[arg(long, value_name = "KEY")]
    sign: Option<String>,
    /// For tests: Cargo's profile that tools are compiled with
    #[arg(long, value_name = "NAME", default_value = "release", hide = true)]
    tools_profile: String,
    /// For tests: the version that packages say they are of. With another one than this, they also have
    /// another sample of topas.conf
    #[arg(long, value_name = "VERSION", default_value = VERSION, hide = true)]
    as_version: String,
    /// For tests: how hard is compressed, from 0 to 9
    #[arg(long, value_name = "LEVEL", default_value_t = 9, hide = true)]
    level: u32,
}

/// A release that is being made.
struct Release {
    /// Where the files go
    out: PathBuf,
    /// Where they are put together
    work: PathBuf,
    /// The processor of the tools, by Rust's name
    processor: String,
    /// The version that packages say they are of
    version: String,
    /// The date of all files, in seconds since 1970
    date: String,
    /// How hard is compressed
    level: u32,
    /// The key of GnuPG that signs
    key: Option<String>,
}

/// Makes all files of a release, or checks one.
pub fn release(options: &ReleaseOptions) -> Result<()> {
    let out = std::path::absolute(&options.out)?;
    if options.check {
        return check::check(&out, &options.processor, options.other.as_deref());
    }
    let is_real = options.tools_profile == "release";
    let compiler = output(Command::new("rustc").arg("--version"))?;
    if is_real && compiler.split_whitespace().nth(1) != Some(COMPILER) {
        bail!(
            "releases are built with rustc {COMPILER}, and this is {}\n\
             hint: rustup override set {COMPILER}",
            compiler.trim()
        );
    }
    for tool in ["dpkg-deb", "rpmbuild", "tar", "zstd", "gzip", "sha256sum"] {
        if !on_path(tool) {
            bail!("there is no {tool}\nhint: apt-get install dpkg rpm tar zstd gzip coreutils");
        }
    }
    let tools = tools::build_static(&options.tools_profile, &options.processor)?;
    needs::check(&tools.dir, true)?;
    fs::create_dir_all(&out)?;
    // Two releases cannot be made at the same time, because objects are built in one directory.
    let release = Release {
        work: out.join(".work"),
        out,
        processor: options.processor.clone(),
        version: options.as_version.clone(),
        date: date()?,
        level: options.level,
        key: options.sign.clone(),
    };
    release.make(&tools)
}

/// The name of the tarball for a processor.
fn tarball_name(processor: &str) -> String {
    format!("topas-{VERSION}-{processor}-linux.tar.zst")
}

/// The date of the files: `SOURCE_DATE_EPOCH`, or that of the last commit.
fn date() -> Result<String> {
    if let Ok(date) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(date);
    }
    let mut git = Command::new("git");
    let date = output(git.current_dir(root()).args(["log", "-1", "--format=%ct"]));
    Ok(date.context("no date: neither git nor SOURCE_DATE_EPOCH tells one")?.trim().to_owned())
}

impl Release {
    fn make(&self, tools: &BuiltTools) -> Result<()> {
        if self.work.exists() {
            fs::remove_dir_all(&self.work)?;
        }
        let tarball = self.tarball(tools)?;
        let mut made = recipes::write(&tarball, &self.processor, &self.out)?;
        made.push(tarball);
        made.extend(self.packages(tools)?);
        made.extend(sources::archive(self)?);
        let bill = self.out.join(format!("topas-{VERSION}.cdx.json"));
        fs::write(&bill, licences::bill_of_materials(&licences::crates()?))?;
        made.push(bill);
        made.push(self.sums(&made)?);
        made.extend(self.signature()?);
        fs::remove_dir_all(&self.work)?;
        for path in made {
            println!("{}", path.display());
        }
        // Sources from an archive have no commit, and the list is in a repository. It has the objects of
        // the processor that builds them again.
        if root().join(".git").exists() && self.processor == std::env::consts::ARCH {
            // The last installation was that of the packages, whose objects name the usual topas.conf.
            println!("for tests/fixtures/objects, when this is released:");
            println!("{}", objects::line_of(&object::built_for(&self.processor))?);
        }
        Ok(())
    }

    /// An installation below a directory, without what names the builder.
    fn stage(
        &self,
        name: &str,
        prefix: &str,
        relocatable: bool,
        tools: &BuiltTools,
    ) -> Result<PathBuf> {
        let stage = self.work.join(name);
        let mut options = InstallOptions::into(prefix.into());
        options.destdir = Some(stage.clone());
        options.relocatable = relocatable;
        install_tools(&options, tools)?;
        if self.version != VERSION {
            let paths = Paths::at(prefix);
            let sample = paths.prefix().join("share/doc/topas/examples/topas.conf");
            for conf in [paths.conf_file(), sample] {
                let conf = stage.join(conf.strip_prefix("/").unwrap_or(&conf));
                let text = fs::read_to_string(&conf)?;
                fs::write(&conf, format!("{text}# The sample of {}.\n", self.version))?;
            }
        }
        names_no_builder(&stage)?;
        Ok(stage)
    }

    /// The tarball with the directory `topas-VERSION`.
    fn tarball(&self, tools: &BuiltTools) -> Result<PathBuf> {
        let stage = self.stage("tarball", TARBALL_PREFIX, true, tools)?;
        let name = format!("topas-{VERSION}");
        let prefix = stage.join(TARBALL_PREFIX.trim_start_matches('/'));
        fs::rename(prefix, self.work.join(&name)).context("the staged installation")?;
        self.archive(&name, &["--exclude=var/log/topas"], &tarball_name(&self.processor))
    }

    /// Packs a directory, which is gone then.
    fn archive(&self, directory: &str, options: &[&str], name: &str) -> Result<PathBuf> {
        let to = self.out.join(name);
        let tar = self.work.join("topas.tar");
        // Readable by everybody, whatever the umask of the builder is, but the mode of the logs.
        run(Command::new("tar")
            .arg("-C")
            .arg(&self.work)
            .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"])
            .arg("--mode=u+rw,go+rX,go-w")
            .args(options)
            .arg(format!("--mtime=@{}", self.date))
            .args(["-cf".as_ref(), tar.as_os_str(), directory.as_ref()]))?;
        let level = if self.level == 9 { 19 } else { self.level.max(1) };
        run(Command::new("zstd")
            .args(["--quiet", "--force", "--threads=1", &format!("-{level}"), "-o"])
            .args([&to, &tar]))?;
        fs::remove_dir_all(self.work.join(directory))?;
        fs::remove_file(&tar)?;
        Ok(to)
    }

    /// The packages for Debian and for RPM.
    fn packages(&self, tools: &BuiltTools) -> Result<Vec<PathBuf>> {
        let stage = self.stage("stage", "/usr", false, tools)?;
        let pages = stage.join("usr/share/man");
        let mut gzip = Command::new("find");
        gzip.arg(&pages).args(["-type", "f", "-exec", "gzip", "-9n", "{}", "+"]);
        run(&mut gzip)?;
        let list = file_list::read()?;
        let files = file_list::assign(&list, &stage)?;
        let packages = file_list::packages(&list);
        let mut made = Vec::new();
        for package in &packages {
            let own: Vec<_> =
                files.iter().filter(|file| file.package == *package).cloned().collect();
            made.push(deb::build(self, package, &stage, &own)?);
        }
        made.extend(rpm::build(self, &packages, &stage, &files)?);
        Ok(made)
    }

    fn sums(&self, files: &[PathBuf]) -> Result<PathBuf> {
        let names = files.iter().filter_map(|path| path.file_name());
        let text = output(Command::new("sha256sum").args(names).current_dir(&self.out))?;
        let to = self.out.join(SUMS);
        fs::write(&to, text)?;
        Ok(to)
    }

    /// Signs the checksums, if there is a key. A signature of other files does not stay.
    fn signature(&self) -> Result<Option<PathBuf>> {
        let to = self.out.join(SIGNATURE);
        if to.exists() {
            fs::remove_file(&to)?;
        }
        let Some(key) = &self.key else { return Ok(None) };
        let mut gpg = Command::new("gpg");
        gpg.args(["--batch", "--armor", "--detach-sign", "--local-user", key, "--output"]);
        run(gpg.arg(&to).arg(self.out.join(SUMS)))?;
        Ok(Some(to))
    }
}

/// Fails if a file names a directory of the builder: two builders would make other bits. The files have
/// hundreds of megabytes, and this is often a build without optimization, so grep looks.
fn names_no_builder(stage: &Path) -> Result<()> {
    let mut grep = Command::new("grep");
    grep.args(["--recursive", "--text", "--fixed-strings", "--only-matching"]).env("LC_ALL", "C");
    for (path, _) in builders_paths()? {
        // `/root` alone stands in documents, too.
        grep.arg(format!("--regexp={}/", path.display()));
    }
    let found = grep.arg("--").arg(stage).stderr(Stdio::inherit()).output().context("grep")?;
    match (found.status.code(), String::from_utf8_lossy(&found.stdout).lines().next()) {
        (Some(1), None) => Ok(()),
        (Some(0), Some(found)) => bail!("a file names a directory of the builder: {found}"),
        (_, _) => bail!("grep of {} failed with {}", stage.display(), found.status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_the_builder_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a/b");
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(&file, "/crates/clap/src/lib.rs").unwrap();
        names_no_builder(dir.path()).unwrap();
        fs::write(&file, format!("x\0{}/src/lib.rs", root().display())).unwrap();
        let fault = names_no_builder(dir.path()).unwrap_err().to_string();
        assert!(fault.contains("a/b:"), "{fault}");
    }
}
