//! The flows of the table with places of arguments in place of their names, made when this is
//! compiled: a cache line per function.

pub mod make;
#[cfg(test)]
mod tests;

use topas_mpi_profile::layout::FUNCTIONS;
use topas_mpi_table::Flow;

use crate::flow::object::ObjectKind;

/// The place of an argument in a call.
pub type Place = u8;

/// No such argument.
pub const NONE: Place = Place::MAX;

/// What is to be done about a function, beside its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Act {
    /// Nothing at all.
    Nothing,
    /// Flows only.
    Flows,
    /// One request is waited for.
    Wait,
    /// One is asked for.
    Test,
    /// One of many.
    Waitany,
    /// One of many.
    Testany,
    /// All.
    Waitall,
    /// All.
    Testall,
    /// Some.
    Waitsome,
    /// Some.
    Testsome,
    /// Starts a request.
    Start,
    /// Starts many.
    Startall,
    /// Frees a request.
    RequestFree,
    /// Cancels one.
    Cancel,
    /// A message that is to be received.
    Message,
    /// The same, if there is one.
    MessageIf,
    /// Ends a split access to a file.
    SplitEnd,
    /// A datatype goes.
    TypeFree,
    /// A communicator, window or file goes.
    ObjectFree,
    /// A communicator or window gets a name.
    ObjectName,
    /// A communicator, window or file comes.
    ObjectMade,
}

impl Act {
    /// Whether requests are completed.
    #[inline(always)]
    pub const fn completes(self) -> bool {
        self as u8 >= Act::Wait as u8 && self as u8 <= Act::Testsome as u8
    }
}

/// A shape of calls that programs make all the time: see `flow::hot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Hot {
    /// None of them
    No,
    /// One block to a rank
    Send,
    /// One block to a rank, later
    Isend,
    /// One block to or from a rank of a window
    Rma,
    /// One block from a rank, now
    Recv,
    /// One block from a rank, later
    Irecv,
    /// The same block sent and received by all
    Both,
    /// One block from the root
    Bcast,
    /// One block to a rank, and one from a rank
    Sendrecv,
}

/// All that is to be done about a function.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct CallPlan {
    /// What
    pub act: Act,
    /// The shape of the function, if it is one of many
    pub hot: Hot,
    /// Flows in use
    pub flows: u8,
    /// The communicator, window or file
    pub object: Place,
    /// The count argument
    pub count: Place,
    /// The buffer before it, if the count means nothing where that is `MPI_IN_PLACE`
    pub count_unless_in_place: Place,
    /// Where the request goes
    pub request: Place,
    /// The buffer that may be `MPI_IN_PLACE`
    pub in_place: Place,
    /// The root
    pub root: Place,
    /// The operator
    pub op: Place,
    /// The status
    pub status: Place,
    /// The matched message
    pub message: Place,
    /// The argument that the act is about
    pub about: Place,
    /// What is waited for by who waits for its request: a `Waited`
    pub waited: u8,
    /// The request is started by another function, each time anew
    pub persistent: bool,
    /// The peer counts: messages from one to one, and access to windows
    pub peers: bool,
    /// The flow needs the communicator: its size, the own rank, neighbours
    pub needs_object: bool,
    /// The first of two functions, for the one that ends a split access: its number
    pub begin: u16,
    /// Neighbours of the topology, not all
    pub neighbors: bool,
    /// What the object is
    pub kind: ObjectKind,
    /// The calls and the time of the function count for the object
    pub traffic: bool,
    /// Flows
    pub flow: [Flow<Place>; 3],
}

impl CallPlan {
    /// Whether the object is a communicator.
    #[inline(always)]
    pub const fn is_comm(&self) -> bool {
        self.kind as u8 == ObjectKind::Comm as u8
    }
}

/// By number of the function.
pub static PLANS: [CallPlan; FUNCTIONS] = make::plans();
