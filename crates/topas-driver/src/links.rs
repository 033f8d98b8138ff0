//! The directories of names: a symbolic link to the driver for each.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use topas_config::Paths;
use topas_config::paths::DRIVER;

use crate::catalog::{Catalog, MPI_SET};

/// What could not be done, and to which file.
pub type Failure = (PathBuf, io::Error);

/// The directory of a set in an installation.
pub fn directory(set: &OsStr, paths: &Paths) -> PathBuf {
    if set == MPI_SET { paths.wrappers() } else { paths.wrappers_of(set) }
}

/// Links the names of every set in its own directory. Returns the directories.
///
/// # Errors
/// [`Failure`] of the first file that cannot be changed.
pub fn all(catalog: &Catalog, paths: &Paths) -> Result<Vec<PathBuf>, Failure> {
    let mut done = Vec::new();
    for (.., set) in catalog.names() {
        let dir = directory(set, paths);
        if !done.contains(&dir) {
            // Relative, so that an installation can be moved or staged as a whole.
            one(catalog, set, &dir, &Path::new("..").join(DRIVER))?;
            done.push(dir);
        }
    }
    Ok(done)
}

/// Links the names of a set in a directory, which is made if it is missing, and removes the
/// links to the driver whose names are gone. Other files stay.
///
/// # Errors
/// [`Failure`] of the first file that cannot be changed.
pub fn one(catalog: &Catalog, set: &OsStr, dir: &Path, driver: &Path) -> Result<(), Failure> {
    let of = |path: &Path| {
        let path = path.to_path_buf();
        |error| (path, error)
    };
    fs::create_dir_all(dir).map_err(of(dir))?;
    let wanted = |name: &OsStr| catalog.names().any(|(of, _, in_set)| of == name && in_set == set);
    for entry in fs::read_dir(dir).map_err(of(dir))? {
        let path = entry.map_err(of(dir))?.path();
        let ours = fs::read_link(&path).is_ok_and(|to| to.file_name() == Some(OsStr::new(DRIVER)));
        if ours && !path.file_name().is_some_and(wanted) {
            fs::remove_file(&path).map_err(of(&path))?;
        }
    }
    for (name, ..) in catalog.names().filter(|(.., in_set)| *in_set == set) {
        let path = dir.join(name);
        if fs::read_link(&path).is_ok_and(|to| to == driver) {
            continue;
        }
        // Beside and renamed: a build that is under way finds the old or the new one.
        let mut fresh = path.clone().into_os_string();
        fresh.push(".linking");
        let made = match symlink(driver, &fresh) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&fresh).and_then(|()| symlink(driver, &fresh))
            }
            made => made,
        };
        made.and_then(|()| fs::rename(&fresh, &path)).map_err(of(&path))?;
    }
    Ok(())
}
