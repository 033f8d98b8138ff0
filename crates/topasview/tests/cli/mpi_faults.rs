//! The profile of MPI calls: what is missing, what is wrong, and what was.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::mpi_against_awk::{directory, ranks, shown};
use super::synthetic_mpi::Launch;
use super::{ViewOutput, command, piped, view};

/// Set: write the golden files anew.
const UPDATE: &str = "TOPAS_UPDATE_GOLDEN";

#[test]
fn what_is_missing_is_said() {
    let launch = Launch { ranks: 6, ..Launch::default() };
    let text = launch.text();
    // Rank 3 left no profile, and there is no sum.
    let some: String = text
        .lines()
        .filter(|line| line.contains("of=rank"))
        .scan(false, |of_three, line| {
            if line.contains(" line=1/") {
                *of_three = line.contains(" rank=3 ");
            }
            Some((!*of_three, line))
        })
        .filter(|(keep, _)| *keep)
        .map(|(_, line)| line.to_owned() + "\n")
        .collect();
    let dir = directory(&some);
    let out = shown(dir.path(), &[]);
    assert!(out.contains("5 of 6 ranks"), "{out}");
    assert!(out.contains("1 of 6 ranks left no profile: 3."), "{out}");
    let matrix = shown(dir.path(), &["--matrix", "sends", "--no-heading"]);
    assert_eq!(matrix.lines().filter(|line| line.trim_start().starts_with("3 ")).count(), 0);
    let peers = shown(dir.path(), &["--peers"]);
    assert!(peers.contains('-') || peers.contains("not measured"), "{peers}");

    // A sum alone has one row, and no peers.
    let dir = directory(&Launch { single: false, ..launch }.text());
    let matrix = shown(dir.path(), &["--matrix", "sends", "--no-heading"]);
    assert_eq!(matrix.lines().count(), 3);
    assert!(matrix.lines().nth(2).unwrap().trim_start().starts_with("all "), "{matrix}");
    assert!(shown(dir.path(), &["--peers"]).contains("Peers were not counted"));
    assert!(shown(dir.path(), &[]).contains(", the first on node0000"));
}

#[test]
fn bytes_that_were_not_counted_are_no_zeros() {
    let lines = "2026/11/20 08:01:02 topas-mpi mohr a.out 2 7 v=1 of=rank line=1/1 end=lost rank=0 \
                 pid=1 ranks=1 wall=2 wallmax=2 mpisum=1 mpimax=1 mpimin=1 usemax=1 over=0.1 thr=1 \
                 lang=c miss=bytes f=Send:5:0.5:0.1:-:-:- f=Foo\x1b:2:0.25:0.2 f=Barrier:1:0.25:0.25 len=";
    let line = format!("{lines}{:03}\n", lines.len() + 3);
    let dir = directory(&line);
    let matrix = shown(dir.path(), &["--matrix", "sent", "--no-heading"]);
    let cells: Vec<&str> = matrix.lines().nth(2).unwrap().split_whitespace().collect();
    assert_eq!(cells[..4], ["0", "-----", "-", "0"], "{matrix}");
    let csv = shown(dir.path(), &["--matrix", "sent", "--csv"]);
    assert!(csv.lines().nth(1).unwrap().starts_with("sent,B,0,,,0"), "{csv}");
    let out = shown(dir.path(), &["--routines"]);
    assert!(out.contains("Calls of which bytes or counts are missing: Send"), "{out}");
    assert!(out.contains("Not counted: bytes"), "{out}");
    assert!(out.contains("The measurement itself took 0.100000 s, 5.00% of the time"), "{out}");
    assert!(!out.contains('\x1b'), "names are cleaned");
    let json: Value = serde_json::from_str(&shown(dir.path(), &["--routines", "--json"])).unwrap();
    let send = json["routines"].as_array().unwrap().iter().find(|r| r["name"] == "Send").unwrap();
    assert!(send["sent_bytes"].is_null() && send["calls"] == 5);
    assert_eq!(json["launch"]["end"], "lost");
}

#[test]
fn a_subtotal_is_shown_when_it_is_asked_for() {
    let end = Launch { ranks: 3, steps: 10, ..Launch::default() }.text();
    let first = Launch { ranks: 3, steps: 4, ..Launch::default() }.text();
    let first: String = first
        .lines()
        .map(|line| {
            let line = line.replacen(" line=", " at=1 line=", 1);
            let (text, _) = line.rsplit_once(" len=").unwrap();
            format!("{text} len={:03}\n", text.len() + 8)
        })
        .collect();
    let dir = directory(&(first + &end));
    assert!(shown(dir.path(), &[]).contains("The program wrote subtotal 1 by MPI_Pcontrol"));
    let waits = |args: &[&str]| -> Vec<String> {
        let mut all = vec!["--matrix", "sends", "--csv"];
        all.extend(args);
        let csv = shown(dir.path(), &all);
        let mut rows = csv.lines().map(|line| line.split(',').map(str::to_owned));
        let place = rows.next().unwrap().position(|name| name == "allreduce").unwrap();
        rows.map(|mut row| row.nth(place).unwrap()).collect()
    };
    assert_eq!(waits(&[]), ["10"; 3]);
    assert_eq!(waits(&["--at", "1"]), ["4"; 3]);
    let ViewOutput { code, err, .. } = view(dir.path(), &["--mpi", "--at", "2"]);
    assert_eq!(code, 3);
    assert!(err.contains("no subtotal 2 in the profile\n  hint: there are 1 to 1"), "{err}");
}

#[test]
fn a_launch_is_picked_by_its_id() {
    let one = Launch { ranks: 2, ..Launch::default() };
    let two = Launch {
        ranks: 3,
        id: "6d4b-1".to_owned(),
        time: "2026/11/20 09:00:00".to_owned(),
        ..Launch::default()
    };
    let newer = two.text().replace("t=1795161662", "t=1795165260");
    let dir = directory(&(one.text() + &newer));
    let list = shown(dir.path(), &["--list"]);
    let ids: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(ids, ["6d4b-1", "5c3a-7"], "the newest first");
    assert!(shown(dir.path(), &[]).contains(", 3 ranks on node0000"));
    for args in [["--launch", "5c3a-7"], ["--id", "5c"]] {
        assert!(shown(dir.path(), &args).contains(", 2 ranks on node0000"));
    }
    let csv = shown(dir.path(), &["--list", "--csv"]);
    assert!(csv.contains("\n5c3a-7,2026/11/20 08:01:02,mohr,2,2,finalize,heat2d,\n"), "{csv}");
    let ViewOutput { code, err, .. } = view(dir.path(), &["--mpi", "--launch", "x"]);
    assert_eq!(code, 3);
    assert!(err.starts_with("topasview: error: no profile of launch x\n  hint: "), "{err}");
}

#[test]
fn what_cannot_be_shown_is_an_error() {
    let dir = ranks(2);
    for (args, code, words) in [
        (&["--mpi", "--raw"][..], 2, "--raw is of PEs"),
        (&["--mpi", "--csv", "--sizes", "--comms"], 2, "--csv is of one view"),
        (&["--mpi", "--svg", "-", "--sizes", "--peers"], 2, "a picture is of one view"),
        (&["--mpi", "--svg", "-", "--switches"], 2, "this view has no picture"),
        (&["--mpi", "--list", "--json"], 2, "--list has no JSON"),
        (&["--matrix", "time"], 2, "--mpi"),
        (&["--mpi", "--matrix", "x"], 2, "time, sent, sends, received, receives, all"),
        (&["--mpi", "nothing.out"], 1, "nothing.out"),
    ] {
        let shown = view(dir.path(), args);
        assert_eq!(shown.code, code, "{args:?}: {}", shown.err);
        assert!(shown.err.contains(words), "{args:?}: {}", shown.err);
        assert!(shown.out.is_empty(), "{args:?}: {}", shown.out);
    }
    let empty = tempfile::tempdir().unwrap();
    let spool = tempfile::tempdir().unwrap();
    let out =
        command(empty.path(), &["--mpi"]).env("TOPAS_MPI_SPOOL", spool.path()).output().unwrap();
    let shown = ViewOutput::from(out);
    assert_eq!(shown.code, 3, "{}", shown.err);
    assert!(shown.err.contains("no topas-mpi.out in this directory"), "{}", shown.err);
    // A file of PEs has no profile.
    let dir = directory(&super::rate_line(3, 16, 95_783));
    let shown = view(dir.path(), &["--mpi"]);
    assert_eq!(shown.code, 3);
    assert!(shown.err.contains("no profile of MPI calls in topas-mpi.out"), "{}", shown.err);
    let shown = piped(&["--mpi", "-"], Launch::default().text().as_bytes());
    assert_eq!(shown.code, 0, "{}", shown.err);
}

#[test]
fn ascii_alone_where_the_locale_has_no_more() {
    let dir = ranks(8);
    for args in [&["--mpi"][..], &["--mpi", "--peers"], &["--mpi", "--sizes"]] {
        let out = command(dir.path(), args).env("LC_ALL", "C").output().unwrap();
        let shown = ViewOutput::from(out);
        assert_eq!(shown.code, 0, "{}", shown.err);
        assert!(shown.out.is_ascii(), "{args:?}:\n{}", shown.out);
    }
}

#[test]
fn many_ranks_are_shown_at_once() {
    let dir = directory(&Launch { ranks: 2000, ..Launch::default() }.text());
    let begun = Instant::now();
    let all = shown(dir.path(), &["--matrix", "all", "--no-heading"]);
    assert_eq!(all.lines().count(), 5 * 2002 + 4);
    let picture = shown(dir.path(), &["--peers", "--svg", "-"]);
    assert!(picture.contains("A cell stands for 16 x 16 ranks"));
    assert!(picture.len() < 1_000_000, "{}", picture.len());
    // Debug code on a busy machine; quadratic work would take minutes.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn views_are_what_they_were() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/mpi");
    let update = std::env::var_os(UPDATE).is_some();
    let input = directory.join("heat2d.out");
    if update {
        fs::write(&input, Launch { ranks: 6, steps: 50, ..Launch::default() }.text()).unwrap();
    }
    let input = input.to_str().unwrap();
    let views: [(&str, &[&str]); 8] = [
        ("overview.txt", &[]),
        ("matrices.txt", &["--matrix", "all"]),
        ("routines.txt", &["--routines"]),
        ("efficiency.txt", &["--efficiency"]),
        ("peers.txt", &["--peers"]),
        ("sizes.txt", &["--sizes"]),
        ("comms.txt", &["--comms"]),
        ("all.json", &["--json", "--routines", "--efficiency", "--sizes", "--matrix", "sent"]),
    ];
    let mut changed: Vec<PathBuf> = Vec::new();
    for (name, args) in views {
        let mut all = args.to_vec();
        all.push(input);
        let text = shown(&directory, &all);
        let path = directory.join(name);
        if update {
            fs::write(&path, text).unwrap();
        } else if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            changed.push(path);
        }
    }
    assert!(changed.is_empty(), "{changed:?} changed: run with {UPDATE}=1 and look at them");
}
