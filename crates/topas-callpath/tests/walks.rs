//! Walks compared with those of glibc in real programs, which are built without frame pointers.
#![cfg(target_arch = "x86_64")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory of this test's libraries, which Cargo has built with it.
fn examples() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().unwrap().parent().unwrap().join("examples")
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// A directory of one test, new.
fn scratch(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("walks-{test}"));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn run(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?}: {text}{errors}");
    text + &errors
}

/// Builds a program of these sources with the walker.
fn build(dir: &Path, compiler: &str, options: &[&str], sources: &[&str]) -> PathBuf {
    let check = dir.join("check.o");
    run(Command::new("gcc")
        .args(["-O2", "-fomit-frame-pointer", "-c", "-o"])
        .arg(&check)
        .arg(program("check.c")));
    let exe = dir.join("a.out");
    let mut link = Command::new(compiler);
    link.args(options).arg("-fomit-frame-pointer").args(sources.iter().map(|name| program(name)));
    link.arg(&check).arg("-o").arg(&exe).current_dir(dir);
    if options.contains(&"-static") {
        link.arg(examples().join("libwalker.a"));
    } else {
        link.arg("-L")
            .arg(examples())
            .arg("-lwalker")
            .arg(format!("-Wl,-rpath,{}", examples().display()));
    }
    run(link.args(["-lpthread", "-ldl", "-lm"]));
    exe
}

/// Walks, those that differ, those that were cut. There are trails of walks, too.
fn walks(exe: &Path, arguments: &[PathBuf]) -> [u64; 3] {
    let [walks, differ, cut, trails] = told(&run(Command::new(exe).args(arguments)));
    // The programs hardly ever walk from one place twice in turn.
    assert!(trails > 20, "{trails} trails of {walks} walks");
    [walks, differ, cut]
}

/// The same, of what such a program has printed.
fn told(text: &str) -> [u64; 4] {
    let line =
        text.lines().find(|line| line.starts_with("walks ")).unwrap_or_else(|| panic!("{text}"));
    let mut numbers = line.split(' ').filter_map(|word| word.parse().ok());
    let counts = std::array::from_fn(|_| numbers.next().unwrap());
    assert_eq!(counts[1], 0, "{text}");
    eprintln!("{line}");
    counts
}

#[test]
fn walks_of_c_are_those_of_glibc() {
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        let exe = build(&scratch(&format!("c{level}")), "gcc", &[level], &["frames.c"]);
        let [walks, _, cut] = walks(&exe, &[]);
        assert!(walks > 2000, "{walks}");
        assert_eq!(cut, 0, "{level}");
    }
}

#[test]
fn frames_that_align_the_stack_are_followed() {
    let exe = build(&scratch("avx"), "gcc", &["-O2", "-mavx"], &["frames.c"]);
    assert_eq!(walks(&exe, &[])[2], 0);
}

#[test]
fn walks_of_c_plus_plus_are_those_of_glibc() {
    for level in ["-O0", "-O2"] {
        let exe = build(&scratch(&format!("cxx{level}")), "g++", &[level], &["objects.cc"]);
        let [walks, _, cut] = walks(&exe, &[]);
        assert!(walks > 2000, "{walks}");
        assert_eq!(cut, 0, "{level}");
    }
}

#[test]
fn walks_of_fortran_are_those_of_glibc() {
    for level in ["-O0", "-O3"] {
        let exe = build(&scratch(&format!("f{level}")), "gfortran", &[level], &["arrays.f90"]);
        let [walks, _, cut] = walks(&exe, &[]);
        assert!(walks > 1000, "{walks}");
        assert_eq!(cut, 0, "{level}");
    }
}

#[test]
fn rules_of_unloaded_libraries_are_forgotten() {
    let dir = scratch("loads");
    let exe = build(&dir, "gcc", &["-O2", "-rdynamic"], &["loads.c"]);
    // The same code at the same place, but for the size of a frame.
    let parts = ["40", "216"].map(|size| {
        let part = dir.join(format!("part{size}.so"));
        run(Command::new("gcc")
            .args(["-O2", "-fomit-frame-pointer", "-shared", "-fPIC", &format!("-DSIZE={size}")])
            .arg("-o")
            .arg(&part)
            .arg(program("part.c")));
        part
    });
    let [walks, _, cut] = walks(&exe, &parts);
    assert!(walks > 300 && cut == 0, "{walks} {cut}");
}

#[test]
fn static_programs_are_walked_if_they_have_the_table() {
    for options in [&["-O2", "-static", "-Wl,--eh-frame-hdr"][..], &["-O2", "-static"]] {
        let exe =
            build(&scratch(&format!("static{}", options.len())), "gcc", options, &["frames.c"]);
        assert!(walks(&exe, &[])[0] > 2000);
    }
}

/// On AArch64 frame records are followed, which compilers write there unless they are told not to.
#[test]
#[ignore = "cargo xtask test --arm64"]
fn walks_on_aarch64_are_those_of_glibc() {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    const COMPILER: &str = "aarch64-linux-gnu-gcc";
    let dir = scratch("aarch64");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet", "--example", "walker"]);
    cargo.args(["--target", TARGET, "--target-dir"]).arg(&dir);
    run(cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", COMPILER));
    let examples = dir.join(TARGET).join("debug/examples");
    let check = dir.join("check.o");
    run(Command::new(COMPILER).args(["-O2", "-c", "-o"]).arg(&check).arg(program("check.c")));
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        let exe = dir.join("a.out");
        let mut link = Command::new(COMPILER);
        link.arg(level).arg(program("frames.c")).arg(&check).arg("-o").arg(&exe);
        link.arg("-L").arg(&examples).args(["-lwalker", "-lpthread", "-ldl", "-lm"]);
        run(link.arg(format!("-Wl,-rpath,{}", examples.display())));
        let mut qemu = Command::new("qemu-aarch64-static");
        let [walks, _, cut, trails] =
            told(&run(qemu.args(["-L", "/usr/aarch64-linux-gnu"]).arg(&exe)));
        assert!(walks > 2000 && cut == 0 && trails > 20, "{level}: {walks} {cut} {trails}");
    }
}
