//! Quantiles, deviations and tests by numpy and scipy.

use std::io::Write;
use std::process::{Command, Stdio};

use topas_data::pes::{Values, mann_whitney, signed_rank, summary};

const SCRIPT: &str = r#"
import sys
import numpy as np
from scipy import stats
lines = [np.array([float(word) for word in line.split()]) for line in sys.stdin]
for first, second in zip(lines[::2], lines[1::2]):
    q = np.quantile(first, [0.25, 0.5, 0.75])
    reach = 1.5 * (q[2] - q[0])
    inner = first[(first >= q[0] - reach) & (first <= q[2] + reach)]
    out = [*q, first.mean(), first.std(ddof=1), inner.min(), inner.max(), len(first) - len(inner)]
    out.append(stats.mannwhitneyu(first, second, method="asymptotic").pvalue)
    pairs = (first - second)[: min(len(first), len(second))] if len(first) == len(second) else []
    nonzero = len(pairs) > 0 and np.any(pairs != 0)
    out.append(stats.wilcoxon(pairs, correction=True, mode="approx").pvalue if nonzero else -1)
    print(*[repr(float(number)) for number in out])
"#;

/// Sets of numbers as rates are: near each other, with ties, far ones, small and large.
fn sets() -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut set = |count: u64, scale: f64, steps: u64| -> Vec<f64> {
        let value = |n: u64| {
            let far = if n % 41 == 7 { 3.0 } else { 1.0 };
            scale * far * (1.0 + (n >> 8) as f64 % steps as f64 / 1000.0)
        };
        (0..count).map(|_| value(next())).collect()
    };
    let mut sets = Vec::new();
    for count in [2, 3, 4, 5, 16, 63, 64, 1000] {
        for (scale, steps) in [(96.0, 50), (1e-3, 1000), (4.7e12, 7), (1.0, 100_000)] {
            sets.push((set(count, scale, steps), set(count, scale, steps)));
            sets.push((set(count, scale, steps), set(count + 3, scale * 1.01, steps)));
        }
    }
    sets
}

#[test]
fn numpy_and_scipy_compute_the_same() {
    let sets = sets();
    let line = |values: &[f64]| {
        values.iter().map(|value| format!("{value:e}")).collect::<Vec<_>>().join(" ") + "\n"
    };
    let text: String = sets.iter().map(|(a, b)| line(a) + &line(b)).collect();
    // Another python3 may stand before that of the system, to which packages belong.
    let knows = |python: &&str| {
        let asked = Command::new(python).args(["-c", "import numpy, scipy.stats"]).output();
        asked.is_ok_and(|output| output.status.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(knows) else {
        let line = b"skipped: numpy_and_scipy_compute_the_same: no python3 with numpy and scipy\n";
        let _ = std::io::stderr().write_all(line);
        return;
    };
    let mut python = Command::new(python)
        .args(["-W", "ignore", "-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    let theirs: Vec<Vec<f64>> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line.split(' ').map(|number| number.parse().unwrap()).collect())
        .collect();
    assert_eq!(theirs.len(), sets.len());
    for ((first, second), theirs) in sets.iter().zip(theirs) {
        let values =
            Values { values: first.iter().copied().zip(0..).collect(), ..Values::default() };
        let s = summary(&values).unwrap();
        let pairs: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let paired = if first.len() == second.len() { signed_rank(&pairs) } else { None };
        let ours = [
            s.quartiles[0],
            s.quartiles[1],
            s.quartiles[2],
            s.mean,
            s.deviation.unwrap(),
            s.min.0,
            s.max.0,
            (s.low.len() + s.high.len()) as f64,
            mann_whitney(first, second).map_or(f64::NAN, |test| test.p),
            paired.map_or(-1.0, |test| test.p),
        ];
        for (place, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            // Where all values are equal, versions of scipy say 1 or nothing.
            let unjudged = ours.is_nan() && (theirs.is_nan() || *theirs == 1.0);
            let same = (ours - theirs).abs() <= 1e-11 * theirs.abs() || unjudged;
            // Deviations of values that are nearly equal lose digits in both.
            assert!(
                same || place == 4 && (ours / theirs - 1.0).abs() < 1e-9,
                "{place}: {ours} {theirs} of {first:?}"
            );
        }
    }
}
