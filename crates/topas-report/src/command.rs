//! The command line: one subcommand for each thing that is made of the log.

use clap::{Parser, Subcommand};
use topas_config::{Conf, Environment};

use crate::{TOOL, exit, export, ingest, mail, pages, purge, serve};

/// Make weekly mails for users and pages for the center from the TOPAS log
#[derive(Parser)]
#[command(
    name = "topas-report",
    version,
    after_help = "Exit codes: 0 the work is done; 1 an input could not be read, or something could \
                  not be written or sent; 2 the command line is wrong; 3 there are no runs in the \
                  period."
)]
pub struct ReportOptions {
    /// What is made
    #[command(subcommand)]
    pub command: ReportCommand,
}

/// What can be made. A subcommand is a module with its options and its `run`.
#[derive(Subcommand)]
pub enum ReportCommand {
    /// Bring what came into the log into the index of runs: every line once, whenever it is called
    Ingest(ingest::IngestArgs),
    /// Write all runs into a file for other programs
    Export(export::ExportArgs),
    /// Show users and staff single runs on the web
    Serve(serve::ServeArgs),
    /// Print a link that signs a user in once
    Link(serve::LinkArgs),
    /// Tell each user by mail what the user's programs did in a week
    Mail(mail::MailArgs),
    /// Make pages for the staff of the center, of weeks, months and years
    Pages(pages::PagesArgs),
    /// Remove what is older than the site keeps it, or what is of a user: from the index and the shared
    /// database, the pages, and the notes of sent mails
    Purge(purge::PurgeArgs),
}

impl ReportCommand {
    /// The exit code; the Err is one whose reason has been said.
    pub fn run(&self, env: &Environment, conf: &Conf) -> Result<u8, u8> {
        match self {
            ReportCommand::Ingest(args) => ingest::run(args, env, conf),
            ReportCommand::Export(args) => export::run(args, env),
            ReportCommand::Serve(args) => serve::run(args, env, conf),
            ReportCommand::Link(args) => serve::link(args),
            ReportCommand::Mail(args) => mail::run(args, env, conf),
            ReportCommand::Pages(args) => pages::run(args, env, conf),
            ReportCommand::Purge(args) => purge::run(args, env, conf),
        }
    }
}

/// Reads the command line. Help, version and errors are printed here; the Err is then the exit code.
pub fn parse() -> Result<ReportOptions, u8> {
    ReportOptions::try_parse_from(topas_config::command_line())
        .map_err(|error| TOOL.command_line(&error, exit::FAILED, exit::USAGE))
}
