//! What a report is made from: runs in tables, by fields and measures.

mod axis;
mod dimension;
mod fold;
mod order;
mod report_plan;
mod table;

pub use axis::PeriodAxis;
pub use fold::LogReport;
pub use order::{SortKey, TableOrder};
pub use report_plan::{PlanError, ReportPlan, TableSide};
pub use table::{Label, ReportRow, ReportTable};
