//! What a thread does at a time, and what a routine means for that.

use topas_mpi_table::{
    CallProgress, Direction, Epoch, Function, FunctionClass, Gathering, Parameter, ParameterKind,
    Waits, find,
};

/// What a thread does at a time. A moment belongs to one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TimeClass {
    /// Outside of MPI: the program computes
    Outside,
    /// Point-to-point calls, and calls that wait for requests, without the waits below
    PointToPoint,
    /// In a call that receives, before the message was sent
    LateSender,
    /// In a call that sends, before the receive was posted
    LateReceiver,
    /// Collectives, without the wait below
    Collective,
    /// In a call of all ranks of a communicator, before the others came
    CollectiveWait,
    /// Access to memory of other ranks, and its synchronization
    OneSided,
    /// Files
    File,
    /// Other calls of MPI: begin and end, communicators, datatypes
    Other,
    /// The log has no events of this time: they were overwritten, or cannot be read
    NotInLog,
    /// The program paused measuring by `MPI_Pcontrol(0)`
    Paused,
}

/// Number of [`TimeClass`].
pub const TIME_CLASSES: usize = 11;

impl TimeClass {
    /// All, by number.
    pub const ALL: [TimeClass; TIME_CLASSES] = [
        TimeClass::Outside,
        TimeClass::PointToPoint,
        TimeClass::LateSender,
        TimeClass::LateReceiver,
        TimeClass::Collective,
        TimeClass::CollectiveWait,
        TimeClass::OneSided,
        TimeClass::File,
        TimeClass::Other,
        TimeClass::NotInLog,
        TimeClass::Paused,
    ];

    /// The class of the time in a routine of this name; [`TimeClass::Other`] for one that is not known.
    pub fn of_routine(name: &str) -> TimeClass {
        find(name).map_or(TimeClass::Other, |(function, _)| class(function))
    }

    /// The class of the time in a call of a routine of this name that did not end: of one that waits for others, the wait.
    pub fn of_standing_routine(name: &str) -> TimeClass {
        match Meaning::of_routine(name) {
            Meaning::Send => TimeClass::LateReceiver,
            Meaning::Receive | Meaning::SendReceive | Meaning::Probe => TimeClass::LateSender,
            Meaning::Completion | Meaning::Completions if name.starts_with("MPI_Wait") => {
                TimeClass::LateSender
            }
            Meaning::Gathers(_) | Meaning::Meets | Meaning::Finalize => TimeClass::CollectiveWait,
            Meaning::OfEpoch(EpochCall::Start | EpochCall::Complete | EpochCall::Wait) => {
                TimeClass::LateSender
            }
            _ => TimeClass::of_routine(name),
        }
    }

    /// Whether the time is one of waiting for other ranks.
    pub const fn is_wait(self) -> bool {
        matches!(self, TimeClass::LateSender | TimeClass::LateReceiver | TimeClass::CollectiveWait)
    }
}

fn class(function: &Function) -> TimeClass {
    match function.class {
        FunctionClass::Send(_)
        | FunctionClass::Receive(_)
        | FunctionClass::SendReceive(_)
        | FunctionClass::PartitionedSend
        | FunctionClass::PartitionedReceive
        | FunctionClass::Partition
        | FunctionClass::Probe(_)
        | FunctionClass::MatchedProbe(_)
        | FunctionClass::SendBuffer
        | FunctionClass::Start
        | FunctionClass::Wait
        | FunctionClass::Test
        | FunctionClass::Request => TimeClass::PointToPoint,
        FunctionClass::Collective(_) | FunctionClass::Neighborhood(_) => TimeClass::Collective,
        FunctionClass::Rma(_) | FunctionClass::RmaSynchronization(_) | FunctionClass::Window => {
            TimeClass::OneSided
        }
        FunctionClass::Io(..) | FunctionClass::File => TimeClass::File,
        _ => TimeClass::Other,
    }
}

/// What a call means for messages and waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing that is looked at
    Nothing,
    /// Sends, and may wait for the receiver
    Send,
    /// Sends, and another call completes that
    SendStarted,
    /// Prepares sends whose calls name no partner
    SendPrepared,
    /// Receives
    Receive,
    /// Posts a receive, which another call completes
    ReceivePosted,
    /// Receives in a way that the log does not tell
    ReceiveUntold,
    /// Waits for a message and leaves it
    Probe,
    /// Sends and receives
    SendReceive,
    /// Completes one request
    Completion,
    /// Completes several requests
    Completions,
    /// All ranks of a communicator come together and wait
    Gathers(Gathering),
    /// The same, but another call waits
    GatherStarted(Gathering),
    /// All of a communicator, window or file wait for the last, as far as the log numbers such calls
    Meets,
    /// Waits for neighbours, or starts what waits for them: the log does not tell who these are
    MeetsNeighbors,
    /// Begins or ends an epoch of a window
    OfEpoch(EpochCall),
    /// `MPI_Finalize`
    Finalize,
}

/// What a call does with an epoch of a window that is posted and started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EpochCall {
    /// Lets others access the window of this rank
    Post,
    /// Begins to access the windows of others
    Start,
    /// Ends that
    Complete,
    /// Waits until others have ended their accesses
    Wait,
    /// The same, if they have ended
    Test,
}

impl EpochCall {
    fn of(function: &Function) -> Option<EpochCall> {
        match function.name {
            "MPI_Win_post" => Some(EpochCall::Post),
            "MPI_Win_start" => Some(EpochCall::Start),
            "MPI_Win_complete" => Some(EpochCall::Complete),
            "MPI_Win_wait" => Some(EpochCall::Wait),
            "MPI_Win_test" => Some(EpochCall::Test),
            _ => None,
        }
    }
}

/// What a call does with requests that are no collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestRole {
    /// Nothing
    Nothing,
    /// Starts one
    Starts,
    /// Starts some
    StartsSome,
    /// Waits until one that the program chose is complete
    WaitsForOne,
    /// Waits until all that the program chose are complete
    WaitsForAll,
    /// Completes any, or none
    Asks,
}

impl RequestRole {
    pub(super) fn of_routine(name: &str) -> RequestRole {
        let Some((function, _)) = find(name) else { return RequestRole::StartsSome };
        let gives = |parameter: &'static Parameter| {
            parameter.kind == ParameterKind::Request && parameter.direction == Direction::Out
        };
        match function.name {
            "MPI_Start" => RequestRole::Starts,
            "MPI_Startall" => RequestRole::StartsSome,
            "MPI_Wait" => RequestRole::WaitsForOne,
            "MPI_Waitall" => RequestRole::WaitsForAll,
            _ => match function.class {
                FunctionClass::Wait | FunctionClass::Test => RequestRole::Asks,
                FunctionClass::Collective(CallProgress::Nonblocking) => RequestRole::Nothing,
                _ if function.class.progress() == Some(CallProgress::Persistent) => {
                    RequestRole::Nothing
                }
                _ if function.parameters(false).any(gives) => RequestRole::Starts,
                _ => RequestRole::Nothing,
            },
        }
    }
}

impl Meaning {
    pub(super) fn of_routine(name: &str) -> Meaning {
        use CallProgress::{Blocking, Nonblocking, Persistent};
        let Some((function, _)) = find(name) else { return Meaning::Nothing };
        match function.class {
            _ if function.name == "MPI_Finalize" => Meaning::Finalize,
            // What receives a matched message names no partner.
            _ if matches!(function.name, "MPI_Mrecv" | "MPI_Imrecv") => Meaning::Nothing,
            FunctionClass::Send(Blocking) => Meaning::Send,
            FunctionClass::Send(Nonblocking) => Meaning::SendStarted,
            FunctionClass::Send(Persistent) => Meaning::SendPrepared,
            FunctionClass::Receive(Blocking) => Meaning::Receive,
            FunctionClass::Receive(Nonblocking) => Meaning::ReceivePosted,
            FunctionClass::Receive(Persistent) | FunctionClass::MatchedProbe(_) => {
                Meaning::ReceiveUntold
            }
            FunctionClass::Probe(Blocking) => Meaning::Probe,
            FunctionClass::SendReceive(Blocking) => Meaning::SendReceive,
            FunctionClass::SendReceive(_) => Meaning::ReceiveUntold,
            FunctionClass::Wait | FunctionClass::Test => {
                if matches!(function.name, "MPI_Wait" | "MPI_Waitany" | "MPI_Test" | "MPI_Testany")
                {
                    Meaning::Completion
                } else {
                    Meaning::Completions
                }
            }
            FunctionClass::Collective(Blocking) => {
                function.gathering().map_or(Meaning::Nothing, Meaning::Gathers)
            }
            FunctionClass::Collective(Nonblocking) => {
                function.gathering().map_or(Meaning::Nothing, Meaning::GatherStarted)
            }
            FunctionClass::Collective(_) => Meaning::Nothing,
            FunctionClass::Neighborhood(Persistent) => Meaning::Nothing,
            FunctionClass::Neighborhood(_) => Meaning::MeetsNeighbors,
            FunctionClass::RmaSynchronization(Epoch::General) => {
                EpochCall::of(function).map_or(Meaning::Nothing, Meaning::OfEpoch)
            }
            _ if matches!(function.waits, Waits::Group) => Meaning::Meets,
            _ => Meaning::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routines_have_the_class_of_what_they_do() {
        for (name, class) in [
            ("MPI_Send", TimeClass::PointToPoint),
            ("MPI_Waitall", TimeClass::PointToPoint),
            ("MPI_Allreduce", TimeClass::Collective),
            ("MPI_Win_fence", TimeClass::OneSided),
            ("MPI_File_write_all", TimeClass::File),
            ("MPI_Init", TimeClass::Other),
            ("routine 7", TimeClass::Other),
        ] {
            assert_eq!(TimeClass::of_routine(name), class, "{name}");
        }
        for (place, class) in TimeClass::ALL.iter().enumerate() {
            assert_eq!(*class as usize, place);
        }
    }

    #[test]
    fn a_call_that_does_not_end_waits() {
        for (name, class) in [
            ("MPI_Sendrecv", TimeClass::LateSender),
            ("MPI_Waitall", TimeClass::LateSender),
            ("MPI_Ssend", TimeClass::LateReceiver),
            ("MPI_Allreduce", TimeClass::CollectiveWait),
            ("MPI_Win_wait", TimeClass::LateSender),
            ("MPI_Test", TimeClass::PointToPoint),
            ("MPI_Irecv", TimeClass::PointToPoint),
            ("MPI_Init", TimeClass::Other),
        ] {
            assert_eq!(TimeClass::of_standing_routine(name), class, "{name}");
        }
    }

    #[test]
    fn routines_start_requests_and_complete_them() {
        for (name, role) in [
            ("MPI_Isend", RequestRole::Starts),
            ("MPI_Irecv", RequestRole::Starts),
            ("MPI_Rput", RequestRole::Starts),
            ("MPI_File_iread", RequestRole::Starts),
            ("MPI_Ineighbor_alltoall", RequestRole::Starts),
            ("MPI_Comm_idup", RequestRole::Starts),
            ("MPI_Send_init", RequestRole::Nothing),
            ("MPI_Start", RequestRole::Starts),
            ("MPI_Startall", RequestRole::StartsSome),
            ("MPI_Iallreduce", RequestRole::Nothing),
            ("MPI_Allreduce", RequestRole::Nothing),
            ("MPI_Wait", RequestRole::WaitsForOne),
            ("MPI_Waitall", RequestRole::WaitsForAll),
            ("MPI_Waitsome", RequestRole::Asks),
            ("MPI_Test", RequestRole::Asks),
        ] {
            assert_eq!(RequestRole::of_routine(name), role, "{name}");
        }
    }

    #[test]
    fn routines_mean_what_the_standard_says() {
        for (name, meaning) in [
            ("MPI_Ssend", Meaning::Send),
            ("MPI_Isend", Meaning::SendStarted),
            ("MPI_Recv", Meaning::Receive),
            ("MPI_Mrecv", Meaning::Nothing),
            ("MPI_Irecv", Meaning::ReceivePosted),
            ("MPI_Probe", Meaning::Probe),
            ("MPI_Iprobe", Meaning::Nothing),
            ("MPI_Mprobe", Meaning::ReceiveUntold),
            ("MPI_Waitall", Meaning::Completions),
            ("MPI_Wait", Meaning::Completion),
            ("MPI_Bcast", Meaning::Gathers(Gathering::FromRoot)),
            ("MPI_Reduce", Meaning::Gathers(Gathering::ToRoot)),
            ("MPI_Alltoall", Meaning::Gathers(Gathering::All)),
            ("MPI_Ibarrier", Meaning::GatherStarted(Gathering::All)),
            ("MPI_Ireduce", Meaning::GatherStarted(Gathering::ToRoot)),
            ("MPI_Bcast_init", Meaning::Nothing),
            ("MPI_File_open", Meaning::Meets),
            ("MPI_Neighbor_alltoall", Meaning::MeetsNeighbors),
            ("MPI_Ineighbor_allgatherv", Meaning::MeetsNeighbors),
            ("MPI_Neighbor_alltoall_init", Meaning::Nothing),
            ("MPI_Win_post", Meaning::OfEpoch(EpochCall::Post)),
            ("MPI_Win_start", Meaning::OfEpoch(EpochCall::Start)),
            ("MPI_Win_complete", Meaning::OfEpoch(EpochCall::Complete)),
            ("MPI_Win_wait", Meaning::OfEpoch(EpochCall::Wait)),
            ("MPI_Win_test", Meaning::OfEpoch(EpochCall::Test)),
            ("MPI_Win_fence", Meaning::Meets),
            ("MPI_Win_lock", Meaning::Nothing),
            ("MPI_Comm_rank", Meaning::Nothing),
        ] {
            assert_eq!(Meaning::of_routine(name), meaning, "{name}");
        }
    }
}
