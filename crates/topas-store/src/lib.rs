//! Keeps the runs of a log, and sums over them, where they are found at once.
//!
//! The text log is the truth. What is kept here is made of its lines, by the code of
//! `topas-data` that every other tool uses, and can be made again at any time:
//!
//! ```text
//! sources -> FollowedSource (what came since, vouched for) -> Ingest: joins lines to runs
//!                                                               |
//!                   Index (SQLite): runs with their lines, sums by day, user, language ...
//!                                                               |  deliver
//!                                        PostgreSQL, ClickHouse: the same tables
//! ```
//!
//! A run is kept with its lines, so what is known of it is computed from these. Sums are whole
//! numbers ([`topas_data::measure::IntegerSums`]): a store adds them up and computes nothing else, so
//! all stores give the same answers, which are those of a report of the log.
#![forbid(unsafe_code)]

mod clickhouse;
mod error;
mod index;
mod ingest;
mod postgres;
mod question;
mod remote;
mod schema;
mod store;
mod stored_run;
mod sums;

pub use clickhouse::ClickHouse;
pub use error::StoreError;
pub use index::Index;
pub use index::purge::{Purged, ToPurge};
pub use ingest::{Ingest, IngestReport, LEAST_BATCH, MOST_BATCH};
pub use postgres::Postgres;
pub use question::{
    RunClass, RunFilter, RunPosition, SumsBy, SumsRow, class_samples, find_run, latest_runs,
    owners_of, profile_lines, sums_by, sums_of_all,
};
pub use remote::{Delivered, RemoteStore, Safe, deliver, remote_store};
pub use schema::{Cell, CellKind, Column, TABLES, Table};
pub use store::{Dialect, Store};
pub use stored_run::{StoredRun, day_number, owner_of, shown_text, stored_text};
