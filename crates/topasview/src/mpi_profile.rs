//! `topasview --mpi`: the profile of MPI calls.

mod args;
mod input;
mod output;

pub use args::MpiArgs;
pub use input::{ELSEWHERE, LOG_ALONE, files_of_logs, read_timeline, spools};
pub use output::{called_at, paths, started_at, world_started};

use topas_mpi_data::MpiProfile;
use topas_terminal::Printed;

use crate::args::Args;
use crate::exit;

/// What ranks of this user keep on this node, and has not been written yet. What cannot be read has been
/// said. And how many launches of other directories were passed over.
pub fn kept(args: &Args) -> (Vec<MpiProfile>, usize) {
    let mut input = input::MpiInput::new(args);
    (input.kept(), input.elsewhere())
}

/// Shows what is asked for; the exit code, all has then been said.
pub fn show(args: &Args) -> u8 {
    let mut input = input::MpiInput::new(args);
    let profiles = input.read();
    let shown = profiles.and_then(|profiles| output::show(args, &mut input, &profiles));
    match shown {
        Ok(Printed::Done) if !input.has_failed() => exit::OK,
        Ok(_) => exit::INPUT,
        Err(code) => code,
    }
}
