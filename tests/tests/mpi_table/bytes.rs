//! Bytes of collectives, as the table tells them, against real ones: every collective and
//! neighbourhood function is called in all its roles, and the bytes that changed in its
//! buffers are counted. Sent bytes cannot be seen: they must be what all others receive.

use topas_mpi_table::{
    Amount, By, Class, Flow, Function, InPlace, Span, Version, Way, find, functions,
};
use topas_tests::mpi::Mpi;
use topas_tests::site::Scratch;

use super::calls::{Call, results};
use super::judge::{of_debian, variants};

/// Indices of those over whom blocks are counted. Neighbours that are none do not count.
fn over(call: &Call, span: Span) -> Vec<usize> {
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
fn bytes(call: &Call, amount: &Amount, others_only: bool) -> i64 {
    let rank = usize::try_from(call.one("rank")).expect("a rank");
    let over = |span| over(call, span).into_iter().filter(|i| !(others_only && *i == rank));
    let (count, datatype) = amount.parameters();
    let count = count.expect("a count");
    let elements = match *amount {
        Amount::Block { .. } => call.one(count),
        Amount::Each { of, .. } => over(of).map(|_| call.one(count)).sum(),
        Amount::Sum { of, .. } | Amount::TypedSum { of, .. } => {
            over(of).map(|i| call.many(count)[i]).sum()
        }
        Amount::Own { .. } => call.many(count)[rank],
        Amount::Element { .. } | Amount::Partitions { .. } => unreachable!("no collective"),
    };
    // Of pairs of integers where data arrive, unless both sides have one type.
    elements * if datatype.starts_with("recv") { 8 } else { 4 }
}

/// Bytes of a flow in a call.
fn flow(call: &Call, flow: &Flow) -> i64 {
    let here = match flow.by {
        By::All => true,
        By::Root => call.is("at_root"),
        By::Others => !call.is("at_root") && call.is("takes_part"),
        By::Group => call.is("takes_part") && !(call.is("inter") && call.is("at_root")),
        By::NotFirst => call.one("rank") != 0,
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
fn total(function: &Function, call: &Call, way: Way) -> i64 {
    function.flows.iter().filter(|f| f.way == way).map(|f| flow(call, f)).sum()
}

/// The first process of a scan in place gets its own operand: nobody can see that arrive.
fn invisible(function: &Function, call: &Call) -> bool {
    let scan = ["MPI_Scan", "MPI_Iscan", "MPI_Scan_init"].contains(&function.name);
    scan && call.is("in_place") && call.one("rank") == 0
}

/// How many receive what a process sends once.
fn receivers(function: &Function, call: &Call) -> i64 {
    let lower = function.name.to_lowercase();
    let (bcast, allgather) = (lower.contains("bcast"), lower.contains("allgather"));
    let neighbors = matches!(function.class, Class::Neighborhood(_));
    match (bcast || allgather, neighbors) {
        (false, _) => 1,
        (true, true) => i64::try_from(over(call, Span::Destinations).len()).expect("a number"),
        // Without the root, or the block that is in place.
        (true, false) if (bcast && !call.is("inter")) || call.is("in_place") => {
            call.one("peers") - 1
        }
        (true, false) => call.one("peers"),
    }
}

/// What is sent is what is received.
fn all_is_received(function: &Function, all: &[Call]) -> Result<(), String> {
    let sent = |call| total(function, call, Way::Sent) * receivers(function, call);
    let sent: i64 = all.iter().map(sent).sum();
    let received: i64 = all.iter().map(|call| total(function, call, Way::Received)).sum();
    if sent == received { Ok(()) } else { Err(format!("{sent} bytes sent, {received} received")) }
}

/// Reductions make one of many: what each sends is as long as the result, which may be
/// scattered over a group.
fn operands_fit(function: &Function, all: &[Call]) -> Result<(), String> {
    let received = |call: &&Call| total(function, call, Way::Received);
    for call in all {
        // The groups at the ends of an intercommunicator have different sizes.
        let group = all.iter().filter(|other| other.one("local") == call.one("local"));
        let result = if function.name.to_lowercase().contains("scatter") {
            group.map(|call| received(&call)).sum()
        } else {
            all.iter().map(|call| received(&call)).max().expect("calls")
        };
        let sent = total(function, call, Way::Sent);
        if sent != result && (sent != 0 || call.is("takes_part") && !call.is("inter")) {
            return Err(format!("{sent} bytes sent, the result has {result}"));
        }
    }
    Ok(())
}

/// Collectives with bytes in `version`, and their variants for large counts.
fn chosen(version: Version) -> Vec<(&'static Function, bool)> {
    let collective = |f: &&'static Function| {
        matches!(f.class, Class::Collective(_) | Class::Neighborhood(_)) && !f.flows.is_empty()
    };
    variants(functions().filter(collective), version)
}

#[test]
fn collectives_move_the_bytes_that_the_table_says() {
    let mut complaints = Vec::new();
    for mpi in Mpi::installed("collectives_move_the_bytes_that_the_table_says") {
        let chosen = chosen(of_debian(mpi).version(&Scratch::new()));
        let results = results(mpi, &chosen);
        println!("{}: {} functions, {} calls", mpi.name(), chosen.len(), results.len());
        assert!(results.len() > 2 * chosen.len(), "{} calls", results.len());
        for all in &results {
            let (function, _) = find(&all[0].function).expect("a function of the table");
            for call in all {
                let arrives = total(function, call, Way::Received);
                if call.one("changed") != arrives && !invisible(function, call) {
                    complaints.push(format!("{}: not {arrives} bytes: {call:?}", mpi.name()));
                }
            }
            let conserved = match function.parameter("op") {
                Some(_) => operands_fit(function, all),
                None => all_is_received(function, all),
            };
            if let Err(what) = conserved {
                complaints.push(format!("{}: {what}: {:?}", mpi.name(), all[0]));
            }
        }
    }
    let shown = &complaints[..complaints.len().min(10)];
    assert!(shown.is_empty(), "{} complaints:\n{}", complaints.len(), shown.join("\n"));
}
