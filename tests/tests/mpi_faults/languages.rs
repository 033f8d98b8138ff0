//! The same calls in each binding: none is missed, none counted twice, whether the Fortran
//! functions of an MPI call those of C, their profiling names, or neither.

use topas_tests::mpi_installation::Mpi;

use super::FaultProgram;

/// What a rank of the programs calls: not one more.
const CALLS: u64 = 25;

fn exact(test: &str, tool: &str, file: &str, options: &[&str], language: &str) {
    for mpi in Mpi::installed(test) {
        if mpi.real(tool).is_none() {
            topas_tests::skip::skip(test, &format!("no {tool}.{}", mpi.name()));
            continue;
        }
        let program = FaultProgram::as_expected_of(mpi, tool, file, options, "calls.F90");
        for counted in program.exact(&[], 0) {
            let all: Vec<_> = counted.routines.iter().map(|(name, r)| (name, r.calls)).collect();
            assert_eq!(counted.calls(), CALLS, "{test} under {}: {all:?}", mpi.name());
            let languages: Vec<_> = counted.languages.split(',').collect();
            assert!(languages.contains(&language), "{languages:?} without {language}");
            let profiling = options.contains(&"-DPROFILING");
            assert_eq!(counted.profiling, profiling, "{test}: names of the profiling interface");
        }
    }
}

/// `mpif.h` has no interfaces: a buffer that is once a constant and once an array is told as a
/// fault.
const OLD: [&str; 2] = ["-w", "-fallow-argument-mismatch"];

#[test]
fn c() {
    exact("calls in C", "mpicc", "calls.c", &["-Wno-stringop-overflow"], "c");
}

#[test]
fn c_by_names_of_the_profiling_interface() {
    exact("PMPI calls", "mpicc", "calls.c", &["-DPROFILING"], "c");
}

#[test]
fn mpif_h() {
    exact("calls by mpif.h", "mpifort", "calls.F90", &OLD, "mpifh");
}

#[test]
fn module_mpi() {
    exact("calls by use mpi", "mpifort", "calls.F90", &["-DMODULE", "-w"], "mpifh");
}

#[test]
fn module_mpi_f08() {
    exact("calls by use mpi_f08", "mpifort", "calls.F90", &["-DF08", "-w"], "f08");
}
