//! The names of the facts about waits: the same words about each kind of wait, and about all together.

use topas_mpi_data::{Blame, Waiting};

/// The names of the facts of a kind of wait.
pub(crate) struct WaitNames {
    pub(crate) share: &'static str,
    pub(crate) cost: &'static str,
    pub(crate) sum: &'static str,
    pub(crate) most: &'static str,
    pub(crate) longest: &'static str,
    pub(crate) gain: &'static str,
    pub(crate) calls: &'static str,
    pub(crate) routine: &'static str,
    pub(crate) who: &'static str,
    pub(crate) who_share: &'static str,
    pub(crate) own: &'static str,
    pub(crate) others: &'static str,
    pub(crate) turns: &'static str,
    pub(crate) first: &'static str,
    pub(crate) first_computes: &'static str,
    pub(crate) origin: &'static str,
    pub(crate) origin_computes: &'static str,
    pub(crate) error: &'static str,
    pub(crate) when: &'static str,
}

macro_rules! wait_names {
    ($kind:literal) => {
        WaitNames {
            share: concat!($kind, "_share"),
            cost: concat!($kind, "_cost"),
            sum: concat!($kind, "_sum"),
            most: concat!($kind, "_most"),
            longest: concat!($kind, "_longest"),
            gain: concat!($kind, "_gain"),
            calls: concat!($kind, "_calls"),
            routine: concat!($kind, "_routine"),
            who: concat!($kind, "_who"),
            who_share: concat!($kind, "_who_share"),
            own: concat!($kind, "_who_computes"),
            others: concat!($kind, "_others_compute"),
            turns: concat!($kind, "_turns"),
            first: concat!($kind, "_first"),
            first_computes: concat!($kind, "_first_computes"),
            origin: concat!($kind, "_origin"),
            origin_computes: concat!($kind, "_origin_computes"),
            error: concat!($kind, "_error"),
            when: concat!($kind, "_when"),
        }
    };
}

impl WaitNames {
    pub(crate) const LATE_SENDERS: WaitNames = wait_names!("late");
    pub(crate) const LATE_RECEIVERS: WaitNames = wait_names!("latercv");
    pub(crate) const COLLECTIVES: WaitNames = wait_names!("coll");
    /// Of all kinds together
    pub(crate) const ALL: WaitNames = wait_names!("waits");
}

/// A kind of wait among those of a rank or a routine.
pub(crate) type KindOfWait = fn(&Blame) -> Waiting;

/// The kinds of waits, and all of them together.
pub(crate) const WAIT_KINDS: [(WaitNames, KindOfWait); 4] = [
    (WaitNames::LATE_SENDERS, |of| of.late),
    (WaitNames::LATE_RECEIVERS, |of| of.late_receiver),
    (WaitNames::COLLECTIVES, |of| of.collective),
    (WaitNames::ALL, Blame::all),
];
