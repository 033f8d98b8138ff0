//! The PEs of a launch as text, as data, as pictures and as a page.
//!
//! Each view is a file of its own: `raw` rows, statistical `listing`, `clusters`, `groups`,
//! what stands out (`verdict`), `compare`, `launches`; `page` has all.
//! Text for people is no interface; `csv`, `json` and `jsonl` are.

mod clusters;
mod compare;
mod data;
mod ended;
mod groups;
mod heading;
mod in_columns;
mod json;
mod launches;
mod listing;
mod page;
mod pictures;
mod piece;
mod quantity;
mod raw;
mod rows;
mod sections;
mod verdict;

pub use clusters::{best_clusters, best_csv, clusters_csv, unit_clusters};
pub use compare::{compare, compare_csv, other_runs};
pub use data::{csv, jsonl};
pub use groups::{groups, groups_csv};
pub use heading::{heading, heading_lines, heading_of_side, notes};
pub use json::{JsonParts, SCHEMA, json};
pub use launches::{launches, launches_csv};
pub use listing::{listing, listing_csv};
pub use page::{HtmlPage, MOST_ROWS, page};
pub use pictures::{Drawing, drawing, strip};
pub use piece::{OutputPiece, WriteRow, write};
pub use quantity::{caption, column_unit};
pub use raw::raw;
pub use rows::{Selection, select};
pub use sections::ViewSections;
pub use verdict::{Verdict, balance, findings};
