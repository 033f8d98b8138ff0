//! `topas-log`: merges, closes and exports segments of the TOPAS log.
#![forbid(unsafe_code)]

mod args;
mod close;
mod exit;
mod export;
mod inputs;
mod merge;
mod purge;

use std::process::ExitCode;

use topas_config::{Conf, Environment};
use topas_data::believe;
use topas_terminal::Tool;

use crate::args::Command;

/// How this tool speaks.
pub const TOOL: Tool = Tool("topas-log");

fn main() -> ExitCode {
    let command = match args::parse() {
        Ok(command) => command,
        Err(code) => return code.into(),
    };
    let env = Environment::of_process();
    believe(Conf::of_this_program(&env).log_owner());
    match command {
        Command::Close(options) => close::run(&options, &env),
        Command::Export(options) => export::run(&options, &env),
        Command::Key(options) => export::make_key(&options),
        Command::Merge(options) => merge::run(&options, &env),
        Command::Purge(options) => purge::run(&options, &env),
    }
    .into()
}
