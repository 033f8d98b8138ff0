//! Slower or rarer build systems, and other compilers behind the drivers. Ignored
//! unless asked for.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use topas_format::field::Lang;
use topas_tests::mpi_installation::Mpi;
use topas_tests::project::{Project, has_module};
use topas_tests::running::run;
use topas_tests::site::Site;

const HELLO: [&str; 3] = ["c/hello.c", "cxx/hello.cc", "f90/hello.f90"];
const LIBRARY: [&str; 2] = ["library/part_with_mpi.c", "library/uses_part_with_mpi.c"];
const LAST: &str = "hello from rank 3 of 4";

#[test]
#[ignore = "cargo xtask test --builds"]
fn cmake_is_told_the_drivers() {
    for mpi in Mpi::installed_with("cmake_is_told_the_drivers", &["cmake"]) {
        let options = "-DMPI_C_COMPILER=mpicc -DMPI_CXX_COMPILER=mpicxx \
                       -DMPI_Fortran_COMPILER=mpifort";
        let paths = "-DMPI_C_COMPILER=$(command -v mpicc) -DMPI_CXX_COMPILER=$(command -v mpicxx) \
                     -DMPI_Fortran_COMPILER=$(command -v mpifort)";
        for options in [options, paths] {
            let project = Project::new(mpi, "cmake", &[&HELLO[..], &LIBRARY].concat());
            let configure = format!("cmake -S . -B build {options} && cmake --build build");
            project.build(&[], &configure);
            for (program, lang, says) in OF_CMAKE {
                project.measured(program, lang, says);
            }
            project.measured("build/uses_hidden", Lang::C, "");
        }
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn cmake_compiles_with_the_drivers() {
    for mpi in Mpi::installed_with("cmake_compiles_with_the_drivers", &["cmake"]) {
        let project = Project::new(mpi, "cmake", &[&HELLO[..], &LIBRARY].concat());
        let drivers = [("CC", "mpicc"), ("CXX", "mpicxx"), ("FC", "mpifort")];
        project.build(&drivers, "cmake -S . -B build && cmake --build build");
        // A driver that needs no flags is asked for none: libraries get no module.
        assert!(!project.has_module("build/libpart.so"), "{}", mpi.name());
        for (program, lang, says) in OF_CMAKE {
            project.measured(program, lang, says);
        }
    }
}

const OF_CMAKE: [(&str, Lang, &str); 4] = [
    ("build/hello_c", Lang::C, LAST),
    ("build/hello_cxx", Lang::Cxx, LAST),
    ("build/hello_fortran", Lang::F90, LAST),
    ("build/uses_part", Lang::C, ""),
];

#[test]
#[ignore = "cargo xtask test --builds"]
fn a_configure_macro_finds_mpi() {
    let needed = ["autoreconf", "automake", "make"];
    for mpi in Mpi::installed_with("a_configure_macro_finds_mpi", &needed) {
        let project = Project::new(mpi, "ax_mpi", &["c/hello.c"]);
        project.build(&[], "autoreconf --install && ./configure && make");
        project.measured("./by_driver", Lang::C, LAST);
        project.measured("./by_compiler", Lang::C, LAST);
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn libtool_links_libraries_and_programs() {
    let needed = ["autoreconf", "automake", "libtoolize", "make"];
    for mpi in Mpi::installed_with("libtool_links_libraries_and_programs", &needed) {
        let project = Project::new(mpi, "libtool", &[&LIBRARY[..], &["cxx/hello.cc"]].concat());
        let drivers = [("CC", "mpicc"), ("CXX", "mpicxx")];
        project.build(&drivers, "mkdir m4 && autoreconf --install && ./configure && make");
        // A library is no executable, by whichever driver.
        for library in [".libs/libpart.so", ".libs/libpartcxx.so"] {
            assert!(!project.has_module(library), "{library} of {}", mpi.name());
        }
        // Libtool's scripts, which run what lies below .libs.
        project.measured("./shared", Lang::C, "");
        project.measured("./static", Lang::C, "");
        project.measured("./cxx", Lang::Cxx, LAST);
        // Linked anew as it is installed.
        project.build(&[], "make install DESTDIR=$PWD/installed");
        project.measured("installed/usr/local/bin/static", Lang::C, "");
        assert!(project.has_module("installed/usr/local/bin/shared"), "{}", mpi.name());
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn other_compilers_behind_the_drivers() {
    for mpi in Mpi::installed_with("other_compilers_behind_the_drivers", &["clang"]) {
        let (variable, option) = match mpi {
            Mpi::OpenMpi => ("OMPI_CC", ""),
            Mpi::Mpich => ("MPICH_CC", "-cc=clang"),
        };
        let project = Project::new(mpi, "makefile", &HELLO);
        project.build(&[(variable, "clang")], "mpicc hello.c -o by_variable");
        project.measured("./by_variable", Lang::C, LAST);
        // So that a compiler was chosen at all.
        project.build(&[], "strings -a by_variable | grep 'clang version'");
        if !option.is_empty() {
            project.build(&[], &format!("mpicc {option} hello.c -o by_option"));
            project.measured("./by_option", Lang::C, LAST);
            project.build(&[], "strings -a by_option | grep 'clang version'");
        }
        // The command that is shown, run by a shell.
        project.build(&[(variable, "clang")], "mpicc -show hello.c -o by_answer | sh");
        project.build(&[], "strings -a by_answer | grep 'clang version'");
        project.measured("./by_answer", Lang::C, LAST);
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn profiles_of_mpich() {
    for mpi in Mpi::installed_with("profiles_of_mpich", &[]) {
        if mpi != Mpi::Mpich {
            continue;
        }
        let project = Project::new(mpi, "makefile", &["c/hello.c"]);
        // A profile lies where the driver runs, and names what is linked before MPI.
        let script =
            "echo 'int MPI_Finalize(void) { puts(\"mine\"); return PMPI_Finalize(); }' > p.c
            mpicc -include stdio.h -include mpi.h -c p.c && ar cr libmine.a p.o
            echo 'PROFILE_PRELIB=\"-L. -lmine\"' > mine.conf
            mpicc -profile=mine hello.c -o profiled
            MPICC_PROFILE=mine mpicc hello.c -o by_variable";
        project.build(&[], script);
        project.measured("./profiled", Lang::C, "mine");
        project.measured("./by_variable", Lang::C, "mine");
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn scons_sorts_the_answer() {
    for mpi in Mpi::installed_with("scons_sorts_the_answer", &["scons"]) {
        let project = Project::new(mpi, "scons", &["c/hello.c"]);
        project.build(&[], "scons -Q");
        project.measured("./hello", Lang::C, LAST);
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn boosts_build_system_asks_the_driver() {
    for mpi in Mpi::installed_with("boosts_build_system_asks_the_driver", &["b2"]) {
        let project = Project::new(mpi, "b2", &["cxx/hello.cc"]);
        project.build(&[], "b2");
        project.measured("./hello", Lang::Cxx, LAST);
    }
}

/// The shared library that setup.py made.
#[track_caller]
fn extension(project: &Project) -> PathBuf {
    let files = fs::read_dir(project.dir()).expect("directory").flatten();
    let mut paths = files.map(|file| file.path());
    paths.find(|path| path.extension() == Some(OsStr::new("so"))).expect("an extension module")
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn python_modules_ask_for_flags() {
    for mpi in Mpi::installed_with("python_modules_ask_for_flags", &["python3"]) {
        let project = Project::new(mpi, "python", &[]);
        let drivers = [("MPICC", "mpicc")];
        project.build(&drivers, "python3 setup.py --quiet build_ext --inplace");
        let script = "import hello; print('rank', hello.run())";
        fs::write(project.dir().join("run.py"), script).expect("write a script");
        // The library has a module and Python has none.
        assert!(has_module(&extension(&project)));
        project.not_measured("python3 run.py", "rank 3");

        let project = Project::new(mpi, "python", &[]);
        let drivers = [("CC", "mpicc"), ("LDSHARED", "mpicc -shared"), ("MPICC", "true")];
        project.build(&drivers, "python3 setup.py --quiet build_ext --inplace");
        fs::write(project.dir().join("run.py"), script).expect("write a script");
        // A shared library by the driver gets none.
        assert!(!has_module(&extension(&project)));
        project.not_measured("python3 run.py", "rank 3");
    }
}

/// The packages of an MPI for C and C++.
fn packages(mpi: Mpi) -> [&'static str; 2] {
    match mpi {
        Mpi::OpenMpi => ["ompi-c", "ompi-cxx"],
        Mpi::Mpich => ["mpich", "mpich"],
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn users_of_pkg_config() {
    for mpi in Mpi::installed_with("users_of_pkg_config", &["pkg-config"]) {
        let [c, cxx] = packages(mpi);
        let project = Project::new(mpi, "makefile", &HELLO[..2]);
        project.build(
            &[],
            &format!(
                "gcc hello.c -o hello_c $(pkg-config --cflags --libs {c})
                gcc -c hello.c $(pkg-config --cflags '{c} >= 1.0')
                gcc hello.o -o by_version $(pkg-config --libs '{c} >= 1.0')
                g++ hello.cc -o hello_cxx $(pkg-config --cflags --libs {cxx})"
            ),
        );
        project.measured("./hello_c", Lang::C, LAST);
        project.measured("./by_version", Lang::C, LAST);
        project.measured("./hello_cxx", Lang::Cxx, LAST);
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn pkg_config_answers_as_ever() {
    for mpi in Mpi::installed_with("pkg_config_answers_as_ever", &["pkg-config"]) {
        let [package, _] = packages(mpi);
        let project = Project::new(mpi, "makefile", &[]);
        for question in [
            "--version",
            "--help",
            "--list-all",
            "--list-package-names",
            "--libs zlib",
            "--libs none-such",
            "--exists none-such",
            "--print-errors --exists none-such",
            "--cflags PACKAGE",
            "--modversion PACKAGE",
            "--exists PACKAGE",
            "--exists PACKAGE >= 1000",
            "--atleast-version=1 PACKAGE",
            "--print-variables PACKAGE",
            "--print-requires PACKAGE",
            "--variable=includedir PACKAGE",
            "--libs-only-L PACKAGE",
            "--libs-only-l PACKAGE",
            "--cflags-only-I PACKAGE",
            "",
        ] {
            let answer = |mut asked: Command| {
                let question = question.replace("PACKAGE", package);
                let answered = run(asked.args(question.split_whitespace()));
                (answered.code(), answered.out(), answered.err())
            };
            let real = answer(project.bare_tool("/usr/bin/pkg-config"));
            let case = format!("pkg-config {question} of {}", mpi.name());
            assert_eq!(answer(project.tool("pkg-config")), real, "{case}");
        }
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn meson_by_pkg_config() {
    for mpi in Mpi::installed_with("meson_by_pkg_config", &["meson", "ninja", "pkg-config"]) {
        let project = Project::new(mpi, "meson", &HELLO[..2]);
        let package = match mpi {
            Mpi::OpenMpi => "mpi",
            Mpi::Mpich => "mpich",
        };
        let script = format!("meson setup build -Dpackage={package} && ninja -C build");
        project.build(&[("CC", "gcc"), ("CXX", "g++")], &script);
        project.measured("build/hello_c", Lang::C, LAST);
        project.measured("build/hello_cpp", Lang::Cxx, LAST);
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn compilers_of_a_site_by_name() {
    for mpi in Mpi::installed_with("compilers_of_a_site_by_name", &[]) {
        // For sites that want the compilers, too: a directory in front of the drivers' own.
        let gnu = Site::shared().wrappers().with_file_name("gnu-wrappers");
        let path = format!("PATH={}:$PATH", gnu.display());
        let (include, library) = match mpi {
            Mpi::OpenMpi => ("$(/usr/bin/mpicc.openmpi -showme:compile)", "-lmpi"),
            Mpi::Mpich => ("-I/usr/include/x86_64-linux-gnu/mpich", "-lmpich"),
        };
        let project = Project::new(mpi, "makefile", &["c/hello.c"]);
        let gcc = format!("gcc {include} hello.c {library}");
        project.build(&[], &format!("{gcc} -o bare && export {path}; {gcc} -o hello"));
        project.not_measured("./bare", LAST);
        project.measured("./hello", Lang::C, LAST);
        // One module by both drivers.
        project.build(&[], &format!("export {path}; mpicc hello.c -o by_both"));
        project.measured("./by_both", Lang::C, LAST);
    }
}

/// A plugin that got the module with its flags, in a program with a module and in one without:
/// it may be unloaded, and adds no line.
#[test]
#[ignore = "cargo xtask test --builds"]
fn plugins_linked_with_answers() {
    for mpi in Mpi::installed_with("plugins_linked_with_answers", &[]) {
        let project = Project::new(mpi, "plugin", &[]);
        project.build(
            &[],
            "flags=$(mpicc -show | cut -d' ' -f2-)
            gcc -shared -fPIC -DNAME=begin plugin.c -o begin.so $flags
            gcc -shared -fPIC -DNAME=end plugin.c -o end.so $flags
            gcc host.c -o bare && mpicc -Wl,--no-as-needed host.c -o linked",
        );
        for plugin in ["begin.so", "end.so"] {
            assert!(project.has_module(plugin), "{plugin} of {}", mpi.name());
        }
        project.not_measured("./bare ./begin.so ./end.so", "unloaded");
        project.measured("./linked ./begin.so ./end.so", Lang::C, "unloaded");
    }
}
