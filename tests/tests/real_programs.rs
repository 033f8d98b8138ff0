//! Programs of PETSc with PETSc's own tests: linked through the drivers they give the same
//! results as without the module, and are measured.

use std::fs;
use std::path::{Path, PathBuf};

use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::{note, skip};

/// Example and driver, in C and Fortran: linear solvers and a nonlinear one, which all set
/// signal handlers, as every program of PETSc does.
const PROGRAMS: [(&str, &str); 5] = [
    ("ksp/ksp/tutorials/ex2.c", "mpicc"),
    ("ksp/ksp/tutorials/ex23.c", "mpicc"),
    ("ksp/ksp/tutorials/ex2f.F90", "mpifort"),
    ("ksp/ksp/tutorials/ex15f.F90", "mpifort"),
    ("snes/tutorials/ex19.c", "mpicc"),
];

/// Ranks a small machine can take.
const MOST_RANKS: u32 = 4;

/// A test as its program describes it, in a comment between `TEST` and `TEST`.
#[derive(Debug, Default)]
struct Test {
    ranks: u32,
    args: Vec<String>,
    output: String,
    /// Needs something else: another program, a filter of the output, a graphics window.
    special: bool,
}

/// The tests of a program's text; `name` is its file name without the ending.
fn tests(text: &str, name: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let block = text.lines().skip_while(|line| !line.contains("/*TEST"));
    let words = block.map(|line| line.trim_start_matches('!').trim());
    // Not groups of tests that share words.
    for line in words.take_while(|line| !line.contains("TEST*/") && *line != "testset:") {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        let (key, value) = (key.trim(), value.trim());
        if key == "test" {
            let output = format!("output/{name}_1.out");
            tests.push(Test { ranks: 1, output, ..Test::default() });
        }
        let Some(test) = tests.last_mut() else { continue };
        match key {
            "nsize" => test.ranks = value.parse().unwrap_or(u32::MAX),
            "args" => test.args = value.split(' ').map(str::to_owned).collect(),
            "suffix" => test.output = format!("output/{name}_{value}.out"),
            "output_file" => test.output = value.to_owned(),
            "test" | "" => {}
            "requires" if value == "!single" => {}
            _ => test.special = true,
        }
    }
    tests.retain(|test| {
        let odd = |arg: &String| arg.contains(['{', '$', '"', '\'', ':']) || arg.contains("draw");
        !test.special && test.ranks <= MOST_RANKS && !test.args.iter().any(odd)
    });
    tests
}

/// Where PETSc is: its examples, and how programs are built with it.
fn petsc() -> Option<(PathBuf, Vec<String>)> {
    let inside = |dir: &str| {
        let entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
        entries.max()
    };
    let examples = inside("/usr/share/petsc")?.join("share/petsc/examples/src");
    let modules = "/usr/lib/petscdir/petsc-real/lib/pkgconfig";
    let mut flags = command("pkg-config");
    flags.args(["--cflags", "--libs", "PETSc"]).env("PKG_CONFIG_PATH", modules);
    let flags = run(&mut flags);
    let words = flags.out().split_whitespace().map(str::to_owned).collect();
    (examples.exists() && flags.code() == 0).then_some((examples, words))
}

#[test]
#[ignore = "cargo xtask test --programs"]
fn petsc_passes_its_own_tests() {
    let name = "petsc_passes_its_own_tests";
    let Some((examples, flags)) = petsc() else {
        return skip(name, "PETSc and its examples are not installed");
    };
    // Debian's is built on its default MPI.
    let mpi = Mpi::OpenMpi;
    let (mut ran, mut as_published, mut lines) = (0, 0, 0);
    for (program, tool) in PROGRAMS {
        let source = examples.join(program);
        let stem = source.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&source).expect("source of an example");
        let scratch = Scratch::new();
        let (bare, linked) = (scratch.sub("bare"), scratch.sub("linked"));
        for (dir, switch) in [(&bare, "off"), (&linked, "on")] {
            let mut build = mpi.driver(Site::shared(), &scratch, tool);
            // Fortran leaves files of modules where it runs.
            build.current_dir(dir).env("TOPAS", switch).arg(&source).arg("-o").arg(dir.join(stem));
            build.args((tool == "mpifort").then_some("-ffree-line-length-none"));
            run(build.args(&flags).arg("-lm")).good();
        }
        let tests = tests(&text, stem);
        assert!(!tests.is_empty(), "{program} has no simple test");
        for test in tests {
            let launch = |dir: &Path| {
                let mut launch = mpi.launch(Site::shared(), &scratch, test.ranks);
                launch.arg(format!("./{stem}")).args(&test.args).current_dir(dir);
                launched(&scratch, launch.env("OPENBLAS_NUM_THREADS", "1"))
            };
            let (without, with) = (launch(&bare), launch(&linked));
            let case = format!("{program} with {} ranks {:?}", test.ranks, test.args);
            assert_eq!(with.code(), without.code(), "{case}: {}", with.err());
            assert_eq!(with.out(), without.out(), "{case}");
            assert_eq!(with.err(), without.err(), "{case}");
            let published = fs::read_to_string(source.with_file_name(&test.output));
            as_published += usize::from(published.is_ok_and(|text| text == with.out()));
            // One process alone is no parallel program.
            let measured = scratch.take_log();
            let expected = if test.ranks == 1 { 0 } else { 2 };
            assert_eq!(measured.len(), expected, "{case}: lines");
            assert!(measured.iter().all(|line| line.extra("end") == "exit:0"), "{case}");
            lines += measured.len();
            ran += 1;
        }
    }
    // The rest differ from what PETSc publishes with and without the module alike: digits
    // of another BLAS.
    assert!(ran >= 40 && as_published * 2 > ran, "{as_published} of {ran} as published");
    note(name, &format!("{ran} tests, {as_published} of them as published; {lines} lines"));
}
