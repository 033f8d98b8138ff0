//! Each view, with what was put in.

use std::fs;

use topas_testkit::with_lengths;

use super::synthetic::{Imbalance, Launch};
use super::{directory, piped, rate_line, shown, view};

fn put_in(imbalance: Imbalance) -> tempfile::TempDir {
    directory(Launch { imbalance, ..Launch::default() }.text())
}

/// In the table, which is the default, and in the report.
#[test]
fn what_was_put_in_is_what_the_output_points_at() {
    for (imbalance, words) in [
        (Imbalance::SlowPe(9), "PE 9 on node0001 stands out: CPU time "),
        (Imbalance::SlowHost(3), "Host node0003 (PEs 24-31) stands out: CPU time "),
        (
            Imbalance::SlowNuma(1),
            "NUMA node 1 (PEs 4-7, 12-15, 20-23, 28-31, 36-39, 44-47, 52-55, 60-63) stands out: ",
        ),
        (
            Imbalance::TwoSpeeds,
            "Two classes. 32 PEs (1, 3, 5, 7, 9, 11, 13, 15 and 24 more): CPU time ",
        ),
        (Imbalance::None, "Nothing stands out among 64 PEs, in rate, "),
    ] {
        let dir = put_in(imbalance);
        for args in [&[][..], &["--report"], &["--balance"]] {
            let text = shown(dir.path(), args).replace('\n', " ");
            assert!(text.contains(words), "{imbalance:?} {args:?}: {text}");
            assert_eq!(
                text.matches("Nothing stands").count(),
                usize::from(imbalance == Imbalance::None)
            );
        }
    }
    let work = shown(put_in(Imbalance::MoreWork(40)).path(), &["--balance"]).replace('\n', " ");
    assert!(work.contains("More work: more floating point operations in more CPU time."), "{work}");
}

/// Text fits 80 columns where nothing in it is wider.
#[test]
fn eighty_columns() {
    let dir = put_in(Imbalance::TwoSpeeds);
    for args in [&[][..], &["--report"], &["--cluster"], &["--compare", "topas.out", "topas.out"]] {
        let text = shown(dir.path(), args);
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{args:?}");
    }
}

#[test]
fn rows_are_sorted_and_cut() {
    let text = rate_line(0, 4, 5000)
        + &rate_line(1, 4, 9000).replace("f=9000000000", "f=-")
        + &rate_line(2, 4, 7000)
        + &rate_line(3, 4, 6000);
    let dir = directory(text);
    let pes = |args: &[&str]| -> Vec<String> {
        let table = shown(dir.path(), &[&["--raw", "--no-heading"], args].concat());
        let rows = table.lines().skip(2);
        rows.map(|row| row.split_whitespace().next().unwrap().to_owned()).collect()
    };
    assert_eq!(pes(&[]), ["0", "1", "2", "3"]);
    assert_eq!(pes(&["--sort", "rate"]), ["2", "3", "0", "1"], "without a value last");
    assert_eq!(pes(&["--sort", "rate", "--ascending"]), ["0", "3", "2", "1"]);
    assert_eq!(pes(&["--sort", "rate", "--top", "2"]), ["2", "3"]);
    assert_eq!(pes(&["--top", "0"]), [""; 0]);
}

#[test]
fn the_table_shows_exact_numbers_rounded_once() {
    let line = "2026/11/20 08:01:02 mohr a.out 3 4 t2596 B c mpi 0.0005 12.3454999 2.000 \
                f~123456789 4567 id v=1 host=n%01x why=x\n";
    let line = with_lengths(line);
    let table = shown(directory(line).path(), &["--no-heading", "--raw"]);
    let row = table.lines().nth(2).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    // 61.7283945 MFlop/s, 0.0022835 misses.
    let expected =
        ["3", "n\u{fffd}x", "2.000", "12.345", "0.001", "~123456789", "~61.728", "0.002"];
    assert_eq!(cells, expected);
}

#[test]
fn the_newest_launch_unless_another_is_named() {
    let launch = |id: &str, end, pes| Launch { id: id.to_owned(), end, pes, ..Launch::default() };
    let text = [
        launch("aa1", 1_795_000_900, 6).text(),
        launch("aa2", 1_795_000_000, 8).text(),
        launch("bb", 1_795_000_500, 4).text(),
    ]
    .concat();
    let dir = directory(text);
    let of = |args: &[&str]| shown(dir.path(), args).lines().next().unwrap_or_default().to_owned();
    assert!(of(&["--stat"]).ends_with("launch aa1"));
    assert!(of(&["--stat", "--launch", "bb"]).ends_with("launch bb"));
    assert!(of(&["--stat", "--launch", "b"]).ends_with("launch bb"));
    assert_eq!(view(dir.path(), &["--launch", "aa"]).code, 2, "two begin so");
    assert_eq!(view(dir.path(), &["--launch", "cc"]).code, 3);
    let list = shown(dir.path(), &["--list"]);
    let rows: Vec<Vec<&str>> =
        list.lines().skip(1).map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["aa1", "bb", "aa2"]);
    assert_eq!(rows[1][3..], ["mohr", "cpmd", "4", "4", "1"]);
}

#[test]
fn files_of_several_hosts_are_one_run() {
    let text = Launch::default().text();
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    let dir = tempfile::tempdir().unwrap();
    for (host, lines) in lines.chunks(8).enumerate() {
        fs::write(dir.path().join(format!("topas.out.node{host}")), lines.concat()).unwrap();
    }
    fs::write(dir.path().join("topas.outer"), "something else\n").unwrap();
    fs::write(dir.path().join("notes"), "something else\n").unwrap();
    let here = shown(dir.path(), &[]);
    assert!(here.starts_with("cpmd of mohr, 64 PEs on 8 hosts, "), "{here}");
    let named = dir.path().to_str().unwrap();
    assert_eq!(shown(dir.path(), &[named]), here);
    let piped = piped(&["-"], &text);
    assert_eq!((piped.code, piped.out), (0, here));
}

#[test]
fn a_column_nobody_has_is_said_and_cpu_time_is_taken() {
    let dir = directory(Launch { counted: false, ..Launch::default() }.text());
    let text = shown(dir.path(), &["--stat"]);
    assert!(
        text.contains(
            "\n64 of 64 PEs have no rate in MFlop/s: no hardware counters here (pmu). Next:\nCall \
             topas-doctor where the program ran: it says what counting needs there.\n"
        ),
        "{text}"
    );
    assert!(text.contains("\nCPU time per PE in s\n"), "{text}");
    let rate = shown(dir.path(), &["--stat", "rate"]);
    assert!(rate.contains("no PE has a value"), "{rate}");
    let table = shown(dir.path(), &["--no-heading", "--raw"]);
    assert!(
        table.lines().skip(2).all(|row| row.ends_with("            -        -         -")),
        "{table}"
    );
}

#[test]
fn groups_are_hosts_and_numa_nodes() {
    let dir = directory(Launch { imbalance: Imbalance::SlowHost(3), ..Launch::default() }.text());
    let text = shown(dir.path(), &["--groups", "--column", "cpu"]);
    let row = text.lines().find(|line| line.starts_with("node0003 ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[1], "8");
    assert!(cells[4].parse::<f64>().unwrap() > 50.0, "{row}");
    assert!(text.contains("CPU time per PE in s, by host, NUMA node\n"), "{text}");
    let csv = shown(dir.path(), &["--groups", "--column", "cpu", "--csv"]);
    assert_eq!(csv.lines().filter(|line| line.starts_with("host,")).count(), 8);
    assert_eq!(csv.lines().filter(|line| line.starts_with("host_numa,")).count(), 16);
    assert!(csv.contains("\nhost,node0003,,8,cpu,8,") && csv.contains(",24-31\n"), "{csv}");
}

#[test]
fn two_runs_are_compared() {
    let run = |seed, imbalance, pes, id: &str| {
        Launch { seed, imbalance, pes, id: id.to_owned(), ..Launch::default() }.text()
    };
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: Vec<u8>| fs::write(dir.path().join(name), text).unwrap();
    put("old", run(1, Imbalance::None, 64, "a"));
    put("same", run(2, Imbalance::None, 64, "b"));
    put("slow", run(2, Imbalance::TwoSpeeds, 64, "c"));
    put("wide", run(2, Imbalance::TwoSpeeds, 128, "d"));
    // Column 11 is p of the PEs.
    let p = |args: [&str; 2]| -> String {
        let csv = shown(dir.path(), &["--compare", args[0], args[1], "--csv"]);
        let row = csv.lines().find(|line| line.starts_with("cpu,")).unwrap();
        row.split(',').nth(10).unwrap().to_owned()
    };
    let number = |args| p(args).parse::<f64>().unwrap();
    assert!(number(["old", "same"]) > 0.01);
    assert!(number(["old", "slow"]) <= 0.0001);
    assert!(number(["old", "wide"]) <= 0.0001);
    assert_eq!(p(["old", "old"]), "", "equal");
    let sets = shown(dir.path(), &["--compare", "old", "wide", "--csv"]);
    assert!(sets.contains(",mann_whitney,1,1,"), "{sets}");
    let pairs = shown(dir.path(), &["--compare", "old", "slow"]);
    assert!(pairs.contains("Largest changes of CPU time: PE "), "{pairs}");
    // One run a side tells nothing about the next.
    assert!(
        pairs.contains(
            "Not enough runs to tell whether the next run will differ, too: 1 old, 1 new."
        ),
        "{pairs}"
    );
    assert!(!pairs.contains("p =") && !pairs.contains("spread"), "{pairs}");
    // Launches of one file, by their ids.
    let both = [run(1, Imbalance::None, 64, "a"), run(2, Imbalance::TwoSpeeds, 64, "c")].concat();
    put("topas.out", both);
    let ids = shown(dir.path(), &["--compare", "a", "c"]);
    assert_eq!(ids, pairs);
}

/// All launches of a program in a file are runs of a side: the medians and ranges are those of
/// plain arithmetic over the tokens of the lines.
#[test]
fn several_runs_are_compared_with_several() {
    let runs = |walls: &[u64], pes: u32| -> String {
        let run = |(at, wall): (usize, &u64)| {
            let lines = (0..pes).map(|pe| {
                rate_line(pe, pes, 1000)
                    .replace("12:00:00", &format!("12:{at:02}:00"))
                    .replace("1000.000 f", &format!("{}.000 f", wall + u64::from(pe % 2)))
                    .replace(" 4711\n", &format!(" {wall}-{at}\n"))
            });
            lines.collect::<String>()
        };
        walls.iter().enumerate().map(run).collect()
    };
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: String| fs::write(dir.path().join(name), text).unwrap();
    put(
        "old",
        runs(&[20, 21, 19, 22, 20], 4) + &runs(&[99], 2).replace("1999/08/23", "1999/08/22"),
    );
    put("new", runs(&[30, 33, 31, 32], 4));
    put("few", runs(&[30, 33], 4));
    put("like", runs(&[21, 20, 22, 19], 4));
    // Medians of the PEs of a run are half a second above.
    let csv = shown(dir.path(), &["--compare", "old", "new", "--csv"]);
    let row: Vec<&str> =
        csv.lines().find(|line| line.starts_with("wall,")).unwrap().split(',').collect();
    assert_eq!(row[12..20], ["5", "4", "20.5", "32", "19.5", "30.5", "22.5", "33.5"], "{csv}");
    let p: f64 = row[20].parse().unwrap();
    assert!((0.01..0.03).contains(&p), "{csv}");
    let text = shown(dir.path(), &["--compare", "old", "new"]);
    assert!(text.contains("and 4 runs of this program before it"), "{text}");
    assert!(text.contains("1 launch of other programs or sizes left out"), "{text}");
    let row = text.lines().find(|line| line.starts_with("wall clock time")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[3..], ["20.50", "s", "14.6%", "32.00", "s", "9.4%", "+56.1%"], "{row}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("differ by more than they spread in wall clock time (p = 0.01"),
        "{flat}"
    );
    assert!(flat.contains("(5 old, 4 new)"), "{flat}");
    let few = shown(dir.path(), &["--compare", "old", "few"]).replace('\n', " ");
    assert!(few.contains("Not enough runs to tell") && few.contains("5 old, 2 new"), "{few}");
    assert!(few.contains("Run each program 4 times or more"), "{few}");
    let like = shown(dir.path(), &["--compare", "old", "like"]).replace('\n', " ");
    assert!(like.contains("The runs differ by no more than they spread, by"), "{like}");
    let json = shown(dir.path(), &["--compare", "old", "new", "--json"]);
    assert!(json.contains("\"enough_runs\": true"), "{json}");
}

#[test]
fn pictures_and_pages_are_written() {
    let launch = Launch { imbalance: Imbalance::SlowPe(9), ..Launch::default() };
    let text = String::from_utf8(launch.text()).unwrap();
    let text = text.replace("node0001", "<b>&amp;").replace(" cpmd ", " a<script>b ");
    let dir = directory(with_lengths(&text));
    for kind in ["points", "strip", "hosts"] {
        let out = shown(dir.path(), &["--svg", "out.svg", "--picture", kind]);
        assert_eq!(out, "", "the picture only");
        let svg = fs::read_to_string(dir.path().join("out.svg")).unwrap();
        assert!(svg.contains("<svg") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(!svg.contains("<script") && !svg.contains("<b>"));
        shown(dir.path(), &["--png", "out.png", "--picture", kind]);
        let png = fs::read(dir.path().join("out.png")).unwrap();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 1000);
    }
    shown(dir.path(), &["--html", "out.html"]);
    let page = fs::read_to_string(dir.path().join("out.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.matches("<svg").count() == 6);
    assert!(!page.contains("<script") && page.contains("a&lt;script&gt;b"));
    assert!(
        !page.contains("http://")
            || page.matches("http").count() == page.matches("http://www.w3.org").count()
    );
    assert!(page.contains("PE 9 on &lt;b&gt;&amp;amp; stands out"), "names as they are, escaped");
    let rows = page.split_once(">PEs</h2>").unwrap().1;
    assert_eq!(rows.matches("<th scope=\"row\">").count(), 64);
    let stdout = shown(dir.path(), &["--svg", "-"]);
    assert!(stdout.contains("<svg"));
}

#[test]
fn ascii_where_the_locale_is_not_utf8() {
    let dir = put_in(Imbalance::TwoSpeeds);
    let output = super::command(dir.path(), &["--report"]).env("LC_ALL", "C").output().unwrap();
    assert!(output.status.success() && output.stdout.is_ascii());
}

#[test]
fn outputs_do_not_replace_inputs() {
    let dir = put_in(Imbalance::TwoSpeeds);
    let before = fs::read(dir.path().join("topas.out")).unwrap();
    fs::write(dir.path().join("rank"), b"topasmpi and so on").unwrap();
    for option in ["--svg", "--png", "--html"] {
        for to in ["topas.out", "./topas.out", "rank"] {
            let view = view(dir.path(), &[option, to]);
            assert_eq!((view.code, &*view.out), (2, ""), "{option} {to}: {}", view.err);
            assert!(view.err.contains("is not replaced"), "{}", view.err);
        }
        assert_eq!(fs::read(dir.path().join("topas.out")).unwrap(), before);
        let view = view(dir.path(), &[option, "new", "topas.out", "--launch", "none"]);
        assert!(view.code != 0 && !dir.path().join("new").exists());
        shown(dir.path(), &[option, "rank", "--force"]);
        fs::write(dir.path().join("rank"), b"topasmpi and so on").unwrap();
    }
    let profile = include_bytes!("../../../../tests/fixtures/mpi/heat2d.out");
    fs::write(dir.path().join("topas-mpi.out"), profile).unwrap();
    for option in ["--svg", "--png", "--html"] {
        let view = view(dir.path(), &["--mpi", "--sizes", option, "topas-mpi.out"]);
        assert_eq!(view.code, 2, "{}", view.err);
    }
    assert_eq!(fs::read(dir.path().join("topas-mpi.out")).unwrap(), profile);
}
