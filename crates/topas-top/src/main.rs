//! `topas-top`: what the ranks of running programs do in MPI, live.
//!
//! It reads the mapped files of the user's own ranks on this node, again and again. Nothing runs in
//! the programs for that, and no rank knows of it.
#![forbid(unsafe_code)]

mod args;
mod board;
mod exit;
mod screen;
mod table;
mod watch;

use std::io::{IsTerminal, stdout};
use std::process::ExitCode;

use topas_config::Environment;
use topas_terminal::{Printed, Tool};

use crate::args::TopArgs;
use crate::table::{as_csv, as_text};
use crate::watch::Watch;

/// How this tool speaks.
pub const TOOL: Tool = Tool("topas-top");

fn main() -> ExitCode {
    match args::parse() {
        Ok(args) => run(&args).into(),
        Err(code) => code.into(),
    }
}

/// The exit code.
fn run(args: &TopArgs) -> u8 {
    let env = Environment::of_process();
    let mut watch = Watch::new(args, &env);
    let plain = args.once || args.plain || args.csv || !stdout().is_terminal();
    if !plain {
        return screen::run(args, &mut watch);
    }
    // Rates need two readings; one reading tells sums since the beginning.
    loop {
        if let Err(code) = watch.look() {
            return code;
        }
        let Some(board) = watch.board() else {
            watch.nothing();
            return exit::NOTHING;
        };
        let text = if args.csv { as_csv(board, args) } else { as_text(board, args) };
        if TOOL.print(text.as_bytes()) == Printed::Failed {
            return exit::FAILED;
        }
        if args.once || !args.plain {
            return exit::OK;
        }
        std::thread::sleep(args.period());
    }
}
