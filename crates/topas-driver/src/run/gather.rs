//! Lines of many ranks of a host reach their file by few writes: the other side of the module's
//! `gather`, which says why, for ranks that are measured from outside.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, Shutdown, SockFlag, SockType, UnixAddr, accept4, bind,
    connect, getsockopt, listen, recv, send, shutdown, socket,
};
use nix::unistd::geteuid;
use topas_format::MAX_LINE;
use topas_launch::gather::{ATTEMPTS, BATCH, PATIENCE, QUEUE, SILENCE};

/// Batches after which the writer takes only those that wait already.
const ROUNDS: u32 = 64;

/// Appends the line of this rank, together with those that come to the address `name` meanwhile,
/// to the file that `open` opens.
///
/// # Errors
/// The system's, whoever wrote the line.
pub fn together(name: &[u8], open: &dyn Fn() -> io::Result<File>, line: &[u8]) -> io::Result<()> {
    if let Ok(address) = UnixAddr::new_abstract(name) {
        for _ in 0..ATTEMPTS {
            match attempt(&address, open, line) {
                Some(Answer::Done(result)) => return result,
                Some(Answer::Gone) => std::thread::sleep(Duration::from_millis(1)),
                None => break,
            }
        }
    }
    alone(open, line)
}

/// Appends one line.
///
/// # Errors
/// The system's.
pub fn alone(open: &dyn Fn() -> io::Result<File>, line: &[u8]) -> io::Result<()> {
    let written = put(&open(), line);
    written.of_line(line.len())
}

/// What became of handing a line over, or of writing it.
enum Answer {
    Done(io::Result<()>),
    /// The writer has gone without a word
    Gone,
}

/// Hands the line over, or writes it and those of others. None if it is not to be tried again.
fn attempt(address: &UnixAddr, open: &dyn Fn() -> io::Result<File>, line: &[u8]) -> Option<Answer> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let own = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None).ok()?;
    match connect(own.as_raw_fd(), address) {
        // Anybody can bind any name.
        Ok(()) if is_ours(&own) => hand_over(&own, line),
        Ok(()) => None,
        Err(Errno::ECONNREFUSED) if bind(own.as_raw_fd(), address).is_ok() => {
            listen(&own, Backlog::new(QUEUE as i32).ok()?).ok()?;
            Some(Answer::Done(collect(&own, open, line)))
        }
        Err(_) => Some(Answer::Gone),
    }
}

/// Whether the other end belongs to this user.
fn is_ours(socket: &OwnedFd) -> bool {
    getsockopt(socket, PeerCredentials).is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}

/// Gives the line to the rank that writes.
fn hand_over(writer: &OwnedFd, line: &[u8]) -> Option<Answer> {
    if tell(writer, line).is_err() {
        return Some(Answer::Gone);
    }
    if !wait_readable(writer, PATIENCE.into()) {
        return None;
    }
    let mut answer = [0; 2];
    Some(match (receive(writer, &mut answer), answer) {
        (Ok(2), [0, _]) => Answer::Done(Ok(())),
        (Ok(2), [errno, _]) => Answer::Done(Err(io::Error::from_raw_os_error(errno.into()))),
        _ => Answer::Gone,
    })
}

fn tell(to: &OwnedFd, message: &[u8]) -> nix::Result<usize> {
    send(to.as_raw_fd(), message, MsgFlags::MSG_NOSIGNAL)
}

fn receive(from: &OwnedFd, room: &mut [u8]) -> nix::Result<usize> {
    recv(from.as_raw_fd(), room, MsgFlags::empty())
}

fn wait_readable(socket: &OwnedFd, milliseconds: u32) -> bool {
    let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX);
    poll(&mut polled, timeout).is_ok_and(|ready| ready > 0)
}

/// Writes the line and those of all who come to the socket meanwhile.
fn collect(listener: &OwnedFd, open: &dyn Fn() -> io::Result<File>, line: &[u8]) -> io::Result<()> {
    let file = open();
    let own = put(&file, line).of_line(line.len());
    let mut silence = SILENCE;
    let mut last = false;
    for round in 0.. {
        let mut text = Vec::new();
        let mut peers = Vec::new();
        while text.len() + MAX_LINE <= BATCH
            && let Some(peer) = accepted(listener)
        {
            let mut room = [0; MAX_LINE];
            while silence > 0 && !wait_readable(&peer, 1) {
                silence -= 1;
            }
            let length = receive(&peer, &mut room).unwrap_or(0);
            // One that is silent finds that nobody answers, and comes again.
            if let Some(sent @ [.., b'\n']) = room.get(..length) {
                text.extend(sent);
                peers.push((peer, text.len()));
            }
        }
        if !peers.is_empty() {
            let written = put(&file, &text);
            for (peer, end) in peers {
                let errno = written.of_line(end).err().and_then(|error| error.raw_os_error());
                let errno = u8::try_from(errno.unwrap_or(0)).unwrap_or(u8::MAX);
                // It may have been killed meanwhile.
                let _ = tell(&peer, &[errno, written.is_cut().into()]);
            }
        } else if last {
            break;
        }
        if (text.is_empty() || round >= ROUNDS) && !last {
            // Those that wait already can still be accepted.
            let _ = shutdown(listener.as_raw_fd(), Shutdown::Read);
            last = true;
        }
    }
    own
}

/// The next rank of this user that waits, if there is one.
fn accepted(listener: &OwnedFd) -> Option<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    loop {
        let fd = accept4(listener.as_raw_fd(), flags).ok()?;
        let peer = super::sys::owned(fd);
        if is_ours(&peer) {
            return Some(peer);
        }
    }
}

/// What a file took of a text.
struct Written {
    /// Bytes
    taken: usize,
    /// Error number of the rest
    errno: Option<i32>,
}

impl Written {
    /// Whether the file took a part: it is full now, and was not before.
    fn is_cut(&self) -> bool {
        self.errno.is_some() && self.taken > 0
    }

    /// What became of a line that ends there.
    fn of_line(&self, end: usize) -> io::Result<()> {
        match self.errno {
            Some(errno) if end > self.taken => Err(io::Error::from_raw_os_error(errno)),
            _ => Ok(()),
        }
    }
}

/// Writes to a file that could be opened or not.
fn put(file: &io::Result<File>, text: &[u8]) -> Written {
    let number = |error: &io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    let mut file = match file {
        Ok(file) => file,
        Err(error) => return Written { taken: 0, errno: Some(number(error)) },
    };
    let mut taken = 0;
    while let Some(rest) = text.get(taken..).filter(|rest| !rest.is_empty()) {
        match file.write(rest) {
            Ok(0) => return Written { taken, errno: Some(libc::ENOSPC) },
            Ok(n) => taken += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Written { taken, errno: Some(number(&error)) },
        }
    }
    Written { taken, errno: None }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::fs::{self, OpenOptions};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    #[test]
    fn many_lines_by_few_opens() {
        const RANKS: u32 = 64;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let name = format!("topas.test.{}", std::process::id());
        let opens = AtomicU32::new(0);
        thread::scope(|scope| {
            for rank in 0..RANKS {
                let (path, name, opens) = (&path, &name, &opens);
                scope.spawn(move || {
                    let open = || {
                        opens.fetch_add(1, Ordering::Relaxed);
                        // As on a file system far away.
                        thread::sleep(Duration::from_millis(20));
                        OpenOptions::new().append(true).create(true).open(path)
                    };
                    together(name.as_bytes(), &open, format!("rank {rank}\n").as_bytes()).unwrap();
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<u32> =
            text.lines().map(|line| line.strip_prefix("rank ").unwrap().parse().unwrap()).collect();
        lines.sort_unstable();
        assert!(lines.into_iter().eq(0..RANKS), "{text}");
        assert!(opens.into_inner() < RANKS / 2);
    }

    #[test]
    fn what_cannot_be_written_is_told_to_all() {
        let opened = Cell::new(0);
        let open = || {
            opened.set(opened.get() + 1);
            OpenOptions::new().append(true).open("/dev/full")
        };
        let error = together(b"topas.test.full", &open, b"x\n").unwrap_err();
        assert_eq!((error.raw_os_error(), opened.get()), (Some(libc::ENOSPC), 1));
        let open = || Err(io::Error::from_raw_os_error(libc::EACCES));
        let error = together(b"topas.test.none", &open, b"x\n").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EACCES));
    }
}
