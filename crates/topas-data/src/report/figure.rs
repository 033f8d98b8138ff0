//! What is counted of the runs of a row besides measures: users, jobs, programs, failures, and when
//! they ended.

use rustc_hash::FxHashSet;
use topas_format::civil::Date;

use super::dimension::FieldValues;
use crate::field::{ENDED_WELL, Field, FieldKind, MILLION, most_similar};
use crate::period::both_days;
use crate::run::Run;
use crate::share::PeTime;

/// A figure: a number of different ones, or of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Different users
    Users,
    /// Different jobs of the batch system
    Jobs,
    /// Different executables
    Exes,
    /// Runs that failed, of those whose ending is known
    Failures,
    /// PE-hours of the runs that failed, of those of the runs whose ending is known
    Lost,
    /// Days of the first and of the last run
    Days,
}

/// Every figure.
pub const FIGURES: [Figure; 6] =
    [Figure::Users, Figure::Jobs, Figure::Exes, Figure::Failures, Figure::Lost, Figure::Days];

impl Figure {
    /// The figure of this name.
    ///
    /// # Errors
    ///
    /// The name of a similar one, if there is one.
    pub fn named(name: &str) -> Result<Figure, Option<&'static str>> {
        let known = FIGURES.into_iter().find(|figure| figure.name() == name);
        known.ok_or_else(|| most_similar(name, FIGURES.iter().map(|f| (f.name(), f.name()))))
    }

    /// Its name in a query.
    pub const fn name(self) -> &'static str {
        match self {
            Figure::Users => "users",
            Figure::Jobs => "jobs",
            Figure::Exes => "exes",
            Figure::Failures => "failures",
            Figure::Lost => "lost",
            Figure::Days => "days",
        }
    }

    /// What a value is.
    pub const fn unit(self) -> &'static str {
        match self {
            Figure::Failures => "% of runs",
            Figure::Lost => "PE-h",
            Figure::Days => "day",
            _ => "number",
        }
    }

    /// What it is, as a sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Figure::Users => "Number of different users of the runs.",
            Figure::Jobs => "Number of different jobs of the batch system.",
            Figure::Exes => "Number of different executables, by their names.",
            Figure::Failures => {
                "Runs that did not end ok, of the runs whose ending is known, with the 95 % score \
                 interval of Wilson."
            }
            Figure::Lost => {
                "PE-hours of the runs that did not end ok, and their share in those of the runs \
                 whose ending is known."
            }
            Figure::Days => "Days on which the first and the last run ended.",
        }
    }

    /// The field that it is made from; None if it needs none.
    pub(super) fn field(self) -> Option<Field> {
        let name = match self {
            Figure::Users => "user",
            Figure::Jobs => "job",
            Figure::Exes => "exe",
            Figure::Failures | Figure::Lost => "ending",
            Figure::Days => return None,
        };
        Some(Field::named(name).expect("a field of the table"))
    }
}

/// A figure of some runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FigureValue {
    /// A number of different ones
    Distinct {
        /// So many
        number: u64,
        /// Runs that tell none
        runs_without: u64,
    },
    /// Runs that failed
    Failures(FailureRate),
    /// Time of runs that failed
    Lost(LostTime),
    /// First and last day; None if there is no run
    Days(Option<(Date, Date)>),
}

/// Time of runs that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostTime {
    /// PEs x wall clock time of the runs that did not end ok
    pub failed: PeTime,
    /// Of the runs whose ending is known, these included
    pub known: PeTime,
}

impl FigureValue {
    /// What rows are sorted by: the number, the rate if there is one, the time, or the last day.
    pub(super) fn rank(&self) -> Option<f64> {
        match self {
            FigureValue::Distinct { number, .. } => Some(*number as f64),
            FigureValue::Failures(rate) => rate.rate(),
            FigureValue::Lost(time) => Some(time.failed.seconds()),
            FigureValue::Days(days) => days.map(|(_, last)| last.days() as f64),
        }
    }
}

/// Runs that failed, of those whose ending is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailureRate {
    /// Runs that did not end ok
    pub failed: u64,
    /// Runs whose ending is known, these included
    pub known: u64,
    /// Runs whose ending is not known
    pub unknown: u64,
}

impl FailureRate {
    /// The share of failed runs from 0 to 1, None if no ending is known.
    pub fn rate(&self) -> Option<f64> {
        (self.known > 0).then(|| self.failed as f64 / self.known as f64)
    }

    /// The bounds between which the share is with a confidence of 95 %, from 0 to 1.
    ///
    /// E. B. Wilson: Probable inference, the law of succession, and statistical inference,
    /// Journal of the American Statistical Association 22 (1927): the shares p from which the
    /// one that was found is at most z standard errors of p away.
    pub fn interval(&self) -> Option<[f64; 2]> {
        /// Of the normal distribution, 97.5 % are below.
        const Z: f64 = 1.959_963_984_540_054;
        let (rate, n) = (self.rate()?, self.known as f64);
        let middle = rate + Z * Z / (2.0 * n);
        let half = Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
        let bound = |bound: f64| (bound / (1.0 + Z * Z / n)).clamp(0.0, 1.0);
        let low = if self.failed == 0 { 0.0 } else { bound(middle - half) };
        let high = if self.failed == self.known { 1.0 } else { bound(middle + half) };
        Some([low, high])
    }
}

/// A figure in the making.
#[derive(Clone, Debug)]
pub(super) enum FigureCell {
    /// Numbers of values
    Distinct {
        values: FxHashSet<u32>,
        runs_without: u64,
    },
    Failures(FailureRate),
    Lost(LostTime),
    Days(Option<(Date, Date)>),
}

impl FigureCell {
    pub(super) fn new(figure: Figure) -> Self {
        match figure {
            Figure::Failures => FigureCell::Failures(FailureRate::default()),
            Figure::Lost => FigureCell::Lost(LostTime::default()),
            Figure::Days => FigureCell::Days(None),
            _ => FigureCell::Distinct { values: FxHashSet::default(), runs_without: 0 },
        }
    }

    /// The same figure of no runs.
    pub(super) fn emptied(&self) -> Self {
        match self {
            FigureCell::Distinct { .. } => FigureCell::new(Figure::Users),
            FigureCell::Failures(_) => FigureCell::new(Figure::Failures),
            FigureCell::Lost(_) => FigureCell::new(Figure::Lost),
            FigureCell::Days(_) => FigureCell::new(Figure::Days),
        }
    }

    pub(super) fn add(&mut self, told: FigureOfRun, run: &Run<'_>) {
        match (self, told) {
            (FigureCell::Days(days), _) => *days = both_days(*days, Some((run.date, run.date))),
            (FigureCell::Lost(time), FigureOfRun::Ended { failed }) => {
                time.known.0 += run.pe_micros();
                time.failed.0 += if failed { run.pe_micros() } else { 0 };
            }
            (FigureCell::Lost(_), _) => {}
            (FigureCell::Distinct { values, .. }, FigureOfRun::Value(number)) => {
                values.insert(number);
            }
            (FigureCell::Distinct { runs_without, .. }, _) => *runs_without += 1,
            (FigureCell::Failures(rate), FigureOfRun::Ended { failed }) => {
                rate.known += 1;
                rate.failed += u64::from(failed);
            }
            (FigureCell::Failures(rate), _) => rate.unknown += 1,
        }
    }

    /// Adds another one, whose values have these numbers here.
    pub(super) fn merge(&mut self, other: &FigureCell, number: impl Fn(u32) -> u32) {
        match (self, other) {
            (
                FigureCell::Distinct { values, runs_without },
                FigureCell::Distinct { values: others, runs_without: without },
            ) => {
                values.extend(others.iter().map(|value| number(*value)));
                *runs_without += without;
            }
            (FigureCell::Failures(rate), FigureCell::Failures(other)) => {
                rate.failed += other.failed;
                rate.known += other.known;
                rate.unknown += other.unknown;
            }
            (FigureCell::Lost(time), FigureCell::Lost(other)) => {
                time.failed.0 += other.failed.0;
                time.known.0 += other.known.0;
            }
            (FigureCell::Days(days), FigureCell::Days(other)) => *days = both_days(*days, *other),
            _ => unreachable!("reports of one plan have the same figures"),
        }
    }

    pub(super) fn value(&self) -> FigureValue {
        match self {
            FigureCell::Distinct { values, runs_without } => {
                FigureValue::Distinct { number: values.len() as u64, runs_without: *runs_without }
            }
            FigureCell::Failures(rate) => FigureValue::Failures(*rate),
            FigureCell::Lost(time) => FigureValue::Lost(*time),
            FigureCell::Days(days) => FigureValue::Days(*days),
        }
    }
}

/// What a run adds to a figure.
#[derive(Clone, Copy, Debug)]
pub(super) enum FigureOfRun {
    Missing,
    /// The number of its value
    Value(u32),
    Ended {
        failed: bool,
    },
}

/// What runs add to a figure.
#[derive(Clone, Debug)]
pub(super) struct FigureValues {
    figure: Figure,
    /// None if it is made from no field
    values: Option<FieldValues>,
}

impl FigureValues {
    pub(super) fn new(figure: Figure, field: Option<usize>) -> Self {
        FigureValues { figure, values: field.map(FieldValues::new) }
    }

    /// Takes the values of another one: their new numbers.
    pub(super) fn merge(&mut self, other: Self) -> Vec<u32> {
        match (&mut self.values, other.values) {
            (Some(own), Some(other)) => own.merge(other),
            _ => Vec::new(),
        }
    }

    /// Of a run in whose keys the fields begin at a place. A run fails if one of its lines does.
    pub(super) fn of(&mut self, run: &Run<'_>, fields: usize) -> FigureOfRun {
        let Some(values) = &mut self.values else { return FigureOfRun::Missing };
        if !matches!(self.figure, Figure::Failures | Figure::Lost) {
            let number = values.number(run.key.get(fields..).unwrap_or_default(), run.group);
            return match values.values[number as usize] {
                Some(_) => FigureOfRun::Value(number),
                None => FigureOfRun::Missing,
            };
        }
        const OK: i128 = ENDED_WELL as i128 * MILLION;
        let mut told = FigureOfRun::Missing;
        for pe in run.pes {
            let key = run.key_of(pe).get(fields..).unwrap_or_default();
            let number = values.number(key, pe.group);
            if let Some(key) = &values.values[number as usize] {
                let ok = super::axis::number(FieldKind::Class(&[]), key) == Some(OK);
                let before = matches!(told, FigureOfRun::Ended { failed: true });
                told = FigureOfRun::Ended { failed: before || !ok };
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_wilson() {
        let of = |failed, known| FailureRate { failed, known, unknown: 7 }.interval();
        let near = |interval: Option<[f64; 2]>, expected: [f64; 2]| {
            let interval = interval.unwrap();
            for (bound, expected) in interval.iter().zip(expected) {
                assert!((bound - expected).abs() < 5e-7, "{interval:?}");
            }
        };
        assert_eq!(of(0, 0), None);
        // R: prop.test(x, n, correct = FALSE)
        near(of(0, 10), [0.0, 0.277_532_8]);
        near(of(1, 10), [0.017_876_2, 0.404_150_03]);
        near(of(5, 10), [0.236_593_1, 0.763_406_9]);
        near(of(10, 10), [0.722_467_2, 1.0]);
        near(of(15, 1000), [0.009_110_979, 0.024_600_977]);
    }

    #[test]
    fn names_are_known() {
        for figure in FIGURES {
            assert_eq!(Figure::named(figure.name()), Ok(figure));
            assert!(figure.about().ends_with('.'));
            assert_eq!(figure.field().is_none(), figure == Figure::Days);
        }
        assert_eq!(Figure::named("user"), Err(Some("users")));
        assert_eq!(Figure::named("mflops"), Err(None));
    }
}
