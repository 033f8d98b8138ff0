//! `topas-driver --relocate`: an installation learns that it stands in another place.
//!
//! Tools find their installation by their own place, but what goes into programs holds the path of
//! topas.conf, and files for shells, modules and daemons hold the prefix. All of these are written
//! anew. Everything is looked at before the first file is written, so an installation that cannot be
//! relocated stays as it is.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use memchr::memmem;
use topas_config::Paths;

use crate::slot::{Slot, SlotKind};

/// Directories and files of texts that hold the prefix, below the prefix.
const TEXTS: [&str; 6] = [
    "lib/topas/pkgconfig",
    "share/modulefiles/topas",
    "share/topas/profile.d",
    "share/doc/topas/examples",
    "etc/topas/topas.conf",
    // The sample of a newer version, beside a topas.conf that the site has changed.
    "etc/topas/topas.conf.new",
];

/// The sample of topas.conf as it was installed.
pub const SAMPLE: &str = "share/doc/topas/examples/topas.conf";

/// Everybody may add a log file, nobody may list or remove those of others.
const LOG_MODE: u32 = 0o1733;

/// What was done, or what would have to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relocated {
    /// Prefixes for which the files were written before, sorted.
    pub from: Vec<PathBuf>,
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// The topas.conf of the site, if the site has changed it and it names a former prefix.
    pub kept: Option<PathBuf>,
}

/// Why an installation stays as it is.
#[derive(Debug)]
pub enum RelocateError {
    /// The prefix is no absolute path, or holds characters that shells, modulefiles or topas.conf
    /// give a meaning.
    Prefix(PathBuf),
    /// The prefix of packages, whose topas.conf is in another place.
    OfPackages,
    /// No file of the installation holds a path.
    NoSlot(PathBuf),
    /// A path is longer than its place.
    TooLong {
        /// The file with the place
        file: PathBuf,
        /// The path
        path: PathBuf,
        /// The longest path that fits, in bytes
        room: usize,
    },
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
}

impl fmt::Display for RelocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelocateError::Prefix(prefix) => write!(
                f,
                "the prefix has to be an absolute path without blanks, quotes and other \
                 characters with a meaning: {}",
                prefix.display()
            ),
            RelocateError::OfPackages => {
                write!(f, "the prefix /usr is for packages, whose topas.conf is in /etc")
            }
            RelocateError::NoSlot(lib) => write!(f, "no object in {} holds a path", lib.display()),
            RelocateError::TooLong { file, path, room } => write!(
                f,
                "{} has {} bytes, and {} has room for {room}",
                path.display(),
                path.as_os_str().len(),
                file.display()
            ),
            RelocateError::File(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl RelocateError {
    /// What to do.
    pub fn hint(&self) -> &'static str {
        match self {
            RelocateError::Prefix(_) => "choose another directory",
            RelocateError::OfPackages => "install the package for this system",
            RelocateError::NoSlot(_) => "call the driver that stands in the installation",
            RelocateError::TooLong { .. } => {
                "installations from a tarball have room for 190 bytes; to install from sources: \
                 cargo xtask install --prefix PREFIX"
            }
            RelocateError::File(..) => "call it as the owner of the installation",
        }
    }
}

/// Writes `prefix` into the files of the installation at `paths`, which need not stand there yet.
/// The same call makes the same bytes, whatever prefix the files had before.
///
/// # Errors
/// [`RelocateError`]: nothing was written, unless a file could not be written.
pub fn relocate(paths: &Paths, prefix: &Path) -> Result<Relocated, RelocateError> {
    let to = Paths::at(prefix);
    if prefix == Path::new("/usr") {
        return Err(RelocateError::OfPackages);
    }
    // A percent sign begins a form of `log =`.
    let has_form = prefix.as_os_str().as_bytes().contains(&b'%');
    if !prefix.is_absolute() || !to.stands_in_texts() || has_form {
        return Err(RelocateError::Prefix(prefix.to_owned()));
    }
    let mut done = Relocated::default();
    let mut changes = objects(paths, &to, &mut done.from)?;
    done.from.sort();
    done.from.dedup();
    let sample = read(&paths.prefix().join(SAMPLE)).ok();
    for file in texts(paths)? {
        let before = read(&file)?;
        let after = replaced(&before, &done.from, prefix);
        if file == paths.conf_file() && sample.as_ref().is_some_and(|sample| *sample != before) {
            // The file is the site's own: the site may name a place that has not moved.
            done.kept = (after != before).then_some(file);
        } else if after != before {
            changes.push((file, after));
        }
    }
    for (file, bytes) in changes {
        write(&file, &bytes).map_err(|error| RelocateError::File(file.clone(), error))?;
        done.written.push(file);
    }
    let logs = paths.log_dir();
    make_log_dir(&logs).map_err(|error| RelocateError::File(logs, error))?;
    Ok(done)
}

/// The objects and libraries with other paths in them, as far as that changes them.
fn objects(
    paths: &Paths,
    to: &Paths,
    from: &mut Vec<PathBuf>,
) -> Result<Vec<(PathBuf, Vec<u8>)>, RelocateError> {
    let mut changes = Vec::new();
    let mut any = false;
    for file in files_in(&paths.lib())?.into_iter().filter(|file| !file.is_dir()) {
        let before = read(&file)?;
        let mut after = before.clone();
        for slot in Slot::all(&before) {
            any = true;
            let path = match slot.kind {
                SlotKind::Conf => to.conf_file(),
                SlotKind::Library => to.mpi_library(),
            };
            if slot.kind == SlotKind::Conf {
                let former = slot.path(&before).and_then(|conf| prefix_of(&conf));
                from.extend(former.filter(|former| former != to.prefix()));
            }
            if !slot.put(&mut after, path.as_os_str()) {
                return Err(RelocateError::TooLong { file, path, room: slot.room() });
            }
        }
        if after != before {
            changes.push((file, after));
        }
    }
    if any { Ok(changes) } else { Err(RelocateError::NoSlot(paths.lib())) }
}

/// The prefix of an installation with this topas.conf. None for that of the system.
fn prefix_of(conf: &Path) -> Option<PathBuf> {
    let prefix = conf.parent()?.parent()?.parent()?;
    (prefix != Path::new("/")).then(|| prefix.to_owned())
}

/// The files of [`TEXTS`] that are there, with those in directories below, sorted.
fn texts(paths: &Paths) -> Result<Vec<PathBuf>, RelocateError> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = TEXTS.iter().map(|name| paths.prefix().join(name)).collect();
    while let Some(path) = open.pop() {
        match fs::symlink_metadata(&path) {
            Ok(about) if about.is_dir() => open.extend(files_in(&path)?),
            Ok(about) if about.is_file() => found.push(path),
            // A site may have removed what it does not use, or linked a file of its own.
            _ => {}
        }
    }
    found.sort();
    Ok(found)
}

fn files_in(dir: &Path) -> Result<Vec<PathBuf>, RelocateError> {
    let failed = |error| RelocateError::File(dir.to_owned(), error);
    let entries = fs::read_dir(dir).map_err(failed)?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.map_err(failed)?.path());
    }
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> Result<Vec<u8>, RelocateError> {
    fs::read(file).map_err(|error| RelocateError::File(file.to_owned(), error))
}

/// A text with another prefix wherever one of `from` stands as a whole path or begins one.
fn replaced(text: &[u8], from: &[PathBuf], prefix: &Path) -> Vec<u8> {
    let is = |byte: Option<&u8>, others: &[u8]| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || others.contains(byte))
    };
    let mut text = text.to_vec();
    for former in from {
        let former = former.as_os_str().as_bytes();
        let mut after = Vec::with_capacity(text.len());
        let mut rest = 0;
        for at in memmem::find_iter(&text, former) {
            let end = at + former.len();
            let before = at.checked_sub(1).and_then(|at| text.get(at));
            // In front of a path systemd takes signs such as a hyphen.
            if is(before, b"._/") || is(text.get(end), b"._-+@") {
                continue;
            }
            after.extend_from_slice(text.get(rest..at).unwrap_or_default());
            after.extend_from_slice(prefix.as_os_str().as_bytes());
            rest = end;
        }
        after.extend_from_slice(text.get(rest..).unwrap_or_default());
        text = after;
    }
    text
}

/// Writes beside and renames: a build that is under way finds the old file or the new one. The mode
/// stays.
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut fresh = file.as_os_str().to_owned().into_vec();
    fresh.extend_from_slice(b".relocating");
    let fresh = PathBuf::from(OsString::from_vec(fresh));
    let mode = fs::metadata(file)?.permissions();
    fs::write(&fresh, bytes)
        .and_then(|()| fs::set_permissions(&fresh, mode))
        .and_then(|()| fs::rename(&fresh, file))
        .inspect_err(|_| drop(fs::remove_file(&fresh)))
}

/// Makes the directory of logs with its mode, which tar does not give to files of others than root.
/// A directory that holds files is left as its site wants it.
fn make_log_dir(dir: &Path) -> io::Result<()> {
    match fs::read_dir(dir).map(|mut entries| entries.next().is_some()) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::DirBuilder::new().recursive(true).mode(0o755).create(dir)?;
        }
        // Nobody but root may list it, and then it has its mode.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        Err(error) => return Err(error),
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(LOG_MODE))
}

/// The topas.conf that an object or a library names, if it can be read and names one.
pub fn conf_named_by(file: &Path) -> Option<PathBuf> {
    let bytes = fs::read(file).ok()?;
    let slots = Slot::all(&bytes);
    slots.iter().find(|slot| slot.kind == SlotKind::Conf)?.path(&bytes)
}

/// Whether programs that are linked with `module` read a topas.conf that is none of the installation
/// at `paths`: its path. A prefix may have several names, by links.
pub fn other_conf(module: &Path, paths: &Paths) -> Option<PathBuf> {
    let named = conf_named_by(module)?;
    let own = paths.conf_file();
    let same = named == own
        || match (fs::canonicalize(&named), fs::canonicalize(&own)) {
            (Ok(named), Ok(own)) => named == own,
            _ => false,
        };
    (!same).then_some(named)
}

/// The prefix without slashes at its end, as paths begin with it.
pub fn tidy(prefix: &OsStr) -> PathBuf {
    Path::new(prefix).components().collect()
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_replaced_where_a_path_begins() {
        let of = |text: &str| {
            let from = [PathBuf::from("/opt/topas")];
            String::from_utf8(replaced(text.as_bytes(), &from, Path::new("/sw/t"))).unwrap()
        };
        for (text, expected) in [
            ("setenv TOPAS_ROOT /opt/topas", "setenv TOPAS_ROOT /sw/t"),
            ("log = file:/opt/topas/var/log/%u.log", "log = file:/sw/t/var/log/%u.log"),
            ("\"/opt/topas\",/opt/topas/bin:/opt/topas", "\"/sw/t\",/sw/t/bin:/sw/t"),
            (
                "/opt/topas-0.1 /opt/topas2 /opt/topas.old",
                "/opt/topas-0.1 /opt/topas2 /opt/topas.old",
            ),
            ("/mnt/opt/topas x/opt/topas //opt/topas", "/mnt/opt/topas x/opt/topas //opt/topas"),
            (
                "-Wl,/opt/topas/lib ReadWritePaths=-/opt/topas",
                "-Wl,/sw/t/lib ReadWritePaths=-/sw/t",
            ),
            ("", ""),
        ] {
            assert_eq!(of(text), expected);
        }
    }

    #[test]
    fn the_prefix_of_a_configuration() {
        assert_eq!(prefix_of(Path::new("/sw/t/etc/topas/topas.conf")), Some("/sw/t".into()));
        assert_eq!(prefix_of(Path::new("/etc/topas/topas.conf")), None);
        assert_eq!(tidy(OsStr::new("/sw//t/")), PathBuf::from("/sw/t"));
    }
}
