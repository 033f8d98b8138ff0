//! How clocks of hosts differ, and drift against each other.
//!
//! Clocks are compared once, at the end, by messages there and back. A message for which its receiver
//! waited takes as long in the beginning of a run as at its end: what differs by clocks of that
//! comparison is drift.

/// What messages between two hosts tell of their clocks. No message comes before it was sent, so the
/// fastest one of each direction bounds the difference, whether or not they belong together: where
/// ranks share processors, one that is fast both ways is rare.
#[derive(Clone, Copy, Debug, Default)]
pub struct Comparison {
    /// The least that messages of either direction took, by the clocks of both, in nanoseconds;
    /// None without a message
    fastest: Option<(i64, i64)>,
}

impl Comparison {
    /// A message to the other host took so long by the clocks of both, and its answer so long.
    pub fn add(&mut self, there: i64, back: i64) {
        let (least_there, least_back) = self.fastest.unwrap_or((there, back));
        self.fastest = Some((least_there.min(there), least_back.min(back)));
    }

    /// How far the other clock is ahead, in nanoseconds.
    pub fn ahead(&self) -> i64 {
        self.fastest.map_or(0, |(there, back)| there.wrapping_sub(back) / 2)
    }

    /// How far the truth may be from that, in nanoseconds.
    pub fn error(&self) -> u64 {
        self.fastest.map_or(u64::MAX, |(there, back)| there.wrapping_add(back).max(0) as u64 / 2)
    }
}

/// How many of the fastest messages of a half are kept: the fastest one alone may be slow by chance,
/// the more so where a rank hardly ever waits.
const KEPT: usize = 3;

/// A message for which its receiver waited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Message {
    /// What it took from the beginning of its send, in nanoseconds, by clocks compared at the end
    pub took: f64,
    /// How long before that comparison it came, in nanoseconds; 0 if there is no message
    pub before: f64,
}

/// The fastest messages of a half of a run, the fastest one first.
type Fastest = [Message; KEPT];

/// The fastest messages from a host to another one. Zeros are a value: no message.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Seen {
    early: Fastest,
    late: Fastest,
}

impl Seen {
    /// Notes a message of a run of which half was as long before the comparison of clocks.
    pub fn add(&mut self, message: Message, half: f64) {
        add(if message.before < half { &mut self.late } else { &mut self.early }, message);
    }

    /// Notes what another rank has seen.
    #[inline(never)]
    pub fn merge(&mut self, other: &Seen) {
        other.early.iter().for_each(|message| add(&mut self.early, *message));
        other.late.iter().for_each(|message| add(&mut self.late, *message));
    }

    /// The drift that the messages tell, in seconds per second; None if they tell none.
    fn slope(&self) -> Option<f64> {
        // By so much the fastest messages differ by chance, in nanoseconds; no clock is worse than
        // that.
        const CHANCE: f64 = 20_000.0;
        const WORST: f64 = 1e-4;
        let ((early, early_spread), (late, late_spread)) =
            (floor(&self.early)?, floor(&self.late)?);
        let (apart, differ) = (early.before - late.before, early.took - late.took);
        let chance = CHANCE + 2.0 * (early_spread + late_spread);
        let told = apart > 0.0 && differ.abs() >= chance && differ.abs() <= WORST * apart;
        told.then(|| differ / apart)
    }
}

// Not in the way of any call: small code is worth more than speed.
#[inline(never)]
fn add(fastest: &mut Fastest, message: Message) {
    let mut next = message;
    for place in fastest {
        if next.before <= 0.0 {
            return;
        }
        if place.before <= 0.0 || next.took < place.took {
            core::mem::swap(place, &mut next);
        }
    }
}

/// The fastest message, and by how much the others that are kept were slower; None if there are too
/// few to tell.
fn floor(fastest: &Fastest) -> Option<(Message, f64)> {
    let (first, last) = (fastest.first()?, fastest.last()?);
    (last.before > 0.0).then_some((*first, last.took - first.took))
}

/// Drifts of hosts against the first, in seconds per second: how much faster their clocks run.
///
/// `seen` has the messages of each pair of hosts, sender first. A host of which none tells has no
/// drift.
pub fn drifts(seen: &[Seen], drifts: &mut [f64]) {
    let count = drifts.len();
    let at = |from: usize, to: usize| seen.get(from * count + to).and_then(Seen::slope);
    // How much clocks of one host are ahead of those of another, from messages both ways.
    let ahead = |host: usize, of: usize| match (at(host, of), at(of, host)) {
        (Some(out), Some(back)) => Some((out - back) / 2.0),
        (out, back) => out.or(back.map(|back| -back)),
    };
    const UNKNOWN: f64 = f64::NAN;
    for (host, drift) in drifts.iter_mut().enumerate() {
        *drift = if host == 0 { 0.0 } else { UNKNOWN };
    }
    // By way of as few others as possible.
    for _ in 0..4 {
        for host in 0..count {
            if drifts.get(host).is_none_or(|drift| !drift.is_nan()) {
                continue;
            }
            let found = (0..count).find_map(|other| {
                let known = drifts.get(other).copied().filter(|drift| !drift.is_nan())?;
                Some(known + ahead(host, other)?)
            });
            if let (Some(found), Some(drift)) = (found, drifts.get_mut(host)) {
                *drift = found;
            }
        }
    }
    for drift in drifts {
        if drift.is_nan() {
            *drift = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const SECOND: f64 = 1e9;

    /// So many messages of a run of ten seconds, of which the fastest take 15 us, with a drift.
    fn seen(count: u32, drift: f64) -> Seen {
        let mut seen = Seen::default();
        for number in 0..count {
            let before = 10.0 * SECOND * f64::from(number + 1) / f64::from(count);
            let slow = 1_000.0 * f64::from(number * 7 % 5);
            let took = 15_000.0 + slow + drift * before;
            seen.add(Message { took, before }, 5.0 * SECOND);
        }
        seen
    }

    #[test]
    fn the_fastest_message_of_each_direction_bounds_the_difference() {
        let mut comparison = Comparison::default();
        assert_eq!((comparison.ahead(), comparison.error()), (0, u64::MAX));
        // The other clock is 1,000 ns ahead; a message takes 5 ns, and most wait for a processor.
        for (there, back) in [(5_000, 905), (5, 3_000), (400, 80), (7, 6), (900, 5)] {
            comparison.add(1_000 + there, back - 1_000);
            assert!(comparison.ahead().abs_diff(1_000) <= comparison.error());
        }
        assert_eq!((comparison.ahead(), comparison.error()), (1_000, 5));
    }

    #[test]
    fn drifts_follow_from_messages_in_either_direction() {
        // The clock of host 1 runs 20 ppm too fast; host 2 is heard of by way of host 1 alone.
        let no = Seen::default();
        let table =
            [no, seen(200, -2e-5), no, seen(200, 2.1e-5), no, seen(200, 1.5e-5), no, no, no];
        let mut found = [9.0; 3];
        drifts(&table, &mut found);
        assert_eq!(found[0], 0.0);
        assert!((found[1] - 2.05e-5).abs() < 1e-6, "{found:?}");
        assert!((found[2] - (2.05e-5 - 1.5e-5)).abs() < 1e-6, "{found:?}");
        drifts(&[no; 4], &mut found[..2]);
        assert_eq!(found[1], 0.0);
    }

    #[test]
    fn few_or_uneven_messages_tell_no_drift() {
        assert_eq!(seen(4, 2e-5).slope(), None);
        assert!(seen(60, 2e-5).slope().is_some());
        // A single one that is fast makes no floor.
        let mut uneven = seen(200, 0.0);
        uneven.add(Message { took: -200_000.0, before: SECOND }, 5.0 * SECOND);
        assert_eq!(uneven.slope(), None);
        // Clocks do not drift so much; a drift of less is lost in chance.
        assert_eq!(seen(200, 2e-4).slope(), None);
        assert_eq!(seen(200, 1e-6).slope(), None);
    }

    #[test]
    fn what_ranks_have_seen_is_what_one_would_have_seen() {
        let messages: Vec<Message> = (0..40u32)
            .map(|number| Message {
                took: f64::from(number * 29 % 41),
                before: f64::from(1 + number % 10),
            })
            .collect();
        let of = |messages: &[Message]| {
            let mut seen = Seen::default();
            messages.iter().for_each(|message| seen.add(*message, 5.5));
            seen
        };
        let mut merged = of(&messages[..17]);
        merged.merge(&of(&messages[17..]));
        let all = of(&messages);
        assert_eq!((merged.early, merged.late), (all.early, all.late));
        let mut sorted: Vec<f64> =
            messages.iter().filter(|of| of.before < 5.5).map(|of| of.took).collect();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(all.late.map(|message| message.took)[..], sorted[..KEPT]);
    }
}
