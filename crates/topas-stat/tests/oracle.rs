//! The same statistics by other means: awk, and DuckDB where asked for.

#[path = "../../topas-data/examples/generate-log/center.rs"]
mod center;
#[path = "../../topas-data/examples/generate-log/synthetic.rs"]
mod synthetic;
#[path = "../../topas-data/examples/generate-log/year.rs"]
mod year;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Rows by table and name: number of runs, PE microseconds.
type SumsByRow = BTreeMap<(String, String), (u64, u64)>;

const LINES: usize = 30_000;

fn log(path: &Path) {
    let mut log = synthetic::Log::new(20);
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for _ in 0..LINES {
        file.write_all(log.line()).unwrap();
    }
    file.flush().unwrap();
}

fn ours(path: &Path) -> SumsByRow {
    let output = Command::new(env!("CARGO_BIN_EXE_topas-stat"))
        .args(["--format", "csv", "--bucket", "25"])
        .arg(path)
        .output()
        .unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let name = if cells[1] == "not measured" { "none" } else { cells[1] };
            let micros = cells[6].replace('.', "").parse().unwrap();
            ((cells[0].to_owned(), name.to_owned()), (cells[4].parse().unwrap(), micros))
        })
        .collect()
}

/// Rows as `table name runs micros`.
fn rows(text: &[u8]) -> SumsByRow {
    String::from_utf8_lossy(text)
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            let [table, name, runs, micros] = cells[..] else { panic!("{line:?}") };
            ((table.to_owned(), name.to_owned()), (runs.parse().unwrap(), micros.parse().unwrap()))
        })
        .collect()
}

const AWK: &str = r#"
{
    id = $16 " " $6
    wall = sprintf("%.0f", $13 * 1e6) + 0
    npes[id] = $6
    if (wall > most[id]) most[id] = wall
    if ($14 ~ /^f[=~][0-9]/) { ops[id] += substr($14, 3); time[id] += wall }
    lang[id] = $9; lib[id] = $10
}
END {
    for (id in npes) {
        t = npes[id] * most[id]
        b = int(ops[id] / (time[id] > 0 ? time[id] * 25 : 1))
        name = time[id] > 0 ? b * 25 "-" (b + 1) * 25 : "none"
        runs["mflops " name]++; sum["mflops " name] += t
        runs["lang " lang[id]]++; sum["lang " lang[id]] += t
        runs["lib " lib[id]]++; sum["lib " lib[id]] += t
    }
    for (row in runs) printf "%s %d %.0f\n", row, runs[row], sum[row]
}
"#;

#[test]
fn awk_computes_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.log");
    log(&path);
    let awk = match Command::new("awk").arg(AWK).arg(&path).output() {
        Ok(awk) => awk,
        Err(error) => {
            eprintln!("SKIPPED awk_computes_the_same: cannot run awk: {error}");
            return;
        }
    };
    assert!(awk.status.success(), "{}", String::from_utf8_lossy(&awk.stderr));
    let expected = rows(&awk.stdout);
    assert!(expected.len() > 50);
    assert_eq!(ours(&path), expected);
}

/// Runs that meet a condition: their number and PE microseconds.
const AWK_SELECTED: &str = r#"
{
    id = $16 " " $6
    wall = sprintf("%.0f", $13 * 1e6) + 0
    npes[id] = $6
    if (wall > most[id]) most[id] = wall
    if ($14 ~ /^f[=~][0-9]/) { ops[id] += substr($14, 3); time[id] += wall }
    if (!(id in pe) || $5 + 0 < pe[id]) { pe[id] = $5 + 0; clock[id] = $2 }
    lang[id] = $9
}
END {
    for (id in npes) {
        n = npes[id]; valued = time[id] > 0
        if (CONDITION) { runs++; sum += n * most[id] }
    }
    printf "%d %.0f\n", runs, sum
}
"#;

#[test]
fn awk_selects_the_same_runs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.log");
    log(&path);
    for (ours, theirs) in [
        (
            "npes > 64 and mflops < 1000 and wall > 2s",
            "n > 64 && valued && ops[id] < 1000 * time[id] && most[id] > 2e6",
        ),
        (
            "not mflops >= 0.5G and lang = f90",
            r#"valued && ops[id] < 500 * time[id] && lang[id] == "f90""#,
        ),
        ("mflops = - or wall <= 0.01m", "!valued || most[id] <= 600e3"),
        (
            "time < 00:05 or not (pe_hours < 0.05 or weekday = Mon)",
            r#"clock[id] < "00:05" || n * most[id] >= 180e6"#,
        ),
    ] {
        let script = AWK_SELECTED.replace("CONDITION", theirs);
        let awk = Command::new("awk").arg(script).arg(&path).output().unwrap();
        assert!(awk.status.success(), "{}", String::from_utf8_lossy(&awk.stderr));
        let expected = String::from_utf8(awk.stdout).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_topas-stat"))
            .args(["--json", "--where", ours])
            .arg(&path)
            .output()
            .unwrap();
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let micros = (json["pe_seconds"].as_f64().unwrap() * 1e6).round();
        assert_eq!(format!("{} {micros}\n", json["runs"]), expected, "{ours}");
        let runs = json["runs"].as_u64().unwrap();
        assert!(runs > 20 && runs < 14_000, "{ours}: {runs}");
    }
}

/// Every figure of random logs, computed by fractions: `oracle.py` tells which.
#[test]
fn python_computes_the_same() {
    if Command::new("python3").arg("--version").output().is_err() {
        let line = b"skipped: python_computes_the_same: cannot run python3\n";
        let _ = std::io::stderr().write_all(line);
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle.py");
    let dir = tempfile::tempdir().unwrap();
    // Another seed makes another log: it holds for all that were tried.
    let output = Command::new("python3")
        .args([script, env!("CARGO_BIN_EXE_topas-stat")])
        .arg(dir.path())
        .arg("1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let checked: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    assert!(checked > 50_000, "{checked}");
}

const DUCKDB: &str = r#"
import duckdb, sys
db = duckdb.connect()
db.execute("""
create table line as
  select string_split(line, ' ') as f
  from read_csv(?, columns = {'line': 'varchar'}, delim = '\t', header = false, quote = '', escape = '')
""", [sys.argv[1]])
db.execute("""
create table run as
  select *, npes * most as micros
  from (select f[16] as id, f[6]::bigint as npes, min(f[9]) as lang, min(f[10]) as lib,
               max(wall_us) as most,
               sum(ops) as ops, sum(case when ops is not null then wall_us end) as wall
        from (select f, (f[13]::decimal(18, 6) * 1000000)::hugeint as wall_us,
                     case when regexp_matches(f[14], '^f[=~][0-9]') then f[14][3:]::hugeint end as ops
              from line)
        group by all)
""")
bucket = "(ops // (wall * 25)) * 25"
name = f"case when wall > 0 then ({bucket})::varchar || '-' || ({bucket} + 25)::varchar else 'none' end"
for table, column in [("mflops", name), ("lang", "lang"), ("lib", "lib")]:
    for row in db.execute(f"select {column}, count(*), sum(micros)::hugeint from run group by all").fetchall():
        print(table, *row)
"#;

#[test]
#[ignore = "cargo xtask test --duckdb"]
fn duckdb_computes_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.log");
    log(&path);
    let python = std::env::var_os("TOPAS_TEST_DUCKDB").unwrap_or_else(|| "python3".into());
    let mut python = Command::new(python)
        .args(["-", path.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(DUCKDB.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "asked for, so it must run");
    let expected = rows(&output.stdout);
    assert!(expected.len() > 50);
    assert_eq!(ours(&path), expected);
}

/// How many figures of `topas-stat` a script of these tests found to be those of DuckDB. It fails at the
/// first that is not.
fn figures_compared(script: &str, log: &Path, state: &str) -> u64 {
    let python = std::env::var_os("TOPAS_TEST_DUCKDB").unwrap_or_else(|| "python3".into());
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script))
        .arg(env!("CARGO_BIN_EXE_topas-stat"))
        .arg(log)
        .arg(state)
        .env("TZ", "UTC")
        .output()
        .unwrap();
    assert!(output.status.success(), "{state}: {}", String::from_utf8_lossy(&output.stderr));
    let figures = String::from_utf8_lossy(&output.stdout);
    figures.trim().parse().expect("how many figures were compared")
}

/// The log of a center with programs that use accelerators, without dirt and with it:
/// `questions.py` tells which questions.
#[test]
#[ignore = "cargo xtask test --duckdb"]
fn duckdb_answers_the_questions_of_a_center_likewise() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("topas.log");
    std::fs::write(&log, center::lines(20_000, 1).concat()).unwrap();
    for state in ["clean", "dirty"] {
        let figures = figures_compared("questions.py", &log, state);
        assert!(figures > 2000, "{state}: {figures}");
    }
}

/// A year of a center in files of several owners, with profiles of MPI and jobs of sacct: `year.py` tells
/// which questions.
#[test]
#[ignore = "cargo xtask test --duckdb"]
fn duckdb_answers_the_questions_about_a_year_likewise() {
    for state in ["clean", "dirty"] {
        let dir = tempfile::tempdir().unwrap();
        year::write(12_000, dir.path(), 1).unwrap();
        let figures = figures_compared("year.py", dir.path(), state);
        assert!(figures > 3000, "{state}: {figures}");
    }
}
