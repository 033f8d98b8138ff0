//! Time in which the program paused measuring.

use super::*;

#[test]
fn a_pause_is_no_computing() {
    told(
        &[
            &[
                ("MPI_Barrier", 0, 1, NONE),
                ("MPI_Pcontrol", 5, 5, CallArguments::PAUSING),
                ("MPI_Pcontrol", 25, 25, CallArguments::NONE),
                ("MPI_Barrier", 30, 31, NONE),
            ],
            // What a program passes to other tools, and what earlier versions wrote, is no pause.
            &[
                ("MPI_Barrier", 0, 1, NONE),
                ("MPI_Pcontrol", 5, 5, CallArguments::NONE),
                ("MPI_Barrier", 30, 31, NONE),
            ],
        ],
        |timeline| {
            let of = |rank, class| time(timeline, rank, class);
            assert_eq!((of(0, TimeClass::Outside), of(0, TimeClass::Paused)), (9, 20));
            assert_eq!((of(1, TimeClass::Outside), of(1, TimeClass::Paused)), (29, 0));
            assert_eq!(timeline.rows[0].pauses, [(0, 2)]);
            assert!(timeline.states.is_empty(), "a pause is no state");
        },
    );
}

#[test]
fn a_pause_may_end_in_the_next_block() {
    let pause = ("MPI_Pcontrol", 5, 5, CallArguments::PAUSING);
    let bytes = [
        block(0, 0, 0, &[("MPI_Barrier", 0, 1, NONE), pause]),
        block(0, 1, 2, &[("MPI_Barrier", 30, 31, NONE)]),
        facts(0, 1, ""),
    ];
    let logs = [log(&bytes.concat())];
    let timeline = Timeline::read(&logs, None, |_, _| {}).expect("read").expect("a launch");
    assert_eq!(time(&timeline, 0, TimeClass::Outside), 4);
    assert_eq!(time(&timeline, 0, TimeClass::Paused), 25);
    assert_eq!(timeline.rows[0].pauses, [(1, 0)]);
    assert!(timeline.rows[0].is_paused_before(CallPlace { row: 0, block: 1, call: 0 }));
}

/// Where a rank was waited for longest, without the time for which it waited itself.
#[test]
fn the_longest_delay_is_one_that_arose_in_the_row() {
    told(
        &[
            &[("MPI_Recv", 10, 40, from(1, 5, 8)), ("MPI_Recv", 50, 70, from(1, 5, 8))],
            &[
                // Rank 1 is late by 30 ms, of which it waited 25 ms for rank 2.
                ("MPI_Recv", 5, 36, from(2, 5, 8)),
                ("MPI_Send", 40, 41, to(0, 5, 8)),
                ("MPI_Send", 69, 70, to(0, 5, 8)),
            ],
            &[("MPI_Send", 35, 36, to(1, 5, 8))],
        ],
        |timeline| {
            let found = timeline.longest_delay(1).expect("a delay");
            assert_eq!((found.began, found.ended, found.waiting), (50 * MS, 69 * MS, 0));
            assert_eq!(timeline.longest_delay(0), None);
        },
    );
}
