//! The PEs of one launch: what `topasview` shows.
//!
//! ```text
//! Source -> read (blocks of files, in parallel) -> Lines -> launches
//!                                                        -> Table (a launch, by PE)
//! Table + Column -> Values -> Summary, clusters, groups, balance, findings, comparison
//! ```
//!
//! Lines are not joined by time as runs of a log are ([`crate::ask`]): a file of all PEs
//! holds the lines of a launch under an id of its own.

mod balance;
mod cluster;
mod column;
mod compare;
mod ending;
mod finding;
mod gain;
mod group;
mod intern;
mod kmeans;
mod place;
mod ranks;
mod read;
mod summary;
mod table;

pub use balance::{Balance, LoadSpread, balance, costliest};
pub use cluster::{Cluster, PeRange, fold, unit_clusters};
pub use column::{Column, Values, values};
pub use compare::{
    Change, Comparison, LEAST_RUNS, Pairing, RunChange, RunMedians, RunSpread, compare,
    compare_runs,
};
pub use ending::{PeEnding, PeEndings, endings};
pub use finding::{
    Evidence, Examined, Findings, LEAST_DIFFERENCE, LEAST_OF_CAUSES, LEAST_PES, LEAST_SECONDS,
    PeFinding, Subject, examine, findings,
};
pub use gain::{Gain, LEAST_COST};
pub use group::{Group, Grouping, Groups, all_groups, groups};
pub use kmeans::{KMeans, MOST_CLASSES, best_clusters};
pub use place::{add, here};
pub use ranks::{Test, mann_whitney, signed_rank};
pub use read::{LinesTooMany, PeLaunch, PeLines, read};
pub use summary::{Summary, quantile, summary};
pub use table::{Pe, PeTable, Without};
