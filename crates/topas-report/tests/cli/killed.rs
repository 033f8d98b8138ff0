//! `topas-report ingest`, killed at random points: nothing is lost, and nothing counts twice.

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::Duration;

use topas_store::{Cell, Index, SumsBy, sums_by};
use topas_testkit::numbers_below;

use super::{Center, stderr};

/// Runs that come between two kills.
const RUNS: u64 = 400;

/// Adds up runs, PE x s and lines of the raw log by user.
const AWK: &str = r#"{ n[$3]++; pe[$3] += $6 * $13 } END { for (u in n) print u, n[u], pe[u] }"#;

#[test]
fn an_ingest_that_is_killed_loses_and_doubles_nothing() {
    let kills = if std::env::var_os("TOPAS_TEST_FULL").is_some() { 50 } else { 6 };
    let center = Center::new("");
    let mut below = numbers_below(7);
    let mut killed = 0;
    for round in 0..kills {
        center.append_runs(round, RUNS);
        let mut ingest = center.ingest(&["--batch", "17", "--quiet"]);
        thread::sleep(Duration::from_micros(500 + below(60_000)));
        ingest.kill().unwrap();
        killed += u64::from(!ingest.wait().unwrap().success());
    }
    assert!(killed > 0, "none of {kills} was killed at work");
    let made = center.report(&["ingest", "log", "--index", "index"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let again = center.report(&["ingest", "log", "--index", "index"]);
    assert!(stderr(&again).contains("0 of 0 lines are new"), "{}", stderr(&again));

    let awk = Command::new("awk").arg(AWK).arg(center.log()).output().unwrap();
    let raw: BTreeMap<String, (u64, u128)> = String::from_utf8(awk.stdout)
        .unwrap()
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].to_owned(), (words[1].parse().unwrap(), words[2].parse().unwrap()))
        })
        .collect();
    let mut index = Index::read(&center.path("index")).unwrap();
    let rows = sums_by(&mut index, SumsBy::User, (0, 99_999_999), &[]).unwrap();
    let held: BTreeMap<String, (u64, u128)> = rows
        .iter()
        .map(|row| {
            let Cell::Text(user) = &row.key else { panic!("{:?}", row.key) };
            let share = row.all().share();
            (user.clone(), (share.runs, share.time.0 / 1_000_000))
        })
        .collect();
    assert_eq!(held, raw);
    assert_eq!(raw.values().map(|(runs, _)| runs).sum::<u64>(), RUNS * kills);
}
