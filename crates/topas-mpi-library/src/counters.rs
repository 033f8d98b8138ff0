//! Hardware counters inside and outside MPI, for each thread that calls it.
//!
//! The kernel shows the counters of a thread on pages that it maps; their values are read by an
//! instruction, without a call of the kernel. Where that is not to be had, nothing is counted and
//! the profile says so. The group is pinned: it is on the counters as long as the thread runs, or
//! not at all, so no value is an estimate.

use core::sync::atomic::{
    AtomicI64, AtomicU16, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed},
    fence,
};

use topas_format::env::is_yes;
use topas_mpi_profile::layout::{Block, COUNTERS, flag};
use topas_node::sys as node;

use crate::mode::{self, paused};
use crate::{spool, sys};

/// What is counted, by the words of the log line: user mode alone. Type and configuration of the
/// event are those of `perf_event_open(2)`.
const EVENTS: [(&[u8], u32, u64); 3] = [
    (b"cyc", PERF_TYPE_HARDWARE, 0),
    (b"ins", PERF_TYPE_HARDWARE, 1),
    // PERF_COUNT_HW_CACHE_L1D, reads that miss
    (b"l1miss", PERF_TYPE_HW_CACHE, 1 << 16),
];

const PERF_TYPE_HARDWARE: u32 = 0;
const PERF_TYPE_HW_CACHE: u32 = 3;

/// The beginning of a page that the kernel maps for an event (`struct perf_event_mmap_page`).
#[repr(C)]
pub struct EventPage {
    versions: [u32; 2],
    lock: AtomicU32,
    index: AtomicU32,
    offset: AtomicI64,
    enabled: AtomicU64,
    running: AtomicU64,
    capabilities: AtomicU64,
    width: AtomicU16,
}

impl EventPage {
    /// The count, by the sequence that perf_event.h tells: what the kernel has counted so far and
    /// what stands in the register, which has fewer bits and a sign. `read` reads a register. None
    /// if user programs may not read it, or the event is not on a counter all the time.
    pub fn count(&self, read: impl Fn(u32) -> u64) -> Option<u64> {
        /// `cap_user_rdpmc`
        const MAY_READ: u64 = 1 << 2;
        /// The kernel changes the page when it takes the thread off the processor; a thread that
        /// is taken off each time makes no progress anyway.
        const TRIES: usize = 1000;
        for _ in 0..TRIES {
            let sequence = self.lock.load(Acquire);
            let index = self.index.load(Relaxed);
            let width = u32::from(self.width.load(Relaxed));
            let shared = self.running.load(Relaxed) < self.enabled.load(Relaxed);
            let may_read = self.capabilities.load(Relaxed) & MAY_READ != 0;
            if !may_read || index == 0 || shared || !(1..=64).contains(&width) {
                // Of a page that changes meanwhile nothing is known.
                fence(Acquire);
                if self.lock.load(Relaxed) == sequence {
                    return None;
                }
                continue;
            }
            let register = read(index - 1);
            let shift = 64 - width;
            let register = ((register << shift) as i64) >> shift;
            let count = self.offset.load(Relaxed).wrapping_add(register);
            fence(Acquire);
            if self.lock.load(Relaxed) == sequence {
                return Some(count as u64);
            }
        }
        None
    }
}

/// What a thread has of its counters, on a page of its own.
#[repr(C)]
pub struct ThreadCounters {
    /// The kernel's pages, of as many events as there are
    pages: [Option<&'static EventPage>; COUNTERS],
    /// What they showed last
    last: [u64; COUNTERS],
}

/// Reads a counter of this processor.
#[cfg(target_arch = "x86_64")]
fn register(index: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: the kernel says of the event's page that programs may.
    unsafe {
        core::arch::asm!(
            "rdpmc", in("ecx") index, out("eax") low, out("edx") high, options(nomem, nostack)
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

/// There are none that are read without the kernel's leave, which is not asked for.
#[cfg(not(target_arch = "x86_64"))]
fn register(_: u32) -> u64 {
    0
}

/// Opens the counters of this thread, if they are wanted.
pub fn open(counters: &mut *mut ThreadCounters) {
    if !sys::variable(c"TOPAS_MPI_COUNTERS").is_some_and(is_yes) {
        return;
    }
    let Some(header) = spool::header() else { return };
    match opened() {
        Some(own) => {
            *counters = own;
            mode::set(mode::COUNTERS, true);
            header.flags |= flag::COUNTERS;
            for (room, (name, ..)) in header.counters.iter_mut().zip(EVENTS) {
                room.iter_mut().zip(name).for_each(|(to, byte)| *to = *byte);
            }
        }
        None => header.flags |= flag::NO_COUNTERS,
    }
}

/// All counters of this thread, running; None if one of them cannot be read here.
fn opened() -> Option<*mut ThreadCounters> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let room: *mut ThreadCounters = sys::map_memory(size_of::<ThreadCounters>())?.cast();
    // SAFETY: memory that is zero: no pages.
    let own = unsafe { &mut *room };
    let mut leader = -1;
    let mut descriptors = [-1; COUNTERS];
    for ((page, fd), (_, kind, config)) in own.pages.iter_mut().zip(&mut descriptors).zip(EVENTS) {
        *fd = open_event(kind, config, leader);
        if *fd < 0 {
            break;
        }
        *page = sys::map_page(*fd).map(|page| {
            // SAFETY: a page of the kernel's, mapped for good.
            unsafe { &*page.cast::<EventPage>() }
        });
        if leader < 0 {
            leader = *fd;
        }
    }
    // The mapping keeps the event: no descriptor stays for the program to find.
    for fd in descriptors.into_iter().filter(|fd| *fd >= 0) {
        node::close(fd);
    }
    if own.read() { Some(room) } else { None }
}

/// An event of this thread: a descriptor, or minus an error number.
fn open_event(kind: u32, config: u64, leader: i32) -> i32 {
    const ATTR_SIZE: u64 = 64;
    // exclude_kernel, exclude_hv; pinned, of the first
    let flags = 1 << 5 | 1 << 6 | u64::from(leader < 0) << 2;
    let attr = [u64::from(kind) | ATTR_SIZE << 32, config, 0, 0, 0, flags, 0, 0];
    node::perf_event_open(&attr, leader)
}

impl ThreadCounters {
    /// Notes what all counters show. False if one of them cannot be read.
    fn read(&mut self) -> bool {
        let mut now = [0; COUNTERS];
        if !self.show(&mut now) {
            return false;
        }
        self.last = now;
        true
    }

    #[inline(always)]
    fn show(&self, now: &mut [u64; COUNTERS]) -> bool {
        self.pages.iter().zip(now).take(EVENTS.len()).all(|(page, now)| {
            page.and_then(|page| page.count(register)).map(|count| *now = count).is_some()
        })
    }

    /// What was counted since the last time, into sums if it is to count. False if that cannot be
    /// told.
    fn add(&mut self, sums: Option<&mut [u64; COUNTERS]>) -> bool {
        let mut now = [0; COUNTERS];
        if !self.show(&mut now) {
            return false;
        }
        if let Some(sums) = sums {
            for ((sum, now), last) in sums.iter_mut().zip(now).zip(self.last) {
                *sum = sum.wrapping_add(now.wrapping_sub(last));
            }
        }
        self.last = now;
        true
    }
}

/// An outermost call begins: what was counted since the last one belongs to the program.
#[cold]
#[inline(never)]
pub fn outside(counters: &mut *mut ThreadCounters, block: &mut Block) {
    // SAFETY: the thread's own.
    let own = unsafe { &mut **counters };
    if !own.add((!paused()).then_some(&mut block.outside)) {
        lost(counters);
    }
}

/// An outermost call ends: what was counted since it began belongs to MPI.
#[cold]
#[inline(never)]
pub fn inside(counters: &mut *mut ThreadCounters, block: &mut Block) {
    // SAFETY: the thread's own.
    let own = unsafe { &mut **counters };
    if !own.add((!paused()).then_some(&mut block.counted)) {
        lost(counters);
    }
}

/// The counters were taken away: sums are too small from now on, and the profile says so.
fn lost(counters: &mut *mut ThreadCounters) {
    *counters = core::ptr::null_mut();
    if let Some(header) = spool::header() {
        header.flags |= flag::NO_COUNTERS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn page(index: u32, offset: i64, width: u16) -> EventPage {
        EventPage {
            versions: [0; 2],
            lock: AtomicU32::new(2),
            index: AtomicU32::new(index),
            offset: AtomicI64::new(offset),
            enabled: AtomicU64::new(7),
            running: AtomicU64::new(7),
            capabilities: AtomicU64::new(1 << 2),
            width: AtomicU16::new(width),
        }
    }

    #[test]
    fn a_register_has_fewer_bits_and_a_sign() {
        for (offset, width, register, expected) in [
            (0, 48, 5, 5),
            (1000, 48, 5, 1005),
            // The kernel lets a counter begin below zero, so that it overflows in time.
            (1 << 47, 48, (1 << 48) - (1 << 47), 0),
            (1 << 47, 48, (1 << 48) - 1, (1 << 47) - 1),
            (100, 32, 0xffff_ffff, 99),
            (0, 64, u64::MAX, u64::MAX),
            // Bits above the width are none of the count.
            (0, 40, 0xff << 40 | 3, 3),
        ] {
            let page = page(3, offset, width);
            let count = page.count(|index| {
                assert_eq!(index, 2);
                register
            });
            assert_eq!(count, Some(expected), "{offset} {width} {register:x}");
        }
    }

    #[test]
    fn what_is_not_on_a_counter_has_no_count() {
        let never = |_| -> u64 { panic!("a register that must not be read") };
        assert_eq!(page(0, 0, 48).count(never), None);
        assert_eq!(page(1, 0, 0).count(never), None);
        let forbidden = page(1, 0, 48);
        forbidden.capabilities.store(1 << 3, Relaxed);
        assert_eq!(forbidden.count(never), None);
        let shared = page(1, 0, 48);
        shared.running.store(6, Relaxed);
        assert_eq!(shared.count(never), None);
    }

    #[test]
    fn a_page_that_changes_meanwhile_is_read_again() {
        let page = page(1, 10, 48);
        let reads = Cell::new(0);
        let count = page.count(|_| {
            reads.set(reads.get() + 1);
            if reads.get() == 1 {
                // The thread was taken off the processor: what it had is in the offset now.
                page.lock.store(4, Relaxed);
                page.offset.store(500, Relaxed);
                return 77;
            }
            1
        });
        assert_eq!((count, reads.get()), (Some(501), 2));
        let restless = |_| u64::from(page.lock.fetch_add(2, Relaxed));
        assert_eq!(page.count(restless), None);
    }

    proptest::proptest! {
        /// Whatever the kernel moves between offset and register, the count is their sum.
        #[test]
        fn a_count_is_what_was_counted(total in 0u64..1 << 60, kept in 0u64..1 << 60, width in 33u16..=64) {
            let total = total.max(kept);
            let since = (total - kept) % (1 << 32);
            let offset = (total - since) as i64;
            let page = page(1, offset, width);
            proptest::prop_assert_eq!(page.count(|_| since), Some(total));
        }
    }
}
