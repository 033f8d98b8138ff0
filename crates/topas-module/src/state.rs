//! What the module remembers from start to end, in zeroed memory of the program.

use core::cell::UnsafeCell;
use core::ffi::c_ulong;

use topas_format::MAX_LINE;
use topas_format::event::Metric;
use topas_format::form::Values;
use topas_launch::{Family, Rank, Vars};

use crate::counters::Counters;
use crate::sys::{PATH_MAX, UTSNAME};

/// Longest topas.conf that is read in full; a longer one loses its end.
pub const CONF_MAX: usize = 8192;

/// The measurement of this process. In this order, because what is near the front is
/// reached by shorter instructions; buffers stand here because on the stack they would
/// make every other variable far.
#[repr(C)]
pub struct State {
    /// Process that measures; a forked child has another id and is silent
    pub pid: u32,
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
    /// Room for the line, and for what is printed
    pub line: [u8; MAX_LINE],
    /// Room for the path of the executable, then of the log
    pub exe: [u8; PATH_MAX],
    pub path: [u8; PATH_MAX],
    /// Text of topas.conf
    pub conf: [u8; CONF_MAX],
    /// Text of any other file; the longest is /etc/localtime with 4 kB
    pub file: [u8; 8192],
}

/// Shared between the start and the handlers, which never run at the same time.
pub struct Shared(UnsafeCell<State>);

// SAFETY: used before `main` by the thread that runs constructors, and at the end by the
// one thread that runs exit handlers.
unsafe impl Sync for Shared {}

/// The one state of this copy of the module. All zero, so that it takes no room in files.
pub static STATE: Shared = Shared(UnsafeCell::new(State {
    pid: 0,
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
    line: [0; MAX_LINE],
    exe: [0; PATH_MAX],
    path: [0; PATH_MAX],
    conf: [0; CONF_MAX],
    file: [0; 8192],
}));

impl Shared {
    /// The state. Not inlined: one relocation in all.
    ///
    /// # Safety
    /// Only from a constructor or an exit handler, and only one reference at a time.
    #[allow(clippy::mut_from_ref)]
    #[inline(never)]
    pub unsafe fn get(&self) -> &mut State {
        // An address the compiler does not know is not relocated at each use.
        // SAFETY: the caller's promise.
        unsafe { &mut *core::hint::black_box(self.0.get()) }
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
