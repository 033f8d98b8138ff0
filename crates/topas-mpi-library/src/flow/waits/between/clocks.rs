//! Clocks of hosts: compared with each other at the end, and by messages for the time before.

use topas_mpi_profile::facts::HostClock;
use topas_mpi_waits::clocks::{Comparison, Message, Seen, drifts};
use topas_mpi_waits::far::FarQuestion;
use topas_mpi_waits::wait::Awaited;

use super::hosts::Hosts;
use super::{Anchor, BEGAN, anchor, bytes_of, far, room};
use crate::ranks::Ranks;
use crate::sys;

use core::sync::atomic::Ordering::Relaxed;

/// How often a message goes there and back at least.
const TIMES: u32 = 16;
/// As long as the difference is not known so well, in nanoseconds, more are sent, for at most some
/// time: where ranks share processors most messages wait for one.
const GOOD: u64 = 10_000;
const PATIENCE: u64 = 200_000_000;
/// After so many that did not tell the difference much better, the network is no faster.
const IN_VAIN: u32 = 256;

/// Most hosts whose drifts are looked for. Clocks of more are taken as even: those of a center are
/// kept so by NTP.
const DRIFTING: usize = 32;

/// How clocks differ. Moments common to all ranks are nanoseconds of the first host, by clocks that
/// were compared at the end.
pub struct Clocks {
    began: Anchor,
    /// Nanoseconds in a tick
    rate: f64,
    /// A clock that a test makes differ: nanoseconds by which it is ahead, and its drift
    artificial: (i64, f64),
    /// How far the first host is ahead of this one, in nanoseconds
    ahead: i64,
    /// How far that may be from the truth, in nanoseconds
    error: u64,
    /// When clocks were compared
    end: i64,
    /// What each rank told, of which that of the first of each host counts
    told: &'static [Told],
    /// Drifts of hosts
    drifts: &'static [f64],
    own: u32,
}

/// What each rank tells all ranks: how its clock differs, which counts of the first rank of a host, and when it
/// came.
#[derive(Clone, Copy)]
#[repr(C)]
struct Told {
    ahead: i64,
    error: u64,
    end: i64,
    /// When the rank came, by the clock of its host
    came: i64,
}

/// The answer to a rank that compares its clock: moments common to all ranks.
#[derive(Clone, Copy)]
#[repr(C)]
struct Answer {
    /// How far they may be from the truth, in nanoseconds
    error: u64,
    asked: i64,
    answered: i64,
}

impl Clocks {
    /// All ranks compare clocks, and tell each other when they came.
    pub fn compare(ranks: &Ranks, hosts: &Hosts, came: u64) -> Option<Clocks> {
        let began = Anchor { ticks: BEGAN[0].load(Relaxed), nanoseconds: BEGAN[1].load(Relaxed) };
        let now = anchor();
        let ticks = now.ticks.wrapping_sub(began.ticks).max(1);
        let mut clocks = Clocks {
            began,
            rate: now.nanoseconds.wrapping_sub(began.nanoseconds) as f64 / ticks as f64,
            artificial: artificial(),
            ahead: 0,
            error: 0,
            end: 0,
            told: &[],
            drifts: &[],
            own: hosts.own,
        };
        if hosts.leads {
            clocks.lead(ranks, hosts)?;
        }
        let [told] = room::<Told>(1)? else { return None };
        let all = room::<Told>(ranks.size as usize)?;
        let (came, end) = (clocks.host(came), clocks.common_now());
        *told = Told { ahead: clocks.ahead, error: clocks.error, end, came };
        let at = all.as_mut_ptr().cast();
        // SAFETY: one, and as many as there are ranks, which stay for good.
        if !unsafe { ranks.all(core::ptr::from_ref(told).cast(), size_of::<Told>(), at, false) } {
            return None;
        }
        let leader = all.get(hosts.leader(hosts.own) as usize)?;
        (clocks.ahead, clocks.error) = (leader.ahead, leader.error);
        (clocks.end, clocks.told) = (all.first()?.end, all);
        Some(clocks)
    }

    /// The first rank of a host: compares its clock with that of the host whose number lacks the
    /// highest bit, then serves those whose number has one bit more.
    fn lead(&mut self, ranks: &Ranks, hosts: &Hosts) -> Option<()> {
        let own = hosts.own;
        let mut bit = 1;
        if own != 0 {
            bit = 1 << own.ilog2();
            self.ask(ranks, hosts.leader(own - bit))?;
            bit <<= 1;
        }
        while (own as usize + bit as usize) < hosts.count {
            self.serve(ranks, hosts.leader(own + bit))?;
            bit <<= 1;
        }
        Some(())
    }

    fn ask(&mut self, ranks: &Ranks, other: u32) -> Option<()> {
        let ([more], [answer]) = (room::<u8>(1)?, room::<Answer>(1)?) else { return None };
        let (mut comparison, mut times, began) = (Comparison::default(), 0, sys::monotonic());
        let (mut best, mut in_vain) = (u64::MAX, 0);
        loop {
            let late = sys::monotonic().wrapping_sub(began) > PATIENCE || in_vain >= IN_VAIN;
            *more = u8::from(times < TIMES || comparison.error() > GOOD && !late);
            let sent = self.host_now();
            give(ranks, other, core::slice::from_ref(more))?;
            if *more == 0 {
                self.ahead = comparison.ahead();
                self.error = answer.error.saturating_add(comparison.error());
                return Some(());
            }
            take(ranks, other, bytes_of(core::slice::from_mut(answer)))?;
            let received = self.host_now();
            times += 1;
            in_vain += 1;
            comparison.add(answer.asked.wrapping_sub(sent), received.wrapping_sub(answer.answered));
            if comparison.error() < best - best / 8 {
                (best, in_vain) = (comparison.error(), 0);
            }
        }
    }

    fn serve(&self, ranks: &Ranks, other: u32) -> Option<()> {
        let ([more], [answer]) = (room::<u8>(1)?, room::<Answer>(1)?) else { return None };
        loop {
            take(ranks, other, core::slice::from_mut(more))?;
            if *more == 0 {
                return Some(());
            }
            let asked = self.common_now();
            *answer = Answer { error: self.error, asked, answered: self.common_now() };
            give(ranks, other, bytes_of(core::slice::from_mut(answer)))?;
        }
    }

    /// Nanoseconds of this host's clock at a tick.
    fn host(&self, ticks: u64) -> i64 {
        let since = ticks.wrapping_sub(self.began.ticks) as i64 as f64 * self.rate;
        self.altered(self.began.nanoseconds as i64 + since as i64)
    }

    fn altered(&self, nanoseconds: i64) -> i64 {
        let (ahead, drift) = self.artificial;
        nanoseconds + ahead + (nanoseconds as f64 * drift) as i64
    }

    fn host_now(&self) -> i64 {
        self.altered(sys::monotonic() as i64)
    }

    fn common_now(&self) -> i64 {
        self.host_now() + self.ahead
    }

    /// The common moment of a tick of this rank.
    pub fn common(&self, ticks: u64) -> i64 {
        self.host(ticks) + self.ahead
    }

    /// How the clock of this host differs from that of the first one, without what a test makes of both.
    pub fn of_host(&self) -> HostClock {
        let now = sys::monotonic() as i64;
        let ahead = self.altered(now) + self.ahead - now;
        let drift = (self.drift(self.own) - self.artificial.1) * 1e9;
        HostClock { ahead, error: self.error, drift: drift as i64 }
    }

    fn drift(&self, host: u32) -> f64 {
        self.drifts.get(host as usize).copied().unwrap_or(0.0)
    }

    /// How far a moment of a host may be from the truth, in ticks of this rank.
    pub fn error(&self, hosts: &Hosts, host: u32) -> u64 {
        let of = self.told.get(hosts.leader(host) as usize).map_or(0, |told| told.error);
        (self.error.saturating_add(of) as f64 / self.rate) as u64
    }

    /// The tick of this rank at a moment that a rank of a host has told.
    pub fn own(&self, moment: u64, host: u32) -> u64 {
        let before = self.end.wrapping_sub(moment as i64) as f64;
        let apart = (self.drift(host) - self.drift(self.own)) * before;
        // Where the moment lies in this rank's own time, from a tick that is known well: the
        // clocks of both may be as far from each other as they like.
        let since = moment as i64 + apart as i64 - self.ahead - self.host(self.began.ticks);
        let ticks = since as f64 / (self.rate * (1.0 + self.artificial.1));
        self.began.ticks.wrapping_add(ticks as i64 as u64)
    }

    /// The tick of this rank at the moment when a rank of another host came.
    pub fn arrival(&self, hosts: &Hosts, rank: u32) -> Option<u64> {
        let host = hosts.of(rank);
        let (told, leader) = (self.told.get(rank as usize)?, hosts.leader(host));
        let ahead = self.told.get(leader as usize)?.ahead;
        Some(self.own(told.came.wrapping_add(ahead) as u64, host))
    }

    /// All ranks find out how clocks have drifted.
    pub fn find_drifts(&mut self, ranks: &Ranks, hosts: &Hosts) -> Option<()> {
        if hosts.count > DRIFTING {
            return Some(());
        }
        let count = hosts.count;
        let seen = room::<Seen>(count * count)?;
        let other = room::<Seen>(seen.len())?;
        self.look_at_messages(hosts, seen);
        // To the first rank, and from there to all, as sums go.
        let mut bit = 1;
        while bit < ranks.size && ranks.rank & bit == 0 {
            if ranks.rank + bit < ranks.size {
                take(ranks, ranks.rank + bit, bytes_of(other))?;
                seen.iter_mut().zip(other.iter()).for_each(|(to, from)| to.merge(from));
            }
            bit <<= 1;
        }
        if ranks.rank != 0 {
            let from = ranks.rank - bit;
            give(ranks, from, bytes_of(seen))?;
            take(ranks, from, bytes_of(seen))?;
        }
        while bit > 1 {
            bit >>= 1;
            if ranks.rank + bit < ranks.size {
                give(ranks, ranks.rank + bit, bytes_of(seen))?;
            }
        }
        let found = room::<f64>(count)?;
        drifts(seen, found);
        self.drifts = found;
        Some(())
    }

    /// Notes the fastest messages from other hosts for which this rank waited.
    fn look_at_messages(&self, hosts: &Hosts, seen: &mut [Seen]) {
        let Some(questions) = far::questions() else { return };
        let half = self.end.wrapping_sub(self.common(self.began.ticks)) as f64 / 2.0;
        for question in questions.all() {
            let FarQuestion { moment, awaited, peer, answered, .. } = *question;
            let (Some(call), from) = (questions.call(question), hosts.of(peer)) else { continue };
            let is_arrival =
                matches!(awaited, Awaited::Message | Awaited::Arrival | Awaited::Neighbor);
            if !answered || !is_arrival || from == self.own {
                continue;
            }
            let ended = self.common(call.call.ended);
            // The rank waited when the other began.
            if (moment as i64) <= self.common(call.call.began) {
                continue;
            }
            let (took, before) = (ended - moment as i64, (self.end - ended) as f64);
            let pair = from as usize * hosts.count + self.own as usize;
            if let Some(seen) = seen.get_mut(pair) {
                seen.add(Message { took: took as f64, before }, half);
            }
        }
    }
}

/// Bytes of a message, few enough for any MPI to send them without an answer.
const PIECE: usize = 4096;

/// Sends what stays for good.
fn give(ranks: &Ranks, to: u32, bytes: &[u8]) -> Option<()> {
    for piece in bytes.chunks(PIECE) {
        // SAFETY: by the caller.
        if !unsafe { ranks.swap(Some((to, piece)), None) } {
            return None;
        }
    }
    Some(())
}

/// Receives into what stays for good.
fn take(ranks: &Ranks, from: u32, bytes: &mut [u8]) -> Option<()> {
    for piece in bytes.chunks_mut(PIECE) {
        // SAFETY: by the caller.
        if !unsafe { ranks.swap(None, Some((from, piece))) } {
            return None;
        }
    }
    Some(())
}

/// A clock that a test makes differ from that of other ranks: `TOPAS_TEST_CLOCK=SECONDS:PPM`.
fn artificial() -> (i64, f64) {
    let Some(text) = sys::variable(c"TOPAS_TEST_CLOCK") else { return (0, 0.0) };
    let number = |text: &[u8]| {
        text.iter().fold(0i64, |number, digit| {
            number.wrapping_mul(10).wrapping_add(i64::from(digit.wrapping_sub(b'0')))
        })
    };
    let mut parts = text.splitn(2, |byte| *byte == b':').map(number);
    let seconds = parts.next().unwrap_or(0);
    (seconds.wrapping_mul(1_000_000_000), parts.next().unwrap_or(0) as f64 * 1e-6)
}
