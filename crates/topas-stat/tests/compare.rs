//! What changed between two periods or selections, against sums over the text of the log.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use topas_testkit::{numbers_below, with_lengths};

fn run(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
    command.args(args).arg("topas.log").current_dir(dir).output().unwrap()
}

fn stat(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn error(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Runs of one line in September and October: `slow` takes twice as long in October, `same` as
/// long as before; `rare` has few runs, `old` and `fresh` are of one month only.
fn log(dir: &Path) {
    let mut next = numbers_below(99);
    let mut text = String::new();
    for id in 0..600u64 {
        let month = 9 + id % 2;
        let exe = match (id / 2 % 50, month) {
            (0, _) if id < 300 => "rare",
            (1..=3, 9) => "old",
            (1..=3, _) => "fresh",
            (4..=20, _) => "slow",
            _ => "same",
        };
        let factor = if exe == "slow" && month == 10 { 2 } else { 1 };
        let wall = factor * (9_000 + next(2_000));
        let (day, lib) = (1 + next(28), ["mpi", "sma"][next(2) as usize]);
        let npes = [1, 4, 64][next(3) as usize];
        // Without a count or time there is no rate.
        let ops = if next(9) == 0 { "-".to_owned() } else { (wall * next(3_000_000)).to_string() };
        text += &format!(
            "2026/{month:02}/{day:02} 12:00:00 ann {exe} 0 {npes} t1 B c {lib} 1.0 0.1 {}.{:03} f={ops} 1 r{id} v=1\n",
            wall / 1000,
            wall % 1000
        );
    }
    std::fs::write(dir.join("topas.log"), with_lengths(&text)).unwrap();
}

/// The runs of a group on a side as (npes, wall in s, operations), from the tokens.
fn runs(
    dir: &Path,
    group: usize,
    wanted: impl Fn(&[&str]) -> bool,
) -> BTreeMap<String, Vec<(f64, f64, Option<f64>)>> {
    let text = std::fs::read_to_string(dir.join("topas.log")).unwrap();
    let mut groups: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for line in text.lines() {
        let tokens: Vec<&str> = line.split(' ').collect();
        if wanted(&tokens) {
            let run = (
                tokens[5].parse().unwrap(),
                tokens[12].parse().unwrap(),
                tokens[13][2..].parse().ok(),
            );
            groups.entry(tokens[group].to_owned()).or_default().push(run);
        }
    }
    groups
}

/// Value, its standard error and the number of runs with a value.
fn expected(measure: &str, runs: &[(f64, f64, Option<f64>)]) -> (f64, f64, usize) {
    if measure == "pe_hours" {
        let hours: Vec<f64> = runs.iter().map(|(npes, wall, _)| npes * wall / 3600.0).collect();
        let squares: f64 = hours.iter().map(|h| h * h).sum();
        return (hours.iter().sum(), squares.sqrt(), runs.len());
    }
    let terms: Vec<(f64, f64)> = runs
        .iter()
        .filter_map(|&(npes, wall, ops)| match measure {
            "wall" => Some((wall, 1.0)),
            _ => Some((npes * ops? / 1e6, npes * wall)),
        })
        .collect();
    let n = terms.len() as f64;
    let (upper, lower) = terms.iter().fold((0.0, 0.0), |(a, b), (u, l)| (a + u, b + l));
    let mean = upper / lower;
    let squares: f64 = terms.iter().map(|(u, l)| (u - mean * l).powi(2)).sum();
    (mean, (squares * n / (n - 1.0)).sqrt() / lower, terms.len())
}

fn csv(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let names = lines.next().unwrap();
    lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect()
}

/// Whether a side wants a line, by its tokens.
type Wanted<'w> = &'w dyn Fn(&[&str]) -> bool;

/// Compares every figure of both sides; the verdicts by group and measure.
fn check(
    dir: &Path,
    args: &[&str],
    group: usize,
    sides: [Wanted<'_>; 2],
) -> BTreeMap<(String, String), String> {
    let groups = sides.map(|wanted| runs(dir, group, wanted));
    let rows = csv(&stat(dir, &[args, &["--csv"]].concat()));
    let mut verdicts = BTreeMap::new();
    for row in &rows {
        let (measure, name) = (row["measure"].as_str(), row["name"].clone());
        let near = |cell: &str, value: f64| {
            let ours: f64 = row[cell].parse().unwrap();
            let off = (ours - value).abs();
            assert!(off <= 1e-6 * value.abs() + 1e-12, "{name} {measure} {cell} {ours} {value}");
        };
        let mut values = Vec::new();
        for (side, groups) in ["a", "b"].iter().zip(&groups) {
            let runs = groups.get(&name).map_or(&[][..], Vec::as_slice);
            assert_eq!(row[&format!("{side}_runs")], runs.len().to_string());
            let (value, error, valued) = expected(measure, runs);
            if valued > 1 {
                near(&format!("{side}_value"), value);
                near(&format!("{side}_error"), error);
                assert_eq!(row[&format!("{side}_valued")], valued.to_string());
            }
            values.push((value, error, valued));
        }
        if groups.iter().all(|groups| groups.contains_key(&name)) {
            near("difference", values[0].0 - values[1].0);
            near("ratio", values[0].0 / values[1].0);
        }
        let few = values.iter().any(|value| value.2 < 5);
        let noise = values.iter().map(|value| value.1.powi(2)).sum::<f64>().sqrt();
        let change = (values[0].0 - values[1].0).abs();
        match row["verdict"].as_str() {
            "new" => assert!(!groups[1].contains_key(&name)),
            "gone" => assert!(!groups[0].contains_key(&name)),
            "few runs" => assert!(few),
            // Student's quantile is 1.96 and more, and of these numbers of runs below 2.8.
            "noise" => assert!(!few && change < 2.8 * noise, "{row:?}"),
            _ => assert!(!few && change > 1.95 * noise, "{row:?}"),
        }
        verdicts.insert((name.clone(), measure.to_owned()), row["verdict"].clone());
    }
    let all: usize =
        groups.iter().flat_map(BTreeMap::keys).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(rows.len(), 3 * all);
    verdicts
}

#[test]
fn two_months_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    log(dir);
    let month = |number: &'static str| move |tokens: &[&str]| tokens[0][5..7] == *number;
    let (october, september) = (month("10"), month("09"));
    let october: Wanted<'_> = &october;
    for threads in ["1", "3"] {
        let args = ["--compare", "2026-09", "--threads", threads];
        let verdicts = check(dir, &args, 3, [october, &september]);
        let verdict = |name: &str| verdicts[&(name.to_owned(), "wall".to_owned())].as_str();
        assert_eq!(
            ["slow", "same", "rare", "old", "fresh"].map(verdict),
            ["slower", "noise", "few runs", "gone", "new"]
        );
    }
    let named = ["--period", "2026-10", "--compare", "2026-09"];
    assert_eq!(
        stat(dir, &[&named[..], &["--csv"]].concat()),
        stat(dir, &["--compare", "2026-09", "--csv"])
    );
    // A run can be of both sides, or of none.
    let all = |_: &[&str]| true;
    check(dir, &["--compare", "2026-09..2026-10", "--period", "2026-10"], 3, [october, &all]);
    let text = stat(dir, &["--compare", "2026-09"]);
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    for part in [
        "A: 2026/10/01 and later; 300 runs (2026/10/01 to 2026/10/28), ",
        "B: 2026/09/01 to 2026/09/30; 300 runs ",
        "New, with runs in A only: fresh (18 runs).\n",
        "Gone, with runs in B only: old (18 runs).\n",
        "few runs: not enough to tell, less than 5 with a value on a side.\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let first = text.lines().skip_while(|line| !line.starts_with("---")).nth(1).unwrap();
    assert!(first.trim_start().starts_with("slow ") && first.ends_with(" slower"), "{text}");
    // Only those that got slower, the most first.
    let ratios: Vec<f64> =
        csv(&stat(dir, &["--compare", "2026-09", "--measure", "wall", "--sort", "ratio", "--csv"]))
            .iter()
            .filter_map(|row| row["ratio"].parse().ok())
            .collect();
    assert!(ratios.len() == 3 && ratios.is_sorted_by(|a, b| a >= b), "{ratios:?}");
}

#[test]
fn two_selections_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    log(dir);
    let lib = |name: &'static str| move |tokens: &[&str]| tokens[9] == name;
    check(
        dir,
        &["--where", "lib = mpi", "--compare-where", "lib = sma"],
        3,
        [&lib("mpi"), &lib("sma")],
    );
    // Conditions on runs, other ones on each side, and days on both.
    let args = [
        "--where",
        "wall > 10s",
        "--compare-where",
        "wall <= 10s and lib = mpi",
        "--since",
        "2026-10",
    ];
    let wall = |tokens: &[&str]| tokens[12].parse::<f64>().unwrap();
    let october = |tokens: &[&str]| &tokens[0][5..7] == "10";
    check(
        dir,
        &args,
        3,
        [&|tokens| october(tokens) && wall(tokens) > 10.0, &|tokens| {
            october(tokens) && wall(tokens) <= 10.0 && tokens[9] == "mpi"
        }],
    );
    let text = stat(dir, &["--where", "lib = mpi", "--compare-where", "lib = sma"]);
    assert!(
        text.contains("A: all days, lib = mpi; ") && text.contains("B: all days, lib = sma; "),
        "{text}"
    );
}

#[test]
fn every_form_tells_it() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    log(dir);
    let form = |form: &str| stat(dir, &["--compare", "2026-09", form]);
    let json: serde_json::Value = serde_json::from_str(&form("--json")).unwrap();
    assert_eq!(
        (&json["schema"], &json["b"]["runs"]),
        (&"topas.stat.compare/1".into(), &300.into())
    );
    let rows = csv(&form("--csv"));
    let lines: Vec<serde_json::Value> =
        form("--jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), lines.len(), json["rows"].as_array().unwrap().len()), (15, 15, 15));
    for ((row, line), whole) in rows.iter().zip(&lines).zip(json["rows"].as_array().unwrap()) {
        assert_eq!(row["verdict"], line["verdict"].as_str().unwrap());
        assert_eq!(row["difference"].parse().ok(), whole["difference"].as_f64());
        assert_eq!(row["b_q50"].parse().ok(), line["b_q50"].as_f64());
    }
    assert_eq!(form("--gnuplot").matches("# index ").count(), 3);
    assert!(form("--r").contains("topas <- data.frame(\n  table = c("));
    let bars = form("--bars");
    assert!(bars.contains("Wall by executable") && bars.contains("slow"), "{bars}");
    let svg = stat(dir, &["--compare", "2026-09", "--svg", "-"]);
    assert!(svg.starts_with("<?xml") || svg.starts_with("<svg"), "{svg}");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    log(dir);
    for (args, words) in [
        (&["--compare", "2026-09", "--period", "2026-09"][..], "both sides are of the same period"),
        (&["--compare-where", "host = n1"], "a field of single ranks"),
        (&["--compare-where", "nothing = 1"], "--compare-where: "),
        (&["--compare", "2026-09", "--by", "mflops"], "a comparison is by fields"),
        (&["--compare", "2026-09", "--measure", "failures"], "no measure is called 'failures'"),
        (&["--compare", "2026-09", "--sort", "size"], "not sorted by 'size'"),
        (&["--compare", "someday"], "--compare"),
        (&["--compare", "2026-09", "--runs"], "cannot be used with"),
        (&["--compare", "2026-09", "--percent", "row"], "cannot be used with"),
    ] {
        let said = error(dir, args);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    let output = run(dir, &["--compare", "1999", "--period", "2000"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0));
}
