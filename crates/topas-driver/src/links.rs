//! Directories of names: a symbolic link to the driver for each.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use topas_config::paths::{DRIVER, Executable};
use topas_config::{Environment, Paths};

use crate::catalog::{Catalog, MPI_SET};
use crate::search::{self, Place};
use crate::shadow::Shadow;

/// What could not be done, and to which file.
pub type Failure = (PathBuf, io::Error);

/// The links of a directory: name and target of each.
pub type Wanted = Vec<(OsString, PathBuf)>;

/// What differs between a directory and what it should hold, or what was changed in it. Both
/// lists are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Names that were missing, or led elsewhere.
    pub added: Vec<OsString>,
    /// Names that should not be there.
    pub removed: Vec<OsString>,
}

impl Changes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// Adds those of another directory.
    pub fn add(&mut self, other: Changes) {
        self.added.extend(other.added);
        self.removed.extend(other.removed);
    }

    /// The differences, in a phrase.
    pub fn says(&self) -> String {
        let part = |what: &str, names: &[OsString]| {
            (!names.is_empty()).then(|| format!("{what} {}", in_words(names)))
        };
        let parts = [part("new", &self.added), part("gone", &self.removed)];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

/// Up to six names, and how many more there are.
pub fn in_words(names: &[OsString]) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| name.to_string_lossy()).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Whether a path is a link to a driver.
pub fn leads_to_driver(path: &Path) -> bool {
    fs::read_link(path).is_ok_and(|to| is_driver(&to))
}

fn is_driver(target: &Path) -> bool {
    target.file_name() == Some(OsStr::new(DRIVER))
}

/// The directory of a set in an installation.
pub fn directory(set: &OsStr, paths: &Paths) -> PathBuf {
    if set == MPI_SET { paths.wrappers() } else { paths.wrappers_of(set) }
}

/// Which names of a set get a link.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Those with a program behind them, or that the site's own file names.
    pub names: Vec<OsString>,
    /// Those without.
    pub without: Vec<OsString>,
    /// Directories other than the system's that programs were found in, with the names.
    pub outside: Vec<(PathBuf, Vec<OsString>)>,
}

/// Directories that are on everybody's PATH.
const SYSTEM: [&str; 6] =
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

impl Chosen {
    /// Chooses the names of a set. A name on PATH is a promise: only one with a program behind
    /// it on PATH is linked, and for the directory that is in front of every PATH a program
    /// whose MPI has a shadow does not count, for it is not on every PATH. A name that the
    /// site's own `drivers.conf` puts into the set is linked in any case, and every name if
    /// `all` is wished.
    pub fn of(
        set: &OsStr,
        all: bool,
        catalog: &Catalog,
        env: &Environment,
        own: Option<&Executable>,
        shadows: &[Shadow],
    ) -> Self {
        let mut chosen = Chosen { names: Vec::new(), without: Vec::new(), outside: Vec::new() };
        let mut seen: Vec<&OsStr> = Vec::new();
        for (name, ..) in catalog.names().filter(|(.., of)| *of == set) {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let counts = |place: &Place| {
                set != MPI_SET
                    || !place.in_shadow
                        && place
                            .path
                            .parent()
                            .is_none_or(|bin| !shadows.iter().any(|s| s.is_of(bin)))
            };
            let found = search::places(name, own, env).find(counts);
            if found.is_none() && !all && !catalog.is_of_site(name, set) {
                chosen.without.push(name.to_owned());
                continue;
            }
            chosen.names.push(name.to_owned());
            let dir = found.and_then(|place| place.path.parent().map(Path::to_path_buf));
            let Some(dir) = dir.filter(|dir| !SYSTEM.iter().any(|s| dir == Path::new(s))) else {
                continue;
            };
            match chosen.outside.iter_mut().find(|(of, _)| *of == dir) {
                Some((_, names)) => names.push(name.to_owned()),
                None => chosen.outside.push((dir, vec![name.to_owned()])),
            }
        }
        chosen
    }

    /// Links them in a directory by this path to the driver, and removes the links to the
    /// driver of all other names. Other files stay.
    ///
    /// # Errors
    /// [`Failure`] of the first file that cannot be changed.
    pub fn link(&self, dir: &Path, driver: &Path) -> Result<Changes, Failure> {
        let wanted = self.names.iter().map(|name| (name.clone(), driver.to_path_buf())).collect();
        make(dir, &wanted, is_driver)
    }
}

/// What differs between the links of a directory and those wanted. Links that are not `ours`,
/// by their target, and files count only where a wanted name is.
pub fn differences(dir: &Path, wanted: &Wanted, ours: impl Fn(&Path) -> bool) -> Changes {
    let mut changes = Changes::default();
    for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default();
        let ours = fs::read_link(&path).is_ok_and(|to| ours(&to));
        if ours && !wanted.iter().any(|(of, _)| of == name) {
            changes.removed.push(name.to_owned());
        }
    }
    for (name, target) in wanted {
        if !fs::read_link(dir.join(name)).is_ok_and(|to| to == *target) {
            changes.added.push(name.clone());
        }
    }
    changes.added.sort();
    changes.removed.sort();
    changes
}

/// Makes the links of a directory those wanted: see [`differences`]. The directory is made if
/// it is missing.
///
/// # Errors
/// [`Failure`] of the first file that cannot be changed.
pub fn make(dir: &Path, wanted: &Wanted, ours: impl Fn(&Path) -> bool) -> Result<Changes, Failure> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        |error| (path, error)
    };
    fs::create_dir_all(dir).map_err(failed(dir))?;
    fs::read_dir(dir).map_err(failed(dir))?;
    let changes = differences(dir, wanted, ours);
    for name in &changes.removed {
        let path = dir.join(name);
        fs::remove_file(&path).map_err(failed(&path))?;
    }
    for (name, target) in wanted.iter().filter(|(name, _)| changes.added.contains(name)) {
        let path = dir.join(name);
        // Beside and renamed: a build that is under way finds the old or the new one.
        let mut fresh = path.clone().into_os_string();
        fresh.push(".linking");
        let made = match symlink(target, &fresh) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&fresh).and_then(|()| symlink(target, &fresh))
            }
            made => made,
        };
        made.and_then(|()| fs::rename(&fresh, &path)).map_err(failed(&path))?;
    }
    Ok(changes)
}
