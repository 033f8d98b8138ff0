//! What the module remembers from start to end, in zeroed memory of the program.

use core::cell::UnsafeCell;
use core::ffi::c_ulong;

use topas_format::event::Metric;
use topas_format::field::Mode;
use topas_launch::{Family, Rank};

use crate::counters::Counters;
use crate::sys::Usage;

/// A text copied from the environment, which the program may overwrite.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    const fn new() -> Self {
        Text { bytes: [0; N], len: 0 }
    }

    /// Keeps the first `N` bytes.
    pub fn set(&mut self, text: &[u8]) {
        self.len = 0;
        for (to, from) in self.bytes.iter_mut().zip(text) {
            *to = *from;
            self.len += 1;
        }
    }

    /// What was kept.
    pub fn get(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The whole buffer with the number of bytes in use, to be filled in place.
    pub fn buffer(&mut self) -> (&mut [u8; N], &mut usize) {
        (&mut self.bytes, &mut self.len)
    }
}

/// Longest topas.conf that is read in full; a longer one loses its end.
pub const CONF_MAX: usize = 8192;

/// The measurement of this process.
pub struct State {
    /// Process that measures; a forked child has another id and is silent
    pub pid: u32,
    /// Its place in the launch
    pub rank: Rank,
    /// What the operations counter counts
    pub metric: Metric,
    /// Batch or interactive
    pub mode: Mode,
    /// Whether the handler's second argument is the exit status, as in glibc
    pub status_known: bool,
    /// `TOPAS_PRINT`, or a batch job where the site says so
    pub print: bool,
    /// `TOPAS_VERBOSE`
    pub verbose: bool,
    /// Monotonic clock at the start: seconds, nanoseconds
    pub begun: (i64, i64),
    /// Usage at the start, which is not zero after an exec
    pub usage: Usage,
    /// The counters
    pub counters: Counters,
    /// LOGNAME or USER
    pub user: Text<255>,
    /// File name of the executable
    pub exe: Text<255>,
    /// Job id
    pub job: Text<64>,
    /// Step
    pub step: Text<16>,
    /// Value of TOPAS_LOG
    pub user_log: Text<1024>,
    /// Text of topas.conf
    pub conf: Text<CONF_MAX>,
}

/// Shared between the start and the handlers, which never run at the same time.
pub struct Shared(UnsafeCell<State>);

// SAFETY: used before `main` by the thread that runs constructors, and at the end by the
// one thread that runs exit handlers.
unsafe impl Sync for Shared {}

/// The one state of this copy of the module.
pub static STATE: Shared = Shared(UnsafeCell::new(State {
    pid: 0,
    rank: Rank { family: Family::OpenMpi, rank: 0, size: 0, id: 0 },
    metric: Metric::FpOps,
    mode: Mode::Batch,
    status_known: false,
    print: false,
    verbose: false,
    begun: (0, 0),
    usage: Usage { user: 0, system: 0, resident: 0 },
    counters: Counters::new(),
    user: Text::new(),
    exe: Text::new(),
    job: Text::new(),
    step: Text::new(),
    user_log: Text::new(),
    conf: Text::new(),
}));

impl Shared {
    /// The state.
    ///
    /// # Safety
    /// Only from a constructor or an exit handler, and only one reference at a time.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn get(&self) -> &mut State {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.0.get() }
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
