//! Shadows of MPIs: prefixes that look like the MPI's own, but whose compiler drivers and
//! launchers are this driver.
//!
//! One directory in front of PATH cannot fit several MPIs, because each has names that others
//! lack, and CMake looks below `MPI_HOME` and `I_MPI_ROOT` before it looks at PATH. So each MPI
//! can have a shadow, `libexec/topas/mpi/NAME`: its `bin` holds exactly the names of the real
//! one, and all else are links to the real files. A link tells where the real `bin` is.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use topas_config::paths::DRIVER;
use topas_config::{Environment, Paths};

use crate::catalog::Catalog;
use crate::links::{self, Changes, Failure, Wanted};
use crate::search;

/// In a shadow, the link to the directory of the real programs.
const REAL_BIN: &str = ".topas-mpi";

/// The directory of programs in a shadow, and mostly in a prefix.
const BIN: &str = "bin";

/// Variables by which an MPI itself finds its files. For its own programs they name the real
/// prefix, so that what they compile remembers no path of a shadow.
const OF_MPIS: [&str; 3] = ["I_MPI_ROOT", "MPI_ROOT", "OPAL_PREFIX"];

/// Variables by which a build is told where MPI is, `bin` being below.
pub const TELL_BUILDS: [&str; 3] = ["MPI_HOME", "I_MPI_ROOT", "MPI_ROOT"];

/// A shadow, and the MPI it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// The shadow's own prefix.
    pub dir: PathBuf,
    /// The directory of the real programs.
    pub real_bin: PathBuf,
}

/// How a shadow stands to its MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShadowState {
    /// It has what the MPI has.
    Good,
    /// There is no such directory any more.
    Gone,
    /// The MPI's files have changed since.
    Changed(Changes),
}

/// Why a directory cannot have a shadow.
#[derive(Debug)]
pub enum Refused {
    /// The directory holds no driver of MPI, nor does its `bin`.
    NoMpi,
    /// It is the system's prefix.
    System(PathBuf),
    /// It holds drivers of TOPAS already.
    Ours(PathBuf),
}

impl Shadow {
    /// The shadow at a prefix, if it is one.
    pub fn at(dir: &Path) -> Option<Self> {
        let real_bin = fs::read_link(dir.join(REAL_BIN)).ok()?;
        Some(Shadow { dir: dir.to_path_buf(), real_bin })
    }

    /// The shadow whose program this path names. The last component is not looked at.
    pub fn around(program: &Path) -> Option<Self> {
        let bin = program.parent().filter(|bin| !bin.as_os_str().is_empty())?;
        // `bin` may be a link to that of a shadow, so the system walks up.
        Shadow::at(&bin.join(".."))
    }

    /// All of an installation, by name.
    pub fn all(paths: &Paths) -> Vec<Self> {
        let entries = fs::read_dir(paths.shadows());
        let dirs = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let hidden = |dir: &PathBuf| dir.file_name().is_none_or(|n| n.as_bytes().starts_with(b"."));
        let mut all: Vec<_> =
            dirs.filter(|dir| !hidden(dir)).filter_map(|dir| Shadow::at(&dir)).collect();
        all.sort_by(|a, b| a.dir.cmp(&b.dir));
        all
    }

    /// A new one for an MPI, of which nothing is made yet. `dir` is the MPI's prefix or its
    /// directory of programs, an absolute path; the name is made from it unless one is given.
    ///
    /// # Errors
    /// [`Refused`] if that is no MPI of its own.
    pub fn of(
        dir: &Path,
        name: Option<&OsStr>,
        catalog: &Catalog,
        paths: &Paths,
    ) -> Result<Self, Refused> {
        let holds = |bin: &Path| holds_mpi(bin, catalog);
        let inside = dir.join(BIN);
        let real_bin = [inside.as_path(), dir].into_iter().find(|bin| holds(bin));
        let Some(real_bin) = real_bin else {
            return match [&inside, dir].into_iter().find(|bin| holds_driver(bin)) {
                Some(bin) => Err(Refused::Ours(bin.to_path_buf())),
                None => Err(Refused::NoMpi),
            };
        };
        if holds_driver(real_bin) {
            return Err(Refused::Ours(real_bin.to_path_buf()));
        }
        let shadow = Shadow { dir: PathBuf::new(), real_bin: real_bin.to_path_buf() };
        if is_system(&shadow.prefix()) {
            return Err(Refused::System(shadow.prefix()));
        }
        let name = name.map_or_else(|| name_of(&shadow.prefix()), OsStr::to_owned);
        Ok(Shadow { dir: paths.shadows().join(name), ..shadow })
    }

    /// The MPI's prefix.
    pub fn prefix(&self) -> PathBuf {
        self.real_bin.parent().unwrap_or(&self.real_bin).to_path_buf()
    }

    /// The directory for PATH.
    pub fn bin(&self) -> PathBuf {
        self.dir.join(BIN)
    }

    /// Its name.
    pub fn name(&self) -> &OsStr {
        self.dir.file_name().unwrap_or_default()
    }

    /// Whether it is of the MPI whose programs are in `bin`, by whatever path.
    pub fn is_of(&self, bin: &Path) -> bool {
        self.real_bin == bin
            || fs::canonicalize(bin)
                .is_ok_and(|bin| fs::canonicalize(&self.real_bin).is_ok_and(|own| own == bin))
    }

    /// What it should hold: the links of the prefix, and those of its `bin`.
    fn wanted(&self, catalog: &Catalog) -> io::Result<[Wanted; 2]> {
        let own = self.real_bin.file_name().unwrap_or_default();
        let mut top: Wanted = vec![(REAL_BIN.into(), self.real_bin.clone())];
        for entry in fs::read_dir(self.prefix())? {
            let name = entry?.file_name();
            let target = self.prefix().join(&name);
            match name.as_bytes() {
                b"bin" | b".topas-mpi" => {}
                _ if name == own => top.push((name, BIN.into())),
                _ => top.push((name, target)),
            }
        }
        let mut bin = Wanted::new();
        for entry in fs::read_dir(&self.real_bin)? {
            let name = entry?.file_name();
            let target = self.real_bin.join(&name);
            let driver =
                catalog.fronts(&name) && target.is_file() && search::is_executable(&target);
            let target = if driver { Path::new("../../..").join(DRIVER) } else { target };
            bin.push((name, target));
        }
        Ok([top, bin])
    }

    /// The names of it that are this driver's, sorted.
    pub fn names(&self) -> Vec<OsString> {
        let entries = fs::read_dir(self.bin()).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| links::leads_to_driver(&entry.path()));
        let mut names: Vec<_> = ours.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    }

    /// Compares it with its MPI.
    pub fn state(&self, catalog: &Catalog) -> ShadowState {
        let Ok([top, bin]) = self.wanted(catalog) else { return ShadowState::Gone };
        let differ = |dir: &Path, wanted: &Wanted| links::differences(dir, wanted, |_| true);
        let mut changes = differ(&self.bin(), &bin);
        if changes.is_empty() {
            changes = differ(&self.dir, &top);
        }
        if changes.is_empty() { ShadowState::Good } else { ShadowState::Changed(changes) }
    }

    /// Makes it, or makes it anew what its MPI is now. A build that is under way finds either
    /// the old or the new link of a name.
    ///
    /// # Errors
    /// [`Failure`] of the first file that cannot be read or made.
    pub fn make(&self, catalog: &Catalog) -> Result<Changes, Failure> {
        let [top, bin] = self.wanted(catalog).map_err(|error| (self.real_bin.clone(), error))?;
        let mut changes = links::make(&self.bin(), &bin, |_| true)?;
        changes.add(links::make(&self.dir, &top, |_| true)?);
        Ok(changes)
    }

    /// Removes it; the MPI itself stays as it is.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self) -> io::Result<()> {
        // First out of sight as a whole. Links are removed, not what they lead to.
        let mut hidden = OsString::from(".");
        hidden.push(self.name());
        let hidden = self.dir.with_file_name(hidden);
        if hidden.exists() {
            fs::remove_dir_all(&hidden)?;
        }
        fs::rename(&self.dir, &hidden)?;
        fs::remove_dir_all(&hidden)
    }
}

impl ShadowState {
    /// What is wrong, in a phrase; `None` if nothing is.
    pub fn says(&self, shadow: &Shadow) -> Option<String> {
        match self {
            ShadowState::Good => None,
            ShadowState::Gone => Some(format!("its MPI has gone: {}", shadow.real_bin.display())),
            ShadowState::Changed(changes) => {
                Some(format!("its MPI has changed: {}", changes.says()))
            }
        }
    }
}

/// Variables that name a shadow and are to name the MPI for the MPI's own programs, with the
/// values for them.
pub fn restored(env: &Environment) -> Vec<(&'static str, OsString)> {
    let real = |name: &'static str| {
        let dir = env.get(name).filter(|dir| dir.as_bytes().starts_with(b"/"))?;
        Some((name, Shadow::at(Path::new(dir))?.prefix().into_os_string()))
    };
    OF_MPIS.into_iter().filter_map(real).collect()
}

/// Whether a directory holds compiler drivers of an MPI that are not ours.
pub fn holds_mpi(bin: &Path, catalog: &Catalog) -> bool {
    let drivers = catalog.names().filter(|(name, ..)| catalog.links_mpi(name));
    drivers.map(|(name, ..)| bin.join(name)).any(|path| {
        path.is_file() && search::is_executable(&path) && !search::is_driver_file(&path)
    })
}

/// Whether a directory holds links to a driver of TOPAS.
fn holds_driver(bin: &Path) -> bool {
    let entries = fs::read_dir(bin).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| links::leads_to_driver(&path))
}

/// Whether a prefix is the system's, whose programs are on PATH anyway.
pub fn is_system(prefix: &Path) -> bool {
    let real = fs::canonicalize(prefix);
    let real = real.as_deref().unwrap_or(prefix);
    [Path::new("/usr"), Path::new("/")].contains(&real)
}

/// The name of a shadow: the components of the MPI's prefix, joined by a dash.
fn name_of(prefix: &Path) -> OsString {
    let parts = prefix.as_os_str().as_bytes().split(|&b| b == b'/');
    let parts: Vec<&[u8]> = parts.filter(|part| !part.is_empty()).collect();
    let name = parts.join(&b'-');
    // Names that begin with a dot are hidden; the loop over shadows leaves them out.
    let shown: &[u8] = if name.starts_with(b".") { b"_" } else { b"" };
    OsString::from_vec([shown, name.as_slice()].concat())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// An MPI with these programs, and an installation beside it.
    fn mpi(names: &[&str]) -> (tempfile::TempDir, PathBuf, Paths) {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("mpi");
        fs::create_dir_all(prefix.join("lib")).unwrap();
        fs::create_dir_all(prefix.join("bin/sub")).unwrap();
        for name in names {
            let path = prefix.join("bin").join(name);
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let paths = Paths::at(dir.path().join("topas"));
        (dir, prefix, paths)
    }

    #[test]
    fn a_shadow_has_what_the_mpi_has() {
        let catalog = Catalog::built_in();
        let (_dir, prefix, paths) = mpi(&["mpicc", "mpiicx", "mpirun", "gcc", "ompi_info"]);
        fs::write(prefix.join("bin/mpicxx"), "no program").unwrap();
        let shadow = Shadow::of(&prefix, None, &catalog, &paths).unwrap();
        let by_bin = Shadow::of(&prefix.join("bin"), None, &catalog, &paths);
        assert_eq!(by_bin.unwrap(), shadow);
        assert_eq!(shadow.prefix(), prefix);
        shadow.make(&catalog).unwrap();
        assert_eq!(shadow.names(), ["mpicc", "mpiicx", "mpirun"]);
        for (name, target) in [
            ("bin/gcc", prefix.join("bin/gcc")),
            ("bin/ompi_info", prefix.join("bin/ompi_info")),
            ("bin/mpicxx", prefix.join("bin/mpicxx")),
            ("bin/sub", prefix.join("bin/sub")),
            ("bin/mpicc", "../../../topas-driver".into()),
            ("lib", prefix.join("lib")),
        ] {
            assert_eq!(fs::read_link(shadow.dir.join(name)).unwrap(), target, "{name}");
        }
        assert_eq!(Shadow::around(&shadow.bin().join("mpicc")).unwrap().real_bin, shadow.real_bin);
        assert_eq!(Shadow::all(&paths), std::slice::from_ref(&shadow));
        assert_eq!(shadow.state(&catalog), ShadowState::Good);
        shadow.remove().unwrap();
        assert!(!shadow.dir.exists() && prefix.join("lib").exists());
    }

    #[test]
    fn what_changed_is_told_and_mended() {
        let catalog = Catalog::built_in();
        let (_dir, prefix, paths) = mpi(&["mpicc", "mpifort"]);
        let shadow = Shadow::of(&prefix, Some(OsStr::new("x")), &catalog, &paths).unwrap();
        assert_eq!(shadow.name(), "x");
        shadow.make(&catalog).unwrap();
        fs::rename(prefix.join("bin/mpifort"), prefix.join("bin/mpif90")).unwrap();
        let ShadowState::Changed(changes) = shadow.state(&catalog) else { panic!("not told") };
        assert_eq!(
            (changes.added, changes.removed),
            (vec!["mpif90".into()], vec!["mpifort".into()])
        );
        shadow.make(&catalog).unwrap();
        assert_eq!(shadow.state(&catalog), ShadowState::Good);
        assert_eq!(shadow.names(), ["mpicc", "mpif90"]);
        // A program that became a plain file is no driver's name any more.
        fs::set_permissions(prefix.join("bin/mpif90"), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(shadow.state(&catalog), ShadowState::Changed(_)));
        fs::create_dir(prefix.join("etc")).unwrap();
        assert!(matches!(shadow.state(&catalog), ShadowState::Changed(_)));
        fs::remove_dir_all(&prefix).unwrap();
        assert_eq!(shadow.state(&catalog), ShadowState::Gone);
    }

    #[test]
    fn a_directory_of_programs_by_another_name() {
        let catalog = Catalog::built_in();
        let (_dir, prefix, paths) = mpi(&["mpicc"]);
        fs::rename(prefix.join("bin"), prefix.join("bin64")).unwrap();
        let shadow = Shadow::of(&prefix.join("bin64"), None, &catalog, &paths).unwrap();
        shadow.make(&catalog).unwrap();
        assert_eq!(fs::read_link(shadow.dir.join("bin64")).unwrap(), Path::new("bin"));
        assert!(links::leads_to_driver(&shadow.dir.join("bin64/mpicc")));
    }

    #[test]
    fn what_is_no_mpi_of_its_own_is_refused() {
        let catalog = Catalog::built_in();
        let (dir, prefix, paths) = mpi(&["gcc"]);
        assert!(matches!(Shadow::of(&prefix, None, &catalog, &paths), Err(Refused::NoMpi)));
        symlink("/x/topas-driver", prefix.join("bin/mpicc")).unwrap();
        assert!(matches!(Shadow::of(&prefix, None, &catalog, &paths), Err(Refused::Ours(_))));
        assert!(is_system(Path::new("/usr")) && is_system(Path::new("/usr/bin/..")));
        assert!(!is_system(Path::new("/usr/local")) && !is_system(dir.path()));
    }

    #[test]
    fn names_come_from_prefixes() {
        assert_eq!(
            name_of(Path::new("/opt/intel/oneapi/mpi/2021.14/")),
            "opt-intel-oneapi-mpi-2021.14"
        );
        assert_eq!(name_of(Path::new("/.mpi")), "_.mpi");
    }

    #[test]
    fn only_what_names_a_shadow_is_restored() {
        let catalog = Catalog::built_in();
        let (_dir, prefix, paths) = mpi(&["mpicc"]);
        let shadow = Shadow::of(&prefix, None, &catalog, &paths).unwrap();
        shadow.make(&catalog).unwrap();
        let env: Environment =
            [("I_MPI_ROOT", &shadow.dir), ("OPAL_PREFIX", &prefix), ("MPI_HOME", &shadow.dir)]
                .into_iter()
                .collect();
        assert_eq!(restored(&env), [("I_MPI_ROOT", prefix.into_os_string())]);
    }
}
