//! How often healthy programs are told as slower, and how surely slower ones are.

use topas_data::{
    CompareOrder, ComparePlan, CompareReport, Resources, Source, WeekPlan, ask_reader, parse_period,
};
use topas_format::civil::{Civil, Date};
use topas_testkit::{numbers_below, with_lengths};

use super::super::change_plan;
use super::*;

/// Monday of the week that is looked at, in s since 1970-01-01: 2026-11-16.
const WEEK: u64 = 1_794_787_200;

const SECONDS_OF_WEEK: u64 = 7 * 86_400;

/// Weeks before it with which it is compared.
const WEEKS_BEFORE: u64 = 4;

/// A program of a user, in weeks that are counted from the first of those before.
struct Program {
    /// Runs in each of the weeks before, and in the week
    runs: [u64; 2],
    /// Spread of the logarithms of rates at the same number of PEs
    noise: f64,
    /// Spread of the logarithms of the work of a run
    lengths: f64,
    /// Number of PEs in the first week
    npes: f64,
    /// By which the number of PEs grows from week to week
    growth: f64,
    /// Rates of PEs are as the number of PEs to the power of less this
    lost_by_size: f64,
    /// What is left of the rate in the week
    left: f64,
}

/// The log of some programs.
fn log(seed: u64, programs: &[Program]) -> String {
    let mut below = numbers_below(seed);
    let mut text = String::new();
    for (number, program) in programs.iter().enumerate() {
        for week in 0..=WEEKS_BEFORE {
            let is_now = week == WEEKS_BEFORE;
            let npes = (program.npes * program.growth.powf(week as f64)).round().max(1.0);
            for run in 0..program.runs[usize::from(is_now)] {
                // The sum of twelve is about normal.
                let mut normal =
                    || (0..12).map(|_| below(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0;
                let left = if is_now { program.left } else { 1.0 };
                let slower = npes.powf(-program.lost_by_size);
                let rate = 800.0 * left * slower * (program.noise * normal()).exp();
                let work = 1e6 * (program.lengths * normal()).exp();
                let seconds = work / rate / slower;
                let at = WEEK - (WEEKS_BEFORE - week) * SECONDS_OF_WEEK + below(SECONDS_OF_WEEK);
                let Civil { date: Date { year, month, day }, .. } = Civil::from_seconds(at as i64);
                text += &with_lengths(&format!(
                    "{year:04}/{month:02}/{day:02} 12:00:00 user{} program{number} 1 {npes} t2400 B f90 \
                     mpi {seconds:.6} 0.1 {seconds:.6} f={:.0} 1000 j{number}.{week}.{run} v=1 t={at}\n",
                    number % 40,
                    rate * seconds * 1e6,
                ));
            }
        }
    }
    text
}

/// The programs that a page of the week tells as slower, with their measures.
fn told(log: &str) -> Vec<(String, &'static str)> {
    let today = Date { year: 2026, month: 11, day: 24 };
    let week = parse_period("2026-W47", today).unwrap();
    let before = WeekPlan::new(week).unwrap().before;
    let plan = ComparePlan::new([change_plan(week).unwrap(), change_plan(before).unwrap()]);
    let fold = || CompareReport::new(&plan);
    let resources = Resources::default();
    let answer =
        ask_reader(&Source::Stdin, log.as_bytes(), &plan, fold, &resources, |_| ()).unwrap();
    assert_eq!(answer.tally.good, log.lines().count() as u64);
    let tables = answer.fold.tables(&CompareOrder::default());
    slower(&tables).iter().map(|(table, row)| (label(row, 1), table.measure.name)).collect()
}

/// Programs that nobody changed: with noise of 1 to 20 %, few or many runs, inputs of one size or of all,
/// on ever more PEs or on as many as before.
fn healthy(seed: u64, number: usize) -> Vec<Program> {
    let mut below = numbers_below(seed);
    let mut program = |_| {
        let runs = match below(3) {
            0 => 1 + below(4),
            1 => 5 + below(8),
            _ => 12 + below(20),
        };
        Program {
            runs: [runs, 1 + below(2 * runs)],
            noise: (1 + below(20)) as f64 / 100.0,
            lengths: [0.0, 0.1, 0.4, 1.1][below(4) as usize],
            npes: 2f64.powi(below(8) as i32),
            growth: [1.0, 1.0, 1.2, 2.0][below(4) as usize],
            lost_by_size: below(20) as f64 / 100.0,
            left: 1.0,
        }
    };
    (0..number).map(&mut program).collect()
}

/// Pages with healthy programs. Of 200 of them (26,200 weeks of programs, a minute and a half), 6 rows are
/// false.
const PAGES: u64 = 6;

/// Of so many programs of a center in a week.
const PROGRAMS: usize = 250;

#[test]
fn healthy_programs_are_told_once_in_a_thousand_weeks_at_most() {
    let (mut rows, mut weeks) = (Vec::new(), 0);
    for page in 0..PAGES {
        // Of centers with few programs, too, where the chance of all together is no limit.
        let number = if page % 2 == 0 { PROGRAMS } else { 12 };
        rows.extend(told(&log(page, &healthy(1000 + page, number))));
        weeks += number;
    }
    println!("{} false rows in {weeks} weeks of programs: {rows:?}", rows.len());
    assert!(rows.len() * 1000 <= weeks, "{} in {weeks}: {rows:?}", rows.len());
}

#[test]
fn a_loss_of_a_seventh_is_told_with_ten_runs() {
    let (mut found, mut of) = (0, 0);
    for page in 0..3 {
        let mut programs = healthy(2000 + page, PROGRAMS);
        // Every tenth lost 15 % of its rate: 10 runs in the week, as many before it, noise of 3 %.
        let slowed = |number: usize| number.is_multiple_of(10);
        for (number, program) in programs.iter_mut().enumerate().filter(|(at, _)| slowed(*at)) {
            let lengths = if number.is_multiple_of(20) { 0.0 } else { 1.1 };
            *program = Program {
                runs: [3, 10],
                noise: 0.03,
                lengths,
                npes: 64.0,
                growth: 1.0,
                lost_by_size: 0.1,
                left: 0.85,
            };
            of += 1;
        }
        let rows = told(&log(page, &programs));
        let is_slowed = |(name, measure): &&(String, &str)| {
            *measure == "mflops" && slowed(name["program".len()..].parse().unwrap())
        };
        found += rows.iter().filter(is_slowed).count();
    }
    println!("{found} of {of} slower programs are told");
    assert!(found * 100 >= of * 98, "{found} of {of}");
}
