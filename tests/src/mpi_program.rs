//! Programs made from the table of MPI, whose bytes are known.

use topas_mpi_table::{Function, Version};

use crate::mpi_installation::Mpi;
use crate::running::{command, run};
use crate::site::Scratch;

pub mod alone;
pub mod amounts;
pub mod calls;

/// Those of `functions` that `version` has, each with false, and with true if it has a variant
/// for large counts.
pub fn variants(
    functions: impl Iterator<Item = &'static Function>,
    version: Version,
) -> Vec<(&'static Function, bool)> {
    let mut all = Vec::new();
    for function in functions.filter(|f| f.is_in(version)) {
        all.push((function, false));
        if function.large.is_some_and(|since| since <= version) {
            all.push((function, true));
        }
    }
    all
}

/// The version of the standard that the header of Debian's package claims.
pub fn version(mpi: Mpi) -> Version {
    let scratch = Scratch::new();
    let source = scratch.path().join("version.c");
    std::fs::write(&source, "#include <mpi.h>\nMPI_VERSION MPI_SUBVERSION\n").expect("a program");
    let mut compiler = command(mpi.real("mpicc").expect("mpicc"));
    let text = run(compiler.args(["-E", "-P"]).arg(&source)).good().out();
    let last = text.lines().last().expect("a version");
    let numbers: Vec<u8> = last.split(' ').map(|n| n.parse().expect(last)).collect();
    Version::new(numbers[0], numbers[1])
}
