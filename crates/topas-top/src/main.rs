//! `topas-top`: what the ranks of running programs do in MPI, live.
//!
//! It reads the mapped files of the user's own ranks on this node, again and again. Nothing runs in
//! the programs for that, and no rank knows of it.
#![forbid(unsafe_code)]

mod args;
mod board;
mod cell;
mod exit;
mod hosts;
mod screen;
mod snapshot;
mod table;
mod watch;

use std::io::{IsTerminal, Write, stdout};
use std::process::ExitCode;

use topas_config::Environment;
use topas_terminal::{Printed, Tool};

use crate::args::TopArgs;
use crate::snapshot::{ReaderLine, lines_of};
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
    if args.reader {
        return read(args, &mut watch);
    }
    if let Err(code) = watch.start_readers(args) {
        return code;
    }
    let plain = args.once || args.plain || args.csv || !stdout().is_terminal();
    if !plain {
        return screen::run(args, &mut watch);
    }
    // Rates need two readings; one reading tells sums since the beginning.
    loop {
        if let Err(code) = watch.look() {
            return code;
        }
        for complaint in watch.take_complaints() {
            TOOL.warning(&complaint, None, "");
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

/// For `topas-top` on another node: prints sums again and again until nobody reads them.
fn read(args: &TopArgs, watch: &mut Watch) -> u8 {
    loop {
        let profiles = match watch.here() {
            Ok(profiles) => profiles,
            Err(code) => return code,
        };
        let mut out = Vec::new();
        let lines = |profile| lines_of(profile, &watch.places(profile)).collect::<Vec<_>>();
        for line in profiles.iter().flat_map(lines).chain([ReaderLine::End]) {
            out.extend(line.text().into_bytes());
            out.push(b'\n');
        }
        // Nobody reads it any more: that is its end.
        let mut to = stdout();
        if to.write_all(&out).and_then(|()| to.flush()).is_err() || args.once {
            return exit::OK;
        }
        std::thread::sleep(args.period());
    }
}
