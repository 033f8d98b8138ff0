//! Build systems that ask the driver, or use it as it is: what they build is measured, and
//! nothing about them changes but PATH. Slower ones are in `build_systems_more.rs`.

use std::process::Command;

use topas_format::field::Lang;
use topas_tests::mpi_installation::Mpi;
use topas_tests::project::Project;
use topas_tests::running::run;

const HELLO: [&str; 3] = ["c/hello.c", "cxx/hello.cc", "f90/hello.f90"];
const LAST: &str = "hello from rank 3 of 4";

#[test]
fn cmake_finds_mpi() {
    for mpi in Mpi::installed_with("cmake_finds_mpi", &["cmake"]) {
        let libraries = ["library/part_with_mpi.c", "library/uses_part_with_mpi.c"];
        let project = Project::new(mpi, "cmake", &[&HELLO[..], &libraries].concat());
        project.build(&[], "cmake -S . -B build && cmake --build build --parallel 2");
        project.measured("build/hello_c", Lang::C, LAST);
        project.measured("build/hello_cxx", Lang::Cxx, LAST);
        project.measured("build/hello_fortran", Lang::F90, LAST);

        // Both have a module, and each rank measures once.
        assert!(project.has_module("build/libpart.so"), "{}", mpi.name());
        assert!(project.has_module("build/uses_part"), "{}", mpi.name());
        project.measured("build/uses_part", Lang::C, "");
        // The library alone has one, and comes with the program.
        assert!(project.has_module("build/libhidden.so"), "{}", mpi.name());
        assert!(!project.has_module("build/uses_hidden"), "{}", mpi.name());
        project.measured("build/uses_hidden", Lang::C, "");
    }
}

#[test]
fn a_makefile_asks_for_flags() {
    for mpi in Mpi::installed_with("a_makefile_asks_for_flags", &["make"]) {
        let questions: &[(&str, &str)] = match mpi {
            Mpi::OpenMpi => &[("-showme:compile", "-showme:link"), ("-showme", "-showme")],
            Mpi::Mpich => &[("-show", "-show"), ("-compile_info", "-link_info")],
        };
        for (compile, link) in questions {
            let project = Project::new(mpi, "makefile", &HELLO);
            let script = format!("make ASK_COMPILE='{compile}' ASK_LINK='{link}'");
            project.build(&[], &script);
            project.measured("./hello_c", Lang::C, LAST);
            project.measured("./hello_cxx", Lang::Cxx, LAST);
            project.measured("./hello_fortran", Lang::F90, LAST);
        }
    }
}

#[test]
fn meson_asks_the_driver() {
    for mpi in Mpi::installed_with("meson_asks_the_driver", &["meson", "ninja"]) {
        // Meson asks Open MPI's driver only, and only where pkg-config knows no MPI.
        if mpi == Mpi::OpenMpi {
            let project = Project::new(mpi, "meson", &HELLO);
            let no_packages = [("PKG_CONFIG_LIBDIR", "none"), ("CC", "gcc"), ("CXX", "g++")];
            project.build(&no_packages, "meson setup build && ninja -C build");
            project.measured("build/hello_c", Lang::C, LAST);
            project.measured("build/hello_cpp", Lang::Cxx, LAST);
        }
        let project = Project::new(mpi, "meson", &HELLO);
        let drivers = [("CC", "mpicc"), ("CXX", "mpicxx")];
        project.build(&drivers, "meson setup build -Dpackage=none && ninja -C build");
        project.measured("build/hello_c", Lang::C, LAST);
        project.measured("build/hello_cpp", Lang::Cxx, LAST);
    }
}

#[test]
fn autotools_with_the_drivers_as_compilers() {
    let needed = ["make", "autoreconf", "automake"];
    for mpi in Mpi::installed_with("autotools_with_the_drivers_as_compilers", &needed) {
        let project = Project::new(mpi, "autotools", &["f90/hello.f90"]);
        project.build(&[], "autoreconf --install && mkdir build");
        let drivers = [("CC", "mpicc"), ("FC", "mpifort")];
        project.build(&drivers, "cd build && ../configure && make");
        // What configure asked the Fortran compiler for does not name the module.
        project.build(&[], "! grep '^FCLIBS=.*topas' build/Makefile");
        project.measured("build/mixed", Lang::C, "rank 3 and 1 is 4");
        project.measured("build/hello_fortran", Lang::F90, LAST);
    }
}

/// Questions whose answer is that of the real driver, byte for byte: those on compiling, on
/// what it is, and on the compiler behind it.
const COMPILE_QUESTIONS: [&str; 16] = [
    "-show -c hello.c",
    "-c -show hello.c -O2",
    "-show -E hello.c",
    "-show -S hello.c",
    "-show -M hello.c",
    "-v",
    "--version",
    "-dumpversion",
    "-dumpmachine",
    "-print-search-dirs",
    "-print-prog-name=ld",
    "-### -c hello.c",
    "-v -c hello.c",
    "-E -v hello.c",
    "--help",
    "-fsyntax-only hello.c",
];

const OF_OPEN_MPI: [&str; 10] = [
    "-showme:compile",
    "--showme:compile",
    "-showme:incdirs",
    "-showme:libdirs",
    "-showme:libs",
    "-showme:command",
    "-showme:version",
    "-showme:help",
    "-showme -c hello.c",
    "--showme -c hello.c",
];

const OF_MPICH: [&str; 6] = [
    "-compile_info",
    "-compile-info",
    "-show-compile-info",
    "-compile_info -c",
    "-show -c -cc=clang hello.c",
    "-help",
];

#[test]
fn answers_on_compiling_are_the_real_drivers() {
    let test = "answers_on_compiling_are_the_real_drivers";
    for mpi in Mpi::installed_with(test, &[]) {
        let project = Project::new(mpi, "python", &["c/hello.c"]);
        let own: &[&str] = match mpi {
            Mpi::OpenMpi => &OF_OPEN_MPI,
            Mpi::Mpich => &OF_MPICH,
        };
        for driver in ["mpicc", "mpicxx", "mpifort"] {
            // All of them with one driver, those of each MPI with all.
            let all = if driver == "mpicc" { &COMPILE_QUESTIONS[..] } else { &[] };
            for question in all.iter().chain(own) {
                let answer = |mut asked: Command| {
                    let answered = run(asked.args(question.split_whitespace()));
                    (answered.code(), masked(&answered.out()), masked(&answered.err()))
                };
                let case = format!("{driver} {question} of {}", mpi.name());
                // A driver that says how it was called says its path: it is told that.
                let real = answer(project.bare_tool(&project.path_of(driver)));
                assert!(!(real.1.is_empty() && real.2.is_empty() && real.0 != 0), "{case}");
                assert_eq!(answer(project.tool(driver)), real, "{case}");
            }
        }
    }
}

/// Without the random part of the names of temporary files.
fn masked(text: &str) -> String {
    let mut parts = text.split("/tmp/cc");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |masked, part| {
        let random = part.bytes().take_while(u8::is_ascii_alphanumeric).count();
        masked + "/tmp/cc" + &part[random..]
    })
}
