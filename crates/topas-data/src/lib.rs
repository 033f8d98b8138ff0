//! Finds and reads logs, joins the lines of a run, aggregates.
//!
//! This crate alone opens logs. It makes no text: what it returns goes to
//! `topas-render`. The way of a line through it:
//!
//! ```text
//! Source -> feed (blocks of whole lines) -> line_index -> block (Line) -> Question: wanted, group
//!            any thread takes the next                   bad: Tally        |
//!                                                                          v
//!         Fold <- Run <- launch (lines of one run) <- join <- store (records by launch)
//! ```
//!
//! [`ask`] does all of it on several threads and in bounded memory; [`scan()`] reads the lines
//! of one source in their order.
//!
//! Nothing in a log is fatal: a line that cannot be read is counted by its fault in
//! [`Tally`], a file that ends too soon gives the lines before the break and an error
//! that says so.
#![deny(unsafe_code)]

mod account;
mod block;
pub mod check;
pub mod clock;
mod decode;
mod deliver;
mod engine;
mod feed;
pub mod field;
mod first_extras;
mod follow;
mod group;
mod holes;
mod key_parts;
mod line_index;
pub mod measure;
mod mpi_times;
mod one_run;
mod opened;
mod outputs;
mod own;
mod pattern;
mod period;
pub mod pes;
mod profile_line;
mod profile_scan;
mod pseudonym;
mod query;
mod question;
mod read_at;
mod remark;
mod report;
mod run;
mod run_list;
mod sacct;
mod scan;
mod segment;
mod share;
mod source;
mod student;
#[allow(unsafe_code, reason = "a system call")]
mod sys;
mod tally;
mod utilisation;
mod vouch;
mod week;
mod when;

pub use account::Account;
pub use block::MAX_LINE_READ;
pub use deliver::{LineWriter, append, deliver};
pub use engine::{
    AskAnswer, AskError, AskProgress, JoinedRun, MEMORY, Resources, TemporaryError, ask,
    ask_inputs, ask_reader, join_lines,
};
pub use feed::BLOCK;
pub use field::parse_size;
pub use follow::{
    FileIdentity, FilePlace, FollowedLine, FollowedSource, LoggedLine, LoggedProfileLine,
};
pub use holes::data_from;
pub use mpi_times::{MpiTimes, MpiWaits};
pub use one_run::{
    FoundRuns, LineFacts, MOST_EARLIER, MeasuredValue, RunDetails, RunHistory, RunName, RunRecord,
    RunSearch, SeenLines, earlier_runs, earlier_runs_in, find_runs,
};
pub use outputs::{Because, KeptFile, Outputs};
pub use own::{OwnLines, OwnProfiles, UnknownUser};
pub use pattern::Pattern;
pub use period::{DateError, Period, PeriodError, parse_date, parse_period};
pub use profile_scan::{TakeProfileLine, scan_profiles, scan_profiles_of};
pub use pseudonym::{Anonymizer, ExportKey, Fate, KeyError, NoSuchFate};
pub use query::{
    Expression, ExpressionError, MOST_NESTED, Operand, Selection, UnknownOperand, Valuation,
};
pub use question::{Fold, Question};
pub use read_at::read_at_most;
pub use remark::{APART, MOST_CPUS, Oddities, Remarks};
pub use report::{
    CompareKey, CompareOrder, ComparePlan, CompareReport, CompareRow, CompareSide, CompareTable,
    CompareVerdict, EndingGap, EndingGaps, FIGURES, FailureRate, Figure, FigureValue, LEAST_RUNS,
    Label, LogReport, LostTime, PercentOf, PeriodAxis, PlanError, ReportPlan, ReportRow,
    ReportTable, SortKey, TableOrder, TableSide,
};
pub use run::{CpuTime, Detail, FpRate, PeRecord, Run};
pub use run_list::{
    RunColumn, RunListAnswer, RunListError, RunListPlan, RunRow, RunValue, list_runs,
};
pub use sacct::{
    CoverageQuestion, CpuHours, JobShare, LogJobs, NoLine, RunsByJob, SacctCoverage, SacctError,
    SacctFault, SacctGroup, SacctJobs, SacctLines, SacctSeen, SacctTally, join_sacct,
};
pub use scan::{scan, scan_reader};
pub use segment::SegmentError;
pub use segment::close::{
    CloseError, CloseOptions, CloseReport, Closing, LeftFile, Listener, close,
};
pub use segment::forget::{ForgetReport, Forgetting, forget};
pub use segment::lines::{LeftOut, LogLine, each_line};
pub use segment::merge::{MergeOptions, MergeOutput, MergeProgress, MergeReport, merge};
pub use segment::month::{Month, NoMonth};
pub use segment::output::Output;
pub use segment::purge::{PurgeOptions, PurgeReport, Purging, purge};
pub use share::{PeTime, Share};
pub use source::{FoundFile, Inputs, KeptInput, PassedOver, Source, SourceError};
pub use tally::{Example, Problem, Tally};
pub use topas_format::capacity::CapacityLine;
pub use topas_format::line::Fault;
pub use utilisation::{
    Capacity, MOST_PERIODS, PeriodStep, UsedCell, UsedPeriod, Utilisation, UtilisationQuestion,
    UtilisationReport, UtilisationTooLong, ZoneFound,
};
pub use vouch::{Claims, Foreign, Stranger, believe};
pub use week::{
    LEAST_OTHERS, MPI_SHARE, Reference, WEEKS_BEFORE, WeekPlan, WeekProgram, WeekReport,
    WeekRunName, WeekSums, WeekUser, WeekUserId, week_runs,
};
