//! What a site has to give.

use topas_format::capacity::CapacityLine;
use topas_format::civil::Date;

use crate::share::PeTime;

/// How many PEs there are, of partitions and of the whole machine, from which days on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// By day; of a day the last one counts
    lines: Vec<CapacityFrom>,
}

/// PEs from a day on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CapacityFrom {
    /// In days since 1970
    day: i64,
    partition: Option<Box<[u8]>>,
    pes: u64,
}

impl Capacity {
    /// From lines of `capacity =`, in any order.
    pub fn new<'a>(lines: impl IntoIterator<Item = CapacityLine<'a>>) -> Self {
        let from = |line: CapacityLine<'_>| CapacityFrom {
            day: line.begin.map_or(i64::MIN, |day| day.days()),
            partition: line.partition.map(Box::from),
            pes: line.pes,
        };
        let mut lines: Vec<CapacityFrom> = lines.into_iter().map(from).collect();
        lines.sort_by_key(|line| line.day);
        Capacity { lines }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Names of the partitions that it knows, each once, by name.
    pub fn partitions(&self) -> Vec<&[u8]> {
        let mut names: Vec<&[u8]> =
            self.lines.iter().filter_map(|line| line.partition.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether a line is for the whole machine.
    pub fn is_of_machine(&self) -> bool {
        self.lines.iter().any(|line| line.partition.is_none())
    }

    /// PE-time that the machine has in days, both included, each of 24 hours; None if the number of
    /// its PEs on one of them is not known.
    pub fn of_days(&self, since: Date, until: Date) -> Option<PeTime> {
        const DAY: u128 = 86_400_000_000;
        let pes = (since.days()..=until.days()).map(|day| self.of_machine(day));
        let pes = pes.map(|pes| pes.map(u128::from)).sum::<Option<u128>>()?;
        Some(PeTime(pes.saturating_mul(DAY)))
    }

    /// PEs of a partition on a day; None if that is not known.
    pub(super) fn of_partition(&self, name: &[u8], day: i64) -> Option<u64> {
        self.on(day, |known| known == Some(name))
    }

    /// PEs of the machine on a day: what is said of it, else the sum over partitions.
    pub(super) fn of_machine(&self, day: i64) -> Option<u64> {
        self.on(day, |known| known.is_none()).or_else(|| {
            let partitions = self.partitions();
            let known = partitions.iter().filter_map(|name| self.of_partition(name, day));
            known.reduce(u64::saturating_add)
        })
    }

    fn on(&self, day: i64, is: impl Fn(Option<&[u8]>) -> bool) -> Option<u64> {
        let mut lines = self.lines.iter().rev();
        lines.find(|line| line.day <= day && is(line.partition.as_deref())).map(|line| line.pes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_in_force_counts() {
        let read = |text: &'static str| CapacityLine::parse(text.as_bytes()).unwrap();
        let lines = [
            "2026-06-01 batch 20",
            "2026-01-01 batch 10",
            "big 64",
            "2026-07-01 big 0",
            "2026-06-01 batch 30",
        ];
        let mut capacity = Capacity::new(lines.map(read));
        let day = |month, day| topas_format::civil::Date { year: 2026, month, day }.days();
        let batch = |d| capacity.of_partition(b"batch", d);
        assert_eq!([day(1, 1) - 1, day(1, 1), day(5, 31)].map(batch), [None, Some(10), Some(10)]);
        assert_eq!(batch(day(6, 1)), Some(30), "the later line of a day");
        assert_eq!(capacity.of_partition(b"none", day(6, 1)), None);
        let all = [day(1, 1) - 1, day(1, 1), day(6, 30), day(7, 1)].map(|d| capacity.of_machine(d));
        assert_eq!(all, [Some(64), Some(74), Some(94), Some(30)]);
        capacity = Capacity::new(lines.map(read).into_iter().chain([read("2026-06-15 80")]));
        let all = [day(6, 14), day(6, 15), day(7, 1)].map(|d| capacity.of_machine(d));
        assert_eq!(all, [Some(94), Some(80), Some(80)]);
    }
}
