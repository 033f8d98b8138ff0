//! Threads that wait outside of MPI for another thread of their process, which waits in a call: who joins a thread, or
//! comes to the end of a parallel region, does so. No call tells that, but what follows: the other one is served, and
//! then this one comes at once to a call for which others wait.

use std::collections::BTreeSet;

use super::delays::RowWait;
use super::spans::Spans;

/// A row joined a thread that waited if it comes late to others within this part of that wait behind its end: an eighth.
const AT_ONCE: u64 = 8;

/// Such waits: of rows for which others wait, each for another row of its process, while that waits in a call. `waits`
/// are in the order of rows and begins, and `processes` are those of the rows.
pub(super) fn joins(waits: &[RowWait], processes: &[usize]) -> Vec<RowWait> {
    let mut rows_of = vec![Vec::<u32>::new(); processes.iter().max().map_or(0, |last| last + 1)];
    for (row, process) in processes.iter().enumerate() {
        if let Some(rows) = rows_of.get_mut(*process) {
            rows.push(row as u32);
        }
    }
    if rows_of.iter().all(|rows| rows.len() < 2) {
        return Vec::new();
    }
    let of_row = |row: u32| {
        let first = waits.partition_point(|wait| wait.row < row);
        let end = waits.partition_point(|wait| wait.row <= row);
        waits.get(first..end).unwrap_or_default()
    };
    let spans = |row: u32| Spans::of(of_row(row).iter().map(|wait| (wait.from, wait.to)));
    let of_process = |row: usize| {
        let rows = processes.get(row).and_then(|process| rows_of.get(*process));
        rows.map_or(&[][..], Vec::as_slice)
    };
    // Of rows that have no others nothing is asked.
    let own: Vec<Option<Spans>> = (0..processes.len())
        .map(|row| (of_process(row).len() > 1).then(|| spans(row as u32)))
        .collect();
    let mut found = BTreeSet::new();
    for wait in waits.iter().filter(|wait| !wait.is_within) {
        let late = wait.partner;
        let Some(Some(spans)) = own.get(late as usize) else { continue };
        for other in of_process(late as usize).iter().filter(|other| **other != late) {
            let before = of_row(*other);
            let before = &before[..before.partition_point(|of| of.to < wait.to)];
            let Some(served) = before.last().filter(|of| !of.is_within) else { continue };
            let RowWait { from, to, .. } = *served;
            let part = (to - from) / AT_ONCE;
            let is_join = to > wait.from && wait.to - to <= part && spans.between(from, to) <= part;
            // It ends behind the wait that it hands on, and before the one that it makes.
            if is_join && to + 1 < wait.to {
                found.insert((late, from, to + 1, *other));
            }
        }
    }
    let join = |(row, from, to, partner)| RowWait {
        row,
        from,
        to,
        partner,
        is_within: true,
        is_join: true,
        ..RowWait::default()
    };
    found.into_iter().map(join).collect()
}
