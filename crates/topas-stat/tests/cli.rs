//! Every option and every exit code of the command.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use topas_testkit::with_lengths;

const LOG: &str = "\
1999/05/04 12:00:00 mohr heat 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=100000000 10 4711
1999/05/04 12:00:00 mohr heat 9 16 t450 B f90 mpi 1.0 0.1 2.0 i=7 10 4711
1999/05/05 12:00:00 mohr cg 5 16 t450 I c mpi 1.0 0.1 1.0 f=175000000 10 4712
1999/05/06 12:00:00 mohr cg 5 16 t450 B c - 1.0 0.1 1.0 f=- - 4713
";

struct StatSite {
    dir: tempfile::TempDir,
}

impl StatSite {
    fn new() -> Self {
        let site = StatSite { dir: tempfile::tempdir().unwrap() };
        site.file("topas.log", LOG);
        site
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
        command.args(args).current_dir(&self.dir).stdin(Stdio::null());
        command
    }

    /// Exit code, standard output, standard error.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        texts(self.command(args).output().unwrap())
    }

    fn pipe(&self, args: &[&str], input: &[u8]) -> (i32, String, String) {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        texts(child.wait_with_output().unwrap())
    }
}

fn texts(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const REPORT: &str = "\
==========================================
TOPAS Report      1999/05/04 to 1999/05/06
==========================================

 Mflops    Num%   Num   Time%         Time
------------------------------------------
 50-100  50.00%     1  66.67%      0:00:32
150-200  50.00%     1  33.33%      0:00:16
      -       -     1       -      0:00:16

   Lang    Num%   Num   Time%         Time
------------------------------------------
    f90  33.33%     1  50.00%      0:00:32
      c  66.67%     2  50.00%      0:00:32

 MP-Lib    Num%   Num   Time%         Time
------------------------------------------
      -  33.33%     1  25.00%      0:00:16
    mpi  66.67%     2  75.00%      0:00:48

Mflops: MFlop/s per PE, over the wall clock time.
Num% of 3 runs, Time% of 0:01:04 PE x wall clock (h:mm:ss).
Under Mflops: Num% of 2 runs with a rate, Time% of their 0:00:48.
- : 1 run without a count of floating point operations (not measured)
! : 2 runs of two PEs or more with one line, 66.67% of 3 runs
";

#[test]
fn a_file_a_directory_and_standard_input() {
    let site = StatSite::new();
    let whole = (0, REPORT.to_owned(), String::new());
    assert_eq!(site.run(&["topas.log"]), whole);
    assert_eq!(site.run(&["."]), whole);
    assert_eq!(site.pipe(&[], LOG.as_bytes()), whole);
    assert_eq!(site.pipe(&["-"], LOG.as_bytes()), whole);
    // Lines of one run in a file and on standard input.
    let (first, rest) = LOG.split_at(LOG.find('\n').unwrap() + 1);
    site.file("node1.log", first);
    assert_eq!(site.pipe(&["node1.log", "-"], rest.as_bytes()), whole);
}

#[test]
fn the_pipe_of_the_paper() {
    let site = StatSite::new();
    let line = format!(
        "grep ' f90 ' topas.log | grep ' B ' | grep ' mpi ' | {}",
        env!("CARGO_BIN_EXE_topas-stat")
    );
    let (code, out, err) =
        texts(Command::new("sh").args(["-c", &line]).current_dir(&site.dir).output().unwrap());
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("\n    f90 100.00%     1 100.00%      0:00:32\n"), "{out}");
    assert!(!out.contains("not measured"), "{out}");
}

#[test]
fn bucket_sizes() {
    let site = StatSite::new();
    for args in [["--bucket", "100"], ["-b", "100"]] {
        let (code, out, _) = site.run(&["topas.log", args[0], args[1]]);
        assert_eq!(code, 0);
        assert!(out.contains("\n  0-100  50.00%     1 "), "{out}");
        assert!(out.contains("\n100-200  50.00%     1 "), "{out}");
    }
    let (_, out, _) = site.run(&["topas.log", "--bucket", "0.5"]);
    assert!(out.contains("\n   50- 50.5 "), "{out}");
    for bad in ["0", "-1", "x", "", "1e3", "0.0000001"] {
        let (code, out, err) = site.run(&["topas.log", "--bucket", bad]);
        assert_eq!((code, out.as_str()), (2, ""), "{bad}");
        assert!(err.starts_with("topas-stat: error: ") && err.contains("hint: "), "{err}");
    }
}

#[test]
fn csv_and_gnuplot() {
    let site = StatSite::new();
    let (code, out, _) = site.run(&["topas.log", "--format", "csv"]);
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "\
table,name,from,to,runs,runs_percent,pe_seconds,time_percent
mflops,50-100,50,100,1,50.0000,32.000000,66.6667
mflops,150-200,150,200,1,50.0000,16.000000,33.3333
mflops,not measured,,,1,,16.000000,
lang,f90,,,1,33.3333,32.000000,50.0000
lang,c,,,2,66.6667,32.000000,50.0000
lib,-,,,1,33.3333,16.000000,25.0000
lib,mpi,,,2,66.6667,48.000000,75.0000
"
    );
    let (code, out, _) = site.run(&["topas.log", "-f", "gnuplot"]);
    assert_eq!(code, 0);
    let blocks: Vec<Vec<&str>> = out
        .split("\n\n\n")
        .map(|block| block.lines().filter(|line| !line.starts_with('#')).collect())
        .collect();
    assert_eq!(
        blocks,
        [
            vec![
                "\"50-100\" 50 100 1 50.0000 32.000000 66.6667",
                "\"150-200\" 150 200 1 50.0000 16.000000 33.3333",
                "\"not measured\" - - 1 - 16.000000 -",
            ],
            vec![
                "\"f90\" - - 1 33.3333 32.000000 50.0000",
                "\"c\" - - 2 66.6667 32.000000 50.0000"
            ],
            vec![
                "\"-\" - - 1 33.3333 16.000000 25.0000",
                "\"mpi\" - - 2 66.6667 48.000000 75.0000"
            ],
        ]
    );
}

#[test]
fn json() {
    let site = StatSite::new();
    let (code, out, _) = site.run(&["topas.log", "--format", "json"]);
    assert_eq!(code, 0);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["schema"], "topas.stat/2");
    assert_eq!(value["first_day"], "1999/05/04");
    assert_eq!(value["runs"], 3);
    assert_eq!(value["measures"][0]["not_measured"]["uncounted"]["runs"], 1);
    assert_eq!(value["remarks"]["runs_with_one_line"], 2);
    let tables = value["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 3);
    assert_eq!(tables[0]["by"], serde_json::json!(["mflops"]));
    assert_eq!(tables[0]["of"]["runs"], 2);
    assert_eq!(
        tables[0]["rows"][0],
        serde_json::json!({
            "name": "50-100", "from": 50.0, "to": 100.0, "runs": 1, "runs_percent": 50.0,
            "pe_seconds": 32.0, "time_percent": 66.6667,
        })
    );
    assert_eq!(tables[0]["rows"][2]["name"], "not measured");
    assert_eq!(tables[0]["rows"][2]["runs_percent"], serde_json::Value::Null);
    assert_eq!(tables[2]["rows"][1]["name"], "mpi");

    let (code, out, _) = site.pipe(&["--format", "json"], b"");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &value["runs"], &value["first_day"]),
        (3, &0.into(), &serde_json::Value::Null)
    );
}

#[test]
fn periods() {
    let site = StatSite::new();
    let runs = |args: &[&str]| {
        let (code, out, err) = site.run(&[&["topas.log", "--format", "csv"], args].concat());
        let sum: u32 = out
            .lines()
            .filter(|line| line.starts_with("lang,"))
            .map(|line| line.split(',').nth(4).unwrap().parse::<u32>().unwrap())
            .sum();
        (code, sum, err)
    };
    let ok = |sum| (0, sum, String::new());
    assert_eq!(runs(&["--since", "1999/05/05"]), ok(2));
    assert_eq!(runs(&["--until", "1999-05-05"]), ok(2));
    assert_eq!(runs(&["--since", "1999-05-05", "--until", "1999-05-05"]), ok(1));
    assert_eq!(runs(&["--period", "1999-05-05"]), ok(1));
    assert_eq!(runs(&["--period", "1999-05"]), runs(&["--since", "1999-05", "--until", "1999-05"]));
    assert_eq!(runs(&["--period", "1999"]), ok(3));
    assert_eq!(runs(&["--period", "1999-Q1..1999-05-05"]), ok(2));
    let (code, sum, err) = runs(&["--since", "2001/01/01"]);
    assert_eq!((code, sum), (3, 0));
    assert_eq!(
        err,
        "topas-stat: no runs: 3 runs are outside the period; looked at 1 file, 4 lines\n"
    );
    for args in [
        &["--since", "24h"][..],
        &["--period", "1999", "--until", "1999"],
        &["--until", "1999/02/29"],
        &["--since", "1999/05/05", "--until", "1999/05/04"],
    ] {
        let (code, _, err) = runs(args);
        assert_eq!(code, 2, "{args:?}");
        assert!(err.starts_with("topas-stat: error: "), "{err}");
    }
    let (_, _, err) = runs(&["--since", "24h"]);
    assert!(err.contains("days are the smallest unit"), "{err}");
}

/// Runs that ended so many days ago, 40 of them, by what is said of days.
#[test]
fn periods_in_words() {
    let site = StatSite::new();
    let counts = || {
        let today = topas_data::clock::now().date;
        let line = |ago: i64| {
            let day = topas_format::civil::Date::from_days(today.days() - ago);
            let (y, m, d) = (day.year, day.month, day.day);
            with_lengths(&format!(
                "{y:04}/{m:02}/{d:02} 12:00:00 u x 1 2 - B c mpi 1.0 0.1 2.0 f=1 1 r{ago} v=1\n"
            ))
        };
        site.file("days.log", (0..40).map(line).collect::<String>());
        let counts =
            ["7d", "yesterday", "2 weeks", "last 30 days", "last week", "this week"].map(|words| {
                let (code, out, err) = site.run(&["days.log", "--json", "--period", words]);
                assert!(code == 0 && err.is_empty(), "{words}: {err}");
                serde_json::from_str::<serde_json::Value>(&out).unwrap()["runs"].as_u64().unwrap()
            });
        (today, counts, topas_data::clock::now().date)
    };
    // Once more if midnight came between.
    let (today, counts, _) = std::iter::repeat_with(counts).find(|(a, _, b)| a == b).unwrap();
    // The epoch began on a Thursday.
    let since_monday = (today.days() + 3).rem_euclid(7) as u64;
    assert_eq!(counts, [7, 1, 14, 30, 7, since_monday + 1]);
}

#[test]
fn bad_lines_are_one_warning() {
    let site = StatSite::new();
    let bad = format!("{LOG}garbage\n\n# comment\n{}", LOG.replace("t450", "450"));
    site.file("bad.log", &bad);
    let (code, out, err) = site.run(&["bad.log"]);
    assert_eq!((code, out.as_str()), (0, REPORT));
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines[0], "topas-stat: warning: 5 of 11 lines skipped: 1 bad date, 4 bad mhz");
    assert_eq!(lines[1], "  bad.log:5: bad date: garbage");
    assert_eq!(lines.len(), 4, "{err}");
    assert_eq!(site.run(&["--quiet", "bad.log"]), (0, REPORT.to_owned(), String::new()));
    assert_eq!(site.run(&["-q", "bad.log"]).2, "");
}

#[test]
fn what_cannot_be_read_is_an_error_and_the_rest_is_read() {
    let site = StatSite::new();
    let (code, out, err) = site.run(&["missing.log", "topas.log", "-q"]);
    assert_eq!((code, out.as_str()), (1, REPORT));
    assert!(err.starts_with("topas-stat: error: cannot read missing.log\n  cause: "), "{err}");
    assert!(err.contains("\n  hint: "), "{err}");

    site.file("broken.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03 nothing of the kind");
    let (code, out, err) = site.run(&["broken.gz", "topas.log"]);
    assert_eq!((code, out.as_str()), (1, REPORT));
    assert!(err.starts_with("topas-stat: error: broken.gz is damaged after line 0"), "{err}");
}

#[test]
fn no_runs() {
    let site = StatSite::new();
    let none = |looked_at: &str| {
        let said = format!("topas-stat: no runs; looked at standard input, {looked_at}\n");
        (3, "no runs\n".to_owned(), said)
    };
    assert_eq!(site.pipe(&[], b""), none("0 lines"));
    let comments = "2 lines (2 blank or comments)";
    assert_eq!(site.pipe(&[], b"# only a comment\n\n"), none(comments));
    assert_eq!(site.pipe(&["--quiet"], b""), (3, "no runs\n".to_owned(), String::new()));
}

#[test]
fn usage_help_and_version() {
    let site = StatSite::new();
    for help in ["--help", "-h"] {
        let (code, out, err) = site.run(&[help]);
        assert_eq!((code, err.as_str()), (0, ""));
        for option in ["--bucket", "--format", "--since", "--until", "--quiet", "--version"] {
            assert!(out.contains(option), "{help}: {option}");
        }
    }
    let (code, out, _) = site.run(&["--version"]);
    assert_eq!((code, out), (0, format!("topas-stat {}\n", env!("CARGO_PKG_VERSION"))));
    for bad in [&["--nonsense"][..], &["--format", "xml"], &["--bucket"]] {
        let (code, out, err) = site.run(bad);
        assert_eq!((code, out.as_str()), (2, ""), "{bad:?}");
        assert!(err.starts_with("topas-stat: error: "), "{err}");
        assert!(err.contains("hint: try '--help'"), "{err}");
    }
}

#[test]
fn compressed_logs() {
    let site = StatSite::new();
    for (tool, args) in [("gzip", &["-c"][..]), ("zstd", &["-c", "-q"]), ("xz", &["-c"])] {
        let packed = Command::new(tool).args(args).arg("topas.log").current_dir(&site.dir).output();
        let packed = match packed {
            Ok(packed) if packed.status.success() => packed.stdout,
            _ => {
                eprintln!("SKIPPED compressed_logs: cannot run {tool}");
                continue;
            }
        };
        assert_ne!(packed, LOG.as_bytes());
        site.file("packed", &packed);
        let whole = (0, REPORT.to_owned(), String::new());
        assert_eq!(site.run(&["packed"]), whole, "{tool}");
        assert_eq!(site.pipe(&[], &packed), whole, "{tool}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let site = StatSite::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let result = texts(site.command(&["topas.log"]).stdout(writer).output().unwrap());
    assert_eq!(result, (0, String::new(), String::new()));
}

#[test]
fn a_terminal_is_not_waited_for() {
    let site = StatSite::new();
    // util-linux's script gives the command a terminal.
    let mut script = Command::new("script");
    script.args(["-qec", env!("CARGO_BIN_EXE_topas-stat"), "/dev/null"]).stdin(Stdio::null());
    let Ok(output) = script.current_dir(&site.dir).output() else {
        eprintln!("SKIPPED a_terminal_is_not_waited_for: cannot run script");
        return;
    };
    let (code, out, _) = texts(output);
    assert_eq!(code, 2);
    assert!(out.starts_with("topas-stat: error: no input: standard input is a terminal"), "{out}");
    assert!(out.contains("hint: "), "{out}");
}

#[test]
fn a_full_disk_is_an_error() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        eprintln!("SKIPPED a_full_disk_is_an_error: no /dev/full");
        return;
    }
    let site = StatSite::new();
    let out = fs::OpenOptions::new().write(true).open(full).unwrap();
    let (code, _, err) = texts(site.command(&["topas.log"]).stdout(out).output().unwrap());
    assert_eq!(code, 1);
    assert!(err.starts_with("topas-stat: error: cannot write to standard output\n"), "{err}");
}

/// No output replaces an input or a log, whatever it is called, unless the user means it.
#[test]
fn outputs_do_not_replace_logs() {
    let site = StatSite::new();
    site.file("other.log", LOG);
    site.file("note.txt", "mine\n");
    fs::hard_link(site.dir.path().join("note.txt"), site.dir.path().join("again")).unwrap();
    let content = |name: &str| fs::read(site.dir.path().join(name)).unwrap();
    for option in ["--svg", "--png"] {
        for to in ["topas.log", "./topas.log", "other.log"] {
            let (code, out, err) = site.run(&[option, to, "topas.log"]);
            assert_eq!((code, &*out), (2, ""), "{option} {to}: {err}");
            assert!(err.contains("is not replaced") && err.contains("  hint: "), "{err}");
            assert_eq!(content("topas.log"), LOG.as_bytes());
            assert_eq!(content("other.log"), LOG.as_bytes());
        }
        // An input that is no log, by another name.
        let (code, _, err) = site.run(&[option, "again", "note.txt", "topas.log"]);
        assert!(code == 2 && err.contains("again is an input"), "{err}");
        assert_eq!(content("note.txt"), b"mine\n");
        // Nothing to show leaves what is there.
        let (code, ..) = site.run(&[option, "again", "--user", "nobody", "topas.log"]);
        assert_eq!((code, content("again")), (3, b"mine\n".to_vec()));
        let (code, _, err) = site.run(&[option, "again", "topas.log"]);
        assert_eq!((code, &*err), (0, ""));
        assert_ne!(content("again"), b"mine\n");
        assert_eq!(content("note.txt"), b"mine\n", "a file is replaced, not written over");
        let (code, _, err) = site.run(&[option, "other.log", "--force", "topas.log"]);
        assert_eq!((code, &*err), (0, ""));
        assert_ne!(content("other.log"), LOG.as_bytes());
        site.file("other.log", LOG);
        fs::remove_file(site.dir.path().join("again")).unwrap();
        fs::hard_link(site.dir.path().join("note.txt"), site.dir.path().join("again")).unwrap();
    }
    let (code, _, err) = site.run(&["--svg", "both", "--png", "both", "topas.log"]);
    assert!(code == 2 && err.contains("by another option"), "{err}");
    assert!(!site.dir.path().join("both").exists());
}
