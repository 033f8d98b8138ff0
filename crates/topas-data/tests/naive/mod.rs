//! Joins lines as the definition says, one look at all of them for each: to compare with.

use std::collections::BTreeMap;

use topas_data::{CpuTime, Detail, PeRecord};
use topas_format::line::{Extras, Line};
use topas_format::number::Count;

/// A launch as lines name it: uid, or user without one; id, or user and executable without one;
/// number of PEs.
type NaiveLaunch = (Vec<u8>, Vec<u8>, Option<u32>);

/// A line and the key of its group.
pub type Member = (PeRecord, Vec<u8>);

/// Times may be off by this, in µs.
const TOLERANCE: i64 = 2_000_000;

/// All lines.
#[derive(Default)]
pub struct NaiveLines(BTreeMap<NaiveLaunch, Vec<Member>>);

impl NaiveLines {
    pub fn add(&mut self, line: &Line<'_>, extras: Extras<'_>, key: &[u8], detail: Detail) {
        let id: Vec<u8> = if line.id.is_empty() {
            line.user.bytes().chain(*b" ").chain(line.exe.bytes()).collect()
        } else {
            line.id.bytes().collect()
        };
        let who = extras.get(b"uid").map_or_else(|| line.user.bytes().collect(), <[u8]>::to_vec);
        let time = line.time;
        let clock = [time.hour, time.minute, time.second].map(i64::from);
        let local = ((line.date.days() * 24 + clock[0]) * 60 + clock[1]) * 60 + clock[2];
        let end = extras.number(b"t").map_or(local, |t| t as i64) * 1_000_000;
        let count = |key: &[u8]| match extras.get(key) {
            Some(text) => {
                let text = std::str::from_utf8(text).unwrap();
                let estimate = text.strip_prefix('~').and_then(|n| n.parse().ok());
                estimate.map(Count::Estimate).or(text.parse().ok().map(Count::Exact))
            }
            None => None,
        };
        let times = detail >= Detail::Times;
        let counters = detail >= Detail::Counters;
        let record = PeRecord {
            pe: line.pe,
            wall: line.wall_time,
            end,
            date: line.date,
            ops: line.ops,
            cpu: times.then_some(CpuTime { user: line.user_time, sys: line.sys_time }),
            l1_miss: if times { line.l1_miss } else { Count::Missing },
            cycles: count(b"cyc").filter(|_| counters).unwrap_or_default(),
            instructions: count(b"ins").filter(|_| counters).unwrap_or_default(),
            rss: extras.number(b"rss").filter(|_| counters),
            group: 0,
        };
        self.0.entry((who, id, line.npes.0)).or_default().push((record, key.to_vec()));
    }

    /// The runs: number of PEs as it stands in the lines, and the lines in order of PEs.
    pub fn runs(self) -> Vec<(Option<u32>, Vec<Member>)> {
        let mut runs = Vec::new();
        for ((_, _, npes), mut members) in self.0 {
            let order = |(pe, _): &Member| {
                let letter = pe.ops.metric.letter();
                let count = match pe.ops.count {
                    Count::Missing => (0, 0),
                    Count::Exact(n) => (1, n),
                    Count::Estimate(n) => (2, n),
                };
                (pe.start(), pe.end, pe.pe, letter, count, pe.date)
            };
            members.sort_by_key(order);
            let mut of_launch: Vec<Vec<Member>> = Vec::new();
            for member in members {
                let mut best: Option<(i64, usize)> = None;
                for (at, run) in of_launch.iter().enumerate() {
                    let start = run.iter().map(|(pe, _)| pe.start()).min().unwrap();
                    let end = run.iter().map(|(pe, _)| pe.end).max().unwrap();
                    let pe = &member.0;
                    let overlap = end.min(pe.end) - start.max(pe.start());
                    let shorter = (end - start).min(pe.end - pe.start());
                    let enough = overlap >= (shorter / 2).min(2 * TOLERANCE) - TOLERANCE;
                    let free = run.iter().all(|(other, _)| other.pe != pe.pe);
                    if free && enough && best.is_none_or(|(most, _)| overlap > most) {
                        best = Some((overlap, at));
                    }
                }
                match best {
                    Some((_, at)) => of_launch[at].push(member),
                    None => of_launch.push(vec![member]),
                }
            }
            for mut run in of_launch {
                run.sort_by_key(|(pe, _)| pe.pe);
                runs.push((npes, run));
            }
        }
        runs
    }
}
