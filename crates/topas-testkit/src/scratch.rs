//! An installation in a temporary directory.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The data of the source tree on driver names.
const DRIVERS: &str = include_str!("../../../wrappers/drivers.conf");

/// Languages a module exists for.
pub const LANGUAGES: [&str; 4] = ["c", "cxx", "f77", "f90"];

/// A prefix with the layout of an installation; removed when dropped.
///
/// It holds a copy of a driver, wrapper links for every name it knows, the data on these names, the
/// command `topas`, empty objects in place of the modules and a `topas.conf` that logs into the
/// prefix.
#[derive(Debug)]
pub struct ScratchSite {
    dir: tempfile::TempDir,
    prefix: PathBuf,
}

impl ScratchSite {
    /// Lays out a site for the driver executable `driver`. Panics if that fails.
    pub fn new(driver: &Path) -> Self {
        ScratchSite::named(driver, "prefix")
    }

    /// The same with another name for the prefix directory.
    pub fn named(driver: &Path, name: &str) -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        let root = fs::canonicalize(dir.path()).expect("temporary directory");
        let prefix = root.join(name);
        let site = ScratchSite { dir, prefix };
        for part in ["bin", "libexec/topas/wrappers", "lib/topas", "share/topas/wrappers"] {
            fs::create_dir_all(site.prefix.join(part)).expect("make directory");
        }
        for part in ["etc/topas", "var/log/topas"] {
            fs::create_dir_all(site.prefix.join(part)).expect("make directory");
        }
        fs::set_permissions(site.log_dir(), fs::Permissions::from_mode(0o1733))
            .expect("mode of the log directory");
        place_program(driver, &site.driver());
        fs::write(site.drivers_conf(), DRIVERS).expect("write drivers.conf");
        symlink("../libexec/topas/topas-driver", site.command()).expect("make link");
        site.link_names();
        for language in LANGUAGES {
            site.put_module(language, &empty_object());
            for variant in ["init", "serial"] {
                fs::write(site.variant(language, variant), empty_object()).expect("write object");
            }
        }
        let log = site.log_file();
        site.configure(&format!("log = file:{}\n", log.display()));
        site
    }

    /// The prefix.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// A directory beside the prefix, for whatever a test needs; made on the way.
    pub fn beside(&self, name: &str) -> PathBuf {
        let dir = fs::canonicalize(self.dir.path()).expect("temporary directory").join(name);
        fs::create_dir_all(&dir).expect("make directory");
        dir
    }

    /// The driver executable.
    pub fn driver(&self) -> PathBuf {
        self.prefix.join("libexec/topas/topas-driver")
    }

    /// The directory for PATH.
    pub fn wrappers(&self) -> PathBuf {
        self.prefix.join("libexec/topas/wrappers")
    }

    /// The directory of another set of names.
    pub fn wrappers_of(&self, set: &str) -> PathBuf {
        self.prefix.join("libexec/topas").join(format!("{set}-wrappers"))
    }

    /// The command `topas`.
    pub fn command(&self) -> PathBuf {
        self.prefix.join("bin/topas")
    }

    /// A variant of a module: `init`, `serial` or `all`.
    pub fn variant(&self, language: &str, variant: &str) -> PathBuf {
        self.prefix.join("lib/topas").join(format!("topas.{language}.{variant}.o"))
    }

    /// The module of a language.
    pub fn module(&self, language: &str) -> PathBuf {
        self.prefix.join("lib/topas").join(format!("topas.{language}.o"))
    }

    /// The data on driver names.
    pub fn drivers_conf(&self) -> PathBuf {
        self.prefix.join("share/topas/wrappers/drivers.conf")
    }

    /// The site's own data on driver names.
    pub fn site_drivers_conf(&self) -> PathBuf {
        self.prefix.join("etc/topas/drivers.conf")
    }

    /// Directory of the log.
    pub fn log_dir(&self) -> PathBuf {
        self.prefix.join("var/log/topas")
    }

    /// The log.
    pub fn log_file(&self) -> PathBuf {
        self.log_dir().join("topas.log")
    }

    /// Makes the links of all names, whether there is a program behind them or not. Panics if
    /// the driver fails.
    pub fn link_names(&self) {
        let output = Command::new(self.driver())
            .args(["--link-names", "--all"])
            .output()
            .expect("run the driver");
        assert!(output.status.success(), "topas-driver --link-names: {output:?}");
    }

    /// Makes the driver answer to one more name.
    pub fn add_wrapper(&self, name: &str) {
        symlink("../topas-driver", self.wrappers().join(name)).expect("make link");
    }

    /// Puts the bytes of an object in the place of a module.
    pub fn put_module(&self, language: &str, object: &[u8]) {
        fs::write(self.module(language), object).expect("write object");
    }

    /// Writes `topas.conf`.
    pub fn configure(&self, text: &str) {
        fs::write(self.prefix.join("etc/topas/topas.conf"), text).expect("write topas.conf");
    }

    /// A PATH with the wrapper directory, then `dirs`, and nothing else.
    pub fn path_before(&self, dirs: &[&Path]) -> std::ffi::OsString {
        let wrappers = self.wrappers();
        let dirs = [wrappers.as_path()].into_iter().chain(dirs.iter().copied());
        env::join_paths(dirs).expect("directories without colons")
    }
}

/// Puts a program into place: a hard link, or a copy on another file system.
///
/// The copy is made by another process. Were it made here, a test that starts a program
/// in another thread could hand the descriptor open for writing to its child, and the
/// copy could not be run meanwhile ("text file busy").
pub fn place_program(from: &Path, to: &Path) {
    if fs::hard_link(from, to).is_ok() {
        return;
    }
    let status = Command::new("cp").args([from, to]).status().expect("run cp");
    assert!(status.success(), "cp {} {}: {status}", from.display(), to.display());
}

/// Writes a script that can be run at once, see [`place_program`].
pub fn place_script(to: &Path, text: &str) {
    let draft = to.with_extension("draft");
    fs::write(&draft, text).expect("write script");
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("mode of script");
    let status = Command::new("cp").args([&draft, to]).status().expect("run cp");
    assert!(status.success(), "cp {} {}: {status}", draft.display(), to.display());
    fs::remove_file(&draft).expect("remove draft");
}

/// A relocatable ELF object of this machine with no sections: a linker takes it and
/// adds nothing.
pub fn empty_object() -> Vec<u8> {
    const HEADER: u16 = 64;
    let machine: u16 = match env::consts::ARCH {
        "x86_64" => 62,
        "aarch64" => 183,
        "powerpc64" => 21,
        "riscv64" => 243,
        other => panic!("no ELF machine number for {other}"),
    };
    let data = if cfg!(target_endian = "little") { 1 } else { 2 };
    let mut object = vec![0x7f, b'E', b'L', b'F', 2, data, 1];
    object.resize(16, 0);
    object.extend(1u16.to_ne_bytes());
    object.extend(machine.to_ne_bytes());
    object.extend(1u32.to_ne_bytes());
    // Entry, program headers, section headers, flags: none.
    object.extend([0; 8 * 3 + 4]);
    object.extend(HEADER.to_ne_bytes());
    object.resize(HEADER.into(), 0);
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_object_is_as_long_as_its_header() {
        let object = empty_object();
        assert_eq!(object.len(), 64);
        assert_eq!(object[52..54], 64u16.to_ne_bytes());
    }
}
