//! What the ranks did in the course of the run: the time of each class in parts of equal length.

use super::Timeline;
use super::states::TIME_CLASSES;

impl Timeline<'_> {
    /// Nanoseconds of all rows by [`TimeClass`](super::TimeClass) in each of `parts` parts of the run, the
    /// first begins with the first call. A slice of calls that lies in several parts is shared out by
    /// the length of its overlaps. What lies behind the last event of a row is left out.
    pub fn course(&self, parts: usize) -> Vec<[u64; TIME_CLASSES]> {
        let mut sums = vec![[0.0; TIME_CLASSES]; parts];
        let length = self.ended.max(1) as f64 / parts.max(1) as f64;
        for row in &self.rows {
            let mut began = row.began();
            for slice in row.slices_of_events() {
                let whole = slice.ended.saturating_sub(began) as f64;
                let first = (began as f64 / length) as usize;
                for (place, sum) in sums.iter_mut().enumerate().skip(first) {
                    let from = (began as f64).max(place as f64 * length);
                    let to = (slice.ended as f64).min((place + 1) as f64 * length);
                    if from >= to {
                        break;
                    }
                    for (sum, time) in sum.iter_mut().zip(slice.times) {
                        *sum += time as f64 * (to - from) / whole;
                    }
                }
                began = slice.ended;
            }
        }
        sums.into_iter().map(|sums| sums.map(|sum| sum.round() as u64)).collect()
    }
}
