//! Where the line goes: the first target that takes it, by the rules of the module.

use std::io;

use topas_format::conf::words;
use topas_format::form::Values;
use topas_format::out::Out;
use topas_node::log::{TAG, write_to};
use topas_node::sys::PATH_MAX;

/// Appends a line, with its newline, to the first of `targets` that takes it.
///
/// # Errors
/// Each target with the reason why it took none; empty without targets.
pub fn append(
    targets: &[u8],
    values: &mut Values<'_>,
    line: &[u8],
) -> Result<(), Vec<(String, io::Error)>> {
    let tagged = [TAG.as_slice(), line].concat();
    let mut failed = Vec::new();
    for target in words(targets) {
        let mut room = [0; PATH_MAX];
        let path = &mut Out::new(&mut room);
        match write_to(target, values, &tagged, || path) {
            0 => return Ok(()),
            errno => failed.push((
                String::from_utf8_lossy(target).into_owned(),
                io::Error::from_raw_os_error(errno),
            )),
        }
    }
    Err(failed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::UnixDatagram;

    use topas_format::form::{number, text};

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
