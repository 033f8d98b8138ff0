//! Every point-to-point, one-sided and file function on one rank: less arrives than is allowed.

use std::collections::BTreeMap;
use std::fs;

use topas_mpi_table::{CallProgress, Flow, Function, FunctionClass, Transfer, Way, find};
use topas_tests::mpi_installation::Mpi;
use topas_tests::mpi_program::alone::{NO_OP, bytes, chosen, program};
use topas_tests::mpi_program::version;

use super::launch::{Names, Program, other_calls};

/// The other end of a call in the program, and what it sends and receives.
fn partner(function: &Function) -> Option<(&'static str, u64, u64)> {
    let bytes = |name: &str| {
        let (function, _) = find(name).expect("a function of the table");
        u64::try_from(bytes(function, &function.flows[0])).expect("bytes")
    };
    // A receive allows more than is there; all that is sent to MPI_Irecv arrives.
    match function.class {
        FunctionClass::Send(_) => Some(("MPI_Irecv", 0, bytes("MPI_Isend"))),
        FunctionClass::Receive(_) => Some(("MPI_Isend", bytes("MPI_Irecv"), 0)),
        FunctionClass::PartitionedSend => Some(("MPI_Precv_init", 0, bytes("MPI_Precv_init"))),
        FunctionClass::PartitionedReceive => Some(("MPI_Psend_init", bytes("MPI_Psend_init"), 0)),
        FunctionClass::Io(Transfer::Read, _, _, progress) => {
            let short = progress == CallProgress::Blocking;
            Some(("MPI_File_write_at", bytes(if short { "MPI_File_read" } else { "MPI_Isend" }), 0))
        }
        _ => None,
    }
}

/// Bytes that a call sends and receives, as [`bytes`] says.
fn moves(function: &Function, no_op: bool) -> (u64, u64) {
    let takes_place = |flow: &&Flow| !(no_op && flow.unless_no_op);
    let (mut sent, mut received) = (0, 0);
    for flow in function.flows.iter().filter(takes_place) {
        let bytes = u64::try_from(bytes(function, flow)).expect("bytes");
        match flow.way {
            Way::Sent => sent += bytes,
            Way::Received => received += bytes,
        }
    }
    (sent, received)
}

#[test]
fn a_process_alone_is_counted_to_the_byte() {
    let mut complaints = Vec::new();
    for mpi in Mpi::installed("a_process_alone_is_counted_to_the_byte") {
        let chosen = chosen(mpi, version(mpi));
        for names in Names::ALL {
            let program = Program::new(mpi, names, &program(&chosen), &[]);
            let (file, path) = (program.path("file"), program.path("said"));
            let words = [file.to_str().expect("a path"), path.to_str().expect("a path")];
            let rank = &program.profiled(1, &words)[0];
            let mut expected: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
            for line in fs::read_to_string(&path).expect("what the program says").lines() {
                let name = line.split(' ').next().expect(line);
                let plain = name.trim_end_matches(NO_OP);
                let (function, _) = find(plain).expect("a function of the table");
                let (sent, received) = moves(function, plain != name);
                let itself = (function.name, sent, received);
                for (name, sent, received) in
                    [Some(itself), partner(function)].into_iter().flatten()
                {
                    let sum = expected.entry(name).or_default();
                    sum.0 += sent;
                    sum.1 += received;
                }
            }
            assert!(expected.len() > 50, "{expected:?}");
            let mut complain = |what: String| {
                complaints.push(format!("{} {names:?}: {what}", mpi.name()));
            };
            other_calls(rank, names).into_iter().for_each(&mut complain);
            for (name, (sent, received)) in expected {
                // It tells of this read what was asked for.
                if mpi == Mpi::OpenMpi && name == "MPI_File_read_all" {
                    continue;
                }
                let counts = rank.profile.functions.get(name).copied().unwrap_or_default();
                if (counts.sent.bytes, counts.received.bytes) != (sent, received) {
                    complain(format!(
                        "{name}: {sent} B out, {received} B in, counted {}, {}",
                        counts.sent.bytes, counts.received.bytes
                    ));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
