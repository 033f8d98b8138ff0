//! Languages whose runtimes set signal handlers of their own, but only where they find the
//! default: they must find it.

use std::path::Path;
use std::process::Command;

use topas_tests::build::{source, with_module};
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::running::{Run, command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// Runs a program as a measuring rank.
fn measured(scratch: &Scratch, program: &Path, args: &[&str]) -> Run {
    let mut rank = scratch.command(program);
    rank.env("TOPAS_PE", "1,2").args(args);
    emulate_rank(&mut rank, 1, 4, KEY);
    run(&mut rank)
}

#[test]
fn python_keeps_its_interrupt() {
    let test = "python_keeps_its_interrupt";
    if !have("python3-config") {
        return skip(test, "no python3-config");
    }
    let scratch = Scratch::new();
    let program = scratch.path().join("python");
    let flags = run(command("python3-config").args(["--embed", "--cflags", "--ldflags"])).good();
    let mut gcc = command("gcc");
    gcc.arg(source("library/embeds_python.c")).arg(with_module(Site::shared(), "c"));
    run(gcc.arg("-o").arg(&program).args(flags.out().split_whitespace())).good();
    let script = "import os, signal\n\
                  try: os.kill(os.getpid(), signal.SIGINT); [i for i in range(1000)]\n\
                  except KeyboardInterrupt: print('interrupted')";
    let ended = measured(&scratch, &program, &[script]).good();
    assert_eq!(ended.out(), "interrupted\n", "{}", ended.err());
    assert_eq!(scratch.take_log()[0].extra("end"), "exit:0");
    // Another signal ends it, and says so.
    let script = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)";
    assert_eq!(measured(&scratch, &program, &[script]).code(), 128 + 15);
    assert_eq!(scratch.take_log()[0].extra("end"), "sig:15");
}

#[test]
fn rust_says_that_its_stack_is_full() {
    let scratch = Scratch::new();
    let program = |name| scratch.path().join(name);
    let build = |name, more: &[String]| {
        let mut rustc = Command::new("rustc");
        rustc.arg("-O").arg(source("rust/overflow.rs")).arg("-o").arg(program(name)).args(more);
        run(&mut rustc).good();
    };
    build("bare", &[]);
    build("linked", &[format!("-Clink-arg={}", with_module(Site::shared(), "c"))]);
    let masked = |ended: &Run| {
        // The number is the process.
        let text: String = ended.err().chars().filter(|c| !c.is_ascii_digit()).collect();
        (ended.code(), text)
    };
    let (bare, linked) = ["bare", "linked"].map(|n| measured(&scratch, &program(n), &[])).into();
    assert!(bare.err().contains("overflowed its stack"), "{}", bare.err());
    assert_eq!(masked(&linked), masked(&bare));
    let lines = scratch.take_log();
    assert_eq!((lines.len(), lines[0].extra("end")), (1, "abort"));
}
