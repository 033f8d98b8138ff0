//! The tool as users call it.

#[path = "../../topas-mpi-data/examples/generate-trace/synthetic.rs"]
mod synthetic;

use std::path::Path;
use std::process::Command;

use synthetic::SyntheticTrace;
use topas_trace::{BlockContent, BlockHead, HEAD, LENGTH, checksum};

#[test]
fn help_and_version_are_told_on_standard_output() {
    for (option, text) in [("--help", "Usage: topas-mpi"), ("--version", env!("CARGO_PKG_VERSION"))]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_topas-mpi")).arg(option).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{option}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.contains(text), "{option}: {out}");
    }
}

/// A log of one rank that says this of itself.
fn log_of(facts: &[u8]) -> Vec<u8> {
    let mut head =
        BlockHead { process: 7, filled: facts.len() as u64, ..BlockHead::new(BlockContent::Facts) };
    head.check = checksum(&head, facts);
    let mut bytes = [&head.encode()[..], facts].concat();
    bytes.resize(LENGTH, 0);
    assert!(bytes.len() > HEAD);
    let events = BlockHead { process: 7, ..BlockHead::new(BlockContent::Events) };
    bytes.extend_from_slice(&events.encode());
    bytes.resize(2 * LENGTH, 0);
    bytes
}

#[test]
fn what_a_log_says_does_nothing_to_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("run.topas");
    std::fs::write(&log, log_of(b"host a b\x1b]0;x\x07\npid 1\x1b[2J\n")).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_topas-mpi")).arg("trace").arg(&log).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !out.contains(['\x1b', '\x07']), "{out}");
    assert!(out.contains("a?b%1B]0;x%07") && out.contains("1%1B[2J"), "{out}");
}

/// What a command says of a log with these bytes: exit code, standard output, and standard error.
fn told(dir: &Path, bytes: &[u8], args: &[&str]) -> (i32, String, String) {
    let log = dir.join("run.n001.trace");
    std::fs::write(&log, bytes).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_topas-mpi"));
    let output = command.args(args).arg("run.n001.trace").current_dir(dir).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code().unwrap(), out, err)
}

#[test]
fn what_of_a_log_is_damaged_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut whole = Vec::new();
    SyntheticTrace::default().write(&mut whole).unwrap();
    // Rank by rank, as ranks append their blocks at their ends.
    let mut blocks: Vec<&[u8]> = whole.chunks(LENGTH).collect();
    blocks.sort_by_key(|block| block[12]);
    let whole = blocks.concat();
    let told = |bytes: &[u8], args: &[&str]| told(dir.path(), bytes, args);
    let (code, out, err) = told(&whole, &["replay"]);
    assert_eq!((code, &*err), (0, ""), "{out}");
    assert!(out.contains("8 of 8 ranks") && out.contains("parallel efficiency"), "{out}");

    // A byte of the events of rank 3.
    let mut one = whole.clone();
    one[6 * LENGTH + HEAD + 100] ^= 1;
    let warning = "topas-mpi: warning: run.n001.trace: 1 block of rank 3 is damaged, 0.0";
    for args in [&["trace"][..], &["trace", "--events"], &["trace", "--chrome"], &["replay"]] {
        let (code, _, err) = told(&one, args);
        assert!(code == 1 && err.starts_with(warning), "{args:?}: {code} {err}");
        assert_eq!(err.lines().count(), 1, "{args:?}: {err}");
    }
    let (_, out, _) = told(&one, &["replay"]);
    assert!(
        out.contains("7 of 8 ranks") && out.contains("No efficiencies: they need all"),
        "{out}"
    );
    assert!(out.contains("Left out, because the log is damaged: 1 block of rank 3"), "{out}");
    let (_, out, _) = told(&one, &["replay", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["efficiencies"], serde_json::Value::Null);
    assert_eq!((&json["left_out"][0]["rank"], &json["cut"]), (&3.into(), &false.into()));

    // Cut in the events of rank 5.
    let (code, out, err) = told(&whole[..10 * LENGTH + 9000], &["replay"]);
    assert!(code == 1 && err.contains("the file is cut: it has 664360 B"), "{err}");
    assert!(out.contains("No efficiencies") && !out.contains("launches"), "{out}");
    assert!(out.contains("Of 2 ranks there is no log: the file was cut."), "{out}");

    // All events.
    let mut none = whole.clone();
    for block in none.chunks_mut(LENGTH).filter(|block| block[10] == 1) {
        block[HEAD + 100] ^= 1;
    }
    for (args, error) in [
        (&["trace"][..], "no call in these logs can be read"),
        (&["trace", "--events"], "no call in these logs can be read"),
        (&["replay"], "no rank of this launch can be replayed"),
    ] {
        let (code, out, err) = told(&none, args);
        assert_eq!((code, &*out), (1, ""), "{args:?}");
        assert!(err.contains(error), "{args:?}: {err}");
    }
}
