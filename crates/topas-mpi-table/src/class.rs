//! What a function is for, and whether it can wait.

/// When an operation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallProgress {
    /// When the function returns.
    Blocking,
    /// When a function of class [`FunctionClass::Wait`] or [`FunctionClass::Test`] says so of its
    /// request.
    Nonblocking,
    /// The function prepares a request; [`FunctionClass::Start`] begins the operation, each time
    /// anew.
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
pub enum FunctionClass {
    /// Sends to one process.
    Send(CallProgress),
    /// Receives from one process.
    Receive(CallProgress),
    /// Both in one call.
    SendReceive(CallProgress),
    /// Sends in partitions; see [`FunctionClass::Partition`].
    PartitionedSend,
    /// Receives in partitions.
    PartitionedReceive,
    /// Gives away a partition, or asks for one.
    Partition,
    /// Looks for a message and leaves it.
    Probe(CallProgress),
    /// Looks for a message and takes it out of the queue.
    MatchedProbe(CallProgress),
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
    Collective(CallProgress),
    /// By all of a communicator, with the neighbours of its topology.
    Neighborhood(CallProgress),
    /// Operators of reductions.
    Operator,
    /// Memory of other processes.
    Rma(Rma),
    /// Synchronisation of windows.
    RmaSynchronization(Epoch),
    /// Windows themselves.
    Window,
    /// Data of files.
    Io(Transfer, Position, Coordination, CallProgress),
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

impl FunctionClass {
    /// The class of a row's other functions, which differ only in when they are over.
    pub(crate) const fn with(self, progress: CallProgress) -> FunctionClass {
        match self {
            FunctionClass::Send(_) => FunctionClass::Send(progress),
            FunctionClass::Receive(_) => FunctionClass::Receive(progress),
            FunctionClass::SendReceive(_) => FunctionClass::SendReceive(progress),
            FunctionClass::Collective(_) => FunctionClass::Collective(progress),
            FunctionClass::Neighborhood(_) => FunctionClass::Neighborhood(progress),
            other => other,
        }
    }

    /// When an operation of this class is over; None where there is no operation but the call.
    pub const fn progress(self) -> Option<CallProgress> {
        match self {
            FunctionClass::Send(progress)
            | FunctionClass::Receive(progress)
            | FunctionClass::SendReceive(progress)
            | FunctionClass::Probe(progress)
            | FunctionClass::MatchedProbe(progress)
            | FunctionClass::Collective(progress)
            | FunctionClass::Neighborhood(progress)
            | FunctionClass::Io(_, _, _, progress) => Some(progress),
            FunctionClass::PartitionedSend | FunctionClass::PartitionedReceive => {
                Some(CallProgress::Persistent)
            }
            _ => None,
        }
    }

    /// What functions of this class wait for, unless their row says otherwise.
    pub(crate) const fn waits(self) -> Waits {
        match self {
            FunctionClass::Send(CallProgress::Blocking)
            | FunctionClass::Receive(CallProgress::Blocking)
            | FunctionClass::SendReceive(CallProgress::Blocking)
            | FunctionClass::Probe(CallProgress::Blocking)
            | FunctionClass::MatchedProbe(CallProgress::Blocking)
            | FunctionClass::Wait
            | FunctionClass::RmaSynchronization(Epoch::General | Epoch::Passive) => Waits::Partner,
            FunctionClass::Collective(CallProgress::Blocking)
            | FunctionClass::Neighborhood(CallProgress::Blocking)
            | FunctionClass::RmaSynchronization(Epoch::Fence)
            | FunctionClass::Io(
                _,
                _,
                Coordination::Together,
                CallProgress::Blocking | CallProgress::End,
            ) => Waits::Group,
            FunctionClass::Io(_, _, Coordination::Alone, CallProgress::Blocking) => Waits::Storage,
            // A split access may do all of its work at its beginning.
            FunctionClass::Io(_, _, Coordination::Together, CallProgress::Begin) => Waits::Group,
            _ => Waits::Nothing,
        }
    }
}
