//! Launches whose outcome is not the same every time: whether it differs with TOPAS is a question
//! of rates, which are counted.
//!
//! Launchers are not of one mind: what they say of an end depends on what they notice first. Where
//! one launch with TOPAS and one without differ, a test makes [`LAUNCHES`] more of each and asks
//! [`difference`].

use std::fmt::Debug;

/// Launches of each side whose outcomes are compared by their rates.
pub const LAUNCHES: usize = 10;

/// Two counts in [`LAUNCHES`] launches each that are so far apart are not of one rate. If both
/// sides have an outcome in half of the launches, where counts differ most, chance brings them so
/// far apart 42 times in a million.
const APART: usize = 9;

/// How rates of outcomes differ between [`LAUNCHES`] launches without TOPAS and as many with it;
/// `None` if no more than chance makes them differ.
pub fn difference<T: PartialEq + Debug>(without: &[T], with: &[T]) -> Option<String> {
    let times = |outcome: &T, list: &[T]| list.iter().filter(|one| *one == outcome).count();
    for outcome in without.iter().chain(with) {
        let counts = (times(outcome, without), times(outcome, with));
        if counts.0.abs_diff(counts.1) >= APART {
            return Some(format!(
                "{} times without, {} times with: {outcome:?}",
                counts.0, counts.1
            ));
        }
    }
    // Where hardly two outcomes are the same without TOPAS, those with it are not expected among
    // them.
    let again = without.iter().filter(|outcome| times(outcome, without) > 1).count();
    let known = with.iter().filter(|outcome| times(outcome, without) > 0).count();
    (again >= known + APART).then(|| {
        format!(
            "{again} outcomes without came twice or more, {known} with are among them: {with:#?}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: [(&str, usize); 2]) -> Vec<String> {
        words.iter().flat_map(|(word, times)| vec![(*word).to_owned(); *times]).collect()
    }

    fn unlike(first: usize) -> Vec<String> {
        (first..first + LAUNCHES).map(|n| n.to_string()).collect()
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
}
