//! Round numbers along an axis: steps of 1, 2 or 5 times a power of ten.

/// Less than this is nothing: the arithmetic of doubles ends near 1e-308.
const LEAST: f64 = 1e-200;

/// Values of an axis and where they lie.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// Value at the lower end
    pub(crate) low: f64,
    /// Value at the upper end
    pub(crate) high: f64,
    /// Distance of the round numbers
    pub(crate) step: f64,
    first: i64,
    last: i64,
}

impl Axis {
    /// From 0 to the round number at or above `most`, with about `wanted` steps.
    pub(crate) fn from_zero(most: f64, wanted: usize) -> Self {
        let most = if most > LEAST && most.is_finite() { most } else { 1.0 };
        let step = step(most, wanted);
        let last = (most / step - 1e-9).ceil().max(1.0);
        Axis { low: 0.0, high: last * step, step, first: 0, last: last as i64 }
    }

    /// Of values from `low` to `high`, both inside, with about `wanted` steps.
    pub(crate) fn around(low: f64, high: f64, wanted: usize) -> Self {
        // All equal, or so near that doubles cannot hold what is between.
        let least = (low.abs().max(high.abs()) * 1e-6).max(LEAST);
        let (low, high) = if high - low < least {
            let room = if low == 0.0 && high == 0.0 { 1.0 } else { least.max(low.abs() * 0.05) };
            (low - room, high + room)
        } else {
            (low, high)
        };
        let step = step(high - low, wanted);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        Axis { low: first * step, high: last * step, step, first: first as i64, last: last as i64 }
    }

    /// Of one value alone, which is all between its ends.
    pub(crate) fn only(value: f64) -> Self {
        let step = if value == 0.0 { 1.0 } else { value.abs() };
        Axis { low: value - step / 2.0, high: value + step / 2.0, step, first: 0, last: 1 }
    }

    /// The round numbers.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        (self.first..=self.last).map(|at| at as f64 * self.step)
    }

    /// Where `value` is between the ends, 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Largest size of a value.
    pub(crate) fn most(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
}

/// The step that makes about `wanted` parts of `span`.
fn step(span: f64, wanted: usize) -> f64 {
    let rough = span / wanted.max(1) as f64;
    let power = rough.log10().floor() as i32;
    // Powers of negative numbers lose a bit: divide by the positive one.
    let scaled = |digit: f64| {
        if power < 0 { digit / 10f64.powi(-power) } else { digit * 10f64.powi(power) }
    };
    [1.0, 2.0, 5.0]
        .map(scaled)
        .into_iter()
        .find(|&step| step >= rough * 0.999)
        .unwrap_or(scaled(10.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ticks(axis: &Axis) -> Vec<f64> {
        axis.ticks().collect()
    }

    #[test]
    fn round_numbers() {
        assert_eq!(ticks(&Axis::from_zero(69.13, 5)), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(ticks(&Axis::from_zero(100.0, 5)), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(&Axis::from_zero(0.0, 2)), [0.0, 0.5, 1.0]);
        assert_eq!(ticks(&Axis::around(95.783, 97.218, 3)), [95.5, 96.0, 96.5, 97.0, 97.5]);
        assert_eq!(ticks(&Axis::around(0.1, 0.3, 2)), [0.1, 0.2, 0.30000000000000004]);
    }

    proptest! {
        #[test]
        fn values_are_inside_and_the_steps_few(
            a in prop::num::f64::NORMAL.prop_map(|v| v % 1e200),
            b in prop_oneof![Just(0.0), -1e20..1e20, Just(1e-12), Just(1e18)],
            wanted in 2usize..10,
        ) {
            for (a, b) in [(a, b), (b, b), (a, a)] {
                let (low, high) = (a.min(b), a.max(b));
                let axis = Axis::around(low, high, wanted);
                let count = axis.ticks().count();
                prop_assert!((2..=wanted * 3).contains(&count), "{axis:?}");
                let slack = axis.step * 1e-6;
                prop_assert!(axis.low <= low + slack && high <= axis.high + slack, "{axis:?}");
                prop_assert!(axis.share(low).is_finite() && axis.share(high).is_finite());
                if high > LEAST {
                    let axis = Axis::from_zero(high, wanted);
                    prop_assert!(axis.high >= high * 0.999_999);
                    prop_assert!((2..=wanted + 2).contains(&axis.ticks().count()), "{axis:?}");
                }
            }
        }
    }
}
