//! Calls that complete what another call has sent: the log tells of such a call whose message that was.

use topas_mpi_waits::protocol::SMALL_MESSAGE;

use super::*;

const LARGE: u64 = SMALL_MESSAGE + 1;

/// A call that completed a message for a rank, and received so many bytes.
fn completes(peer: i32, tag: i32, received: u64) -> CallArguments {
    CallArguments { peer, tag, received, ..NONE }
}

/// Rank 0 has started to send to rank 1, and perhaps to receive from rank 2.
#[test]
fn a_call_waits_for_the_receiver_of_what_was_started() {
    // Bytes, when the receive is posted, what the completing call received and when rank 2 sent that; the waits for
    // receiver and sender of a call from 10 to 60 ms.
    for (bytes, posted, received, sent, waits) in [
        (LARGE, 50, 0, 20, [40, 0]),
        (8, 50, 0, 20, [40, 0]),
        (LARGE, 5, 0, 20, [0, 0]),
        // Whoever is later is waited for.
        (LARGE, 50, 8, 20, [40, 0]),
        (LARGE, 20, 8, 50, [0, 40]),
        (LARGE, 5, 8, 50, [0, 40]),
        // A small message went without its receiver.
        (8, 50, 8, 20, [0, 10]),
        // It was over before the receive was posted.
        (LARGE, 70, 8, 20, [0, 10]),
    ] {
        told(
            &[
                &[
                    ("MPI_Irecv", 1, 2, from(2, 6, 0)),
                    ("MPI_Isend", 2, 3, to(1, 5, bytes)),
                    ("MPI_Waitall", 10, 60, completes(1, 5, received)),
                ],
                &[("MPI_Recv", posted, 90, from(0, 5, bytes))],
                &[("MPI_Send", sent, sent + 1, to(0, 6, 8))],
            ],
            |timeline| {
                let of = |class| time(timeline, 0, class);
                let told = [of(TimeClass::LateReceiver), of(TimeClass::LateSender)];
                assert_eq!(told, waits, "{bytes} B, {posted} and {sent} ms");
                assert_eq!(timeline.untold, 0);
                let late = timeline.notes_of(0).iter().find(|note| note.wait > 0);
                let partner = if waits[0] > 0 { 1 } else { 2 };
                assert!(late.is_none_or(|late| late.partner == partner));
            },
        );
    }
}

/// However many messages of a block were sent whose completing calls were short, those of the others are told.
#[test]
fn messages_of_short_calls_hide_none() {
    const ROUNDS: u64 = 300;
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for at in (0..ROUNDS).map(|round| round * 100) {
        for tag in [5, 6] {
            sends.push(("MPI_Isend", at + 1, at + 2, to(1, tag, LARGE)));
        }
        // That of the other is short.
        sends.push(("MPI_Wait", at + 10, at + 25, completes(1, 5, 0)));
        sends.push(("MPI_Wait", at + 80, at + 81, NONE));
        receives.push(("MPI_Recv", at + 20, at + 25, from(0, 5, LARGE)));
        receives.push(("MPI_Recv", at + 30, at + 35, from(0, 6, LARGE)));
    }
    told(&[&sends, &receives], |timeline| {
        assert_eq!(time(timeline, 0, TimeClass::LateReceiver), 10 * ROUNDS);
    });
}

/// Each call has its own messages, in the order of their key; a call without a message in the log waits for nobody.
#[test]
fn calls_complete_messages_in_their_order() {
    let large = |tag| to(1, tag, LARGE);
    told(
        &[
            &[
                ("MPI_Isend", 1, 2, large(5)),
                ("MPI_Isend", 2, 3, large(6)),
                ("MPI_Isend", 3, 4, large(5)),
                ("MPI_Wait", 10, 25, completes(1, 5, 0)),
                ("MPI_Wait", 30, 31, NONE),
                ("MPI_Wait", 32, 45, completes(1, 5, 0)),
                ("MPI_Wait", 50, 51, completes(1, 7, 0)),
                // A receiver that is not known, and a communicator that is not.
                ("MPI_Wait", 52, 53, completes(UNKNOWN_RANK, 6, 0)),
                ("MPI_Wait", 54, 55, CallArguments { communicator: 0, ..completes(1, 6, 0) }),
            ],
            &[
                ("MPI_Recv", 20, 25, from(0, 5, LARGE)),
                ("MPI_Recv", 31, 32, from(0, 6, LARGE)),
                ("MPI_Recv", 40, 45, from(0, 5, LARGE)),
            ],
        ],
        |timeline| {
            assert_eq!(time(timeline, 0, TimeClass::LateReceiver), 10 + 8);
            assert_eq!(timeline.untold, 0);
        },
    );
}
