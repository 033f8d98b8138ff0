//! Which message passing library a program uses, and what that says of itself.

use std::path::Path;

use topas_format::field::Lib;
use topas_tests::build::{by_driver, source, with_module};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// Launches a program of 4 ranks: the library of its two lines, and what `mpi=` says of it.
#[track_caller]
fn told(mpi: Mpi, scratch: &Scratch, program: &Path, args: &[&str]) -> (Lib, String) {
    let mut launch = mpi.launch(Site::shared(), scratch, 4);
    let ended = launched(scratch, launch.arg(program).args(args));
    assert_eq!(ended.code(), 0, "{}{}", ended.out(), ended.err());
    let lines = scratch.take_log();
    let told = |at: usize| (lines[at].lib, lines[at].extra("mpi").to_owned());
    assert_eq!(lines.len(), 2);
    assert_eq!(told(0), told(1));
    told(0)
}

/// What a program says that begins and ends MPI.
fn names_itself(mpi: Mpi) -> &'static str {
    match mpi {
        Mpi::OpenMpi => "Open_MPI_v",
        Mpi::Mpich => "MPICH_Version:",
    }
}

/// The libraries that a program names as needed.
fn needed(program: &Path) -> String {
    run(command("readelf").arg("-d").arg(program)).good().out()
}

#[test]
fn linked_and_called() {
    for mpi in Mpi::installed("linked_and_called") {
        for (tool, name) in [
            ("mpicc", "c/hello.c"),
            ("mpicxx", "cxx/hello.cc"),
            ("mpif77", "f77/hello.f"),
            ("mpif90", "f90/hello.f90"),
            ("mpif90", "f90/hello_f08.f90"),
        ] {
            let scratch = Scratch::new();
            let program = scratch.path().join("hello");
            let mut link = by_driver(Site::shared(), &scratch, mpi, tool, name, &program);
            run(link.arg("-Wl,--as-needed")).good();
            let (lib, name_of_it) = told(mpi, &scratch, &program, &[]);
            assert_eq!(lib, Lib::Mpi, "{name}");
            assert!(name_of_it.starts_with(names_itself(mpi)), "{name}: {name_of_it}");
            // The Fortran interface is a library of its own, and then the only one needed.
            if mpi == Mpi::OpenMpi && tool == "mpif77" {
                assert!(!needed(&program).contains("[libmpi.so"), "{}", needed(&program));
            }
        }
    }
}

/// Nothing names MPI any more but the code itself, and nobody can be asked.
#[test]
fn linked_statically_and_stripped() {
    let test = "linked_statically_and_stripped";
    let scratch = Scratch::new();
    let site = Site::shared();
    let Some(words) =
        Mpi::Mpich.static_words(&scratch).filter(|_| Mpi::Mpich.real("mpicc").is_some())
    else {
        return skip(test, "no MPICH");
    };
    let program = scratch.path().join("hello");
    let mut link = by_driver(site, &scratch, Mpi::Mpich, "mpicc", "c/hello.c", &program);
    run(link.args(&words).arg("-s")).good();
    assert_eq!(told(Mpi::Mpich, &scratch, &program, &[]).0, Lib::Mpi);
}

#[test]
fn linked_and_never_called() {
    for mpi in Mpi::installed("linked_and_never_called") {
        let scratch = Scratch::new();
        let program = scratch.path().join("empty");
        let mut link = by_driver(Site::shared(), &scratch, mpi, "mpicc", "c/no_mpi.c", &program);
        run(link.arg("-Wl,--no-as-needed")).good();
        assert!(needed(&program).contains("[libmpi"), "{}", needed(&program));
        assert_eq!(told(mpi, &scratch, &program, &[]), (Lib::None, String::new()));
    }
}

#[test]
fn called_by_a_shared_library_only() {
    for mpi in Mpi::installed("called_by_a_shared_library_only") {
        let scratch = Scratch::new();
        let site = Site::shared();
        let (library, program) = (scratch.path().join("libpart.so"), scratch.path().join("uses"));
        let part = "library/part_with_mpi.c";
        let mut link = by_driver(site, &scratch, mpi, "mpicc", part, &library);
        run(link.args(["-shared", "-fPIC"])).good();
        let mut gcc = command("gcc");
        gcc.arg(source("library/uses_part_with_mpi.c")).arg(&library).arg(with_module(site, "c"));
        gcc.arg(format!("-Wl,-rpath,{}", scratch.path().display())).arg("-o").arg(&program);
        run(&mut gcc).good();
        assert!(!needed(&program).contains("[libmpi"), "{}", needed(&program));
        let (lib, name_of_it) = told(mpi, &scratch, &program, &[]);
        assert_eq!(lib, Lib::Mpi);
        assert!(name_of_it.starts_with(names_itself(mpi)), "{name_of_it}");
    }
}

#[test]
fn opened_while_running() {
    for mpi in Mpi::installed("opened_while_running") {
        let scratch = Scratch::new();
        let program = scratch.path().join("opens");
        let mut gcc = command("gcc");
        gcc.arg(source("library/opens_mpi.c")).arg(with_module(Site::shared(), "c"));
        run(gcc.arg("-o").arg(&program).arg("-ldl")).good();
        let library = match mpi {
            Mpi::OpenMpi => "libmpi.so.40",
            Mpi::Mpich => "libmpich.so.12",
        };
        assert_eq!(told(mpi, &scratch, &program, &[library]), (Lib::Mpi, library.to_owned()));
    }
}

/// mpi4py of Debian stands on Open MPI.
#[test]
fn opened_by_python() {
    let test = "opened_by_python";
    let python = || command("/usr/bin/python3");
    if !have("python3-config") || run(python().args(["-c", "import mpi4py"])).code() != 0 {
        return skip(test, "no mpi4py of the system's Python, or no python3-config");
    }
    let scratch = Scratch::new();
    let program = scratch.path().join("embeds");
    let flags = run(command("python3-config").args(["--embed", "--cflags", "--ldflags"])).good();
    let mut gcc = command("gcc");
    gcc.arg(source("library/embeds_python.c")).arg(with_module(Site::shared(), "c"));
    gcc.arg("-o").arg(&program).args(flags.out().split_whitespace());
    run(&mut gcc).good();
    let script = "from mpi4py import MPI; MPI.COMM_WORLD.Barrier()";
    let (lib, name_of_it) = told(Mpi::OpenMpi, &scratch, &program, &[script]);
    assert_eq!((lib, name_of_it.as_str()), (Lib::Mpi, "libmpi.so.40"));
}

/// SHMEM on top of MPI, by both hash tables that a linker may write.
#[test]
fn shmem() {
    let test = "shmem";
    if Mpi::OpenMpi.real("mpiexec").is_none() || !have("oshcc") {
        return skip(test, "no OpenSHMEM of Open MPI");
    }
    for (tool, name, flag, expected) in [
        ("oshcc", "library/shmem_only.c", "-Wl,--hash-style=gnu", Lib::Sma),
        ("oshcc", "library/shmem_only.c", "-Wl,--hash-style=sysv", Lib::Sma),
        ("oshcc", "library/shmem_only.c", "-no-pie", Lib::Sma),
        ("oshcc", "library/shmem_and_mpi.c", "-Wl,--hash-style=gnu", Lib::Mpi),
        ("oshcc", "library/shmem_and_mpi.c", "-Wl,--hash-style=sysv", Lib::Mpi),
        ("oshcc", "library/shmem_and_mpi.c", "-no-pie", Lib::Mpi),
    ] {
        let scratch = Scratch::new();
        let program = scratch.path().join("pe");
        let mut link = by_driver(Site::shared(), &scratch, Mpi::OpenMpi, tool, name, &program);
        run(link.arg(flag)).good();
        // This version's one-sided component crashes at the end of SHMEM.
        let args = ["--mca", "osc", "^rdma", "-n", "4"];
        let mut launch = Mpi::OpenMpi.driver(Site::shared(), &scratch, "oshrun");
        let ended = launched(&scratch, launch.args(args).arg(&program));
        assert_eq!(ended.code(), 0, "{name} {flag}: {}", ended.err());
        let lines = scratch.take_log();
        let libraries: Vec<Lib> = lines.iter().map(|line| line.lib).collect();
        assert_eq!(libraries, [expected; 2], "{name} {flag}");
    }
}
