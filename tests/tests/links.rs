//! Ways to link: linkers, link-time optimization, static executables, stripped ones, other
//! compilers. Each links and measures, and two links of the same inputs are identical.

use std::fs;
use std::path::Path;
use std::process::Command;

use topas_format::field::{Lang, Lib};
use topas_tests::build::{by_driver, source, with_module};
use topas_tests::mpi_installation::{Mpi, emulate_rank, launched};
use topas_tests::running::{Run, command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::{note, skip};

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// Linkers by the word gcc knows them by, with their programs.
const LINKERS: [(&str, &str); 4] =
    [("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "mold")];

/// Options of links that every linker takes.
const WAYS: [&str; 12] = [
    "",
    "-O2 -flto",
    "-s",
    "-no-pie",
    "-pie -fPIE",
    "-Wl,--gc-sections -ffunction-sections -fdata-sections",
    "-Wl,-z,now",
    "-Wl,--as-needed",
    "-Wl,-z,noexecstack -Wl,-z,relro",
    "-Wl,--hash-style=gnu -Wl,--build-id=none",
    "-g3 -O0 -rdynamic",
    "-Wl,--fatal-warnings",
];

/// Runs a program of 3 ranks; two lines must come of it.
#[track_caller]
fn measures(mpi: Mpi, scratch: &Scratch, program: &Path, lang: Lang, case: &str) {
    let launched = launched(scratch, mpi.launch(Site::shared(), scratch, 3).arg(program));
    assert_eq!(launched.code(), 0, "{case}:\n{}", launched.err());
    let lines = scratch.take_log();
    assert_eq!(lines.len(), 2, "{case}: lines");
    for line in lines {
        assert_eq!((line.lang, line.lib), (lang, Lib::Mpi), "{case}: {}", line.text);
        assert_eq!(line.extra("end"), "exit:0", "{case}: {}", line.text);
    }
}

/// Links with the module. `None` if the same fails without, with the reason printed.
fn linked(link: impl Fn() -> Command, case: &str) -> Option<Run> {
    let with = run(&mut link());
    if with.code() == 0 {
        return Some(with);
    }
    let without = run(link().env("TOPAS", "off"));
    let reason = without.err().lines().next().unwrap_or_default().to_owned();
    assert_ne!(without.code(), 0, "{case}: links without the module only:\n{}", with.err());
    note(case, &format!("fails without the module, too: {reason}"));
    None
}

#[test]
fn options_and_linkers() {
    let site = Site::shared();
    for mpi in Mpi::installed("options_and_linkers") {
        let mut ran = 0;
        let linkers = LINKERS.iter().flat_map(|(word, program)| {
            let ways: &[&str] = if *word == "bfd" { &WAYS } else { &WAYS[..9] };
            ways.iter().map(move |way| (*word, *program, *way))
        });
        for (_, (word, program, way)) in linkers.enumerate().filter(|(i, _)| mpi.takes(*i)) {
            let case = format!("{} {word} {way}", mpi.name());
            if !have(program) {
                if way.is_empty() {
                    skip(&case, &format!("no {program} on this machine"));
                }
                continue;
            }
            let scratch = Scratch::new();
            let output = scratch.path().join("hello");
            let link = || {
                let mut link = by_driver(site, &scratch, mpi, "mpicc", "c/hello.c", &output);
                link.arg(format!("-fuse-ld={word}")).args(way.split_whitespace());
                link
            };
            if let Some(run) = linked(link, &case) {
                assert_eq!(run.err(), "", "{case}: what the link says");
                measures(mpi, &scratch, &output, Lang::C, &case);
                ran += 1;
            }
        }
        assert!(ran >= WAYS.len(), "{}: only {ran} links ran", mpi.name());
    }
}

#[test]
fn clang_behind_the_drivers() {
    if !have("clang") {
        return skip("clang_behind_the_drivers", "no clang on this machine");
    }
    let site = Site::shared();
    for mpi in Mpi::installed("clang_behind_the_drivers") {
        for way in ["", "-O2", "-fuse-ld=lld -flto", "-fuse-ld=lld", "-s"] {
            let case = format!("{} clang {way}", mpi.name());
            let scratch = Scratch::new();
            let output = scratch.path().join("hello");
            let link = || {
                let mut link = by_driver(site, &scratch, mpi, "mpicc", "c/hello.c", &output);
                link.env("OMPI_CC", "clang").env("MPICH_CC", "clang");
                link.args(way.split_whitespace());
                link
            };
            if linked(link, &case).is_some() {
                let maker = run(command("readelf").args(["-p", ".comment"]).arg(&output)).out();
                assert!(maker.contains("clang"), "{case}: not by clang: {maker}");
                measures(mpi, &scratch, &output, Lang::C, &case);
            }
        }
    }
}

/// Compile and link in two steps, as build systems do, and with objects of two languages.
#[test]
fn in_two_steps() {
    let site = Site::shared();
    for mpi in Mpi::installed("in_two_steps") {
        for (tool, name, lang) in [
            ("mpicc", "c/hello.c", Lang::C),
            ("mpicxx", "cxx/hello.cc", Lang::Cxx),
            ("mpif77", "f77/hello.f", Lang::F77),
            ("mpif90", "f90/hello.f90", Lang::F90),
        ] {
            let scratch = Scratch::new();
            let object = scratch.path().join("part.o");
            let mut compile = by_driver(site, &scratch, mpi, tool, name, &object);
            run(compile.arg("-c")).good();
            let symbols = run(command("nm").arg(&object)).good().out();
            assert!(!symbols.contains("topas"), "{tool} -c adds to an object:\n{symbols}");
            let output = scratch.path().join("hello");
            let mut link = mpi.driver(site, &scratch, tool);
            run(link.arg(&object).arg("-o").arg(&output)).good();
            measures(mpi, &scratch, &output, lang, &format!("{} {tool}", mpi.name()));
        }
    }
}

#[test]
fn two_links_are_identical() {
    let site = Site::shared();
    for mpi in Mpi::installed("two_links_are_identical") {
        for (place, (tool, name)) in [
            ("mpicc", "c/hello.c"),
            ("mpicxx", "cxx/hello.cc"),
            ("mpif77", "f77/hello.f"),
            ("mpif90", "f90/hello.f90"),
        ]
        .into_iter()
        .enumerate()
        {
            let scratch = Scratch::new();
            let object = scratch.path().join("part.o");
            run(by_driver(site, &scratch, mpi, tool, name, &object).arg("-c")).good();
            let ways = ["", "-s", "-fuse-ld=lld", "-fuse-ld=gold", "-fuse-ld=mold", "-O2 -flto"];
            let ways = ways.into_iter().enumerate().filter(|(way, _)| mpi.takes(place + way));
            for (_, way) in ways {
                let case = format!("{} {tool} {way}", mpi.name());
                let executable = |dir: &str, switch: &str| {
                    let output = scratch.sub(dir).join("program");
                    let mut link = mpi.driver(site, &scratch, tool);
                    link.env("TOPAS", switch).arg(&object).args(way.split_whitespace());
                    let run = run(link.arg("-o").arg(&output));
                    (run.code() == 0).then(|| fs::read(&output).expect("executable"))
                };
                let (Some(first), Some(off)) = (executable("a", "on"), executable("c", "off"))
                else {
                    skip(&case, "does not link here");
                    continue;
                };
                assert!(executable("b", "on").as_ref() == Some(&first), "{case}: links differ");
                assert!(first != off, "{case}: holds no module");
            }
        }
    }
}

/// A rank without a launcher, of a program without MPI that was linked by hand.
#[track_caller]
fn alone(scratch: &Scratch, program: &Path, case: &str) -> topas_tests::record::Record {
    let mut rank = scratch.command(program);
    rank.env("TOPAS_PE", "1,2");
    emulate_rank(&mut rank, 1, 4, KEY);
    let ended = run(&mut rank);
    assert_eq!((ended.code(), ended.out().as_str()), (0, "no MPI here\n"), "{case}");
    let mut lines = scratch.take_log();
    assert_eq!(lines.len(), 1, "{case}: lines");
    lines.remove(0)
}

#[test]
fn static_executables_and_modules_by_hand() {
    let site = Site::shared();
    let module = with_module(site, "c");
    let [f90, cxx] = ["f90", "cxx"].map(|language| with_module(site, language));
    let init = module.replace("topas.c.o", "topas.c.init.o");
    for (compiler, words) in [
        ("gcc", format!("-static {module}")),
        ("gcc", format!("-static-pie {module}")),
        ("gcc", format!("-static -s {module}")),
        ("gcc", format!("-static -O2 -flto {module}")),
        ("gcc", format!("-static -Wl,--gc-sections {module}")),
        ("gcc", format!("-static -fuse-ld=gold {module}")),
        ("gcc", format!("-static -fuse-ld=lld {module}")),
        ("gcc", format!("-static -fuse-ld=mold {module}")),
        ("clang", format!("-static {module}")),
        ("musl-gcc", module.clone()),
        ("musl-gcc", format!("-static {module}")),
        // Twice the same, two languages, and the variant for shared libraries.
        ("gcc", format!("{module} {module}")),
        ("gcc", format!("-static {module} {module}")),
        ("gcc", format!("{module} {f90} {cxx}")),
        ("gcc", init.clone()),
        ("gcc", format!("{module} {init}")),
    ] {
        // Of several languages that meet in a link without a trace of any the most demanding.
        let lang = if words.contains(&f90) { Lang::F90 } else { Lang::C };
        let words_shown = words.replace(&site.module("c").display().to_string(), "MODULE");
        let case = format!("{compiler} {words_shown}");
        if !have(compiler) {
            skip(&case, &format!("no {compiler} on this machine"));
            continue;
        }
        let scratch = Scratch::new();
        let output = scratch.path().join("program");
        let link = |words: &str| {
            let mut link = command(compiler);
            link.arg(source("c/no_mpi.c")).arg("-o").arg(&output).args(words.split_whitespace());
            run(&mut link)
        };
        let with = link(&words);
        if with.code() != 0 {
            let bare: Vec<_> = words.split(' ').filter(|word| !word.contains("topas.")).collect();
            let bare = link(&bare.join(" "));
            assert_ne!(bare.code(), 0, "{case}: links without the module only:\n{}", with.err());
            skip(&case, bare.err().lines().next().unwrap_or_default());
            continue;
        }
        let line = alone(&scratch, &output, &case);
        assert_eq!((line.lang, line.lib), (lang, Lib::None), "{case}: {}", line.text);
        // musl does not tell an exit handler the status.
        let end = if compiler == "musl-gcc" { "" } else { "exit:0" };
        assert_eq!(line.extra("end"), end, "{case}: {}", line.text);
    }
}

/// A shared library may hold the module too, where a build system put it there.
#[test]
fn a_shared_library_with_the_module() {
    let site = Site::shared();
    let scratch = Scratch::new();
    let init = with_module(site, "c").replace("topas.c.o", "topas.c.init.o");
    let library = scratch.path().join("libpart.so");
    let mut shared = command("gcc");
    shared.args(["-shared", "-fPIC", &init]).arg(source("c/part.c")).arg("-o").arg(&library);
    run(&mut shared).good();
    for (case, module) in [("library and program", true), ("library alone", false)] {
        let output = scratch.path().join("program");
        let mut link = command("gcc");
        link.arg(source("c/uses_part.c")).arg(&library).arg("-o").arg(&output);
        link.arg(format!("-Wl,-rpath,{}", scratch.path().display()));
        if module {
            link.arg(with_module(site, "c"));
        }
        run(&mut link).good();
        let line = alone(&scratch, &output, case);
        assert_eq!(line.exe, b"program", "{case}");
    }
}

/// A plugin that got the module by a build system's flags is no measurement of its own, and
/// may be unloaded: it must not end its program, nor give a second line.
#[test]
fn a_plugin_with_the_module() {
    let site = Site::shared();
    let scratch = Scratch::new();
    let init = with_module(site, "c").replace("topas.c.o", "topas.c.init.o");
    let (source_file, plugin) = (scratch.path().join("plugin.c"), scratch.path().join("plugin.so"));
    let main = scratch.path().join("main.c");
    std::fs::write(&source_file, "int part(void) { return 1; }\n").unwrap();
    std::fs::write(
        &main,
        "#include <dlfcn.h>\n#include <stdio.h>\nint main(void) {\n\
         void *p = dlopen(PLUGIN, RTLD_NOW);\nputs(\"no MPI here\");\n\
         return p ? dlclose(p) : 1; }\n",
    )
    .unwrap();
    for linker in ["bfd", "gold", "lld", "mold"] {
        let linker = format!("-fuse-ld={linker}");
        let mut shared = command("gcc");
        shared.args(["-shared", "-fPIC", &linker, &init]).arg(&source_file).arg("-o").arg(&plugin);
        let shared = run(&mut shared);
        if shared.code() != 0 {
            skip(&linker, shared.err().lines().next().unwrap_or_default());
            continue;
        }
        let output = scratch.path().join("program");
        let mut link = command("gcc");
        link.arg(format!("-DPLUGIN=\"{}\"", plugin.display())).arg(&main).arg("-o").arg(&output);
        run(link.arg(with_module(site, "c"))).good();
        let line = alone(&scratch, &output, &linker);
        assert_eq!(line.extra("end"), "exit:0", "{linker}: {}", line.text);
    }
}
