//! Real events of the kernel in place of those a machine without a PMU lacks.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::call::PmuCall;
use crate::sys;

/// An event that the kernel counts exactly without hardware counters. What it counts is
/// up to the kernel: threads, children and times are real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelEvent {
    pub(super) kind: u32,
    pub(super) config: u64,
    pub(super) bp_type: u32,
    pub(super) config1: u64,
    pub(super) config2: u64,
}

/// `PERF_TYPE_SOFTWARE`, `PERF_TYPE_BREAKPOINT`
const SOFTWARE: u32 = 1;
const BREAKPOINT: u32 = 5;
/// `HW_BREAKPOINT_W`, `HW_BREAKPOINT_X`
const WRITE: u32 = 2;
const EXECUTE: u32 = 4;

impl KernelEvent {
    /// Page faults.
    pub const PAGE_FAULTS: KernelEvent =
        KernelEvent { kind: SOFTWARE, config: 2, bp_type: 0, config1: 0, config2: 0 };
    /// Time on a processor in ns.
    pub const TASK_CLOCK: KernelEvent =
        KernelEvent { kind: SOFTWARE, config: 1, bp_type: 0, config1: 0, config2: 0 };

    /// Stores into the 8 bytes from `address` on, a multiple of 8. A processor watches few
    /// addresses at a time, x86-64 four.
    pub const fn stores(address: u64) -> KernelEvent {
        KernelEvent { kind: BREAKPOINT, config: 0, bp_type: WRITE, config1: address, config2: 8 }
    }

    /// How often the instruction at `address` is executed.
    pub const fn executions(address: u64) -> KernelEvent {
        KernelEvent { kind: BREAKPOINT, config: 0, bp_type: EXECUTE, config1: address, config2: 8 }
    }

    /// The event that a plan's word names.
    pub(super) fn parse(text: &str, number: fn(&str) -> Option<u64>) -> Option<KernelEvent> {
        match text.split_once(' ') {
            None if text == "page-faults" => Some(KernelEvent::PAGE_FAULTS),
            None if text == "task-clock" => Some(KernelEvent::TASK_CLOCK),
            Some(("stores", address)) => number(address.trim()).map(KernelEvent::stores),
            Some(("executions", address)) => number(address.trim()).map(KernelEvent::executions),
            _ => None,
        }
    }
}

impl fmt::Display for KernelEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.config, self.bp_type) {
            (SOFTWARE, 1, _) => f.write_str("task-clock"),
            (SOFTWARE, ..) => f.write_str("page-faults"),
            (.., WRITE) => write!(f, "stores {:#x}", self.config1),
            _ => write!(f, "executions {:#x}", self.config1),
        }
    }
}

/// The real events opened so far: the kernel's id of each, and our number.
#[derive(Default)]
pub(super) struct KernelEvents(HashMap<u64, u64>);

impl KernelEvents {
    /// Our number of the real event behind descriptor `fd` of process `pid`.
    pub(super) fn find(&self, pid: u32, fd: i32) -> Option<u64> {
        if self.0.is_empty() {
            return None;
        }
        let copy = sys::copy_descriptor(pid, fd).ok()?;
        self.0.get(&sys::event_id(copy.as_raw_fd())?).copied()
    }

    /// Opens `event` for the task that `call` is about, as number `number`.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn open(
        &mut self,
        event: KernelEvent,
        call: &PmuCall,
        grouped: bool,
        number: u64,
    ) -> io::Result<File> {
        let leader = match grouped {
            true => Some(sys::copy_descriptor(call.pid, call.group_fd)?),
            false => None,
        };
        let task = if call.task == 0 { call.tid } else { call.task as u32 };
        let attr = call.attr.with_event(event);
        let leader = leader.as_ref().map(AsRawFd::as_raw_fd);
        let file = sys::open_event(&attr, task, call.cpu, leader)?;
        if let Some(id) = sys::event_id(file.as_raw_fd()) {
            self.0.insert(id, number);
        }
        Ok(file)
    }
}
