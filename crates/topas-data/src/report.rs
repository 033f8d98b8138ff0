//! What a report is made from: runs in tables, by fields and measures.

mod dimension;
mod fold;
mod order;
mod plan;
mod table;

pub use fold::Report;
pub use order::{Order, SortKey};
pub use plan::{By, Plan, PlanError};
pub use table::{Label, Row, Table};
