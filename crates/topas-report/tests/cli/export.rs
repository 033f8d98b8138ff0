//! Files of all runs for other programs.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

use parquet::basic::Repetition;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use topas_testkit::numbers_below;

use super::{Center, Line, stderr};

#[test]
fn every_run_is_a_row_and_nothing_measured_is_no_value() {
    let uncounted = Line { day: 18, user: "a\"b,c", npes: 2, id: "x2", ..Line::default() }.text();
    let uncounted = uncounted.replace(&format!(" f={} ", Line::default().ops), " f=- ");
    let first =
        Line { day: 17, user: "root", exe: "heat", npes: 8, seconds: 90, ..Line::default() };
    let center = Center::new(&(first.text() + &topas_testkit::with_lengths(&uncounted)));
    let columns = ["--columns", "started,user,npes,wall,mflops"];
    let output =
        center.report(&[&["export", "log", "--parquet", "runs.parquet"][..], &columns].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("2 runs in runs.parquet"), "{}", stderr(&output));
    let file = SerializedFileReader::new(File::open(center.path("runs.parquet")).unwrap()).unwrap();
    let about = file.metadata().file_metadata();
    let units: Vec<_> = about.key_value_metadata().unwrap().iter().map(|unit| &*unit.key).collect();
    assert_eq!(units, ["unit.started", "unit.wall", "unit.mflops"]);
    for field in about.schema().get_fields() {
        assert_eq!(field.get_basic_info().repetition(), Repetition::OPTIONAL);
    }
    let rows: Vec<_> = file.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2);
    let [first, second] = [&rows[0], &rows[1]];
    assert_eq!(first.get_string(1).unwrap(), "root");
    assert_eq!((first.get_long(2).unwrap(), first.get_double(3).unwrap()), (8, 90.0));
    let rate = Line::default().ops as f64 / 90e6;
    assert!((first.get_double(4).unwrap() - rate).abs() < 1e-9 * rate);
    assert_eq!(second.get_string(1).unwrap(), "a\"b,c");
    assert!(second.get_double(4).is_err(), "not measured is no value");
    // Two exports of a log are equal.
    let again = center.report(&[&["export", "log", "--parquet", "-", "-q"][..], &columns].concat());
    assert!(again.stdout == std::fs::read(center.path("runs.parquet")).unwrap());
}

#[test]
fn a_file_of_another_kind_is_kept_and_a_wrong_column_is_told() {
    let center = Center::new(&Line::default().text());
    let kept = center.report(&["export", "log", "--parquet", "log"]);
    assert_eq!(kept.status.code(), Some(2), "{}", stderr(&kept));
    let wrong = center.report(&["export", "log", "--parquet", "x", "--columns", "mflops,flips"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("flips"), "{}", stderr(&wrong));
    let twice = center.report(&["export", "log", "--parquet", "x", "--columns", "user,user"]);
    assert!(stderr(&twice).contains("'user' is given twice"), "{}", stderr(&twice));
    assert!(!center.path("x").exists());
    let none = center.report(&["export", "log", "--parquet", "x", "--period", "2019"]);
    assert_eq!(none.status.code(), Some(3), "{}", stderr(&none));
}

const DUCKDB: &str = r#"
import duckdb, sys
db = duckdb.connect()
db.execute("create table line as select string_split(line, ' ') as f from read_csv(?, "
    "columns = {'line': 'varchar'}, delim = '\t', header = false, quote = '', escape = '')", [sys.argv[1]])
raw = db.execute("select f[3], count(*), sum(f[6]::bigint), sum(f[13]::decimal(18, 6)), "
    "max(f[14][3:]::double / f[13]::double / 1e6), min(f[1] || ' ' || f[2]) "
    "from line group by 1 order by 1").fetchall()
ours = db.execute("select user, count(*), sum(npes), sum(wall::decimal(18, 6)), max(mflops), "
    "min(strftime(ended, '%Y/%m/%d %H:%M:%S')) from read_parquet(?) group by 1 order by 1", [sys.argv[2]]).fetchall()
assert len(raw) == len(ours) > 3, (raw, ours)
for a, b in zip(raw, ours):
    assert a[:4] == b[:4] and a[5] == b[5] and abs(a[4] - b[4]) <= 1e-9 * a[4], (a, b)
print(sum(row[1] for row in ours))
"#;

#[test]
#[ignore = "cargo xtask test --duckdb"]
fn duckdb_reads_what_the_log_says() {
    let mut below = numbers_below(7);
    let mut log = String::new();
    for run in 0..5000 {
        log += &Line {
            day: 1 + below(20) as u8,
            user: ["ada", "bob", "cy", "di", "root"][below(5) as usize],
            npes: 1 + below(64) as u32,
            seconds: 1 + below(9000) as u32,
            ops: 1 + below(1 << 50),
            id: &format!("j{run}"),
            ..Line::default()
        }
        .text();
    }
    let center = Center::new(&log);
    let output = center.report(&["export", "log", "--parquet", "runs.parquet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let python = std::env::var_os("TOPAS_TEST_DUCKDB").unwrap_or_else(|| "python3".into());
    let mut python = Command::new(python)
        .arg("-")
        .args([center.log(), center.path("runs.parquet")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(DUCKDB.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "asked for, so it must run");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "5000");
}
