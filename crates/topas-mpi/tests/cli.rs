//! The tool as users call it.

use std::process::Command;

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
