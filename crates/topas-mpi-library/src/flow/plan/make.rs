//! From the table to plans.

// Done by the compiler: what panics is an error of the build.
#![allow(clippy::indexing_slicing)]

use topas_mpi_profile::layout::{FUNCTIONS, Waited};
use topas_mpi_table as table;
use topas_mpi_table::{
    Amount, By, Class, Direction, Flow, Function, InPlace, Kind, Progress, Significant, ToldBy,
    Way, same,
};

use super::{Act, CallPlan, Hot, NONE, Place};

const NO_FLOW: Flow<Place> = Flow {
    way: Way::Sent,
    file: false,
    buffer: NONE,
    amount: Amount::Element { datatype: NONE },
    told_by: ToldBy::Arguments,
    by: By::All,
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
    is_comm: false,
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
                assert!(matches!(functions[i - 1].class, Class::Io(_, _, _, Progress::Begin)));
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

const fn place(f: &Function, name: &str) -> Place {
    match f.position(name) {
        Some(place) => place as Place,
        None => NONE,
    }
}

/// The first parameter of a kind and direction.
const fn of_kind(f: &Function, kind: Kind, direction: Direction) -> Place {
    let mut i = 0;
    while let Some(parameter) = f.at(i) {
        if parameter.kind as u8 == kind as u8 && parameter.direction as u8 == direction as u8 {
            return i as Place;
        }
        i += 1;
    }
    NONE
}

const fn or(one: Place, other: Place) -> Place {
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
            Amount::Block { .. } | Amount::Element { .. } | Amount::Partitions { .. }
        );
        plan.needs_object |= sized || !matches!(flow.by, By::All);
        i += 1;
    }
    let comm = of_kind(f, Kind::Comm, Direction::In);
    plan.is_comm = comm != NONE;
    plan.object =
        or(comm, or(of_kind(f, Kind::Win, Direction::In), of_kind(f, Kind::File, Direction::In)));
    plan.request = of_kind(f, Kind::Request, Direction::Out);
    plan.status = or(place(f, "status"), place(f, "array_of_statuses"));
    plan.root = of_kind(f, Kind::Root, Direction::In);
    plan.op = place(f, "op");
    if let Some(name) = f.in_place {
        plan.in_place = place(f, name);
    }
    plan.waited = waited(f.class) as u8;
    plan.persistent = matches!(f.class.progress(), Some(Progress::Persistent));
    plan.neighbors = matches!(f.class, Class::Neighborhood(_));
    plan.needs_object |= plan.neighbors;
    plan.peers = matches!(
        f.class,
        Class::Send(_)
            | Class::Receive(_)
            | Class::SendReceive(_)
            | Class::PartitionedSend
            | Class::PartitionedReceive
            | Class::Rma(_)
    );
    plan.traffic = plan.is_comm
        && matches!(
            f.class,
            Class::Send(_)
                | Class::Receive(_)
                | Class::SendReceive(_)
                | Class::PartitionedSend
                | Class::PartitionedReceive
                | Class::Probe(_)
                | Class::MatchedProbe(_)
                | Class::Collective(_)
                | Class::Neighborhood(_)
        );
    plan.message = of_kind(f, Kind::Message, Direction::InOut);
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
        Act::CommName => place(f, "comm_name"),
        Act::CommMade => of_kind(f, Kind::Comm, Direction::Out),
        _ => NONE,
    };
    plan.hot = hot(f, &plan);
    count(f, plan)
}

/// Whether a flow is one block, of every process that is not of a set.
const fn is_block(flow: &Flow<Place>) -> bool {
    matches!(flow.amount, Amount::Block { .. })
        && matches!(flow.in_place, InPlace::Same)
        && !flow.unless_no_op
}

const fn hot(f: &Function, plan: &CallPlan) -> Hot {
    let [one, other, _] = &plan.flow;
    if plan.flows == 0 || plan.persistent || !is_block(one) {
        return Hot::No;
    }
    let told = matches!(one.told_by, ToldBy::Arguments);
    match (f.class, plan.flows) {
        (Class::Send(_), 1) if told && one.peer.is_some() => Hot::Send,
        (Class::Rma(_), 1) if told && one.peer.is_some() => Hot::Rma,
        (Class::Receive(Progress::Blocking), 1) if one.peer.is_some() => Hot::Recv,
        (Class::Receive(Progress::Nonblocking), 1) if one.peer.is_some() => Hot::Irecv,
        (Class::SendReceive(Progress::Blocking), 2)
            if one.peer.is_some() && other.peer.is_some() =>
        {
            Hot::Sendrecv
        }
        (Class::Collective(Progress::Blocking), 2) if is_block(other) => match (one.by, other.by) {
            (By::All, By::All) => Hot::Both,
            (By::Root, By::Others) => Hot::Bcast,
            _ => Hot::No,
        },
        _ => Hot::No,
    }
}

/// The count argument is the first that counts elements or requests and means something on every
/// call.
const fn count(f: &Function, mut plan: CallPlan) -> CallPlan {
    if matches!(f.class, Class::Tool) {
        return plan;
    }
    let mut i = 0;
    while let Some(p) = f.at(i) {
        let counts = ends_with_count(p.name)
            && matches!(p.kind, Kind::Count | Kind::LargeCount | Kind::Length | Kind::Int);
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

const fn waited(class: Class) -> Waited {
    match class {
        Class::Send(_) | Class::PartitionedSend | Class::SendBuffer => Waited::Send,
        Class::Receive(_) | Class::SendReceive(_) | Class::PartitionedReceive => Waited::Receive,
        Class::Collective(_) | Class::Neighborhood(_) | Class::Communicator => Waited::Collective,
        Class::GeneralizedRequest => Waited::Generalized,
        Class::Rma(_) => Waited::Rma,
        Class::Io(table::Transfer::Read, ..) => Waited::Read,
        Class::Io(table::Transfer::Write, ..) => Waited::Write,
        _ => Waited::Nothing,
    }
}

const fn act(f: &Function) -> Act {
    const NAMES: [(&str, Act); 21] = [
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
        ("MPI_Comm_set_name", Act::CommName),
        ("MPI_Comm_get_parent", Act::CommMade),
    ];
    let mut i = 0;
    while i < NAMES.len() {
        if same(f.name, NAMES[i].0) {
            return NAMES[i].1;
        }
        i += 1;
    }
    if matches!(f.class, Class::Io(_, _, _, Progress::End)) {
        return Act::SplitEnd;
    }
    if of_kind(f, Kind::Comm, Direction::Out) != NONE
        && matches!(f.class, Class::Communicator | Class::Topology | Class::Spawn | Class::Connect)
    {
        return Act::CommMade;
    }
    if !f.flows.is_empty()
        || of_kind(f, Kind::Request, Direction::Out) != NONE
        || matches!(f.class, Class::Collective(_) | Class::Probe(_))
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

const fn amount(f: &Function, amount: Amount) -> Amount<Place> {
    let (count, datatype) = amount.parameters();
    let count = match count {
        Some(count) => place(f, count),
        None => NONE,
    };
    let datatype = place(f, datatype);
    match amount {
        Amount::Block { .. } => Amount::Block { count, datatype },
        Amount::Element { .. } => Amount::Element { datatype },
        Amount::Each { of, .. } => Amount::Each { of, count, datatype },
        Amount::Partitions { partitions, .. } => {
            Amount::Partitions { partitions: place(f, partitions), count, datatype }
        }
        Amount::Sum { of, .. } => Amount::Sum { of, counts: count, datatype },
        Amount::TypedSum { of, .. } => Amount::TypedSum { of, counts: count, datatypes: datatype },
        Amount::Own { .. } => Amount::Own { counts: count, datatype },
    }
}
