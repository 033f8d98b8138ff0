//! Locks of windows: who wants one, and who gives one back.

use topas_mpi_waits::engine::{EACH, WindowLock};

use super::{Returned, handle, with};
use crate::element::element;
use crate::flow::amount::CallWords;
use crate::flow::library::Library;
use crate::generated::number;

impl Returned<'_> {
    /// A lock was got. Of windows those are known that all ranks of the world share.
    #[inline(never)]
    pub fn locked(&mut self, function: usize) {
        let (library, call) = (self.library, self.call);
        let Some(shared) = library.abi.lock_shared else { return };
        let handle = handle(library, self.args, self.role.members);
        let Some(target) = target(library, function == number::WIN_LOCK, self.args, 1) else {
            return;
        };
        let is_exclusive = target != EACH && self.args[0] as i32 != shared;
        with(|engine, numbers, boards| {
            let (window, ranks) = (numbers.of(library, handle), numbers.size(handle));
            if window != 0 && ranks > 0 {
                let lock = WindowLock { window, target, is_exclusive };
                engine.locked(boards, lock, ranks, call);
            }
        });
    }
}

/// Whose memory a call unlocks; None if nobody's.
pub fn unlocked(library: &Library, function: usize, args: &CallWords) -> Option<u32> {
    target(library, function == number::WIN_UNLOCK, args, 0)
}

/// Whose memory a call is about: that of the rank in an argument, or of each.
fn target(library: &Library, is_one: bool, args: &CallWords, at: usize) -> Option<u32> {
    if !is_one {
        return Some(EACH);
    }
    let rank = *element(args, at) as i32;
    (rank != library.proc_null).then_some(rank.cast_unsigned())
}
