//! The tool as users call it.

use std::process::Command;

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
