//! Ranks of one launch that end at the same moment, without a launcher: more of them than a
//! launcher starts on a small machine.

use std::io::{PipeReader, PipeWriter, pipe};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::mpi_installation::emulate_rank;
use crate::running::LIMIT;
use crate::site::Scratch;

/// Launch key of a gang.
pub const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// Processes of `c/gate.c`, which wait for each other.
pub struct Gang {
    gate: (PipeReader, PipeWriter),
    /// The processes by rank, as they were started.
    pub ranks: Vec<Child>,
}

impl Gang {
    /// None yet.
    pub fn new() -> Gang {
        Gang { gate: pipe().expect("a pipe"), ranks: Vec::new() }
    }

    /// A rank of `size`, all on this host, with its log and its directory in `scratch`.
    pub fn rank(scratch: &Scratch, program: &Path, rank: u32, size: u32) -> Command {
        let mut command = scratch.command(program);
        emulate_rank(&mut command, rank, size, KEY);
        command.env("OMPI_COMM_WORLD_LOCAL_RANK", rank.to_string());
        command.env("OMPI_COMM_WORLD_LOCAL_SIZE", size.to_string());
        command.current_dir(scratch.path());
        command
    }

    /// Starts one more process, which waits at the gate.
    pub fn start(&mut self, command: &mut Command) {
        let gate = self.gate.0.try_clone().expect("a descriptor");
        self.ranks.push(command.stdin(Stdio::from(gate)).spawn().expect("start a rank"));
    }

    /// Starts `size` ranks.
    pub fn of(scratch: &Scratch, program: &Path, size: u32) -> Gang {
        let mut gang = Gang::new();
        for rank in 0..size {
            gang.start(&mut Gang::rank(scratch, program, rank, size));
        }
        gang
    }

    /// Opens the gate: how each ended, and how long it took until all had. Panics if one hangs.
    pub fn release(self) -> (Vec<ExitStatus>, Duration) {
        let begin = Instant::now();
        let ended = self.release_after(|| {});
        (ended, begin.elapsed())
    }

    /// Opens the gate, does something while the ranks end, and only then takes notice of their
    /// ends, so that no process id is given anew meanwhile.
    pub fn release_after(self, meanwhile: impl FnOnce()) -> Vec<ExitStatus> {
        let Gang { gate, ranks } = self;
        drop(gate);
        meanwhile();
        let begin = Instant::now();
        let ended = ranks.into_iter().map(|mut rank| {
            loop {
                if let Some(status) = rank.try_wait().expect("a rank") {
                    return status;
                }
                assert!(begin.elapsed() < LIMIT, "rank with process id {} hangs", rank.id());
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        ended.collect()
    }
}

impl Default for Gang {
    fn default() -> Self {
        Gang::new()
    }
}
