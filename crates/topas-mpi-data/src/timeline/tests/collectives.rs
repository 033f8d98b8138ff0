//! Who waits for whom in a collective.

use super::*;

#[test]
fn who_waits_for_whom_depends_on_the_collective() {
    let root = |peer| CallArguments { peer, ..NONE };
    told(
        &[
            &[
                ("MPI_Barrier", 10, 50, NONE),
                ("MPI_Bcast", 60, 61, root(0)),
                ("MPI_Reduce", 70, 91, root(0)),
            ],
            &[
                ("MPI_Barrier", 48, 50, NONE),
                ("MPI_Bcast", 52, 62, root(0)),
                ("MPI_Reduce", 90, 91, root(0)),
            ],
        ],
        |timeline| {
            let notes: Vec<(u32, u32, u64)> = timeline
                .notes
                .iter()
                .map(|note| (note.place.row, note.place.call, note.wait / MS))
                .collect();
            assert_eq!(notes, [(0, 0, 38), (0, 2, 20), (1, 1, 8)]);
        },
    );
}

/// Rank 1 gets the root's data from rank 2, which comes later than the root.
#[test]
fn who_leaves_at_once_after_a_rank_came_waited_for_that() {
    let root = CallArguments { peer: 0, ..NONE };
    for (ended, waits) in [(81, &[(1, 2, 28)][..]), (87, &[(1, 2, 28)]), (88, &[])] {
        told(
            &[
                &[("MPI_Bcast", 50, 51, root)],
                &[("MPI_Bcast", 52, ended, root)],
                &[("MPI_Bcast", 80, 81, root)],
            ],
            |timeline| {
                let notes = timeline.notes.iter();
                let notes: Vec<(u32, u32, u64)> =
                    notes.map(|note| (note.place.row, note.partner, note.wait / MS)).collect();
                assert_eq!(notes, waits, "{ended}");
            },
        );
    }
}
