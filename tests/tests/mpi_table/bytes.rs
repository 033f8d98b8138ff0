//! Bytes of collectives, as the table tells them, against real ones: every collective and
//! neighbourhood function is called in all its roles, and the bytes that changed in its
//! buffers are counted. Sent bytes cannot be seen: they must be what all others receive.

use topas_mpi_table::{Function, FunctionClass, Span, Way, find};
use topas_tests::mpi_installation::Mpi;
use topas_tests::mpi_program::amounts::{chosen, invisible, over, total};
use topas_tests::mpi_program::calls::{Call, results};
use topas_tests::site::Scratch;

use super::judge::of_debian;

/// How many receive what a process sends once.
fn receivers(function: &Function, call: &Call) -> i64 {
    let lower = function.name.to_lowercase();
    let (bcast, allgather) = (lower.contains("bcast"), lower.contains("allgather"));
    let neighbors = matches!(function.class, FunctionClass::Neighborhood(_));
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
