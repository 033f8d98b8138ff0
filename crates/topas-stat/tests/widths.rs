//! Text is as wide as the terminal, in every view.

use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/sacct").join(name)
}

/// The text of a view in so many columns.
fn text(view: &[&str], columns: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_topas-stat"))
        .args(view)
        .arg(fixture("slurm-22.05.log"))
        .env("COLUMNS", columns)
        .output()
        .unwrap();
    assert!(output.status.success(), "{view:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn no_line_is_wider_than_the_terminal_and_wide_ones_are_used() {
    let sacct = fixture("slurm-22.05.txt").display().to_string();
    let log = std::fs::read_to_string(fixture("slurm-22.05.log")).unwrap();
    let word = |key: &str| {
        let mut words = log.split([' ', '\n']);
        words.find_map(|word| word.strip_prefix(key)).unwrap().to_owned()
    };
    let (job, id) = (word("job="), log.split(' ').nth(15).unwrap().to_owned());
    let views: [&[&str]; 9] = [
        &["--by", "exe", "--measure", "wall,failures,lost,days", "--sort", "wall"],
        &["--by", "user,exe", "--percent", "row", "--by", "ending"],
        &["--compare-where", "npes > 2", "--by", "user"],
        &["--job", &job],
        &["--run", &id],
        &["--utilisation", "hour", "--capacity", "2026-01-01 256x1"],
        &["--utilisation", "month"],
        &["--sacct", &sacct, "--coverage"],
        &["--runs"],
    ];
    for view in views {
        let longest = |columns: &str| {
            text(view, columns).lines().map(|line| line.chars().count()).max().unwrap()
        };
        let (narrow, usual, broad) = (longest("40"), longest("80"), longest("200"));
        assert!(narrow <= 40, "{view:?}: {narrow}\n{}", text(view, "40"));
        assert!(usual > 40 && usual <= 80, "{view:?}: {usual}\n{}", text(view, "80"));
        assert!(broad >= usual && broad <= 200, "{view:?}: {broad}\n{}", text(view, "200"));
        let is_prose = matches!(view[0], "--job" | "--run" | "--sacct");
        assert!(!is_prose || broad > 80, "{view:?}: {broad}\n{}", text(view, "200"));
        // What is shortened is shortened visibly; nothing else is lost.
        let words = |columns: &str| text(view, columns).split_whitespace().count();
        assert!(words("80") * 3 / 4 <= words("40"), "{view:?}");
    }
}

/// What the note below a text says of the jobs of sacct, JSON says, too.
#[test]
fn reports_as_json_tell_how_much_of_the_jobs_was_measured() {
    let sacct = fixture("slurm-22.05.txt").display().to_string();
    let object = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&text(arguments, "80")).unwrap()
    };
    let coverage = object(&["--sacct", &sacct, "--coverage", "--json"]);
    let report = object(&["--sacct", &sacct, "--json"]);
    for (at, key) in [(1, "measured"), (2, "not_measured")] {
        let row = &coverage["tables"]["total"][at];
        assert_eq!(row["name"], key);
        for (name, value) in report["sacct"][key].as_object().expect(key) {
            assert_eq!(value, &row[name], "{key}: {name}");
        }
    }
    assert!(object(&["--json"])["sacct"].is_null());
}
