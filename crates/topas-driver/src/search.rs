//! The real program behind a name: the next on PATH that is no TOPAS driver
//! and does not call one again. A shadow of an MPI names its real programs itself.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memchr::memmem;
use nix::unistd::{AccessFlags, eaccess};
use topas_config::Environment;
use topas_config::paths::{DRIVER, Executable};
use topas_format::env::TOPAS_PASSED;

use crate::catalog::{Catalog, Personality};
use crate::circle::Circle;
use crate::shadow::{self, Shadow};

/// Text that every driver of every version has inside, so that a copy of another
/// installation is known for what it is. Never change it.
const MARK: &[u8] = b"This is a TOPAS driver (mark 5f0d2b6e91c84a73). It is no real compiler.";

/// A larger file is no driver: they are below 1 MB, with debug information below 10 MB.
/// A compiler that is one big file must not be searched at every call.
const MAX_DRIVER: u64 = 16 << 20;

/// A program behind a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Real {
    /// Its path; begins with the entry of PATH, or with the directory that a shadow is of.
    pub path: PathBuf,
    /// Variables that are to be set for it: `TOPAS_PASSED`, and those that name a shadow.
    pub set: Vec<(&'static str, OsString)>,
}

/// There is no program behind a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotFound {
    /// The last one that was passed over because it calls the driver again.
    pub circle: Option<PathBuf>,
    /// The shadow by whose path the driver was called, if its MPI lacks the name.
    pub shadow: Option<Shadow>,
}

/// Where a real program is.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its path.
    pub path: PathBuf,
    /// Whether a shadow on PATH led to it.
    pub in_shadow: bool,
    file: Metadata,
}

/// The program behind what was called as `argv0`. If that is a path into the shadow of an MPI
/// it is the program of that MPI. Else it is the first executable file of this name on PATH that
/// is neither this driver nor another copy of it, nor calls it again; a shadow on PATH stands
/// for the programs of its MPI.
///
/// # Errors
/// [`NotFound`] if there is none.
pub fn real_program(
    argv0: &OsStr,
    own: Option<&Executable>,
    env: &Environment,
    catalog: &Catalog,
) -> Result<Real, NotFound> {
    let called = Path::new(argv0);
    let name = called.file_name().unwrap_or_default();
    let mut none = NotFound::default();
    if name.is_empty() {
        return Err(none);
    }
    let launcher = catalog.personality(name) == Some(Personality::Launcher);
    let circle = Circle::of_process(env, launcher);
    // A path means one MPI: another one's program of that name would be the wrong one.
    none.shadow = Shadow::around(called);
    let named = none.shadow.as_ref().map(|shadow| real_at(shadow.real_bin.join(name), own, true));
    let on_path = named.is_none().then(|| places(name, own, env));
    for place in named.flatten().into_iter().chain(on_path.into_iter().flatten()) {
        let Place { path, file, .. } = place;
        if circle.closes_with(&path, &file) {
            none.circle = Some(path);
            continue;
        }
        let looks = fs::canonicalize(&path).is_ok_and(|real| catalog.looks_on(&real));
        let mut set = shadow::restored(env);
        set.extend(circle.way_through(&file, looks).map(|passed| (TOPAS_PASSED, passed)));
        return Ok(Real { path, set });
    }
    Err(none)
}

/// The real programs of a name on PATH, in order.
pub fn places<'a>(
    name: &'a OsStr,
    own: Option<&'a Executable>,
    env: &'a Environment,
) -> impl Iterator<Item = Place> + 'a {
    env.search_path().filter_map(move |dir| {
        let path = dir.join(name);
        let file = fs::metadata(&path).ok()?;
        let ours = own.is_some_and(|own| own.identity == (file.dev(), file.ino()));
        if ours || is_driver(&path, &file) {
            let shadow = Shadow::around(&path)?;
            return real_at(shadow.real_bin.join(name), own, true);
        }
        real_at(path, own, false)
    })
}

/// The real program at a path, if there is one.
fn real_at(path: PathBuf, own: Option<&Executable>, in_shadow: bool) -> Option<Place> {
    let file = fs::metadata(&path).ok()?;
    let real = file.is_file()
        && own.is_none_or(|own| own.identity != (file.dev(), file.ino()))
        && is_executable(&path)
        && !is_driver(&path, &file);
    real.then_some(Place { path, in_shadow, file })
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
pub fn is_driver_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| is_driver(path, &file))
}

fn is_driver(path: &Path, file: &Metadata) -> bool {
    if fs::canonicalize(path).is_ok_and(|path| path.file_name() == Some(OsStr::new(DRIVER))) {
        return true;
    }
    let length = file.len();
    if length > MAX_DRIVER || !file.is_file() {
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
