//! What each function means for waits, made when this is compiled.

// Done by the compiler: what panics is an error of the build.
#![allow(clippy::indexing_slicing)]

use topas_mpi_profile::layout::FUNCTIONS;
use topas_mpi_table as table;
use topas_mpi_table::{
    CallProgress, Direction, Epoch, Function, FunctionClass, Gathering, ParameterKind,
};
use topas_mpi_waits::collective::Shape;
use topas_mpi_waits::protocol;

use crate::flow::plan::make::{of_kind, or, place};
use crate::flow::plan::{Hot, HotPlaces, NONE, PLANS, Place};

/// What a function means for waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Act {
    /// Nothing
    Nothing,
    /// Sends and waits
    Send,
    /// Sends; its request is completed later
    SendStarted,
    /// Prepares a request that sends
    SendPrepared,
    /// Receives
    Receive,
    /// Posts a receive
    ReceivePosted,
    /// Prepares a request that receives
    ReceivePrepared,
    /// Sends and receives
    SendReceive,
    /// Sends and posts a receive, with one request for both
    SendReceiveStarted,
    /// Takes a message out of the queue
    Matched,
    /// The same, if there is one
    MatchedIf,
    /// Waits for a message and leaves it
    Probed,
    /// Asks for a message and leaves it
    ProbedIf,
    /// Prepares a request that sends in partitions
    PartitionsPrepared,
    /// Prepares a request that receives in partitions
    PartitionedReceivePrepared,
    /// Partitions are ready to be sent
    PartitionsReady,
    /// Starts prepared requests
    Start,
    /// Prepares a collective, which is started later
    CollectivePrepared,
    /// All members of a communicator make others from it
    Derived,
    /// The same, but the communicator is there once its request is completed
    DerivedLater,
    /// A communicator is made in some other way: it has no number
    Made,
    /// Processes are started, and a communicator is made with them
    Spawned,
    /// Tells the communicator with the ranks that started this world
    Parent,
    /// A group makes a communicator, or two of them do
    MadeByGroup,
    /// A collective, whose request is completed later
    CollectiveStarted,
    /// A communicator or window gets a name, which the event log keeps
    Named,
    /// Lets a group access the window of this rank
    Posted,
    /// Begins to access the windows of a group
    AccessStarted,
    /// Ends such an access
    AccessCompleted,
    /// Waits until all such accesses to the window of this rank have ended
    ExposureWaited,
    /// The same, if they have ended
    ExposureTested,
    /// Asks whether a partition has come
    PartitionAsked,
    /// Gets a lock of a window
    Locked,
    /// Gives one back
    Unlocks,
    /// Frees a communicator, window or file, to which all of its members come
    Freed,
}

/// Functions that free what all of its members share.
const FREEING: &[&str] =
    &["MPI_Comm_free", "MPI_Comm_disconnect", "MPI_Win_free", "MPI_File_close"];

/// The role of a function, with places of arguments.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct Role {
    /// What
    pub act: Act,
    /// Who waits for whom, if all of a communicator, window or file come to it
    pub gathers: Option<Shape>,
    /// Who waits for whom when what it prepares is started
    pub prepares: Option<Shape>,
    /// Whose members these are; of a call on no communicator, the window or file
    pub members: Place,
    /// The group at the other end of an epoch
    pub group: Place,
    /// The communicator
    pub comm: Place,
    /// To whom
    pub dest: Place,
    /// With which tag
    pub sendtag: Place,
    /// From whom
    pub source: Place,
    /// With which tag
    pub recvtag: Place,
    /// The status of what was received
    pub status: Place,
    /// Where the request goes
    pub request: Place,
    /// A new communicator
    pub made: Place,
    /// The root
    pub root: Place,
    /// What is to hold for a communicator
    pub info: Place,
    /// Members of one communicator make several, each of them one
    pub makes_parts: bool,
    /// The event log tells what its calls are about
    pub is_logged: bool,
    /// What is made is a communicator
    pub makes_comm: bool,
    /// How what is sent goes
    pub sending: Sending,
}

/// How a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// As its size says
    Standard,
    /// It waits for its receiver
    Synchronous,
    /// It waits for nobody
    Buffered,
}

impl Role {
    /// Whether a function means anything for waits.
    pub const fn matters(&self) -> bool {
        self.gathers.is_some() || !matches!(self.act, Act::Nothing)
    }

    /// Bytes of a message as they count for whether it waits for its receiver.
    #[inline(always)]
    pub const fn counted(&self, bytes: u64) -> u32 {
        match self.sending {
            Sending::Standard => protocol::counted(bytes),
            Sending::Synchronous => protocol::SYNCHRONOUS,
            Sending::Buffered => protocol::BUFFERED,
        }
    }

    /// Whether it sends a message and receives another.
    #[inline(always)]
    pub const fn exchanges(&self) -> bool {
        matches!(self.act, Act::SendReceive | Act::SendReceiveStarted)
    }

    /// Whether all of a communicator come to the call, and nothing else is to be known of it.
    pub const fn meets(&self) -> bool {
        let gathers = matches!(self.gathers, Some(shape) if !matches!(shape, Shape::Neighbors));
        gathers && matches!(self.act, Act::Nothing) && self.info == NONE
    }

    /// Whether something is told before the call: that the rank comes to it.
    pub const fn comes(&self) -> bool {
        let told = matches!(
            self.act,
            Act::AccessCompleted | Act::AccessStarted | Act::Unlocks | Act::DerivedLater
        );
        self.gathers.is_some() || told
    }
}

/// By number of the function.
pub static ROLES: [Role; FUNCTIONS] = roles();

/// Functions of a shape of one message mean the same for waits, and have their arguments at the same places:
/// what tells waits of their calls at once looks into no role.
const _: () = {
    const MESSAGE: HotPlaces = HotPlaces::MESSAGE;
    let mut function = 0;
    while function < FUNCTIONS {
        let (hot, role) = (PLANS[function].hot, &ROLES[function]);
        let [rank, tag] = match (hot, role.act) {
            (Hot::Send, Act::Send) | (Hot::Isend, Act::SendStarted) => [role.dest, role.sendtag],
            (Hot::Recv, Act::Receive) | (Hot::Irecv, Act::ReceivePosted) => {
                [role.source, role.recvtag]
            }
            (Hot::Send | Hot::Isend | Hot::Recv | Hot::Irecv, _) => [NONE, NONE],
            _ => [MESSAGE.peer, MESSAGE.tag],
        };
        let last = match hot {
            Hot::Recv => role.status,
            Hot::Isend | Hot::Irecv => role.request,
            _ => MESSAGE.last,
        };
        assert!(rank == MESSAGE.peer && tag == MESSAGE.tag && last == MESSAGE.last);
        let is_message = matches!(hot, Hot::Send | Hot::Isend | Hot::Recv | Hot::Irecv);
        assert!(!is_message || role.comm == MESSAGE.object);
        function += 1;
    }
};

const fn act(f: &Function) -> Act {
    use CallProgress::{Blocking, Nonblocking, Persistent};
    // What receives a matched message: that had its number when it was matched.
    let matched = of_kind(f, ParameterKind::Message, Direction::InOut) != NONE;
    match f.class {
        _ if f.is_one_of(FREEING) => Act::Freed,
        FunctionClass::Send(Blocking) => Act::Send,
        FunctionClass::Send(Nonblocking) => Act::SendStarted,
        FunctionClass::Send(Persistent) => Act::SendPrepared,
        FunctionClass::Receive(_) if matched => Act::Nothing,
        FunctionClass::Receive(Blocking) => Act::Receive,
        FunctionClass::Receive(Nonblocking) => Act::ReceivePosted,
        FunctionClass::Receive(Persistent) => Act::ReceivePrepared,
        FunctionClass::PartitionedSend => Act::PartitionsPrepared,
        FunctionClass::PartitionedReceive => Act::PartitionedReceivePrepared,
        FunctionClass::Partition
            if f.is_one_of(&["MPI_Pready", "MPI_Pready_range", "MPI_Pready_list"]) =>
        {
            Act::PartitionsReady
        }
        FunctionClass::Partition if f.is_one_of(&["MPI_Parrived"]) => Act::PartitionAsked,
        FunctionClass::SendReceive(Blocking) => Act::SendReceive,
        FunctionClass::SendReceive(Nonblocking) => Act::SendReceiveStarted,
        FunctionClass::MatchedProbe(Blocking) => Act::Matched,
        FunctionClass::MatchedProbe(_) => Act::MatchedIf,
        FunctionClass::Probe(Blocking) => Act::Probed,
        FunctionClass::Probe(Nonblocking) => Act::ProbedIf,
        FunctionClass::Start => {
            if f.is_one_of(&["MPI_Start", "MPI_Startall"]) {
                Act::Start
            } else {
                Act::Nothing
            }
        }
        FunctionClass::Collective(Nonblocking) | FunctionClass::Neighborhood(Nonblocking) => {
            Act::CollectiveStarted
        }
        FunctionClass::Collective(Persistent) | FunctionClass::Neighborhood(Persistent) => {
            Act::CollectivePrepared
        }
        FunctionClass::Communicator | FunctionClass::Window
            if f.is_one_of(&["MPI_Comm_set_name", "MPI_Win_set_name"]) =>
        {
            Act::Named
        }
        FunctionClass::RmaSynchronization(Epoch::General) => {
            if f.is_one_of(&["MPI_Win_post"]) {
                Act::Posted
            } else if f.is_one_of(&["MPI_Win_start"]) {
                Act::AccessStarted
            } else if f.is_one_of(&["MPI_Win_complete"]) {
                Act::AccessCompleted
            } else if f.is_one_of(&["MPI_Win_wait"]) {
                Act::ExposureWaited
            } else {
                Act::ExposureTested
            }
        }
        FunctionClass::RmaSynchronization(Epoch::Passive)
            if f.is_one_of(&["MPI_Win_lock", "MPI_Win_lock_all"]) =>
        {
            Act::Locked
        }
        FunctionClass::RmaSynchronization(Epoch::Passive)
            if f.is_one_of(&["MPI_Win_unlock", "MPI_Win_unlock_all"]) =>
        {
            Act::Unlocks
        }
        FunctionClass::Window | FunctionClass::File
            if made(f) != NONE && of_kind(f, ParameterKind::Comm, Direction::In) != NONE =>
        {
            Act::Derived
        }
        FunctionClass::Communicator
        | FunctionClass::Topology
        | FunctionClass::Spawn
        | FunctionClass::Connect
            if of_kind(f, ParameterKind::Comm, Direction::Out) != NONE =>
        {
            if f.is_one_of(&[
                "MPI_Comm_create_group",
                "MPI_Comm_create_from_group",
                "MPI_Intercomm_create",
            ]) {
                Act::MadeByGroup
            } else if f.is_one_of(&["MPI_Comm_spawn", "MPI_Comm_spawn_multiple"]) {
                Act::Spawned
            } else if f.is_one_of(&["MPI_Comm_get_parent"]) {
                Act::Parent
            } else if f.is_one_of(&["MPI_Intercomm_create_from_groups"])
                || !matches!(f.class, FunctionClass::Communicator | FunctionClass::Topology)
            {
                Act::Made
            } else if of_kind(f, ParameterKind::Request, Direction::Out) != NONE {
                Act::DerivedLater
            } else {
                Act::Derived
            }
        }
        _ => Act::Nothing,
    }
}

/// Who waits for whom when what a function prepares is started; None if it prepares no collective.
const fn prepares(f: &Function) -> Option<Shape> {
    match (f.class, f.prepared_gathering()) {
        (FunctionClass::Neighborhood(CallProgress::Persistent), _) => Some(Shape::Neighbors),
        (_, None) => None,
        (_, Some(gathering)) => Some(shape(gathering)),
    }
}

const fn shape(gathering: Gathering) -> Shape {
    match gathering {
        Gathering::All => Shape::All,
        Gathering::FromRoot => Shape::FromRoot,
        Gathering::ToRoot => Shape::ToRoot,
        Gathering::FromLower => Shape::FromLower,
    }
}

/// Who waits for whom; None if a function is none that all of a communicator, window or file call.
const fn gathers(f: &Function) -> Option<Shape> {
    use CallProgress::{Blocking, Nonblocking};
    match f.gathering() {
        None if matches!(f.class, FunctionClass::Neighborhood(Blocking | Nonblocking)) => {
            Some(Shape::Neighbors)
        }
        None => None,
        Some(gathering) => Some(shape(gathering)),
    }
}

/// What names those who come together.
const fn members(f: &Function) -> Place {
    let comm = of_kind(f, ParameterKind::Comm, Direction::In);
    let window = of_kind(f, ParameterKind::Win, Direction::In);
    or(comm, or(window, or(of_kind(f, ParameterKind::File, Direction::In), file_changed(f))))
}

const fn file_changed(f: &Function) -> Place {
    of_kind(f, ParameterKind::File, Direction::InOut)
}

/// Where a communicator, window or file goes that is made.
const fn made(f: &Function) -> Place {
    let comm = of_kind(f, ParameterKind::Comm, Direction::Out);
    let window = of_kind(f, ParameterKind::Win, Direction::Out);
    or(comm, or(window, of_kind(f, ParameterKind::File, Direction::Out)))
}

const fn role(f: &Function) -> Role {
    let tag = place(f, "tag");
    let comm = of_kind(f, ParameterKind::Comm, Direction::In);
    let gathers = gathers(f);
    let is_of_epoch = matches!(f.class, FunctionClass::RmaSynchronization(Epoch::General));
    let act = act(f);
    let comes = gathers.is_some() || matches!(act, Act::DerivedLater);
    let members = if comes || comm == NONE { members(f) } else { NONE };
    Role {
        act,
        gathers,
        prepares: prepares(f),
        members,
        group: if is_of_epoch { of_kind(f, ParameterKind::Group, Direction::In) } else { NONE },
        comm,
        dest: place(f, "dest"),
        sendtag: or(place(f, "sendtag"), tag),
        source: place(f, "source"),
        recvtag: or(place(f, "recvtag"), or(tag, place(f, "stringtag"))),
        status: place(f, "status"),
        request: of_kind(f, ParameterKind::Request, Direction::Out),
        made: made(f),
        root: of_kind(f, ParameterKind::Root, Direction::In),
        info: match f.class {
            FunctionClass::Communicator => of_kind(f, ParameterKind::Info, Direction::In),
            _ => NONE,
        },
        makes_parts: f.is_one_of(&[
            "MPI_Comm_split",
            "MPI_Comm_split_type",
            "MPI_Comm_create",
            "MPI_Cart_sub",
        ]),
        is_logged: match act {
            Act::Nothing => gathers.is_some() || members != NONE,
            Act::ProbedIf
            | Act::Freed
            | Act::PartitionsPrepared
            | Act::PartitionedReceivePrepared
            | Act::PartitionsReady
            | Act::PartitionAsked
            | Act::CollectivePrepared => false,
            _ => true,
        },
        makes_comm: of_kind(f, ParameterKind::Comm, Direction::Out) != NONE,
        sending: if f.is_one_of(&["MPI_Ssend", "MPI_Issend", "MPI_Ssend_init"]) {
            Sending::Synchronous
        } else if f.is_one_of(&["MPI_Bsend", "MPI_Ibsend", "MPI_Bsend_init"]) {
            Sending::Buffered
        } else {
            Sending::Standard
        },
    }
}

const fn roles() -> [Role; FUNCTIONS] {
    let mut roles = [Role {
        act: Act::Nothing,
        gathers: None,
        prepares: None,
        members: NONE,
        group: NONE,
        comm: NONE,
        dest: NONE,
        sendtag: NONE,
        source: NONE,
        recvtag: NONE,
        status: NONE,
        request: NONE,
        made: NONE,
        root: NONE,
        info: NONE,
        makes_parts: false,
        is_logged: false,
        makes_comm: false,
        sending: Sending::Standard,
    }; FUNCTIONS];
    let mut number = 0;
    let mut chapter = 0;
    while chapter < table::CHAPTERS.len() {
        let functions = table::CHAPTERS[chapter].functions;
        let mut i = 0;
        while i < functions.len() {
            roles[number] = role(&functions[i]);
            number += 1;
            i += 1;
        }
        chapter += 1;
    }
    roles
}

#[cfg(test)]
mod tests {
    use topas_mpi_table::functions;

    use super::*;

    #[test]
    fn who_sends_and_receives_has_its_arguments() {
        for (f, role) in functions().zip(&ROLES) {
            let needs: &[Place] = match role.act {
                Act::Nothing => continue,
                Act::Send => &[role.dest, role.sendtag, role.comm],
                Act::SendStarted | Act::SendPrepared => {
                    &[role.dest, role.sendtag, role.comm, role.request]
                }
                Act::Receive | Act::Matched | Act::MatchedIf | Act::Probed | Act::ProbedIf => {
                    &[role.source, role.recvtag, role.comm, role.status]
                }
                Act::ReceivePosted | Act::ReceivePrepared => {
                    &[role.source, role.recvtag, role.comm, role.request]
                }
                Act::SendReceive => {
                    &[role.dest, role.sendtag, role.source, role.recvtag, role.comm, role.status]
                }
                Act::SendReceiveStarted => {
                    &[role.dest, role.sendtag, role.source, role.recvtag, role.request]
                }
                Act::PartitionsPrepared => &[role.dest, role.sendtag, role.comm, role.request],
                Act::PartitionedReceivePrepared => {
                    &[role.source, role.recvtag, role.comm, role.request]
                }
                Act::Start | Act::Freed | Act::PartitionsReady | Act::PartitionAsked => &[],
                Act::Derived => &[role.comm, role.made],
                Act::DerivedLater => &[role.comm, role.members, role.made, role.request],
                Act::Made | Act::Parent => &[role.made],
                Act::Spawned => &[role.comm, role.root, role.made],
                // Of a session there is no communicator before.
                Act::MadeByGroup => &[role.made, role.recvtag],
                Act::CollectiveStarted | Act::CollectivePrepared => &[role.comm, role.request],
                Act::Named => &[or(role.comm, role.members)],
                Act::Posted | Act::AccessStarted => &[role.members, role.group],
                Act::AccessCompleted
                | Act::ExposureWaited
                | Act::ExposureTested
                | Act::Locked
                | Act::Unlocks => &[role.members],
            };
            assert!(needs.iter().all(|place| *place != NONE), "{}: {role:?}", f.name);
        }
        for (f, role) in functions().zip(&ROLES) {
            let rooted = role.gathers.is_some_and(Shape::is_rooted);
            let known = role.gathers.is_none() || role.members != NONE;
            assert!(known && (!rooted || role.root != NONE), "{}: {role:?}", f.name);
        }
        let gathers = |name: &str| {
            let number = functions().position(|f| f.name == name).unwrap();
            ROLES[number].gathers
        };
        let of = |name: &str| {
            let number = functions().position(|f| f.name == name).unwrap();
            ROLES[number].act
        };
        assert_eq!(of("MPI_Ssend"), Act::Send);
        assert_eq!(of("MPI_Mrecv"), Act::Nothing);
        assert_eq!(of("MPI_Psend_init"), Act::PartitionsPrepared);
        assert_eq!(of("MPI_Pready_list"), Act::PartitionsReady);
        assert_eq!(of("MPI_Parrived"), Act::PartitionAsked);
        assert_eq!(of("MPI_Cart_sub"), Act::Derived);
        assert_eq!(of("MPI_Comm_idup_with_info"), Act::DerivedLater);
        assert_eq!(of("MPI_Comm_get_parent"), Act::Parent);
        assert_eq!(of("MPI_Comm_spawn_multiple"), Act::Spawned);
        assert_eq!(of("MPI_Comm_accept"), Act::Made);
        assert_eq!(of("MPI_Intercomm_merge"), Act::Derived);
        assert_eq!(of("MPI_Comm_create_from_group"), Act::MadeByGroup);
        assert_eq!(of("MPI_Win_create"), Act::Derived);
        assert_eq!(of("MPI_File_open"), Act::Derived);
        assert_eq!(of("MPI_Ibcast"), Act::CollectiveStarted);
        assert_eq!(of("MPI_Win_test"), Act::ExposureTested);
        assert_eq!(of("MPI_Iprobe"), Act::ProbedIf);
        assert_eq!(of("MPI_Win_fence"), Act::Nothing);
        assert_eq!(of("MPI_Win_set_name"), Act::Named);
        assert_eq!(of("MPI_Type_set_name"), Act::Nothing);
        assert_eq!(of("MPI_Win_lock"), Act::Locked);
        assert_eq!(of("MPI_Win_unlock_all"), Act::Unlocks);
        assert_eq!(of("MPI_Win_flush"), Act::Nothing);
        for freeing in FREEING {
            assert_eq!(of(freeing), Act::Freed, "{freeing}");
        }
        // Of calls on windows and files, the log tells these.
        for (name, is_logged) in [
            ("MPI_Put", true),
            ("MPI_Win_lock", true),
            ("MPI_File_read", true),
            ("MPI_Send", true),
            ("MPI_Comm_rank", false),
            ("MPI_Get_count", false),
        ] {
            let number = functions().position(|f| f.name == name).unwrap();
            assert_eq!(ROLES[number].is_logged, is_logged, "{name}");
        }
        let prepares = |name: &str| {
            let number = functions().position(|f| f.name == name).unwrap();
            assert_eq!(ROLES[number].act, Act::CollectivePrepared);
            ROLES[number].prepares
        };
        assert_eq!(prepares("MPI_Barrier_init"), Some(Shape::All));
        assert_eq!(prepares("MPI_Bcast_init"), Some(Shape::FromRoot));
        assert_eq!(prepares("MPI_Gatherv_init"), Some(Shape::ToRoot));
        assert_eq!(prepares("MPI_Exscan_init"), Some(Shape::FromLower));
        assert_eq!(prepares("MPI_Neighbor_alltoall_init"), Some(Shape::Neighbors));
        assert_eq!(gathers("MPI_Alltoallw"), Some(Shape::All));
        assert_eq!(gathers("MPI_Exscan"), Some(Shape::FromLower));
        assert_eq!(gathers("MPI_Ireduce"), Some(Shape::ToRoot));
        for all in ["MPI_Comm_dup", "MPI_Win_fence", "MPI_File_write_at_all", "MPI_Comm_spawn"] {
            assert_eq!(gathers(all), Some(Shape::All), "{all}");
        }
        for neighbors in ["MPI_Neighbor_alltoallw", "MPI_Ineighbor_allgather"] {
            assert_eq!(gathers(neighbors), Some(Shape::Neighbors), "{neighbors}");
        }
        assert_eq!(of("MPI_Neighbor_alltoall"), Act::Nothing);
        assert_eq!(of("MPI_Ineighbor_alltoall"), Act::CollectiveStarted);
        for none in
            ["MPI_Comm_free", "MPI_Comm_create_group", "MPI_Neighbor_alltoall_init", "MPI_Finalize"]
        {
            assert_eq!(gathers(none), None, "{none}");
        }
    }
}
