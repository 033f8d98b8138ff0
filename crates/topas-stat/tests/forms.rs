//! Forms for other programs, read by those: gnuplot, R, python's csv and json.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

#[path = "../../topas-data/examples/generate-log/synthetic.rs"]
mod synthetic;

/// Past the capture of libtest.
fn skipped(test: &str, tool: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: cannot run {tool}");
}

/// A log, and users whose names would break a careless writer.
fn log(dir: &Path) {
    let mut log = synthetic::Log::new(7);
    let mut text: Vec<u8> = (0..4000).flat_map(|_| log.line().to_vec()).collect();
    for (id, user) in ["a\"b", "c\\d", "e,f", "$g`h`", "größe", "#i"].iter().enumerate() {
        text.extend(
            format!("1999/11/20 12:00:00 {user} x 0 1 t2596 B c - 1.0 0.1 2.0 f=5 1 odd{id}\n")
                .bytes(),
        );
    }
    std::fs::write(dir.join("topas.log"), text).unwrap();
}

const TABLES: [&str; 13] = [
    "-q",
    "--by",
    "mflops",
    "--by",
    "mflops,lang",
    "--by",
    "user",
    "--measure",
    "mflops,cpu_use",
    "-b",
    "200",
    "--upper",
    "2000",
];

fn stat(dir: &Path, form: &str) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
    let output = command.args(TABLES).args([form, "topas.log"]).current_dir(dir).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    output.stdout
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn gnuplot_plots_what_the_comments_tell() {
    let dir = tempfile::tempdir().unwrap();
    log(dir.path());
    let data = stat(dir.path(), "--gnuplot");
    std::fs::write(dir.path().join("topas.dat"), &data).unwrap();
    let data = String::from_utf8(data).unwrap();
    let commands: Vec<String> = data
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.starts_with("set ") || line.starts_with("plot "))
        .map(|line| line.replace("FILE", "'topas.dat'"))
        .collect();
    assert_eq!(commands.iter().filter(|line| line.starts_with("plot")).count(), 3);
    let script = format!("set terminal dumb\n{}\n", commands.join("\n"));
    std::fs::write(dir.path().join("plot"), script).unwrap();
    let output = Command::new("gnuplot").arg("plot").current_dir(dir.path()).output();
    let Ok(output) = output else {
        return skipped("gnuplot_plots_what_the_comments_tell", "gnuplot");
    };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let plots = text(&output);
    assert!(plots.contains("f90") && plots.contains("0-200"), "{plots}");
}

#[test]
fn r_and_python_read_the_same() {
    let dir = tempfile::tempdir().unwrap();
    log(dir.path());
    for (form, name) in [("--r", "topas.R"), ("--csv", "topas.csv"), ("--json", "topas.json")] {
        std::fs::write(dir.path().join(name), stat(dir.path(), form)).unwrap();
    }
    std::fs::write(dir.path().join("topas.jsonl"), stat(dir.path(), "--jsonl")).unwrap();
    let python = Command::new("python3").args(["-c", PYTHON]).current_dir(dir.path()).output();
    let Ok(python) = python else { return skipped("r_and_python_read_the_same", "python3") };
    let expected = text(&python);
    assert!(expected.lines().count() > 100, "{expected}");
    let r = Command::new("Rscript").args(["--vanilla", "-e", R]).current_dir(dir.path()).output();
    let Ok(r) = r else { return skipped("r_and_python_read_the_same", "Rscript") };
    assert_eq!(text(&r), expected);
}

/// Reads CSV and JSON, which must tell the same, and prints table, names, runs.
const PYTHON: &str = r#"
import csv, json
rows = list(csv.DictReader(open("topas.csv")))
lines = [json.loads(line) for line in open("topas.jsonl")]
report = json.load(open("topas.json"))
flat = [(",".join(table["by"]), row) for table in report["tables"] for row in table["rows"]]
assert len(rows) == len(lines) == len(flat)
number = lambda text: float(text) if text else None
for row, line, (table, whole) in zip(rows, lines, flat):
    assert row["table"] == line["table"] == table
    for key in ("name", "name2"):
        assert (row[key] or None) == line.get(key) == whole.get(key), (row, line)
    for key in ("from", "to", "runs", "runs_percent", "pe_seconds", "time_percent"):
        assert number(row[key]) == line.get(key) == whole.get(key), (key, row, line)
    for measure in ("mflops", "cpu_use"):
        for key, value in line["measures"][measure].items():
            assert number(row[measure + "_" + key]) == value, (measure, key, row)
    cells = [row["table"], row["name"], row["name2"], row["runs"]]
    mean = number(row["mflops_mean"])
    # In code points: the locale of R may have no letters beyond ASCII.
    print(*map(ord, "|".join(cells)), "%.6g" % (-1 if mean is None else mean), "")
"#;

const R: &str = r#"
source("topas.R")
for (table in names(topas)) {
    f <- topas[[table]]
    for (i in seq_len(nrow(f))) {
        second <- if (is.null(f$name2)) "" else f$name2[i]
        mean <- f$mflops_mean[i]
        text <- paste(table, f$name[i], second, f$runs[i], sep = "|")
        mean <- sprintf("%.6g", if (is.na(mean)) -1 else mean)
        cat(utf8ToInt(enc2utf8(text)), mean, "\n")
    }
}
"#;
