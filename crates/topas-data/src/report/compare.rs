//! Two reports of one log, and what changed from one to the other.

use std::cmp::Reverse;
use std::collections::HashMap;

use topas_format::line::{Extras, Line};

use super::fold::LogReport;
use super::order::TableOrder;
use super::report_plan::{ReportPlan, TableSide};
use super::table::{Label, ReportRow, ReportTable};
use crate::measure::{
    LogDifference, Measure, RunLogs, difference_error, log_difference, median_ratio_chance,
    sum_difference_error,
};
use crate::question::{Fold, Question};
use crate::run::{Detail, KeyPart, Run};
use crate::share::Share;

/// Runs of a side with less of them do not tell their noise.
pub const LEAST_RUNS: u64 = 5;

/// Two plans whose tables are the same. The first is of the runs that are looked at, the second
/// of those that they are compared with; a run can be of both, or of none.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    sides: [ReportPlan; 2],
}

impl ComparePlan {
    /// Of two plans with the same tables.
    pub fn new(sides: [ReportPlan; 2]) -> Self {
        let with_noise = |mut side: ReportPlan| {
            side.noise = true;
            side
        };
        ComparePlan { sides: sides.map(with_noise) }
    }

    /// Both plans.
    pub fn sides(&self) -> &[ReportPlan; 2] {
        &self.sides
    }
}

/// A key is a byte of two bits that tell which side wants the line, the length of the first
/// side's key in four bytes, and the keys of both sides.
const HEAD: usize = 5;

/// The part of a key that one side wrote.
pub(crate) fn part_of_side(key: &[u8], side: usize) -> &[u8] {
    let Some((head, keys)) = key.split_first_chunk::<HEAD>() else { return &[] };
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let (first, second) = keys.split_at_checked(length).unwrap_or((keys, &[]));
    if side == 0 { first } else { second }
}

/// The run as a side sees it, if it wants its lines.
fn of_side<'k>(run: &Run<'k>, side: usize) -> Option<Run<'k>> {
    let wanted = run.key.first().is_some_and(|wanted| wanted >> side & 1 == 1);
    wanted.then(|| Run {
        key: part_of_side(run.key, side),
        part: if side == 0 { KeyPart::First } else { KeyPart::Second },
        ..*run
    })
}

impl Question for ComparePlan {
    fn detail(&self) -> Detail {
        self.sides[0].detail().max(self.sides[1].detail())
    }

    fn reads_profiles(&self) -> bool {
        self.sides.iter().any(ReportPlan::reads_profiles)
    }

    #[inline]
    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.sides.iter().any(|side| side.wants(line, extras))
    }

    #[inline]
    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        let wanted = |side: usize| u8::from(self.sides[side].wants(line, extras)) << side;
        key.extend([wanted(0) | wanted(1), 0, 0, 0, 0]);
        self.sides[0].key(line, extras, key);
        let length = ((key.len() - HEAD) as u32).to_le_bytes();
        key[1..HEAD].copy_from_slice(&length);
        self.sides[1].key(line, extras, key);
    }
}

/// Two reports.
#[derive(Clone, Debug)]
pub struct CompareReport<'p> {
    /// In the order of the plan
    pub sides: [LogReport<'p>; 2],
    plan: &'p ComparePlan,
}

impl<'p> CompareReport<'p> {
    /// No runs yet.
    pub fn new(plan: &'p ComparePlan) -> Self {
        CompareReport { sides: plan.sides.each_ref().map(LogReport::new), plan }
    }

    /// For each table and each of its measures, what changed.
    pub fn tables(&self, order: &CompareOrder) -> Vec<CompareTable> {
        let [ones, others] = self.sides.each_ref().map(|side| side.tables(&TableOrder::default()));
        let both = ones.iter().zip(&others);
        let of_table = |(one, other): (&ReportTable, &ReportTable)| -> Vec<CompareTable> {
            (0..one.columns.len()).map(|column| compared(one, other, column, order)).collect()
        };
        both.flat_map(of_table).collect()
    }
}

impl Fold for CompareReport<'_> {
    fn add(&mut self, run: &Run<'_>) {
        for (side, report) in self.sides.iter_mut().enumerate() {
            let Some(run) = of_side(run, side) else { continue };
            let plan = &self.plan.sides[side];
            if plan.wants_run(&run) {
                report.add(&run);
            } else {
                report.aside += u64::from(plan.sets_aside(&run));
            }
        }
    }

    fn merge(&mut self, other: Self) {
        for (own, other) in self.sides.iter_mut().zip(other.sides) {
            own.merge(other);
        }
    }
}

/// What the rows of a comparison are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompareKey {
    /// The certain changes first; among them the largest, by the ratio of means or the difference
    /// of sums
    #[default]
    Change,
    /// The ratio, the largest growth first
    Ratio,
    /// The difference, the largest growth first
    Difference,
    /// The labels
    Name,
    /// Number of runs of the first side, the most first
    Runs,
    /// PEs x time of the first side, the most first
    Time,
}

/// How the rows of a comparison are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompareOrder {
    /// What they are sorted by
    pub sort: CompareKey,
    /// The other way round
    pub reverse: bool,
}

/// What changed in a measure, by groups.
#[derive(Clone, Debug)]
pub struct CompareTable {
    /// What it is by
    pub by: Vec<TableSide>,
    /// The measure
    pub measure: &'static Measure,
    /// Its rows in order
    pub rows: Vec<CompareRow>,
}

/// A group on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareRow {
    /// A label for each thing the table is by
    pub labels: Vec<Label>,
    /// What it is on each side
    pub sides: [CompareSide; 2],
    /// First less second value
    pub difference: Option<f64>,
    /// First by second value; None if that is 0
    pub ratio: Option<f64>,
    /// Half of the interval around the difference that holds it with a confidence of 95 %
    pub error: Option<f64>,
    /// Whether it changed
    pub verdict: CompareVerdict,
}

/// A group on one side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompareSide {
    /// All its runs
    pub share: Share,
    /// Runs with a value
    pub runs: u64,
    /// Mean of the measure, or its sum if that is compared
    pub value: Option<f64>,
    /// Standard error of the value
    pub error: Option<f64>,
    /// The logarithms of the values of runs
    pub logs: RunLogs,
    /// Quartiles of the values of runs
    pub quartiles: Option<[f64; 3]>,
}

/// Whether a group changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompareVerdict {
    /// By more than the noise of both sides
    Changed,
    /// By less
    WithinNoise,
    /// A side has less than [`LEAST_RUNS`] runs with a value
    FewRuns,
    /// It has runs on the first side only
    New,
    /// It has runs on the second side only
    Gone,
    /// A side has no value
    NotMeasured,
}

impl CompareSide {
    fn of(row: Option<&ReportRow>, column: usize, measure: &Measure) -> Self {
        let Some(row) = row else { return CompareSide::default() };
        let (Some(sample), Some(noise)) = (row.samples.get(column), row.noise.get(column)) else {
            return CompareSide { share: row.share, ..CompareSide::default() };
        };
        let (value, error) = if measure.is_compared_by_sum() {
            (sample.sum(measure).map(|sum| sum.value), noise.sum_error())
        } else {
            let mean = sample.mean(measure).map(|mean| mean.value);
            (mean, mean.and_then(|mean| noise.mean_error(mean)))
        };
        CompareSide {
            share: row.share,
            runs: sample.valued.runs,
            value,
            error,
            logs: noise.logs(),
            quartiles: sample.quartiles().map(|(quartiles, _)| quartiles),
        }
    }
}

fn compared(
    one: &ReportTable,
    other: &ReportTable,
    column: usize,
    order: &CompareOrder,
) -> CompareTable {
    let measure = one.columns[column];
    let has_runs = |row: &&ReportRow| row.share.runs > 0;
    let mut groups: Vec<&[Label]> = Vec::new();
    let mut rows: HashMap<&[Label], [Option<&ReportRow>; 2]> = HashMap::new();
    for (side, table) in [one, other].into_iter().enumerate() {
        for row in table.rows.iter().filter(has_runs) {
            let known = rows.entry(&row.labels).or_insert_with(|| {
                groups.push(&row.labels);
                [None; 2]
            });
            known[side] = Some(row);
        }
    }
    let row = |labels: &&[Label]| {
        let sides = rows[*labels].map(|row| CompareSide::of(row, column, measure));
        CompareRow::new(labels.to_vec(), sides, measure)
    };
    let mut rows: Vec<CompareRow> = groups.iter().map(row).collect();
    let names = |row: &CompareRow| row.labels.iter().map(Label::text).collect::<Vec<_>>();
    rows.sort_by_cached_key(names);
    let descending = |value: f64| Reverse(OrderedValue(value));
    match order.sort {
        CompareKey::Name => {}
        CompareKey::Runs => rows.sort_by_key(|row| Reverse(row.sides[0].share.runs)),
        CompareKey::Time => rows.sort_by_key(|row| Reverse(row.sides[0].share.time.0)),
        CompareKey::Ratio => {
            rows.sort_by_key(|row| descending(row.ratio.unwrap_or(f64::NEG_INFINITY)));
        }
        CompareKey::Difference => {
            rows.sort_by_key(|row| descending(row.difference.unwrap_or(f64::NEG_INFINITY)));
        }
        CompareKey::Change => {
            rows.sort_by_key(|row| (row.verdict, descending(row.size(measure))));
        }
    }
    if order.reverse {
        rows.reverse();
    }
    CompareTable { by: one.by.clone(), measure, rows }
}

impl CompareRow {
    fn new(labels: Vec<Label>, sides: [CompareSide; 2], measure: &Measure) -> Self {
        let [one, other] = &sides;
        let mut row = CompareRow {
            labels,
            sides,
            difference: None,
            ratio: None,
            error: None,
            verdict: CompareVerdict::NotMeasured,
        };
        if one.share.runs == 0 || other.share.runs == 0 {
            let is_new = other.share.runs == 0;
            row.verdict = if is_new { CompareVerdict::New } else { CompareVerdict::Gone };
            return row;
        }
        let (Some(value), Some(before)) = (one.value, other.value) else { return row };
        let difference = value - before;
        row.difference = Some(difference);
        row.ratio = (before != 0.0).then(|| value / before);
        row.verdict = CompareVerdict::FewRuns;
        if one.runs.min(other.runs) < LEAST_RUNS {
            return row;
        }
        let (Some(error), Some(error_before)) = (one.error, other.error) else { return row };
        let half = if measure.is_compared_by_sum() {
            sum_difference_error([error, error_before])
        } else {
            difference_error([(error, one.runs), (error_before, other.runs)])
        };
        row.error = Some(half);
        let is_within = difference.abs() <= half;
        row.verdict = if is_within { CompareVerdict::WithinNoise } else { CompareVerdict::Changed };
        row
    }

    /// How the values of the runs of both sides differ at the same number of PEs, each run counting once:
    /// [`log_difference`]. None also if a side has less than [`LEAST_RUNS`] values above 0.
    pub fn log_difference(&self) -> Option<LogDifference> {
        let logs = self.sides.each_ref().map(|side| side.logs);
        if logs.iter().any(|logs| logs.runs < LEAST_RUNS) {
            return None;
        }
        log_difference(logs)
    }

    /// The chance that noise alone makes the ratio of the two medians as far from 1 as theirs is:
    /// [`median_ratio_chance`]. None if a side has no quartiles.
    pub fn median_chance(&self) -> Option<f64> {
        let side = |side: &CompareSide| Some((side.quartiles?, side.runs));
        median_ratio_chance([side(&self.sides[0])?, side(&self.sides[1])?])
    }

    /// How large the change is: of means by their ratio, whichever is larger; of sums by their
    /// difference; of a group that is new or gone by its time.
    fn size(&self, measure: &Measure) -> f64 {
        let time = |side: &CompareSide| side.share.time.0 as f64;
        match self.verdict {
            CompareVerdict::New | CompareVerdict::Gone | CompareVerdict::NotMeasured => {
                time(&self.sides[0]).max(time(&self.sides[1]))
            }
            _ if measure.is_compared_by_sum() => self.difference.map_or(0.0, f64::abs),
            _ => match self.ratio {
                Some(ratio) if ratio > 0.0 => ratio.ln().abs(),
                // From or to nothing.
                _ => self.difference.map_or(0.0, |d| if d == 0.0 { 0.0 } else { f64::INFINITY }),
            },
        }
    }
}

/// A number that is no NaN, in order.
#[derive(Clone, Copy, PartialEq)]
struct OrderedValue(f64);

impl Eq for OrderedValue {}

impl PartialOrd for OrderedValue {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedValue {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(runs: u64, value: f64, error: f64) -> CompareSide {
        let share = Share { runs, ..Share::default() };
        CompareSide {
            share,
            runs,
            value: Some(value),
            error: Some(error),
            logs: RunLogs::default(),
            quartiles: None,
        }
    }

    fn verdict(one: CompareSide, other: CompareSide) -> CompareVerdict {
        let wall = Measure::named("wall").unwrap();
        CompareRow::new(Vec::new(), [one, other], wall).verdict
    }

    #[test]
    fn a_change_is_more_than_the_noise() {
        assert_eq!(verdict(side(50, 12.0, 0.5), side(50, 10.0, 0.5)), CompareVerdict::Changed);
        assert_eq!(verdict(side(50, 11.0, 0.5), side(50, 10.0, 0.5)), CompareVerdict::WithinNoise);
        assert_eq!(verdict(side(4, 99.0, 0.1), side(50, 10.0, 0.5)), CompareVerdict::FewRuns);
        assert_eq!(verdict(side(9, 1.0, 0.1), CompareSide::default()), CompareVerdict::New);
        assert_eq!(verdict(CompareSide::default(), side(9, 1.0, 0.1)), CompareVerdict::Gone);
        let none = CompareSide { value: None, ..side(9, 1.0, 0.1) };
        assert_eq!(verdict(none, side(9, 1.0, 0.1)), CompareVerdict::NotMeasured);
    }

    #[test]
    fn keys_have_a_part_for_each_side() {
        let key = [&[3u8, 2, 0, 0, 0][..], b"ab", b"cde"].concat();
        assert_eq!((part_of_side(&key, 0), part_of_side(&key, 1)), (&b"ab"[..], &b"cde"[..]));
        assert_eq!(part_of_side(&[], 0), b"");
        assert_eq!(part_of_side(&[1, 9, 0, 0, 0, 7], 1), b"");
    }
}
