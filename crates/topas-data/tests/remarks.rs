//! What is odd about runs is told, and counted all the same.

use std::fs;
use std::num::NonZero;

use topas_data::{Fold, Oddities, Question, Remarks, Resources, Run, Source, ask};
use topas_format::civil::Civil;
use topas_testkit::with_lengths;

struct AllRemarks;

impl Question for AllRemarks {}

#[derive(Default)]
struct Odd {
    remarks: Remarks,
    runs: Vec<(usize, Oddities)>,
}

impl Fold for Odd {
    fn add(&mut self, run: &Run<'_>) {
        self.remarks.add(run, false);
        self.runs.push((run.pes.len(), run.odd));
    }

    fn merge(&mut self, other: Self) {
        self.remarks.merge(other.remarks);
        self.runs.extend(other.runs);
    }
}

fn odd(lines: &[String]) -> Odd {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.log");
    fs::write(&path, lines.concat()).unwrap();
    let resources = Resources { threads: NonZero::new(2).unwrap(), ..Resources::default() };
    let answer = ask(&[Source::File(path)], &AllRemarks, Odd::default, &resources, |_| ()).unwrap();
    assert_eq!(answer.tally.good, lines.len() as u64, "{:?}", answer.tally.examples());
    answer.fold
}

/// A line that ended at `t`, by a clock of its node in UTC + `zone` s.
fn line(id: &str, pe: u32, npes: u32, t: i64, zone: i64, cpu: u64, wall: u64) -> String {
    let Civil { date, time } = Civil::from_seconds(t + zone);
    with_lengths(&format!(
        "{:04}/{:02}/{:02} {:02}:{:02}:{:02} u x {pe} {npes} - B c mpi {cpu}.0 0.0 {wall}.0 f=1 - {id} v=1 t={t}\n",
        date.year, date.month, date.day, time.hour, time.minute, time.second
    ))
}

const T: i64 = 1_790_000_000;

#[test]
fn one_line_where_two_were_expected() {
    let lines = [
        line("a", 1, 8, T, 0, 1, 100),
        line("b", 1, 8, T, 0, 1, 100),
        line("b", 2, 8, T, 0, 1, 100),
        line("c", 0, 1, T, 0, 1, 100),
    ];
    assert_eq!(odd(&lines).remarks, Remarks { single: 1, ..Remarks::default() });
}

#[test]
fn duplicates_count_once() {
    let a = line("a", 1, 8, T, 0, 1, 100);
    let b = line("a", 2, 8, T, 0, 1, 100);
    let other = with_lengths(&a.replace(" - a v=1", " 5 a v=1"));
    for (lines, duplicates, lines_of_runs) in [
        (vec![a.clone(), a.clone()], 1, vec![1]),
        (vec![a.clone(), b.clone(), a.clone(), b.clone(), a.clone()], 3, vec![2]),
        // Of the same PE and time, but another line: a run of its own.
        (vec![a.clone(), other], 0, vec![1, 1]),
    ] {
        let odd = odd(&lines);
        assert_eq!(odd.remarks.duplicates, duplicates);
        assert_eq!(odd.runs.iter().map(|run| run.0).collect::<Vec<_>>(), lines_of_runs);
    }
}

#[test]
fn local_time_of_no_zone() {
    let day = 86_400;
    for (zone, is_odd) in [
        (0, 0),
        (7200, 0),
        (-12 * 3600, 0),
        (14 * 3600, 0),
        (5 * 3600 + 2700, 0),
        (3601, 0),
        (3660, 1),
        (-13 * 3600, 1),
        (15 * 3600, 1),
        (day, 1),
        (-400 * day, 1),
    ] {
        let odd = odd(&[line("a", 0, 1, T, zone, 1, 100)]);
        assert_eq!(odd.remarks, Remarks { zone: is_odd, ..Remarks::default() }, "{zone} s");
    }
}

#[test]
fn times_that_cannot_be() {
    for (t, cpu, wall, is_odd) in [
        (1000, 1, 1000, 0),
        (1000, 1, 1001, 1),
        (T, 819_200, 99, 0),
        // More than 8192 processors, a second more or less allowed.
        (T, 8192 * 101, 100, 0),
        (T, 8192 * 102, 100, 1),
        (T, 9_000, 0, 1),
    ] {
        let odd = odd(&[line("a", 0, 1, t, 0, cpu, wall)]);
        assert_eq!(odd.remarks.span, is_odd, "t {t}, {cpu} s in {wall} s");
    }
}

#[test]
fn clocks_of_nodes_that_differ() {
    // Of the second line: later by so much, wall clock time; runs, how many of them are odd.
    for (later, wall, runs, is_odd) in [
        (0, 1000, 1, 0),
        (60, 1000, 1, 0),
        (61, 1000, 1, 1),
        (-61, 1000, 1, 1),
        // Began together, ended later.
        (500, 1500, 1, 0),
        // As long as the other, and no time together.
        (5000, 1000, 2, 2),
        (-5000, 1100, 2, 2),
        // An id that came again.
        (5000, 300, 2, 0),
    ] {
        let second = line("a", 2, 8, T + later, 0, 1, wall);
        let odd = odd(&[line("a", 1, 8, T, 0, 1, 1000), second.clone()]);
        assert_eq!((odd.runs.len(), odd.remarks.apart), (runs, is_odd), "{later} s, {wall} s");
        // Nothing is known of launches without an id, or of those whose size nobody tells.
        let unknown = |line: &str| line.replace(" - a ", " - - ");
        let untold = |line: &str| line.replace(" 8 - B", " - - B");
        let first = line("a", 1, 8, T, 0, 1, 1000);
        if runs == 2 {
            assert_eq!(self::odd(&[unknown(&first), unknown(&second)]).remarks.apart, 0);
        }
        assert_eq!(self::odd(&[untold(&first), untold(&second)]).remarks.apart, 0);
    }
    // Of three lines one is apart.
    let lines: Vec<String> = [(0, 1000), (30, 1000), (90, 1000)]
        .iter()
        .zip(1..)
        .map(|((later, wall), pe)| line("a", pe, 8, T + later, 0, 1, *wall))
        .collect();
    assert_eq!(odd(&lines).remarks, Remarks { apart: 1, ..Remarks::default() });
    assert_eq!(odd(&lines[..2]).remarks.apart, 0);
}
