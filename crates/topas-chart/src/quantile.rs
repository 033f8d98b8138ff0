//! Quantiles of Hyndman and Fan's type 7, for what is drawn.

/// Finite values of `values`, ascending.
pub(crate) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The `share` quantile of ascending values (type 7 of Hyndman and Fan, "Sample quantiles in
/// statistical packages", 1996), or None of none.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let at = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(at.floor() as usize)?;
    let above = *sorted.get(at.ceil() as usize)?;
    // Where both are equal the weights may not make another number of them.
    Some(if below == above { below } else { below + (above - below) * at.fract() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As R's `quantile(c(1, 2, 4, 8), c(0, .25, .5, .75, 1))`.
    #[test]
    fn they_are_of_type_seven() {
        let values = sorted([8.0, 1.0, f64::NAN, 4.0, 2.0]);
        let quantiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&values, share));
        assert_eq!(quantiles, [1.0, 1.75, 3.0, 5.0, 8.0].map(Some));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.9), Some(7.0));
    }
}
