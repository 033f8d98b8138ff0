//! Processes of which the log lacks what they say of themselves, because that block is damaged or the file ends
//! before it. They take it from another process of their launch: without it they would seem to be another
//! launch, of a host that nobody knows, with calls that have no names.

use std::collections::{BTreeMap, BTreeSet};

use topas_mpi_profile::layout::Moment;
use topas_trace::{BlockContent, BlockHead};

use super::{TraceFacts, TraceProcess};

/// What the processes of a launch on a host have in common.
const SHARED: [&str; 8] = ["ranks", "uid", "host", "user", "exe", "id", "job", "mpi"];

/// A launch of which a log has the facts.
#[derive(Default)]
struct KnownLaunch {
    facts: TraceFacts,
    /// The first and the last tick that its processes tell of
    span: Option<(u64, u64)>,
    ranks: BTreeSet<u32>,
    routines: BTreeMap<u16, String>,
}

impl KnownLaunch {
    /// Whether it lacks this rank, and ran when the block was written.
    fn may_have(&self, rank: u32, head: &BlockHead) -> bool {
        let size: u32 = self.facts.value("ranks").parse().unwrap_or(0);
        let until = head.last.max(head.first);
        let ran = self.span.is_some_and(|(first, last)| head.first <= last && until >= first);
        ran && rank < size && !self.ranks.contains(&rank)
    }

    fn lend(&mut self, process: &mut TraceProcess) {
        self.ranks.insert(process.rank);
        process.facts = self.facts.clone();
        process.routines = self.routines.clone();
    }
}

/// Gives facts to the processes that have none, if there is one launch alone to which they can belong.
/// `strays` are heads of damaged blocks of processes of which nothing else is there: those that fit a rank that a
/// launch lacks are put to it. Returns how many are left.
pub(super) fn lend(processes: &mut BTreeMap<u64, TraceProcess>, strays: Vec<BlockHead>) -> u64 {
    let mut launches: BTreeMap<String, KnownLaunch> = BTreeMap::new();
    for process in processes.values().filter(|process| !process.facts.lines.is_empty()) {
        let own = &process.facts;
        let launch = launches.entry(own.value("id").to_owned()).or_default();
        launch.ranks.insert(process.rank);
        launch.routines.extend(process.routines.iter().map(|(at, name)| (*at, name.clone())));
        let (began, latest) = (own.began.ticks, own.latest.ticks);
        if began == 0 || latest <= began {
            continue;
        }
        let (first, last) = launch.span.unwrap_or((began, latest));
        if launch.span.is_none() {
            launch.facts = shared(own);
        }
        launch.span = Some((first.min(began), last.max(latest)));
    }
    let mut find = |head: &BlockHead, to: &mut TraceProcess| {
        let rank = to.rank;
        let mut fitting = launches.values_mut().filter(|launch| launch.may_have(rank, head));
        let (first, second) = (fitting.next(), fitting.next());
        match (first, second) {
            (Some(launch), None) => {
                launch.lend(to);
                true
            }
            _ => false,
        }
    };
    for process in processes.values_mut().filter(|process| process.facts.lines.is_empty()) {
        let read = process.threads.values().flat_map(BTreeMap::values).map(|block| &block.head);
        let damaged = process.damaged.values().flat_map(BTreeMap::values);
        let first = read.chain(damaged).next().copied();
        process.has_lent_facts = true;
        if let Some(head) = first {
            find(&head, process);
        }
    }
    let mut left = 0;
    let mut added: BTreeMap<u64, TraceProcess> = BTreeMap::new();
    for head in strays {
        // Facts that cannot be read are missed where events are there.
        if head.content != BlockContent::Events as u16 {
            continue;
        }
        let known = added.get_mut(&head.process).filter(|known| known.rank == head.rank);
        if let Some(known) = known {
            known.put_damaged(&head);
            continue;
        }
        let mut process =
            TraceProcess { rank: head.rank, has_lent_facts: true, ..TraceProcess::default() };
        if find(&head, &mut process) {
            process.put_damaged(&head);
            added.insert(head.process, process);
        } else {
            left += 1;
        }
    }
    processes.extend(added);
    left
}

/// What of the facts of a process are those of others, too.
fn shared(facts: &TraceFacts) -> TraceFacts {
    let TraceFacts { lines, began, latest, clock, initialized: _ } = facts;
    let lines = lines.iter().filter(|(key, _)| SHARED.contains(&key.as_str())).cloned().collect();
    let initialized = Moment::default();
    TraceFacts { lines, began: *began, latest: *latest, clock: *clock, initialized }
}
