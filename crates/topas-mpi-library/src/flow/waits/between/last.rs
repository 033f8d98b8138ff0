//! The wait in `MPI_Finalize` for the rank that comes there last.
//!
//! Nobody comes out of it before all are there: it is a collective of the world. When all have come, they tell
//! each other when that was.

use topas_mpi_waits::engine::Surroundings;
use topas_mpi_waits::protocol::SentSize;
use topas_mpi_waits::wait::{Awaited, Call, Findings, peer_with};

use super::clocks::Clocks;
use super::hosts::Hosts;
use super::tolerance;
use crate::flow::waits::boards::Boards;
use crate::flow::waits::{is_on, partners};
use crate::generated::number;
use crate::mode::paused;
use crate::ranks::Ranks;

/// The call of `MPI_Finalize`, as far as it is the program's: until all ranks are there.
pub fn call(came: u64, ended: u64) -> Call {
    let function = partners::call_here(number::FINALIZE);
    Call { function, counts: !paused(), began: came, ended }
}

/// Another rank as it came: when, in ticks of this rank, by how much that may be wrong, and whose path of which
/// call.
struct Arrival {
    moment: u64,
    error: u64,
    peer: u64,
}

/// Tells for whom this rank waited. Without clocks nothing is known of ranks of other hosts, and nothing of all if
/// the ranks could not tell each other.
pub fn tell(ranks: &Ranks, hosts: Option<&Hosts>, clocks: Option<&Clocks>, call: Call) {
    if !is_on() {
        return;
    }
    let mut findings = Findings::of(call);
    match hosts.and_then(|hosts| last(ranks, hosts, clocks)) {
        None => findings.elsewhere = true,
        Some(last) if last.error > tolerance(&findings) => findings.unsure = true,
        Some(Arrival { moment, error, peer }) => {
            let awaited = (Awaited::Arrival, SentSize::NOTHING);
            findings.began(awaited, peer, moment, error);
        }
    }
    let mut boards = Boards::of(ranks.rank);
    findings.tell(|figure, peer, ticks| boards.add(call.function, figure, peer, ticks));
}

/// The last of the others; None if it is not known of each when it came.
fn last(ranks: &Ranks, hosts: &Hosts, clocks: Option<&Clocks>) -> Option<Arrival> {
    let mut last = None;
    for rank in (0..ranks.size).filter(|rank| *rank != ranks.rank) {
        let (came, path) = hosts.arrival(rank)?;
        let peer = peer_with(rank, path);
        let host = hosts.of(rank);
        let arrival = if host == hosts.own {
            Arrival { moment: came, error: 0, peer }
        } else {
            let clocks = clocks?;
            Arrival { moment: clocks.arrival(hosts, rank)?, error: clocks.error(hosts, host), peer }
        };
        if last.as_ref().is_none_or(|last: &Arrival| arrival.moment > last.moment) {
            last = Some(arrival);
        }
    }
    last
}
