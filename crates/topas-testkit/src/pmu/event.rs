//! The events that are open, and the file each shows itself as.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

use super::attr::{Attr, Refusal, read_format};
use super::kernel::{KernelEvent, KernelEvents};
use super::plan::{PmuAnswer, PmuPlan, TIME_ENABLED, TIME_FRESH};
use super::{READS, call::PmuCall};
use crate::sys;

/// `PERF_TYPE_SOFTWARE`: needs no counter, so it fits into every group.
const SOFTWARE: u32 = 1;

/// One open event.
struct PmuEvent {
    id: u64,
    /// Id of the leader of its group, its own for a leader.
    leader: u64,
    /// Thread it counts; -1 for all of a CPU.
    task: i64,
    cpu: i32,
    inherit: bool,
    /// Whether it counts as soon as it is open, its leader too.
    counting: bool,
    kind: u32,
}

/// Device and inode of a file: what stays the same when a descriptor is duplicated,
/// moved or inherited.
type Identity = (u64, u64);

/// Every event opened so far. Closed ones stay: nobody says when the last copy of a
/// descriptor is closed.
#[derive(Default)]
pub(super) struct Events {
    by_file: HashMap<Identity, PmuEvent>,
    kernel: KernelEvents,
    last_id: u64,
}

impl Events {
    /// The event behind descriptor `fd` of thread `tid`, if it is one of ours.
    fn find(&self, tid: u32, fd: i32) -> Option<&PmuEvent> {
        let file = fs::metadata(format!("/proc/{tid}/fd/{fd}")).ok()?;
        self.by_file.get(&(file.dev(), file.ino()))
    }

    /// Id of the event behind descriptor `fd` of thread `tid`, if it is one of ours.
    pub(super) fn id(&self, tid: u32, fd: i32) -> Option<u64> {
        self.find(tid, fd).map(|event| event.id)
    }

    /// Number of the event, played or real, behind descriptor `fd` of a thread.
    pub(super) fn number(&self, pid: u32, tid: u32, fd: i32) -> Option<u64> {
        if fd < 0 {
            return None;
        }
        self.id(tid, fd).or_else(|| self.kernel.find(pid, fd))
    }

    /// Opens a real event in place of the one that `call` asks for: its number and file.
    ///
    /// # Errors
    /// The kernel's; those of a group whose leader is played are `EINVAL`.
    pub(super) fn open_other(
        &mut self,
        call: &PmuCall,
        event: KernelEvent,
        grouped: bool,
    ) -> io::Result<(u64, File)> {
        if grouped && self.id(call.tid, call.group_fd).is_some() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let number = self.last_id + 1;
        let file = self.kernel.open(event, call, grouped, number)?;
        self.last_id = number;
        Ok((number, file))
    }

    /// Why an event cannot follow the leader that `call.group_fd` is.
    fn group_refusal(&self, plan: &PmuPlan, call: &PmuCall, task: i64) -> Option<Refusal> {
        let Some(leader) = self.find(call.tid, call.group_fd) else {
            return Some((libc::EBADF, "group_fd is no event"));
        };
        let members = 1 + self
            .by_file
            .values()
            .filter(|event| event.leader == leader.id && event.kind != SOFTWARE)
            .count();
        let full = call.attr.kind != SOFTWARE
            && plan.counters().is_some_and(|counters| members > counters as usize);
        [
            (leader.leader != leader.id, "group_fd is not the leader of its group"),
            (leader.task != task || leader.cpu != call.cpu, "leader counts another task or CPU"),
            (leader.inherit != call.attr.inherit(), "inherit differs from the leader's"),
            (call.attr.leads_only(), "pinned or exclusive, and not the leader"),
            (full, "group is full"),
        ]
        .into_iter()
        .find(|(holds, _)| *holds)
        .map(|(_, why)| (libc::EINVAL, why))
    }

    /// Opens the event that `call` asks for: its id and its file.
    ///
    /// # Errors
    /// The outer error is that no file can be made; the inner one is the answer of a
    /// kernel to an event that cannot join its group.
    pub(super) fn open(
        &mut self,
        plan: &PmuPlan,
        call: &PmuCall,
        answer: PmuAnswer,
        grouped: bool,
    ) -> io::Result<Result<(u64, File), Refusal>> {
        let task = if call.task == 0 { i64::from(call.tid) } else { i64::from(call.task) };
        let mut counting = !call.attr.disabled() || call.attr.enable_on_exec();
        let mut leader = None;
        if grouped {
            if let Some(refusal) = self.group_refusal(plan, call, task) {
                return Ok(Err(refusal));
            }
            if let Some(event) = self.find(call.tid, call.group_fd) {
                counting &= event.counting;
                leader = Some(event.id);
            }
        }
        let id = self.last_id + 1;
        let file = sys::memory_file(&reads(plan, &call.attr, answer, counting, id))?;
        let identity = file.metadata().map(|file| (file.dev(), file.ino()))?;
        self.last_id = id;
        self.by_file.insert(
            identity,
            PmuEvent {
                id,
                leader: leader.unwrap_or(id),
                task,
                cpu: call.cpu,
                inherit: call.attr.inherit(),
                counting,
                kind: call.attr.kind,
            },
        );
        Ok(Ok((id, file)))
    }
}

/// The content of an event's file: what the first, second, ... read shows.
fn reads(plan: &PmuPlan, attr: &Attr, answer: PmuAnswer, counting: bool, id: u64) -> Vec<u8> {
    let PmuAnswer::Count { value, running_per_mille } = answer else {
        return Vec::new();
    };
    let share = |of: u64| (u128::from(of) * u128::from(running_per_mille) / 1000) as u64;
    let record = |fresh: bool| {
        let [value, enabled, running] = match (counting, fresh) {
            (false, _) => [0; 3],
            (true, true) => [0, TIME_FRESH, share(TIME_FRESH)],
            (true, false) => [share(value), TIME_ENABLED, share(TIME_ENABLED)],
        };
        let has = |bit| attr.read_format & bit != 0;
        [
            (true, value),
            (has(read_format::TOTAL_TIME_ENABLED), enabled),
            (has(read_format::TOTAL_TIME_RUNNING), running),
            (has(read_format::ID), id),
            (has(read_format::LOST), 0),
        ]
        .into_iter()
        .filter(|(shown, _)| *shown)
        .flat_map(|(_, word)| word.to_ne_bytes())
        .collect::<Vec<u8>>()
    };
    (0..READS).flat_map(|n| record(n < plan.fresh_reads())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(attr: &Attr, answer: PmuAnswer, counting: bool) -> Vec<u64> {
        reads(&PmuPlan::new().fresh(1), attr, answer, counting, 42)
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect()
    }

    #[test]
    fn a_read_shows_what_its_format_asks_for() {
        let half = PmuAnswer::Count { value: u64::MAX, running_per_mille: 500 };
        let attr = Attr { read_format: 7, ..Attr::default() };
        let shown = words(&attr, half, true);
        assert_eq!(shown.len(), 64 * 4);
        assert_eq!(shown[..4], [0, 1000, 500, 42]);
        assert_eq!(shown[4..8], [u64::MAX / 2, 2_000_000_000, 1_000_000_000, 42]);
        assert_eq!(words(&Attr::default(), half, true)[..2], [0, u64::MAX / 2]);
        assert_eq!(words(&attr, half, false)[4..8], [0, 0, 0, 42]);
        assert!(words(&attr, PmuAnswer::Unreadable, true).is_empty());
    }
}
