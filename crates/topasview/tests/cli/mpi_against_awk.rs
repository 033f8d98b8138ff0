//! The profile of MPI calls: what is shown against what `awk` makes of the same lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::synthetic_mpi::Launch;
use super::{ViewOutput, command, view};

/// A directory with this topas-mpi.out.
pub fn directory(text: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("topas-mpi.out"), text).unwrap();
    dir
}

/// One of so many ranks.
pub fn ranks(ranks: u32) -> TempDir {
    directory(&Launch { ranks, ..Launch::default() }.text())
}

/// Standard output of `topasview --mpi`, which must end with 0 and say nothing.
pub fn shown(dir: &Path, args: &[&str]) -> String {
    let args: Vec<&str> = ["--mpi"].iter().chain(args).copied().collect();
    super::shown(dir, &args)
}

/// What an awk program prints of a text.
fn awk(program: &str, text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("text");
    fs::write(&file, text).unwrap();
    let out = Command::new("awk").env("LC_ALL", "C").arg(program).arg(&file).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// `key value` lines.
fn numbers(text: &str) -> BTreeMap<String, f64> {
    let line = |line: &str| {
        let (key, value) = line.rsplit_once(' ').unwrap();
        (key.to_owned(), value.parse().unwrap())
    };
    text.lines().map(line).collect()
}

/// Fields of `f=`: name, calls, seconds, longest, count, sends, sent, receives, received.
fn told(field: usize) -> String {
    format!(
        r#"/of=rank/ {{ for (i = 7; i <= NF; i++) {{ if ($i ~ /^rank=/) r[NR] = substr($i, 6) }}
             if (r[NR] != "") rank = r[NR]
             for (i = 7; i <= NF; i++) if ($i ~ /^f=/) {{
               n = split(substr($i, 3), f, ":")
               if ({field} <= n && f[{field}] != "") sum[rank " " tolower(f[1])] += f[{field}] }} }}
           END {{ for (k in sum) printf "%s %.9f\n", k, sum[k] }}"#
    )
}

/// Cells of a matrix that are not 0, by rank and column.
const CELLS: &str = r#"/^>>>>/ { next }
    $1 == "CPU" { for (i = 2; i <= NF; i++) name[i] = $i; next }
    NF > 1 { for (i = 3; i < NF; i++) if ($i != 0) printf "%s %s %s\n", $1, name[i], $i }"#;

#[test]
fn matrices_are_what_awk_adds_up() {
    let launch = Launch { ranks: 12, steps: 37, ..Launch::default() };
    let (text, dir) = (launch.text(), directory(&launch.text()));
    for (matrix, field, scale) in [
        ("time", 3, 1.0),
        ("sends", 6, 1.0),
        ("sent", 7, 1e3),
        ("receives", 8, 1.0),
        ("received", 9, 1e3),
    ] {
        let out = shown(dir.path(), &["--matrix", matrix, "--no-heading"]);
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[0].starts_with(">>>> ") && lines[0].ends_with(" <<<<"), "{out}");
        assert!(lines[1].trim_start().starts_with("CPU ") && lines[1].ends_with(" overhead"));
        assert_eq!(lines.len(), 14, "a title, a header, a line for each rank:\n{out}");
        let columns = lines[1].split_whitespace().count();
        let whole = |line: &&str| line.split_whitespace().count() == columns;
        assert!(lines[1..].iter().all(whole) && columns == 12, "{out}");
        let mut expected = numbers(&awk(&told(field), &text));
        expected.retain(|_, value| *value > 0.0);
        let found = numbers(&awk(CELLS, &out));
        // What is less than half a µs is shown as 0.000000.
        expected.retain(|_, value| matrix != "time" || *value >= 0.5e-6);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (key, value) in &found {
            let near = (value * scale - expected[key]).abs() <= 0.500_1e-6;
            assert!(near, "{matrix} {key}: {value} for {}", expected[key]);
        }
        assert!(found.len() >= 12, "{matrix}: {found:?}");
    }
}

#[test]
fn a_row_of_times_is_the_time_of_its_rank() {
    let launch = Launch { ranks: 6, ..Launch::default() };
    let (text, dir) = (launch.text(), directory(&launch.text()));
    let out = shown(dir.path(), &["--matrix", "time", "--csv"]);
    let sums = numbers(&awk(
        r#"BEGIN { FS = "," } NR > 1 { s = 0; for (i = 4; i <= NF; i++) s += $i; printf "%s %.9f\n", $3, s }"#,
        &out,
    ));
    let walls = numbers(&awk(
        r#"/of=rank line=1/ { for (i = 7; i <= NF; i++) { split($i, t, "=")
             if (t[1] == "rank") r = t[2]; if (t[1] == "wall") w = t[2] } print r, w }"#,
        &text,
    ));
    assert_eq!(sums.len(), 6);
    for (rank, wall) in walls {
        assert!((sums[&rank] - wall).abs() < 1e-8, "rank {rank}: {} for {wall}", sums[&rank]);
    }
    // All five, in one table.
    let all = shown(dir.path(), &["--matrix", "all", "--csv"]);
    assert_eq!(all.lines().count(), 1 + 5 * 6);
    assert!(all.contains("\nsent,B,0,,"), "{all}");
    assert!(shown(dir.path(), &["--matrix", "all"]).matches(">>>>").count() == 5);
}

#[test]
fn efficiencies_are_those_of_their_definition() {
    let launch = Launch { ranks: 20, steps: 100, ..Launch::default() };
    let (text, dir) = (launch.text(), directory(&launch.text()));
    let expected = numbers(&awk(
        r#"/of=rank line=1/ { for (i = 7; i <= NF; i++) { split($i, t, "=")
               if (t[1] == "wall") w = t[2]; if (t[1] == "mpisum") m = t[2] }
             c = w - m; sum += c; n++; if (c > most) most = c; if (w > longest) longest = w }
           END { print "parallel_efficiency", sum / n / longest * 100
                 print "load_balance", sum / n / most * 100
                 print "communication_efficiency", most / longest * 100 }"#,
        &text,
    ));
    let csv = shown(dir.path(), &["--efficiency", "--csv"]);
    let found = numbers(&awk(r#"BEGIN { FS = "," } NR > 1 && $2 != "" { print $1, $2 }"#, &csv));
    assert_eq!(found.len(), 3);
    for (name, value) in &expected {
        assert!((found[name] - value).abs() < 1e-3, "{name}: {} for {value}", found[name]);
    }
    // The sum alone tells the same.
    let sum = Launch { single: false, ..launch };
    let dir = directory(&sum.text());
    assert_eq!(shown(dir.path(), &["--efficiency", "--csv"]), csv);
}

#[test]
fn routines_are_summed_over_ranks() {
    let launch = Launch { ranks: 9, steps: 11, ..Launch::default() };
    let (text, dir) = (launch.text(), directory(&launch.text()));
    let csv = shown(dir.path(), &["--routines", "--csv"]);
    let columns = [("calls", 2, 2), ("seconds", 5, 3), ("count", 9, 5), ("sent", 11, 7)];
    for (name, column, field) in columns {
        let by_rank = awk(&told(field), &text);
        let expected = numbers(&awk(
            r#"{ s[$2] += $3 } END { for (k in s) printf "%s %.9f\n", k, s[k] }"#,
            &by_rank,
        ));
        let program = format!(
            r#"BEGIN {{ FS = "," }} NR > 1 && ${column} != "" {{ print tolower($1), ${column} }}"#
        );
        let found = numbers(&awk(&program, &csv));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{name}");
        for (routine, value) in &found {
            assert!((value - expected[routine]).abs() < 1e-8, "{name} of {routine}: {value}");
        }
    }
}

/// Columns 9 to 13 are those of the paper; what only begins an operation has no transfer.
#[test]
fn a_calibration_tells_what_time_was_spent_on() {
    let dir = ranks(16);
    let file = dir.path().join("calibration");
    let text = "topas-calibration 1\nmpi Open_MPI-5.0.8\nhosts a b\ndate 2026/11/20 18:00:00\n\
                Isend 2 0.5 1000 0.1\nAllreduce 2 1 100 0.1\nAllreduce 16 4 50 0.1\n\
                Waitall 2 0.25 - 0.1\nBcast 16 4000 20 0.1\n";
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let csv = shown(dir.path(), &["--routines", "--csv", "--calibration", file]);
    let row = |name: &str| -> Vec<String> {
        let line = csv.lines().find(|line| line.split(',').next() == Some(name)).unwrap();
        line.split(',').map(str::to_owned).collect()
    };
    let number = |text: &str| text.parse::<f64>().unwrap();
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-8 * b.abs().max(1.0), "{a} for {b}");
    for (name, latency, bandwidth) in [("Allreduce", 4.0, 50.0), ("Bcast", 4000.0, 20.0)] {
        let row = row(name);
        let (calls, time, bytes) = (number(&row[1]), number(&row[4]), number(&row[13]));
        assert_eq!((number(&row[15]), number(&row[16])), (latency, bandwidth));
        near(number(&row[17]), calls * latency / 1e6);
        near(number(&row[18]), bytes / bandwidth / 1e6);
        near(number(&row[19]), time - calls * latency / 1e6 - bytes / bandwidth / 1e6);
    }
    assert!(number(&row("Bcast")[19]) < 0.0, "an estimate that is larger than what was measured");
    let isend = row("Isend");
    assert_eq!((&*isend[18], &*isend[19]), ("", ""), "it moves bytes while it is not called");
    assert!(number(&isend[17]) > 0.0);
    assert_eq!(row("Waitall")[18], "0");
    // A local routine is all latency; of others nothing is known.
    assert_eq!(row("Comm_rank")[17], row("Comm_rank")[4]);
    assert_eq!(row("Irecv")[15..20], ["", "", "", "", ""]);
    let table = shown(dir.path(), &["--routines", "--calibration", file]);
    for words in ["measured with Open_MPI-5.0.8 on 2 hosts, 2026/11/20", "A negative idle time"] {
        assert!(table.replace('\n', " ").contains(words), "{words}:\n{table}");
    }
    let missing = view(dir.path(), &["--mpi", "--routines", "--calibration", "none"]);
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("cannot use the calibration none"), "{}", missing.err);
}

#[test]
fn peers_are_told_from_both_sides() {
    let dir = ranks(12);
    let csv = shown(dir.path(), &["--peers", "--csv"]);
    let mut pairs = BTreeMap::new();
    for line in csv.lines().skip(1) {
        let cells: Vec<u64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        pairs.insert((cells[0], cells[1]), [cells[2], cells[3], cells[4], cells[5]]);
    }
    assert_eq!(pairs.len(), 34, "a grid of 4 x 3: 2 x (3 x 3 + 2 x 4)");
    for ((rank, peer), [sends, sent, ..]) in &pairs {
        let [.., receives, received] = pairs[&(*peer, *rank)];
        assert_eq!((sends, sent), (&receives, &received), "{rank} to {peer}");
    }
    let sent: u64 = pairs.values().map(|of| of[1]).sum();
    let routines = shown(dir.path(), &["--routines", "--csv"]);
    let isend = routines.lines().find(|line| line.starts_with("Isend,")).unwrap();
    assert_eq!(isend.split(',').nth(10), Some(&*sent.to_string()));

    // As numbers where there is room, as signs where there is not; the picture has all pairs.
    let wide = command(dir.path(), &["--mpi", "--peers=sends", "--no-heading"])
        .env("COLUMNS", "120")
        .output()
        .unwrap();
    let wide = ViewOutput::from(wide);
    assert_eq!(wide.out.lines().filter(|line| line.contains("1000")).count(), 12, "{}", wide.out);
    let narrow = shown(dir.path(), &["--peers"]);
    assert!(narrow.contains("senders down") && narrow.contains("34 of 144 pairs"), "{narrow}");
    let svg = shown(dir.path(), &["--peers", "--svg", "-"]);
    assert!(svg.starts_with("<svg") && svg.contains("Bytes sent between ranks"));
    assert_eq!(svg.matches("<title>rank ").count(), 34);
}

#[test]
fn sizes_are_numbers_of_messages() {
    let dir = ranks(12);
    let csv = shown(dir.path(), &["--sizes", "--csv"]);
    let expected = "class,direction,from_bytes,to_bytes,messages\n\
                    p2p,sent,16384,32767,16000\np2p,sent,65536,131071,18000\n\
                    p2p,received,16384,32767,16000\np2p,received,65536,131071,18000\n\
                    coll,sent,16,31,12000\ncoll,sent,4096,8191,1\n\
                    coll,received,16,31,12000\ncoll,received,4096,8191,11\n";
    assert_eq!(csv, expected);
    let svg = shown(dir.path(), &["--sizes", "--svg", "-"]);
    assert!(svg.contains("Messages sent, by size") && svg.contains("64 KiB–128 KiB"));
    let png = dir.path().join("sizes.png");
    let quiet = shown(dir.path(), &["--sizes", "--png", png.to_str().unwrap()]);
    assert!(quiet.is_empty() && fs::read(png).unwrap().starts_with(b"\x89PNG"));
}

/// What single ranks tell is added up where the sum does not have it.
#[test]
fn communicators_are_those_of_all_ranks() {
    let launch = Launch { ranks: 4, steps: 10, ..Launch::default() };
    let text = launch.text();
    let of_run = |line: &&str| line.contains("of=run") && !line.contains(" line=1/2");
    assert_eq!(text.lines().filter(of_run).count(), 1, "it is the line with communicators");
    let single: String =
        text.lines().filter(|line| line.contains("of=rank")).map(|l| l.to_owned() + "\n").collect();
    let csv = shown(directory(&text).path(), &["--comms", "--csv"]);
    assert_eq!(csv, shown(directory(&single).path(), &["--comms", "--csv"]));
    // Four ranks with two neighbours each, ten steps; one broadcast of 4 KiB.
    assert!(csv.contains("\nplane,4,164,") && csv.contains("\nMPI_COMM_WORLD,4,40,"), "{csv}");
    // The sum without them.
    let head = text.lines().next().unwrap().replace(" line=1/2", " line=1/1");
    let head = format!("{}{:03}\n", &head[..head.len() - 3], head.len());
    let mixed = directory(&(head + &single));
    assert_eq!(csv, shown(mixed.path(), &["--comms", "--csv"]));
    let none = directory(&Launch { single: false, ..launch }.text().replace(" c=", " x="));
    assert!(shown(none.path(), &["--comms"]).contains("TOPAS_MPI_COMMS=yes"));
}

#[test]
fn json_has_every_view_and_is_of_its_schema() {
    let dir = ranks(4);
    let views = [
        "--json",
        "--matrix",
        "all",
        "--routines",
        "--efficiency",
        "--peers",
        "--sizes",
        "--comms",
        "--metrics",
        "--counters",
        "--switches",
    ];
    let json: Value = serde_json::from_str(&shown(dir.path(), &views)).unwrap();
    assert_eq!(json["schema"], "topas.mpi/1");
    assert_eq!(json["launch"]["npes"], 4);
    assert_eq!(json["launch"]["end"], "finalize");
    assert_eq!(json["sums"]["ranks"], 4);
    let matrices = json["matrices"].as_object().unwrap();
    assert_eq!(matrices.len(), 5);
    let names: Vec<&str> = matrices["sends"]["routines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_str().unwrap())
        .collect();
    let isend = names.iter().position(|name| *name == "isend").unwrap();
    assert_eq!(matrices["sends"]["rows"][0]["values"][isend], 2000);
    assert!(matrices["sends"]["rows"][0].get("comput").is_none());
    assert!(matrices["time"]["rows"][3]["comput"].as_f64().unwrap() > 1.0);
    assert_eq!(json["peers"]["pairs"].as_array().unwrap().len(), 8);
    assert_eq!(json["counters"], Value::Null);
    assert_eq!(json["calibration"], Value::Null);
    assert_eq!(json["switches"]["OMPI_MCA_btl"], "self,vader");
    assert_eq!(json["metrics"]["rma_put_ops"]["all_ranks"], 0);
    assert_eq!(json["communicators"].as_array().unwrap().len(), 2);
    assert!(json["efficiency"]["serialisation_efficiency"].is_null());
}
