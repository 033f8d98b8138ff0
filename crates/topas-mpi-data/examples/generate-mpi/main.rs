//! Writes the profile of MPI calls of a launch, as `TOPAS_MPI=yes` leaves it in topas-mpi.out:
//! `generate-mpi RANKS [STEPS]`, to standard output.

mod synthetic;

use std::io::{Write, stdout};
use std::process::ExitCode;

use synthetic::Launch;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(launch) = launch(&args) else {
        eprintln!("generate-mpi: error: usage: generate-mpi RANKS [STEPS]");
        return ExitCode::from(2);
    };
    match stdout().lock().write_all(launch.text().as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-mpi: error: cannot write\n  cause: {error}");
            ExitCode::FAILURE
        }
    }
}

fn launch(args: &[String]) -> Option<Launch> {
    let ranks = args.first()?.parse().ok().filter(|ranks| *ranks > 0)?;
    let steps = args.get(1).map_or(Some(1000), |steps| steps.parse().ok())?;
    Some(Launch { ranks, steps, ..Launch::default() })
}
