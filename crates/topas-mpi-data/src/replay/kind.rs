//! What a call means for a replay.

use topas_mpi_table::{CallProgress, Epoch, Function, FunctionClass, Gathering, ParameterKind};

/// Which of its requests a call completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completes {
    /// The only one
    One,
    /// One of several
    Any,
    /// Some of several
    Some,
    /// All of them
    All,
}

/// What a call means for a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    /// The world begins
    Begins,
    /// The world ends
    Ends,
    /// Takes no time on an ideal machine
    Free,
    /// The same, and may tell that measuring pauses
    Controls,
    /// Takes no time, and is repeated until there is something
    Polls,
    /// Sends
    Send,
    /// Sends; its request is completed later
    SendStarted,
    /// Receives
    Receive,
    /// Posts a receive
    ReceivePosted,
    /// Sends and receives
    Both,
    /// Waits for a message and leaves it
    Probe,
    /// Waits for requests
    Waits(Completes),
    /// Asks for requests
    Tests(Completes),
    /// All of a communicator or window come together
    Gathers(Gathering),
    /// The same; the request is completed later
    GatheringStarted(Gathering),
    /// Not modelled: takes as long as it took
    AsMeasured(AsMeasured),
    /// Takes no time; what completes its request is not modelled
    StartedAsMeasured(AsMeasured),
}

/// Why a call takes as long in the model as it did in reality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AsMeasured {
    /// Requests that are started again and again: the log does not tell which
    Persistent,
    /// A message that is taken out of the queue before it is received
    MatchedProbe,
    /// Locks, partners and ends of windows
    Rma,
    /// Files: a network does not make them faster
    Files,
    /// Other worlds
    Worlds,
    /// Collectives of neighbours, and communicators that only a group makes
    Groups,
    /// A collective on a communicator whose members the log does not tell
    UnknownCommunicator,
    /// A message whose sender is not in the log, or a collective to which not all came
    Unmatched,
}

impl AsMeasured {
    /// All reasons.
    pub const ALL: [AsMeasured; 8] = [
        AsMeasured::Persistent,
        AsMeasured::MatchedProbe,
        AsMeasured::Rma,
        AsMeasured::Files,
        AsMeasured::Worlds,
        AsMeasured::Groups,
        AsMeasured::UnknownCommunicator,
        AsMeasured::Unmatched,
    ];

    /// Its word in data.
    pub const fn word(self) -> &'static str {
        match self {
            AsMeasured::Persistent => "persistent",
            AsMeasured::MatchedProbe => "matched-probe",
            AsMeasured::Rma => "rma",
            AsMeasured::Files => "files",
            AsMeasured::Worlds => "worlds",
            AsMeasured::Groups => "groups",
            AsMeasured::UnknownCommunicator => "unknown-communicator",
            AsMeasured::Unmatched => "unmatched",
        }
    }

    /// What it is, for people.
    pub const fn about(self) -> &'static str {
        match self {
            AsMeasured::Persistent => "persistent and partitioned requests",
            AsMeasured::MatchedProbe => "matched probes and their receives",
            AsMeasured::Rma => "locks, partners and ends of windows",
            AsMeasured::Files => "calls of MPI-I/O",
            AsMeasured::Worlds => "starting and connecting processes",
            AsMeasured::Groups => "collectives of neighbours and of groups",
            AsMeasured::UnknownCommunicator => {
                "collectives of communicators that the log does not tell apart"
            }
            AsMeasured::Unmatched => "calls whose partners are not in the log",
        }
    }
}

impl CallKind {
    /// That of a function.
    pub(super) fn of(function: &Function) -> CallKind {
        use CallProgress::{Blocking, Nonblocking};
        let matched = function.parameters(true).any(|p| p.kind == ParameterKind::Message);
        match function.class {
            FunctionClass::World => match function.name {
                "MPI_Init" | "MPI_Init_thread" => CallKind::Begins,
                "MPI_Finalize" => CallKind::Ends,
                _ => CallKind::Free,
            },
            _ if function.name == "MPI_Pcontrol" => CallKind::Controls,
            FunctionClass::Probe(Nonblocking) => CallKind::Polls,
            _ if matched => CallKind::AsMeasured(AsMeasured::MatchedProbe),
            FunctionClass::Send(Blocking) => CallKind::Send,
            FunctionClass::Send(Nonblocking) => CallKind::SendStarted,
            FunctionClass::Receive(Blocking) => CallKind::Receive,
            FunctionClass::Receive(Nonblocking) => CallKind::ReceivePosted,
            FunctionClass::SendReceive(Blocking) => CallKind::Both,
            FunctionClass::Probe(_) => CallKind::Probe,
            FunctionClass::SendReceive(_)
            | FunctionClass::PartitionedSend
            | FunctionClass::PartitionedReceive
            | FunctionClass::Partition
            | FunctionClass::Start => CallKind::AsMeasured(AsMeasured::Persistent),
            FunctionClass::Wait => match function.name {
                "MPI_Wait" => CallKind::Waits(Completes::One),
                "MPI_Waitany" => CallKind::Waits(Completes::Any),
                "MPI_Waitsome" => CallKind::Waits(Completes::Some),
                _ => CallKind::Waits(Completes::All),
            },
            FunctionClass::Test => match function.name {
                "MPI_Test" => CallKind::Tests(Completes::One),
                "MPI_Testany" => CallKind::Tests(Completes::Any),
                "MPI_Testsome" => CallKind::Tests(Completes::Some),
                _ => CallKind::Tests(Completes::All),
            },
            FunctionClass::Collective(Nonblocking) => match function.gathering() {
                Some(shape) => CallKind::GatheringStarted(shape),
                None => CallKind::Free,
            },
            FunctionClass::Neighborhood(Blocking) => CallKind::AsMeasured(AsMeasured::Groups),
            FunctionClass::Neighborhood(Nonblocking) => {
                CallKind::StartedAsMeasured(AsMeasured::Groups)
            }
            FunctionClass::RmaSynchronization(Epoch::General | Epoch::Passive) => {
                CallKind::AsMeasured(AsMeasured::Rma)
            }
            // The log does not number the ends of windows.
            _ if function.name == "MPI_Win_free" => CallKind::AsMeasured(AsMeasured::Rma),
            FunctionClass::Io(..) | FunctionClass::File => CallKind::AsMeasured(AsMeasured::Files),
            FunctionClass::Spawn | FunctionClass::Connect => {
                CallKind::AsMeasured(AsMeasured::Worlds)
            }
            FunctionClass::Communicator
                if ["MPI_Comm_create_group", "MPI_Intercomm_create"].contains(&function.name) =>
            {
                CallKind::AsMeasured(AsMeasured::Groups)
            }
            _ => function.gathering().map_or(CallKind::Free, CallKind::Gathers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_the_table() {
        let of = |name: &str| CallKind::of(topas_mpi_table::find(name).expect(name).0);
        for (name, kind) in [
            ("MPI_Ssend", CallKind::Send),
            ("MPI_Irecv", CallKind::ReceivePosted),
            ("MPI_Mrecv", CallKind::AsMeasured(AsMeasured::MatchedProbe)),
            ("MPI_Iprobe", CallKind::Polls),
            ("MPI_Waitall", CallKind::Waits(Completes::All)),
            ("MPI_Testsome", CallKind::Tests(Completes::Some)),
            ("MPI_Bcast", CallKind::Gathers(Gathering::FromRoot)),
            ("MPI_Comm_split", CallKind::Gathers(Gathering::All)),
            ("MPI_Win_fence", CallKind::Gathers(Gathering::All)),
            ("MPI_Ireduce", CallKind::GatheringStarted(Gathering::ToRoot)),
            ("MPI_Allreduce_init", CallKind::Free),
            ("MPI_Win_lock", CallKind::AsMeasured(AsMeasured::Rma)),
            ("MPI_Win_free", CallKind::AsMeasured(AsMeasured::Rma)),
            ("MPI_File_write_all", CallKind::AsMeasured(AsMeasured::Files)),
            ("MPI_Startall", CallKind::AsMeasured(AsMeasured::Persistent)),
            ("MPI_Neighbor_alltoall", CallKind::AsMeasured(AsMeasured::Groups)),
            ("MPI_Ineighbor_alltoall", CallKind::StartedAsMeasured(AsMeasured::Groups)),
            ("MPI_Neighbor_alltoall_init", CallKind::Free),
            ("MPI_Comm_rank", CallKind::Free),
            ("MPI_Pcontrol", CallKind::Controls),
            ("MPI_Finalize", CallKind::Ends),
        ] {
            assert_eq!(of(name), kind, "{name}");
        }
    }
}
