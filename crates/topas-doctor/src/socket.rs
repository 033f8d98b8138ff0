//! Log targets that are sockets: whether somebody listens. Nothing is sent.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use topas_format::target::TargetKind;

use crate::place::Answer;

/// Longest path of a socket, in bytes.
const PATH_MAX: usize = 107;

/// Who could read a line that went there.
pub const READERS: &str = "whoever the daemon behind the socket lets";

/// Looks whether a daemon takes datagrams at `path`.
pub fn try_socket(kind: TargetKind, path: &Path) -> Answer {
    if path.as_os_str().len() > PATH_MAX {
        return Answer::Refuses {
            why: format!("the path is longer than {PATH_MAX} B"),
            hint: "name a shorter one: the kernel takes no longer path for a socket".to_owned(),
        };
    }
    match UnixDatagram::unbound().and_then(|socket| socket.connect(path)) {
        Ok(()) => Answer::Listens,
        Err(error) => refuses(kind, path, &error),
    }
}

fn refuses(kind: TargetKind, path: &Path, error: &io::Error) -> Answer {
    let shown = path.display();
    let start = if kind == TargetKind::Syslog {
        "start the system's log daemon, or name another target behind syslog"
    } else {
        "start the daemon that listens there, or name another target behind it"
    };
    let (why, hint) = match error.raw_os_error() {
        Some(libc::ENOENT) => (format!("there is no socket {shown}"), start.to_owned()),
        Some(libc::ECONNREFUSED) => (format!("nobody listens at {shown}"), start.to_owned()),
        Some(libc::EPROTOTYPE) => (
            format!("{shown} is no datagram socket"),
            "let the daemon listen for datagrams".to_owned(),
        ),
        Some(libc::EACCES | libc::EPERM) => {
            (format!("no permission to send to {shown}"), format!("chmod 0666 {shown}"))
        }
        _ => (format!("{shown}: {error}"), start.to_owned()),
    };
    Answer::Refuses { why, hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn looking_sends_nothing_and_says_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let reader = UnixDatagram::bind(at("alive")).unwrap();
        reader.set_nonblocking(true).unwrap();
        assert!(matches!(try_socket(TargetKind::Unix, &at("alive")), Answer::Listens));
        assert_eq!(reader.recv(&mut [0; 9]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(UnixDatagram::bind(at("dead")).unwrap());
        let _stream = UnixListener::bind(at("stream")).unwrap();
        let long = at(&"x".repeat(PATH_MAX));
        for (path, why, hint) in [
            (at("none"), "there is no socket", "start the daemon"),
            (at("dead"), "nobody listens", "start the daemon"),
            (at("stream"), "no datagram socket", "datagrams"),
            (long, "longer than 107 B", "shorter"),
        ] {
            match try_socket(TargetKind::Unix, &path) {
                Answer::Refuses { why: w, hint: h } => {
                    assert!(w.contains(why) && h.contains(hint), "{w}: {h}");
                }
                other => panic!("{}: {other:?}", path.display()),
            }
        }
        match try_socket(TargetKind::Syslog, &at("none")) {
            Answer::Refuses { hint, .. } => assert!(hint.contains("system's log daemon")),
            other => panic!("{other:?}"),
        }
    }
}
