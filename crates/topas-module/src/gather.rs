//! The lines of many ranks of a host reach their file by few writes of few ranks.
//!
//! The first rank of a launch that ends on a host binds an abstract unix socket and opens the
//! file. Those that end meanwhile connect, send their line and wait for the answer; the
//! first takes them in batches, each one write, as long as somebody waits, then leaves. So a
//! host has one open of the file under way at a time, and the slower the file system, the larger
//! the batches. A rank that gets no answer because the writer was killed does the same
//! again: no line is lost with the rank that was to write it. Nothing is left behind.

use core::ffi::CStr;

use topas_format::MAX_LINE;
use topas_format::target::Shape;

use crate::sys::{
    self, EACCES, ECONNREFUSED, EINVAL, ENOENT, ENOSPC, O_APPEND, O_CLOEXEC, O_CREAT, O_NOCTTY,
    O_NONBLOCK, O_RDWR, O_WRONLY, SOCK_SEQPACKET, close,
};

/// Bytes of a batch.
const TEXT: usize = 64 << 10;

/// Most ranks whose lines are in a batch; each takes a descriptor.
const PEERS: usize = 256;

/// How many ranks may wait to be taken; the kernel allows 4096, or 128 before Linux 5.4.
const QUEUE: usize = 4096;

/// Batches after which the writer takes only those that wait already.
const ROUNDS: u32 = 64;

/// How often a rank looks for the writer, a millisecond apart, while there is none that takes
/// it: the queue is full, or the writer just leaves.
const ATTEMPTS: u32 = 2000;

/// Milliseconds to wait for the answer of a writer that lives: a file system may be slow.
const PATIENCE: u64 = 30_000;

/// The file, by the end of whose path a NUL stands.
pub struct Target<'p> {
    pub path: &'p mut [u8],
    pub shape: Shape,
}

/// A rank that waits for its answer.
#[derive(Clone, Copy)]
struct Peer {
    fd: i32,
    /// Where its line ends in the batch
    end: usize,
}

/// Lines that are written together. Lives in fresh pages.
struct Batch {
    peers: [Peer; PEERS],
    waiting: usize,
    len: usize,
    text: [u8; TEXT],
}

/// What became of handing a line over.
enum Answer {
    /// An error number, 0 if the line was written
    Done(i32),
    /// The writer has gone without a word
    Gone,
    /// Not to be asked again
    Never,
}

/// Appends the line of this rank together with those that come to the address meanwhile: an
/// error number, 0 if it was written.
pub fn together(address: &[u8], target: &mut Target<'_>, line: &[u8]) -> i32 {
    let user = sys::effective_uid();
    for _ in 0..ATTEMPTS {
        let fd = sys::unix_socket(SOCK_SEQPACKET);
        if fd < 0 {
            break;
        }
        let result = sys::connect(fd, address);
        let mut answer = Answer::Gone;
        if result == 0 {
            // Anybody can bind any name.
            answer = match sys::socket_owner(fd) == Some(user) {
                true => hand_over(fd, line),
                false => Answer::Never,
            };
        } else if result == -ECONNREFUSED && sys::bind(fd, address) == 0 {
            sys::listen(fd, QUEUE);
            answer = Answer::Done(collect(fd, user, target, line));
        }
        close(fd);
        match answer {
            Answer::Done(errno) => return errno,
            Answer::Gone => sys::sleep_a_millisecond(),
            Answer::Never => break,
        }
    }
    alone(target, line)
}

/// Appends one line: an error number, 0 if it was written.
#[inline(never)]
pub fn alone(target: &mut Target<'_>, line: &[u8]) -> i32 {
    let file = open(target);
    if is_torn(file) {
        put(file, b"\n");
    }
    let (taken, errno) = put(file, line);
    close(file);
    if taken == line.len() { 0 } else { errno }
}

/// Gives the line to the rank that writes.
fn hand_over(fd: i32, line: &[u8]) -> Answer {
    if sys::send(fd, line) < 0 {
        return Answer::Gone;
    }
    if !sys::wait_readable(fd, PATIENCE) {
        return Answer::Never;
    }
    let mut answer = [0];
    match sys::receive(fd, &mut answer) {
        1 => Answer::Done(answer[0].into()),
        _ => Answer::Gone,
    }
}

/// Writes the line and those of all who come to the socket meanwhile: an error number, 0 if this
/// rank's own was written.
fn collect(listener: i32, user: u32, target: &mut Target<'_>, line: &[u8]) -> i32 {
    // SAFETY: fresh zeroed pages; zero is a value of every field.
    let batch = unsafe { sys::pages(size_of::<Batch>()).cast::<Batch>().as_mut() };
    let Some(batch) = batch else {
        return alone(target, line);
    };
    let file = open(target);
    if is_torn(file) {
        batch.add(b"\n");
    }
    batch.add(line);
    let own_end = batch.len;
    let mut own = None;
    let mut shut = false;
    let mut rounds = 0;
    loop {
        batch.take(listener, user);
        rounds += 1;
        if batch.len == 0 || rounds == ROUNDS {
            if shut && batch.len == 0 {
                break;
            }
            sys::shut(listener);
            shut = true;
        }
        let (taken, errno) = batch.flush(file);
        own.get_or_insert(if taken >= own_end { 0 } else { errno });
    }
    close(file);
    own.unwrap_or(EINVAL)
}

impl Batch {
    /// Appends bytes of this rank.
    fn add(&mut self, bytes: &[u8]) {
        if let Some(room) = self.text.get_mut(self.len..self.len + bytes.len()) {
            for (to, from) in room.iter_mut().zip(bytes) {
                *to = *from;
            }
            self.len += bytes.len();
        }
    }

    /// Takes the lines of ranks that wait, as many as there is room for.
    fn take(&mut self, listener: i32, user: u32) {
        while let Some(room) = self.text.get_mut(self.len..self.len + MAX_LINE)
            && let Some(peer) = self.peers.get_mut(self.waiting)
        {
            let fd = sys::accept(listener);
            if fd < 0 {
                return;
            }
            let mut n = 0;
            if sys::socket_owner(fd) == Some(user) {
                n = sys::receive(fd, room);
                if n < 0 && sys::wait_readable(fd, 1) {
                    n = sys::receive(fd, room);
                }
            }
            if n > 0 && room.get(n as usize - 1) == Some(&b'\n') {
                self.len += n as usize;
                self.waiting += 1;
                *peer = Peer { fd, end: self.len };
            } else {
                close(fd);
            }
        }
    }

    /// Writes what there is, and tells those that wait: how many bytes were taken, and the error
    /// number of the rest.
    fn flush(&mut self, file: i32) -> (usize, i32) {
        let (taken, errno) = put(file, self.text.get(..self.len).unwrap_or_default());
        for peer in self.peers.iter().take(self.waiting) {
            let answer = if peer.end <= taken { 0 } else { errno as u8 };
            sys::send(peer.fd, &[answer]);
            close(peer.fd);
        }
        self.len = 0;
        self.waiting = 0;
        (taken, errno)
    }
}

/// Whether a file ends in the middle of a line: a write was cut short.
fn is_torn(file: i32) -> bool {
    file >= 0 && sys::last_byte(file).is_some_and(|byte| byte != b'\n')
}

/// Writes to a file that could be opened, or not: how many bytes were taken, and the error
/// number of the rest.
fn put(file: i32, mut text: &[u8]) -> (usize, i32) {
    let mut taken = 0;
    let mut errno = -file;
    if file < 0 {
        return (0, errno);
    }
    while !text.is_empty() {
        let n = sys::write(file, text);
        if n <= 0 {
            errno = if n == 0 { ENOSPC } else { -n as i32 };
            break;
        }
        taken += n as usize;
        text = text.get(n as usize..).unwrap_or_default();
    }
    (taken, errno)
}

/// Opens the file or makes it: the descriptor, or minus an error number. It is the user's own,
/// so links are followed, as by any program.
fn open(target: &mut Target<'_>) -> i32 {
    const FLAGS: u32 = O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    let mut how = O_RDWR;
    let mut fd = -EINVAL;
    for _ in 0..3 {
        // SAFETY: a NUL stands at its end.
        let path = unsafe { CStr::from_ptr(target.path.as_ptr().cast()) };
        fd = sys::open(path, FLAGS | how, 0o644);
        if fd == -EACCES && how == O_RDWR {
            // One that its owner cannot read.
            how = O_WRONLY;
        } else if fd == -ENOENT && target.shape.own_dir > 0 {
            sys::make_dir_as(target.path, target.shape.own_dir.into(), 0o777, false);
        } else {
            break;
        }
    }
    fd
}
