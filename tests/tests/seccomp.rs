//! Programs under a seccomp filter that punishes every call it does not list.

use std::path::PathBuf;

use topas_tests::build::{source, with_module};
use topas_tests::ending::status;
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// The program without the module and with it, each with the library that can set the filter.
fn built(scratch: &Scratch) -> [PathBuf; 2] {
    let library = scratch.path().join("libconfines.so");
    let file = source("c/filtered.c");
    let mut gcc = command("gcc");
    gcc.args(["-Wall", "-Werror", "-O1", "-DLIBRARY", "-fPIC", "-shared"]).arg(&file);
    run(gcc.arg("-o").arg(&library)).good();
    [false, true].map(|linked| {
        let program = scratch.path().join(if linked { "linked" } else { "bare" });
        let mut gcc = command("gcc");
        gcc.args(["-Wall", "-Werror", "-O1"]).arg(&file).arg(&library).arg("-o").arg(&program);
        if linked {
            gcc.arg(with_module(Site::shared(), "c"));
        }
        run(&mut gcc).good();
        program
    })
}

/// It ends as it does without the module, and leaves no line: to write one takes calls.
#[test]
fn nothing_is_called_under_a_filter() {
    let scratch = Scratch::new();
    let [bare, linked] = built(&scratch);
    let ends = |words: &[&str], program: &PathBuf| {
        let mut rank = scratch.command(program);
        emulate_rank(&mut rank, 1, 4, KEY);
        rank.env("TOPAS_PE", "1,2").args(words);
        let ended = run(&mut rank);
        assert_eq!(ended.err(), "", "{words:?}");
        (status(&ended), ended.out())
    };
    for action in ["process", "thread", "trap", "errno"] {
        for by in ["main", "library"] {
            let expected = ("exit 4".to_owned(), "confined\n".to_owned());
            assert_eq!(ends(&[action, by], &bare), expected, "{action} {by}");
            assert_eq!(ends(&[action, by], &linked), expected, "{action} {by}");
            assert!(scratch.take_log().is_empty(), "{action} {by}");
        }
        // A filter that was there before.
        for program in [&bare, &linked] {
            let next = program.to_str().expect("UTF-8");
            let expected = ("exit 4".to_owned(), String::new());
            assert_eq!(ends(&[action, next], &bare), expected, "{action} {next}");
            assert!(scratch.take_log().is_empty(), "{action}");
        }
    }
    for program in [&bare, &linked] {
        assert_eq!(ends(&["strict", "main"], program).0, "exit 4");
        assert!(scratch.take_log().is_empty());
    }
    assert_eq!(ends(&[], &linked).0, "exit 4");
    assert_eq!(scratch.take_log().len(), 1, "without a filter it is measured");
}
