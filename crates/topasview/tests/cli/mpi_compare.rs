//! Two profiles of MPI calls side by side, and the order of rows.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::mpi_against_awk::shown;
use super::view;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/mpi/heat2d.out");

/// A directory with a profile, and the same after a change: `Allreduce` takes a tenth as long and
/// `Bcast` is not called; there are waits in the second one alone.
pub fn two() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let before = fs::read_to_string(FIXTURE).unwrap();
    let run: Vec<&str> = before.lines().filter(|line| line.contains(" of=run ")).collect();
    let time = "f=Allreduce:300:0.076738038:";
    let before = (run.join("\n") + "\n").replace(time, "f=Allreduce:300:0.08:");
    fs::write(dir.path().join("before.out"), topas_testkit::with_lengths(&before)).unwrap();
    let after = before
        .replace("f=Allreduce:300:0.08:", "f=Allreduce:300:0.008:")
        .replace(" f=Bcast:6:0.0117:0.0023:3072:1:4096:5:20480:6", "")
        .replace(
            " lang=c",
            " lang=c late=0.06 latercv=0 coll=0 l=Waitall:60:0.06:0:0:0:0:0:0:0:0:0:0",
        )
        .replace(" 5c3a-7 ", " 5c3a-8 ");
    fs::write(dir.path().join("after.out"), topas_testkit::with_lengths(&after)).unwrap();
    dir
}

/// The cells of the row of a name.
fn row<'t>(csv: &'t str, part: &str, name: &str) -> Vec<&'t str> {
    let begin = format!("{part},{name},");
    let found = csv.lines().find(|line| line.starts_with(&begin));
    found.unwrap_or_else(|| panic!("no {begin} in {csv}")).split(',').skip(2).collect()
}

#[test]
fn what_changed_between_two_profiles_is_told() {
    let dir = two();
    let args = ["--compare", "before.out", "after.out"];
    let csv = shown(dir.path(), &[&args[..], &["--csv"]].concat());
    // Seconds of a rank: of 6.
    assert_eq!(row(&csv, "routine", "Allreduce")[4], "0.1", "{csv}");
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    assert!((number(row(&csv, "routine", "Allreduce")[1]) - 0.08 / 6.0).abs() < 1e-6);
    // What is not there any more has no ratio, and what was not measured before is not 0.
    assert_eq!(row(&csv, "routine", "Bcast")[2..], ["", "", ""], "{csv}");
    assert_eq!(row(&csv, "waits", "late sender")[1..], ["", "0.01", "", ""], "{csv}");
    assert_eq!(row(&csv, "launch", "wall clock")[3..], ["0", "1"], "{csv}");
    // What changed most comes first.
    let routines: Vec<&str> = csv.lines().filter(|line| line.starts_with("routine,")).collect();
    assert!(routines[0].starts_with("routine,Allreduce,"), "{csv}");
    let text = shown(dir.path(), &[&args[..], &["--top", "1"]].concat());
    assert!(text.contains("Allreduce") && !text.contains("Waitall"), "{text}");
    let by_name = shown(dir.path(), &[&args[..], &["--csv", "--sort", "name"]].concat());
    let names: Vec<&str> = by_name
        .lines()
        .filter_map(|line| line.strip_prefix("routine,")?.trim_matches('"').split(',').next())
        .collect();
    assert!(names.is_sorted(), "{names:?}");
    let json: Value =
        serde_json::from_str(&shown(dir.path(), &[&args[..], &["--json"]].concat())).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let late = rows.iter().find(|row| row["name"] == "late sender").unwrap();
    assert!(late["before"].is_null() && late["after"] == 0.01, "{late}");
    // By the ids of launches in one file.
    let both = ["before.out", "after.out"].map(|name| fs::read(dir.path().join(name)).unwrap());
    fs::write(dir.path().join("topas-mpi.out"), both.concat()).unwrap();
    let by_id = shown(dir.path(), &["--compare", "5c3a-7", "5c3a-8", "--csv"]);
    assert_eq!(by_id, csv);
}

#[test]
fn rows_of_the_profile_have_the_order_that_is_asked_for() {
    let dir = two();
    let names = |args: &[&str]| -> Vec<String> {
        let csv = shown(dir.path(), &[&["--routines", "--csv", "before.out"][..], args].concat());
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["--top", "1"]), ["Waitall"]);
    assert_eq!(names(&["--sort", "sent", "--top", "1"]), ["Isend"]);
    assert_eq!(names(&["--sort", "received", "--top", "1"]), ["Irecv"]);
    assert!(names(&["--sort", "name"]).is_sorted());
    let up = names(&["--sort", "time", "--ascending"]);
    assert_eq!(up.last().map(String::as_str), Some("Waitall"), "{up:?}");
}

#[test]
fn what_cannot_be_compared_or_sorted_is_told() {
    let dir = two();
    let code = |args: &[&str]| {
        let shown = view(dir.path(), args);
        (shown.code, shown.err)
    };
    for args in [
        &["--mpi", "--compare", "before.out", "after.out", "--waits"][..],
        &["--mpi", "--compare", "before.out", "after.out", "--html", "page.html"],
        &["--mpi", "--list", "--html", "page.html", "before.out"],
        &["--mpi", "--sort", "host", "before.out"],
        &["--sort", "waits", "before.out"],
    ] {
        let (code, err) = code(args);
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains("hint: "), "{args:?}: {err}");
    }
    let (code, err) = code(&["--mpi", "--compare", "before.out", "none"]);
    assert_eq!(code, 3, "{err}");
    assert!(Path::new(FIXTURE).exists());
}
