//! Ranks that call no MPI. An MPI that does nothing outside of calls leaves the others without what they need from such a
//! rank, even if it began that in time: a collective or a large message that was started stands still meanwhile.

use crate::wait::Cause;

/// A rank called no MPI for some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Absence {
    /// When its last call before had ended
    pub from: u64,
    /// When it called MPI again; 0 if it was never away
    pub back: u64,
    /// By which call path; 0 if that is not told
    pub path: u16,
}

impl Absence {
    /// None.
    pub const NONE: Absence = Absence { from: 0, back: 0, path: 0 };

    /// Whether it explains why a call that ended then went on for so many ticks until the rank came back, though all had
    /// begun what the call needs: it lasted for most of these, and the call ended soon after, as by chance it ends at
    /// any time.
    pub const fn holds_up(&self, ended: u64, held: u64) -> bool {
        /// Soon is no more than one part of so many.
        const SOON: u64 = 4;
        held > 0
            && self.back <= ended
            && ended.saturating_sub(self.back) <= held / SOON
            && self.back.saturating_sub(self.from) >= held - held / SOON
    }
}

/// A rank that may have held up a call by its absence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbsentRank {
    /// Why the call waits for it
    pub cause: Cause,
    /// The rank of the world
    pub rank: u32,
    /// When it was away
    pub absence: Absence,
}

impl AbsentRank {
    /// No rank.
    pub const NOBODY: AbsentRank =
        AbsentRank { cause: Cause::LateSender, rank: 0, absence: Absence::NONE };
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;
    use crate::protocol::SentSize;
    use crate::wait::{AskedInVain, Awaited, Call, Figure, Findings, peer_with, told};

    #[test]
    fn an_absence_holds_a_call_up_that_ends_soon_after_it() {
        let call = Call { function: 1, counts: true, began: 100, ended: 200 };
        let held = |mut findings: Findings, from, back| {
            findings.looked = true;
            let absence = Absence { from, back, path: 9 };
            if findings.is_held_by(&absence) {
                findings.held_by(&AbsentRank { cause: Cause::LateSender, rank: 2, absence });
            }
            told(&findings)
        };
        let until = |ticks| vec![(Figure::Waited(Cause::LateSender), peer_with(2, 9), ticks)];
        let after = |from, back| held(Findings::of(call), from, back);
        assert_eq!(after(90, 190), until(90));
        assert_eq!(after(0, 200), until(100));
        assert_eq!(after(100, 180), until(80));
        // The call went on for long, or was over before.
        assert_eq!([after(90, 179), after(90, 201), after(50, 100)], [vec![], vec![], vec![]]);
        // Somebody was away for a part of the time alone.
        assert_eq!((after(125, 200), after(126, 200)), (until(100), vec![]));
        // Until then another rank had not come at all.
        let mut late = Findings::of(call);
        late.other_began(Cause::Collective, 1, 170);
        let only = vec![(Figure::Waited(Cause::Collective), 1, 70)];
        assert_eq!(held(late, 170, 195), until(95));
        for (from, back) in [(90, 170), (185, 195), (170, 190)] {
            assert_eq!(held(late, from, back), only, "{from} {back}");
        }
        // Nothing is said where something else may explain it.
        late.unsure = true;
        assert_eq!(held(late, 170, 195)[0], only[0]);
        // A receiver that came before is not what it waited for then.
        let mut sends = Findings::of(call);
        let sent = SentSize { bytes: 9, ..SentSize::NOTHING };
        sends.began((Awaited::Receive, sent), 1, 110, 0);
        assert_eq!(told(&sends), [(Figure::Waited(Cause::LateReceiver), 1, 10)]);
        assert_eq!(held(sends, 110, 195), until(95));
        // Calls that asked before belong to it.
        let asked = AskedInVain { ticks: 60, last: 95, ..AskedInVain::NONE };
        let asked = Findings { asked, ..Findings::of(Call { began: 99, ended: 100, ..call }) };
        assert_eq!(held(asked, 30, 90), until(55));
        assert_eq!(held(asked, 30, 80), []);
    }
}
