//! Epochs of windows: who posts a window, who accesses it, and who waits for whom.

use topas_mpi_waits::epochs::EpochEnd;
use topas_trace::{SupplementWriter, most_of_epoch};

use super::{Act, Returned, handle, named, with};
use crate::flow::amount::word;
use crate::flow::object;
use crate::mode;
use crate::trace;

/// What writes a supplement.
pub type WritesSupplement<'w> = &'w mut dyn FnMut(&mut SupplementWriter<'_>);

/// Writes what an event tells of the epoch at this window that its call has begun. `put` gets how many bytes that takes
/// at most, and what writes them. False if `put` says so, or if waits were given up.
pub fn log_epoch(
    window: u64,
    end: EpochEnd,
    put: &mut dyn FnMut(usize, WritesSupplement<'_>) -> bool,
) -> bool {
    with(|engine, _, boards| {
        let (number, ranks) = engine.epoch(window, end).unwrap_or_default();
        put(most_of_epoch(ranks), &mut |log| {
            // Whether all are there is known when all were asked for, and stands in front of them.
            let is_whole = engine.ranks_of_epoch(boards, window, end, &mut |_, _| {});
            log.epoch(number, is_whole);
            engine.ranks_of_epoch(boards, window, end, &mut |rank, number| log.rank(rank, number));
        })
    })
}

impl Returned<'_> {
    /// The window of this rank was posted, or an access to others has begun, which an MPI may let wait for
    /// the posts.
    #[inline(never)]
    pub fn epoch_begun(&mut self) {
        let (library, call) = (self.library, self.call);
        let window = handle(library, self.args, self.role.members);
        let is_post = self.role.act == Act::Posted;
        let end = if is_post { EpochEnd::Exposure } else { EpochEnd::Access };
        let number = with(|engine, numbers, _| {
            let number = numbers.of(library, window);
            engine.epoch_opened(number, end);
            number
        });
        let group = word(self.args, self.role.group) as u64 & library.handle_mask;
        let mut each = |rank| {
            with(|engine, _, boards| match rank {
                None => engine.epoch_is_elsewhere(number, end),
                Some(rank) if is_post => engine.posted(boards, number, rank, call.began),
                Some(rank) => engine.accessed(boards, number, rank),
            });
        };
        // Before the call that accesses them the ranks were asked for.
        let told = match (!is_post).then(named::all).flatten() {
            Some(ranks) => {
                ranks.for_each(|rank| each(Some(rank)));
                Some(())
            }
            None => object::each_of_group(library, group, &mut each),
        };
        with(|engine, _, boards| {
            if told.is_none() {
                engine.epoch_is_elsewhere(number, end);
            }
            if !is_post {
                engine.access_began(boards, number, call);
            }
        });
        self.log(number, end);
    }

    /// The event log tells of the epoch, if its window has a number.
    fn log(&self, window: u64, end: EpochEnd) {
        if mode::has(mode::LOG) && window != 0 {
            let number = with(|engine, _, _| engine.epoch(window, end).unwrap_or_default().0);
            trace::has_epoch(window, number, self.call.began);
        }
    }

    /// An epoch has ended: an access of this rank, unless that has failed, or all accesses to its window.
    #[inline(never)]
    pub fn epoch_ended(&mut self, failed: bool) {
        let (library, call, act) = (self.library, self.call, self.role.act);
        let window = handle(library, self.args, self.role.members);
        // SAFETY: an integer that a successful test has written.
        if act == Act::ExposureTested && unsafe { *(self.args[1] as *const i32) } == 0 {
            return;
        }
        let window = with(|_, numbers, _| numbers.of(library, window));
        if !failed {
            let is_access = act == Act::AccessCompleted;
            self.log(window, if is_access { EpochEnd::Access } else { EpochEnd::Exposure });
        }
        with(|engine, _, boards| {
            match act {
                Act::AccessCompleted if failed => engine.access_failed(boards, window),
                Act::AccessCompleted => engine.access_ended(boards, window, call),
                Act::ExposureWaited => engine.exposure_ended(boards, window, call),
                // Nobody has waited for that.
                _ => engine.exposure_is_over(window),
            }
        });
    }
}
