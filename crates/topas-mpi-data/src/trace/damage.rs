//! What of a log cannot be read, rank by rank, and in words.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use super::launch::absent_of;
use super::{TraceFacts, TraceLog, TraceProcess};

/// Most ranks of a launch that are looked for: a file may tell any size.
pub(super) const MOST_RANKS: u32 = 1 << 20;

/// Most ranks that are told of one by one.
const MOST_TOLD: usize = 8;

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// A file that ends within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceCut {
    /// Its length in B
    pub found: u64,
    /// The length in B that its blocks had at least
    pub least: u64,
}

/// What of a rank's log cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankDamage {
    /// The rank in the world
    pub rank: u32,
    /// Blocks of events that are there and are damaged
    pub damaged: u64,
    /// Blocks of events that the rank wrote and that are not in the file
    pub absent: u64,
    /// Events in these, as far as that is known
    pub events: u64,
    /// The time of the rank's run for which nothing is known, in ns; 0 if that cannot be told
    pub time: u64,
    /// Whether the log lacks what the process says of itself
    pub lacks_facts: bool,
}

impl fmt::Display for RankDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RankDamage { rank, damaged, absent, events, time, lacks_facts } = self;
        let of = |count: u64| match count {
            1 => format!("1 block of rank {rank} is"),
            many => format!("{many} blocks of rank {rank} are"),
        };
        match (damaged, absent) {
            (0, 0) if *lacks_facts => {
                return write!(
                    f,
                    "what rank {rank} says of itself is damaged or not in the file, and so may be blocks behind \
                     it"
                );
            }
            (0, 0) => write!(f, "the end of a block of rank {rank} is damaged")?,
            (damaged, 0) => write!(f, "{} damaged", of(*damaged))?,
            (0, absent) => write!(f, "{} not in the file", of(*absent))?,
            (damaged, absent) => {
                write!(f, "{} damaged, and {absent} more not in the file", of(*damaged))?;
            }
        }
        if *time > 0 {
            write!(f, ", {:.3} s of its run are missing", *time as f64 / 1e9)?;
        }
        if *events > 0 {
            write!(f, ", {events} calls")?;
        }
        Ok(())
    }
}

/// A time of a thread of which nothing is known, in ticks.
pub(crate) type LostSpan = (u64, u64);

/// What cannot be read of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadLoss {
    /// Blocks that are there and cannot be read
    damaged: u64,
    /// Blocks that the thread wrote and that are not there
    absent: u64,
    /// Events at the end of blocks without a sum
    pub(super) cut_off: u64,
    /// Events before blocks that can be read
    pub(super) events_before: u64,
    /// Events behind all blocks that can be read
    events_behind: u64,
    /// Times of which nothing is known, in their order
    spans: Vec<LostSpan>,
}

impl ThreadLoss {
    const fn is_none(&self) -> bool {
        self.damaged == 0 && self.absent == 0 && self.cut_off == 0
    }
}

/// Between which ticks events of a process can be, and how many ticks a second has; None if it does not say.
pub(super) fn life(facts: &TraceFacts) -> Option<(u64, u64, u64)> {
    /// Until when a process that was killed may have gone on, in s.
    const YEAR: u64 = 366 * 24 * 3600;
    let (began, latest) = (facts.began, facts.latest);
    let ticks = latest.ticks.checked_sub(began.ticks).filter(|ticks| *ticks > 0)?;
    let time = latest.monotonic.checked_sub(began.monotonic).filter(|time| *time > 0)?;
    let second = u128::from(ticks) * u128::from(SECOND) / u128::from(time);
    let second = u64::try_from(second).unwrap_or(u64::MAX).max(1);
    let to = match facts.value("state") {
        "1" | "2" => latest.ticks.saturating_add(second),
        // The moments are those of the last beat of the process, and `ended` is the beginning of a second.
        _ => match facts.value("ended").parse::<u64>() {
            Ok(ended) => ended.max(latest.ticks).saturating_add(second.saturating_mul(2)),
            Err(_) => latest.ticks.saturating_add(second.saturating_mul(YEAR)),
        },
    };
    Some((began.ticks, to, second))
}

/// Blocks that each thread has begun, and those it has kept, by its number: what `thread` says.
fn kept_blocks(facts: &TraceFacts) -> BTreeMap<u32, (u64, u64)> {
    let told = facts.values("thread").filter_map(|line| {
        let mut numbers = line.split(' ');
        let thread = numbers.next()?.parse().ok()?;
        let begun: u64 = numbers.next()?.parse().ok()?;
        let kept: u64 = numbers.next()?.parse().ok()?;
        Some((thread, (begun, kept.min(begun))))
    });
    told.collect()
}

/// Finds out what is missing of each thread of a process. `ends` are the ticks at which the last events of
/// blocks ended, by the offsets of the blocks.
pub(super) fn tell_lost(process: &mut TraceProcess, ends: &BTreeMap<u64, u64>) {
    let kept = kept_blocks(&process.facts);
    let is_finalized = matches!(process.facts.value("state"), "1" | "2");
    let (began, latest) = (process.facts.began.ticks, process.facts.latest.ticks);
    let mut threads: Vec<u32> = kept.keys().copied().collect();
    threads.extend(process.threads.keys().chain(process.damaged.keys()));
    threads.sort_unstable();
    threads.dedup();
    // The head of a damaged block may tell any thread.
    let is_told = |thread: &u32| kept.contains_key(thread) || process.threads.contains_key(thread);
    let (threads, astray): (Vec<u32>, Vec<u32>) =
        threads.into_iter().partition(|thread| kept.is_empty() || is_told(thread));
    let heads = astray.iter().filter_map(|thread| process.damaged.get(thread));
    let mut astray = heads.map(BTreeMap::len).sum::<usize>() as u64;
    let none = BTreeMap::new();
    let no_heads = BTreeMap::new();
    for thread in threads {
        let good = process.threads.get(&thread).unwrap_or(&none);
        let bad = process.damaged.get(&thread).unwrap_or(&no_heads);
        let there = (good.len() + bad.len()) as u64;
        let told = kept.get(&thread);
        let mut loss = ThreadLoss {
            damaged: bad.len() as u64,
            absent: told.map_or(0, |(_, kept)| kept.saturating_sub(there)),
            cut_off: process.lost.get(&thread).map_or(0, |loss| loss.cut_off),
            ..ThreadLoss::default()
        };
        // A rank that was killed while it began a block has none there.
        if !is_finalized
            && loss.absent == 1
            && told.is_some_and(|(begun, _)| !good.contains_key(&(begun - 1)))
        {
            loss.absent = 0;
        }
        let found = loss.absent.min(astray);
        (loss.damaged, loss.absent) = (loss.damaged + found, loss.absent - found);
        astray -= found;
        if loss.damaged + loss.absent > 0 {
            let first = told.map_or(0, |(begun, kept)| begun - kept);
            let begins = bad.get(&first).filter(|head| first > 0 && head.first > began);
            let mut clock = begins.map_or(began, |head| head.first);
            let mut events = begins.map_or(0, |head| head.before);
            let mut next = first;
            for (number, block) in good {
                let head = &block.head;
                if *number > next && (next > first || told.is_some() || bad.contains_key(&first)) {
                    loss.spans.push((clock.min(head.first), head.first));
                    let between = bad.range(next..*number);
                    let in_bad = between.map(|(_, head)| u64::from(head.events())).sum();
                    let gap = head.before.saturating_sub(events);
                    // Without facts, others may have been overwritten.
                    let gap = if told.is_some() { gap } else { gap.min(in_bad) };
                    loss.events_before = loss.events_before.saturating_add(gap);
                }
                clock = ends.get(&block.offset).copied().unwrap_or(head.first).max(clock);
                events = head.before.saturating_add(head.events().into());
                next = number.saturating_add(1);
            }
            let behind = bad.range(next..).map(|(_, head)| head);
            let last = behind.clone().map(|head| head.last).max();
            if last.is_some() || told.is_some_and(|(begun, _)| *begun > next) {
                let end = if latest > clock { latest } else { last.unwrap_or(clock) };
                loss.spans.push((clock, end.max(clock)));
                loss.events_behind = behind.map(|head| u64::from(head.events())).sum();
            }
        }
        process.lost.insert(thread, loss);
    }
    process.lost.retain(|_, loss| !loss.is_none());
}

impl TraceProcess {
    /// What of its log cannot be read; None if all can.
    pub fn damage(&self) -> Option<RankDamage> {
        if self.lost.is_empty() && !self.has_lent_facts {
            return None;
        }
        let mut told = RankDamage {
            rank: self.rank,
            lacks_facts: self.has_lent_facts,
            ..RankDamage::default()
        };
        for loss in self.lost.values() {
            told.damaged += loss.damaged;
            told.absent += loss.absent;
            told.events = [loss.cut_off, loss.events_before, loss.events_behind]
                .into_iter()
                .fold(told.events, u64::saturating_add);
            let ticks: u64 = loss
                .spans
                .iter()
                .fold(0, |sum: u64, (from, to)| sum.saturating_add(to.saturating_sub(*from)));
            // Of several threads, the one that lacks most.
            told.time = told.time.max((ticks as f64 * self.tick_length()) as u64);
        }
        let (began, latest) = (self.facts.began.realtime, self.facts.latest.realtime);
        let life = latest.checked_sub(began).filter(|life| *life > 0);
        // Moments may have been changed, too.
        let is_longer = life.is_none_or(|life| told.time > life.saturating_add(SECOND));
        if !self.has_clock() || is_longer {
            told.time = 0;
        }
        Some(told)
    }

    /// The times of a thread of which nothing is known.
    pub(crate) fn lost_spans(&self, thread: u32) -> &[LostSpan] {
        self.lost.get(&thread).map_or(&[], |loss| &loss.spans)
    }

    /// The threads of which something cannot be read.
    pub(crate) fn lost_threads(&self) -> impl Iterator<Item = u32> {
        self.lost.keys().copied()
    }
}

/// What of processes cannot be read.
pub(crate) fn damage_of<'l>(
    processes: impl IntoIterator<Item = &'l TraceProcess>,
) -> Vec<RankDamage> {
    processes.into_iter().filter_map(TraceProcess::damage).collect()
}

/// Whether there is an event that can be read in any of these logs.
pub fn is_readable(logs: &[TraceLog]) -> bool {
    let all = logs.iter().flat_map(|log| &log.processes);
    all.flat_map(TraceProcess::threads).any(|thread| thread.events > 0)
}

/// Ranks in order, as people write them: `0, 3 to 5`.
pub fn ranks_in_words(ranks: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for rank in ranks {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*rank) => *last = *rank,
            _ => ranges.push((*rank, *rank)),
        }
    }
    let more = if ranges.len() > MOST_TOLD { ", ..." } else { "" };
    let words: Vec<String> = ranges
        .iter()
        .take(MOST_TOLD)
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first} to {last}"),
        })
        .collect();
    words.join(", ") + more
}

impl TraceLog {
    /// The ranks that the file does not have, if it has one launch.
    fn absent_ranks(&self) -> Vec<u32> {
        let id = self.processes.first().map_or("", |process| process.facts.value("id"));
        let is_alone = self.processes.iter().all(|process| process.facts.value("id") == id);
        if is_alone { absent_of(self.processes.iter()).0 } else { Vec::new() }
    }

    /// Whether something of the file cannot be read.
    pub fn is_damaged(&self) -> bool {
        self.cut.is_some()
            || self.skips.lack()
            || self.processes.iter().any(|process| process.damage().is_some())
    }

    /// What of the file cannot be read, in words: a sentence each, without the name of the file.
    pub fn damage_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(TraceCut { found, least }) = self.cut {
            let (mut whole, mut part) = (Vec::new(), Vec::new());
            for process in &self.processes {
                if process.damage().is_some() { &mut part } else { &mut whole }.push(process.rank);
            }
            let mut text = format!("the file is cut: it has {found} B, and had {least} B or more");
            if !whole.is_empty() {
                text += &format!("; ranks that are whole: {}", ranks_in_words(&whole));
            }
            if !part.is_empty() {
                text += &format!("; ranks that are there in part: {}", ranks_in_words(&part));
            }
            let absent = self.absent_ranks();
            if !absent.is_empty() {
                text += &format!("; ranks that are not in it: {}", ranks_in_words(&absent));
            }
            words.push(text);
        }
        let damaged = damage_of(&self.processes);
        words.extend(damaged.iter().take(MOST_TOLD).map(RankDamage::to_string));
        if let Some(more) = damaged.get(MOST_TOLD..).filter(|more| !more.is_empty()) {
            let blocks: u64 = more.iter().map(|one| one.damaged + one.absent).sum();
            words.push(format!(
                "{blocks} blocks of {} more ranks are damaged or not there",
                more.len()
            ));
        }
        if !self.skips.is_empty() {
            words.push(format!("passed over: {}", self.skips));
        }
        words
    }
}
