//! The flows of the table with places of arguments in place of their names, made when this is
//! compiled: a cache line per function.

use topas_mpi_profile::layout::{FUNCTIONS, Waited};
use topas_mpi_table as table;
use topas_mpi_table::{Class, Direction, Function, Kind, Progress, Significant, same};

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
pub static PLANS: [Plan; FUNCTIONS] = plans();

const NO_AMOUNT: Amount = Amount {
    form: Form::Block,
    of: table::Span::Ranks,
    count: NONE,
    datatype: NONE,
    partitions: NONE,
};

const NO_FLOW: Flow = Flow {
    way: Way::Sent,
    told: Told::Arguments,
    by: By::All,
    peer: NONE,
    in_place: InPlace::Same,
    unless_no_op: false,
    amount: NO_AMOUNT,
    instead: NO_AMOUNT,
};

const NO_PLAN: Plan = Plan {
    act: Act::Nothing,
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

const fn plans() -> [Plan; FUNCTIONS] {
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
                    Class::Io(_, _, _, Progress::Begin)
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

const fn place(f: &Function, name: &str) -> u8 {
    match f.position(name) {
        Some(place) => place as u8,
        None => NONE,
    }
}

/// The first parameter of a kind and direction.
const fn of_kind(f: &Function, kind: Kind, direction: Direction) -> u8 {
    let mut i = 0;
    while let Some(parameter) = f.at(i) {
        if parameter.kind as u8 == kind as u8 && parameter.direction as u8 == direction as u8 {
            return i as u8;
        }
        i += 1;
    }
    NONE
}

const fn or(one: u8, other: u8) -> u8 {
    if one != NONE { one } else { other }
}

const fn plan(f: &Function) -> Plan {
    let mut plan = NO_PLAN;
    plan.flows = f.flows.len() as u8;
    let mut i = 0;
    while i < f.flows.len() {
        plan.flow[i] = flow(f, &f.flows[i]);
        let flow = plan.flow[i];
        let sized = !matches!(flow.amount.form, Form::Block | Form::Element | Form::Partitions);
        plan.needs_object |= sized || !matches!(flow.by, By::All);
        i += 1;
    }
    let comm = of_kind(f, Kind::Comm, Direction::In);
    plan.is_comm = comm != NONE;
    plan.object = or(
        comm,
        or(of_kind(f, Kind::Win, Direction::In), of_kind(f, Kind::File, Direction::In)),
    );
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
        Act::Wait | Act::Test | Act::Start | Act::RequestFree | Act::Cancel => {
            place(f, "request")
        }
        Act::Waitany | Act::Testany | Act::Waitall | Act::Testall | Act::Waitsome
        | Act::Testsome | Act::Startall => place(f, "array_of_requests"),
        Act::Message | Act::MessageIf => place(f, "message"),
        Act::TypeFree | Act::ObjectFree => 0,
        Act::CommName => place(f, "comm_name"),
        Act::CommMade => of_kind(f, Kind::Comm, Direction::Out),
        _ => NONE,
    };
    count(f, plan)
}

/// The count argument is the first that counts elements or requests and means something on every
/// call.
const fn count(f: &Function, mut plan: Plan) -> Plan {
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
            plan.count = i as u8;
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
        && matches!(
            f.class,
            Class::Communicator | Class::Topology | Class::Spawn | Class::Connect
        )
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

const fn flow(f: &Function, flow: &table::Flow) -> Flow {
    let (in_place, instead) = match flow.in_place {
        table::InPlace::Same => (InPlace::Same, NO_AMOUNT),
        table::InPlace::Nothing => (InPlace::Nothing, NO_AMOUNT),
        table::InPlace::OthersOnly => (InPlace::Others, NO_AMOUNT),
        table::InPlace::Instead(instead) => (InPlace::Instead, amount(f, instead)),
        table::InPlace::OthersInstead(instead) => (InPlace::OthersInstead, amount(f, instead)),
    };
    Flow {
        way: match flow.way {
            table::Way::Sent | table::Way::File(table::Transfer::Write) => Way::Sent,
            table::Way::Received | table::Way::File(table::Transfer::Read) => Way::Received,
        },
        told: match flow.told_by {
            table::ToldBy::Arguments => Told::Arguments,
            table::ToldBy::Status(_) => Told::Status,
            table::ToldBy::Completion => Told::Completion,
            table::ToldBy::End => Told::End,
        },
        by: match flow.by {
            table::By::All => By::All,
            table::By::Root => By::Root,
            table::By::Others => By::Others,
            table::By::Group => By::Group,
            table::By::NotFirst => By::NotFirst,
        },
        peer: match flow.peer {
            Some(peer) => place(f, peer),
            None => NONE,
        },
        in_place,
        unless_no_op: flow.unless_no_op,
        amount: amount(f, flow.amount),
        instead,
    }
}

const fn amount(f: &Function, amount: table::Amount) -> Amount {
    let (form, of, count, datatype) = match amount {
        table::Amount::Block { count, datatype } => {
            (Form::Block, table::Span::Ranks, count, datatype)
        }
        table::Amount::Element { datatype } => (Form::Element, table::Span::Ranks, "", datatype),
        table::Amount::Each { of, count, datatype } => (Form::Each, of, count, datatype),
        table::Amount::Partitions { count, datatype, .. } => {
            (Form::Partitions, table::Span::Ranks, count, datatype)
        }
        table::Amount::Sum { of, counts, datatype } => (Form::Sum, of, counts, datatype),
        table::Amount::TypedSum { of, counts, datatypes } => (Form::Typed, of, counts, datatypes),
        table::Amount::Own { counts, datatype } => {
            (Form::Own, table::Span::Local, counts, datatype)
        }
    };
    Amount {
        form,
        of,
        count: place(f, count),
        datatype: place(f, datatype),
        partitions: place(f, "partitions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> (&'static Plan, &'static Function) {
        let number = table::functions().position(|f| f.name == name).expect(name);
        (&PLANS[number], table::functions().nth(number).expect(name))
    }

    fn name(f: &'static Function, place: u8) -> &'static str {
        if place == NONE { "" } else { f.at(usize::from(place)).map_or("?", |p| p.name) }
    }

    #[test]
    fn names_become_places() {
        let (plan, f) = of("MPI_Igatherv");
        assert_eq!(name(f, plan.in_place), "sendbuf");
        assert_eq!(name(f, plan.root), "root");
        assert_eq!(name(f, plan.object), "comm");
        assert_eq!(name(f, plan.request), "request");
        assert_eq!(name(f, plan.flow[1].amount.count), "recvcounts");
        assert_eq!(name(f, plan.flow[1].amount.datatype), "recvtype");
        assert_eq!(plan.flow[1].amount.form, Form::Sum);
        assert_eq!(plan.flow[1].by, By::Root);
    }

    #[test]
    fn no_argument_of_a_flow_is_lost() {
        for (f, plan) in table::functions().zip(&PLANS) {
            assert_eq!(usize::from(plan.flows), f.flows.len(), "{}", f.name);
            for (flow, planned) in f.flows.iter().zip(&plan.flow) {
                let (count, datatype) = flow.amount.parameters();
                assert_eq!(name(f, planned.amount.count), count.unwrap_or(""), "{}", f.name);
                assert_eq!(name(f, planned.amount.datatype), datatype, "{}", f.name);
                assert_eq!(name(f, planned.peer), flow.peer.unwrap_or(""), "{}", f.name);
            }
            // Places are the same with and without large counts.
            let large = f.parameters(true).count() != f.parameters(false).count();
            assert!(!large || plan.act == Act::Nothing && plan.count == NONE, "{}", f.name);
        }
    }

    #[test]
    fn count_arguments_are_those_of_the_literature() {
        // Rabenseifner 2000, on column 6.
        let expected = [
            ("count", "Send Recv Bsend Ssend Rsend Isend Ibsend Issend Irecv Waitany Testany \
              Waitall Testall Send_init Bsend_init Ssend_init Rsend_init Recv_init Startall \
              Sendrecv_replace Type_contiguous Type_vector Type_hvector Type_indexed \
              Type_hindexed Type_struct Bcast Allreduce Scan Reduce"),
            ("incount", "Waitsome Testsome Pack"),
            ("outcount", "Unpack"),
            ("sendcount", "Sendrecv Gather Gatherv Allgather Allgatherv Alltoall"),
            ("recvcount", "Scatter Scatterv"),
        ];
        for (argument, functions) in expected {
            for function in functions.split_whitespace() {
                let (plan, f) = of(&format!("MPI_{function}"));
                assert_eq!(name(f, plan.count), argument, "{function}");
            }
        }
    }

    #[test]
    fn acts_know_their_argument() {
        for (f, plan) in table::functions().zip(&PLANS) {
            let without = matches!(plan.act, Act::Nothing | Act::Flows | Act::SplitEnd);
            assert_eq!(plan.about == NONE, without, "{}", f.name);
        }
        let (plan, _) = of("MPI_File_read_at_all_end");
        let begin = table::functions().nth(usize::from(plan.begin)).map(|f| f.name);
        assert_eq!(begin, Some("MPI_File_read_at_all_begin"));
    }
}
