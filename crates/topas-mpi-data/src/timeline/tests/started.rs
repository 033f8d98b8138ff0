//! Collectives that do not block.

use super::*;

/// The call that completes a collective waits for the last rank, if nothing else can be what it completes.
#[test]
fn a_collective_that_does_not_block_is_waited_for_where_it_is_completed() {
    let own = |began: u64| {
        [("MPI_Iallreduce", began, began + 1, NONE), ("MPI_Wait", began + 10, 61, NONE)]
    };
    told(&[&own(10), &own(45)], |timeline| {
        assert_eq!(time(timeline, 0, TimeClass::CollectiveWait), 25);
        assert_eq!(time(timeline, 0, TimeClass::PointToPoint), 16);
        assert_eq!(time(timeline, 1, TimeClass::CollectiveWait), 0);
        assert_eq!((timeline.untold, timeline.rows[1].delayed / MS), (0, 25));
    });
    // Something else may be what the call completed.
    let [start, wait] = own(10);
    told(&[&[("MPI_Isend", 5, 6, to(1, 5, 8)), start, wait], &own(45)], |timeline| {
        assert_eq!(time(timeline, 0, TimeClass::CollectiveWait), 0);
        assert_eq!(timeline.untold, 1, "the call that completed it is not known");
    });
    // What nobody completes is not told.
    told(&[&[start], &[start]], |timeline| assert_eq!(timeline.untold, 2));
}
