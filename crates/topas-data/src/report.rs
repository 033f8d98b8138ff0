//! What a report is made from: runs in tables, by fields and measures.

mod axis;
mod compare;
mod dimension;
mod figure;
mod fold;
mod gaps;
mod order;
mod report_plan;
mod table;

pub use axis::PeriodAxis;
pub(crate) use compare::part_of_side;
pub use compare::{
    CompareKey, CompareOrder, ComparePlan, CompareReport, CompareRow, CompareSide, CompareTable,
    CompareVerdict, LEAST_RUNS,
};
pub use figure::{FIGURES, FailureRate, Figure, FigureValue, LostTime};
pub use fold::LogReport;
pub use gaps::{EndingGap, EndingGaps};
pub use order::{PercentOf, SortKey, TableOrder};
pub use report_plan::{PlanError, ReportPlan, TableSide};
pub use table::{Label, ReportRow, ReportTable};
