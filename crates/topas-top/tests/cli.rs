//! The tool as users call it.

use std::process::{Command, Output};

fn topas_top(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_topas-top")).args(args).output().unwrap()
}

#[test]
fn help_and_version_are_told_on_standard_output() {
    for (option, text) in [("--help", "Usage: topas-top"), ("--version", env!("CARGO_PKG_VERSION"))]
    {
        let output = topas_top(&[option]);
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{option}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.contains(text), "{option}: {out}");
    }
}

#[test]
fn no_program_is_an_error_with_a_code_of_its_own() {
    let output = topas_top(&["--once", "--spool", "/nonexistent/spool"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0), "{err}");
    assert!(err.starts_with("topas-top: error: no program of yours runs with a profile"), "{err}");
    assert!(err.contains("hint: "), "{err}");
}

#[test]
fn what_is_no_option_is_told() {
    let output = topas_top(&["--onec"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}
