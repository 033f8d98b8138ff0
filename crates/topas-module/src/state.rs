//! What the module remembers from start to end, in zeroed memory of the program.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use topas_format::MAX_LINE;
use topas_format::conf::MAX_READ;
use topas_format::event::Metric;
use topas_format::form::{LINE, RUN_LINE, Values};
use topas_format::out::Out;
use topas_launch::{Family, Rank, Vars};
use topas_node::log::TAG;

use crate::compiler::TABLE;
use crate::counters::Counters;
use crate::extended::Own;
use crate::library::far;
use crate::site::ModuleSite;
pub use crate::sys::auxiliary;
use crate::sys::{self, PATH_MAX, UTSNAME};

/// Most bytes of a file that are read, of which the longest is /etc/localtime with 4 kB; and room
/// for the user's log targets with the site's.
pub const FILE_MAX: usize = KEPT + MAX_READ;

/// Bytes of names and of the user's log targets together.
const KEPT: usize = 8192;

/// The line and what it is made of.
#[repr(C)]
pub struct ModuleRecord {
    pub values: Values<'static>,
    /// Bytes of `tagged`
    len: usize,
    /// Room for the tag and the line
    tagged: [u8; TAG.len() + MAX_LINE],
}

impl ModuleRecord {
    /// Nothing known.
    const fn new() -> Self {
        ModuleRecord { values: Values::new(), len: 0, tagged: [0; TAG.len() + MAX_LINE] }
    }

    /// Writes the line behind its tag.
    pub fn compose(&mut self) {
        let mut out = Out::new(&mut self.tagged);
        const FORM: &[u8] = if cfg!(topas_run) { RUN_LINE } else { LINE };
        self.values.fill_line(out.put(TAG), TAG.len(), FORM);
        self.len = out.len();
    }

    /// The line behind a [`TAG`].
    pub fn tagged(&self) -> &'static [u8] {
        // SAFETY: written once, in place and for ever.
        unsafe { core::slice::from_raw_parts(self.tagged.as_ptr(), self.len) }
    }
}

/// The measurement of this process. In this order, because what is near the front is
/// reached by shorter instructions; buffers stand here because on the stack they would
/// make every other variable far.
#[repr(C)]
pub struct ModuleState {
    /// Process that measures, its complement while its line is written, then 0; a forked child
    /// has another id and is silent
    pub pid: AtomicU32,
    /// What the operations counter counts
    pub metric: Metric,
    /// Whether the handler's second argument is the exit status, as in glibc
    pub status_known: bool,
    /// Whether the user wants the result on standard error
    pub print: bool,
    /// Whether the user wants to know why nothing was measured or written
    pub verbose: bool,
    /// Whether no rank below it writes to the log
    pub lowest: bool,
    /// [`crate::filters::FILE`], to be read at the end
    pub filters: i32,
    /// Its place in the launch
    pub rank: Rank,
    /// [`crate::sys::times`] at the start, which are not zero after an exec
    pub begun: [u64; 3],
    pub record: ModuleRecord,
    /// The counters
    pub counters: Counters,
    /// The variables, which lie in the program's own environment
    pub vars: Vars<'static>,
    /// Room for small parts of the line
    pub parts: [u8; 256],
    pub uname: [u8; UTSNAME],
    /// Room for what is kept of the environment, which the program may overwrite
    pub kept: [u8; KEPT],
    pub site: ModuleSite,
    /// Table of sections of the executable
    pub sections: [u64; TABLE],
    /// Text of any other file
    pub file: [u8; FILE_MAX],
    /// Of the extended module only
    pub extended: Own,
}

/// Shared between the start and the handlers, which never run at the same time. The state
/// first, by which the address is that of both.
#[repr(C)]
pub struct Shared {
    state: UnsafeCell<ModuleState>,
    scratch: UnsafeCell<Scratch>,
    alone: AtomicUsize,
}

/// What [`out`] gives away, apart from the state, which others hold meanwhile.
struct Scratch {
    out: MaybeUninit<Out<'static>>,
    room: [u8; PATH_MAX],
}

// SAFETY: used before `main` by the thread that runs constructors, and at the end by the
// one thread that `first` lets pass.
unsafe impl Sync for Shared {}

/// The one state of this copy of the module. All zero, so that it takes no room in files.
/// By a short name, which is that of the group of our sections and made local in the object.
#[cfg_attr(not(topas_extended), unsafe(export_name = "topas_state"))]
#[cfg_attr(topas_extended, unsafe(export_name = "topas_state_extended"))]
pub static STATE: Shared = Shared {
    state: UnsafeCell::new(ModuleState {
        pid: AtomicU32::new(0),
        metric: Metric::FpOps,
        status_known: false,
        print: false,
        verbose: false,
        lowest: false,
        filters: 0,
        rank: Rank { family: Family::OpenMpi, rank: 0, size: 0, id: 0 },
        begun: [0; 3],
        record: ModuleRecord::new(),
        counters: Counters::new(),
        vars: Vars::new(),
        parts: [0; 256],
        uname: [0; UTSNAME],
        kept: [0; KEPT],
        site: ModuleSite::new(),
        sections: [0; TABLE],
        file: [0; FILE_MAX],
        extended: Own::new(),
    }),
    scratch: UnsafeCell::new(Scratch { out: MaybeUninit::zeroed(), room: [0; PATH_MAX] }),
    alone: AtomicUsize::new(0),
};

impl Shared {
    /// Where it is. Not inlined: one relocation in all.
    #[inline(never)]
    fn here(&self) -> &'static Self {
        let address = far!(STATE);
        // SAFETY: the one object of this type.
        unsafe { &*(address as *const Shared) }
    }

    /// The state.
    ///
    /// # Safety
    /// Only from a constructor, or by the one that [`Shared::first`] let pass.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn get(&self) -> &mut ModuleState {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.here().state.get() }
    }

    /// The process that measures.
    fn pid(&self) -> &AtomicU32 {
        // SAFETY: atomic, and never borrowed otherwise but before `main`.
        unsafe { &(*self.here().state.get()).pid }
    }

    /// The word of [`crate::seen`] where the process has none.
    pub fn alone(&self) -> &'static AtomicUsize {
        &self.here().alone
    }

    /// Has the line of process `pid` written, if that measures and nobody did so before, thread
    /// or handler; whether it was so. Waits until another thread that is at it is done; a second
    /// at most.
    pub fn first(&self, pid: u32, write: impl FnOnce()) -> bool {
        let writer = self.pid();
        if writer.compare_exchange(pid, !pid, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            write();
            writer.store(0, Ordering::Relaxed);
            return true;
        }
        let mut patience = 1000;
        while writer.load(Ordering::Relaxed) == !pid && patience > 0 {
            sys::sleep_a_millisecond();
            patience -= 1;
        }
        false
    }
}

/// An empty text in a room of its own, for the one who writes it and while it is used: a
/// message, a path or an address. On the stack its room would have to be zeroed, and make
/// every other variable far.
#[inline(never)]
pub fn out() -> &'static mut Out<'static> {
    // SAFETY: no two functions that write here call each other.
    let scratch = unsafe { &mut *STATE.here().scratch.get() };
    scratch.out.write(Out::new(&mut scratch.room))
}
