//! Worlds of spawned processes: those that a rank started, and what started its own.

/// Calls whose worlds a rank notes.
pub const WORLD_STARTS: usize = 16;

/// A call of `MPI_Comm_spawn` or `MPI_Comm_spawn_multiple` of which this rank was the root.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct WorldStart {
    /// Last part of the path of the program that was started; of several programs that of the first
    pub command: [u8; 48],
    /// Processes that were started
    pub ranks: u32,
    /// Function, plus 1
    pub function: u16,
    /// Number of the call path in the process; 0 if paths are not counted
    pub path: u16,
    /// Tick at which the call began
    pub began: u64,
    /// Tick at which it returned
    pub ended: u64,
}

/// What a rank knows of worlds beside its own.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Worlds {
    /// Hash of the launcher's name of this world; 0 if the launcher names none
    pub name: u64,
    /// The same of the world that started this one, as far as the launcher tells; else 0
    pub parent: u64,
    /// Rank there that was the root of the call; holds if [`Worlds::parent`] is not 0
    pub parent_rank: u32,
    /// 1 if the MPI says that other ranks started this world
    pub spawned: u32,
    /// Hash of the launcher's name of itself, the same in all worlds that come from one launch: odd if the name is of one
    /// launch alone, so that worlds with two names come from two; else even, as one launcher may have several. 0 if there is none
    pub launcher: u64,
    /// Calls in [`Worlds::started`]
    pub count: u32,
    /// Calls for which there was no room
    pub lost: u32,
    /// Calls that started worlds, in their order
    pub started: [WorldStart; WORLD_STARTS],
}

const _: () = assert!(size_of::<WorldStart>() == 72, "something lies between fields");
