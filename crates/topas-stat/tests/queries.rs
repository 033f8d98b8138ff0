//! What can be asked: selection, tables, measures, forms; and inputs that are none.

#[path = "../../topas-data/examples/generate-log/synthetic.rs"]
mod synthetic;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use topas_testkit::with_lengths;

const LOG: &str = "\
1999/05/04 12:00:00 mohr heat 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=100000000 10 1 v=1 t=925819200 end=exit:0 part=main
1999/05/04 12:00:00 mohr heat 9 16 t450 B f90 mpi 1.0 0.1 2.0 i=7 10 1 v=1 t=925819200 end=exit:0 part=main
1999/05/05 12:00:00 anna cg 5 64 t300 I c mpi 1.0 0.1 1.0 f=175000000 10 2 v=1 t=925905600 end=sig:11 part=main
1999/06/06 12:00:00 anna ft 5 2 t300 B c - 1.0 0.1 1.0 f=- - 3 v=1 t=928670400 end=exit:3 part=test
1999/06/07 12:00:00 rosa ft 5 - - B - sma 1.0 0.1 1.0 f=250000000 - 4 v=1 t=928756800
";

/// The lines with their lengths.
fn log() -> String {
    with_lengths(LOG)
}

struct QuerySite(tempfile::TempDir);

impl QuerySite {
    fn new() -> Self {
        let site = QuerySite(tempfile::tempdir().unwrap());
        site.file("topas.log", log());
        site
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
        command.args(args).current_dir(&self.0).stdin(Stdio::null());
        for variable in ["COLUMNS", "LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR", "FORCE_COLOR"] {
            command.env_remove(variable);
        }
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// Rows of the only table: name, runs.
    fn rows(&self, args: &[&str]) -> Vec<(String, u64)> {
        let (code, out, err) = self.run(&[&["topas.log", "--jsonl"], args].concat());
        assert!(code == 0 && err.is_empty(), "{args:?}: {code} {err}");
        let row = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(row["schema"], "topas.stat.row/1");
            (row["name"].as_str().unwrap().to_owned(), row["runs"].as_u64().unwrap())
        };
        out.lines().map(row).collect()
    }
}

fn named(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
    rows.iter().map(|&(name, runs)| (name.to_owned(), runs)).collect()
}

#[test]
fn every_option_selects() {
    let site = QuerySite::new();
    let users = |args: &[&str]| -> String {
        let rows = site.rows(&[&["--by", "user", "--sort", "name"], args].concat());
        rows.into_iter().map(|(name, runs)| format!("{name}{runs} ")).collect()
    };
    assert_eq!(users(&[]), "anna2 mohr1 rosa1 ");
    assert_eq!(users(&["--user", "anna"]), "anna2 ");
    assert_eq!(users(&["--user", "anna", "--user", "rosa"]), "anna2 rosa1 ");
    assert_eq!(users(&["--exe", "ft"]), "anna1 rosa1 ");
    assert_eq!(users(&["--exe", "ft", "--user", "anna"]), "anna1 ");
    assert_eq!(users(&["--lang", "c,f90"]), "anna2 mohr1 ");
    assert_eq!(users(&["--lang=-"]), "rosa1 ");
    assert_eq!(users(&["--mplib", "mpi"]), "anna1 mohr1 ");
    assert_eq!(users(&["--mplib", "-"]), "anna1 ");
    assert_eq!(users(&["--mode", "I"]), "anna1 ");
    assert_eq!(users(&["--min-pes", "16"]), "anna1 mohr1 ");
    assert_eq!(users(&["--min-pes", "3", "--max-pes", "63"]), "mohr1 ");
    assert_eq!(users(&["--max-pes", "99"]), "anna2 mohr1 ");
    assert_eq!(users(&["--where", "ops = -"]), "anna1 ");
    assert_eq!(users(&["-w", "npes < 65", "-w", "part = main"]), "anna1 mohr1 ");
    assert_eq!(users(&["--where", "exe ~ ^h or (ending = failed and wall >= 1s)"]), "anna1 mohr1 ");
    assert_eq!(users(&["--since", "1999-05-05", "--until", "1999-06-06"]), "anna2 ");
}

#[test]
fn lines_are_selected_before_they_are_joined() {
    let site = QuerySite::new();
    // The other rank counts integer operations: without it the run has one line, which is no
    // remark, because it was asked for.
    let rows = site.rows(&["--by", "mflops", "--where", "intops = -"]);
    assert_eq!(rows, named(&[("50-100", 1), ("150-200", 1), ("250-300", 1), ("not measured", 1)]));
    let (_, out, _) = site.run(&["topas.log", "--where", "metric = intops", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["not_selected"]["lines"], 4);
    assert_eq!(json["lines"]["good"], 5);
    assert_eq!(json["remarks"]["runs_with_one_line"], 0);
    let (_, out, _) = site.run(&["topas.log", "--where", "user = anna", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["remarks"]["runs_with_one_line"], 2);
}

/// Runs whose lines differ, that left one line of two, and whose ending is not known.
#[test]
fn endings_are_told_as_far_as_they_can_be() {
    const ENDS: &str = "\
1999/05/04 12:00:00 u x 1 4 - B c mpi 1.0 0.1 2.0 f=1 1 1 v=1 t=925819200 end=exit:0 mpi=Open_MPI_v4.1.4
1999/05/04 12:00:00 u x 2 4 - B c mpi 1.0 0.1 2.0 f=1 1 1 v=1 t=925819200 end=exit:0 mpi=Open_MPI_v4.1.4
1999/05/04 13:00:00 u x 1 4 - B c mpi 1.0 0.1 2.0 f=1 1 2 v=1 t=925822800 end=sig:15
1999/05/04 13:00:00 u x 2 4 - B c mpi 1.0 0.1 2.0 f=1 1 2 v=1 t=925822800 end=exit:3 mpi=Open_MPI_v4.1.4
1999/05/04 14:00:00 u x 1 4 - B c mpi 1.0 0.1 2.0 f=1 1 3 v=1 t=925826400 end=sig:15
1999/05/04 14:00:00 u x 2 4 - B c mpi 1.0 0.1 2.0 f=1 1 3 v=1 t=925826400 end=sig:15
1999/05/04 15:00:00 u x 2 4 - B c mpi 1.0 0.1 2.0 f=1 1 4 v=1 t=925830000 end=exit:4 mpi=MPICH_Version:_4.0.2
1999/05/04 16:00:00 u x 1 4 - B c mpi 1.0 0.1 2.0 f=1 1 5 v=1 t=925833600 mpi=MPICH_Version:_4.0.2
1999/05/04 16:00:00 u x 2 4 - B c mpi 1.0 0.1 2.0 f=1 1 5 v=1 t=925833600 mpi=MPICH_Version:_4.0.2
1999/05/04 17:00:00 u x 2 4 - B c mpi 1.0 0.1 2.0 f=1 1 6 v=1 t=925837200 end=sig:11
";
    let site = QuerySite::new();
    site.file("topas.log", with_lengths(ENDS));
    let of_all = [("ok", 1), ("with-others", 1), ("failed", 2), ("fault", 1), ("-", 1)];
    assert_eq!(site.rows(&["--by", "ending"]), named(&of_all));
    assert_eq!(site.rows(&["--by", "ending", "-w", "ending = failed"]), named(&[("failed", 2)]));
    let rows = site.rows(&["--by", "ending", "-w", "not ending = ok and npes > 1"]);
    assert_eq!(rows, named(&[("with-others", 1), ("failed", 2), ("fault", 1)]));
    // With a field of a rank it is of each line.
    let rows = site.rows(&["--by", "ending", "-w", "pe = 1 and mflops >= 0 and npes = 4"]);
    assert_eq!(rows, named(&[("ok", 1), ("with-others", 2), ("-", 1)]));
    let rows = site.rows(&["--by", "ending", "-w", "pe = 7 or ending = with-others"]);
    assert_eq!(rows, named(&[("with-others", 2)]));
    let (_, out, _) = site.run(&["topas.log", "--by", "ending"]);
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for note in [
        "- : 1 run without a known ending (1 MPICH)",
        "2 runs left one line of two (1 MPICH, 1 of an unknown MPI): how the other rank ended",
        "MPICH ends the other ranks by SIGKILL",
    ] {
        assert!(text.contains(note), "{note}: {out}");
    }
    let (_, out, _) = site.run(&["topas.log", "--by", "ending", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        json["endings"],
        serde_json::json!({
            "not_known": [{ "mpi": "MPICH", "runs": 1 }],
            "one_line_of_two": [{ "mpi": null, "runs": 1 }, { "mpi": "MPICH", "runs": 1 }],
        })
    );
    // A run of which single lines were selected is not said to have lost one.
    let (_, out, _) = site.run(&["topas.log", "--by", "ending", "--where", "pe = 2"]);
    assert!(!out.contains("one line of two") && !out.contains("with one line"), "{out}");
    let (_, out, _) = site.run(&["topas.log", "--by", "user", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["endings"], serde_json::Value::Null);
}

#[test]
fn what_has_no_value_is_neither_first_nor_slowest() {
    let site = QuerySite::new();
    let order = |args: &[&str]| -> String {
        let rows = site.rows(&[&["--by", "exe", "--measure", "mintops,mflops"], args].concat());
        rows.into_iter().map(|(name, _)| format!("{name} ")).collect()
    };
    // One run of heat has integer operations; of cg and ft nothing is known.
    assert_eq!(order(&["--sort", "mintops"]), "heat cg ft ");
    assert_eq!(order(&["--sort", "mintops", "--reverse"]), "heat ft cg ");
    assert_eq!(order(&["--sort", "mintops", "--reverse", "--top", "1"]), "heat other (2) ");
    assert_eq!(order(&["--sort", "mflops", "--reverse"]), "heat cg ft ");
    // One run tells little of a program.
    assert_eq!(order(&["--sort", "mflops", "--reverse", "--min-runs", "2"]), "ft other (2) ");
    assert_eq!(order(&["--sort", "name", "--min-runs", "2", "--top", "1"]), "ft other (2) ");
    assert_eq!(order(&["--sort", "name", "--min-runs", "3"]), "other (3) ");
    let rows = site.rows(&["--by", "month", "--min-runs", "3"]);
    assert_eq!(rows, named(&[("1999-05", 2), ("1999-06", 2)]));
    let rows = site.rows(&["--by", "npes", "--reverse"]);
    assert_eq!(rows, named(&[("64", 1), ("16", 1), ("2", 1), ("-", 1)]));
    let list = ["topas.log", "--runs", "--columns", "exe,mflops", "--sort", "mflops", "--csv"];
    let (_, out, err) = site.run(&list);
    assert_eq!(out, "exe,mflops\nft,250\ncg,175\nheat,50\nft,\n", "{err}");
    let (_, out, _) = site.run(&[&list[..], &["--reverse"]].concat());
    assert_eq!(out, "exe,mflops\nheat,50\ncg,175\nft,250\nft,\n");
}

#[test]
fn measures_select_runs() {
    let site = QuerySite::new();
    let users = |test: &str| -> String {
        let rows = site.rows(&["--by", "user", "--sort", "name", "--where", test]);
        rows.into_iter().map(|(name, runs)| format!("{name}{runs} ")).collect()
    };
    for (test, wanted) in [
        ("mflops < 100", "mohr1 "),
        ("mflops = 50", "mohr1 "),
        ("mflops > 50", "anna1 rosa1 "),
        ("mflops > 0.2G", "rosa1 "),
        // What was not measured is neither less nor more.
        ("not mflops < 100", "anna1 rosa1 "),
        ("mflops = -", "anna1 "),
        ("wall >= 2s and wall < 1m", "mohr1 "),
        ("pe_hours * 1", ""),
        ("sys_share > 9% and sys_share < 10", "anna2 mohr1 rosa1 "),
        ("npes > 15 and mflops < 100 and wall > 1s", "mohr1 "),
        ("npes > 15 or mflops > 200", "anna1 mohr1 rosa1 "),
        ("month = 1999-05 and not (weekday = Tue or mflops > 1000)", "anna1 "),
        ("host = - and mflops > 100", "anna1 rosa1 "),
        // Of the line with the lowest PE.
        ("pe = 9 or mflops > 200", "rosa1 "),
        ("pe = 9 and wall > 1s", "mohr1 "),
        ("ops = 7 and mflops = -", "mohr1 "),
        // Two fields, of each line; two measures, of each run.
        ("user_time < wall_time and npes > pe", "mohr1 "),
        ("cpu_time > wall_time", "anna2 rosa1 "),
        ("mflops > mintops", "mohr1 "),
        ("sys_share < cpu_use", "anna2 mohr1 rosa1 "),
    ] {
        if wanted.is_empty() {
            assert_eq!(site.run(&["topas.log", "--where", test]).0, 2, "{test}");
        } else {
            assert_eq!(users(test), wanted, "{test}");
        }
    }
    // A selection by measures leaves runs whole, and says how many are not in the report.
    let (_, out, err) = site.run(&["topas.log", "--where", "mflops < 100"]);
    assert!(err.is_empty() && out.contains("Without 3 runs that were not selected."), "{out}");
    assert!(!out.contains("one line"), "{out}");
    let (_, out, _) = site.run(&["topas.log", "--where", "mflops < 100", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let left_out = serde_json::json!({ "accelerated": 0, "lines": 0, "runs": 3 });
    assert_eq!(json["not_selected"], left_out);
    let (code, _, err) = site.run(&["topas.log", "--where", "wall > 3d"]);
    assert_eq!(code, 3);
    assert!(err.contains("no runs: 4 runs are not selected; looked at"), "{err}");
}

#[test]
fn what_is_wrong_with_a_query_is_said() {
    let site = QuerySite::new();
    for (args, error) in [
        (
            &["--where", "wall > user_time"][..],
            "--where: wall cannot be compared with user_time: one is of a run, the other of a \
             line\n  wall > user_time\n         ^^^^^^^^^\n  hint: compare a measure with a measure",
        ),
        (
            &["--where", "lang = c and npez > 5"][..],
            "--where: no field and no measure is called 'npez'; did you mean 'npes'?\n  lang = c and npez > 5\n  \
             \x20            ^^^^\n  hint: --list-fields and --list-measures show all names\n",
        ),
        (
            &["--by", "userr"],
            "--by: no field and no measure is called 'userr'; did you mean 'user'?\n",
        ),
        (&["--by", "a,b,c"], "--by: no field and no measure is called 'a'"),
        (&["--by", "user,exe,lang"], "--by user,exe,lang: a table is by one or two, not by 3\n"),
        (&["--by", "user,user"], "--by user,user: a table cannot be by 'user' twice\n"),
        (
            &["--measure", "mflop"],
            "--measure: no measure is called 'mflop'; did you mean 'mflops'?\n",
        ),
        (
            &["--measure", "rss"],
            "--measure: 'rss' is a field and no measure\n  hint: fields go with --by rss, with --where, \
             and with --runs --columns rss\n",
        ),
        (&["--measure", "ipc,ipc"], "--measure: 'ipc' is given twice\n"),
        (&["--sort", "speed"], "--sort: 'speed' is none of name, runs, time, or --measure\n"),
        (&["--bucket", "ipc=1"], "--bucket ipc=1: no table is by such a measure\n"),
        (&["--bucket", "ipc"], "--bucket: invalid value 'ipc': not a decimal number"),
        (&["--upper", "0"], "--upper: invalid value '0': not more than 0"),
        (&["--memory", "lots"], "--memory: invalid value 'lots': not a size such as"),
        (&["--csv", "--json"], "error: the argument '--csv' cannot be used with '--json'"),
        (
            &["--log-scale", "--bucket", "5"],
            "error: the argument '--log-scale' cannot be used with",
        ),
        (&["--lang", "fortran"], "error: invalid value 'fortran' for '--lang"),
        (&["--top", "0"], "error: invalid value '0' for '--top"),
    ] {
        let (code, out, err) = site.run(&[&["topas.log"], args].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(err.starts_with("topas-stat: error: ") && err.contains("hint: "), "{err}");
        assert!(err.contains(error), "{args:?}: {err}");
    }
}

#[test]
fn lists_need_no_input() {
    let site = QuerySite::new();
    let (code, out, err) = site.run(&["--list-fields"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.lines().any(|line| line.starts_with("npes (pes) ")), "{out}");
    let (code, out, _) = site.run(&["--list-measures"]);
    assert_eq!(code, 0);
    let listed = topas_data::measure::MEASURES.len() + topas_data::FIGURES.len();
    assert_eq!(out.lines().count(), listed, "{out}");
}

#[test]
fn buckets_of_all_kinds() {
    let site = QuerySite::new();
    let by = |args: &[&str]| site.rows(&[&["--by", "mflops"], args].concat());
    let rest = ("not measured", 1);
    assert_eq!(by(&["--upper", "150"]), named(&[("50-100", 1), (">=150", 2), rest]));
    assert_eq!(
        by(&["-b", "mflops=200", "--upper", "mflops=230"]),
        named(&[("0-200", 2), (">=230", 1), rest])
    );
    assert_eq!(by(&["--log-scale"]), named(&[("50-100", 1), ("100-200", 1), ("200-500", 1), rest]));
    let rows = site.rows(&["--by", "cpu_use"]);
    assert_eq!(rows, named(&[("50-60", 1), ("110-120", 3)]));
}

#[test]
fn the_top_and_the_rest() {
    let site = QuerySite::new();
    assert_eq!(site.rows(&["--by", "user", "--top", "1"]), named(&[("anna", 2), ("other (2)", 2)]));
    let by_mean = ["--by", "user", "--measure", "mflops", "--sort", "mflops"];
    assert_eq!(site.rows(&by_mean), named(&[("rosa", 1), ("anna", 2), ("mohr", 1)]));
    let reversed = [&by_mean[..], &["--reverse"]].concat();
    assert_eq!(site.rows(&reversed), named(&[("mohr", 1), ("anna", 2), ("rosa", 1)]));
}

#[test]
fn pictures() {
    let site = QuerySite::new();
    let svg = site.0.path().join("a.svg");
    let (code, out, err) =
        site.run(&["topas.log", "--by", "mflops,lang", "--svg", "a.svg", "--png", "a.png"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("====="), "the report is there, too");
    let text = fs::read_to_string(svg).unwrap();
    assert!(text.starts_with("<svg") && text.contains("f90") && text.contains("100% are 3 runs"));
    let png = fs::read(site.0.path().join("a.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let (code, out, _) = site.run(&["topas.log", "--svg", "-"]);
    assert_eq!((code, out.starts_with("<svg"), out.ends_with("</svg>\n")), (0, true, true));
    let (code, out, err) = site.run(&["topas.log", "--svg", "no/such/dir.svg"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("topas-stat: error: cannot write no/such/dir.svg\n  cause: "), "{err}");
}

#[test]
fn bars_of_characters() {
    let site = QuerySite::new();
    let (code, out, _) = site.run(&["topas.log", "--by", "lang", "--bars"]);
    assert_eq!(code, 0);
    assert!(out.is_ascii() && !out.contains('\x1b'), "{out}");
    assert!(out.contains("50.00%") && out.contains("100% are 4 runs."), "{out}");
    let (_, colour, _) = site.run(&["topas.log", "--by", "lang", "--bars", "--color", "always"]);
    assert!(colour.contains('\x1b'));
    let (_, time, _) = site.run(&["topas.log", "--by", "lang", "--bars", "--share", "time"]);
    assert!(time.contains("66.67%"), "{time}");
}

#[test]
fn inputs_that_are_none() {
    let site = QuerySite::new();
    let error = |args: &[&str]| site.run(args);
    // Empty, blank, comments: no runs.
    for text in ["", "\n\n", "# x\n"] {
        site.file("none", text);
        let (code, out, err) = error(&["none"]);
        assert_eq!((code, out.as_str()), (3, "no runs\n"));
        assert!(err.starts_with("topas-stat: no runs; looked at 1 file, "), "{err}");
    }
    // Nothing but bad lines: said, with the first ones.
    site.file("bad", b"x\n\0\0\0\nabc \x1b[2J\n");
    let (code, out, err) = error(&["bad"]);
    assert_eq!((code, out.as_str()), (3, "no runs\n"));
    assert!(err.starts_with("topas-stat: warning: 3 of 3 lines skipped: 3 bad date\n"), "{err}");
    assert!(!err.contains('\0') && !err.contains('\x1b'), "{err:?}");
    // Copied by way of a system that ends lines otherwise.
    site.file("windows", log().replace('\n', "\r\n"));
    let (code, _, err) = error(&["windows"]);
    assert_eq!(code, 3);
    assert!(err.contains("5 of 5 lines skipped: 5 with CR LF at the end (tr -d '\\r'"), "{err}");
    // A line of 10 MB, between good ones.
    let mut long = log().into_bytes();
    long.extend(vec![b'x'; 10_000_000]);
    long.push(b'\n');
    long.extend(with_lengths(&LOG.replace(" v=1", " v=1 again")).as_bytes());
    site.file("long", &long);
    let (code, out, err) = error(&["long", "--csv", "--by", "year"]);
    assert_eq!(code, 0);
    assert!(err.contains("1 of 11 lines skipped: 1 too long"), "{err}");
    assert!(out.contains("\nyear,1999,,,"), "{out}");
    // Nothing selected, nothing in the period.
    let (code, _, err) = error(&["topas.log", "--user", "nobody"]);
    let says = "topas-stat: no runs: 5 lines are not selected; looked at 1 file, 5 lines\n";
    assert_eq!((code, err.as_str()), (3, says));
    // A directory without files; a pattern that matches none.
    fs::create_dir(site.0.path().join("empty")).unwrap();
    assert_eq!(error(&["empty"]).0, 3);
    let (code, _, err) = error(&["none-*.log"]);
    assert_eq!(code, 1);
    assert!(err.starts_with("topas-stat: error: cannot read none-*.log\n  cause: "), "{err}");
}

#[test]
fn lines_that_are_there_twice_count_once() {
    let site = QuerySite::new();
    let once = site.run(&["topas.log", "--csv"]);
    assert_eq!(site.run(&["topas.log", "topas.log", "--csv"]), once);
    let (_, out, _) = site.run(&["topas.log", "topas.log"]);
    assert!(out.ends_with("\n! : 5 lines there twice, counted once\n"), "{out}");
}

#[test]
fn grep_selects_the_same() {
    let site = QuerySite::new();
    let tool = env!("CARGO_BIN_EXE_topas-stat");
    let pipe = format!("grep ' f90 ' topas.log | grep ' B ' | grep ' mpi ' | {tool}");
    let output = Command::new("sh").args(["-c", &pipe]).current_dir(&site.0).output().unwrap();
    let args = ["topas.log", "--lang", "f90", "--mode", "B", "--mplib", "mpi"];
    let (_, ours, _) = site.run(&args);
    // Who selects knows that it did.
    let without = ours.replace("Of 2 of 5 lines, which were selected.\n", "");
    assert_ne!(without, ours);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), without);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let site = QuerySite::new();
    for form in ["--csv", "--json", "--bars", "--list-fields"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
        command.arg(form).current_dir(&site.0).stdout(writer).stdin(Stdio::piped());
        if form == "--list-fields" {
            command.stdin(Stdio::null());
        }
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(log().as_bytes()).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{form}");
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    let site = QuerySite::new();
    let mut log = synthetic::Log::new(9);
    let text: Vec<u8> = (0..20_000).flat_map(|_| log.line().to_vec()).collect();
    site.file("large.log", text);
    let args = [
        "-q",
        "large.log",
        "--json",
        "--by",
        "user",
        "--by",
        "mflops,lang",
        "--by",
        "hour,exe",
        "--measure",
        "mflops,cpu_use,l1_per_op,ipc",
        "--where",
        "npes > 2",
    ];
    let of = |more: &[&str]| site.run(&[&args[..], more].concat());
    let one = of(&["--threads", "1"]);
    assert_eq!(one.0, 0);
    for more in
        [&["--threads", "2"][..], &["--threads", "7"], &["--threads", "3", "--memory", "1k"]]
    {
        assert_eq!(of(more), one, "{more:?}");
    }
}
