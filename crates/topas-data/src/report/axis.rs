//! Periods of the calendar along a side of a table: all of them, those without runs, too.

use crate::field::{Field, FieldKind, MILLION, Value};

/// Most periods in a row without runs that are shown; more are a gap in the axis.
const MOST_EMPTY: i128 = 400;

/// Most periods without runs that are shown in all.
const MOST_EMPTY_IN_ALL: i128 = 10_000;

/// Periods along a side of a table, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeriodAxis {
    /// Places among the labels of the side before which periods without runs are left out
    pub breaks: Vec<usize>,
    /// Number of periods that are left out there
    pub left_out: u64,
}

/// How the periods of a field follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeriodStep {
    /// From the first to the last with runs, by so much
    By(i64),
    /// Always so many, from 0 on
    Cycle(i64),
}

impl PeriodStep {
    /// Of a field that tells when a run was; None of any other field.
    pub(super) fn of(field: &Field) -> Option<PeriodStep> {
        match (field.kind(), field.name()) {
            (FieldKind::Day | FieldKind::Month, _) | (_, "year") => Some(PeriodStep::By(1)),
            (FieldKind::Week, _) => Some(PeriodStep::By(7)),
            (_, "hour") => Some(PeriodStep::Cycle(24)),
            (_, "weekday") => Some(PeriodStep::Cycle(7)),
            _ => None,
        }
    }

    /// The periods, given those with runs in ascending order, and where some are left out.
    pub(super) fn filled(self, present: &[i128]) -> (Vec<i128>, PeriodAxis) {
        let mut axis = PeriodAxis::default();
        let step = match self {
            PeriodStep::By(step) => i128::from(step) * MILLION,
            PeriodStep::Cycle(of) => {
                let cycle: Vec<i128> = (0..of).map(|at| i128::from(at) * MILLION).collect();
                let is_of_it = present.iter().all(|value| cycle.contains(value));
                return (if is_of_it { cycle } else { present.to_vec() }, axis);
            }
        };
        let missing = |pair: &[i128]| match pair {
            [one, next] => (next - one) / step - 1,
            _ => 0,
        };
        let short = |pair: &&[i128]| missing(pair) <= MOST_EMPTY;
        let most = match present.windows(2).filter(short).map(missing).sum::<i128>() {
            ..=MOST_EMPTY_IN_ALL => MOST_EMPTY,
            _ => 0,
        };
        let mut all: Vec<i128> = present.first().copied().into_iter().collect();
        for pair in present.windows(2) {
            let empty = missing(pair);
            if empty > most {
                axis.breaks.push(all.len());
                axis.left_out += u64::try_from(empty).unwrap_or(0);
            } else {
                all.extend((1..=empty).map(|at| pair[0] + at * step));
            }
            all.push(pair[1]);
        }
        (all, axis)
    }
}

/// The number in the key of a value.
pub(super) fn number(kind: FieldKind, key: &[u8]) -> Option<i128> {
    match Value::of_key(kind, true, key) {
        Value::Number(n) => Some(n),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(step: PeriodStep, present: &[i128]) -> (Vec<i128>, Vec<usize>, u64) {
        let present: Vec<i128> = present.iter().map(|n| n * MILLION).collect();
        let (all, axis) = step.filled(&present);
        (all.iter().map(|n| n / MILLION).collect(), axis.breaks, axis.left_out)
    }

    #[test]
    fn periods_between_the_first_and_the_last_are_there() {
        let by = |step, present: &[i128]| filled(PeriodStep::By(step), present);
        assert_eq!(by(1, &[]), (vec![], vec![], 0));
        assert_eq!(by(1, &[5, 6, 9]), (vec![5, 6, 7, 8, 9], vec![], 0));
        assert_eq!(by(7, &[-3, 11]), (vec![-3, 4, 11], vec![], 0));
        assert_eq!(by(1, &[1, 402]).0.len(), 402);
        assert_eq!(by(1, &[1, 403, 405]), (vec![1, 403, 404, 405], vec![1], 401));
        let sparse: Vec<i128> = (0..100).map(|n| n * 300).collect();
        let (all, breaks, left_out) = by(1, &sparse);
        assert_eq!((all, breaks.len(), left_out), (sparse, 99, 99 * 299));
    }

    #[test]
    fn cycles_are_whole() {
        assert_eq!(filled(PeriodStep::Cycle(7), &[2]), ((0..7).collect(), vec![], 0));
        assert_eq!(filled(PeriodStep::Cycle(7), &[8]), (vec![8], vec![], 0));
    }

    #[test]
    fn fields_that_are_periods() {
        let of = |name: &str| PeriodStep::of(&Field::named(name).unwrap());
        for name in ["day", "month", "year"] {
            assert_eq!(of(name), Some(PeriodStep::By(1)), "{name}");
        }
        assert_eq!(of("week"), Some(PeriodStep::By(7)));
        assert_eq!(of("hour"), Some(PeriodStep::Cycle(24)));
        assert_eq!(of("weekday"), Some(PeriodStep::Cycle(7)));
        for name in ["time", "user", "npes", "wall_class", "t"] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
