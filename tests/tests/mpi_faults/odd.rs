//! Programs that do what is allowed and seldom done.

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Counted, Places, bare, compiler, profiled};
use topas_tests::running::{command, have, run};
use topas_tests::skip::skip;

use super::{FaultProgram, expected, text};

const STRICT: [&str; 4] = ["-O1", "-Wall", "-Wextra", "-Werror"];

#[test]
fn functions_of_the_user_call_mpi_and_leave_it_by_jumps() {
    for mpi in Mpi::installed("callbacks") {
        FaultProgram::new(mpi, "mpicc", "callbacks.c", &STRICT).exact(&[], 0);
    }
}

#[test]
fn exceptions_leave_mpi() {
    for mpi in Mpi::installed("throws") {
        // Headers of the C++ binding are no concern of ours.
        FaultProgram::new(mpi, "mpicxx", "throws.cc", &["-O1", "-w"]).exact(&[], 0);
    }
}

#[test]
fn threads_at_once_and_threads_that_come_and_go() {
    for mpi in Mpi::installed("threads") {
        let options = [&STRICT[..], &["-pthread"]].concat();
        FaultProgram::new(mpi, "mpicc", "threads.c", &options).exact(&[], 0);
    }
}

#[test]
fn arguments_that_mean_nothing_are_not_touched() {
    for mpi in Mpi::installed("insignificant") {
        // Compilers warn of arrays at nowhere.
        FaultProgram::new(mpi, "mpicc", "insignificant.c", &["-O1", "-w"]).exact(&[], 0);
    }
}

#[test]
fn calls_before_the_beginning_and_after_the_end() {
    for mpi in Mpi::installed("phases") {
        FaultProgram::new(mpi, "mpicc", "phases.c", &STRICT).exact(&[], 0);
    }
}

/// MPICH tells it by a code; Open MPI ends the program, and what its launcher says of that is not
/// the same every time.
#[test]
fn a_second_beginning_is_the_same_error() {
    for mpi in Mpi::installed("twice") {
        let program = FaultProgram::new(mpi, "mpicc", "twice.c", &STRICT);
        let places = Places::new(&program.scratch);
        let words = [text(&program.path)];
        let without = bare(mpi, &program.scratch, 2, &words);
        let with = profiled(mpi, &program.scratch, 2, &words, &places);
        assert_eq!((with.code(), with.out()), (without.code(), without.out()));
        // Under Open MPI the first rank that ends takes the other with it, wherever that one is.
        let counted = places.counted();
        let whole = |counted: &&Counted| counted.routine("Init").calls == 2;
        let least = if mpi == Mpi::Mpich { 2 } else { 1 };
        assert!(counted.iter().filter(whole).count() >= least, "under {}", mpi.name());
        let barriers = if mpi == Mpi::Mpich { 2 } else { 1 };
        for counted in counted.iter().filter(whole) {
            assert_eq!(counted.routine("Barrier").calls, barriers, "under {}", mpi.name());
        }
    }
}

#[test]
fn children_count_nothing() {
    for mpi in Mpi::installed("forks") {
        FaultProgram::new(mpi, "mpicc", "forks.c", &STRICT).exact(&[], 0);
    }
}

#[test]
fn mpi_is_opened_for_a_plugin_alone() {
    for mpi in Mpi::installed("opened") {
        let program = FaultProgram::new(mpi, "mpicc", "twice.c", &STRICT);
        let plugin = program.scratch.path().join("plugin.so");
        let source = topas_tests::build::source("faults/opened.c");
        let mut build = compiler(mpi, "mpicc");
        build.args(["-fPIC", "-shared", "-DPLUGIN"]).arg(&source);
        run(build.arg("-o").arg(&plugin)).good();
        let opener = program.scratch.path().join("opener");
        let mut build = command("gcc");
        run(build.args(STRICT).arg(&source).arg("-o").arg(&opener).arg("-ldl")).good();
        let program = FaultProgram { expected: expected("faults/opened.c"), ..program };
        program.exact_by(&[text(&opener), text(&plugin)], 0);
    }
}

/// mpi4py deletes attributes of its own when MPI ends, by functions that call MPI.
#[test]
fn python_ends_mpi_at_its_exit_and_before() {
    let test = "attributes of mpi4py";
    let python = "/usr/bin/python3";
    let code = "import mpi4py.MPI as m; print(m.get_vendor()[0])";
    let vendor =
        if have("python3") { run(command(python).args(["-c", code])).out() } else { String::new() };
    let mpi = match vendor.trim() {
        "Open MPI" => Mpi::OpenMpi,
        "MPICH" => Mpi::Mpich,
        _ => return skip(test, "no mpi4py on this machine"),
    };
    let program = FaultProgram::new(mpi, "mpicc", "twice.c", &STRICT);
    let program = FaultProgram { expected: expected("faults/attributes.py"), ..program };
    let script = topas_tests::build::source("faults/attributes.py");
    program.exact_by(&[python, text(&script)], 0);
    program.exact_by(&[python, text(&script), "end"], 0);
}
