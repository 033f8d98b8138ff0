//! Shadows of real MPIs, `topas mpi add`: builds that look for names, that are told where MPI
//! is, or that call a compiler by its path.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use topas_format::field::Lang;
use topas_testkit::scratch::place_program;
use topas_tests::build::source;
use topas_tests::installation::{Installation, MpiKind, Through};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::project::{Project, has_module};
use topas_tests::running::{command, run, system_path};
use topas_tests::site::{Scratch, Site};

const HELLO: [&str; 3] = ["c/hello.c", "cxx/hello.cc", "f90/hello.f90"];
const LIBRARY: [&str; 2] = ["library/part_with_mpi.c", "library/uses_part_with_mpi.c"];
const LAST: &str = "hello from rank 3 of 4";

/// The shadow of an MPI in the shared installation, by a name that no other test has.
#[track_caller]
fn shadow(prefix: &Path, name: &str) -> PathBuf {
    // A test that was interrupted leaves one of a directory that has gone.
    run(command(Site::shared().tool("topas")).args(["mpi", "remove", name]));
    let mut topas = command(Site::shared().tool("topas"));
    let made = run(topas.args(["mpi", "add"]).arg(prefix).args(["--name", name])).good();
    PathBuf::from(made.out().trim_end())
}

/// Debian's packages have no prefix of their own: one of links, as far as drivers go.
fn prefix(mpi: Mpi) -> PathBuf {
    mpi.tools().parent().expect("prefix").to_owned()
}

/// Builds the project of CMake with this one, which is told where MPI is by a variable and does
/// not see the drivers on PATH.
#[track_caller]
fn by_cmake(mpi: Mpi, cmake: &Path, variable: &str, shadow: &Path) {
    let project = Project::new(mpi, "cmake", &[&HELLO[..], &LIBRARY].concat());
    let shadow = shadow.to_str().expect("text");
    let cmake = cmake.display();
    let script = format!(
        "export PATH=\"${{PATH#*:}}\"; ! command -v mpicc | grep topas
        mkdir build && cd build && {cmake} .. && {cmake} --build .
        for language in C CXX Fortran; do
            grep \"^MPI_${{language}}_COMPILER:FILEPATH={shadow}/bin/\" CMakeCache.txt
        done"
    );
    project.build(&[(variable, shadow)], &script);
    project.measured("build/hello_c", Lang::C, LAST);
    project.measured("build/hello_cxx", Lang::Cxx, LAST);
    project.measured("build/hello_fortran", Lang::F90, LAST);
    assert!(project.has_module("build/libpart.so"), "{cmake} {variable}");
}

/// What sites set for an MPI.
fn variable(mpi: Mpi) -> &'static str {
    match mpi {
        Mpi::OpenMpi => "MPI_HOME",
        Mpi::Mpich => "I_MPI_ROOT",
    }
}

#[test]
fn cmake_looks_where_variables_lead() {
    for mpi in Mpi::installed_with("cmake_looks_where_variables_lead", &["cmake"]) {
        let shadow = shadow(&prefix(mpi), &format!("cmake-{}", mpi.name()));
        by_cmake(mpi, Path::new("cmake"), variable(mpi), &shadow);
    }
}

#[test]
#[ignore = "cargo xtask test --builds"]
fn cmakes_of_many_versions() {
    let all = env::var_os("TOPAS_TEST_CMAKES").expect("TOPAS_TEST_CMAKES");
    let versions = fs::read_dir(&all).expect("directory of CMakes").flatten();
    let cmakes = versions.map(|dir| dir.path().join("cmake/data/bin/cmake"));
    let cmakes: Vec<_> = cmakes.filter(|cmake| cmake.exists()).collect();
    assert!(cmakes.len() >= 5, "only {} CMakes in {}", cmakes.len(), all.display());
    for mpi in Mpi::installed("cmakes_of_many_versions") {
        let shadow = shadow(&prefix(mpi), &format!("cmakes-{}", mpi.name()));
        for cmake in &cmakes {
            by_cmake(mpi, cmake, variable(mpi), &shadow);
        }
    }
}

/// A directory with the programs of the system but for MPI's.
fn without_mpi(scratch: &Scratch) -> PathBuf {
    let dir = scratch.sub("system");
    for entry in ["/usr/bin", "/bin"].iter().flat_map(|dir| fs::read_dir(dir).expect("system")) {
        let entry = entry.expect("entry");
        let name = entry.file_name();
        let of_mpi = |head: &str| name.as_encoded_bytes().starts_with(head.as_bytes());
        if !["mpi", "osh", "shmem", "caf"].iter().any(|head| of_mpi(head)) {
            // On most systems the second directory is the first.
            let _ = symlink(entry.path(), dir.join(&name));
        }
    }
    dir
}

/// An MPI with few names: what a configure script finds is the same with and without TOPAS.
#[test]
fn a_configure_script_finds_the_same_names() {
    let test = "a_configure_script_finds_the_same_names";
    let needed = ["autoreconf", "make"];
    if !Mpi::installed_with(test, &needed).contains(&Mpi::Mpich) {
        return;
    }
    let project = Project::new(Mpi::Mpich, "names", &HELLO[1..]);
    project.build(&[], "autoreconf --install");
    let scratch = Scratch::new();
    let system = without_mpi(&scratch);
    let few = scratch.sub("few/bin");
    for name in ["mpicc", "mpicxx", "mpif77", "mpif90", "mpiexec", "mpirun", "hydra_pmi_proxy"] {
        symlink(prefix(Mpi::Mpich).join("bin").join(name), few.join(name)).expect("link");
    }
    let site = Site::shared();
    let shadow = shadow(&scratch.path().join("few"), "few-names");
    // The general directory as it would be on a system whose MPI comes with a module.
    let driver = scratch.sub("prefix/libexec/topas").join("topas-driver");
    place_program(&site.wrappers().with_file_name("topas-driver"), &driver);
    let general = scratch.path().join("prefix/libexec/topas/wrappers");
    run(command(&driver).arg("--link-names").env("PATH", &system)).good();
    assert!(!general.join("mpicc").exists() && !general.join("mpic++").exists());

    let found = |build: &str, dirs: &[&Path]| {
        let path = env::join_paths(dirs).expect("no colons");
        let script = "mkdir $BUILD && cd $BUILD && ../configure >log && cat found";
        let variables = [("BUILD", build), ("PATH", path.to_str().expect("text"))];
        project.build(&variables, script).out()
    };
    let bare = found("bare", &[&few, &system]);
    assert_eq!(bare, "MPICXX=mpicxx\nFC=mpif90\nwith_cxx=yes\n");
    let bin = shadow.join("bin");
    assert_eq!(found("shadow", &[&bin, &few, &system]), bare);
    assert_eq!(found("general", &[&general, &few, &system]), bare);
    assert_eq!(found("both", &[&general, &bin, &few, &system]), bare);

    let path = env::join_paths([&bin, &system]).expect("no colons");
    let path = [("PATH", path.to_str().expect("text"))];
    project.build(&path, "mpicxx hello.cc -o cxx && mpif90 hello.f90 -o fortran");
    project.measured("./cxx", Lang::Cxx, LAST);
    project.measured("./fortran", Lang::F90, LAST);
    run(command(site.tool("topas")).args(["mpi", "remove", "few-names"])).good();
}

/// Compiler and launcher by path and by name, where PATH has the shadow only.
#[test]
fn programs_of_each_mpi_by_its_shadow() {
    let site = Site::shared();
    let debian = || Mpi::ALL.into_iter().filter_map(Installation::of_debian).collect();
    for mpi in Installation::all().unwrap_or_else(debian) {
        let scratch = Scratch::new();
        let program = scratch.path().join("hello");
        let real = mpi.tool("mpicc").expect("mpicc");
        let prefix = real.parent().and_then(Path::parent).expect("prefix");
        let shadow = shadow(prefix, &format!("each-{}", mpi.name));
        let bin = shadow.join("bin");
        let command = |program: &OsStr| {
            let mut command = mpi.command(
                site,
                &scratch,
                Through::Bare,
                Path::new(program).to_str().expect("text"),
            );
            command.env("PATH", format!("{}:{}", bin.display(), system_path()));
            if mpi.kind == MpiKind::Intel {
                command.env("I_MPI_ROOT", &shadow);
            }
            command
        };
        let names = |driver: &str| [OsStr::new(driver).to_owned(), bin.join(driver).into()];
        for (mpicc, mpiexec) in names("mpicc").into_iter().zip(names("mpiexec")) {
            let case = format!("{}: {}", mpi.name, mpicc.display());
            let mut build = command(&mpicc);
            build.arg(source("c/hello.c")).arg("-o").arg(&program);
            run(build.arg(format!("-Wl,-rpath,{}/lib", prefix.display()))).good();
            assert!(has_module(&program), "{case}");
            let bytes = fs::read(&program).expect("program");
            let path = shadow.as_os_str().as_encoded_bytes();
            assert!(
                !bytes.windows(path.len()).any(|part| part == path),
                "{case}: the path is in it"
            );
            let mut launch = command(&mpiexec);
            let ended = launched(&scratch, launch.args(["-n", "4"]).arg(&program)).good();
            assert!(ended.out().contains(LAST), "{case}: {}", ended.out());
            let lines = scratch.take_log();
            assert_eq!(lines.len(), 2, "{case}: {lines:?}");
            assert!(lines.iter().all(|line| line.npes == 4), "{case}: {lines:?}");
        }
    }
}

/// OpenCoarrays' driver calls Open MPI's by a path that was built into it.
#[test]
fn a_driver_that_has_a_path_inside_by_its_name() {
    let test = "a_driver_that_has_a_path_inside_by_its_name";
    if !Mpi::installed_with(test, &["caf"]).contains(&Mpi::OpenMpi) {
        return;
    }
    let project = Project::new(Mpi::OpenMpi, "makefile", &["f90/coarray.f90"]);
    project.build(&[], "caf coarray.f90 -o coarray");
    project.measured("./coarray", Lang::F90, "image 4 of 4, sum 10");
}

/// What is stale, what is missing, and what leads past the drivers is told with its remedy.
#[test]
fn the_doctor_tells_of_names_and_shadows() {
    let Some(&mpi) = Mpi::installed("the_doctor_tells_of_names_and_shadows").first() else {
        return;
    };
    let site = Site::shared();
    let scratch = Scratch::new();
    let few = scratch.sub("few/bin");
    for name in ["mpicc", "mpif90"] {
        symlink(mpi.tools().join(name), few.join(name)).expect("link");
    }
    let prefix = scratch.path().join("few");
    let path = format!("{}:{}", few.display(), system_path());
    let doctor = |words: &[&str]| {
        let mut doctor = command(site.tool("topas-doctor"));
        doctor.args(words).env("PATH", &path).env("MPI_HOME", &prefix);
        run(doctor.env("CC", few.join("mpicc"))).out()
    };
    let plain = || doctor(&["--no-self-test"]);
    let add = format!("topas mpi add {}\n", prefix.display());
    assert!(plain().contains(&add), "{}", plain());
    let found = run(command(site.tool("topas")).args(["mpi", "find"]).env("PATH", &path)).good();
    assert!(found.out().contains(&format!("{} -\n", few.display())), "{}", found.out());
    assert!(found.err().contains(&add), "{}", found.err());

    let shadow = shadow(&prefix, "doctor");
    let ok = format!("doctor of {}: ok\n", prefix.display());
    assert!(plain().contains(&ok) && !plain().contains(&add), "{}", plain());
    fs::remove_file(few.join("mpif90")).expect("remove");
    let said = plain();
    assert!(said.contains("its MPI has changed: gone mpif90"), "{said}");
    assert!(said.contains("topas mpi refresh doctor"), "{said}");

    let said = doctor(&["--build"]);
    for variable in ["MPI_HOME", "CC"] {
        let leads = format!("leads to {}, past the drivers", few.join("mpicc").display());
        let line = said.lines().find(|line| line.trim().starts_with(variable));
        assert!(line.is_some_and(|line| line.ends_with(&leads)), "{variable}: {said}");
    }
    assert!(said.contains("`topas --link-flags`"), "{said}");

    fs::remove_dir_all(&prefix).expect("remove the MPI");
    let said = plain();
    assert!(
        said.contains("its MPI has gone") && said.contains("topas mpi remove doctor"),
        "{said}"
    );
    run(command(site.tool("topas")).args(["mpi", "remove", "doctor"])).good();
    assert!(!shadow.exists());
}
