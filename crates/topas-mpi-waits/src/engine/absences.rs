//! Calls that go on because another rank calls no MPI.

use super::{Engine, Surroundings, WaitingCall};
use crate::absence::AbsentRank;
use crate::protocol::{EVIDENT, may_end_with};
use crate::wait::Cause;

impl Engine {
    /// All that a call needs of a rank had begun, and that rank may have held it up, because it called no MPI. Of several such
    /// ranks the one that came back last is kept until the end of the call.
    #[inline(never)]
    pub fn may_be_held_up_by(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &WaitingCall,
        (cause, rank): (Cause, u32),
    ) {
        let call = waiting.findings.call;
        let latest = if self.held == call { self.away.absence.back } else { 0 };
        for absence in around.absences(rank) {
            if absence.back > latest && waiting.findings.is_held_by(&absence) {
                (self.away, self.held) = (AbsentRank { cause, rank, absence }, call);
            }
        }
    }

    /// A call completed a message that goes without its receiver, as far as is known, which was sent by another call. Open MPI
    /// ends it when the receiver calls MPI, even if the receive was posted before.
    #[inline(always)]
    pub(super) fn may_stay_for(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &WaitingCall,
        rank: u32,
    ) {
        let call = waiting.findings.call;
        if call.counts
            && may_end_with(call.length(), EVIDENT * self.least)
            && around.sends_stay()
            && around.is_near(rank)
        {
            self.may_be_held_up_by(around, waiting, (Cause::LateReceiver, rank));
        }
    }

    /// The end of a call, if somebody may have held one up. What is told later of this call may explain it as well.
    #[cold]
    #[inline(never)]
    pub(super) fn held_up(&mut self, waiting: &mut WaitingCall) {
        let findings = &mut waiting.findings;
        let is_known = waiting.record == 0 && findings.far == 0 && self.held == findings.call;
        if is_known && findings.is_held_by(&self.away.absence) {
            findings.held_by(&self.away);
        }
        self.away = AbsentRank::NOBODY;
    }
}
