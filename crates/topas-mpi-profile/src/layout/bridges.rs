//! Communicators that a rank shares with other worlds: with the world that started its own, and with those that it
//! started. Ranks of these read here by which number and rank each other knows a communicator.

use super::WaitPeer;

/// Spawns that a rank can have part in.
pub const BRIDGES: usize = 16;

/// Communicators of several worlds that a rank can tell apart.
pub const BRIDGED: usize = 126;

/// Ranks of other worlds whose blame is told.
pub const OUTSIDERS: usize = 256;

/// An intercommunicator of `MPI_Comm_spawn` or `MPI_Comm_get_parent`, as the ranks of one world know it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Bridge {
    /// Its number in this world, which is the same on all ranks of the world that have part in it; written last
    pub number: u64,
    /// Tick at which the call began that started the other world; of ranks that were started, their first call of MPI
    pub began: u64,
    /// Tick at which this call returned
    pub ended: u64,
    /// Ranks of this world that have part in it
    pub local: u32,
    /// Ranks of the other world
    pub remote: u32,
    /// Rank in this world of the root of the call; holds on the side that started the other world
    pub root: u32,
    /// 1 on the side that was started
    pub started: u32,
    /// Ranks of this world on this node, as the launcher tells; 0 if it does not
    pub near: u32,
    /// Room
    pub reserved: u32,
}

/// A communicator that comes from a bridge, or the bridge itself.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Bridged {
    /// Its number in this world; written last
    pub number: u64,
    /// This rank in it: of an intercommunicator, in the local group
    pub rank: u32,
    /// Place of its bridge
    pub bridge: u32,
}

/// A rank of another world for which this rank waited.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Outsider {
    /// Id of the launch, as that rank has it
    pub id: [u8; 64],
    /// Its rank in its world
    pub rank: u32,
    /// 1 if its world started that of this rank, 0 if it was started
    pub parent: u32,
    /// How long, and for what
    pub waits: WaitPeer,
}

/// All of them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Bridges {
    /// Entries of [`Bridges::bridges`]
    pub count: u32,
    /// Entries of [`Bridges::communicators`]
    pub bridged: u32,
    /// Entries of [`Bridges::outsiders`]
    pub outside: u32,
    /// Room
    pub reserved: u32,
    /// Bridges
    pub bridges: [Bridge; BRIDGES],
    /// Communicators
    pub communicators: [Bridged; BRIDGED],
    /// Ranks of other worlds
    pub outsiders: [Outsider; OUTSIDERS],
}

impl Bridges {
    /// Those ranks of other worlds for which this one waited.
    pub fn outsiders(&self) -> &[Outsider] {
        self.outsiders.get(..self.outside as usize).unwrap_or_default()
    }
}

const _: () = assert!(
    size_of::<Bridge>() == 48 && size_of::<Bridged>() == 16 && size_of::<Outsider>() == 152,
    "something lies between fields"
);
