//! The three tables of a report, as every form shows them.

use topas_data::{Share, Statistics};

use crate::number::decimal;

/// A row of the MFlop/s distribution.
pub(crate) struct Bucket {
    /// Lower bound in MFlop/s
    pub(crate) from: String,
    /// Upper bound, which belongs to the next bucket
    pub(crate) to: String,
    pub(crate) share: Share,
}

/// The buckets that have runs, ascending.
pub(crate) fn buckets(statistics: &Statistics) -> Vec<Bucket> {
    let size = statistics.bucket_size();
    let width = u128::from(size.millionths());
    let row = |(at, share)| {
        let lower = size.lower_millionths(at);
        Bucket { from: decimal(lower), to: decimal(lower + width), share }
    };
    statistics.distribution.buckets().map(row).collect()
}

/// Runs without a rate.
pub(crate) fn unmeasured(statistics: &Statistics) -> Share {
    let mut share = statistics.uncounted;
    share.runs += statistics.timeless.runs;
    share.time.0 += statistics.timeless.time.0;
    share
}

/// Word and share of each language, the smallest number of runs first, then by word.
pub(crate) fn langs(statistics: &Statistics) -> Vec<(&'static str, Share)> {
    ascending(statistics.langs().map(|(lang, share)| (lang.word(), share)))
}

/// Likewise of each message passing library.
pub(crate) fn libs(statistics: &Statistics) -> Vec<(&'static str, Share)> {
    ascending(statistics.libs().map(|(lib, share)| (lib.word(), share)))
}

fn ascending(rows: impl Iterator<Item = (&'static str, Share)>) -> Vec<(&'static str, Share)> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|&(word, share)| (share.runs, word));
    rows
}
