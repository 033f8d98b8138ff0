//! CSV and JSON, read back and held against awk.

use std::process::Command;

use serde_json::Value;

use super::synthetic::{Imbalance, Launch};
use super::{directory, shown};

fn launch() -> Launch {
    Launch { imbalance: Imbalance::SlowHost(2), pes: 1000, ..Launch::default() }
}

/// PE, wall clock time in µs, operations and misses by awk; rates by its own division.
const AWK: &str = r#"
{
    f = substr($14, 3)
    printf "%d,%.6f,%.6f,%.6f,%s,%.3f,%s,%.3f\n", $5, $13, $12, $11, f, f / $13, $15, $15 / $13
}
"#;

#[test]
fn csv_has_what_awk_reads() {
    let dir = directory(launch().text());
    let awk = Command::new("awk").arg(AWK).arg(dir.path().join("topas.out")).output().unwrap();
    let expected = String::from_utf8(awk.stdout).unwrap();
    let csv = shown(dir.path(), &["--csv"]);
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let wanted = [
        "pe",
        "wall_s",
        "system_s",
        "user_s",
        "count",
        "rate_per_s",
        "l1_misses",
        "l1_misses_per_s",
    ];
    let places = wanted.map(|name| header.iter().position(|column| *column == name).unwrap());
    let ours: Vec<String> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), header.len());
            places.map(|place| cells[place]).join(",")
        })
        .collect();
    let theirs: Vec<&str> = expected.lines().collect();
    assert_eq!(ours.len(), 1000);
    for (ours, theirs) in ours.iter().zip(theirs) {
        let (ours, theirs): (Vec<&str>, Vec<&str>) =
            (ours.split(',').collect(), theirs.split(',').collect());
        for (place, (a, b)) in ours.iter().zip(&theirs).enumerate() {
            // awk's floating point may round the last place of a rate the other way.
            let near = || (a.parse::<f64>().unwrap() - b.parse::<f64>().unwrap()).abs() < 0.002;
            assert!(a == b || matches!(place, 5 | 7) && near(), "{a} {b}");
        }
    }
}

#[test]
fn json_jsonl_and_csv_agree() {
    let dir = directory(launch().text());
    let json: Value = serde_json::from_str(&shown(dir.path(), &["--json"])).unwrap();
    assert_eq!(json["schema"], "topas.view/1");
    assert_eq!(json["launch"]["npes"], 1000);
    assert_eq!(json["launch"]["missing_pes"], 0);
    let pes = json["pes"].as_array().unwrap();
    let csv = shown(dir.path(), &["--csv"]);
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let jsonl = shown(dir.path(), &["--jsonl"]);
    assert_eq!((pes.len(), jsonl.lines().count()), (1000, 1000));
    for ((pe, line), row) in pes.iter().zip(jsonl.lines()).zip(lines) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            (&line["schema"], &line["launch"]),
            (&"topas.view.pe/1".into(), &"5c3a-7".into())
        );
        for (name, cell) in header.iter().zip(row.split(',')) {
            assert_eq!(pe[name], line[name], "{name}");
            let same = match &pe[*name] {
                Value::Null => cell.is_empty(),
                Value::String(text) => text == cell,
                Value::Bool(yes) => cell == if *yes { "1" } else { "0" },
                number => number.as_f64() == cell.parse().ok(),
            };
            assert!(same, "{name}: {} {cell}", pe[*name]);
        }
    }
}

#[test]
fn json_of_views_has_their_numbers() {
    let dir = directory(launch().text());
    let json: Value =
        serde_json::from_str(&shown(dir.path(), &["--json", "--report", "--cluster"])).unwrap();
    assert_eq!(json.get("pes"), None, "only what is asked for");
    let finding = &json["findings"]["findings"][0];
    assert_eq!((&finding["by"], &finding["names"][0]), (&"host".into(), &"node0002".into()));
    assert_eq!(finding["pe_ranges"], serde_json::json!([[16, 23]]));
    let groups = json["groups"].as_array().unwrap();
    assert_eq!(groups.iter().filter(|group| group["by"] == "host").count(), 125);
    let total: f64 =
        groups.iter().filter(|g| g["by"] == "host").map(|g| g["cpu_share"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9);
    assert_eq!(json["statistics"]["values"], 1000);
    assert_eq!(json["clusters"]["width"], 1.0);
    assert!(json["best_clusters"]["bic"].as_array().unwrap().len() > 1);
    let balance = &json["balance"][0];
    let (max, mean) =
        (balance["max"]["value"].as_f64().unwrap(), balance["mean"].as_f64().unwrap());
    assert!((balance["imbalance"].as_f64().unwrap() - (max / mean - 1.0)).abs() < 1e-12);
}
