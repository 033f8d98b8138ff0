//! What the module remembers from start to end, in zeroed memory of the program.

use core::cell::UnsafeCell;
use core::ffi::c_ulong;
use core::sync::atomic::{AtomicU32, Ordering};

use topas_format::MAX_LINE;
use topas_format::event::Metric;
use topas_format::form::Values;
use topas_launch::{Family, Rank, Vars};

use crate::counters::Counters;
use crate::sys::{self, PATH_MAX, UTSNAME};

/// What stands before the line in a datagram for syslog: facility user, severity
/// informational (RFC 3164), and the tag.
pub const TAG: &[u8; 11] = b"<14>topas: ";

pub use topas_format::conf::MAX_READ as CONF_MAX;

/// The measurement of this process. In this order, because what is near the front is
/// reached by shorter instructions; buffers stand here because on the stack they would
/// make every other variable far.
#[repr(C)]
pub struct State {
    /// Process that measures, its complement while its line is written, then 0; a forked child
    /// has another id and is silent
    pub pid: AtomicU32,
    /// What the operations counter counts
    pub metric: Metric,
    /// Whether the handler's second argument is the exit status, as in glibc
    pub status_known: bool,
    /// Its place in the launch
    pub rank: Rank,
    /// [`crate::sys::times`] at the start, which are not zero after an exec
    pub begun: [u64; 3],
    /// Hash of the variables at the start
    pub seal: u64,
    /// Bytes of topas.conf
    pub conf_len: usize,
    /// What the line says
    pub values: Values<'static>,
    /// The counters
    pub counters: Counters,
    /// The variables, which lie in the program's own environment
    pub vars: Vars<'static>,
    /// Room for small parts of the line
    pub parts: [u8; 128],
    pub uname: [u8; UTSNAME],
    /// The numeric user id behind a `#`
    pub uid: [u8; 12],
    /// Room for the tag and the line
    pub line: [u8; TAG.len() + MAX_LINE],
    /// Room for the path of the executable
    pub exe: [u8; PATH_MAX],
    /// Room for any other path
    pub path: [u8; PATH_MAX],
    /// Text of topas.conf
    pub conf: [u8; CONF_MAX],
    /// Text of any other file; the longest is /etc/localtime with 4 kB
    pub file: [u8; 8192],
}

/// Shared between the start and the handlers, which never run at the same time.
pub struct Shared(UnsafeCell<State>);

// SAFETY: used before `main` by the thread that runs constructors, and at the end by the
// one thread that `take` lets pass.
unsafe impl Sync for Shared {}

/// The one state of this copy of the module. All zero, so that it takes no room in files.
pub static STATE: Shared = Shared(UnsafeCell::new(State {
    pid: AtomicU32::new(0),
    metric: Metric::FpOps,
    status_known: false,
    rank: Rank { family: Family::OpenMpi, rank: 0, size: 0, id: 0 },
    begun: [0; 3],
    seal: 0,
    conf_len: 0,
    values: Values::new(),
    counters: Counters::new(),
    vars: Vars::new(),
    parts: [0; 128],
    uname: [0; UTSNAME],
    uid: [0; 12],
    line: [0; TAG.len() + MAX_LINE],
    exe: [0; PATH_MAX],
    path: [0; PATH_MAX],
    conf: [0; CONF_MAX],
    file: [0; 8192],
}));

impl Shared {
    /// Where the state is. Not inlined: one relocation in all.
    #[inline(never)]
    fn address(&self) -> *mut State {
        // An address the compiler does not know is not relocated at each use.
        core::hint::black_box(self.0.get())
    }

    /// The state.
    ///
    /// # Safety
    /// Only from a constructor, or by the one that [`Shared::take`] let pass.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn get(&self) -> &mut State {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.address() }
    }

    /// Whether `pid` measures; only the first to ask is told so, whichever thread or handler
    /// it is.
    pub fn take(&self, pid: u32) -> bool {
        // SAFETY: atomic, and never borrowed otherwise but before `main`.
        let measuring = unsafe { &(*self.address()).pid };
        measuring.compare_exchange(pid, !pid, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The line of the process is written.
    pub fn written(&self) {
        // SAFETY: as in `take`.
        unsafe { &(*self.address()).pid }.store(0, Ordering::Relaxed);
    }

    /// Waits until another thread of process `pid` has written the line, if one is at it; a
    /// second at most.
    pub fn wait_for_writer(&self, pid: u32) {
        // SAFETY: as in `take`.
        let writer = unsafe { &(*self.address()).pid };
        let mut patience = 1000;
        while writer.load(Ordering::Relaxed) == !pid && patience > 0 {
            sys::sleep_a_millisecond();
            patience -= 1;
        }
    }
}

// SAFETY: libc's own declaration.
unsafe extern "C" {
    fn getauxval(kind: c_ulong) -> c_ulong;
}

/// A value of the auxiliary vector, 0 if it is not there.
pub fn auxiliary(kind: usize) -> usize {
    // SAFETY: works from the first instruction of a program on.
    unsafe { getauxval(kind as c_ulong) as usize }
}
