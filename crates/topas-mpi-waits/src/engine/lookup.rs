//! Looking at the stamp of another rank.

use crate::board::Seen;
use crate::far::FarQuestion;
use crate::protocol::SentSize;
use crate::wait::{Awaited, Findings, peer_with};

/// A stamp that is looked for.
#[derive(Clone, Copy)]
pub(super) struct Lookup {
    pub(super) key: u64,
    pub(super) number: u64,
    pub(super) awaited: Awaited,
    pub(super) peer: u32,
    pub(super) record: u16,
    /// Of a message its size, as far as that is known
    pub(super) sent: SentSize,
}

impl Lookup {
    /// Of no call yet.
    #[inline(always)]
    pub(super) const fn of(awaited: Awaited, peer: u32, key: u64, number: u64) -> Lookup {
        Lookup { key, number, awaited, peer, record: 0, sent: SentSize::NOTHING }
    }

    /// The same, to be asked at the end.
    pub(super) fn question(&self) -> FarQuestion {
        let Lookup { key, number, awaited, peer, sent, .. } = *self;
        let (number, goes) = (number as u32, sent.goes);
        FarQuestion { key, number, awaited, peer, goes, ..FarQuestion::default() }
    }
}

/// Adds what a stamp says. False if it is not there yet.
pub(super) fn conclude(findings: &mut Findings, lookup: &Lookup, seen: Option<Seen>) -> bool {
    let call = findings.call;
    match seen {
        Some(Seen::At(moment, path)) => {
            let awaited = (lookup.awaited, lookup.sent);
            findings.began(awaited, peer_with(lookup.peer, path), moment, 0);
        }
        Some(Seen::NotYet) => return false,
        // The message goes of itself, as far as is known.
        _ if lookup.sent.beside => {}
        Some(Seen::Before(moment)) if moment <= call.began && !findings.asked.is_any() => {
            findings.looked = true;
        }
        Some(Seen::Before(_) | Seen::Unsure) => findings.unsure = true,
        None => findings.elsewhere = true,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::{self, Call, Cause, Figure};

    #[test]
    fn a_call_that_is_over_before_the_receive_is_posted_did_not_wait_for_it() {
        let call = Call { function: 1, counts: true, began: 100, ended: 200 };
        let told_of = |awaited, goes, moment| {
            let mut findings = Findings::of(call);
            let sent = SentSize { bytes: 1, goes, beside: false };
            let lookup = Lookup { sent, ..Lookup::of(awaited, 3, 1, 0) };
            assert!(conclude(&mut findings, &lookup, Some(Seen::At(moment, 0))));
            wait::told(&findings)
        };
        let told = |awaited, moment| told_of(awaited, false, moment);
        let waited = |cause, ticks| [(Figure::Waited(cause), 3, ticks)];
        for goes in [true, false] {
            let told = |moment| told_of(Awaited::Receive, goes, moment);
            let late = waited(Cause::LateReceiver, 40);
            // A call that went on for long after that did not wait for what goes of itself.
            let expected = if goes { &[][..] } else { &late[..] };
            assert_eq!(told(140), expected, "{goes}");
            assert_eq!(told(160), waited(Cause::LateReceiver, 60));
            assert_eq!(told(200), waited(Cause::LateReceiver, 100));
            assert_eq!(told(201), []);
        }
        // Nor did one that received as well, unless it ended soon after and all that it received was there.
        let told_beside = |moment, received| {
            let mut findings = Findings::of(call);
            findings.other_began(Cause::LateSender, 4, received);
            let lookup = Lookup { sent: SentSize::BESIDE, ..Lookup::of(Awaited::Receive, 3, 1, 0) };
            assert!(conclude(&mut findings, &lookup, Some(Seen::At(moment, 0))));
            wait::told(&findings)
        };
        assert_eq!(told_beside(190, 100), waited(Cause::LateReceiver, 90));
        assert_eq!(told_beside(190, 106), [(Figure::Waited(Cause::LateSender), 4, 6)]);
        assert_eq!([170, 201].map(|moment| told_beside(moment, 100).len()), [1; 2]);
        assert_eq!(told_beside(170, 100), [(Figure::OnTime, 4, 0)]);
        assert_eq!(told(Awaited::Post, 150), waited(Cause::LateSender, 50));
        assert_eq!(told(Awaited::Post, 100), []);
        assert_eq!(told(Awaited::Post, 201), []);
        assert_eq!(told(Awaited::Completion, 150), waited(Cause::LateSender, 50));
        assert_eq!(told(Awaited::Completion, 90), [(Figure::OnTime, 3, 10)]);
        // A message that was received before it was sent is another.
        for awaited in [Awaited::Message, Awaited::Completion] {
            assert_eq!(told(awaited, 201), [(Figure::Unsure, 0, 100)]);
        }
    }
}
