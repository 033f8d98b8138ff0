//! Collectives of neighbours.

use super::*;

/// The log does not say for whom a rank waits in them, so nobody waits, and the calls are counted. Other
/// collectives of the communicator, which have numbers among them, are told as ever.
#[test]
fn of_collectives_of_neighbours_it_is_told_that_they_are_not_told() {
    let comm = |number| CallArguments { communicator: 77, number, ..NONE };
    let own = |began: u64| {
        [
            ("MPI_Neighbor_alltoall", began, 60, comm(1)),
            ("MPI_Barrier", 60 + began, 150, comm(2)),
            ("MPI_Ineighbor_allgather", 160, 161, comm(3)),
            ("MPI_Wait", 170, 180, NONE),
        ]
    };
    told(&[&own(10), &own(50)], |timeline| {
        assert_eq!(time(timeline, 0, TimeClass::CollectiveWait), 40, "in the barrier");
        assert_eq!(time(timeline, 0, TimeClass::Collective), 50 + 40 + 1);
        assert_eq!(time(timeline, 1, TimeClass::CollectiveWait), 0);
        assert_eq!(timeline.untold, 4);
    });
}
