//! The mapped file: where it is, and who gets which part of it.

use core::mem::size_of;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_mpi_profile::layout::{
    BLOCKS_AT, Block, Bridges, COMMUNICATORS_AT, Communicator, FUNCTIONS, Header, MAGIC,
    PATH_FUNCTIONS, Partner, Partners, PathFunction, PathTable, Peer, TABLE, VERSION, WaitPeer,
    Waits, flag,
};

use topas_format::out::Out;
use topas_node::sys as kernel;

use crate::{life, sys};

/// Room that is reserved for a process: addresses, not memory.
const SIZE: usize = 1 << 30;

/// Room if the file cannot be had.
const SIZE_OF_MEMORY: usize = 64 << 20;

static BASE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static USED: AtomicU64 = AtomicU64::new(0);
static END: AtomicU64 = AtomicU64::new(0);
/// There is no room left.
static FULL: AtomicBool = AtomicBool::new(false);

/// Makes the file, in the directory that the site names if the user names no other, and fills in
/// what is known before MPI is. None if there is no memory either.
pub fn begin(site: &[u8]) -> Option<&'static mut Header> {
    let (base, size) = map(site)?;
    // SAFETY: a new mapping, zeroed, large enough and aligned to pages.
    let header = unsafe { &mut *base.cast::<Header>() };
    header.version = VERSION;
    header.functions = FUNCTIONS as u32;
    header.table = TABLE;
    header.uid = kernel::uid();
    header.pid = kernel::pid();
    header.used = BLOCKS_AT as u64;
    header.size = size as u64;
    END.store(size as u64, Relaxed);
    USED.store(BLOCKS_AT as u64, Relaxed);
    BASE.store(base, Release);
    // Last: whoever reads the file meanwhile sees by it that all is there.
    header.magic = MAGIC;
    // SAFETY: only the thread that begins the process is here.
    if unsafe { (*place_of_path())[0] } != 0 {
        life::begin(header);
    }
    Some(header)
}

/// Directories in which the file may lie, after the user's own: one that the site made for it, and
/// what every node has. Both are in memory.
const DIRECTORIES: [&[u8]; 2] = [b"/run/topas/mpi", b"/dev/shm"];

/// Path of the file; empty if there is none.
static mut PATH: [u8; 512] = [0; 512];

/// Where it is.
fn place_of_path() -> *mut [u8; 512] {
    &raw mut PATH
}

/// Maps a file, or memory if none can be had: its address and size.
fn map(site: &[u8]) -> Option<(*mut u8, usize)> {
    // A user's limit of addresses is meant for the program.
    let addresses = sys::limit(sys::LIMIT_OF_ADDRESSES) / 64;
    // A file that would become larger than allowed is a signal, SIGXFSZ.
    let size = addresses.min(sys::limit(sys::LIMIT_OF_FILES)).min(SIZE as u64) & !4095;
    // By its whole path: the program may go elsewhere.
    let own = sys::variable(c"TOPAS_MPI_SPOOL").filter(|dir| dir.first() == Some(&b'/'));
    let site = Some(site).filter(|dir| !dir.is_empty());
    for dir in own.into_iter().chain(site).chain(DIRECTORIES) {
        // SAFETY: only the thread that begins the process is here.
        let path = unsafe { &mut *place_of_path() };
        if size < LEAST || !compose(path, dir) {
            continue;
        }
        if let Some(base) = sys::map_new_file(path, size as usize, LEAST as usize) {
            // The first block is there already.
            return Some((base, size as usize));
        }
        path[0] = 0;
    }
    let size = addresses.min(SIZE_OF_MEMORY as u64).max(LEAST) as usize;
    sys::map_memory(size).map(|base| (base, size))
}

/// What is of use at all: room for one thread.
const LEAST: u64 = (BLOCKS_AT + size_of::<Block>()).next_multiple_of(4096) as u64;

/// In a child process: what it writes is nobody's, and the file not its own.
pub fn forsake() {
    let base = BASE.load(Relaxed);
    // SAFETY: a new process has one thread.
    unsafe { (*place_of_path())[0] = 0 };
    if base.is_null() || !sys::replace_by_memory(base, END.load(Relaxed) as usize) {
        BASE.store(core::ptr::null_mut(), Relaxed);
    }
}

/// Writes the path of the file, `DIR/topas-mpi.UID.PID.NANOSECONDS`, with its NUL. The last part
/// tells processes of one number in two containers apart. False if there is no room.
fn compose(path: &mut [u8], dir: &[u8]) -> bool {
    let mut out = Out::new(path);
    out.put(dir).put(b"/topas-mpi.").dec(kernel::uid().into()).byte(b'.');
    out.dec(kernel::pid().into()).byte(b'.').dec(sys::clock(1)).byte(0);
    !out.is_cut()
}

/// Removes the file: all that it told is told elsewhere.
pub fn remove() {
    // SAFETY: written once, before the process began to measure.
    let path = unsafe { &*place_of_path() };
    if let Some(header) = header() {
        life::end(header);
        life::leave(header);
    }
    if path[0] != 0 {
        sys::remove(path);
    }
}

/// Path of the file, without its NUL; None if there is none.
pub fn path() -> Option<&'static [u8]> {
    // SAFETY: written once, before the process began to measure.
    let path = unsafe { &*place_of_path() };
    let end = path.iter().position(|byte| *byte == 0)?;
    path.get(..end).filter(|path| !path.is_empty())
}

/// What is known of the process.
pub fn header() -> Option<&'static mut Header> {
    let base = BASE.load(Acquire);
    // SAFETY: mapped for good. What several threads write are single words.
    (!base.is_null()).then(|| unsafe { &mut *base.cast::<Header>() })
}

/// The table of communicators.
pub fn communicators() -> Option<&'static mut [Communicator]> {
    let base = BASE.load(Acquire);
    if base.is_null() {
        return None;
    }
    // SAFETY: this part of the file is theirs.
    Some(unsafe {
        core::slice::from_raw_parts_mut(
            base.add(COMMUNICATORS_AT).cast(),
            topas_mpi_profile::layout::COMMUNICATORS,
        )
    })
}

/// A part of the file of this many bytes: its offset, 0 if there is no room.
pub fn reserve(bytes: usize) -> u64 {
    let bytes = bytes.next_multiple_of(64);
    if FULL.load(Relaxed) {
        return 0;
    }
    // Not given back if it fails: another thread may have the next part by then.
    let at = USED.fetch_add(bytes as u64, Relaxed);
    let end = at + bytes as u64;
    // SAFETY: written once, before the process began to measure.
    let path = unsafe { &*place_of_path() };
    let there = path[0] == 0 || end <= LEAST || sys::allocate(path, at, bytes);
    if end > END.load(Relaxed) || !there {
        FULL.store(true, Relaxed);
        return 0;
    }
    if let Some(header) = header() {
        // SAFETY: a word of the header, which other threads change, too.
        unsafe { AtomicU64::from_ptr(&raw mut header.used) }.fetch_max(end, Relaxed);
    }
    at
}

/// A part of the file of which only the first bytes are there; [`make`] finds memory for others. Its
/// offset, and its length, which is shorter than was asked for where a large part of the file would
/// be needed. None if there is no room.
pub fn reserve_sparse(first: usize, bytes: usize) -> Option<(u64, usize)> {
    let end = END.load(Relaxed) as usize;
    let bytes = bytes.min(end / 4).max(first).next_multiple_of(4096);
    let mut used = USED.load(Relaxed);
    loop {
        let at = used.next_multiple_of(4096);
        let behind = at + bytes as u64;
        // Half of the file is for the counters of threads.
        if behind > end as u64 / 2 || FULL.load(Relaxed) {
            return None;
        }
        match USED.compare_exchange_weak(used, behind, Relaxed, Relaxed) {
            Ok(_) => {
                if !make(at, first) {
                    return None;
                }
                if let Some(header) = header() {
                    // SAFETY: a word of the header, which other threads change, too.
                    unsafe { AtomicU64::from_ptr(&raw mut header.used) }.fetch_max(behind, Relaxed);
                }
                return Some((at, bytes));
            }
            Err(now) => used = now,
        }
    }
}

/// Finds memory for bytes of a part that was reserved. False if there is none.
pub fn make(at: u64, bytes: usize) -> bool {
    // SAFETY: written once, before the process began to measure.
    let path = unsafe { &*place_of_path() };
    path[0] == 0 || sys::allocate(path, at, bytes)
}

/// The address of a part of the file.
pub fn at<T>(offset: u64) -> *mut T {
    // SAFETY: offsets are those that were reserved.
    unsafe { BASE.load(Acquire).add(offset as usize).cast() }
}

/// A block for a new thread, that of one that has ended if there is one; null if there is no room.
pub fn new_block() -> *mut Block {
    let left = blocks().map(core::ptr::from_ref).find(|block| take_over(block.cast_mut()));
    if let Some(block) = left {
        return block.cast_mut();
    }
    let offset = reserve(size_of::<Block>());
    let Some(header) = header() else { return core::ptr::null_mut() };
    if offset == 0 {
        header.flags |= flag::THREADS_LOST;
        return core::ptr::null_mut();
    }
    let block: *mut Block = at(offset);
    // SAFETY: a part of the file that was just reserved, zeroed.
    unsafe { (*block).tid = sys::tid() };
    // Its place in the list: in front of all others.
    // SAFETY: a word of the header, which other threads change, too.
    let first = unsafe { AtomicU64::from_ptr(&raw mut header.first_block) };
    let mut next = first.load(Relaxed);
    loop {
        // SAFETY: as above.
        unsafe { (*block).next = next };
        match first.compare_exchange_weak(next, offset, Release, Relaxed) {
            Ok(_) => break,
            Err(now) => next = now,
        }
    }
    // SAFETY: a word of the header, which other threads change, too.
    unsafe { AtomicU32::from_ptr(&raw mut header.blocks) }.fetch_add(1, Relaxed);
    block
}

/// Makes a block the calling thread's if its own has ended. What stands there stays: sums are
/// those of the process.
fn take_over(block: *mut Block) -> bool {
    // SAFETY: blocks are mapped for good; other threads may want it, too.
    let owner = unsafe { AtomicU32::from_ptr(&raw mut (*block).tid) };
    let (tid, own) = (owner.load(Relaxed), sys::tid());
    // A number may have come back to this thread.
    if tid != own && !sys::has_ended(tid) {
        return false;
    }
    let taken = owner.compare_exchange(tid, own, Acquire, Relaxed).is_ok();
    if taken {
        // SAFETY: it is this thread's now.
        unsafe { (*block).now.inside = 0 };
    }
    taken
}

/// What a thread counted for each peer, all others last; None if it did not.
pub fn peers(header: &Header, block: &Block) -> Option<&'static [Peer]> {
    // SAFETY: this part of the file is that of this thread, and of this length.
    (block.peers != 0).then(|| unsafe {
        core::slice::from_raw_parts(at::<Peer>(block.peers), header.ranks as usize + 1)
    })
}

/// The call paths of a thread; None if it does not count them.
pub fn paths(block: &Block) -> Option<&'static PathTable> {
    // SAFETY: this part of the file is that of this thread, and of this type.
    (block.paths != 0).then(|| unsafe { &*at::<PathTable>(block.paths) })
}

/// The functions of Python that paths of a thread come by.
pub fn path_functions(table: &PathTable) -> &'static [PathFunction] {
    if cfg!(topas_mpi_wrap) || table.functions == 0 {
        return &[];
    }
    // SAFETY: this part of the file is that of this thread, and of this type.
    let all = unsafe { &*at::<[PathFunction; PATH_FUNCTIONS]>(table.functions) };
    all.get(..table.function_count as usize).unwrap_or_default()
}

/// Why the rank waited; None if waits are not told apart.
pub fn waits() -> Option<&'static Waits> {
    let offset = header()?.waits;
    // SAFETY: this part of the file is theirs.
    (offset != 0).then(|| unsafe { &*at::<Waits>(offset) })
}

/// For which ranks it waited; None if there is no room for that.
pub fn wait_peers(header: &Header, waits: &Waits) -> Option<&'static [WaitPeer]> {
    // SAFETY: this part of the file is theirs, and of this length.
    (waits.peers != 0).then(|| unsafe {
        core::slice::from_raw_parts(at::<WaitPeer>(waits.peers), header.ranks as usize)
    })
}

/// What it shares with other worlds; None if nothing.
pub fn bridges() -> Option<&'static Bridges> {
    let offset = waits()?.bridges;
    // SAFETY: this part of the file is theirs.
    (offset != 0).then(|| unsafe { &*at::<Bridges>(offset) })
}

/// Whom call paths waited for; None if that was not told apart.
pub fn partners() -> Option<&'static [Partner]> {
    let offset = waits()?.partners;
    // SAFETY: this part of the file is theirs.
    let table = (offset != 0).then(|| unsafe { &*at::<Partners>(offset) })?;
    table.partner.get(..table.count as usize)
}

/// All blocks.
pub fn blocks() -> impl Iterator<Item = &'static Block> + Clone {
    let mut next = header().map_or(0, |header| header.first_block);
    core::iter::from_fn(move || {
        if next == 0 {
            return None;
        }
        // SAFETY: blocks are mapped for good.
        let block: &Block = unsafe { &*at::<Block>(next) };
        next = block.next;
        Some(block)
    })
}
