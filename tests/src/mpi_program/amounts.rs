//! Bytes that the table tells of a call of a collective.

use topas_mpi_table::{
    Flow, FlowAmount, Function, FunctionClass, InPlace, Participants, Span, Version, Way, functions,
};

use super::calls::Call;
use super::variants;

/// Indices of those over whom blocks are counted. Neighbours that are none do not count.
pub fn over(call: &Call, span: Span) -> Vec<usize> {
    let neighbors = |name: &str| {
        let ranks = call.many(name).iter().enumerate();
        ranks.filter(|(_, rank)| **rank >= 0).map(|(i, _)| i).collect()
    };
    let all = |name: &str| (0..usize::try_from(call.one(name)).expect("a size")).collect();
    match span {
        Span::Ranks => all("peers"),
        Span::Local => all("local"),
        Span::Sources => neighbors("from"),
        Span::Destinations => neighbors("to"),
    }
}

/// Bytes of an amount, with or without the own block.
fn bytes(call: &Call, amount: &FlowAmount, others_only: bool) -> i64 {
    let rank = usize::try_from(call.one("rank")).expect("a rank");
    let over = |span| over(call, span).into_iter().filter(|i| !(others_only && *i == rank));
    let (count, datatype) = amount.parameters();
    let count = count.expect("a count");
    let elements = match *amount {
        FlowAmount::Block { .. } => call.one(count),
        FlowAmount::Each { of, .. } => over(of).map(|_| call.one(count)).sum(),
        FlowAmount::Sum { of, .. } | FlowAmount::TypedSum { of, .. } => {
            over(of).map(|i| call.many(count)[i]).sum()
        }
        FlowAmount::Own { .. } => call.many(count)[rank],
        FlowAmount::Element { .. } | FlowAmount::Partitions { .. } => unreachable!("no collective"),
    };
    // Of pairs of integers where data arrive, unless both sides have one type.
    elements * if datatype.starts_with("recv") { 8 } else { 4 }
}

/// Bytes of a flow in a call.
fn flow(call: &Call, flow: &Flow) -> i64 {
    let here = match flow.by {
        Participants::All => true,
        Participants::Root => call.is("at_root"),
        Participants::Others => !call.is("at_root") && call.is("takes_part"),
        Participants::Group => call.is("takes_part") && !(call.is("inter") && call.is("at_root")),
        Participants::NotFirst => call.one("rank") != 0,
    };
    if !here {
        return 0;
    }
    match flow.in_place {
        _ if !call.is("in_place") => bytes(call, &flow.amount, false),
        InPlace::Same => bytes(call, &flow.amount, false),
        InPlace::Nothing => 0,
        InPlace::OthersOnly => bytes(call, &flow.amount, true),
        InPlace::Instead(amount) => bytes(call, &amount, false),
        InPlace::OthersInstead(amount) => bytes(call, &amount, true),
    }
}

/// Bytes of all flows of one direction.
pub fn total(function: &Function, call: &Call, way: Way) -> i64 {
    function.flows.iter().filter(|f| f.way == way).map(|f| flow(call, f)).sum()
}

/// The first process of a scan in place gets its own operand: nobody can see that arrive.
pub fn invisible(function: &Function, call: &Call) -> bool {
    let scan = ["MPI_Scan", "MPI_Iscan", "MPI_Scan_init"].contains(&function.name);
    scan && call.is("in_place") && call.one("rank") == 0
}

/// Collectives with bytes in `version`, and their variants for large counts.
pub fn chosen(version: Version) -> Vec<(&'static Function, bool)> {
    let collective = |f: &&'static Function| {
        matches!(f.class, FunctionClass::Collective(_) | FunctionClass::Neighborhood(_))
            && !f.flows.is_empty()
    };
    variants(functions().filter(collective), version)
}
