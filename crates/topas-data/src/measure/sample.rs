//! A measure of many runs: its mean and quartiles, its sum over all PEs from those that
//! measured, and how sure that is.

use super::exact::ExactSum;
use super::integer_sums::{IntegerSums, RunTerms};
use super::quotient::quotient;
use super::{Measure, Of, Quantiles, TermSums};
use crate::run::Run;
use crate::share::{PeTime, Share};

/// Sums are held in parts of a unit, so that those of up to 16 measuring PEs are exact: the
/// least common multiple of 1 to 16. Of more PEs each run is rounded to such a part.
const PARTS: u128 = 720_720;

/// A measure of a group of runs.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Runs that have a value; the others are in one of the next two
    pub valued: Share,
    /// Runs none of whose PEs has the terms
    pub uncounted: Share,
    /// Runs whose lower term is 0
    pub zero: Share,
    /// Runs that used an accelerator, whose rates of the processor do not count
    pub accelerated: Share,
    /// Runs with a value that is an estimate
    pub estimated: Share,
    /// Extrapolated terms of the runs with a value, in 1 / [`PARTS`]
    upper: u128,
    lower: u128,
    /// The upper term of the others
    upper_of_zero: u128,
    /// PEs that measured, and all PEs of their runs
    pes: u128,
    all_pes: u128,
    /// Runs whose PEs tell a spread, their part of the sum, and the variance of that
    spread_runs: u64,
    spread_upper: u128,
    variance: ExactSum,
    quantiles: Quantiles,
}

/// Mean of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// In the unit of the measure: extrapolated upper by extrapolated lower terms, which is
    /// the mean of the runs' values weighted by their lower terms (PEs x time for rates)
    pub value: f64,
    /// Whether an estimate is in it
    pub estimate: bool,
}

/// Sum of the upper term over all PEs, in the unit that the measure tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// The sum
    pub value: f64,
    /// Runs it is of
    pub runs: u64,
    /// PEs that measured
    pub pes: u128,
    /// PEs of those runs
    pub all_pes: u128,
    /// None where no run tells a spread
    pub spread: Option<Spread>,
}

/// How sure a sum is, from the spread between the measuring PEs of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Standard error of the part of the sum that [`Spread::part`] tells, in the same unit
    pub error: f64,
    /// Runs it is known of: with two measuring PEs or more, or with all of them
    pub runs: u64,
    /// Their part of the sum, in the same unit
    pub part: f64,
}

impl Spread {
    /// The standard error as a share of the part it is known of; 0 if that is 0.
    pub fn relative(&self) -> f64 {
        if self.part > 0.0 { self.error / self.part } else { 0.0 }
    }
}

impl Sample {
    /// Adds a run, of which `of` is the value.
    ///
    /// With n measuring PEs of N and values y with mean m, the sum over all PEs is N m, and
    /// its variance N^2 (1 - n/N) s^2 / n with s^2 = sum (y - m)^2 / (n - 1): simple random
    /// sampling without replacement (W. G. Cochran, Sampling Techniques, 3rd ed., 1977,
    /// section 2.6). Runs are independent, so their variances add up. The PEs are drawn
    /// among all but the first and the last where there are four or more.
    pub fn add(&mut self, measure: &Measure, run: &Run<'_>, of: &Of, quantiles: bool) {
        self.add_terms(measure, run, of, measure.terms_of(run), quantiles);
    }

    /// As [`Sample::add`], of a run whose terms are known.
    pub(crate) fn add_terms(
        &mut self,
        measure: &Measure,
        run: &Run<'_>,
        of: &Of,
        terms: Option<RunTerms>,
        quantiles: bool,
    ) {
        let share = run.pe_micros();
        let Some(terms) = terms else { return self.uncounted.add(share) };
        let RunTerms { counted, upper: extrapolated, lower, pes: n, all_pes: all, estimate } =
            terms;
        self.pes += u128::from(n);
        self.all_pes += u128::from(all);
        if let Of::Value { upper: u, lower: l } = of {
            self.valued.add(share);
            self.upper = self.upper.saturating_add(extrapolated);
            self.lower = self.lower.saturating_add(lower);
            if estimate {
                self.estimated.add(share);
            }
            if quantiles {
                self.quantiles.add(quotient(*u, *l));
            }
        } else {
            self.zero.add(share);
            self.upper_of_zero = self.upper_of_zero.saturating_add(extrapolated);
        }
        if measure.is_extrapolated() && (n >= 2 || n == all) {
            self.spread_runs += 1;
            self.spread_upper = self.spread_upper.saturating_add(extrapolated);
            if n < all {
                let (n, all) = (f64::from(n), f64::from(all));
                let mean = counted as f64 / n;
                let mut squares = ExactSum::default();
                measure.each_pe(run, |ratio| squares.add((ratio.upper as f64 - mean).powi(2)));
                self.variance.add(all * (all - n) * squares.value() / (n * (n - 1.0)));
            }
        }
    }

    /// Of sums that were kept: of all runs, of those that have a value, and of those whose lower
    /// term is 0. It knows neither quartiles nor a spread, nor why the other runs have no value.
    pub fn of_sums(all: &IntegerSums, valued: &IntegerSums, zero: &IntegerSums) -> Sample {
        let [of_all, of_valued, of_zero] = [all, valued, zero].map(IntegerSums::share);
        let with = of_valued.plus(of_zero);
        Sample {
            valued: of_valued,
            zero: of_zero,
            uncounted: Share {
                runs: of_all.runs.saturating_sub(with.runs),
                time: PeTime(of_all.time.0.saturating_sub(with.time.0)),
            },
            estimated: Share { runs: valued.estimated(), ..Share::default() },
            upper: valued.upper(),
            lower: valued.lower(),
            upper_of_zero: zero.upper(),
            pes: valued.pes() + zero.pes(),
            all_pes: valued.all_pes() + zero.all_pes(),
            ..Sample::default()
        }
    }

    /// Adds what another one has.
    pub fn merge(&mut self, other: Sample) {
        self.valued = self.valued.plus(other.valued);
        self.uncounted = self.uncounted.plus(other.uncounted);
        self.zero = self.zero.plus(other.zero);
        self.accelerated = self.accelerated.plus(other.accelerated);
        self.estimated = self.estimated.plus(other.estimated);
        self.upper = self.upper.saturating_add(other.upper);
        self.lower = self.lower.saturating_add(other.lower);
        self.upper_of_zero = self.upper_of_zero.saturating_add(other.upper_of_zero);
        self.pes += other.pes;
        self.all_pes += other.all_pes;
        self.spread_runs += other.spread_runs;
        self.spread_upper = self.spread_upper.saturating_add(other.spread_upper);
        self.variance.merge(&other.variance);
        self.quantiles.merge(other.quantiles);
    }

    /// Runs without a value.
    pub fn without(&self) -> Share {
        self.uncounted.plus(self.zero).plus(self.accelerated)
    }

    /// Whether sums are beyond what is held (3.4e38 / 720720), and so not to be shown.
    pub fn is_overflown(&self) -> bool {
        [self.upper, self.lower, self.upper_of_zero].contains(&u128::MAX)
    }

    /// Its mean; None if no run has a value.
    pub fn mean(&self, measure: &Measure) -> Option<Mean> {
        if self.valued.runs == 0 || self.lower == 0 || self.is_overflown() {
            return None;
        }
        let value = measure.in_unit(self.upper, self.lower)?;
        Some(Mean { value, estimate: self.estimated.runs > 0 })
    }

    /// Its quartiles over the runs with a value, each counted once; None if there are none,
    /// or they were not asked for. And whether they are estimates.
    pub fn quartiles(&self) -> Option<([f64; 3], bool)> {
        self.quantiles.at([0.25, 0.5, 0.75]).map(|at| (at, self.quantiles.is_estimate()))
    }

    /// The sum over all PEs; None if nothing was counted, or if a sum has no meaning.
    pub fn sum(&self, measure: &Measure) -> Option<Sum> {
        let runs = self.valued.runs + self.zero.runs;
        if runs == 0 || self.is_overflown() || measure.sum.0.is_empty() {
            return None;
        }
        let divisor = measure.sum_divisor;
        let in_unit = |parts: u128| quotient(parts, PARTS * u128::from(divisor));
        let spread = (self.spread_runs > 0).then(|| Spread {
            error: self.variance.value().sqrt() / divisor as f64,
            runs: self.spread_runs,
            part: in_unit(self.spread_upper),
        });
        let value = in_unit(self.upper.saturating_add(self.upper_of_zero));
        Some(Sum { value, runs, pes: self.pes, all_pes: self.all_pes, spread })
    }
}

impl Measure {
    /// What a run adds to sums of this measure; None if none of its PEs has the terms.
    pub fn terms_of(&self, run: &Run<'_>) -> Option<RunTerms> {
        self.sums(run).map(|sums| self.extrapolated(&sums, run))
    }

    /// What sums of terms over the PEs of a run that have them are for all of its PEs.
    pub(super) fn extrapolated(&self, sums: &TermSums, run: &Run<'_>) -> RunTerms {
        let TermSums { upper, lower, pes: n, estimate } = *sums;
        let all = if self.is_extrapolated() { run.npes.max(n) } else { n };
        RunTerms {
            counted: upper,
            upper: extrapolate(upper, n, all),
            lower: extrapolate(lower, n, all),
            pes: n,
            all_pes: all,
            estimate,
        }
    }
}

/// `sum` over n PEs for all of them, in [`PARTS`]; saturates.
fn extrapolate(sum: u128, n: u32, all: u32) -> u128 {
    // Below 2^52.
    let times = u128::from(all) * PARTS;
    let scaled = match u64::try_from(sum) {
        Ok(sum) => u128::from(sum) * times,
        Err(_) => sum.saturating_mul(times),
    };
    match n {
        _ if scaled == u128::MAX => scaled,
        // No division, which is of 128 bits, where it would change nothing.
        1 => scaled,
        _ => (scaled + u128::from(n / 2)) / u128::from(n),
    }
}
