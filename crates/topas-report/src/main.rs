//! `topas-report`: weekly mails to users, and pages for the center, from the TOPAS log.
//!
//! Each subcommand is a module of its own with its options and its `run`; [`command`] lists them.
#![forbid(unsafe_code)]

mod command;
mod exit;
mod export;
mod ingest;
mod mail;
mod pages;
mod purge;
mod reading;
mod serve;
mod state_dir;

use std::process::ExitCode;

use topas_config::{Conf, Environment};
use topas_data::believe;
use topas_terminal::Tool;

/// How this tool speaks.
pub const TOOL: Tool = Tool("topas-report");

fn main() -> ExitCode {
    let code = match command::parse() {
        Ok(line) => {
            let env = Environment::of_process();
            let conf = Conf::of_this_program(&env);
            believe(conf.log_owner());
            line.command.run(&env, &conf)
        }
        Err(code) => Err(code),
    };
    match code {
        Ok(code) | Err(code) => code.into(),
    }
}
