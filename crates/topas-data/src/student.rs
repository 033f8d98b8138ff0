//! Student's t distribution.

/// How likely a value of Student's t with `degrees` of freedom is `t` or more away from 0:
/// the regularised incomplete beta function I_x(d/2, 1/2) at x = d / (d + t^2)
/// (Abramowitz and Stegun, 26.7.1).
pub(crate) fn both_tails(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The continued fraction converges fast on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction 26.5.8 of Abramowitz and Stegun, by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let keep = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / keep(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for m in 1..300 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / keep(1.0 + term * d);
            c = keep(1.0 + term / c);
            result *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

/// Stirling's series, after moving to where it is exact to the last digits.
fn ln_gamma(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut x = x;
    while x < 12.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of Student's t, two-sided.
    #[test]
    fn tails_are_those_of_the_tables() {
        for (t, degrees, p) in [
            (12.706_204_736, 1.0, 0.05),
            (2.228_138_852, 10.0, 0.05),
            (3.169_272_667, 10.0, 0.01),
            (4.586_893_859, 10.0, 0.001),
            (63.656_741_16, 1.0, 0.01),
            (1.959_966_336, 1e6, 0.05),
            // The density, added up by Simpson's rule.
            (2.0, 2.0, 0.183_503_419_07),
            (4.0, 7.0, 0.005_189_913_349),
            (0.0, 5.0, 1.0),
        ] {
            let got = both_tails(t, degrees);
            assert!((got / p - 1.0).abs() < 1e-6, "t {t}, {degrees}: {got}, not {p}");
        }
        assert_eq!(both_tails(f64::INFINITY, 3.0), 0.0);
    }
}
