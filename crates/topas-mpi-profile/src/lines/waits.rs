//! Tokens of waits: `l=` by function, `b=` by the rank to blame, `bx=` by that of another world, `a=` by the rank for which a
//! program asked in vain, and their sums.

use topas_format::out::Out;

use super::{Lines, text};
use crate::digits::{decimal, part, seconds};
use crate::layout::{Outsider, WaitPeer, flag};
use crate::routine::name;
use crate::sums::{Sums, TickLength, WaitedSums};

impl Lines<'_> {
    /// Sums, if waits were told apart at all.
    pub(super) fn wait_facts(&mut self, sums: &Sums) {
        if sums.flags & flag::WAITS == 0 {
            return;
        }
        let all = sums.all_waits();
        self.time(b"late", all.late.nanoseconds);
        self.time(b"latercv", all.late_receiver.nanoseconds);
        self.time(b"coll", all.collective.nanoseconds);
        if all.unknown() > 0 {
            self.time(b"lateunk", all.unknown());
        }
    }

    /// By function.
    pub(super) fn waits(&mut self, sums: &Sums) {
        if sums.flags & flag::WAITS == 0 {
            return;
        }
        for (number, waits) in sums.waits.iter().enumerate() {
            if !waits.is_empty() {
                self.token(&mut |out| put(out.put(b"l=").put(name(number)), &waits.figures()));
            }
        }
    }

    /// By the rank of the world that is to blame.
    pub fn blamed(&mut self, rank: u32, peer: &WaitPeer, tick: &TickLength) {
        let figures = [&peer.late, &peer.late_receiver, &peer.collective];
        let figures = figures.map(|figure| WaitedSums::of(figure, tick));
        if figures.iter().any(|figure| figure.calls > 0) {
            self.token(&mut |out| put(out.put(b"b=").dec(rank.into()), &figures.each_ref()));
        }
    }

    /// Between calls that asked in vain for what a rank of the world had not begun.
    pub fn asked(&mut self, rank: u32, peer: &WaitPeer, tick: &TickLength) {
        let [between, slept] = [&peer.between, &peer.slept].map(|of| WaitedSums::of(of, tick));
        if between.calls > 0 {
            self.token(&mut |out| {
                put(out.put(b"a=").dec(rank.into()), &[&between]);
                seconds(out.byte(b':'), slept.nanoseconds);
            });
        }
    }

    /// By the rank of another world that is to blame.
    pub fn blamed_outside(&mut self, outsider: &Outsider, tick: &TickLength) {
        let WaitPeer { late, late_receiver, collective, .. } = &outsider.waits;
        let figures = [late, late_receiver, collective].map(|figure| WaitedSums::of(figure, tick));
        if figures.iter().any(|figure| figure.calls > 0) {
            self.token(&mut |out| {
                part(out.put(b"bx="), text(&outsider.id));
                out.put(if outsider.parent == 0 { b":c:" } else { b":p:" });
                put(out.dec(outsider.rank.into()), &figures.each_ref());
            });
        }
    }
}

fn put(out: &mut Out<'_>, figures: &[&WaitedSums]) {
    for WaitedSums { calls, nanoseconds } in figures {
        decimal(out.byte(b':'), *calls);
        seconds(out.byte(b':'), *nanoseconds);
    }
}
