//! The table against itself: names that resolve, lengths that are lengths, bytes that have
//! counts and types.

use std::collections::HashSet;

use topas_mpi_table::*;

/// What is wrong with each function, all of it at once.
fn complain(check: impl Fn(&Function, &mut Vec<String>)) {
    let mut complaints = Vec::new();
    for function in functions() {
        let mut of_one = Vec::new();
        check(function, &mut of_one);
        complaints.extend(of_one.into_iter().map(|c| format!("{}: {c}", function.name)));
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn names_are_unique_and_found() {
    let mut seen = HashSet::new();
    for function in functions() {
        assert!(seen.insert(function.name), "{} twice", function.name);
        let (found, large) = find(function.name).unwrap();
        assert!(std::ptr::eq(found, function) && !large, "{}", function.name);
        let large = format!("{}_c", function.name);
        assert_eq!(find(&large).is_some(), function.large.is_some(), "{large}");
    }
    assert!(find("MPI_Send_x").is_none() && find("MPI_Barrier_c").is_none());
}

#[test]
fn versions_are_in_order() {
    complain(|f, wrong| {
        for later in [f.large, f.deprecated, f.removed].into_iter().flatten() {
            if later < f.since || !VERSIONS.contains(&later) {
                wrong.push(format!("since {}, and {later}", f.since));
            }
        }
        if f.deprecated.zip(f.removed).is_some_and(|(d, r)| d >= r) {
            wrong.push("removed before it was deprecated".to_owned());
        }
        if !VERSIONS.contains(&f.since) || f.large.is_some_and(|large| large.major < 4) {
            wrong.push(format!("{} {:?}", f.since, f.large));
        }
    });
}

/// What "MPI: The Complete Reference" says of MPI 1.1: "In all there are 128 MPI routines".
/// MPI 1.2 added `MPI_Get_version`. The others are what MPICH's headers declared when they were
/// of that version (and, from 3.0 on, without what was removed, with conversions of statuses
/// for `mpi_f08`, which came late); `tests/tests/mpi_table` holds names of today's against it.
#[test]
fn each_version_has_as_many_functions_as_it_is_known_to_have() {
    let count =
        |version: Version, c| functions().filter(|f| f.is_in(version) && f.in_c() == c).count();
    let known = [
        ((1, 0), 129, 0),
        ((1, 1), 128, 0),
        ((1, 2), 129, 0),
        ((2, 0), 305, 1),
        ((2, 2), 312, 1),
        ((3, 0), 402, 2),
        ((3, 1), 411, 2),
        ((4, 0), 479, 2),
        ((4, 1), 503, 2),
        ((5, 0), 531, 2),
    ];
    for ((major, minor), in_c, in_fortran_only) in known {
        let version = Version::new(major, minor);
        assert!(VERSIONS.contains(&version), "{version}");
        assert_eq!(
            (count(version, true), count(version, false)),
            (in_c, in_fortran_only),
            "{version}"
        );
    }
    assert_eq!(VERSIONS.len(), known.len());
    let large =
        |version| functions().filter(|f| f.large.is_some_and(|since| since <= version)).count();
    assert_eq!(large(Version::new(4, 0)), 155);
    assert_eq!(large(Version::new(5, 0)), 159);
}

#[test]
fn parameters_are_named_once_and_lengths_are_parameters() {
    complain(|f, wrong| {
        let mut seen = HashSet::new();
        for p in f.parameters(true) {
            if !seen.insert(p.name) {
                wrong.push(format!("{} twice", p.name));
            }
            let (name, array) = match p.array {
                Some(Length::Parameter(name)) => (name, false),
                Some(Length::Sum(name) | Length::Last(name)) => (name, true),
                _ => continue,
            };
            match f.parameter(name) {
                None => wrong.push(format!("{} is as long as {name}, which is missing", p.name)),
                Some(length) if length.array.is_some() != array => {
                    wrong.push(format!("{name} cannot be the length of {}", p.name));
                }
                Some(length) => {
                    let kinds = [
                        ParameterKind::Count,
                        ParameterKind::Length,
                        ParameterKind::Int,
                        ParameterKind::Bytes,
                        ParameterKind::LargeCount,
                    ];
                    if !kinds.contains(&length.kind) {
                        wrong.push(format!("{name} is a {:?}, no length", length.kind));
                    }
                }
            }
        }
        let at_root = f.parameters(true).any(|p| p.significant == Significant::AtRoot);
        if at_root && f.parameters(true).all(|p| p.kind != ParameterKind::Root) {
            wrong.push("parameters for the root, and no root".to_owned());
        }
    });
}

/// `sends` and its relatives: buffers are buffers, counts counts, types types, peers ranks.
#[test]
fn flows_stand_on_parameters() {
    complain(|f, wrong| {
        let mut want = |name: &str, kind: &[ParameterKind], array: bool| match f.parameter(name) {
            None => wrong.push(format!("{name} is missing")),
            Some(p) if !kind.contains(&p.kind) => wrong.push(format!("{name} is a {:?}", p.kind)),
            Some(p) if p.array.is_some() != array => {
                wrong.push(format!("{name}: array {}", p.array.is_some()));
            }
            Some(_) => {}
        };
        for flow in f.flows {
            want(flow.buffer, &[ParameterKind::Choice], false);
            let mut amount = |amount: &FlowAmount| {
                let (count, datatype) = amount.parameters();
                let counts = matches!(
                    amount,
                    FlowAmount::Sum { .. } | FlowAmount::TypedSum { .. } | FlowAmount::Own { .. }
                );
                let types = matches!(amount, FlowAmount::TypedSum { .. });
                if let Some(count) = count {
                    want(count, &[ParameterKind::Count, ParameterKind::LargeCount], counts);
                }
                want(datatype, &[ParameterKind::Datatype], types);
                if let FlowAmount::Partitions { partitions, .. } = amount {
                    want(partitions, &[ParameterKind::Int], false);
                }
            };
            amount(&flow.amount);
            if let InPlace::Instead(other) | InPlace::OthersInstead(other) = flow.in_place {
                amount(&other);
            }
            if let Some(peer) = flow.peer {
                want(peer, &[ParameterKind::Rank, ParameterKind::Root], false);
            }
            if let ToldBy::Status(status) = flow.told_by {
                want(status, &[ParameterKind::Status], false);
            }
            if flow.unless_no_op {
                want("op", &[ParameterKind::Op], false);
            }
        }
        if let Some(buffer) = f.in_place {
            want(buffer, &[ParameterKind::Choice], false);
        }
    });
}

/// A flow by the root looks at what means something there only, and one by all never does.
#[test]
fn flows_look_at_nothing_that_is_not_significant() {
    complain(|f, wrong| {
        for flow in f.flows {
            let (count, datatype) = flow.amount.parameters();
            for name in [Some(flow.buffer), count, Some(datatype)].into_iter().flatten() {
                let root_only =
                    f.parameter(name).is_some_and(|p| p.significant == Significant::AtRoot);
                if root_only && flow.by != Participants::Root {
                    wrong.push(format!("{name} counts at the root only, the flow for all"));
                }
            }
        }
    });
}

/// A flow has a communicator, window or file whose sizes, ranks and names it is counted by.
#[test]
fn flows_are_about_something() {
    complain(|f, wrong| {
        let expected = match f.class {
            FunctionClass::Rma(_) => ParameterKind::Win,
            FunctionClass::Io(..) => ParameterKind::File,
            // The message knows its communicator, and its status its source.
            FunctionClass::Receive(_) if f.name.to_lowercase().ends_with("mrecv") => {
                ParameterKind::Message
            }
            _ => ParameterKind::Comm,
        };
        let found = f.object().map(|p| p.kind);
        if !f.flows.is_empty() && found != Some(expected) {
            wrong.push(format!("is about {found:?}, expected {expected:?}"));
        }
    });
}

/// The direction of a buffer in C is that of its bytes.
#[test]
fn what_is_sent_is_read_and_what_arrives_is_written() {
    complain(|f, wrong| {
        for flow in f.flows {
            let both = f.flows.iter().any(|g| g.buffer == flow.buffer && g.way != flow.way);
            let expected = match flow.way {
                _ if both => Direction::InOut,
                Way::Sent => Direction::In,
                Way::Received => Direction::Out,
            };
            let found = f.parameter(flow.buffer).unwrap().direction;
            if found != expected {
                wrong.push(format!("{} is {found:?}, expected {expected:?}", flow.buffer));
            }
        }
    });
}

/// Each class moves what its name says.
#[test]
fn classes_have_their_flows() {
    complain(|f, wrong| {
        let ways: Vec<Way> = f.flows.iter().map(|flow| flow.way).collect();
        let good = match f.class {
            FunctionClass::Send(_) | FunctionClass::PartitionedSend => ways == [Way::Sent],
            FunctionClass::Receive(_) | FunctionClass::PartitionedReceive => {
                ways == [Way::Received]
            }
            FunctionClass::SendReceive(_) | FunctionClass::Neighborhood(_) => {
                ways == [Way::Sent, Way::Received]
            }
            FunctionClass::Collective(_) if f.name.to_lowercase().contains("barrier") => {
                ways.is_empty()
            }
            FunctionClass::Collective(_) => ways == [Way::Sent, Way::Received],
            FunctionClass::Rma(Rma::Put | Rma::Accumulate) => ways == [Way::Sent],
            FunctionClass::Rma(Rma::Get) => ways == [Way::Received],
            FunctionClass::Rma(Rma::Fetch) => {
                ways.contains(&Way::Sent) && ways.last() == Some(&Way::Received)
            }
            FunctionClass::Io(_, _, _, CallProgress::End) => ways.is_empty(),
            FunctionClass::Io(Transfer::Write, ..) => ways == [Way::Sent],
            FunctionClass::Io(Transfer::Read, ..) => ways == [Way::Received],
            _ => ways.is_empty(),
        };
        let good = good
            && f.flows.iter().all(|flow| flow.file == matches!(f.class, FunctionClass::Io(..)));
        if !good {
            wrong.push(format!("{:?} moves {ways:?}", f.class));
        }
    });
}

/// Requests and classes agree: who gives one does not wait.
#[test]
fn requests_come_from_what_is_not_over() {
    complain(|f, wrong| {
        let request = f.gives_request().is_some();
        let late = matches!(
            f.class.progress(),
            Some(CallProgress::Nonblocking | CallProgress::Persistent)
        );
        let probes = matches!(f.class, FunctionClass::Probe(_) | FunctionClass::MatchedProbe(_));
        if late && !probes && !request {
            wrong.push("not over, and no request".to_owned());
        }
        if request && f.waits != Waits::Nothing {
            wrong.push(format!("gives a request and waits: {:?}", f.waits));
        }
        for flow in f.flows {
            let moment = flow.moment(f);
            let expected = match (f.class.progress(), flow.way, flow.told_by) {
                (_, _, ToldBy::End) => Moment::Completion,
                (Some(CallProgress::Nonblocking | CallProgress::Persistent), Way::Received, by)
                    if matches!(
                        f.class,
                        FunctionClass::Receive(_)
                            | FunctionClass::SendReceive(_)
                            | FunctionClass::PartitionedReceive
                    ) =>
                {
                    assert_eq!(by, ToldBy::Completion, "{}", f.name);
                    Moment::Completion
                }
                (Some(CallProgress::Persistent), ..) => Moment::Start,
                (Some(CallProgress::Nonblocking), ..) if flow.file => Moment::Completion,
                _ => Moment::Call,
            };
            if moment != expected {
                wrong.push(format!("{} at {moment:?}, expected {expected:?}", flow.buffer));
            }
        }
    });
}

#[test]
fn symbols_are_as_linkers_know_them() {
    let (send, _) = find("MPI_Send").unwrap();
    let show = |b| send.symbol(b).to_string();
    assert_eq!(show(Binding::C), "MPI_Send");
    assert_eq!(send.profiling_symbol(Binding::LargeC).to_string(), "PMPI_Send_c");
    let manglings = Mangling::ALL.map(|m| show(Binding::Fortran(m)));
    assert_eq!(manglings, ["mpi_send_", "mpi_send__", "mpi_send", "MPI_SEND"]);
    assert_eq!(send.profiling_symbol(Binding::F08Descriptor).to_string(), "pmpi_send_f08ts_");
    assert_eq!(show(Binding::LargeF08Descriptor), "mpi_send_c_f08ts_");
    let (alloc, _) = find("MPI_Alloc_mem").unwrap();
    let pointer = alloc.symbol(Binding::CPointer(Mangling::Underscore));
    assert!(alloc.has_c_pointer() && !send.has_c_pointer());
    assert_eq!(pointer.to_string(), "mpi_alloc_mem_cptr_");
}
