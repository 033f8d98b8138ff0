//! Who calls: the path of callers of each call, and what the calls of each path take and move.
//!
//! A thread has what it needs by itself: the rules of the return addresses it has seen, a hash
//! table of its paths, and the table of them in the mapped file. So no call waits for another.
//! Threads of a program in Python have paths of functions of Python, too: see [`interpreted`].

mod interpreted;
mod python;
mod stack;

use core::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_callpath::{
    Caller, LoadedModule, Memory, Rows, Trails, Walk, WalkEnd, mark_base, module_of, walk,
};
use topas_mpi_profile::layout::{
    Block, CallPath, FUNCTIONS, OFFSET_BITS, PATH_FRAMES, PATH_MODULES, PATHS, PathEnd, PathModule,
    PathTable,
};

use topas_node::sys as kernel;

use crate::flow::Moved;
use crate::frame::Frame;
use crate::generated::number;
use crate::mode::paused;
use crate::symbol::{StubBinding, StubSymbol};
use crate::thread::Thread;
use crate::workspace::keep;
use crate::{mode, spool, sys};
use interpreted::InterpretedPaths;
use stack::StackBounds;

/// Most frames of a path; 0: paths are not counted.
static DEPTH: AtomicU32 = AtomicU32::new(0);

/// Places of the hash table.
const SLOTS: usize = 1024;

/// How often a thread may ask where its stack ends: programs with many stacks would ask all the
/// time.
const MOST_STACKS: u32 = 256;

/// Functions whose bytes are counted by the calls that complete them.
const COMPLETED_LATER: [usize; 5] = [
    number::IRECV,
    number::RECV_INIT,
    number::IMRECV,
    number::ISENDRECV,
    number::ISENDRECV_REPLACE,
];

/// A path by the hash of its addresses and its function; 0 is none.
#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    hash: u64,
    path: u32,
}

/// What a thread keeps for its paths. All zero at first, but for what it keeps for Python.
#[repr(C)]
pub struct ThreadPaths {
    /// In the mapped file; null if there is no room
    table: *mut PathTable,
    /// The path of the call that the thread is in, plus 1; 0 if it is in none
    current: u32,
    /// The number of its first path in the process
    first: u32,
    /// Stacks that were looked for
    stacks: u32,
    /// Empty of a thread that is asked for functions of Python
    stack: StackBounds,
    interpreted: InterpretedPaths,
    /// Bytes sent and received when the call began, if it is one in Fortran
    before: [u64; 2],
    /// What walks fill
    frames: [usize; PATH_FRAMES],
    slots: [Slot; SLOTS],
    rows: Rows,
    /// With the function of a call as their key, and its path as their value
    trails: Trails,
}

/// Those of threads that have ended serve new ones, with the block.
const THREADS: usize = 1024;
static ALL: [AtomicPtr<ThreadPaths>; THREADS] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; THREADS];
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Notes how deep paths are to be; 0 if they are not counted.
pub fn want(depth: u32) {
    DEPTH.store(depth.min(PATH_FRAMES as u32), Relaxed);
    mode::set(mode::PATHS, depth > 0);
}

/// For a new thread that has its block: what it keeps, if paths are counted.
#[cold]
pub fn begin(thread: &mut Thread) {
    let depth = DEPTH.load(Relaxed);
    if depth == 0 || thread.block.is_null() {
        return;
    }
    // SAFETY: the thread's own block.
    let block = unsafe { &mut *thread.block };
    if block.paths == 0 {
        block.paths = spool::reserve(size_of::<PathTable>());
        if block.paths == 0 {
            return;
        }
        let table: *mut PathTable = spool::at(block.paths);
        // SAFETY: a part of the file that was just reserved, zeroed.
        unsafe {
            (*table).depth = depth;
            // The first is all others.
            (*table).count = 1;
        }
    }
    let table: *mut PathTable = spool::at(block.paths);
    let count = COUNT.load(Relaxed) as usize;
    let left = ALL.iter().take(count).map(|slot| slot.load(Acquire));
    // SAFETY: they stay where they are, and this word is written once.
    let left =
        left.filter(|paths| !paths.is_null()).find(|paths| unsafe { (**paths).table == table });
    if let Some(paths) = left {
        // SAFETY: those of the thread whose block this thread has taken over.
        unsafe {
            (*paths).current = 0;
            (*paths).stacks = 0;
            (*paths).stack = StackBounds::NONE;
            (*paths).trails.forget();
            (*paths).interpreted.begin();
        }
        thread.paths = paths;
        return;
    }
    let Some(memory) = sys::map_memory(size_of::<ThreadPaths>()) else { return };
    let paths: *mut ThreadPaths = memory.cast();
    // SAFETY: new, zeroed, which is a value of this type, and large enough.
    unsafe {
        InterpretedPaths::write_none(&raw mut (*paths).interpreted);
        (*paths).table = table;
        (*paths).interpreted.begin();
    }
    let number = COUNT.fetch_add(1, Relaxed);
    if let Some(slot) = ALL.get(number as usize) {
        // SAFETY: as above; the table is the thread's own part of the file.
        unsafe {
            (*paths).first = number * PATHS as u32;
            (*table).number = number;
        }
        slot.store(paths, Release);
    }
    thread.paths = paths;
}

/// Gives a thread that counts paths others, in memory, for calls that are no program's. Returns
/// its own, for [`put_back`].
pub fn put_aside(thread: &mut Thread) -> *mut ThreadPaths {
    let own = thread.paths;
    if own.is_null() {
        return own;
    }
    thread.paths = core::ptr::null_mut();
    if let Some(memory) = sys::map_memory(ASIDE) {
        let paths: *mut ThreadPaths = memory.cast();
        // SAFETY: new, zeroed, which is a value of these types, and large enough for both.
        unsafe {
            InterpretedPaths::write_none(&raw mut (*paths).interpreted);
            (*paths).table = memory.add(TABLE_ASIDE).cast();
            (*(*paths).table).depth = (*(*own).table).depth;
            (*(*paths).table).count = 1;
            // No number that others know.
            (*paths).first = u32::MAX / 2;
        }
        thread.paths = paths;
    }
    own
}

/// Where the table is in such memory, behind what the thread keeps.
const TABLE_ASIDE: usize = size_of::<ThreadPaths>().next_multiple_of(64);
/// Bytes of such memory.
const ASIDE: usize = TABLE_ASIDE + size_of::<PathTable>();

/// The calls that were no program's are over.
pub fn put_back(thread: &mut Thread, own: *mut ThreadPaths) {
    if !thread.paths.is_null() {
        sys::unmap(thread.paths.cast(), ASIDE);
    }
    thread.paths = own;
}

/// At the entry of an outermost call.
#[inline(never)]
pub fn enter(frame: &Frame, thread: &mut Thread) {
    if thread.paths.is_null() || paused() {
        return;
    }
    // SAFETY: the thread's own.
    let (paths, block) = unsafe { (&mut *thread.paths, &mut *thread.block) };
    let function = frame.symbol.function();
    let path = paths.path(function, caller(frame));
    paths.begin_call(block, frame.symbol, path);
}

/// At the entry of an outermost call by this name, if it comes by a path by which the thread has come
/// lately: by the last one from there, or by any. Calls nothing.
#[inline(always)]
pub fn enter_again<const ANY: bool>(
    frame: &Frame,
    thread: &mut Thread,
    symbol: StubSymbol,
) -> bool {
    if thread.paths.is_null() {
        return false;
    }
    // SAFETY: the thread's own.
    let (paths, block) = unsafe { (&mut *thread.paths, &mut *thread.block) };
    let known = paths.known_path::<ANY>(symbol.function(), caller(frame));
    let Some(path) = known else { return false };
    paths.begin_call(block, symbol, path);
    true
}

/// Where a call comes from.
#[inline(always)]
fn caller(frame: &Frame) -> Caller {
    Caller { address: frame.caller(), stack: frame.stack() as usize, base: frame.base() }
}

/// At the end of an outermost call by this name, which moved this if it is one in C.
#[inline(always)]
pub fn leave(symbol: StubSymbol, thread: &mut Thread, ticks: u64, moved_in_c: Moved) {
    if thread.paths.is_null() {
        return;
    }
    // SAFETY: the thread's own; who has paths has a block.
    let (paths, block) = unsafe { (&mut *thread.paths, &*thread.block) };
    let Some(number) = core::mem::take(&mut paths.current).checked_sub(1) else { return };
    // SAFETY: the table is the thread's own part of the file.
    let table = unsafe { &mut *paths.table };
    table.inside = 0;
    let Some(path) = table.path.get_mut(number as usize) else { return };
    path.ticks += ticks;
    let [mut sent, mut received] = moved_in_c;
    if !symbol.binding().is_c() {
        let [sent_before, received_before] = paths.before;
        let [all_sent, all_received] = moved(block, symbol.function());
        // What was cancelled may make it less.
        sent = all_sent.wrapping_sub(sent_before);
        received = all_received.wrapping_sub(received_before);
    }
    path.sent = path.sent.wrapping_add(sent);
    path.received = path.received.wrapping_add(received);
}

/// The number in the process of the path that the thread is in; 0 if it is in none, in one of the
/// others, or in one whose number has more than 16 bits.
#[inline(always)]
pub fn number_of(thread: &Thread) -> u16 {
    if thread.paths.is_null() {
        return 0;
    }
    // SAFETY: the thread's own.
    let paths = unsafe { &*thread.paths };
    match paths.current.checked_sub(1) {
        None | Some(0) => 0,
        Some(path) => u16::try_from(paths.first + path).unwrap_or(0),
    }
}

/// Why calls by a path waited: `kind` as in [`CallPath::waits`]; None is what is not known.
pub fn waited(number: u16, kind: Option<usize>, ticks: u64) {
    let Some(path) = sums_of(number) else { return };
    // SAFETY: see `sums_of`; the words of waits only.
    unsafe {
        match kind {
            Some(kind) => {
                if let Some(sum) = (*path).waits.get_mut(kind) {
                    *sum += ticks;
                }
            }
            None => (*path).unknown += ticks,
        }
    }
}

/// What was not known of a call by a path is known now.
pub fn known_after_all(number: u16, ticks: u64) {
    let Some(path) = sums_of(number) else { return };
    // SAFETY: as above.
    unsafe { (*path).unknown = (*path).unknown.saturating_sub(ticks) };
}

/// A path by its number in the process. Paths stay where they are, and so do their tables, which
/// are parts of the file. Nobody else writes the words of waits, because whoever tells waits is
/// alone; the others belong to the path's thread.
fn sums_of(number: u16) -> Option<*mut CallPath> {
    let (table, path) = (usize::from(number) / PATHS, usize::from(number) % PATHS);
    let paths = ALL.get(table)?.load(Acquire);
    // SAFETY: a table has so many paths.
    (!paths.is_null())
        .then(|| unsafe { (&raw mut (*(*paths).table).path).cast::<CallPath>().add(path) })
}

/// `MPI_Finalize` writes the profile before it has come to its end: the ticks in it so far.
pub fn finalizing(ticks: u64) {
    // SAFETY: the variables of this thread.
    let thread = unsafe { &mut *crate::arch::thread() };
    let symbol = StubSymbol::new(number::FINALIZE as u32, StubBinding::MPI);
    leave(symbol, thread, ticks, [0; 2]);
}

/// Those of [`COMPLETED_LATER`], a bit of each.
const COMPLETED_BITS: u64 = {
    let (mut bits, mut left) = (0, COMPLETED_LATER.as_slice());
    while let Some((number, rest)) = left.split_first() {
        assert!(*number < 64);
        bits |= 1 << *number;
        left = rest;
    }
    bits
};

/// Whether the bytes of a function are counted by the calls that complete its requests.
#[inline(always)]
pub const fn is_completed_later(function: u32) -> bool {
    function < 64 && COMPLETED_BITS >> function & 1 != 0
}

/// Bytes sent and received so far by the function of a call, and received by what it may complete.
#[inline(always)]
pub fn moved(block: &Block, function: u32) -> [u64; 2] {
    let own = block.rows.get(function as usize);
    let (sent, mut received) = own.map_or((0, 0), |row| (row.sent, row.received));
    const FIRST: u32 = number::WAIT as u32;
    const LAST: u32 = number::TESTSOME as u32;
    if (FIRST..=LAST).contains(&function) {
        for number in COMPLETED_LATER {
            if let Some(row) = block.rows.get(number) {
                received = received.wrapping_add(row.received);
            }
        }
    }
    [sent, received]
}

const _: () = assert!(FUNCTIONS <= u16::MAX as usize);

impl ThreadPaths {
    /// A call by a path begins.
    #[inline(always)]
    fn begin_call(&mut self, block: &mut Block, symbol: StubSymbol, path: u32) {
        self.current = path + 1;
        // The end of a call in C is told what it moved.
        if !symbol.binding().is_c() {
            self.before = moved(block, symbol.function());
        }
        block.now.path = path;
        // SAFETY: the table is the thread's own part of the file.
        let table = unsafe { &mut *self.table };
        table.inside = path + 1;
        if let Some(path) = table.path.get_mut(path as usize) {
            path.calls += 1;
        }
    }

    /// The number of the path of a call, if its trail is known.
    #[inline(always)]
    fn known_path<const ANY: bool>(&mut self, function: u32, caller: Caller) -> Option<u32> {
        let StackBounds { start, end } = self.stack;
        if !(start..end).contains(&caller.stack) {
            return None;
        }
        // SAFETY: the stack is mapped until this end.
        let stack = unsafe { Memory::new(caller.stack, end) };
        match ANY {
            true => self.trails.find(caller, stack, function),
            false => self.trails.find_last(caller, stack, function),
        }
    }

    /// The number of the path of a call.
    #[inline(always)]
    fn path(&mut self, function: u32, caller: Caller) -> u32 {
        let StackBounds { start, end } = self.stack;
        if !(start..end).contains(&caller.stack) {
            if self.interpreted.is_wanted() {
                return self.interpreted_path(function, caller);
            }
            if !self.new_stack(caller) {
                return 0;
            }
        }
        // SAFETY: the table is the thread's own part of the file.
        let depth = unsafe { (*self.table).depth } as usize;
        let Some(frames) = self.frames.get_mut(..depth) else { return 0 };
        // SAFETY: the stack is mapped until this end.
        let stack = unsafe { Memory::new(caller.stack, self.stack.end) };
        let found = walk(&mut self.rows, caller, stack, frames);
        let hash = path_hash(found.hash, function, found.end);
        let first = (hash >> 54) as usize;
        let path = match self.slots.get(first) {
            Some(slot) if slot.hash == hash => slot.path,
            _ => self.elsewhere(function, first, hash, found),
        };
        if path != 0 {
            self.trails.note(&mut self.rows, (caller, stack, depth), function, path);
        }
        path
    }

    #[inline(never)]
    fn elsewhere(&mut self, function: u32, first: usize, hash: u64, found: Walk) -> u32 {
        let Some(place) = self.place(first, hash) else { return 0 };
        match self.slots.get(place) {
            Some(slot) if slot.hash == hash => slot.path,
            _ => {
                let path = self.learn(function, found);
                // What has no room is looked for each time: the table must not fill up.
                if path != 0
                    && let Some(slot) = self.slots.get_mut(place)
                {
                    *slot = Slot { hash, path };
                }
                path
            }
        }
    }

    /// Where a hash is, or could be, in the table.
    #[inline(always)]
    fn place(&self, first: usize, hash: u64) -> Option<usize> {
        let mut places = (0..SLOTS).map(|i| (first + i) % SLOTS);
        places.find(|place| {
            self.slots.get(*place).is_some_and(|slot| slot.hash == hash || slot.hash == 0)
        })
    }

    /// The caller stands on a stack that is not known yet. False if it cannot be.
    #[cold]
    #[inline(never)]
    fn new_stack(&mut self, caller: Caller) -> bool {
        if self.stacks >= MOST_STACKS {
            return false;
        }
        self.stacks += 1;
        self.stack = StackBounds::around(caller.stack);
        if self.stack.end == 0 {
            return false;
        }
        self.trails.forget();
        // SAFETY: the stack is mapped until this end.
        let stack = unsafe { Memory::new(caller.stack, self.stack.end) };
        mark_base(&mut self.rows, caller, stack);
        true
    }

    /// A new path: its number, 0 if there is no room.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, function: u32, found: Walk) -> u32 {
        // SAFETY: the table is the thread's own part of the file.
        let table = unsafe { &mut *self.table };
        if table.count as usize >= PATHS {
            return 0;
        }
        let mut path = CallPath {
            function: function as u16 + 1,
            count: found.count as u16,
            end: path_end(found.end) as u16,
            ..CallPath::default()
        };
        for (place, address) in path.frames.iter_mut().zip(self.frames).take(found.count) {
            *place = in_module(table, address);
        }
        new_path(table, path)
    }
}

/// The hash by which a path is looked for. The same frames that are cut at one time and not at another
/// are two paths.
#[inline(always)]
fn path_hash(frames: u64, function: u32, end: WalkEnd) -> u64 {
    (frames ^ u64::from(function) << 8 ^ end as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

fn path_end(end: WalkEnd) -> PathEnd {
    match end {
        WalkEnd::Outermost => PathEnd::Outermost,
        WalkEnd::Deeper => PathEnd::Deeper,
        WalkEnd::Cut => PathEnd::Cut,
    }
}

/// Notes a path: its number, 0 if there is no room.
fn new_path(table: &mut PathTable, path: CallPath) -> u32 {
    let number = table.count;
    let Some(place) = table.path.get_mut(number as usize) else { return 0 };
    *place = path;
    // Behind what it is: whoever reads the file meanwhile must not see half of it.
    // SAFETY: a word of the thread's own.
    unsafe { AtomicU32::from_ptr(&raw mut table.count) }.store(number + 1, Release);
    number
}

/// An address as the file tells it: module and offset.
fn in_module(table: &mut PathTable, address: usize) -> u64 {
    // The address behind a call may be that of the next function, or the next module.
    let Some(found) = module_of(address.wrapping_sub(1)) else { return 0 };
    let offset = (address.wrapping_sub(found.base())) as u64 & ((1 << OFFSET_BITS) - 1);
    let same = |module: &PathModule| {
        module.base == found.base() as u64 && module.print == found.print.hash()
    };
    let known = table.module.iter().take(table.modules as usize).position(same);
    let number = match known {
        Some(number) => number + 1,
        None => new_module(table, &found),
    };
    (number as u64) << OFFSET_BITS | offset
}

/// Notes a module: its number plus 1; 0 if there is no room.
fn new_module(table: &mut PathTable, found: &LoadedModule) -> usize {
    let number = table.modules as usize;
    let Some(place) = table.module.get_mut(number).filter(|_| number < PATH_MODULES) else {
        return 0;
    };
    place.base = found.base() as u64;
    place.print = found.print.hash();
    place.build_id = found.build_id;
    place.build_id_length = found.build_id_length as u32;
    let mut own = [0; 512];
    let name = match found.name() {
        b"" => kernel::read_link(c"/proc/self/exe", &mut own),
        name => name,
    };
    keep(&mut place.name, name);
    // SAFETY: a word of the thread's own.
    unsafe { AtomicU32::from_ptr(&raw mut table.modules) }.store(number as u32 + 1, Release);
    number + 1
}
