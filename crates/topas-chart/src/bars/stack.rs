//! The bars that are really drawn: values checked, gaps between buckets filled in, what is too
//! much for one picture put together.

use super::{Arrangement, BarBucket, BarPeriod, BarPlaces, Bars};
use crate::unit::{Quantity, bound};
use crate::words::clean;

/// More categories than this are put into one, `other`.
const MOST_CATEGORIES: usize = 40;

/// More series than this are put into one, `other`. Two rounds of colours, the second hatched.
const MOST_SERIES: usize = 16;

/// Gaps are drawn in full up to this number of buckets.
const MOST_SLOTS: usize = 2000;

/// A value larger than this is not drawn: sums of such overflow.
const MOST_VALUE: f64 = 1e200;

/// What is drawn.
pub(crate) struct Stacks {
    pub(crate) parts: Vec<StackPart>,
    /// Places along the axis
    pub(crate) slots: Vec<Slot>,
    /// What was left out or put together
    pub(crate) notes: Vec<String>,
    stacked: bool,
}

/// One series.
pub(crate) struct StackPart {
    pub(crate) name: String,
    pub(crate) note: String,
    /// One for each slot
    pub(crate) values: Vec<Option<f64>>,
}

/// One place along the axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Slot {
    Bucket(BarBucket),
    Category(String),
    /// With its roundness
    Period(String, u8),
    /// Buckets or periods that are not drawn are between the neighbours
    Break,
}

impl Slot {
    pub(crate) fn label(&self) -> String {
        match self {
            Slot::Bucket(bucket) => bucket.label(),
            Slot::Category(name) | Slot::Period(name, _) => name.clone(),
            Slot::Break => "…".to_owned(),
        }
    }
}

impl Stacks {
    pub(crate) fn of(bars: &Bars) -> Self {
        let mut notes = Vec::new();
        let places = bars.places.len();
        let mut undrawable = 0usize;
        let mut part = |series: &super::Series| {
            let mut values = series.values.clone();
            values.resize(places, None);
            for value in &mut values {
                if value.is_some_and(|v| !(0.0..=MOST_VALUE).contains(&v)) {
                    *value = None;
                    undrawable += 1;
                }
                // No value is less than nothing.
                *value = value.map(|v| v + 0.0);
            }
            undrawable += series.values.iter().skip(places).flatten().count();
            StackPart { name: clean(&series.name), note: clean(&series.note), values }
        };
        let mut parts: Vec<StackPart> = bars.series.iter().map(&mut part).collect();
        if undrawable > 0 {
            let values = if undrawable == 1 { "value" } else { "values" };
            notes.push(format!(
                "{undrawable} {values} cannot be drawn: negative, no number, or without a place."
            ));
        }
        fold_series(&mut parts, places);
        let slots = match &bars.places {
            BarPlaces::Buckets(buckets) => bucket_slots(buckets, &mut parts),
            BarPlaces::Categories(names) => category_slots(names, &mut parts),
            BarPlaces::Periods(periods) => period_slots(periods, &mut parts),
        };
        Stacks { parts, slots, notes, stacked: bars.arrangement == Arrangement::Stacked }
    }

    /// Whether there is no value at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.values.iter().all(Option::is_none))
    }

    /// Sum of all series at a slot, or None if none has a value there.
    pub(crate) fn total(&self, slot: usize) -> Option<f64> {
        let values = self.parts.iter().filter_map(|part| *part.values.get(slot)?);
        values.reduce(|a, b| a + b)
    }

    /// Largest height of a bar.
    pub(crate) fn highest(&self) -> f64 {
        if self.stacked {
            (0..self.slots.len()).filter_map(|slot| self.total(slot)).fold(0.0, f64::max)
        } else {
            self.parts
                .iter()
                .flat_map(|part| part.values.iter().flatten())
                .fold(0.0, |a, &b| b.max(a))
        }
    }

    /// The largest bars in words, for those who cannot see them.
    pub(crate) fn describe(&self, along: &Quantity, height: &Quantity) -> String {
        const MOST: usize = 20;
        let mut totals: Vec<(usize, f64)> =
            (0..self.slots.len()).filter_map(|slot| Some((slot, self.total(slot)?))).collect();
        let count = totals.len();
        let along = clean(&along.name);
        let by = if along.is_empty() { String::new() } else { format!(" by {along}") };
        let mut out = format!("{}{by}: ", clean(&height.name));
        if count > MOST {
            totals.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            totals.truncate(MOST);
            out = format!("{out}the largest {MOST} of {count} bars: ");
        }
        let bar = |&(slot, total): &(usize, f64)| {
            let label = self.slots.get(slot).map(Slot::label).unwrap_or_default();
            format!("{label}: {}", height.unit.value(total, 3))
        };
        out += &totals.iter().map(bar).collect::<Vec<_>>().join("; ");
        out + "."
    }
}

/// Puts the series with the smallest sums into one.
fn fold_series(parts: &mut Vec<StackPart>, places: usize) {
    if parts.len() <= MOST_SERIES {
        return;
    }
    let sum = |part: &StackPart| part.values.iter().flatten().sum::<f64>();
    let mut sums: Vec<(usize, f64)> = parts.iter().map(sum).enumerate().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut kept = vec![false; parts.len()];
    for &(at, _) in sums.iter().take(MOST_SERIES - 1) {
        if let Some(kept) = kept.get_mut(at) {
            *kept = true;
        }
    }
    let mut kept = kept.into_iter();
    let (stay, fold): (Vec<StackPart>, Vec<StackPart>) =
        parts.drain(..).partition(|_| kept.next().unwrap_or(false));
    let mut other = vec![None; places];
    for part in &fold {
        for (sum, value) in other.iter_mut().zip(&part.values) {
            add(sum, *value);
        }
    }
    let name = format!("other ({})", fold.len());
    *parts = stay;
    parts.push(StackPart { name, note: String::new(), values: other });
}

/// Buckets with those that have no values between them.
fn bucket_slots(buckets: &[BarBucket], parts: &mut [StackPart]) -> Vec<Slot> {
    let scale = Scale::of(buckets);
    let mut slots = Vec::new();
    // For each slot the place its values come from.
    let mut places = Vec::new();
    let mut before: Option<BarBucket> = None;
    for (place, bucket) in buckets.iter().enumerate() {
        if let Some((to, from)) = before.and_then(|before| Some((before.to?, bucket.from?)))
            && !same(to, from)
        {
            let room = MOST_SLOTS.saturating_sub(slots.len() + buckets.len() - place);
            let between = scale.between(to, from, room).unwrap_or_else(|| vec![Slot::Break]);
            places.resize(places.len() + between.len(), None);
            slots.extend(between);
        }
        slots.push(Slot::Bucket(*bucket));
        places.push(Some(place));
        before = Some(*bucket);
    }
    spread(parts, &places);
    slots
}

/// Periods with a break where some are left out.
fn period_slots(periods: &[BarPeriod], parts: &mut [StackPart]) -> Vec<Slot> {
    let (mut slots, mut places) = (Vec::new(), Vec::new());
    for (place, period) in periods.iter().enumerate() {
        if period.after_break && place > 0 {
            slots.push(Slot::Break);
            places.push(None);
        }
        slots.push(Slot::Period(clean(&period.name), period.roundness));
        places.push(Some(place));
    }
    spread(parts, &places);
    slots
}

/// Puts values where their places went: for each slot the place its values come from.
fn spread(parts: &mut [StackPart], places: &[Option<usize>]) {
    for part in parts {
        part.values = places.iter().map(|place| *part.values.get((*place)?)?).collect();
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// How the bounds of buckets follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// All have this width
    Even(f64),
    /// Each is so many times the one before
    Ratio(f64),
    /// 1, 2, 5, 10, 20 and so on
    OneTwoFive,
    /// By no rule that is known here
    Own,
}

impl Scale {
    fn of(buckets: &[BarBucket]) -> Self {
        let closed = || buckets.iter().filter_map(|bucket| Some((bucket.from?, bucket.to?)));
        let Some((from, to)) = closed().next() else { return Scale::Own };
        let (width, ratio) = (to - from, to / from);
        let all = |rule: &dyn Fn(f64, f64) -> bool| closed().all(|(from, to)| rule(from, to));
        if width > 0.0 && all(&|from, to| (to - from - width).abs() < width * 1e-6) {
            Scale::Even(width)
        } else if all(&|from, to| from > 0.0 && same(next_of_125(from), to)) {
            Scale::OneTwoFive
        } else if ratio > 1.0 && all(&|from, to| from > 0.0 && same(to / from, ratio)) {
            Scale::Ratio(ratio)
        } else {
            Scale::Own
        }
    }

    /// The buckets from `low` to `high`, or None if they are too many, or do not end there.
    fn between(self, low: f64, high: f64, most: usize) -> Option<Vec<Slot>> {
        let mut slots = Vec::new();
        let mut from = low;
        while !same(from, high) {
            let to = match self {
                // Not by adding up: errors would.
                Scale::Even(width) => low + (slots.len() + 1) as f64 * width,
                Scale::Ratio(ratio) => from * ratio,
                Scale::OneTwoFive => next_of_125(from),
                Scale::Own => return None,
            };
            if slots.len() == most || !(to > from && (to < high || same(to, high))) {
                return None;
            }
            slots.push(Slot::Bucket(BarBucket { from: Some(from), to: Some(to) }));
            from = to;
        }
        Some(slots)
    }
}

/// The number after `value` of 1, 2, 5, 10, 20 and so on.
fn next_of_125(value: f64) -> f64 {
    let power = (value * (1.0 + 1e-9)).log10().floor();
    let digit = value / 10f64.powf(power);
    let next = if same(digit, 2.0) { 2.5 } else { 2.0 };
    value * next
}

/// Categories; of too many those with the largest sums in their order, and the others as one.
fn category_slots(names: &[String], parts: &mut [StackPart]) -> Vec<Slot> {
    let slot = |name: &String| Slot::Category(clean(name));
    if names.len() <= MOST_CATEGORIES {
        return names.iter().map(slot).collect();
    }
    let total = |at: usize| parts.iter().filter_map(|part| *part.values.get(at)?).sum::<f64>();
    let mut order: Vec<(usize, f64)> = (0..names.len()).map(|at| (at, total(at))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut kept: Vec<usize> = order.iter().take(MOST_CATEGORIES - 1).map(|&(at, _)| at).collect();
    kept.sort_unstable();
    for part in parts {
        let mut other = None;
        for (at, value) in part.values.iter().enumerate() {
            if kept.binary_search(&at).is_err() {
                add(&mut other, *value);
            }
        }
        let stay = kept.iter().map(|&at| part.values.get(at).copied().flatten());
        part.values = stay.chain([other]).collect();
    }
    let mut slots: Vec<Slot> = kept.iter().filter_map(|&at| names.get(at)).map(slot).collect();
    slots.push(Slot::Category(format!("other ({})", names.len() - kept.len())));
    slots
}

fn add(sum: &mut Option<f64>, value: Option<f64>) {
    if let Some(value) = value {
        *sum = Some(sum.unwrap_or(0.0) + value);
    }
}

/// Labels below the borders of buckets: which, and what they say.
pub(crate) fn edges(slots: &[Slot]) -> Vec<(usize, String)> {
    let mut edges = Vec::new();
    let bucket = |at: usize| match slots.get(at) {
        Some(Slot::Bucket(bucket)) => Some(*bucket),
        _ => None,
    };
    for at in 0..=slots.len() {
        let below = at.checked_sub(1).and_then(bucket).and_then(|bucket| bucket.to);
        if let Some(value) = bucket(at).and_then(|bucket| bucket.from).or(below) {
            edges.push((at, bound(value)));
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(bounds: &[(f64, f64)]) -> Vec<Option<(f64, f64)>> {
        let bucket = |&(from, to): &(f64, f64)| BarBucket { from: Some(from), to: Some(to) };
        let buckets: Vec<BarBucket> = bounds.iter().map(bucket).collect();
        let bounds = |slot: &Slot| match slot {
            Slot::Bucket(bucket) => bucket.from.zip(bucket.to),
            _ => None,
        };
        bucket_slots(&buckets, &mut []).iter().map(bounds).collect()
    }

    #[test]
    fn gaps_are_filled_by_the_rule_of_the_others() {
        let even = [(0.0, 50.0), (50.0, 100.0), (100.0, 150.0), (150.0, 200.0)].map(Some);
        assert_eq!(drawn(&[(0.0, 50.0), (150.0, 200.0)]), even);
        let ladder = [(1.0, 2.0), (2.0, 5.0), (5.0, 10.0), (10.0, 20.0), (20.0, 50.0)].map(Some);
        assert_eq!(drawn(&[(1.0, 2.0), (20.0, 50.0)]), ladder);
        assert_eq!(drawn(&[(0.1, 0.2), (0.5, 1.0)]).len(), 3);
        let powers = [(1.0, 4.0), (4.0, 16.0), (16.0, 64.0)].map(Some);
        assert_eq!(drawn(&[(1.0, 4.0), (16.0, 64.0)]), powers);
    }

    #[test]
    fn every_period_has_its_place() {
        let period = |at: usize| BarPeriod {
            name: at.to_string(),
            roundness: 0,
            after_break: at == 0 || at == 300,
        };
        let periods: Vec<BarPeriod> = (0..400).map(period).collect();
        let values = (0..400).map(|at| Some(f64::from(at))).collect();
        let mut parts = [StackPart { name: String::new(), note: String::new(), values }];
        let slots = period_slots(&periods, &mut parts);
        assert_eq!((slots.len(), parts[0].values.len()), (401, 401));
        assert_eq!((&slots[300], parts[0].values[300]), (&Slot::Break, None));
        assert_eq!(slots[400], Slot::Period("399".to_owned(), 0));
        assert_eq!(parts[0].values[400], Some(399.0));
    }

    #[test]
    fn other_gaps_are_breaks() {
        assert_eq!(drawn(&[(0.0, 1.0), (5.0, 7.0)]), [Some((0.0, 1.0)), None, Some((5.0, 7.0))]);
        assert_eq!(drawn(&[(0.0, 1.0), (1e6, 1e6 + 1.0)]).get(1), Some(&None));
        assert_eq!(drawn(&[(0.0, 2.0), (3.0, 5.0)]).get(1), Some(&None));
    }
}
