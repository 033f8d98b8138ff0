//! The extras `cc` and `part`: the compiler by what the executable says, with any linker, stripped
//! or not; the partition of the job.

use std::path::Path;
use std::process::Command;

use topas_tests::build::{source, with_module};
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::record::Record;
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// The line of a rank by itself.
#[track_caller]
fn line(scratch: &Scratch, program: &Path, set: impl FnOnce(&mut Command)) -> Record {
    let mut rank = scratch.command(program);
    emulate_rank(&mut rank, 1, 4, KEY);
    set(rank.env("TOPAS_PE", "1"));
    run(&mut rank).good();
    let mut lines = scratch.take_log();
    assert_eq!(lines.len(), 1, "{}", program.display());
    lines.remove(0)
}

/// What the section `.comment` of a program holds, by readelf.
fn comments(program: &Path) -> Vec<String> {
    let shown = run(command("readelf").args(["-p", ".comment"]).arg(program)).good().out();
    let strings = shown.lines().filter_map(|line| line.split_once("]  "));
    strings.map(|(_, text)| text.to_owned()).collect()
}

/// A program's name of its compiler as the line has it.
fn token(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join("_").replace('%', "%25")
}

#[test]
fn compilers_and_linkers() {
    let test = "compilers_and_linkers";
    let scratch = Scratch::new();
    let program = scratch.path().join("program");
    for (compiler, name, lang) in [
        ("gcc", "c/empty.c", "c"),
        ("g++", "c/empty.c", "cxx"),
        ("clang", "c/empty.c", "c"),
        ("gfortran", "f90/end.f90", "f90"),
    ] {
        if !have(compiler) {
            skip(test, &format!("no {compiler}"));
            continue;
        }
        for linker in ["bfd", "gold", "lld", "mold"] {
            if !have(&format!("ld.{linker}")) {
                skip(test, &format!("no ld.{linker}"));
                continue;
            }
            for more in [&["-g"][..], &["-s"], &["-static"]] {
                let mut link = command(compiler);
                link.arg(source(name)).arg("-o").arg(&program).arg(format!("-fuse-ld={linker}"));
                run(link.args(more).arg(with_module(Site::shared(), lang))).good();
                let said = comments(&program);
                let case = format!("{compiler} {linker} {more:?}: {said:?}");
                let word = if compiler == "clang" { "clang version" } else { "GCC: " };
                let own = said.iter().find(|text| text.contains(word)).expect(&case);
                assert_eq!(line(&scratch, &program, |_| {}).extra("cc"), token(own), "{case}");
            }
        }
    }
}

/// Without the section nothing is said; what is said is one token, and not all of it.
#[test]
fn any_text_in_the_section() {
    let scratch = Scratch::new();
    let program = scratch.path().join("program");
    let gcc = |more: &[&str]| {
        let mut link = command("gcc");
        link.arg(source("c/empty.c")).arg("-o").arg(&program).args(more);
        run(link.arg(with_module(Site::shared(), "c"))).good();
    };
    let objcopy = |words: &[&str]| {
        run(command("objcopy").args(words).arg(&program)).good();
    };
    gcc(&["-g"]);
    objcopy(&["--remove-section=.comment"]);
    assert_eq!(line(&scratch, &program, |_| {}).extra("cc"), "");
    let text = scratch.path().join("comment");
    let text_words = format!("--update-section=.comment={}", text.display());
    let long = "x".repeat(200);
    let odd: [(&[u8], &str); 8] = [
        (
            b"Intel(R) oneAPI DPC++/C++ Compiler 2024.0.0\0",
            "Intel(R)_oneAPI_DPC++/C++_Compiler_2024.0.0",
        ),
        (b"GCC: 9\0Linker: LLD 22\0", "GCC:_9"),
        (b"rustc version 1.95.0\0Linker: LLD 22\0GCC: 9\0", "rustc_version_1.95.0"),
        (b"mold 1.10\0A  \t b 100%\0GCC: 9\0", "A_b_100%25"),
        (b"\0\0\0", ""),
        (b"clang version 14, of Debian\0", "clang_version_14"),
        (b"no end", "no_end"),
        (long.as_bytes(), &long[..60]),
    ];
    for (bytes, expected) in odd {
        gcc(&[]);
        std::fs::write(&text, bytes).expect("write");
        objcopy(&[&text_words]);
        let told = line(&scratch, &program, |_| {});
        assert_eq!(told.extra("cc"), expected, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn the_partition_of_the_job() {
    let scratch = Scratch::new();
    let program = scratch.path().join("program");
    let mut gcc = command("gcc");
    gcc.arg(source("c/empty.c")).arg("-o").arg(&program).arg(with_module(Site::shared(), "c"));
    run(&mut gcc).good();
    for (variables, expected) in [
        (&[("SLURM_JOB_PARTITION", "long"), ("SLURM_JOB_ID", "7")][..], "long"),
        (&[("SLURM_JOB_PARTITION", "a b%"), ("PBS_QUEUE", "other")], "a%20b%25"),
        (&[("PBS_QUEUE", "workq")], "workq"),
        (&[("LSB_QUEUE", "normal")], "normal"),
        (&[("LOADL_STEP_CLASS", "micro")], "micro"),
        (&[("QUEUE", "all.q"), ("ENVIRONMENT", "BATCH")], "all.q"),
        (&[("QUEUE", "mine")], ""),
        (&[], ""),
    ] {
        let told = line(&scratch, &program, |rank| {
            rank.envs(variables.iter().copied());
        });
        assert_eq!(told.extra("part"), expected, "{variables:?}");
    }
}
