//! `topas-log merge` against sort(1): bytes, order, files, what goes wrong.

mod tool;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use tool::{Dir, line};

/// A log of each time, in that order; names tell where a line stood.
fn log(segment: usize, times: &[i64]) -> Vec<u8> {
    let lines = times.iter().enumerate().map(|(n, &t)| line(t, &format!("s{segment}"), n));
    lines.collect::<String>().into_bytes()
}

/// What sort(1) makes of segments: by `t=`, stable.
fn sorted(segments: &[Vec<u8>]) -> Vec<u8> {
    let script = r#"awk '{ match($0, / t=[0-9]+/); print substr($0, RSTART + 3, RLENGTH - 3) " " $0 }' |
        LC_ALL=C sort -s -n -k1,1 | cut -d' ' -f2-"#;
    let mut sort = Command::new("sh")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = sort.stdin.take().unwrap();
    let all = segments.concat();
    let writer = std::thread::spawn(move || input.write_all(&all).unwrap());
    let out = sort.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(out.status.success());
    out.stdout
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn merges_as_sort_does(
        segments in proptest::collection::vec(
            proptest::collection::vec(0i64..50, 0..60), 1..6),
        in_order in any::<bool>(),
        form in 0usize..4,
    ) {
        let dir = Dir::new();
        let mut texts = Vec::new();
        let mut args = vec!["merge".to_owned(), "-q".to_owned(), "-o".to_owned()];
        args.push(["out", "out.zst", "out.gz", "out.xz"][form].to_owned());
        for (n, mut times) in segments.into_iter().enumerate() {
            if in_order {
                times.sort_unstable();
            }
            let text = log(n, &times);
            dir.file(&format!("in{n}"), &text);
            args.push(format!("in{n}"));
            texts.push(text);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        prop_assert_eq!(dir.run(&args), (0, String::new(), String::new()));
        let unpack = ["cat", "zstd -qdc", "gzip -dc", "xz -dc"][form];
        let shell = format!("{unpack} {}", args[3]);
        let out = Command::new("sh").args(["-c", &shell]).current_dir(dir.path()).output().unwrap();
        prop_assert!(out.status.success());
        prop_assert_eq!(out.stdout, sorted(&texts));
    }
}

/// More than fits into the window: sorted with temporary files; a pipe; many segments.
#[test]
fn segments_in_any_order_and_of_any_number() {
    let dir = Dir::new();
    let mut texts = Vec::new();
    let mut names = Vec::new();
    // 12,000 lines of about 180 B: more than the window, the latest first.
    let backwards: Vec<i64> = (0..12_000).rev().collect();
    for n in 0..100usize {
        let few = [n as i64 * 100, n as i64 * 100 + 50];
        let text = log(n, if n == 7 { &backwards } else { &few });
        names.push(format!("in{n:03}"));
        dir.file(&names[n], &text);
        texts.push(text);
    }
    let mut args = vec!["merge"];
    args.extend(names.iter().map(String::as_str));
    let (code, out, err) = dir.run(&args);
    assert_eq!(
        (code, err.as_str()),
        (0, "topas-log: 12198 lines of 100 segments; 1 of the segments had to be sorted\n")
    );
    assert_eq!(out.as_bytes(), sorted(&texts));
    let (code, out, _) = dir.pipe(&["merge", "in006", "-", "in008"], &texts[7]);
    assert_eq!((code, out.as_bytes()), (0, &sorted(&texts[6..9])[..]));
}

#[test]
fn lines_that_are_none_stay_behind_the_one_they_follow() {
    let dir = Dir::new();
    let [a, b, c] = [1, 2, 3].map(|t| line(t, "u", 0));
    let torn = format!("{}{c}", &b[..40]);
    let long = "x".repeat(200_000);
    dir.file("one", format!("# made by hand\n{a}bad\n\n{torn}no newline"));
    dir.file("two", format!("{b}{long}\n\0\0\n"));
    let merged = format!("# made by hand\n{a}bad\n\n{b}{long}\n\0\0\n{torn}no newline\n");
    let (code, out, err) = dir.run(&["merge", "one", "two"]);
    assert_eq!(code, 0);
    assert!(out == merged, "{}", out.replace(&long, "x...x"));
    assert!(err.contains("9 lines of 2 segments, 5 no log lines, 1 got the newline"), "{err}");
    let (code, out, _) = dir.run(&["merge", "-q", "--bad", "bad", "one", "two"]);
    assert_eq!((code, out), (0, format!("# made by hand\n{a}\n{b}")));
    assert_eq!(dir.text("bad"), format!("bad\n{long}\n\0\0\n{torn}no newline\n"));
}

#[test]
fn equal_lines_once() {
    let dir = Dir::new();
    let [a, b] = [1, 1].map(|_| line(1, "u", 0));
    let c = line(1, "u", 1);
    dir.file("one", format!("{a}{c}bad\n"));
    dir.file("two", format!("{b}bad\n{}", c.trim_end()));
    let (_, out, err) = dir.run(&["merge", "--unique", "one", "two", "one"]);
    assert_eq!(out, format!("{a}{c}bad\nbad\nbad\n"));
    assert!(err.contains("4 left out because they stood there before"), "{err}");
}

#[test]
fn the_file_is_whole_or_as_before() {
    let dir = Dir::new();
    dir.file("in", log(0, &[3, 1, 2]));
    dir.file("damaged.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab");
    dir.file("out", "before");
    fs::set_permissions(dir.path().join("out"), fs::Permissions::from_mode(0o640)).unwrap();
    let bad = |to: &str, bad: &[&str]| {
        let (code, out, err) = dir.run(&[&["merge", "--force", "-o", to], bad].concat());
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        assert!(err.contains("topas-log: error: ") && err.contains("\n  hint: "), "{err}");
        fs::read(dir.path().join(to)).unwrap()
    };
    for nothing in [&["damaged.gz"][..], &["missing"], &["damaged.gz", "missing"]] {
        assert_eq!(bad("out", nothing), b"before");
    }
    // A damaged segment is not replaced by what is left of it.
    let damaged = fs::read(dir.path().join("damaged.gz")).unwrap();
    assert_eq!(bad("damaged.gz", &["in", "damaged.gz"]), damaged);
    // One that is not read keeps nobody from reading the others.
    for others in [&["in", "damaged.gz"][..], &["missing", "in"]] {
        fs::write(dir.path().join("out"), "before").unwrap();
        assert_eq!(bad("out", others), sorted(&[log(0, &[3, 1, 2])]));
    }
    // A segment may be the output, too.
    fs::write(dir.path().join("out"), log(1, &[2])).unwrap();
    assert_eq!(dir.run(&["merge", "-q", "--force", "-o", "out", "out", "in"]).0, 0);
    assert_eq!(dir.text("out").as_bytes(), sorted(&[log(1, &[2]), log(0, &[3, 1, 2])]));
    let mode =
        |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("out"), 0o640, "as that of the file before");
    assert_eq!(dir.run(&["merge", "-q", "-o", "new", "in"]).0, 0);
    assert_eq!(mode("new"), 0o600, "other users' lines are for nobody else");
    let (code, _, err) = dir.run(&["merge", "-o", "/dev/full", "in"]);
    assert_eq!(code, 1);
    assert!(err.contains("cannot write /dev/full") && err.contains("No space left"), "{err}");
    let (code, _, err) = dir.run(&["merge", "-o", "no/such", "in"]);
    assert_eq!(code, 1, "{err}");
    let mut names: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["damaged.gz", "in", "new", "out"], "nothing is left behind");
}

#[test]
fn a_closing_pipe_is_no_error() {
    let dir = Dir::new();
    dir.file("in", log(0, &(0..20_000).collect::<Vec<_>>()));
    let shell = format!("{} merge in | head -1", env!("CARGO_BIN_EXE_topas-log"));
    let out = Command::new("sh").args(["-c", &shell]).current_dir(dir.path()).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), line(0, "s0", 0));
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "");
}

/// What is made takes no log's place, unless the user means it.
#[test]
fn outputs_do_not_replace_logs() {
    let dir = Dir::new();
    let text = |user| (0..3).map(|t| line(t, user, t as usize)).collect::<String>();
    let logs = [("a", text("anna")), ("b", text("bert"))];
    logs.iter().for_each(|(name, text)| _ = dir.file(name, text));
    dir.file("key", "x".repeat(40));
    assert_eq!(dir.run(&["merge", "-qo", "b.zst", "b"]).0, 0);
    let zst = fs::read(dir.path().join("b.zst")).unwrap();
    for args in [
        &["merge", "-o", "a", "a"][..],
        &["merge", "-o", "b", "a"],
        &["merge", "-o", "b.zst", "a"],
        &["merge", "-o", "new", "--bad", "a", "a"],
        &["merge", "-o", "new", "--bad", "new", "a"],
        &["export", "-o", "a", "a"],
        &["export", "--csv", "-o", "b", "a"],
        &["export", "--jsonl", "-o", "b.zst", "a"],
        &["key", "a"],
    ] {
        let (code, out, err) = dir.run(args);
        assert!(code == 2 || args[0] == "key" && code == 1, "{args:?}: {code} {err}");
        assert!(out.is_empty() && err.contains("  hint: "), "{err}");
        for (name, text) in &logs {
            assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), *text, "{args:?}");
        }
        assert_eq!(fs::read(dir.path().join("b.zst")).unwrap(), zst);
        assert!(!dir.path().join("new").exists());
    }
    assert_eq!(dir.run(&["merge", "-qo", "a", "--force", "a", "b"]).0, 0);
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap().lines().count(), 6);
    // An export without lines leaves what an earlier one wrote.
    assert_eq!(dir.run(&["export", "--csv", "-qo", "out", "a"]).0, 0);
    dir.file("none", "bad\n");
    assert_eq!(dir.run(&["export", "--csv", "-qo", "out", "none"]).0, 3);
    assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap().lines().count(), 7);
}
