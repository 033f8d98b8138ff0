//! From the table to plans.

// Done by the compiler: what panics is an error of the build.
#![allow(clippy::indexing_slicing)]

use topas_mpi_profile::layout::{FUNCTIONS, Waited};
use topas_mpi_table as table;
use topas_mpi_table::{
    CallProgress, Direction, Flow, FlowAmount, Function, FunctionClass, InPlace, ParameterKind,
    Participants, Significant, ToldBy, Way, same,
};

use super::{Act, CallPlan, Hot, HotPlaces, NONE, Place};
use crate::flow::object::ObjectKind;

const NO_FLOW: Flow<Place> = Flow {
    way: Way::Sent,
    file: false,
    buffer: NONE,
    amount: FlowAmount::Element { datatype: NONE },
    told_by: ToldBy::Arguments,
    by: Participants::All,
    peer: None,
    in_place: InPlace::Same,
    unless_no_op: false,
};

const NO_PLAN: CallPlan = CallPlan {
    act: Act::Nothing,
    hot: Hot::No,
    flows: 0,
    object: NONE,
    count: NONE,
    count_unless_in_place: NONE,
    request: NONE,
    in_place: NONE,
    root: NONE,
    op: NONE,
    status: NONE,
    message: NONE,
    about: NONE,
    waited: Waited::Nothing as u8,
    persistent: false,
    peers: false,
    needs_object: false,
    begin: 0,
    neighbors: false,
    kind: ObjectKind::Nothing,
    traffic: false,
    flow: [NO_FLOW; 3],
};

/// Those of all functions.
pub const fn plans() -> [CallPlan; FUNCTIONS] {
    let mut plans = [NO_PLAN; FUNCTIONS];
    let mut number = 0;
    let mut chapter = 0;
    while chapter < table::CHAPTERS.len() {
        let functions = table::CHAPTERS[chapter].functions;
        let mut i = 0;
        while i < functions.len() {
            plans[number] = plan(&functions[i]);
            if let Act::SplitEnd = plans[number].act {
                // The table has it behind its beginning.
                assert!(matches!(
                    functions[i - 1].class,
                    FunctionClass::Io(_, _, _, CallProgress::Begin)
                ));
                plans[number].begin = (number - 1) as u16;
            }
            number += 1;
            i += 1;
        }
        chapter += 1;
    }
    assert!(number == FUNCTIONS);
    plans
}

/// The parameter of a name.
pub const fn place(f: &Function, name: &str) -> Place {
    match f.position(name) {
        Some(place) => place as Place,
        None => NONE,
    }
}

/// The first parameter of a kind and direction.
pub const fn of_kind(f: &Function, kind: ParameterKind, direction: Direction) -> Place {
    let mut i = 0;
    while let Some(parameter) = f.at(i) {
        if parameter.kind as u8 == kind as u8 && parameter.direction as u8 == direction as u8 {
            return i as Place;
        }
        i += 1;
    }
    NONE
}

/// The first of two places that is one.
pub const fn or(one: Place, other: Place) -> Place {
    if one != NONE { one } else { other }
}

const fn plan(f: &Function) -> CallPlan {
    let mut plan = NO_PLAN;
    plan.flows = f.flows.len() as u8;
    let mut i = 0;
    while i < f.flows.len() {
        plan.flow[i] = flow(f, &f.flows[i]);
        let flow = plan.flow[i];
        let sized = !matches!(
            flow.amount,
            FlowAmount::Block { .. } | FlowAmount::Element { .. } | FlowAmount::Partitions { .. }
        );
        plan.needs_object |= sized || !matches!(flow.by, Participants::All);
        i += 1;
    }
    let comm = of_kind(f, ParameterKind::Comm, Direction::In);
    let window = of_kind(f, ParameterKind::Win, Direction::In);
    let file = of_kind(f, ParameterKind::File, Direction::In);
    plan.object = or(comm, or(window, file));
    plan.kind = match (comm, window, file) {
        (NONE, NONE, NONE) => ObjectKind::Nothing,
        (NONE, NONE, _) => ObjectKind::File,
        (NONE, ..) => ObjectKind::Win,
        _ => ObjectKind::Comm,
    };
    plan.request = of_kind(f, ParameterKind::Request, Direction::Out);
    plan.status = or(place(f, "status"), place(f, "array_of_statuses"));
    plan.root = of_kind(f, ParameterKind::Root, Direction::In);
    plan.op = place(f, "op");
    if let Some(name) = f.in_place {
        plan.in_place = place(f, name);
    }
    plan.waited = waited(f.class) as u8;
    plan.persistent = matches!(f.class.progress(), Some(CallProgress::Persistent));
    plan.neighbors = matches!(f.class, FunctionClass::Neighborhood(_));
    plan.needs_object |= plan.neighbors;
    plan.peers = matches!(
        f.class,
        FunctionClass::Send(_)
            | FunctionClass::Receive(_)
            | FunctionClass::SendReceive(_)
            | FunctionClass::PartitionedSend
            | FunctionClass::PartitionedReceive
            | FunctionClass::Rma(_)
    );
    plan.traffic = match plan.kind {
        ObjectKind::Nothing => false,
        ObjectKind::Comm => matches!(
            f.class,
            FunctionClass::Send(_)
                | FunctionClass::Receive(_)
                | FunctionClass::SendReceive(_)
                | FunctionClass::PartitionedSend
                | FunctionClass::PartitionedReceive
                | FunctionClass::Probe(_)
                | FunctionClass::MatchedProbe(_)
                | FunctionClass::Collective(_)
                | FunctionClass::Neighborhood(_)
        ),
        ObjectKind::Win => {
            matches!(f.class, FunctionClass::Rma(_) | FunctionClass::RmaSynchronization(_))
        }
        ObjectKind::File => matches!(f.class, FunctionClass::Io(..) | FunctionClass::File),
    };
    plan.message = of_kind(f, ParameterKind::Message, Direction::InOut);
    plan.act = act(f);
    plan.about = match plan.act {
        Act::Wait | Act::Test | Act::Start | Act::RequestFree | Act::Cancel => place(f, "request"),
        Act::Waitany
        | Act::Testany
        | Act::Waitall
        | Act::Testall
        | Act::Waitsome
        | Act::Testsome
        | Act::Startall => place(f, "array_of_requests"),
        Act::Message | Act::MessageIf => place(f, "message"),
        Act::TypeFree | Act::ObjectFree => 0,
        Act::ObjectName => of_kind(f, ParameterKind::String, Direction::In),
        Act::ObjectMade => made(f),
        _ => NONE,
    };
    let mut plan = count(f, plan);
    let hot = hot(f, &plan);
    plan.hot = match HotPlaces::of(hot as u8) {
        Some(places) if !places.are_of(&plan) => Hot::No,
        _ => hot,
    };
    plan
}

/// Whether a flow is one block, of every process that is not of a set.
const fn is_block(flow: &Flow<Place>) -> bool {
    matches!(flow.amount, FlowAmount::Block { .. })
        && matches!(flow.in_place, InPlace::Same)
        && !flow.unless_no_op
}

const fn hot(f: &Function, plan: &CallPlan) -> Hot {
    let [one, other, _] = &plan.flow;
    if plan.flows == 0 || plan.persistent || !is_block(one) {
        return Hot::No;
    }
    // The count argument is that of the first flow, whatever the buffers are.
    let counted = match one.amount {
        FlowAmount::Block { count, .. } => count == plan.count,
        _ => false,
    };
    if !counted || plan.count_unless_in_place != NONE {
        return Hot::No;
    }
    let told = matches!(one.told_by, ToldBy::Arguments);
    match (f.class, plan.flows) {
        (FunctionClass::Send(_), 1) if told && one.peer.is_some() => {
            if plan.request == NONE {
                Hot::Send
            } else {
                Hot::Isend
            }
        }
        (FunctionClass::Rma(_), 1) if told && one.peer.is_some() && plan.request == NONE => {
            Hot::Rma
        }
        (FunctionClass::Receive(CallProgress::Blocking), 1) if one.peer.is_some() => Hot::Recv,
        (FunctionClass::Receive(CallProgress::Nonblocking), 1) if one.peer.is_some() => Hot::Irecv,
        (FunctionClass::SendReceive(CallProgress::Blocking), 2)
            if one.peer.is_some() && other.peer.is_some() =>
        {
            Hot::Sendrecv
        }
        (FunctionClass::Collective(CallProgress::Blocking), 2) if is_block(other) => {
            match (one.by, other.by) {
                (Participants::All, Participants::All) => Hot::Both,
                (Participants::Root, Participants::Others) => Hot::Bcast,
                _ => Hot::No,
            }
        }
        _ => Hot::No,
    }
}

/// The count argument is the first that counts elements or requests and means something on every
/// call.
const fn count(f: &Function, mut plan: CallPlan) -> CallPlan {
    if matches!(f.class, FunctionClass::Tool) {
        return plan;
    }
    let mut i = 0;
    while let Some(p) = f.at(i) {
        let counts = ends_with_count(p.name)
            && matches!(
                p.kind,
                ParameterKind::Count
                    | ParameterKind::LargeCount
                    | ParameterKind::Length
                    | ParameterKind::Int
            );
        if counts
            && p.array.is_none()
            && matches!(p.direction, Direction::In)
            && matches!(p.significant, Significant::Always)
        {
            plan.count = i as Place;
            // The count of a buffer stands behind it.
            if i > 0 && plan.in_place as usize == i - 1 {
                plan.count_unless_in_place = plan.in_place;
            }
            return plan;
        }
        i += 1;
    }
    plan
}

/// As all count arguments do, and none other.
const fn ends_with_count(name: &str) -> bool {
    let (name, end) = (name.as_bytes(), b"count");
    let mut i = 0;
    while i < end.len() {
        if name.len() < end.len() || name[name.len() - end.len() + i] != end[i] {
            return false;
        }
        i += 1;
    }
    true
}

const fn waited(class: FunctionClass) -> Waited {
    match class {
        FunctionClass::Send(_) | FunctionClass::PartitionedSend | FunctionClass::SendBuffer => {
            Waited::Send
        }
        FunctionClass::Receive(_)
        | FunctionClass::SendReceive(_)
        | FunctionClass::PartitionedReceive => Waited::Receive,
        FunctionClass::Collective(_)
        | FunctionClass::Neighborhood(_)
        | FunctionClass::Communicator => Waited::Collective,
        FunctionClass::GeneralizedRequest => Waited::Generalized,
        FunctionClass::Rma(_) => Waited::Rma,
        FunctionClass::Io(table::Transfer::Read, ..) => Waited::Read,
        FunctionClass::Io(table::Transfer::Write, ..) => Waited::Write,
        _ => Waited::Nothing,
    }
}

/// The communicator, window or file that a function makes.
const fn made(f: &Function) -> Place {
    or(
        of_kind(f, ParameterKind::Comm, Direction::Out),
        or(
            of_kind(f, ParameterKind::Win, Direction::Out),
            of_kind(f, ParameterKind::File, Direction::Out),
        ),
    )
}

const fn act(f: &Function) -> Act {
    const NAMES: [(&str, Act); 22] = [
        ("MPI_Wait", Act::Wait),
        ("MPI_Test", Act::Test),
        ("MPI_Waitany", Act::Waitany),
        ("MPI_Testany", Act::Testany),
        ("MPI_Waitall", Act::Waitall),
        ("MPI_Testall", Act::Testall),
        ("MPI_Waitsome", Act::Waitsome),
        ("MPI_Testsome", Act::Testsome),
        ("MPI_Start", Act::Start),
        ("MPI_Startall", Act::Startall),
        ("MPI_Request_free", Act::RequestFree),
        ("MPI_Cancel", Act::Cancel),
        ("MPI_Mprobe", Act::Message),
        ("MPI_Improbe", Act::MessageIf),
        ("MPI_Type_free", Act::TypeFree),
        ("MPI_Comm_free", Act::ObjectFree),
        ("MPI_Comm_disconnect", Act::ObjectFree),
        ("MPI_Win_free", Act::ObjectFree),
        ("MPI_File_close", Act::ObjectFree),
        ("MPI_Comm_set_name", Act::ObjectName),
        ("MPI_Win_set_name", Act::ObjectName),
        ("MPI_Comm_get_parent", Act::ObjectMade),
    ];
    let mut i = 0;
    while i < NAMES.len() {
        if same(f.name, NAMES[i].0) {
            return NAMES[i].1;
        }
        i += 1;
    }
    if matches!(f.class, FunctionClass::Io(_, _, _, CallProgress::End)) {
        return Act::SplitEnd;
    }
    if made(f) != NONE
        && matches!(
            f.class,
            FunctionClass::Communicator
                | FunctionClass::Topology
                | FunctionClass::Spawn
                | FunctionClass::Connect
                | FunctionClass::Window
                | FunctionClass::File
        )
    {
        return Act::ObjectMade;
    }
    if !f.flows.is_empty()
        || of_kind(f, ParameterKind::Request, Direction::Out) != NONE
        || matches!(f.class, FunctionClass::Collective(_) | FunctionClass::Probe(_))
    {
        return Act::Flows;
    }
    Act::Nothing
}

/// A flow of the table with places of arguments in place of their names.
const fn flow(f: &Function, flow: &Flow) -> Flow<Place> {
    Flow {
        way: flow.way,
        file: flow.file,
        buffer: place(f, flow.buffer),
        amount: amount(f, flow.amount),
        told_by: match flow.told_by {
            ToldBy::Arguments => ToldBy::Arguments,
            ToldBy::Status(status) => ToldBy::Status(place(f, status)),
            ToldBy::Completion => ToldBy::Completion,
            ToldBy::End => ToldBy::End,
        },
        by: flow.by,
        peer: match flow.peer {
            Some(peer) => Some(place(f, peer)),
            None => None,
        },
        in_place: match flow.in_place {
            InPlace::Same => InPlace::Same,
            InPlace::Nothing => InPlace::Nothing,
            InPlace::OthersOnly => InPlace::OthersOnly,
            InPlace::Instead(instead) => InPlace::Instead(amount(f, instead)),
            InPlace::OthersInstead(instead) => InPlace::OthersInstead(amount(f, instead)),
        },
        unless_no_op: flow.unless_no_op,
    }
}

const fn amount(f: &Function, amount: FlowAmount) -> FlowAmount<Place> {
    let (count, datatype) = amount.parameters();
    let count = match count {
        Some(count) => place(f, count),
        None => NONE,
    };
    let datatype = place(f, datatype);
    match amount {
        FlowAmount::Block { .. } => FlowAmount::Block { count, datatype },
        FlowAmount::Element { .. } => FlowAmount::Element { datatype },
        FlowAmount::Each { of, .. } => FlowAmount::Each { of, count, datatype },
        FlowAmount::Partitions { partitions, .. } => {
            FlowAmount::Partitions { partitions: place(f, partitions), count, datatype }
        }
        FlowAmount::Sum { of, .. } => FlowAmount::Sum { of, counts: count, datatype },
        FlowAmount::TypedSum { of, .. } => {
            FlowAmount::TypedSum { of, counts: count, datatypes: datatype }
        }
        FlowAmount::Own { .. } => FlowAmount::Own { counts: count, datatype },
    }
}
