//! Words to the user on standard error, each message with one write. Only who asked for files, or
//! wants to know (`TOPAS_VERBOSE`), hears any.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use topas_format::out::Out;
use topas_node::sys as kernel;

/// Room for a path or an address, for the one thread that has the workspace.
struct Room(UnsafeCell<(MaybeUninit<Out<'static>>, [u8; 4096])>);

// SAFETY: used by the thread that has the workspace.
unsafe impl Sync for Room {}

static ROOM: Room = Room(UnsafeCell::new((MaybeUninit::zeroed(), [0; 4096])));

/// An empty text in a room of its own, until the next is asked for.
pub fn room() -> &'static mut Out<'static> {
    // SAFETY: one thread, and no two functions that use it call each other.
    let (out, room) = unsafe { &mut *ROOM.0.get() };
    out.write(Out::new(room))
}

/// Error numbers in words; others by their number.
const ERRORS: [(i32, &[u8]); 10] = [
    (2, b"no such directory"),
    (6, b"no reader"),
    (13, b"permission denied"),
    (21, b"is a directory"),
    (22, b"is no name of a file or target"),
    (27, b"file too large"),
    (28, b"no space left"),
    (30, b"read-only"),
    (40, b"is a link"),
    (122, b"quota exceeded"),
];

/// Why something was not written, and where to.
pub fn not_written(name: &[u8], error: i32) {
    let mut room = [0; 1024];
    let mut out = Out::new(&mut room);
    // The end that `files` gives to the log alone.
    let what: &[u8] = if name.ends_with(b".trace") { b"event log" } else { b"profile" };
    out.put(b"topas-mpi: error: ").put(what).put(b" not written to ");
    shown(&mut out, if name.is_empty() { b"any log" } else { name });
    out.put(b": ");
    match ERRORS.iter().find(|(known, _)| *known == error) {
        Some((_, words)) if !name.is_empty() => out.put(words),
        _ if name.is_empty() => out.put(b"topas.conf names none"),
        _ => out.put(b"error ").dec(error.unsigned_abs().into()),
    };
    out.byte(b'\n');
    kernel::write(2, out.text());
}

/// Says that the ranks did not come together: for want of the library, if that is known.
pub fn not_together(name: &[u8], absent: bool) {
    let mut room = [0; 1024];
    let mut out = Out::new(&mut room);
    out.put(b"topas-mpi: error: no common profile of all ranks in ");
    shown(&mut out, name);
    out.put(b": some ranks are not profiled");
    if !absent {
        out.put(b", or ended 30 s later");
    }
    out.put(b"\ntopas-mpi: hint: run the command topas-mpi collect on each node\n");
    kernel::write(2, out.text());
}

/// Says that the library cannot be loaded behind a program.
pub fn not_followed(name: &[u8]) {
    let mut room = [0; 1024];
    let mut out = Out::new(&mut room);
    out.put(b"topas-mpi: warning: no MPI profile of what ");
    shown(&mut out, name);
    out.put(
        b" runs: the library is not seen there\n\
        topas-mpi: hint: start topas-run --mpi of an installation in the container\n",
    );
    kernel::write(2, out.text());
}

/// Says, to the user who asked for a profile, that the site wants nothing measured.
pub fn not_wanted() {
    kernel::write(2, b"topas-mpi: warning: no MPI profile: the site measures nothing\n");
}

fn shown(out: &mut Out<'_>, text: &[u8]) {
    out.one_line(text, 700);
}
