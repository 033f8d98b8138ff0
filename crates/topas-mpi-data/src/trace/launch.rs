//! The launches whose ranks are in logs, which of them is meant, and what of it the logs lack. All readers of logs choose
//! by the same rule.

use std::collections::{BTreeMap, BTreeSet};

use topas_format::shown::Shown;

use super::damage::{MOST_RANKS, ranks_in_words};
use super::{TraceLog, TraceProcess};

/// Most launches that are named.
const MOST_NAMED: usize = 8;

/// The launches whose ranks are in logs, the oldest first: the id as the log has it, and ranks. Ranks of which the logs have
/// too little to tell their launch are no launch of their own beside others.
pub fn launches_in(logs: &[TraceLog]) -> Vec<(String, usize)> {
    let mut all: BTreeMap<String, (u64, usize)> = BTreeMap::new();
    for process in logs.iter().flat_map(|log| &log.processes) {
        let began = process.clock().map_or(0, |clock| clock.realtime);
        let launch = all.entry(process.facts.value("id").to_owned()).or_insert((u64::MAX, 0));
        *launch = (launch.0.min(began), launch.1 + 1);
    }
    let mut all: Vec<(String, (u64, usize))> = all.into_iter().collect();
    all.sort_by_key(|(_, (began, _))| *began);
    if all.len() > 1 {
        all.retain(|(id, _)| !id.is_empty());
    }
    all.into_iter().map(|(id, (_, ranks))| (id, ranks)).collect()
}

/// Launches with their ranks, the newest first.
pub fn launches_in_words(launches: &[(String, usize)]) -> String {
    let words: Vec<String> = launches
        .iter()
        .rev()
        .take(MOST_NAMED)
        .map(|(id, ranks)| {
            let plural = if *ranks == 1 { "" } else { "s" };
            format!("{} ({ranks} rank{plural})", Shown(id.as_bytes()))
        })
        .collect();
    let more = if launches.len() > MOST_NAMED { ", ..." } else { "" };
    words.join(", ") + more
}

/// That there are several launches and which of them is taken, where none was named; None of one.
pub fn several_launches_in_words(launches: &[(String, usize)]) -> Option<String> {
    (launches.len() > 1).then(|| {
        format!(
            "the logs hold {} launches; the newest is taken, and --launch takes another: {}",
            launches.len(),
            launches_in_words(launches)
        )
    })
}

/// The launch that is meant: the newest, or the newest whose id begins with `wanted`. None if there is none.
pub fn launch_of<'i>(launches: &'i [(String, usize)], wanted: Option<&str>) -> Option<&'i str> {
    let wanted = wanted.unwrap_or_default();
    launches.iter().rev().map(|(id, _)| id.as_str()).find(|id| id.starts_with(wanted))
}

/// The processes of a launch.
fn processes_of<'l>(
    logs: &'l [TraceLog],
    launch: &str,
) -> impl Iterator<Item = &'l TraceProcess> + Clone {
    let all = logs.iter().flat_map(|log| &log.processes);
    all.filter(move |process| process.facts.value("id") == launch)
}

/// The ranks of a launch that are not in these logs, and how many ranks the launch has as far as the logs tell.
pub fn absent_ranks(logs: &[TraceLog], launch: &str) -> (Vec<u32>, u32) {
    absent_of(processes_of(logs, launch))
}

/// That these ranks of so many are not in the logs, in words; None if there are none, or if a file was cut: that is told with
/// the rest of its damage.
pub fn absent_in_words(logs: &[TraceLog], absent: &[u32], size: u32) -> Option<String> {
    let is_cut = logs.iter().any(|log| log.cut.is_some());
    let (ranks, are) = if absent.len() == 1 { ("rank", "is") } else { ("ranks", "are") };
    (!absent.is_empty() && !is_cut)
        .then(|| format!("{ranks} {} of {size} {are} not in these logs", ranks_in_words(absent)))
}

/// The ranks that are absent, and the size of a launch, of its processes.
pub(super) fn absent_of<'l>(
    processes: impl Iterator<Item = &'l TraceProcess> + Clone,
) -> (Vec<u32>, u32) {
    let told = processes.clone().filter_map(|process| process.facts.value("ranks").parse().ok());
    let size: u32 = told.max().unwrap_or(0);
    let there: BTreeSet<u32> = processes.map(|process| process.rank).collect();
    ((0..size.min(MOST_RANKS)).filter(|rank| !there.contains(rank)).collect(), size)
}

/// The ranks of a launch that ended without `MPI_Finalize`: the logs do not have their ends.
pub fn unfinished_ranks(logs: &[TraceLog], launch: &str) -> Vec<u32> {
    let ended = processes_of(logs, launch).filter(|process| process.is_unfinished());
    let ranks: BTreeSet<u32> = ended.map(|process| process.rank).collect();
    ranks.into_iter().collect()
}
