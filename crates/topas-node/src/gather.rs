//! The lines of many ranks of a host reach their file by few writes of few ranks.
//!
//! The first rank of a launch that ends on a host binds an abstract unix socket and opens the
//! file. Those that end meanwhile connect, send their line and wait for the answer; the
//! first takes them in batches, each one write, until for 2 ms nobody has come, then leaves. So a
//! host has one open of the file under way at a time, and the slower the file system, the larger
//! the batches. A rank that gets no answer because the writer was killed does the same
//! again: no line is lost with the rank that was to write it. Nothing is left behind. Ranks of one
//! launch may be measured by their own module and by `topas-run`: both come here.

use core::ffi::CStr;

use topas_format::MAX_LINE;
use topas_format::out::Out;
use topas_format::target::Shape;
use topas_launch::gather::{ATTEMPTS, BATCH, PATIENCE, QUEUE, SILENCE, SOCKET};
use topas_launch::hash::spread;

use crate::sys::{
    self, EACCES, EAGAIN, ECONNREFUSED, EEXIST, EINVAL, ENOENT, ENOSPC, O_APPEND, O_CLOEXEC,
    O_CREAT, O_EXCL, O_NOCTTY, O_NONBLOCK, O_RDWR, O_WRONLY, SOCK_SEQPACKET, close,
};

/// Most ranks whose lines are in a batch; each takes a descriptor.
const PEERS: usize = 256;

/// Batches, or failed looks for one, after which the writer takes only those that wait already.
const ROUNDS: u32 = 1000;

/// Milliseconds that the writer waits for the next rank to come. Ranks that end together come one
/// after the other where there are fewer processors than ranks, and in most MPIs.
const LINGER: u64 = 2;

/// The file of the lines.
pub struct GatherFile<'p> {
    /// Its path, with a NUL behind it
    pub path: &'p mut [u8],
    /// What the pattern of its path says besides
    pub shape: Shape,
    /// Whether this process has made it
    made: bool,
}

impl<'p> GatherFile<'p> {
    /// The file of a path with a NUL behind it.
    pub fn new(path: &'p mut [u8], shape: Shape) -> Self {
        Self { path, shape, made: false }
    }
}

/// A rank that has come.
#[derive(Clone, Copy)]
struct Peer {
    fd: i32,
    /// Where its line ends in the batch; 0 before it has sent it
    end: usize,
}

/// Lines that are written together. Lives in fresh pages.
struct Batch {
    peers: [Peer; PEERS],
    /// How many of them there are
    count: usize,
    /// Bytes of text
    len: usize,
    text: [u8; BATCH],
}

/// What became of a line. The answer of the writer is the two as bytes.
#[derive(Clone, Copy)]
pub struct GatherOutcome {
    /// Error number, 0 if all is well
    pub errno: i32,
    /// Who is to say that something is wrong
    pub teller: Teller,
}

/// Who says of a host's ranks that something could not be written.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Teller {
    /// The first rank of the host, if it is one of them: nothing can be written
    First,
    /// This rank: it saw the file become full
    This,
    /// Nobody any more
    Nobody,
}

impl GatherOutcome {
    /// Whether this rank says what is wrong; `speaks` tells whether it is the first of its host.
    #[inline(always)]
    pub fn is_told(&self, speaks: bool) -> bool {
        match self.teller {
            Teller::First => speaks,
            Teller::This => true,
            Teller::Nobody => false,
        }
    }
}

/// What became of handing a line over.
enum Answer {
    Done(GatherOutcome),
    /// The writer has gone without a word
    Gone,
    /// Not to be asked again
    Never,
}

/// The address where the ranks of a launch meet on a host: `launch` is the launch's id, `file` the
/// hash (`Fnv`) of the path of the file they write. `out` is empty.
#[inline(always)]
pub fn address<'o>(out: &'o mut Out<'_>, launch: u64, file: u64) -> &'o [u8] {
    // `struct sockaddr_un` up to the name: AF_UNIX, the zero byte of an abstract one.
    const FRONT: &[u8] = b"\x01\0\0";
    out.put(FRONT).put(SOCKET).hex(spread(launch ^ file)).text()
}

/// Appends the line of this rank together with those that come to the address meanwhile.
pub fn together(address: &[u8], target: &mut GatherFile<'_>, line: &[u8]) -> GatherOutcome {
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
            Answer::Done(outcome) => return outcome,
            Answer::Gone => sys::sleep_a_millisecond(),
            Answer::Never => break,
        }
    }
    alone(target, line)
}

/// Appends one line.
#[inline(never)]
pub fn alone(target: &mut GatherFile<'_>, line: &[u8]) -> GatherOutcome {
    let file = open(target);
    if is_torn(file) {
        put(file, b"\n");
    }
    let written = put(file, line);
    leave(file, target, written);
    written.outcome(line.len())
}

/// Gives the line to the rank that writes.
fn hand_over(fd: i32, line: &[u8]) -> Answer {
    if sys::send(fd, line) < 0 {
        return Answer::Gone;
    }
    if !sys::wait_readable(fd, PATIENCE.into()) {
        return Answer::Never;
    }
    let mut answer = [0; 2];
    if sys::receive(fd, &mut answer) != 2 {
        return Answer::Gone;
    }
    let [errno, told] = answer;
    let teller = if told == 0 { Teller::First } else { Teller::Nobody };
    Answer::Done(GatherOutcome { errno: errno.into(), teller })
}

/// Writes the line and those of all who come to the socket meanwhile.
fn collect(listener: i32, user: u32, target: &mut GatherFile<'_>, line: &[u8]) -> GatherOutcome {
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
    let mut outcome = None;
    let mut nothing = true;
    let mut shut = false;
    let mut rounds = 0;
    let mut silence = SILENCE;
    loop {
        rounds += 1;
        batch.take(listener, user);
        if batch.len > 0 {
            let written = batch.flush(file);
            nothing &= written.taken == 0;
            let own = outcome.get_or_insert(written.outcome(own_end));
            if own.teller != Teller::This && written.is_cut() {
                *own = written.outcome(usize::MAX);
            }
        } else if let Some(peer) = batch.peers.first().filter(|_| batch.count > 0 && silence > 0) {
            sys::wait_readable(peer.fd, 1);
            silence -= 1;
        } else if shut {
            break;
        } else if !sys::wait_readable(listener, LINGER) {
            rounds = ROUNDS;
        }
        if rounds >= ROUNDS && !shut {
            sys::shut(listener);
            shut = true;
        }
    }
    for peer in batch.peers.iter().take(batch.count) {
        close(peer.fd);
    }
    leave(file, target, Written { taken: usize::from(!nothing), errno: ENOSPC });
    outcome.unwrap_or(GatherOutcome { errno: EINVAL, teller: Teller::First })
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

    /// Takes the lines of ranks that have come, as many as there is room for.
    fn take(&mut self, listener: i32, user: u32) {
        let mut at = 0;
        while at < self.count {
            at += usize::from(self.hear(at));
        }
        for _ in self.count..PEERS {
            if self.len + MAX_LINE > BATCH {
                return;
            }
            let fd = sys::accept(listener);
            if fd < 0 {
                return;
            }
            if let Some(peer) = self.peers.get_mut(self.count)
                && sys::socket_owner(fd) == Some(user)
            {
                *peer = Peer { fd, end: 0 };
                self.count += 1;
                self.hear(self.count - 1);
            } else {
                close(fd);
            }
        }
    }

    /// Takes the line of a rank, if it has sent it by now. False if it has gone, and the last one
    /// has its place.
    fn hear(&mut self, at: usize) -> bool {
        let last = self.peers.get(self.count - 1).copied();
        let (Some(peer), Some(last)) = (self.peers.get_mut(at), last) else {
            return true;
        };
        let Some(room) = self.text.get_mut(self.len..self.len + MAX_LINE) else {
            return true;
        };
        if peer.end > 0 {
            return true;
        }
        let n = sys::receive(peer.fd, room);
        if n > 0 && room.get(n as usize - 1) == Some(&b'\n') {
            self.len += n as usize;
            peer.end = self.len;
        } else if n != -EAGAIN as isize {
            close(peer.fd);
            *peer = last;
            self.count -= 1;
            return false;
        }
        true
    }

    /// Writes what there is, and tells those whose lines are in it.
    fn flush(&mut self, file: i32) -> Written {
        let written = put(file, self.text.get(..self.len).unwrap_or_default());
        let mut silent = 0;
        for at in 0..self.count {
            let Some(peer) = self.peers.get(at).copied() else {
                break;
            };
            if peer.end > 0 {
                let GatherOutcome { errno, .. } = written.outcome(peer.end);
                sys::send(peer.fd, &[errno as u8, written.is_cut().into()]);
                close(peer.fd);
            } else if let Some(to) = self.peers.get_mut(silent) {
                *to = peer;
                silent += 1;
            }
        }
        self.count = silent;
        self.len = 0;
        written
    }
}

/// Whether a file ends in the middle of a line: a write was cut short.
fn is_torn(file: i32) -> bool {
    file >= 0 && sys::last_byte(file).is_some_and(|byte| byte != b'\n')
}

/// Closes the file. One that was made and then took nothing would tell of a run without ranks.
fn leave(file: i32, target: &GatherFile<'_>, written: Written) {
    if file >= 0 && target.made && written.errno != 0 && written.taken == 0 {
        // SAFETY: a NUL stands at its end.
        sys::remove_empty(file, unsafe { CStr::from_ptr(target.path.as_ptr().cast()) });
    }
    close(file);
}

/// What a file took of a text.
#[derive(Clone, Copy)]
struct Written {
    /// Bytes
    taken: usize,
    /// Error number of the rest, 0 if there is none
    errno: i32,
}

impl Written {
    /// Whether the file took a part: it is full now, and was not before.
    fn is_cut(&self) -> bool {
        self.errno != 0 && self.taken > 0
    }

    /// What became of a line that ends there.
    fn outcome(&self, end: usize) -> GatherOutcome {
        let errno = if end <= self.taken { 0 } else { self.errno };
        GatherOutcome { errno, teller: if self.is_cut() { Teller::This } else { Teller::First } }
    }
}

/// Writes to a file, which could be opened or not.
fn put(file: i32, mut text: &[u8]) -> Written {
    let mut written = Written { taken: 0, errno: (-file).max(0) };
    while written.errno == 0 && !text.is_empty() {
        match sys::write(file, text) {
            n @ 1.. => {
                written.taken += n as usize;
                text = text.get(n as usize..).unwrap_or_default();
            }
            n => written.errno = if n == 0 { ENOSPC } else { -n as i32 },
        }
    }
    written
}

/// Opens the file or makes it: the descriptor, or minus an error number. It is the user's own,
/// so links are followed, as by any program.
fn open(target: &mut GatherFile<'_>) -> i32 {
    const FLAGS: u32 = O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    // To know whether it was there before.
    let mut how = O_RDWR | O_EXCL;
    let mut fd = -EINVAL;
    for _ in 0..4 {
        // SAFETY: a NUL stands at its end, and nowhere else: it is made of texts of C.
        let path = unsafe { CStr::from_bytes_with_nul_unchecked(target.path) };
        fd = sys::open(path, FLAGS | how, 0o644);
        target.made = fd >= 0 && how & O_EXCL != 0;
        if fd == -EEXIST {
            how &= !O_EXCL;
        } else if fd == -EACCES && how == O_RDWR {
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
