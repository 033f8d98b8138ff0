//! What a function is for, and whether it can wait.

/// When an operation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Progress {
    /// When the function returns.
    Blocking,
    /// When a function of class [`Class::Wait`] or [`Class::Test`] says so of its request.
    Nonblocking,
    /// The function prepares a request; [`Class::Start`] begins the operation, each time anew.
    Persistent,
    /// The function begins an access that its `_end` ends; no request.
    Begin,
    /// The function ends what its `_begin` began.
    End,
}

/// Access to the memory of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rma {
    /// Write.
    Put,
    /// Read.
    Get,
    /// Combine.
    Accumulate,
    /// Combine, and read what was there.
    Fetch,
}

/// How access to a window is synchronised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Epoch {
    /// Active target, by all of the window.
    Fence,
    /// Active target, by the processes named (post, start, complete, wait).
    General,
    /// Passive target: locks, and flushes between them.
    Passive,
}

/// Direction of an access to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transfer {
    /// From the file.
    Read,
    /// Into the file.
    Write,
}

/// Where in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// At the offset given.
    Explicit,
    /// At the pointer of the process.
    Individual,
    /// At the pointer all share.
    Shared,
}

/// Who takes part in an access to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coordination {
    /// One process.
    Alone,
    /// All that opened the file.
    Together,
}

/// What a function is for. One class per function; what has bytes is told by its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Sends to one process.
    Send(Progress),
    /// Receives from one process.
    Receive(Progress),
    /// Both in one call.
    SendReceive(Progress),
    /// Sends in partitions; see [`Class::Partition`].
    PartitionedSend,
    /// Receives in partitions.
    PartitionedReceive,
    /// Gives away a partition, or asks for one.
    Partition,
    /// Looks for a message and leaves it.
    Probe(Progress),
    /// Looks for a message and takes it out of the queue.
    MatchedProbe(Progress),
    /// The buffer for buffered sends.
    SendBuffer,
    /// Starts persistent and partitioned requests.
    Start,
    /// Waits for requests.
    Wait,
    /// Asks for requests, and completes them if it can.
    Test,
    /// Asks for requests and leaves them, frees or cancels them.
    Request,
    /// Requests of the user's own.
    GeneralizedRequest,
    /// What is in a status.
    Status,
    /// By all of a communicator.
    Collective(Progress),
    /// By all of a communicator, with the neighbours of its topology.
    Neighborhood(Progress),
    /// Operators of reductions.
    Operator,
    /// Memory of other processes.
    Rma(Rma),
    /// Synchronisation of windows.
    RmaSynchronization(Epoch),
    /// Windows themselves.
    Window,
    /// Data of files.
    Io(Transfer, Position, Coordination, Progress),
    /// Files themselves: open, close, views, sizes, pointers.
    File,
    /// Starts processes.
    Spawn,
    /// Connects running processes; ports and names.
    Connect,
    /// Init, finalize, abort.
    World,
    /// Sessions.
    Session,
    /// Groups.
    Group,
    /// Communicators.
    Communicator,
    /// Virtual topologies.
    Topology,
    /// Datatypes.
    Datatype,
    /// Packs and unpacks, in memory.
    Pack,
    /// Attributes.
    Attribute,
    /// Error handlers, classes, codes, texts.
    Error,
    /// Info objects.
    Info,
    /// Memory from MPI, names, versions, threads.
    Environment,
    /// Clocks.
    Timer,
    /// Between the languages, and handles as integers.
    Conversion,
    /// `MPI_Pcontrol`.
    Profiling,
    /// `MPI_T`: control and performance variables, events.
    Tool,
}

/// For what a function may wait before it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waits {
    /// For nothing: what the standard calls local.
    Nothing,
    /// For one or some other processes, or the rest of their message.
    Partner,
    /// For all of a communicator, window or file.
    Group,
    /// For a file.
    Storage,
    /// For the launcher or name server.
    Runtime,
}

impl Class {
    /// The class of a row's other functions, which differ only in when they are over.
    pub(crate) const fn with(self, progress: Progress) -> Class {
        match self {
            Class::Send(_) => Class::Send(progress),
            Class::Receive(_) => Class::Receive(progress),
            Class::SendReceive(_) => Class::SendReceive(progress),
            Class::Collective(_) => Class::Collective(progress),
            Class::Neighborhood(_) => Class::Neighborhood(progress),
            other => other,
        }
    }

    /// When an operation of this class is over; None where there is no operation but the call.
    pub const fn progress(self) -> Option<Progress> {
        match self {
            Class::Send(progress)
            | Class::Receive(progress)
            | Class::SendReceive(progress)
            | Class::Probe(progress)
            | Class::MatchedProbe(progress)
            | Class::Collective(progress)
            | Class::Neighborhood(progress)
            | Class::Io(_, _, _, progress) => Some(progress),
            Class::PartitionedSend | Class::PartitionedReceive => Some(Progress::Persistent),
            _ => None,
        }
    }

    /// What functions of this class wait for, unless their row says otherwise.
    pub(crate) const fn waits(self) -> Waits {
        match self {
            Class::Send(Progress::Blocking)
            | Class::Receive(Progress::Blocking)
            | Class::SendReceive(Progress::Blocking)
            | Class::Probe(Progress::Blocking)
            | Class::MatchedProbe(Progress::Blocking)
            | Class::Wait
            | Class::RmaSynchronization(Epoch::General | Epoch::Passive) => Waits::Partner,
            Class::Collective(Progress::Blocking)
            | Class::Neighborhood(Progress::Blocking)
            | Class::RmaSynchronization(Epoch::Fence)
            | Class::Io(_, _, Coordination::Together, Progress::Blocking | Progress::End) => {
                Waits::Group
            }
            Class::Io(_, _, Coordination::Alone, Progress::Blocking) => Waits::Storage,
            // A split access may do all of its work at its beginning.
            Class::Io(_, _, Coordination::Together, Progress::Begin) => Waits::Group,
            _ => Waits::Nothing,
        }
    }
}
