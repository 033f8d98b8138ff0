//! Plans against the table.

use topas_mpi_table as table;
use topas_mpi_table::{FlowAmount, Function, Participants, Span};

use super::*;
use crate::flow::waits::role::ROLES;
use crate::generated::table::DESCRIPTORS;

fn of(name: &str) -> (&'static CallPlan, &'static Function) {
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
    assert_eq!(name(f, plan.flow[1].amount.parameters().0.unwrap_or(NONE)), "recvcounts");
    assert_eq!(name(f, plan.flow[1].amount.parameters().1), "recvtype");
    assert!(matches!(plan.flow[1].amount, FlowAmount::Sum { of: Span::Ranks, .. }));
    assert_eq!(plan.flow[1].by, Participants::Root);
}

#[test]
fn no_argument_of_a_flow_is_lost() {
    for (f, plan) in table::functions().zip(&PLANS) {
        assert_eq!(usize::from(plan.flows), f.flows.len(), "{}", f.name);
        for (flow, planned) in f.flows.iter().zip(&plan.flow) {
            let (count, datatype) = flow.amount.parameters();
            let (planned_count, planned_datatype) = planned.amount.parameters();
            assert_eq!(planned_count.map(|at| name(f, at)), count, "{}", f.name);
            assert_eq!(name(f, planned_datatype), datatype, "{}", f.name);
            assert_eq!(planned.peer.map(|at| name(f, at)), flow.peer, "{}", f.name);
            assert_eq!(name(f, planned.buffer), flow.buffer, "{}", f.name);
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
        (
            "count",
            "Send Recv Bsend Ssend Rsend Isend Ibsend Issend Irecv Waitany Testany \
          Waitall Testall Send_init Bsend_init Ssend_init Rsend_init Recv_init Startall \
          Sendrecv_replace Type_contiguous Type_vector Type_hvector Type_indexed \
          Type_hindexed Type_struct Bcast Allreduce Scan Reduce",
        ),
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

#[test]
fn calls_of_the_same_shape_are_those_that_are_meant() {
    let expected = [
        (Hot::Send, "Send Bsend Ssend Rsend"),
        (Hot::Isend, "Isend Ibsend Issend Irsend"),
        (Hot::Rma, "Put Get Accumulate"),
        (Hot::Recv, "Recv"),
        (Hot::Irecv, "Irecv"),
        (Hot::Both, "Allreduce Scan"),
        (Hot::Bcast, "Bcast"),
        (Hot::Sendrecv, "Sendrecv Sendrecv_replace"),
    ];
    let expected: Vec<(String, Hot)> = expected
        .iter()
        .flat_map(|(hot, names)| names.split(' ').map(|name| (format!("MPI_{name}"), *hot)))
        .collect();
    for (f, plan) in table::functions().zip(&PLANS) {
        let meant = expected.iter().find(|(name, _)| name == f.name).map_or(Hot::No, |e| e.1);
        assert_eq!(plan.hot, meant, "{}", f.name);
    }
}

#[test]
fn of_calls_that_complete_requests_nothing_else_is_to_be_known() {
    let mut completing = 0;
    for (number, (f, plan)) in table::functions().zip(&PLANS).enumerate() {
        if !plan.act.completes() {
            continue;
        }
        completing += 1;
        let descriptor = &DESCRIPTORS[number];
        assert!(
            descriptor.completes() && descriptor.after() && !descriptor.special(),
            "{}",
            f.name
        );
        assert!(!ROLES[number].matters() && !descriptor.notes(), "{}", f.name);
        assert!(plan.hot == Hot::No && plan.count_unless_in_place == NONE, "{}", f.name);
        assert_eq!(f.large, None, "{}", f.name);
    }
    assert_eq!(completing, 8);
}
