//! What a report is made from: runs in tables, by fields and measures.

mod axis;
mod dimension;
mod figure;
mod fold;
mod order;
mod report_plan;
mod table;

pub use axis::PeriodAxis;
pub use figure::{FIGURES, FailureRate, Figure, FigureValue};
pub use fold::LogReport;
pub use order::{PercentOf, SortKey, TableOrder};
pub use report_plan::{PlanError, ReportPlan, TableSide};
pub use table::{Label, ReportRow, ReportTable};
