//! Launches whose outcome is not the same every time: whether it differs with TOPAS is a question
//! of rates, which are counted.
//!
//! Launchers are not of one mind: what they say of an end depends on what they notice first. Where
//! one launch with TOPAS and one without differ, a test makes up to [`LAUNCHES`] more of each and
//! asks [`LaunchRates`].

use std::fmt::Debug;

/// Launches of each side whose outcomes are compared by their rates.
pub const LAUNCHES: usize = 10;

/// Two counts in [`LAUNCHES`] launches each that are so far apart are not of one rate. If both
/// sides have an outcome in half of the launches, where counts differ most, chance brings them so
/// far apart 42 times in a million.
const APART: usize = 9;

/// Outcomes of launches without TOPAS and of as many with it.
#[derive(Debug)]
pub struct LaunchRates<T> {
    without: Vec<T>,
    with: Vec<T>,
}

impl<T> Default for LaunchRates<T> {
    fn default() -> Self {
        LaunchRates { without: Vec::new(), with: Vec::new() }
    }
}

impl<T: PartialEq + Debug> LaunchRates<T> {
    /// Launches pairs, of one without TOPAS and one with it, until it is known how
    /// [`LAUNCHES`] of them would be judged. An error if the rates differ, or if a pair is one.
    pub fn compare(mut pair: impl FnMut() -> Result<(T, T), String>) -> Result<(), String> {
        let mut rates = LaunchRates::default();
        while !rates.known() {
            let (without, with) = pair()?;
            rates.add(without, with);
        }
        rates.difference().map_or(Ok(()), Err)
    }

    /// Adds the outcomes of one pair of launches.
    pub fn add(&mut self, without: T, with: T) {
        self.without.push(without);
        self.with.push(with);
    }

    /// Pairs of launches that are still to come.
    pub fn left(&self) -> usize {
        LAUNCHES.saturating_sub(self.with.len())
    }

    /// Whether the launches that are left can no longer change [`Self::difference`]: most often
    /// after two or three pairs, in which no outcome belongs to one side alone.
    pub fn known(&self) -> bool {
        let left = self.left();
        let counts_get_apart =
            left >= APART || self.counts().any(|(_, a, b)| a.abs_diff(b) + left >= APART);
        // Each launch that is left can repeat one of the outcomes that came once.
        let (again, known) = self.repeated();
        let once = self.without.len() - again;
        let strangers = again + once.min(left) + left >= known + APART;
        left == 0 || !(counts_get_apart || strangers)
    }

    /// How rates of outcomes differ between the launches without TOPAS and those with it; `None`
    /// if no more than chance makes them differ.
    pub fn difference(&self) -> Option<String> {
        if let Some((outcome, a, b)) = self.counts().find(|(_, a, b)| a.abs_diff(*b) >= APART) {
            return Some(format!("{a} times without, {b} times with: {outcome:?}"));
        }
        let (again, known) = self.repeated();
        (again >= known + APART).then(|| {
            format!(
                "{again} outcomes without came twice or more, {known} with are among them: {:#?}",
                self.with
            )
        })
    }

    /// Each outcome, and how many times it came without TOPAS and with it.
    fn counts(&self) -> impl Iterator<Item = (&T, usize, usize)> {
        let outcomes = self.without.iter().chain(&self.with);
        outcomes.map(|one| (one, times(one, &self.without), times(one, &self.with)))
    }

    /// How many outcomes without TOPAS came twice or more, and how many of those with it came
    /// without it, too. Where hardly two outcomes are the same without TOPAS, those with it are not
    /// expected among them.
    fn repeated(&self) -> (usize, usize) {
        let again = self.without.iter().filter(|one| times(*one, &self.without) > 1).count();
        let known = self.with.iter().filter(|one| times(*one, &self.without) > 0).count();
        (again, known)
    }
}

fn times<T: PartialEq>(outcome: &T, list: &[T]) -> usize {
    list.iter().filter(|one| *one == outcome).count()
}

#[cfg(test)]
mod tests {
    use topas_testkit::numbers_below;

    use super::*;

    fn list(words: [(&str, usize); 2]) -> Vec<String> {
        words.iter().flat_map(|(word, times)| vec![(*word).to_owned(); *times]).collect()
    }

    fn unlike(first: usize) -> Vec<String> {
        (first..first + LAUNCHES).map(|n| n.to_string()).collect()
    }

    fn difference(without: &[String], with: &[String]) -> Option<String> {
        let rates = LaunchRates { without: without.to_vec(), with: with.to_vec() };
        assert!(rates.known());
        rates.difference()
    }

    #[test]
    fn rates_that_differ_are_told_from_chance() {
        let half = list([("a", 5), ("b", 5)]);
        assert_eq!(difference(&half, &half), None);
        assert_eq!(difference(&half, &list([("a", 1), ("b", 9)])), None);
        assert!(difference(&list([("a", 10), ("b", 0)]), &list([("a", 1), ("b", 9)])).is_some());
    }

    #[test]
    fn outcomes_that_are_never_the_same_twice_are_no_difference() {
        assert_eq!(difference(&unlike(0), &unlike(100)), None);
        let half = list([("a", 5), ("b", 5)]);
        assert_eq!(difference(&unlike(0), &half), None);
        assert!(difference(&half, &unlike(0)).is_some(), "with TOPAS never what it is without");
    }

    /// The judgement of the first launches is that of all of them, whatever comes after them.
    #[test]
    fn launches_end_when_the_judgement_is_known() {
        let mut numbers = numbers_below(1);
        let mut saved = 0;
        for round in 0..20_000 {
            // Of one outcome, of two, of three, or of nearly always new ones; a side may have more
            // of the later ones.
            let mut side = |more: u64| -> Vec<u64> {
                let outcome = |launch: u64| match numbers(8 + more) {
                    0 if round % 4 == 3 => 0,
                    _ if round % 4 == 3 => 100 * more + launch,
                    number => number.min(round % 4),
                };
                (0..LAUNCHES as u64).map(outcome).collect()
            };
            let (without, with) = (side(0), side(round / 4 % 3 * 30));
            let all = LaunchRates { without: without.clone(), with: with.clone() };
            let mut pairs = without.into_iter().zip(with);
            let judged = LaunchRates::compare(|| Ok(pairs.next().expect("a pair")));
            assert_eq!(judged.is_err(), all.difference().is_some(), "{all:?}");
            saved += pairs.count();
        }
        assert!(saved > 50_000, "only {saved} launches of 200,000 were not needed");
    }

    #[test]
    fn a_pair_that_is_wrong_ends_it() {
        let wrong = LaunchRates::<u8>::compare(|| Err("wrong".to_owned()));
        assert_eq!(wrong, Err("wrong".to_owned()));
    }
}
