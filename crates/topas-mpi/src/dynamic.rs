//! `topas-mpi calibrate` of an installation whose tools are linked statically.
//!
//! Such a tool runs on every Linux, but cannot open the MPI of the system. So the installation has
//! the same program a second time, linked with the C library of the machine on which TOPAS was
//! built, and this process becomes that program.

use std::os::unix::process::CommandExt;
use std::process::Command;

use topas_config::{Environment, Paths, command_line};

use crate::{TOOL, exit};

/// Becomes the program that can open an MPI. Comes back, with the exit code, only if there is none.
pub fn run(env: &Environment) -> u8 {
    let line = command_line();
    let argv0 = line.first().cloned().unwrap_or_default();
    let hint = "install TOPAS from its sources for this machine: cargo xtask install";
    let Some(paths) = Paths::of_this_program(&argv0, env) else {
        TOOL.error(
            &"this program is linked statically, and does not stand in an installation",
            None,
            hint,
        );
        return exit::NO_MPI;
    };
    let program = paths.mpi_calibrate();
    let cause = Command::new(&program).args(line.iter().skip(1)).exec();
    let what = format!("cannot run {}, which opens the MPI", program.display());
    TOOL.error(&what, Some(&cause.to_string()), hint);
    exit::NO_MPI
}
