//! `topas-mpi`: profiles of MPI calls that ranks left behind, or that run; calibration.

mod args;
mod calibrate;
mod collect;
mod collect_users;
mod collectives;
mod dynamic;
mod exit;
mod launch;
mod list;
mod locate;
mod opened_mpi;
mod replay;
mod spool;
mod sys;
mod table;
mod trace;

use std::process::ExitCode;

use topas_config::Environment;
use topas_terminal::Tool;

use crate::args::Command;

/// How this tool speaks.
pub const TOOL: Tool = Tool("topas-mpi");

fn main() -> ExitCode {
    let command = match args::parse() {
        Ok(command) => command,
        Err(code) => return code.into(),
    };
    let env = Environment::of_process();
    match command {
        // A program that is linked statically cannot open a library.
        Command::Calibrate(_) if cfg!(target_env = "musl") => dynamic::run(&env),
        Command::Calibrate(options) => calibrate::run(&options, &env),
        Command::Collect(options) => collect::run(&options, &env),
        Command::List(options) => list::run(&options, &env),
        Command::Trace(options) => trace::run(&options),
        Command::Replay(options) => replay::run(&options),
    }
    .into()
}
