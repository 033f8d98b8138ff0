//! Times that follow one another, to be asked how much of them lies between two moments.

/// Times that follow one another.
#[derive(Debug)]
pub(super) struct Spans {
    /// Begin, end, and the time of all spans before
    spans: Vec<(u64, u64, u64)>,
}

impl Spans {
    /// Of begins and ends in any order.
    pub(super) fn of(times: impl Iterator<Item = (u64, u64)>) -> Spans {
        let mut times: Vec<(u64, u64)> = times.collect();
        times.sort_unstable();
        let (mut done, mut sum) = (0, 0);
        let mut spans = Vec::with_capacity(times.len());
        for (from, to) in times {
            // Where clocks disagree, waits may overlap: each moment counts once.
            let (from, to) = (from.max(done), to.max(done));
            spans.push((from, to, sum));
            (done, sum) = (to, sum + (to - from));
        }
        Spans { spans }
    }

    /// How much of the time between two moments lies within the spans.
    pub(super) fn between(&self, from: u64, to: u64) -> u64 {
        self.before(to).saturating_sub(self.before(from))
    }

    /// The part of each span that lies between two moments, with its number among the spans: the last one first.
    pub(super) fn parts(&self, from: u64, to: u64) -> impl Iterator<Item = (usize, u64)> {
        let end = self.spans.partition_point(|(began, ..)| *began < to);
        let spans = self.spans.get(..end).unwrap_or_default().iter().enumerate().rev();
        let spans = spans.take_while(move |(_, (_, ended, _))| *ended > from);
        spans.map(move |(number, (began, ended, _))| {
            (number, (*ended).min(to).saturating_sub((*began).max(from)))
        })
    }

    fn before(&self, moment: u64) -> u64 {
        let next = self.spans.partition_point(|(from, ..)| *from < moment);
        let last = next.checked_sub(1).and_then(|last| self.spans.get(last));
        last.map_or(0, |(from, to, sum)| sum + moment.min(*to) - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_before_a_moment_counts_once() {
        let spans = Spans::of([(30, 40), (10, 20), (35, 45)].into_iter());
        for (moment, before) in [(5, 0), (10, 0), (15, 5), (25, 10), (35, 15), (42, 22), (99, 25)] {
            assert_eq!(spans.before(moment), before, "{moment}");
        }
    }

    #[test]
    fn parts_of_spans_are_cut_at_both_ends() {
        let spans = Spans::of([(10, 20), (30, 40), (50, 60)].into_iter());
        let parts = |from, to| spans.parts(from, to).collect::<Vec<_>>();
        assert_eq!(parts(15, 55), [(2, 5), (1, 10), (0, 5)]);
        assert_eq!(parts(20, 30), []);
        assert_eq!(parts(12, 14), [(0, 2)]);
    }
}
