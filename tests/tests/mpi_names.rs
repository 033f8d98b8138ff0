//! MPI profile: a name of a function looks absent where it is absent. Every name of the table,
//! asked for in every way, gives null with the library exactly where it does without; what asks
//! before it calls is answered as without, and profiled.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use topas_mpi_table::{Binding, Mangling, functions};
use topas_tests::build::source;
use topas_tests::expected::Expected;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, alike, library};
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// Ways to ask for a name: a weak reference, the whole program, what comes next, a library, the
/// program as a library, a version. One letter each, capital where the answer is an address.
const ASKS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static int how(const char *name, void *weak, void *library, void *program)
{
    return printf("%s %c%c%c%c%c%c\n", name, weak ? 'W' : 'w', dlsym(RTLD_DEFAULT, name) ? 'D' : 'd',
                  dlsym(RTLD_NEXT, name) ? 'N' : 'n', library && dlsym(library, name) ? 'L' : 'l',
                  dlsym(program, name) ? 'P' : 'p', dlvsym(RTLD_DEFAULT, name, "NONE") ? 'V' : 'v');
}
int ask(const char *path)
{
    void *program = dlopen(NULL, RTLD_LAZY), *library;
    // Before there is an MPI, where the program has none.
    for (int i = 0; names[i].name; i++) how(names[i].name, names[i].weak, NULL, program);
    library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    for (int i = 0; names[i].name; i++) how(names[i].name, names[i].weak, library, program);
    return library == NULL;
}
"#;

/// All names by which functions may be called, and some that there are nowhere.
fn names() -> Vec<String> {
    let mut all = vec!["MPI_Nothing".to_owned(), "PMPI_Nothing_c".to_owned(), "mpi_no_".to_owned()];
    for function in functions() {
        for binding in [
            Binding::C,
            Binding::LargeC,
            Binding::Fortran(Mangling::Underscore),
            Binding::CPointer(Mangling::Underscore),
            Binding::F08,
            Binding::F08Descriptor,
            Binding::LargeF08,
            Binding::LargeF08Descriptor,
            Binding::MpichF08,
            Binding::MpichF08Descriptor,
        ] {
            all.push(function.symbol(binding).to_string());
            all.push(function.profiling_symbol(binding).to_string());
        }
    }
    all.sort();
    all.dedup();
    all
}

/// The source of a program, and of a library of its own that asks, too.
fn asking() -> String {
    let mut text = String::new();
    let names = names();
    for name in &names {
        writeln!(text, "extern void {name}(void) __attribute__((weak));").unwrap();
    }
    text += "static const struct { const char *name; void *weak; } names[] = {\n";
    for name in &names {
        writeln!(text, "{{\"{name}\", {name}}},").unwrap();
    }
    text += "{0, 0}};\n";
    text += ASKS;
    text += "#ifndef PLUGIN\nint main(int argc, char **argv)\n{\n    int (*asks)(const char *);\n    \
             void *plugin = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;\n    \
             if (plugin == NULL) return ask(argv[1]);\n    \
             *(void **)&asks = dlsym(plugin, \"ask\");\n    return asks(argv[1]);\n}\n#endif\n";
    text
}

#[test]
fn every_name_is_answered_as_without() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    fs::write(path("asks.c"), asking()).unwrap();
    let compiled = |tool: &Path, options: &[&str], to: &str| -> PathBuf {
        let mut cc = command(tool);
        cc.args(["-w", "-DASKS"]).arg(path("asks.c")).args(options).arg("-o").arg(path(to));
        run(cc.arg("-ldl")).good();
        path(to)
    };
    let bare = compiled(Path::new("gcc"), &[], "bare");
    for mpi in Mpi::installed("every name") {
        // With Fortran's libraries, whose names are as many.
        let compiler = mpi.real("mpifort").unwrap();
        let program = compiled(&compiler, &["-Wl,--no-as-needed"], "program");
        let fixed = compiled(&compiler, &["-Wl,--no-as-needed", "-no-pie", "-fPIC"], "fixed");
        let plugin = ["-Wl,--no-as-needed", "-fPIC", "-shared", "-DPLUGIN"];
        let plugin = compiled(&compiler, &plugin, "plugin.so");
        let library_of_mpi = match mpi {
            Mpi::OpenMpi => "libmpi.so.40",
            Mpi::Mpich => "libmpich.so.12",
        };
        for (program, words) in
            [(&program, &[][..]), (&fixed, &[]), (&bare, &[]), (&bare, &[plugin.as_os_str()])]
        {
            let ask = |preload: Option<PathBuf>| {
                let mut asks = scratch.command(program);
                asks.envs(preload.map(|library| ("LD_PRELOAD", library)));
                run(asks.arg(library_of_mpi).args(words)).good().out()
            };
            let (without, with) = (ask(None), ask(Some(library(Site::shared()))));
            assert!(without.lines().any(|line| line.contains('L')), "{without}");
            let case = format!("{} {} {words:?}", mpi.name(), program.display());
            for (without, with) in without.lines().zip(with.lines()) {
                assert_eq!(with, without, "{case}");
            }
            assert_eq!(without.lines().count(), with.lines().count(), "{case}");
        }
    }
}

/// Opens and closes libraries by chance, and asks for all names after each step.
const COMES_AND_GOES: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    unsigned long state = strtoul(argv[1], NULL, 10);
    int libraries = atoi(argv[2]), names = argc - 3 - libraries;
    void *open[64] = {0};
    for (int step = 0; step < 200; step++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        int i = (state >> 33) % libraries;
        if (open[i]) {
            dlclose(open[i]);
            open[i] = NULL;
        } else {
            open[i] = dlopen(argv[3 + i], RTLD_NOW | (state >> 60 & 1 ? RTLD_GLOBAL : RTLD_LOCAL));
        }
        // Who asks for a name keeps the library that has it, so a child asks.
        fflush(stdout);
        if (fork() == 0) {
            printf("%d %c", i, open[i] ? 'o' : 'c');
            for (int n = 0; n < names; n++) {
                const char *name = argv[3 + libraries + n];
                putchar(dlsym(RTLD_DEFAULT, name) ? 'D' : '.');
                if (open[i]) putchar(dlsym(open[i], name) ? 'L' : '.');
            }
            putchar('\n');
            exit(fflush(stdout));
        }
        wait(NULL);
    }
    return 0;
}
"#;

/// Libraries that define names come and go, in any order and number, and so do others.
#[test]
fn names_are_answered_as_without_while_libraries_come_and_go() {
    const LIBRARIES: usize = 24;
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    let names: Vec<String> = functions()
        .step_by(7)
        .take(20)
        .map(|function| function.symbol(Binding::C).to_string())
        .collect();
    let mut libraries = Vec::new();
    for i in 0..LIBRARIES {
        // Some define a name of their own, some one that others have, too, and some none.
        let mut text = format!("int of_library_{i};\n");
        for name in names.get(i).into_iter().chain(i.checked_sub(18).map(|i| &names[i])) {
            writeln!(text, "int {name}(void) {{ return {i}; }}").unwrap();
        }
        let (file, to) = (path(&format!("l{i}.c")), path(&format!("l{i}.so")));
        fs::write(&file, text).unwrap();
        run(command("gcc").args(["-w", "-shared", "-fPIC", "-o"]).args([&to, &file])).good();
        libraries.push(to);
    }
    fs::write(path("goes.c"), COMES_AND_GOES).unwrap();
    let program = path("goes");
    run(command("gcc").arg(path("goes.c")).arg("-o").arg(&program).arg("-ldl")).good();
    for seed in ["1", "2", "3"] {
        let ask = |preload: Option<PathBuf>| {
            let mut asks = scratch.command(&program);
            asks.envs(preload.map(|library| ("LD_PRELOAD", library)));
            asks.args([seed, &LIBRARIES.to_string()]).args(&libraries).args(&names);
            run(&mut asks).good().out()
        };
        let (without, with) = (ask(None), ask(Some(library(Site::shared()))));
        assert!(without.contains('D') && without.contains('L') && without.contains('c'));
        for (step, (without, with)) in without.lines().zip(with.lines()).enumerate() {
            assert_eq!(with, without, "seed {seed}, step {step}");
        }
        assert_eq!(without.lines().count(), with.lines().count());
    }
}

/// What is found by a library's handle is counted, too.
#[test]
fn a_program_that_opens_mpi_itself_is_profiled() {
    let text = fs::read_to_string(source("faults/opens.c")).unwrap();
    let expected = Expected::read(&text).unwrap();
    for mpi in Mpi::installed("opens MPI itself") {
        let scratch = Scratch::new();
        let program = scratch.path().join("opens");
        let mut gcc = command("gcc");
        run(gcc.arg("-w").arg(source("faults/opens.c")).arg("-o").arg(&program).arg("-ldl")).good();
        let opened = match mpi {
            Mpi::OpenMpi => "libmpi.so.40",
            Mpi::Mpich => "libmpich.so.12",
        };
        for words in [&[opened, "local"][..], &[opened]] {
            let places = Places::new(&scratch);
            places.clear();
            let mut launch = mpi.launch_bare(&scratch, 2);
            launch.args(places.words(&[&library(Site::shared())])).arg(&program).args(words);
            let ended = launched(&scratch, launch.current_dir(scratch.path())).good();
            let faults = expected.faults(&places.counted(), &ended.out());
            assert_eq!(faults, "", "{} {words:?}", mpi.name());
        }
    }
}

/// mpi4py of PyPI asks for a function of the standard ABI before it decides which MPI it has.
#[test]
#[ignore = "cargo xtask test --projects"]
fn a_wheel_of_mpi4py_finds_its_mpi() {
    let test = "a_wheel_of_mpi4py_finds_its_mpi";
    if !have("python3") {
        return skip(test, "no python3 on this machine");
    }
    const CODE: &str = "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(3))";
    let scratch = Scratch::new();
    let python = scratch.path().join("venv/bin/python");
    run(command("python3").args(["-m", "venv"]).arg(scratch.path().join("venv"))).good();
    run(command(&python).args(["-m", "pip", "install", "-q", "mpi4py==4.1.*"])).good();
    // Debian's MPICH has another name.
    let links = scratch.sub("links");
    let mpich = Path::new("/usr/lib/x86_64-linux-gnu/libmpich.so.12");
    std::os::unix::fs::symlink(mpich, links.join("libmpi.so.12")).unwrap();
    for mpi in Mpi::installed(test) {
        for abi in [None, Some(mpi.name())] {
            let places = Places::new(&scratch);
            places.clear();
            let ends = |words: Vec<String>| {
                let mut launch = mpi.launch_bare(&scratch, 2);
                launch.arg("env").args(abi.map(|abi| format!("MPI4PY_MPIABI={abi}")));
                if mpi == Mpi::Mpich {
                    launch.arg(format!("LD_LIBRARY_PATH={}", links.display()));
                    launch.arg(format!("MPI4PY_LIBMPI={}", mpich.display()));
                }
                launch.args(words).arg(&python).args(["-c", CODE]).current_dir(scratch.path());
                launched(&scratch, &mut launch).good()
            };
            let without = ends(Vec::new());
            assert_eq!(without.out(), "6\n6\n");
            alike(&without, &ends(places.words(&[&library(Site::shared())])));
            let counted = places.counted();
            assert_eq!(counted.len(), 2, "{} {abi:?}: ranks that were profiled", mpi.name());
            assert!(counted[0].routine("Allreduce").calls + counted[0].routine("Send").calls > 0);
        }
    }
}
