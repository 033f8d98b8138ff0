//! The flows of the table with places of arguments in place of their names, made when this is
//! compiled: a cache line per function.

pub mod make;
#[cfg(test)]
mod tests;

use topas_mpi_profile::layout::FUNCTIONS;
use topas_mpi_table::{Flow, FlowAmount};

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

/// Places of the arguments of a shape.
#[derive(Clone, Copy)]
pub struct HotPlaces {
    /// The count argument of the first flow
    pub count: Place,
    /// Its datatype
    pub datatype: Place,
    /// Its peer, or the root
    pub peer: Place,
    /// Its tag
    pub tag: Place,
    /// The communicator
    pub object: Place,
    /// The request, or the status
    pub last: Place,
}

impl HotPlaces {
    /// Those of a shape, by its number; None if its functions have their arguments at different places.
    pub const fn of(hot: u8) -> Option<HotPlaces> {
        let [count, datatype, peer, tag, object, last] = match hot {
            hot if hot == Hot::Send as u8 => {
                return Some(HotPlaces { last: NONE, ..HotPlaces::MESSAGE });
            }
            hot if hot == Hot::Isend as u8 || hot == Hot::Recv as u8 || hot == Hot::Irecv as u8 => {
                return Some(HotPlaces::MESSAGE);
            }
            hot if hot == Hot::Both as u8 => [2, 3, NONE, NONE, 5, NONE],
            hot if hot == Hot::Bcast as u8 => [1, 2, 3, NONE, 4, NONE],
            _ => return None,
        };
        Some(HotPlaces { count, datatype, peer, tag, object, last })
    }

    /// Those of a call that sends one message or receives one.
    pub const MESSAGE: HotPlaces =
        HotPlaces { count: 1, datatype: 2, peer: 3, tag: 4, object: 5, last: 6 };

    /// Whether the arguments of a function stand there.
    const fn are_of(&self, plan: &CallPlan) -> bool {
        let [Flow { amount: FlowAmount::Block { count, datatype }, peer, .. }, ..] = &plan.flow
        else {
            return false;
        };
        let peer = match peer {
            Some(peer) => *peer,
            None => plan.root,
        };
        let last = if plan.request == NONE { plan.status } else { plan.request };
        *count == self.count
            && *datatype == self.datatype
            && peer == self.peer
            && plan.object == self.object
            && last == self.last
    }
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
