//! Threads that call at once, and complete what others began.

use topas_tests::mpi_installation::Mpi;

use super::launch::{Names, Program, other_calls};
use super::profile::Counts;

/// As in `threads.c`.
const THREADS: u64 = 4;

/// Calls of each thread.
const REDUCTIONS: u64 = 100_000;
const REQUESTS: u64 = 20_000;
const MESSAGES: u64 = 400;

/// What `counts` should be: messages and bytes of each.
fn differs(name: &str, counts: &Counts, sent: (u64, u64), received: (u64, u64)) -> Option<String> {
    let got = [counts.sent, counts.received].map(|moved| (moved.number, moved.bytes));
    let wanted = [sent, received].map(|(number, size)| (number, number * size));
    (got != wanted).then(|| format!("{name}: {wanted:?}, counted {got:?}"))
}

#[test]
fn nothing_is_lost_between_threads() {
    let mut complaints = Vec::new();
    for mpi in Mpi::installed("nothing_is_lost_between_threads") {
        let program = Program::new(mpi, Names::Plain, include_str!("threads.c"), &["-pthread"]);
        let words = [REDUCTIONS, REQUESTS, MESSAGES].map(|n| n.to_string());
        let ranks = program.profiled(2, &words.each_ref().map(String::as_str));
        for (i, rank) in ranks.iter().enumerate() {
            let mut complain = |what| complaints.push(format!("{} rank {i}: {what}", mpi.name()));
            other_calls(rank, Names::Plain).into_iter().for_each(&mut complain);
            let counts = |name: &str| rank.profile.functions.get(name).copied().unwrap_or_default();
            let [reductions, requests, messages] =
                [REDUCTIONS, REQUESTS, MESSAGES].map(|n| THREADS * n);
            for (name, sent, received) in [
                ("MPI_Allreduce", (reductions, 4), (reductions, 4)),
                ("MPI_Send", (messages / 2, 24), (0, 0)),
                ("MPI_Recv", (0, 0), (messages / 2, 24)),
                ("MPI_Isend", (requests, 14), (0, 0)),
                ("MPI_Irecv", (0, 0), (requests, 14)),
            ] {
                differs(name, &counts(name), sent, received).into_iter().for_each(&mut complain);
            }
            for (peer, bytes) in [(1 - i, messages / 2 * 24), (i, requests * 14)] {
                let counted = rank.profile.peers[peer];
                if (counted.sent, counted.received) != (bytes, bytes) {
                    complain(format!("peer {peer}: {bytes} B both ways, counted {counted:?}"));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
