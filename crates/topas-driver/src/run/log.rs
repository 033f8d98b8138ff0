//! Where the line goes: the first target that takes it, by the rules of the module.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use topas_format::conf::words;
use topas_format::form::{Values, number};
use topas_format::out::Out;
use topas_format::target::{self, Kind, Shape, expand};

/// What stands before the line in a datagram for syslog: facility user, severity
/// informational (RFC 3164), and the tag.
const TAG: &[u8] = b"<14>topas: ";

/// Longest path, with its NUL.
const PATH_MAX: usize = 4096;

/// Appends a line, with its newline, to the first of `targets` that takes it.
///
/// # Errors
/// Each target with the reason why it took none; empty without targets.
pub fn append(
    targets: &[u8],
    values: &mut Values<'_>,
    line: &[u8],
) -> Result<(), Vec<(String, io::Error)>> {
    let mut failed = Vec::new();
    for target in words(targets) {
        match write_to(target, values, line) {
            Ok(()) => return Ok(()),
            Err(error) => failed.push((String::from_utf8_lossy(target).into_owned(), error)),
        }
    }
    Err(failed)
}

fn write_to(target: &[u8], values: &mut Values<'_>, line: &[u8]) -> io::Result<()> {
    let (kind, pattern) = target::kind(target);
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    match kind {
        Kind::File => to_file(pattern, values, line),
        Kind::Unix => to_socket(pattern, text),
        Kind::Syslog => to_socket(pattern, &[TAG, text].concat()),
    }
}

/// Sends a datagram, which nobody waits for.
fn to_socket(path: &[u8], text: &[u8]) -> io::Result<()> {
    if path.is_empty() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    socket.connect(OsStr::from_bytes(path))?;
    socket.send(text).map(drop)
}

/// Appends with one `write`, so that lines of many processes stay whole.
fn to_file(pattern: &[u8], values: &mut Values<'_>, line: &[u8]) -> io::Result<()> {
    let mut buffer = [0; PATH_MAX - 1];
    let mut out = Out::new(&mut buffer);
    let shape = expand(pattern, values, &mut out).ok_or(io::ErrorKind::InvalidInput)?;
    let path = PathBuf::from(OsStr::from_bytes(out.text()));
    let mut file = open_or_make(&path, &shape)?;
    // Who made the file of a user can read it.
    let uid = values.numbers[number::UID];
    let owner = u64::from(file.metadata()?.uid());
    if shape.per_user && owner != uid && owner != 0 {
        return Err(io::Error::from_raw_os_error(libc::EACCES));
    }
    if file.write(line)? == line.len() {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ENOSPC))
    }
}

/// Opens the file or makes it, in turn: another rank may make it first, or its directory be
/// missing.
fn open_or_make(path: &Path, shape: &Shape) -> io::Result<File> {
    // Not to wait for the reader of a named pipe, nor to follow a link that somebody else put
    // into the directory.
    const FLAGS: i32 = libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_NOFOLLOW;
    for attempt in 0..6 {
        let make = attempt % 2 == 1;
        let result = OpenOptions::new()
            .append(true)
            .create_new(make)
            .mode(0o600)
            .custom_flags(FLAGS)
            .open(path);
        if let Ok(file) = &result
            && make
            && !shape.per_user
        {
            // The file is everybody's, whatever this user's umask is.
            let _ = file.set_permissions(Permissions::from_mode(0o666));
        }
        let missing = match &result {
            Ok(_) => return result,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if make && missing && shape.own_dir > 0 {
            make_dir(path, shape.own_dir.into());
        } else if !(missing && !make
            || matches!(&result, Err(e) if e.kind() == io::ErrorKind::AlreadyExists)
            // Another user is just making it, and sets its mode next.
            || matches!(&result, Err(e) if e.kind() == io::ErrorKind::PermissionDenied)
                && !shape.per_user)
        {
            return result;
        }
    }
    Err(io::Error::from_raw_os_error(libc::EACCES))
}

/// Makes the directory that the first `len` bytes of a path name. Everybody may add a file,
/// nobody may list or remove those of others, whatever this user's umask is.
fn make_dir(path: &Path, len: usize) {
    const MODE: u32 = 0o1733;
    let Some(dir) = path.as_os_str().as_bytes().get(..len) else { return };
    let dir = Path::new(OsStr::from_bytes(dir));
    if DirBuilder::new().mode(MODE).create(dir).is_ok() {
        let _ = fs::set_permissions(dir, Permissions::from_mode(MODE));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use topas_format::form::text;

    fn values() -> Values<'static> {
        let mut values = Values::new();
        values.numbers[number::YEAR] = 2026;
        values.numbers[number::MONTH] = 3;
        values.numbers[number::UID] = nix::unistd::getuid().as_raw().into();
        values.texts[text::HOST] = Some(b"n1");
        values
    }

    #[test]
    fn the_first_target_that_takes_it() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).display().to_string();
        let targets = format!("nonsense file:{} file:{}/%Y-%m.log", at("no/f"), at("%h"));
        append(targets.as_bytes(), &mut values(), b"one\n").unwrap();
        append(targets.as_bytes(), &mut values(), b"two\n").unwrap();
        let file = dir.path().join("n1/2026-03.log");
        assert_eq!(fs::read(&file).unwrap(), b"one\ntwo\n");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o666);
        assert_eq!(fs::metadata(dir.path().join("n1")).unwrap().mode() & 0o7777, 0o1733);
        let failed = append(b"file:/proc/none/f syslog:/x", &mut values(), b"x\n").unwrap_err();
        assert_eq!(failed.len(), 2);
        assert_eq!(append(b"", &mut values(), b"x\n").unwrap_err().len(), 0);
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let target = format!("file:{}", link.display());
        append(target.as_bytes(), &mut values(), b"x\n").unwrap_err();
        let full = append(b"file:/dev/full", &mut values(), b"x\n").unwrap_err();
        assert_eq!(full[0].1.raw_os_error(), Some(libc::ENOSPC));
    }

    #[test]
    fn datagrams_have_no_newline() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let socket = UnixDatagram::bind(&path).unwrap();
        let target = format!("unix:{}", path.display());
        append(target.as_bytes(), &mut values(), b"a line\n").unwrap();
        let mut buffer = [0; 32];
        let n = socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..n], b"a line");
    }
}
