//! What a report is made from: runs in tables, by fields and measures.

mod dimension;
mod fold;
mod order;
mod plan;
mod table;

pub use fold::LogReport;
pub use order::{SortKey, TableOrder};
pub use plan::{PlanError, ReportPlan, TableSide};
pub use table::{Label, ReportRow, ReportTable};
