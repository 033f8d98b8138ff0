//! What rows of the profile are sorted by, and how many are shown.

use std::cmp::Reverse;

use topas_mpi_data::{MpiProfile, RoutineCalls};

/// What rows are sorted by; numbers from the largest to the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiSort {
    /// Time in the calls
    Time,
    /// Calls
    Calls,
    /// Bytes sent
    Sent,
    /// Bytes received
    Received,
    /// Time of waiting for other ranks
    Waits,
    /// Difference of two profiles
    Change,
    /// Name, from A to Z
    Name,
}

impl MpiSort {
    /// All, in the order of help.
    pub const ALL: [MpiSort; 7] = [
        MpiSort::Time,
        MpiSort::Calls,
        MpiSort::Sent,
        MpiSort::Received,
        MpiSort::Waits,
        MpiSort::Change,
        MpiSort::Name,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            MpiSort::Time => "time",
            MpiSort::Calls => "calls",
            MpiSort::Sent => "sent",
            MpiSort::Received => "received",
            MpiSort::Waits => "waits",
            MpiSort::Change => "change",
            MpiSort::Name => "name",
        }
    }

    /// Of this name.
    pub fn of_name(name: &str) -> Option<MpiSort> {
        MpiSort::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MpiOrder {
    /// None: as the view has it, mostly by time
    pub sort: Option<MpiSort>,
    /// The other way round
    pub ascending: bool,
    /// Only so many rows
    pub top: Option<usize>,
}

/// What a row is sorted by.
pub(super) struct RowKeys {
    pub(super) time: u128,
    pub(super) calls: u128,
    pub(super) sent: u128,
    pub(super) received: u128,
    pub(super) waits: u128,
    pub(super) change: u128,
    pub(super) name: String,
}

impl MpiOrder {
    /// Puts rows into the order, and leaves only so many: the number of those that are left out.
    pub(super) fn apply<T>(&self, rows: &mut Vec<T>, keys: impl Fn(&T) -> RowKeys) -> usize {
        if let Some(sort) = self.sort {
            let number = |of: &RowKeys| match sort {
                MpiSort::Time => of.time,
                MpiSort::Calls => of.calls,
                MpiSort::Sent => of.sent,
                MpiSort::Received => of.received,
                MpiSort::Waits => of.waits,
                MpiSort::Change => of.change,
                MpiSort::Name => 0,
            };
            let name = |of: RowKeys| if sort == MpiSort::Name { of.name } else { String::new() };
            rows.sort_by_cached_key(|row| {
                let keys = keys(row);
                (Reverse(number(&keys)), name(keys))
            });
        }
        if self.ascending {
            rows.reverse();
        }
        let most = self.top.unwrap_or(usize::MAX);
        let left = rows.len().saturating_sub(most);
        rows.truncate(most);
        left
    }

    /// The routines of a profile, by time if nothing else is asked for.
    pub(super) fn routines<'p>(&self, profile: &'p MpiProfile) -> Vec<&'p RoutineCalls> {
        let mut routines = super::routines::sorted(profile);
        self.apply(&mut routines, |of| RowKeys {
            time: of.time,
            calls: of.calls,
            sent: of.sent.counted().unwrap_or(0),
            received: of.received.counted().unwrap_or(0),
            waits: super::waits::waited(profile, of),
            change: 0,
            name: profile.routines.name(of.number).to_owned(),
        });
        routines
    }
}
