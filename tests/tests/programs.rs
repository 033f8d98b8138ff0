//! Every program of `tests/programs`, as its directives say, under each MPI.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_tests::build::{by_driver, source, with_module};
use topas_tests::directives::Directives;
use topas_tests::mpi_installation::{Mpi, emulate_rank, launched};
use topas_tests::record::Record;
use topas_tests::running::{Run, command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// Directories of programs with the driver used there.
const LANGUAGES: [(&str, &str); 4] =
    [("c", "mpicc"), ("cxx", "mpicxx"), ("f77", "mpif77"), ("f90", "mpif90")];

/// Launch key of ranks that run without a launcher.
const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// Programs of `directory` with directives; those without serve other tests.
fn programs(directory: &str) -> Vec<(String, Directives)> {
    let mut programs = Vec::new();
    for entry in fs::read_dir(source(directory)).expect("directory of programs") {
        let path = entry.expect("entry").path();
        let text = fs::read_to_string(&path).expect("program");
        let name = format!("{directory}/{}", path.file_name().unwrap().to_str().unwrap());
        if text.lines().take(3).any(|line| line.contains(" topas:")) {
            let directives = Directives::read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
            programs.push((name, directives));
        }
    }
    programs.sort_by(|a, b| a.0.cmp(&b.0));
    programs
}

/// Builds and runs all programs of a language under one MPI.
fn all(directory: &str, mpi: Mpi) {
    let test = format!("programs {directory} {}", mpi.name());
    if mpi.real("mpiexec").is_none() {
        return skip(&test, "this MPI is not installed");
    }
    let driver = LANGUAGES.iter().find(|(name, _)| *name == directory).unwrap().1;
    let mut ran = 0;
    for (name, directives) in programs(directory) {
        if directives.mpi.as_ref().is_some_and(|only| only != mpi.name()) {
            continue;
        }
        let tool = directives.compiler.as_deref().unwrap_or(driver);
        if tool != "gcc" && mpi.real(tool).is_none() {
            skip(&format!("{test} {name}"), &format!("no {tool}.{}", mpi.name()));
            continue;
        }
        one(&name, &directives, mpi, tool, &[], "");
        if directives.linked_statically.as_deref() == Some(mpi.name()) {
            linked_statically(&name, &directives, mpi, tool);
        }
        ran += 1;
    }
    assert!(ran > 0, "no program in {directory}");
}

fn linked_statically(name: &str, directives: &Directives, mpi: Mpi, tool: &str) {
    let scratch = Scratch::new();
    let words = mpi.static_words(&scratch).unwrap_or_default();
    let mut bare = by_driver(Site::shared(), &scratch, mpi, tool, name, &scratch.path().join("a"));
    let bare = run(bare.env("TOPAS", "off").args(&words));
    if words.is_empty() || bare.code() != 0 {
        let reason = bare.err().lines().next().unwrap_or("no archives").to_owned();
        return skip(&format!("static {name} {}", mpi.name()), &reason);
    }
    // The warnings of the bare link, and no others.
    one(name, directives, mpi, tool, &words, &bare.err());
}

fn one(name: &str, directives: &Directives, mpi: Mpi, tool: &str, more: &[String], said: &str) {
    let site = Site::shared();
    let scratch = Scratch::new();
    let program = scratch.path().join(Path::new(name).file_stem().unwrap());
    let case = format!("{name} with {} {}", mpi.name(), more.get(1).map_or("", String::as_str));

    let mut compiler = if tool == "gcc" {
        let mut gcc = command("gcc");
        gcc.arg(source(name)).arg("-o").arg(&program).arg(with_module(site, "c"));
        gcc
    } else {
        by_driver(site, &scratch, mpi, tool, name, &program)
    };
    let built = run(compiler.args(&directives.flags).args(more));
    assert_eq!(built.code(), 0, "{case}: link failed:\n{}", built.err());
    assert_eq!(built.err(), said, "{case}: what the link says");

    let runs = if directives.alone {
        let alone = |rank| alone(&scratch, &program, rank, directives);
        vec![alone(1), alone(2)]
    } else {
        let mut launch = mpi.launch(site, &scratch, directives.ranks);
        launch.arg(&program).args(&directives.args);
        launch.envs(directives.env.iter().map(|(name, value)| (name, value)));
        vec![launched(&scratch, &mut launch)]
    };
    for run in &runs {
        check_run(&case, directives, run);
    }
    check_lines(&case, directives, &program, &scratch.take_log());
}

fn alone(scratch: &Scratch, program: &PathBuf, rank: u32, directives: &Directives) -> Run {
    let mut alone: Command = scratch.command(program);
    alone.env("TOPAS_PE", "1,2").args(&directives.args);
    emulate_rank(&mut alone, rank, directives.ranks, KEY);
    run(&mut alone)
}

fn check_run(case: &str, directives: &Directives, run: &Run) {
    let output = format!("{}{}", run.out(), run.err());
    assert_eq!(run.code(), directives.exit, "{case}:\n{output}");
    for part in &directives.stdout {
        assert!(run.out().contains(part), "{case}: no '{part}' in\n{output}");
    }
    assert!(!output.contains("topas:"), "{case}: says something of TOPAS:\n{output}");
}

fn check_lines(case: &str, directives: &Directives, program: &Path, lines: &[Record]) {
    let shown: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let shown = shown.join("\n");
    assert_eq!(lines.len(), directives.lines, "{case}: log lines:\n{shown}");
    let ranks: HashSet<u32> = lines.iter().map(|line| line.pe).collect();
    let ids: HashSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    assert_eq!(ranks.len(), lines.len(), "{case}: a rank twice:\n{shown}");
    assert!(ids.len() <= 1, "{case}: ids differ:\n{shown}");
    for line in lines {
        assert_eq!(line.exe, program.file_name().unwrap().as_encoded_bytes(), "{case}");
        assert_eq!(line.npes, directives.ranks, "{case}");
        for (field, rank, expected) in &directives.fields {
            if rank.is_none_or(|rank| rank == line.pe) {
                assert_eq!(value(line, field), *expected, "{case}: {field} in\n{}", line.text);
            }
        }
    }
    for (field, rank, _) in &directives.fields {
        let measured = |rank: &u32| ranks.contains(rank);
        assert!(rank.as_ref().is_none_or(measured), "{case}: no line for {field}@{rank:?}");
    }
}

/// A field by its name in directives.
fn value(line: &Record, field: &str) -> String {
    match field {
        "lang" => line.lang.word().to_owned(),
        "lib" => line.lib.word().to_owned(),
        "mode" => line.mode.word().to_owned(),
        "user" => String::from_utf8_lossy(&line.user).into_owned(),
        extra => line.extra(extra).to_owned(),
    }
}

macro_rules! languages {
    ($($test:ident = $directory:literal $mpi:ident,)*) => {
        $(#[test] fn $test() { all($directory, Mpi::$mpi); })*
    };
}

languages! {
    c_with_open_mpi = "c" OpenMpi,
    c_with_mpich = "c" Mpich,
    cxx_with_open_mpi = "cxx" OpenMpi,
    cxx_with_mpich = "cxx" Mpich,
    f77_with_open_mpi = "f77" OpenMpi,
    f77_with_mpich = "f77" Mpich,
    f90_with_open_mpi = "f90" OpenMpi,
    f90_with_mpich = "f90" Mpich,
}

/// Exit codes at the edges of a byte, by both ways out of `main`.
#[test]
fn exit_codes() {
    let site = Site::shared();
    let scratch = Scratch::new();
    let program = scratch.path().join("ends");
    topas_tests::build::plain(site, "c/ends.c", false, &program);
    for way in ["return", "exit", "thread"] {
        for code in ["0", "3", "255"] {
            let directives =
                Directives { args: vec![way.to_owned(), code.to_owned()], ..Directives::default() };
            let ended = alone(&scratch, &program, 1, &directives);
            assert_eq!(ended.code().to_string(), code, "{way} {code}: {}", ended.err());
            let lines = scratch.take_log();
            assert_eq!(lines.len(), 1, "{way} {code}");
            assert_eq!(lines[0].extra("end"), format!("exit:{code}"), "{way}");
        }
    }
    // Ends that nothing sees leave the run as it is, and no line.
    for (way, code) in [("_exit", 4), ("kill", 128 + 9)] {
        let directives =
            Directives { args: vec![way.to_owned(), "4".to_owned()], ..Directives::default() };
        assert_eq!(alone(&scratch, &program, 1, &directives).code(), code, "{way}");
        assert_eq!(scratch.take_log().len(), 0, "{way}");
    }
}
