//! Where the parts of an installation are.
//!
//! Everything is derived from one prefix, and the prefix from the place of the running
//! executable: an installation can be moved as a whole.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::environment::Environment;

/// The configuration file that counts where the prefix has none.
pub const SYSTEM_CONF: &str = "/etc/topas/topas.conf";

/// File name of the compiler driver.
pub const DRIVER: &str = "topas-driver";

/// The places of one installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    prefix: PathBuf,
}

impl Paths {
    /// The installation under `prefix`. Nothing is looked at.
    pub fn at(prefix: impl Into<PathBuf>) -> Self {
        Paths { prefix: prefix.into() }
    }

    /// The installation this program belongs to. `None` if it does not stand in an
    /// installed place (a build directory, say) or the place cannot be told.
    pub fn of_this_program(argv0: &OsStr, env: &Environment) -> Option<Self> {
        Paths::around(&Executable::of_this_program(argv0, env)?.path)
    }

    /// The installation `executable` belongs to: a tool in `P/bin`, or the driver in
    /// `P/libexec/topas`. The path must have no symbolic links.
    pub fn around(executable: &Path) -> Option<Self> {
        let dir = executable.parent()?;
        let prefix = if dir.ends_with("bin") {
            dir.parent()?
        } else if dir.ends_with("libexec/topas") {
            dir.parent()?.parent()?
        } else {
            return None;
        };
        Some(Paths::at(prefix))
    }

    /// The prefix itself.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Whether the prefix can stand in files for shells, Lua, Tcl and pkg-config and in `PATH` as it
    /// is. A colon would end it in `PATH`, a comma behind `-Wl`.
    pub fn stands_in_texts(&self) -> bool {
        let prefix = self.prefix.to_str();
        prefix.is_some_and(|prefix| {
            !prefix.contains(|c: char| c.is_control() || " '\"$`\\[]:,#".contains(c))
        })
    }

    /// User tools.
    pub fn bin(&self) -> PathBuf {
        self.prefix.join("bin")
    }

    /// The driver executable.
    pub fn driver(&self) -> PathBuf {
        self.prefix.join("libexec/topas").join(DRIVER)
    }

    /// The `topas-mpi` that can open an MPI, where the one for users is linked statically.
    pub fn mpi_calibrate(&self) -> PathBuf {
        self.prefix.join("libexec/topas/topas-mpi-calibrate")
    }

    /// The directory that goes in front of PATH: a link to the driver per name.
    pub fn wrappers(&self) -> PathBuf {
        self.prefix.join("libexec/topas/wrappers")
    }

    /// The directory of another set of names, such as `gnu`.
    pub fn wrappers_of(&self, set: &OsStr) -> PathBuf {
        let mut name = set.to_owned();
        name.push("-wrappers");
        self.prefix.join("libexec/topas").join(name)
    }

    /// The shadows of MPIs: a directory for each.
    pub fn shadows(&self) -> PathBuf {
        self.prefix.join("libexec/topas/mpi")
    }

    /// Modules and libraries.
    pub fn lib(&self) -> PathBuf {
        self.prefix.join("lib/topas")
    }

    /// The measurement module for executables of `language` (`c`, `cxx`, `f77`, `f90`).
    pub fn module(&self, language: &str) -> PathBuf {
        self.lib().join(format!("topas.{language}.o"))
    }

    /// The variant that may measure programs that run alone, too.
    pub fn serial_module(&self, language: &str) -> PathBuf {
        self.lib().join(format!("topas.{language}.serial.o"))
    }

    /// The variant without `.preinit_array`, which a shared library can take.
    pub fn init_module(&self, language: &str) -> PathBuf {
        self.lib().join(format!("topas.{language}.init.o"))
    }

    /// The variant that measures every rank.
    pub fn all_module(&self, language: &str) -> PathBuf {
        self.lib().join(format!("topas.{language}.all.o"))
    }

    /// The variant of that without `.preinit_array`.
    pub fn all_init_module(&self, language: &str) -> PathBuf {
        self.lib().join(format!("topas.{language}.all.init.o"))
    }

    /// File name of the library that `topas-run` has loaded into programs of `language` (`c`,
    /// `cxx`, `f90`), measuring the chosen ranks or `all`.
    pub fn run_library_name(language: &str, all: bool) -> String {
        format!("libtopas-run.{language}{}.so", if all { ".all" } else { "" })
    }

    /// The library itself.
    pub fn run_library(&self, language: &str, all: bool) -> PathBuf {
        self.lib().join(Paths::run_library_name(language, all))
    }

    /// The object that has programs loaded with the library of MPI profiles, for programs whose
    /// MPI is a shared library.
    pub fn mpi_object(&self) -> PathBuf {
        self.lib().join("topas-mpi.o")
    }

    /// The variant without `.preinit_array`, which a shared library can take.
    pub fn mpi_init_object(&self) -> PathBuf {
        self.lib().join("topas-mpi.init.o")
    }

    /// The archive of MPI profiles, for programs that hold their MPI.
    pub fn mpi_wrap_archive(&self) -> PathBuf {
        self.lib().join("libtopas_mpi_wrap.a")
    }

    /// The linker's options that lead the calls of such programs into the archive.
    pub fn mpi_wrap_names(&self) -> PathBuf {
        self.lib().join("topas-mpi.wrap")
    }

    /// The library of MPI profiles, to be loaded into programs.
    pub fn mpi_library(&self) -> PathBuf {
        self.lib().join("libtopas_mpi.so")
    }

    /// Directory of the packages `topas-c` and its like, for pkg-config.
    pub fn packages(&self) -> PathBuf {
        self.lib().join("pkgconfig")
    }

    /// What routines of MPI cost here, as `topas-mpi calibrate` writes it.
    pub fn mpi_calibration(&self) -> PathBuf {
        self.conf_file().with_file_name("mpi-calibration")
    }

    /// Data files.
    pub fn share(&self) -> PathBuf {
        self.prefix.join("share/topas")
    }

    /// The names the driver answers to.
    pub fn drivers_conf(&self) -> PathBuf {
        self.share().join("wrappers/drivers.conf")
    }

    /// The names a site adds, and what it changes in the meaning of others.
    pub fn site_drivers_conf(&self) -> PathBuf {
        self.outside("etc/topas/drivers.conf")
    }

    /// `topas.conf` of this prefix.
    pub fn conf_file(&self) -> PathBuf {
        self.outside("etc/topas/topas.conf")
    }

    /// Directory of the logs.
    pub fn log_dir(&self) -> PathBuf {
        self.outside("var/log/topas")
    }

    /// Directory of what the tools of the center keep.
    pub fn state_dir(&self) -> PathBuf {
        self.outside("var/lib/topas")
    }

    /// `etc` and `var` of the prefix /usr are those of the root directory.
    fn outside(&self, path: &str) -> PathBuf {
        if self.prefix == Path::new("/usr") {
            Path::new("/").join(path)
        } else {
            self.prefix.join(path)
        }
    }
}

/// The file of a running program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// Its path without symbolic links.
    pub path: PathBuf,
    /// Device and inode, by which it is known under any name.
    pub identity: (u64, u64),
}

impl Executable {
    /// The executable of this process: what the kernel says or, where /proc is not
    /// mounted, what `argv0` leads to.
    pub fn of_this_program(argv0: &OsStr, env: &Environment) -> Option<Self> {
        const KERNEL: &str = "/proc/self/exe";
        if let (Ok(path), Ok(file)) = (fs::read_link(KERNEL), fs::metadata(KERNEL)) {
            return Some(Executable { path, identity: (file.dev(), file.ino()) });
        }
        let named = Path::new(argv0);
        if named.components().count() > 1 {
            return Executable::at(named);
        }
        env.search_path().find_map(|dir| Executable::at(&dir.join(named)))
    }

    /// The file `path` leads to, if it is a regular one.
    pub fn at(path: &Path) -> Option<Self> {
        let path = fs::canonicalize(path).ok()?;
        let file = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some(Executable { identity: (file.dev(), file.ino()), path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_found_from_tool_and_driver() {
        let of = |p: &str| Paths::around(Path::new(p)).map(|paths| paths.prefix);
        assert_eq!(of("/opt/t/bin/topas-stat"), Some("/opt/t".into()));
        assert_eq!(of("/opt/t/libexec/topas/topas-driver"), Some("/opt/t".into()));
        assert_eq!(of("/usr/libexec/topas/topas-driver (deleted)"), Some("/usr".into()));
        assert_eq!(of("/src/target/debug/topas-driver"), None);
        assert_eq!(of("/opt/libexec/topas-driver"), None);
    }

    #[test]
    fn a_prefix_with_a_meaning_for_shells_is_told() {
        assert!(Paths::at("/opt/topas-0.1_x+y@z").stands_in_texts());
        for prefix in ["/a b", "/a:b", "/a,b", "/a$b", "/a\nb", "/a#b", "/a[b]", "/a'b"] {
            assert!(!Paths::at(prefix).stands_in_texts(), "{prefix}");
        }
    }

    #[test]
    fn packages_use_the_root_for_etc_and_var() {
        let paths = Paths::at("/usr");
        assert_eq!(paths.conf_file(), Path::new(SYSTEM_CONF));
        assert_eq!(paths.log_dir(), Path::new("/var/log/topas"));
        assert_eq!(paths.module("f90"), Path::new("/usr/lib/topas/topas.f90.o"));
        let paths = Paths::at("/opt/t");
        assert_eq!(paths.conf_file(), Path::new("/opt/t/etc/topas/topas.conf"));
        assert_eq!(paths.log_dir(), Path::new("/opt/t/var/log/topas"));
        assert!(paths.serial_module("cxx").ends_with("topas.cxx.serial.o"));
        assert_eq!(
            paths.wrappers_of("gnu".as_ref()),
            Path::new("/opt/t/libexec/topas/gnu-wrappers")
        );
        assert_eq!(paths.all_module("f90"), Path::new("/opt/t/lib/topas/topas.f90.all.o"));
        let all_init = paths.all_init_module("c");
        assert_eq!(all_init, Path::new("/opt/t/lib/topas/topas.c.all.init.o"));
        assert_eq!(paths.init_module("c"), Path::new("/opt/t/lib/topas/topas.c.init.o"));
    }

    #[test]
    fn the_own_executable_is_known_by_device_and_inode() {
        let own = Executable::of_this_program(OsStr::new("x"), &Environment::default()).unwrap();
        assert_eq!(Executable::at(&own.path).unwrap().identity, own.identity);
    }
}
