//! Input that is not as it should be: clear words, and the exit codes of topasview(1).

use std::fs;
use std::process::Stdio;

use topas_testkit::with_lengths;

use super::synthetic::Launch;
use super::{ViewOutput, command, directory, piped, rate_line, shown, view};

#[test]
fn nothing_to_show() {
    let dir = tempfile::tempdir().unwrap();
    let none = view(dir.path(), &[]);
    assert_eq!(none.code, 3);
    assert!(
        none.err.starts_with("topasview: error: no topas.out in this directory\n  hint: "),
        "{}",
        none.err
    );
    let empty = view(directory("").path(), &[]);
    assert_eq!(empty.code, 3);
    assert!(empty.err.starts_with("topasview: error: ./topas.out: empty\n"), "{}", empty.err);
    let wrong = view(directory("\x7fELF\x02\0\0some program\nsecond\n").path(), &[]);
    assert_eq!(wrong.code, 3);
    assert!(wrong.err.contains("2 of 2 lines skipped: 2 bad date"), "{}", wrong.err);
    assert!(
        wrong.err.contains("error: ./topas.out: no line of a PE\n  hint: is this a topas.out?")
    );
    assert!(!wrong.err.contains(['\0', '\x7f']), "control characters are replaced");
    let missing = view(dir.path(), &["none.out"]);
    assert_eq!(missing.code, 1);
    assert!(
        missing.err.starts_with("topasview: error: cannot read none.out\n  cause: No such file")
    );
}

#[test]
fn some_files_cannot_be_read_and_the_others_are() {
    let dir = directory(rate_line(0, 1, 1000));
    let both = view(dir.path(), &["--stat", "topas.out", "none"]);
    assert_eq!(both.code, 1);
    assert!(
        both.out.contains("\nmin     1.000 on pe 0\n") && both.err.contains("cannot read none")
    );
}

#[test]
fn a_file_cut_anywhere_gives_the_pes_before_the_cut() {
    let text = Launch { pes: 3, ..Launch::default() }.text();
    let ends: Vec<usize> = (0..text.len()).filter(|&at| text[at] == b'\n').collect();
    for cut in (ends[1] + 1..text.len()).step_by(7) {
        let cut_off = view(directory(&text[..cut]).path(), &["--stat"]);
        // The last line is whole where only its newline is missing.
        let whole = cut == text.len() - 1;
        let pes = if whole || cut == ends[1] + 1 { "" } else { "1 of 3 lines skipped" };
        assert!(cut_off.err.contains(pes), "{cut}: {}", cut_off.err);
        assert_eq!(cut_off.code, 0, "{cut}");
        let of = if whole { "3 PEs" } else { "2 of 3 PEs" };
        assert!(
            cut_off.out.starts_with(&format!("cpmd of mohr, {of} on ")),
            "{cut}: {}",
            cut_off.out
        );
    }
}

#[test]
fn missing_pes_are_named() {
    let text: String = [0, 1, 2, 6, 9].map(|pe| rate_line(pe, 10, 1000)).concat();
    let out = shown(directory(text).path(), &["--stat"]);
    assert!(
        out.contains("\n5 of 10 PEs left no line: 3-5, 7-8. They died before their end, or"),
        "{out}"
    );
}

/// A log holds two PEs of a launch, and ids of users are their own.
#[test]
fn lines_of_a_log_are_known() {
    let line = |pe: u32, user: &str, uid: u32, exe: &str, t: u64| {
        with_lengths(&format!(
            "2026/11/20 08:01:02 {user} {exe} {pe} 32 t2596 B c mpi 1.0 0.1 2.000 f=7 8 4711 v=1 \
             t={t} uid={uid} end=exit:0 host=n1\n"
        ))
    };
    let anna = line(3, "anna", 1, "heat", 1000) + &line(17, "anna", 1, "heat", 1001);
    let bert = line(5, "bert", 2, "cg", 1000) + &line(6, "bert", 2, "cg", 1000);
    let dir = directory(anna + &bert);
    let out = shown(dir.path(), &["--stat"]);
    assert!(out.starts_with("heat of anna, 2 of 32 PEs on n1"), "{out}");
    let words = out.replace('\n', " ");
    assert!(words.contains("30 of 32 PEs have none here by design"), "{out}");
    assert!(!out.contains("died") && !out.contains("cg"), "{out}");
    let list = shown(dir.path(), &["--list", "--csv"]);
    assert_eq!(list.lines().count(), 3, "{list}");
    assert!(list.contains(",anna,heat,2,32,1,2") && list.contains(",bert,cg,2,32,1,2"), "{list}");
    let json = shown(dir.path(), &["--json"]);
    assert!(
        json.contains("\"lines_of_log\": true") && json.contains("\"missing_pes\": null"),
        "{json}"
    );
}

/// One id at many times, and many ids: neither takes long, nor much memory.
#[test]
fn many_launches_take_no_more_than_their_lines() {
    let line = |n: u64, id: u64| {
        with_lengths(&format!(
            "2026/11/20 08:01:02 anna heat {} 32 t2596 B c mpi 1.0 0.1 20.000 f=7 8 {id:x} v=1 \
             t={} uid=1 end=exit:0 host=n{n}\n",
            n % 32,
            100_000 + 10 * n
        ))
    };
    let begin = std::time::Instant::now();
    // A chain of runs that overlap, each with the next.
    let one: String = (0..40_000).map(|n| line(n, 7)).collect();
    let out = shown(directory(one).path(), &["--csv"]);
    assert_eq!(out.lines().count(), 33);
    let many: String = (0..40_000).map(|n| line(n, n)).collect();
    let dir = directory(many);
    let out = shown(dir.path(), &["--list", "--csv"]);
    assert_eq!(out.lines().count(), 40_001);
    let ViewOutput { code, out, err } = view(dir.path(), &["--list", "--memory", "16M"]);
    assert_eq!((code, &*out), (1, ""), "{err}");
    assert!(err.contains("need more than 15 MiB of memory"), "{err}");
    assert!(err.contains("hint: ") && err.contains("topas-stat --runs"), "{err}");
    // Minutes before, on the same machine.
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}

#[test]
fn a_newer_version_is_told() {
    let newer = "2027/01/01 00:00:00 a b 0 2 t1 B c mpi 1.0 0.0 1.0 f=1 1 id v=2 new=1\n";
    let all = view(directory(newer).path(), &[]);
    assert_eq!(all.code, 3);
    assert!(all.err.contains("1 of 1 lines skipped: 1 unknown version"), "{}", all.err);
    assert!(all.err.contains("hint: a newer TOPAS wrote those"), "{}", all.err);
}

#[test]
fn long_lines_and_nul_bytes_are_passed_over() {
    let good = rate_line(0, 2, 1000);
    let text = format!("{good}{}\na\0b\n{}", "x".repeat(10_000_000), rate_line(1, 2, 2000));
    let long = view(directory(text).path(), &["--stat"]);
    assert_eq!(long.code, 0);
    assert!(long.err.contains("2 of 4 lines skipped: 1 bad date, 1 too long"), "{}", long.err);
    assert!(long.out.contains("2 PEs"), "{}", long.out);
}

#[test]
fn a_directory_as_file_and_compressed_files() {
    let dir = directory(rate_line(0, 1, 1000));
    let sub = dir.path().join("topas.out.d");
    fs::create_dir(&sub).unwrap();
    assert!(shown(dir.path(), &["--stat"]).contains("1 PE,"));
    let gzip =
        std::process::Command::new("gzip").arg("-k").arg(dir.path().join("topas.out")).status();
    assert!(gzip.unwrap().success());
    fs::remove_file(dir.path().join("topas.out")).unwrap();
    assert!(shown(dir.path(), &["--stat"]).contains("1 PE,"), "topas.out.gz");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = directory(Launch { pes: 20_000, ..Launch::default() }.text());
    let mut child = command(dir.path(), &["--csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

#[test]
fn output_that_cannot_be_written_is_told() {
    let dir = directory(rate_line(0, 1, 1000));
    let full =
        command(dir.path(), &[]).stdout(fs::File::create("/dev/full").unwrap()).output().unwrap();
    assert_eq!(full.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&full.stderr).contains("cannot write to standard output"));
    let svg = view(dir.path(), &["--svg", "none/out.svg"]);
    assert_eq!(svg.code, 1);
    assert!(svg.err.contains("cannot write none/out.svg"), "{}", svg.err);
}

#[test]
fn wrong_command_lines() {
    let dir = directory(rate_line(0, 1, 1000));
    for args in [
        &["--sort", "speed"][..],
        &["--stat", "speed"],
        &["--cluster", "-1"],
        &["--cluster", "0"],
        &["--csv", "--json"],
        &["--csv", "--report"],
        &["--csv", "--stat", "--groups"],
        &["--jsonl", "--stat"],
        &["--list", "--json"],
        &["--ascending"],
        &["--compare", "topas.out"],
        &["--top", "x"],
    ] {
        let wrong = view(dir.path(), args);
        assert_eq!((wrong.code, &*wrong.out), (2, ""), "{args:?}: {}", wrong.err);
        assert!(
            wrong.err.starts_with("topasview: error: ") && wrong.err.contains("hint: "),
            "{args:?}: {}",
            wrong.err
        );
    }
    assert_eq!(view(dir.path(), &["--help"]).code, 0);
}

#[test]
fn one_pe_and_pes_without_time() {
    let one = shown(directory(rate_line(0, 1, 1000)).path(), &["--report"]);
    assert!(one.contains("\nrho         -\n") && one.contains("too few to tell"), "{one}");
    let timeless = rate_line(0, 2, 1000).replace("999.0 1.0 1000.000", "0.0 0.0 0.000")
        + &rate_line(1, 2, 1000).replace("999.0 1.0 1000.000", "0.0 0.0 0.000");
    let report = shown(directory(timeless).path(), &["--report"]);
    assert!(report.contains("2 of 2 PEs have no rate in MFlop/s: no time."), "{report}");
    for args in [&["--json", "--report"][..], &["--html", "-"], &["--strip"], &["--svg", "-"]] {
        assert_eq!(view(directory(rate_line(7, 9, 0)).path(), args).code, 0, "{args:?}");
    }
}

#[test]
fn numbers_at_the_ends_of_what_a_line_can_hold() {
    let max = u64::MAX;
    let line = |pe: u32| {
        format!(
            "2026/11/20 08:01:02 a b {pe} 4294967295 - B c mpi 18446744073709.5 0.0 18446744073709.551615 \
             f={max} {max} id v=1 t={max} cyc={max} ins={max} rss={max} numa={max}\n"
        )
    };
    let text = with_lengths(&(line(0) + &line(4_294_967_294) + &line(u32::MAX)));
    for args in [&[][..], &["--report"], &["--json"], &["--csv"], &["--html", "-"], &["--svg", "-"]]
    {
        let shown = view(directory(&text).path(), args);
        assert_eq!(shown.code, 0, "{args:?}: {}", shown.err);
    }
    let piped = piped(&["--stat"], text.as_bytes());
    assert_eq!(piped.code, 3, "without - it is the file here that is read");
}
