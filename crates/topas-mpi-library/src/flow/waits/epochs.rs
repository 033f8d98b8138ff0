//! Epochs of windows: who posts a window, who accesses it, and who waits for whom.

use topas_mpi_waits::epochs::EpochEnd;

use super::{Act, Returned, handle, with};
use crate::flow::amount::word;
use crate::flow::object;

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
        let told = object::each_of_group(library, group, |rank| {
            with(|engine, _, boards| match rank {
                None => engine.epoch_is_elsewhere(number, end),
                Some(rank) if is_post => engine.posted(boards, number, rank, call.began),
                Some(rank) => engine.accessed(boards, number, rank),
            });
        });
        with(|engine, _, boards| {
            if told.is_none() {
                engine.epoch_is_elsewhere(number, end);
            }
            if !is_post {
                engine.access_began(boards, number, call);
            }
        });
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
        with(|engine, numbers, boards| {
            let window = numbers.of(library, window);
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
