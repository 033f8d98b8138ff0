//! The real program behind a name: the next on PATH that is no TOPAS driver
//! and does not call one again.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memchr::memmem;
use nix::unistd::{AccessFlags, eaccess};
use topas_config::Environment;
use topas_config::paths::{DRIVER, Executable};

use crate::catalog::{Catalog, Personality};
use crate::circle::Circle;

/// Text that every driver of every version has inside, so that a copy of another
/// installation is known for what it is. Never change it.
const MARK: &[u8] = b"This is a TOPAS driver (mark 5f0d2b6e91c84a73). It is no real compiler.";

/// A larger file is no driver: they are below 1 MB, with debug information below 10 MB.
/// A compiler that is one big file must not be searched at every call.
const MAX_DRIVER: u64 = 16 << 20;

/// A program behind a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Real {
    /// Its path; begins with the entry of PATH.
    pub path: PathBuf,
    /// What `TOPAS_PASSED` is to be set to, if anything.
    pub passed: Option<OsString>,
}

/// There is no program behind a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotFound {
    /// The last one that was passed over because it calls the driver again.
    pub circle: Option<PathBuf>,
}

/// The first executable file of this name on PATH that is neither this driver nor
/// another copy of it, nor calls it again.
///
/// # Errors
/// [`NotFound`] if there is none.
pub fn real_program(
    name: &OsStr,
    own: Option<&Executable>,
    env: &Environment,
    catalog: &Catalog,
) -> Result<Real, NotFound> {
    let mut none = NotFound::default();
    if name.is_empty() {
        return Err(none);
    }
    let launcher = catalog.personality(name) == Some(Personality::Launcher);
    let circle = Circle::of_process(env, launcher);
    for path in env.search_path().map(|dir| dir.join(name)) {
        let Ok(file) = fs::metadata(&path) else { continue };
        let real = file.is_file()
            && own.is_none_or(|own| own.identity != (file.dev(), file.ino()))
            && eaccess(&path, AccessFlags::X_OK).is_ok()
            && !is_driver(&path, file.len());
        if real && circle.closes_with(&path, &file) {
            none.circle = Some(path);
        } else if real {
            let looks = fs::canonicalize(&path).is_ok_and(|real| catalog.looks_on(&real));
            return Ok(Real { passed: circle.way_through(&file, looks), path });
        }
    }
    Err(none)
}

/// The first executable file of this name on PATH, whatever it is.
pub fn any_program(name: &OsStr, env: &Environment) -> Option<PathBuf> {
    env.search_path()
        .map(|dir| dir.join(name))
        .find(|path| fs::metadata(path).is_ok_and(|file| file.is_file()) && is_executable(path))
}

/// Whether this user may execute a file.
pub fn is_executable(path: &Path) -> bool {
    eaccess(path, AccessFlags::X_OK).is_ok()
}

/// Whether the file is a TOPAS driver, of whatever installation and version.
///
/// Two installations on one PATH would otherwise exec each other for ever. A link
/// tells by where it leads; a plain copy has the mark inside.
fn is_driver(path: &Path, length: u64) -> bool {
    if fs::canonicalize(path).is_ok_and(|path| path.file_name() == Some(OsStr::new(DRIVER))) {
        return true;
    }
    if length > MAX_DRIVER {
        return false;
    }
    let Ok(mut file) = File::open(path) else { return false };
    let mut text = vec![0; 4];
    if file.read_exact(&mut text).is_err() || text != b"\x7fELF" {
        return false;
    }
    text.reserve(length as usize);
    file.read_to_end(&mut text).is_ok() && memmem::find(&text, MARK).is_some()
}
