//! Calls that ask whether requests are complete or a message is there: `Test`, `Iprobe` and their likes.

use topas_mpi_waits::wait::Call;

use super::role::Act;
use super::{Returned, with};

/// A call asked in vain for the requests that were posted with these numbers.
#[inline(never)]
pub fn asked_in_vain(call: &Call, posts: impl Iterator<Item = u32>) {
    if !call.counts {
        return;
    }
    with(|engine, _, _| {
        let mark = engine.asked_in_vain(call);
        posts.filter(|post| *post != 0).for_each(|post| engine.asked_for(post, mark));
    });
}

impl Returned<'_> {
    /// A call asked for a message, and found one or not.
    pub fn asked_for_message(&mut self) {
        let call = self.call;
        // SAFETY: an integer that the call has written: the flag of `Iprobe` and of `Improbe`.
        if unsafe { *(self.args[3] as *const i32) } == 0 {
            return asked_in_vain(&call, core::iter::empty());
        }
        let is_taken = self.role.act == Act::MatchedIf;
        let Some(mut waiting) = with(|engine, _, _| Some(engine.begin(call))) else { return };
        // A probe that finds its message at once never waits.
        let has_asked = with(|engine, _, _| engine.found_message(&mut waiting));
        if !is_taken && !has_asked {
            return;
        }
        let Some(from) = self.whose() else { return };
        let (doer, large) = (self.doer, self.receives_much());
        with(|engine, _, boards| {
            if is_taken {
                engine.received(boards, &mut waiting, &from, large, &doer);
            } else {
                engine.probed(boards, &mut waiting, &from);
            }
            engine.end(boards, waiting);
        });
        if is_taken {
            self.know_receive(&from);
        }
    }
}
