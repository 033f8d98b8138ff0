//! The flows of the table with places of arguments in place of their names, made when this is
//! compiled: a cache line per function.

mod make;
#[cfg(test)]
mod tests;

use topas_mpi_profile::layout::FUNCTIONS;
use topas_mpi_table as table;

/// No such argument.
pub const NONE: u8 = u8::MAX;

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
    /// A communicator gets a name.
    CommName,
    /// A communicator comes.
    CommMade,
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

/// Which way, and who knows how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Way {
    /// To others, or to a file
    Sent,
    /// From others, or from a file
    Received,
}

/// Who takes part; as [`table::By`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum By {
    /// Every process
    All,
    /// The root
    Root,
    /// All but the root
    Others,
    /// All; between groups, all but those beside the root
    Group,
    /// All but rank 0
    NotFirst,
}

/// As [`table::InPlace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum InPlace {
    /// The same
    Same,
    /// Nothing
    Nothing,
    /// Without the own block
    Others,
    /// Another amount
    Instead,
    /// Another amount without the own block
    OthersInstead,
}

/// As [`table::ToldBy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Told {
    /// By the arguments
    Arguments,
    /// By the status of the call
    Status,
    /// By that of its completion
    Completion,
    /// By that of the function that ends it
    End,
}

/// As [`table::Amount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Form {
    /// `count`
    Block,
    /// 1
    Element,
    /// For each of many `count`
    Each,
    /// In each partition `count`
    Partitions,
    /// For each of many `counts[i]`
    Sum,
    /// The same of `datatypes[i]`
    Typed,
    /// `counts[rank]`
    Own,
}

/// How much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// In which way it is told
    pub form: Form,
    /// Over which processes
    pub of: table::Span,
    /// The argument that counts
    pub count: u8,
    /// The argument that is the datatype
    pub datatype: u8,
    /// The argument that tells the number of partitions
    pub partitions: u8,
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Which way
    pub way: Way,
    /// Who knows how much it was
    pub told: Told,
    /// Who takes part
    pub by: By,
    /// The argument that is the rank at the other end
    pub peer: u8,
    /// What `MPI_IN_PLACE` makes of it
    pub in_place: InPlace,
    /// Nothing moves if the operator is `MPI_NO_OP`
    pub unless_no_op: bool,
    /// How much
    pub amount: Amount,
    /// How much in place, if that is told in another way
    pub instead: Amount,
}

/// All that is to be done about a function.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Plan {
    /// What
    pub act: Act,
    /// Its shape, if it is one of many
    pub hot: Hot,
    /// Flows in use
    pub flows: u8,
    /// The communicator, window or file
    pub object: u8,
    /// The count argument
    pub count: u8,
    /// The buffer before it, if the count means nothing where that is `MPI_IN_PLACE`
    pub count_unless_in_place: u8,
    /// Where the request goes
    pub request: u8,
    /// The buffer that may be `MPI_IN_PLACE`
    pub in_place: u8,
    /// The root
    pub root: u8,
    /// The operator
    pub op: u8,
    /// The status
    pub status: u8,
    /// The matched message
    pub message: u8,
    /// The argument that the act is about
    pub about: u8,
    /// What is waited for by who waits for its request: a [`Waited`]
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
    /// The object is a communicator
    pub is_comm: bool,
    /// Its calls and time count for the communicator
    pub traffic: bool,
    /// Flows
    pub flow: [Flow; 3],
}

/// By number of the function.
pub static PLANS: [Plan; FUNCTIONS] = make::plans();
