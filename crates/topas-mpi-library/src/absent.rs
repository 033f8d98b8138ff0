//! Ranks without the library, known without a word to them.
//!
//! Each rank with the library takes a part in the launch's set of semaphores on its node ([`life`]) at its first call,
//! before `MPI_Init` begins below. `MPI_Init` of Open MPI and MPICH returns only when all ranks have come to it. So if
//! fewer ranks have a part then than the launcher has started on this node, the others have no library and never come to
//! the end of the profile, and nobody has to wait for them. All ranks of the node count the same.
//!
//! What makes this unsure leaves the old way, which is to wait for some time: an MPI that has not been tried, or one
//! whose `MPI_Init` was told to wait for nobody, ranks in containers, in which the kernel has other semaphores, and a
//! launcher that does not tell its ranks how many they are. Ranks of other nodes do not hear of it, and wait.
//!
//! Who goes on alone has begun nothing with the others, and who waits does so for a limited time. So ranks that should
//! ever decide differently lose the common record, and end as beside ranks without the library.

use core::sync::atomic::{
    AtomicBool, AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_format::out::Out;
use topas_format::text::Cursor;
use topas_mpi_profile::layout::Header;
use topas_mpi_profile::lines::text;
use topas_node::sys as kernel;

use crate::{finish, launch, life, lookup, spool, sys};

/// Ranks of this node with the library when `MPI_Init` returned, of how many in the world; 0: not known.
static AT_INIT: AtomicU32 = AtomicU32::new(0);
static OF: AtomicU32 = AtomicU32::new(0);
/// Some rank of this node has no library.
static FOUND: AtomicBool = AtomicBool::new(false);

/// Counts the ranks with the library, when `MPI_Init` has returned.
pub fn initialized(header: &mut Header) {
    let count = life::ranks_at_init(header).unwrap_or(0);
    AT_INIT.store(count, Relaxed);
    OF.store(header.ranks, Relaxed);
}

/// Whether it was found that some rank has no library.
pub fn was_found() -> bool {
    FOUND.load(Acquire)
}

/// Whether it is known that some rank of this node has no library. To be asked when this rank would wait for all.
pub fn is_known() -> bool {
    let known = was_found() || spool::header().is_some_and(is_sure);
    FOUND.store(known, Release);
    known
}

fn is_sure(header: &mut Header) -> bool {
    let count = AT_INIT.load(Relaxed);
    // Mostly all of them are here, and there is nothing to find out.
    if count == 0 || count >= header.ranks || OF.load(Relaxed) != header.ranks {
        return false;
    }
    launch::ranks_here().is_some_and(|here| count < here && here <= header.ranks)
        && is_together_at_init(header)
        && shares_semaphores()
        && stays(header, count)
}

/// Whether no rank with the library comes for some time: for a rank that had no part in the set before `MPI_Init`, as
/// the kernel had no room for a set then. Parts that are given back meanwhile are those of ranks that went on alone.
fn stays(header: &Header, count: u32) -> bool {
    const TIMES: u32 = 100;
    (0..TIMES).all(|_| {
        kernel::sleep_a_millisecond();
        life::ranks(header).is_some_and(|now| now <= count)
    })
}

/// MPIs in which each rank's `MPI_Init` was seen to wait for that of all others.
const TRIED: [&[u8]; 2] = [b"Open", b"MPICH"];

/// Whether `MPI_Init` has waited for all ranks. That of Open MPI does not if the user says so, in the environment or a
/// file.
fn is_together_at_init(header: &mut Header) -> bool {
    static KEPT: AtomicUsize = AtomicUsize::new(0);
    finish::describe_mpi(header);
    let address = lookup::of_loader(&KEPT, b"ompi_async_mpi_init\0");
    // SAFETY: a variable of type `bool` of the Open MPI that is loaded for good, which it reads once in `MPI_Init`.
    let is_alone = address != 0 && unsafe { (address as *const u8).read_volatile() } != 0;
    TRIED.iter().any(|name| text(&header.mpi).starts_with(name))
        && !is_alone
        && sys::variable(c"OMPI_MCA_async_mpi_init").is_none()
}

/// Names with which the processes begin that start ranks on a node.
const DAEMONS: [&[u8]; 6] = [b"orted", b"prted", b"mpirun", b"mpiexec", b"hydra_", b"slurmstepd"];

/// Whether the semaphores of this process are those of all ranks of the node. They are those of the kernel's first
/// namespace, or of the process that has started the ranks; and nothing that this one has started, as far as it
/// is seen, has others.
fn shares_semaphores() -> bool {
    let daemon = daemon_of(kernel::pid());
    let (mut own, mut other) = ([0; NAMESPACE], [0; NAMESPACE]);
    let own = namespace(kernel::pid(), &mut own);
    let first = own == b"ipc:[4026531839]";
    if own.is_empty() || !first && (daemon == 0 || namespace(daemon, &mut other) != own) {
        return false;
    }
    let fd = kernel::open(c"/proc", kernel::O_CLOEXEC, 0);
    if fd < 0 {
        return false;
    }
    let mut entries = [0u64; 512];
    let mut all = true;
    while all {
        let read = sys::entries(fd, &mut entries);
        if read.is_empty() {
            break;
        }
        all = sys::names(read).all(|name| {
            let process = number(name);
            let found = namespace(process, &mut other);
            // A process of another user tells nothing.
            process == 0 || found.is_empty() || found == own || daemon_of(process) != daemon
        });
    }
    kernel::close(fd);
    all
}

/// The process that has started the ranks of a node, of which this one descends; 0 if it is not seen.
fn daemon_of(mut process: u32) -> u32 {
    const MOST: u32 = 64;
    for _ in 0..MOST {
        let (mut stat, mut path) = ([0; 256], [0; 64]);
        let mut out = Out::new(&mut path);
        out.put(b"/proc/").dec(process.into()).put(b"/stat");
        // `PID (NAME) STATE PARENT`, where the name may have anything in it.
        let mut text = Cursor::new(kernel::load(kernel::path(&mut out), &mut stat));
        text.until(b'(');
        let end = text.rest.iter().rposition(|byte| *byte == b')').unwrap_or(0);
        let Some((name, [_, _, _, _, parent @ ..])) = text.rest.split_at_checked(end) else {
            break;
        };
        if DAEMONS.iter().any(|daemon| name.starts_with(daemon)) {
            return process;
        }
        process = number(parent);
        if process == 0 {
            break;
        }
    }
    0
}

/// The number with which a text begins; 0 if it does not.
fn number(text: &[u8]) -> u32 {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number: u32, digit| {
        number.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0')))
    })
}

/// Room for the name of a namespace.
const NAMESPACE: usize = 64;

/// The name of the namespace of semaphores in which a process is; empty if that is not told.
fn namespace(process: u32, room: &mut [u8; NAMESPACE]) -> &[u8] {
    let mut path = [0; 64];
    let mut out = Out::new(&mut path);
    out.put(b"/proc/").dec(process.into()).put(b"/ns/ipc");
    kernel::read_link(kernel::path(&mut out), room)
}
