//! Where a line would go: each log target tried without writing anything.

use std::ffi::OsStr;
use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::statfs::{NFS_SUPER_MAGIC, statfs};
use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, eaccess, getuid};
use topas_format::civil::Civil;
use topas_format::conf::words;
use topas_format::form::{Values, number, text};
use topas_format::out::Out;
use topas_format::target::{TargetKind, expand, kind};
use topas_format::{MAX_LINE, zone};

use crate::{procfs, socket};

/// Longest path the module handles, in bytes.
const PATH_MAX: usize = 4096;

/// Mode of a log directory: everybody may add a file, nobody may list or remove those of
/// others.
const DIRECTORY_MODE: u32 = 0o1733;

/// What a target would do with a line of this user.
#[derive(Debug)]
pub struct Place {
    /// The target as configured
    pub target: String,
    /// The file it stands for today, on this host, for this user
    pub path: Option<PathBuf>,
    /// Whether the target takes a line
    pub answer: Answer,
    /// Who could read the line there
    pub readers: Option<&'static str>,
    /// What should be changed, each with the command that does it
    pub advice: Vec<String>,
}

/// Whether a target takes a line.
#[derive(Debug)]
pub enum Answer {
    /// The file is there and opens for append
    Appends,
    /// The file would be made
    Makes,
    /// The directory would be made, and the file in it
    MakesDirectory,
    /// A daemon listens at the socket
    Listens,
    /// It takes none: why, and what mends it
    Refuses {
        /// Why
        why: String,
        /// The command or change that mends it
        hint: String,
    },
}

impl Answer {
    /// Whether a line would be written.
    pub fn takes(&self) -> bool {
        !matches!(self, Answer::Refuses { .. })
    }

    /// For people.
    pub fn says(&self) -> String {
        match self {
            Answer::Appends => "takes a line".to_owned(),
            Answer::Makes => "takes a line: the file would be made".to_owned(),
            Answer::MakesDirectory => "takes a line: directory and file would be made".to_owned(),
            Answer::Listens => "takes a line: a daemon listens there".to_owned(),
            Answer::Refuses { why, .. } => format!("takes no line: {why}"),
        }
    }
}

/// Tries each target of a `log` list, in order.
pub fn places(log: &[u8]) -> Vec<Place> {
    let host = nix::sys::utsname::uname()
        .map(|name| name.nodename().as_bytes().to_vec())
        .unwrap_or_default();
    words(log).map(|target| place(target, &host)).collect()
}

fn place(target: &[u8], host: &[u8]) -> Place {
    let shown = String::from_utf8_lossy(target).into_owned();
    if let (kind @ (TargetKind::Unix | TargetKind::Syslog), path @ [_, ..]) = kind(target) {
        let path = PathBuf::from(OsStr::from_bytes(path));
        let answer = socket::try_socket(kind, &path);
        let readers = answer.takes().then_some(socket::READERS);
        return Place { target: shown, path: Some(path), answer, readers, advice: Vec::new() };
    }
    let Some((path, per_user, own_dir)) = file_of(target, host) else {
        let answer = Answer::Refuses {
            why: "it is no target".to_owned(),
            hint: "write syslog, or file: or unix: and an absolute path; forms are %Y %m %d %h %u \
                   %%, for files only"
                .to_owned(),
        };
        return Place { target: shown, path: None, answer, readers: None, advice: Vec::new() };
    };
    let answer = try_path(&path, own_dir, per_user);
    let file = fs::metadata(&path).ok();
    let mut advice = Vec::new();
    let directory = path.parent().unwrap_or(Path::new("/"));
    if answer.takes() {
        if let Some(file) = &file {
            advise_on_file(&path, file, per_user, &mut advice);
        }
        if let Ok(about) = fs::metadata(directory) {
            advise_on_directory(directory, &about, file.is_none() || per_user, &mut advice);
            advise_on_space(directory, target, &mut advice);
        }
    }
    let readers = answer.takes().then(|| readers(file.as_ref(), per_user));
    Place { target: shown, path: Some(path), answer, readers, advice }
}

/// Path, whether it names the user, and the directory that may be made. None if the target
/// is none.
fn file_of(target: &[u8], host: &[u8]) -> Option<(PathBuf, bool, Option<PathBuf>)> {
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    // As the module: the site's clock, whatever TZ says.
    let rules = procfs::bytes(Path::new("/etc/localtime")).unwrap_or_default();
    let offset = zone::offset_at(zone::footer(&rules), now).unwrap_or(0);
    let date = Civil::from_seconds(now + offset).date;
    let mut values = Values::new();
    values.numbers[number::YEAR] = date.year.into();
    values.numbers[number::MONTH] = date.month.into();
    values.numbers[number::DAY] = date.day.into();
    values.numbers[number::UID] = getuid().as_raw().into();
    values.texts[text::HOST] = Some(host);
    let mut buffer = vec![0; PATH_MAX];
    let mut out = Out::new(&mut buffer);
    let (TargetKind::File, pattern) = kind(target) else {
        return None;
    };
    let shape = expand(pattern, &mut values, &mut out)?;
    let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    let own_dir =
        out.text().get(..usize::from(shape.own_dir)).filter(|dir| !dir.is_empty()).map(path);
    Some((path(out.text()), shape.per_user, own_dir))
}

/// Opens the file for append as the module does, or looks whether it could be made.
fn try_path(path: &Path, own_dir: Option<PathBuf>, per_user: bool) -> Answer {
    let flags = libc::O_CLOEXEC | libc::O_NOCTTY | libc::O_NONBLOCK;
    let directory = path.parent().unwrap_or(Path::new("/"));
    if path.is_symlink() {
        return Answer::Refuses {
            why: format!("{} is a symbolic link, which is not followed", path.display()),
            hint: format!("rm {}, and name the file itself", path.display()),
        };
    }
    match OpenOptions::new().append(true).custom_flags(flags).open(path) {
        Ok(file) => {
            let owner = file.metadata().map_or(0, |about| about.uid());
            if !per_user || owner == 0 || owner == getuid().as_raw() {
                return Answer::Appends;
            }
            // Made by somebody else under this name, who could read what is written there.
            let shown = path.display();
            return Answer::Refuses {
                why: format!("{shown} is not this user's but of uid {owner}"),
                hint: format!("rm {shown}"),
            };
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return refuses(&error, path, directory);
        }
        Err(_) => {}
    }
    if directory.exists() {
        return match may_add(directory) {
            Ok(()) => Answer::Makes,
            Err(error) => refuses(&error, directory, directory),
        };
    }
    match own_dir.as_deref().and_then(Path::parent) {
        Some(parent) if parent.exists() => match may_add(parent) {
            Ok(()) => Answer::MakesDirectory,
            Err(error) => refuses(&error, parent, parent),
        },
        parent => {
            let missing = parent.unwrap_or(directory);
            refuses(&io::Error::from_raw_os_error(libc::ENOENT), missing, missing)
        }
    }
}

/// Whether this user may add an entry to a directory.
fn may_add(directory: &Path) -> io::Result<()> {
    if !directory.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
    }
    Ok(eaccess(directory, AccessFlags::W_OK | AccessFlags::X_OK)?)
}

/// A refusal with the command that mends it.
fn refuses(error: &io::Error, path: &Path, directory: &Path) -> Answer {
    let shown = path.display();
    let make = mend_directory(directory);
    let (why, hint) = match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) if path.is_dir() => {
            (format!("no permission to add a file to {shown}"), make)
        }
        Some(libc::EACCES | libc::EPERM) => (
            format!("no permission to append to {shown}"),
            format!("chmod 0622 {shown}, or use %u in the name"),
        ),
        Some(libc::ENOENT) => (format!("no directory {shown}"), make),
        Some(libc::EISDIR) => {
            (format!("{shown} is a directory"), format!("log = file:{shown}/%Y-%m.%u.log"))
        }
        Some(libc::ENXIO) => (
            format!("nobody reads the pipe {shown}, or it is a socket"),
            "name a regular file".to_owned(),
        ),
        Some(libc::EROFS) => (
            format!("{shown} is on a read-only file system"),
            "name a place on a file system that can be written".to_owned(),
        ),
        Some(libc::ENOTDIR) => {
            (format!("part of {shown} is not a directory"), "correct the path".to_owned())
        }
        _ => (format!("{shown}: {error}"), "name another place".to_owned()),
    };
    Answer::Refuses { why, hint }
}

fn advise_on_file(path: &Path, file: &Metadata, per_user: bool, advice: &mut Vec<String>) {
    let (shown, mode) = (path.display(), file.mode());
    if file.file_type().is_char_device() || file.file_type().is_fifo() {
        advice.push(format!("{shown} is no regular file: nothing is kept there by TOPAS"));
    } else if per_user && mode & 0o077 != 0 {
        advice.push(format!("{shown} is one user's, and others may use it: chmod 0600 {shown}"));
    } else if !per_user && mode & 0o002 == 0 {
        advice.push(format!("other users cannot append to {shown}: chmod 0622 {shown}"));
    } else if !per_user && mode & 0o004 != 0 {
        advice.push(format!("every user can read all lines in {shown}: chmod 0622 {shown}"));
    }
}

/// The command that gives a log directory its mode. One that others use, too, such as
/// /tmp or /var/log, must keep its own.
fn mend_directory(path: &Path) -> String {
    let shown = path.display();
    let of_topas = path.iter().any(|part| part.to_string_lossy().contains("topas"));
    if of_topas || !path.exists() {
        format!("install -d -m {DIRECTORY_MODE:o} {shown}")
    } else {
        format!("install -d -m {DIRECTORY_MODE:o} {shown}/topas, and log there")
    }
}

fn advise_on_directory(path: &Path, about: &Metadata, adds: bool, advice: &mut Vec<String>) {
    let (shown, mode) = (path.display(), about.mode() & 0o7777);
    let mend = mend_directory(path);
    if adds && mode & 0o003 != 0o003 {
        advice.push(format!("other users cannot add files to {shown} (mode {mode:04o}): {mend}"));
    } else if mode & 0o002 != 0 && mode & 0o1000 == 0 {
        advice.push(format!(
            "every user can remove files of others in {shown} (mode {mode:04o}): {mend}"
        ));
    } else if adds && mode & 0o044 != 0 {
        advice.push(format!("every user can list {shown} (mode {mode:04o}): {mend}"));
    }
}

fn advise_on_space(directory: &Path, target: &[u8], advice: &mut Vec<String>) {
    let shown = directory.display();
    if let Ok(about) = statvfs(directory) {
        let free = about.blocks_available().saturating_mul(about.fragment_size());
        if free < MAX_LINE as u64 {
            advice.push(format!(
                "{free} B are free on the file system of {shown}, a line takes up to {MAX_LINE} B: \
                 lines are lost until there is space"
            ));
        }
    }
    let names_host = target.windows(2).any(|form| form == b"%h");
    if !names_host && statfs(directory).is_ok_and(|s| s.filesystem_type() == NFS_SUPER_MAGIC) {
        advice.push(format!(
            "{shown} is on NFS, where appends of several nodes are not atomic: put %h into the path"
        ));
    }
}

/// Who could read a line in the file.
fn readers(file: Option<&Metadata>, per_user: bool) -> &'static str {
    match file.map(MetadataExt::mode) {
        None if per_user => "the user and root (the file would be made with mode 0600)",
        None => "every user (the file would be made with mode 0666)",
        Some(mode) if mode & 0o004 != 0 => "every user",
        Some(mode) if mode & 0o040 != 0 => "the file's owner, its group, and root",
        Some(mode) if mode & 0o400 != 0 => "the file's owner and root",
        Some(_) => "root",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn one(target: &str) -> Place {
        let mut all = places(target.as_bytes());
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn looking_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        mode(dir.path(), 0o1733);
        let at = dir.path().display();
        assert!(matches!(one(&format!("file:{at}/%Y.%u.log")).answer, Answer::Makes));
        assert!(matches!(one(&format!("file:{at}/%h/%Y.log")).answer, Answer::MakesDirectory));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let log = dir.path().join("a.log");
        fs::write(&log, "x").unwrap();
        let before = fs::metadata(&log).unwrap().modified().unwrap();
        assert!(matches!(one(&format!("file:{at}/a.log")).answer, Answer::Appends));
        assert_eq!(fs::read(&log).unwrap(), b"x");
        assert_eq!(fs::metadata(&log).unwrap().modified().unwrap(), before);
    }

    #[test]
    fn refusals_name_the_reason_and_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().display();
        fs::write(dir.path().join("plain"), "").unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
        nix::unistd::mkfifo(&dir.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        for (target, why, hint) in [
            ("syslogd".to_owned(), "no target", "absolute path"),
            ("unix:relative".to_owned(), "no target", "absolute path"),
            (format!("unix:{at}/none"), "no socket", "start the daemon"),
            ("file:relative".to_owned(), "no target", "absolute path"),
            (format!("file:{at}/%q"), "no target", "%Y"),
            (format!("file:{at}"), "is a directory", "%u.log"),
            (format!("file:{at}/no/a.log"), "no directory", "install -d -m 1733"),
            (format!("file:{at}/no/%h/a.log"), "no directory", "install -d -m 1733"),
            (format!("file:{at}/plain/a.log"), "not a directory", "correct"),
            (format!("file:{at}/link"), "is not followed", "rm "),
            (format!("file:{at}/pipe"), "pipe", "regular file"),
        ] {
            match one(&target).answer {
                Answer::Refuses { why: w, hint: h } => {
                    assert!(w.contains(why) && h.contains(hint), "{target}: {w}: {h}");
                }
                other => panic!("{target}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_path_is_that_of_today_host_and_user() {
        let host = nix::sys::utsname::uname().unwrap();
        let place = one("file:/nowhere/%h/%u.log");
        let expected =
            format!("/nowhere/{}/{}.log", host.nodename().to_str().unwrap(), getuid().as_raw());
        assert_eq!(place.path.unwrap(), Path::new(&expected));
    }

    #[test]
    fn modes_get_advice_and_tell_who_reads() {
        let dir = tempfile::tempdir().unwrap();
        let (shared, own) = (dir.path().join("all.log"), dir.path().join("%u.log"));
        let target = |path: &Path| format!("file:{}", path.display());
        mode(dir.path(), 0o1733);
        let made = one(&target(&own));
        assert!(made.advice.is_empty(), "{:?}", made.advice);
        assert!(made.readers.unwrap().starts_with("the user and root"));
        assert!(one(&target(&shared)).readers.unwrap().starts_with("every user"));
        fs::write(&shared, "").unwrap();
        for (bits, advice, readers) in [
            (0o622, "", "the file's owner and root"),
            (0o666, "can read all lines", "every user"),
            (0o640, "cannot append", "the file's owner, its group, and root"),
        ] {
            mode(&shared, bits);
            let place = one(&target(&shared));
            assert_eq!(place.readers, Some(readers), "{bits:o}");
            assert_eq!(place.advice.is_empty(), advice.is_empty(), "{bits:o} {:?}", place.advice);
            assert!(place.advice.iter().all(|a| a.contains(advice)), "{:?}", place.advice);
        }
        for (bits, advice) in [(0o755, "cannot add"), (0o733, "remove files"), (0o1777, "list")] {
            mode(dir.path(), bits);
            let place = one(&target(&own));
            assert!(place.advice[0].contains(advice), "{bits:o} {:?}", place.advice);
        }
    }

    #[test]
    fn directories_of_others_keep_their_mode() {
        assert_eq!(
            mend_directory(Path::new("/tmp")),
            "install -d -m 1733 /tmp/topas, and log there"
        );
        let dir = tempfile::tempdir().unwrap();
        let [own, missing] = ["topas", "logs"].map(|name| dir.path().join(name));
        fs::create_dir(&own).unwrap();
        for path in [own, missing] {
            assert_eq!(mend_directory(&path), format!("install -d -m 1733 {}", path.display()));
        }
    }

    #[test]
    fn a_device_takes_lines_and_keeps_none() {
        let place = one("file:/dev/null");
        assert!(place.answer.takes());
        assert!(place.advice[0].contains("no regular file"), "{:?}", place.advice);
    }
}
