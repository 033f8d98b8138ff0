//! The installation under test, and a directory of its own for each test.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;
use std::{env, io};

use tempfile::TempDir;

use crate::record::{Record, read_log};
use crate::running::{command, system_path};

/// An installed prefix.
#[derive(Debug)]
pub struct Site {
    prefix: PathBuf,
    /// Keeps others from installing anew, or from using what is lent, as long as it is there.
    _lock: Option<File>,
}

impl Site {
    /// The installation that all tests of this process share, brought up to date with the sources
    /// first; its topas.conf says `sigterm = yes`. Tests that run at the same time in other
    /// processes share it too.
    ///
    /// Tools are those of `cargo test` itself, so that nothing is compiled twice;
    /// `TOPAS_TEST_TOOLS` names another profile of Cargo, such as `release`, or the directory of
    /// tools that are built.
    ///
    /// `TOPAS_TEST_PREFIX` names an installation to be tested in its place, as it is.
    pub fn shared() -> &'static Site {
        // The failure is kept as well: one attempt is enough for all tests of a process.
        static SITE: OnceLock<Result<Site, String>> = OnceLock::new();
        let site = SITE.get_or_init(|| match env::var_os("TOPAS_TEST_PREFIX") {
            Some(prefix) => Ok(Site { prefix: prefix.into(), _lock: None }),
            None => Site::up_to_date(),
        });
        site.as_ref().unwrap_or_else(|failure| panic!("nothing to test: {failure}"))
    }

    fn up_to_date() -> Result<Site, String> {
        let dir = work_dir();
        let lock = File::create(dir.join("lock")).expect("lock file");
        let prefix = dir.join(format!("prefix-{}", tools_name()));
        let stamp = prefix.with_extension("installed");
        let fresh = || modified(&stamp) > newest_source();
        lock.lock_shared().expect("lock");
        while !fresh() {
            lock.unlock().and_then(|()| lock.lock()).expect("lock");
            if !fresh() {
                let begun = SystemTime::now();
                install(&prefix)?;
                // Most ends of programs are tested with the handlers that a site may ask for.
                let conf = prefix.join("etc/topas/topas.conf");
                let mut text = fs::read_to_string(&conf).expect("topas.conf");
                if !text.ends_with("\nsigterm = yes\n") {
                    text.push_str("\nsigterm = yes\n");
                }
                fs::write(conf, text).expect("write topas.conf");
                // What was edited while it was built counts as newer.
                let done = File::create(&stamp).and_then(|file| file.set_modified(begun));
                done.expect("time stamp");
            }
            lock.unlock().and_then(|()| lock.lock_shared()).expect("lock");
        }
        Ok(Site { prefix, _lock: Some(lock) })
    }

    /// An installation that no other test has at the same time, and whose topas.conf and logs may
    /// change: they are as installed, but with `sigterm` as the sample says. What else is in it
    /// must stay, because tests that come later get the same.
    pub fn lent() -> Site {
        // Not while another process builds.
        let _shared = Site::shared();
        let mut prefixes =
            (0..).map(|number| work_dir().join(format!("lent-{}-{number}", tools_name())));
        let free = |prefix: PathBuf| {
            let lock = File::create(prefix.with_extension("lock")).expect("lock file");
            lock.try_lock().ok().map(|()| (prefix, lock))
        };
        let (prefix, lock) = prefixes.find_map(free).expect("one more than tests that run");
        let stamp = prefix.with_extension("installed");
        if modified(&stamp) > newest_source() {
            as_installed(&prefix).expect("topas.conf and logs as installed");
        } else {
            let begun = SystemTime::now();
            let _ = fs::remove_dir_all(&prefix);
            Site::installed_at(&prefix);
            let done = File::create(&stamp).and_then(|file| file.set_modified(begun));
            done.expect("time stamp");
        }
        Site { prefix, _lock: Some(lock) }
    }

    /// A second installation in a directory of the caller's, who may change all of it. Takes
    /// some seconds, although it shares all that was compiled with the first.
    pub fn installed_at(prefix: &Path) -> Site {
        // Not while another process builds.
        let _shared = Site::shared();
        let lock = File::create(work_dir().join("install-lock")).expect("lock file");
        lock.lock().expect("lock");
        install(prefix).unwrap_or_else(|failure| panic!("{failure}"));
        Site { prefix: prefix.to_owned(), _lock: None }
    }

    /// The directory for PATH.
    pub fn wrappers(&self) -> PathBuf {
        self.prefix.join("libexec/topas/wrappers")
    }

    /// The measurement module of a language, for links by hand.
    pub fn module(&self, language: &str) -> PathBuf {
        self.prefix.join("lib/topas").join(format!("topas.{language}.o"))
    }

    /// An installed tool, such as `topas-stat`.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.prefix.join("bin").join(name)
    }

    /// Its configuration file.
    pub fn conf(&self) -> PathBuf {
        self.prefix.join("etc/topas/topas.conf")
    }

    /// PATH with the drivers in front, then `tools`, then the system.
    pub fn path(&self, tools: &Path) -> String {
        format!("{}:{}:{}", self.wrappers().display(), tools.display(), system_path())
    }
}

/// Where the shared installation and what belongs to it live: below the target
/// directory, beside the executables of the tests.
pub(crate) fn work_dir() -> PathBuf {
    let dir = target_dir().join("topas-tests");
    fs::create_dir_all(&dir).expect("make directory");
    dir
}

fn target_dir() -> PathBuf {
    let own = env::current_exe().expect("path of the test");
    // target/PROFILE/deps/test-HASH
    own.ancestors().nth(3).expect("target directory").to_owned()
}

/// The source tree.
pub fn source_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("workspace")
}

/// `cargo xtask` of this workspace. `TOPAS_TEST_XTASK` names it where it is built: Cargo would wait
/// for another one that builds.
pub fn xtask() -> Command {
    let mut xtask = match env::var_os("TOPAS_TEST_XTASK") {
        Some(built) => Command::new(built),
        None => {
            let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["run", "--quiet", "--package", "xtask", "--"]);
            cargo
        }
    };
    xtask.current_dir(source_root());
    xtask
}

/// Cargo's profile that installed tools are compiled with, or a directory in which they are.
fn tools() -> String {
    env::var("TOPAS_TEST_TOOLS").unwrap_or_else(|_| "dev".into())
}

/// The last part of [`tools`]: with other tools it is another installation.
fn tools_name() -> String {
    tools().rsplit('/').next().unwrap_or_default().to_owned()
}

/// Makes topas.conf and the directory of the logs what they were when they were installed.
fn as_installed(prefix: &Path) -> io::Result<()> {
    let with_mode = |path: &Path, mode| {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
    };
    let (etc, logs) = (prefix.join("etc/topas"), prefix.join("var/log/topas"));
    for dir in [&etc, &logs] {
        fs::remove_dir_all(dir)?;
        fs::create_dir(dir)?;
    }
    with_mode(&logs, 0o1733)?;
    fs::copy(prefix.join("share/doc/topas/examples/topas.conf"), etc.join("topas.conf"))?;
    with_mode(&etc.join("topas.conf"), 0o644)
}

fn install(prefix: &Path) -> Result<(), String> {
    let mut xtask = xtask();
    xtask.args(["install", "--prefix"]).arg(prefix);
    let tools = tools();
    let option = if tools.starts_with('/') { "--tools-from" } else { "--tools-profile" };
    xtask.arg(option).arg(tools);
    xtask.env("CARGO_TARGET_DIR", target_dir());
    let output = xtask.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("cargo xtask install: {}\n{said}", output.status))
}

/// When the newest file was changed that an installation is made from.
fn newest_source() -> SystemTime {
    let parts = ["Cargo.toml", "Cargo.lock", "crates", "wrappers", "etc"];
    let newest = parts.iter().map(|part| newest_in(&source_root().join(part)));
    newest.max().expect("sources")
}

fn newest_in(path: &Path) -> SystemTime {
    // Tests of other crates are no part of it. A file that has gone meanwhile is none.
    if path.file_name().is_some_and(|name| name == "tests") {
        return SystemTime::UNIX_EPOCH;
    }
    let inside = fs::read_dir(path).map_or_else(|_| Vec::new(), |dir| dir.flatten().collect());
    inside.iter().map(|entry| newest_in(&entry.path())).fold(modified(path), SystemTime::max)
}

fn modified(path: &Path) -> SystemTime {
    let time = fs::metadata(path).and_then(|data| data.modified());
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// A test's own directory, removed at its end, with a log of its own.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
}

impl Scratch {
    /// A new one, which every user may enter.
    pub fn new() -> Scratch {
        let dir = tempfile::tempdir().expect("temporary directory");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(dir.path(), mode).expect("mode of a directory");
        Scratch { dir }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A directory within, made on the way.
    pub fn sub(&self, name: &str) -> PathBuf {
        let dir = self.path().join(name);
        fs::create_dir_all(&dir).expect("make directory");
        dir
    }

    /// The log's path.
    pub fn log(&self) -> PathBuf {
        self.path().join("topas.log")
    }

    /// The log as `TOPAS_LOG` names it.
    pub fn log_target(&self) -> String {
        format!("file:{}", self.log().display())
    }

    /// A command that logs here.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = command(program);
        command.env("TOPAS_LOG", self.log_target());
        command
    }

    /// The lines of the log, which is removed. Panics if one is none.
    #[track_caller]
    pub fn take_log(&self) -> Vec<Record> {
        let records = read_log(&self.log());
        match fs::remove_file(self.log()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("log: {error}"),
            _ => records,
        }
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo xtask test` runs this first, so that the time it takes is not that of another test.
    #[test]
    fn tools_and_modules_are_installed() {
        let site = Site::shared();
        for path in [site.tool("topas-stat"), site.tool("topas-run"), site.module("c"), site.conf()]
        {
            assert!(path.is_file(), "{}", path.display());
        }
    }

    #[test]
    fn what_is_lent_is_as_installed() {
        let change = |site: &Site| {
            fs::write(site.conf(), "measure = no\n").expect("write");
            fs::write(site.conf().with_file_name("off"), "").expect("write");
            site.prefix.clone()
        };
        let (one, other) = (Site::lent(), Site::lent());
        assert_ne!(change(&one), change(&other), "both are lent");
        drop((one, other));
        for site in [Site::lent(), Site::lent()] {
            let sample = site.prefix.join("share/doc/topas/examples/topas.conf");
            let conf = fs::read(site.conf()).expect("topas.conf");
            assert_eq!(conf, fs::read(sample).expect("sample"));
            assert!(!site.conf().with_file_name("off").exists());
        }
    }
}
