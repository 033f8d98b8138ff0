//! What a program says of its own MPI profile, in lines such as
//!
//! ```text
//! // profile: ranks=4 args="20000 4"
//! // profile: Send@1- calls=20000 sent=80000 share<=0.5
//! ```
//!
//! The first tells how to run it. In the others stands a routine without `MPI_` (or `mpi`: all but
//! beginning and end, `outside`: the time between those in none), the ranks (`@all`, `@2`, `@1-`,
//! `@-2`, `@sum` over all), and fields: `calls`, `count`, `sends`, `sent`, `receives`, `received`
//! are equal to a number; `seconds` and `share` (of the time between the beginning and the end of
//! MPI) are bounded by `<=` and `>=`. A factor may stand behind a value of the program's own,
//! printed as `NAME@RANK=VALUE`: `seconds>=waited*0.9`.

use std::fmt::Write as _;

use crate::profile::{Counted, Routine};

/// Expectations of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Ranks
    pub ranks: u32,
    /// Arguments
    pub args: Vec<String>,
    rows: Vec<RowExpected>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct RowExpected {
    routine: String,
    ranks: Ranks,
    fields: Vec<(String, Relation, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ranks {
    Between(u32, u32),
    Sum,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    AtLeast,
    AtMost,
}

impl Expected {
    /// Reads a program's text.
    ///
    /// # Errors
    /// What is wrong with which word, or that nothing is expected.
    pub fn read(text: &str) -> Result<Expected, String> {
        let mut expected = Expected { ranks: 4, ..Expected::default() };
        for line in text.lines() {
            let comment = line.trim_start_matches(['/', '!', '*', 'c', '#', ' ']);
            let Some(rest) = comment.strip_prefix("profile: ") else { continue };
            let words = words(rest);
            match words.first().filter(|first| first.contains('@')) {
                Some(first) => expected.rows.push(RowExpected::read(first, &words[1..])?),
                None => expected.run(&words)?,
            }
        }
        if expected.rows.is_empty() { Err("expects nothing".to_owned()) } else { Ok(expected) }
    }

    fn run(&mut self, words: &[String]) -> Result<(), String> {
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("no '=' in '{word}'"))?;
            match key {
                "ranks" => self.ranks = value.parse().map_err(|_| word.clone())?,
                "args" => self.args = value.split(' ').map(str::to_owned).collect(),
                _ => return Err(format!("'{word}' is no word of a run")),
            }
        }
        Ok(())
    }

    /// What differs from the profile, one line each; `said` is the program's standard output.
    pub fn faults(&self, counted: &[Counted], said: &str) -> String {
        let mut faults = String::new();
        let ranks: Vec<_> = counted.iter().map(|counted| counted.rank).collect();
        if ranks != (0..self.ranks).collect::<Vec<_>>() {
            let _ = writeln!(faults, "ranks {ranks:?} of {}", self.ranks);
        }
        for row in &self.rows {
            match row.ranks {
                Ranks::Between(first, last) => {
                    let within = |one: &&Counted| (first..=last).contains(&one.rank);
                    for one in counted.iter().filter(within) {
                        let (routine, time) = (one.routine(&row.routine), one.between());
                        row.check(&routine, time, one.rank, said, &mut faults);
                    }
                }
                Ranks::Sum => {
                    let routines = counted.iter().map(|one| one.routine(&row.routine));
                    let sum = routines.fold(Routine::default(), |sum, one| sum.plus(&one));
                    let time = counted.iter().map(Counted::between).sum();
                    row.check(&sum, time, 0, said, &mut faults);
                }
            }
        }
        faults
    }
}

impl RowExpected {
    fn read(first: &str, fields: &[String]) -> Result<RowExpected, String> {
        let (routine, ranks) = first.split_once('@').ok_or("no '@'")?;
        let number = |text: &str| text.parse().map_err(|_| format!("no ranks: '{first}'"));
        let ranks = match (ranks, ranks.split_once('-')) {
            ("all", _) => Ranks::Between(0, u32::MAX),
            ("sum", _) => Ranks::Sum,
            (_, Some(("", last))) => Ranks::Between(0, number(last)?),
            (_, Some((first, ""))) => Ranks::Between(number(first)?, u32::MAX),
            (_, Some((first, last))) => Ranks::Between(number(first)?, number(last)?),
            (one, None) => Ranks::Between(number(one)?, number(one)?),
        };
        let fields = fields.iter().map(|field| {
            let relations =
                [(">=", Relation::AtLeast), ("<=", Relation::AtMost), ("=", Relation::Equal)];
            let mut split = relations.into_iter().filter_map(|(sign, relation)| {
                let (key, value) = field.split_once(sign)?;
                Some((key.to_owned(), relation, value.to_owned()))
            });
            let split = split.next().ok_or_else(|| format!("no relation in '{field}'"))?;
            let exact = ["calls", "count", "sends", "sent", "receives", "received"];
            let fits = if split.1 == Relation::Equal {
                exact.contains(&split.0.as_str())
            } else {
                ["seconds", "share"].contains(&split.0.as_str())
            };
            if fits { Ok(split) } else { Err(format!("'{field}' is no expectation")) }
        });
        let fields = fields.collect::<Result<_, _>>()?;
        Ok(RowExpected { routine: routine.to_owned(), ranks, fields })
    }

    fn check(&self, routine: &Routine, time: f64, rank: u32, said: &str, faults: &mut String) {
        for (key, relation, value) in &self.fields {
            let found = match key.as_str() {
                "calls" => routine.calls as f64,
                "count" => routine.count as f64,
                "sends" => routine.sends as f64,
                "sent" => routine.sent as f64,
                "receives" => routine.receives as f64,
                "received" => routine.received as f64,
                "seconds" => routine.seconds,
                _ => routine.seconds / time,
            };
            let limit = limit(value, rank, said);
            let good = match relation {
                Relation::Equal => found == limit,
                Relation::AtLeast => found >= limit,
                Relation::AtMost => found <= limit,
            };
            if !good {
                let of = if self.ranks == Ranks::Sum { "sum".to_owned() } else { rank.to_string() };
                let _ = writeln!(
                    faults,
                    "{}@{of}: {key} {found}, expected {relation:?} {value} ({limit})",
                    self.routine
                );
            }
        }
    }
}

/// A number, or `NAME*FACTOR` of what the program said. NaN, which nothing equals, if it did not.
fn limit(text: &str, rank: u32, said: &str) -> f64 {
    let Some((name, factor)) = text.split_once('*') else {
        return text.parse().unwrap_or(f64::NAN);
    };
    let label = format!("{name}@{rank}=");
    let value = said.lines().find_map(|line| line.strip_prefix(&label)?.parse::<f64>().ok());
    value.unwrap_or(f64::NAN) * factor.parse::<f64>().unwrap_or(f64::NAN)
}

/// Splits at blanks that are not between quotes; drops the quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("a word").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(rank: u32, calls: u64, seconds: f64) -> Counted {
        let send = Routine { calls, seconds, sent: 4 * calls, ..Routine::default() };
        let routines = [("Send".to_owned(), send)].into();
        Counted { rank, wall: 10.0, routines, ..Counted::default() }
    }

    #[test]
    fn what_is_expected_is_no_fault() {
        let text = "// profile: ranks=2 args=\"1 2\"\n\
                    // profile: Send@0 calls=3 sent=12 share<=0.5 seconds>=own*0.5\n\
                    // profile: Send@1- calls=4\n// profile: Send@sum calls=7 sent=28\n";
        let expected = Expected::read(text).unwrap();
        assert_eq!((expected.ranks, expected.args.len()), (2, 2));
        let all = [counted(0, 3, 5.0), counted(1, 4, 1.0)];
        assert_eq!(expected.faults(&all, "x\nown@0=9.5\n"), "");
        for (all, said, fault) in [
            ([counted(0, 3, 5.0), counted(1, 3, 1.0)], "own@0=1", "Send@1: calls 3"),
            ([counted(0, 3, 5.1), counted(1, 4, 1.0)], "own@0=1", "Send@0: share 0.51"),
            ([counted(0, 3, 5.0), counted(1, 4, 1.0)], "", "Send@0: seconds 5"),
            ([counted(0, 3, 5.0), counted(2, 4, 1.0)], "own@0=1", "ranks [0, 2] of 2"),
        ] {
            assert!(expected.faults(&all, said).contains(fault), "{fault}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, part) in [
            ("int main;", "nothing"),
            ("// profile: Send@x calls=1", "'Send@x'"),
            ("// profile: Send@1 calls>=1", "'calls>=1'"),
            ("// profile: Send@1 share=1", "'share=1'"),
            ("// profile: Send@1 calls", "'calls'"),
        ] {
            assert!(Expected::read(text).unwrap_err().contains(part), "{text}");
        }
    }
}
