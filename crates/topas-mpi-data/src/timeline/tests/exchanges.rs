//! Calls that send a message and receive another one, and calls that wait for a message and leave it.

use topas_mpi_waits::protocol::SMALL_MESSAGE;
use topas_trace::NOBODY;

use super::*;

/// Rank 0 sends to rank 2 and receives from rank 1, in one call: it waits for that one which comes later, and
/// for a receiver only if the message may need one.
#[test]
fn a_call_that_exchanges_messages_waits_once() {
    let exchange = |sent, bytes| CallArguments { source: 1, received: 8, ..to(sent, 5, bytes) };
    let large = SMALL_MESSAGE + 1;
    // To whom, how many bytes, when rank 1 sends and rank 2 receives; the waits for sender and receiver.
    for (to_rank, bytes, sends, receives, waits) in [
        (2, large, 30, 50, [0, 40]),
        (2, large, 50, 30, [40, 0]),
        (2, large - 1, 30, 50, [20, 0]),
        (2, large, 30, 70, [20, 0]),
        (2, large, 5, 6, [0, 0]),
        (NOBODY, 0, 30, 50, [20, 0]),
    ] {
        let receive = if to_rank < 0 { from(NOBODY, 5, 0) } else { from(0, 5, bytes) };
        told(
            &[
                &[("MPI_Sendrecv", 10, 60, exchange(to_rank, bytes))],
                &[("MPI_Send", sends, sends + 1, to(0, 5, 8))],
                &[("MPI_Recv", receives, 80, receive)],
            ],
            |timeline| {
                let of = |class| time(timeline, 0, class);
                let told = [of(TimeClass::LateSender), of(TimeClass::LateReceiver)];
                assert_eq!(told, waits, "{bytes} bytes, {sends} and {receives} ms");
                assert_eq!(of(TimeClass::PointToPoint), 50 - waits[0] - waits[1]);
                let delayed: u64 = timeline.rows.iter().map(|row| row.delayed / MS).sum();
                let all = (0..3).map(|rank| {
                    time(timeline, rank, TimeClass::LateSender)
                        + time(timeline, rank, TimeClass::LateReceiver)
                });
                assert_eq!(delayed, all.sum::<u64>(), "each wait counts once");
                let messages = timeline.notes_of(0).iter();
                let messages = messages.filter(|note| note.kind == NoteKind::Message).count();
                assert_eq!(messages, 1, "the arrow of the message stays");
            },
        );
    }
}

/// What is received may have another tag than what is sent.
#[test]
fn an_exchange_may_have_two_tags() {
    let two =
        |tag, received_tag| CallArguments { source: 1, received: 8, received_tag, ..to(1, tag, 8) };
    let zero = |tag, received_tag| CallArguments { peer: 0, source: 0, ..two(tag, received_tag) };
    told(
        &[
            &[("MPI_Sendrecv", 10, 51, two(3, 4)), ("MPI_Sendrecv", 60, 62, two(3, NOBODY))],
            &[("MPI_Sendrecv", 50, 52, zero(4, 3)), ("MPI_Sendrecv", 61, 63, zero(3, NOBODY))],
        ],
        |timeline| {
            assert_eq!(time(timeline, 0, TimeClass::LateSender), 41);
            assert_eq!(timeline.untold, 0);
            let messages = timeline.notes.iter().filter(|note| note.kind == NoteKind::Message);
            assert_eq!(messages.count(), 4);
        },
    );
}

/// Of an exchange whose one side cannot be told the other side is told, and so is a send to nobody's receive.
#[test]
fn a_side_of_an_exchange_that_is_not_told_hides_nothing() {
    let large = SMALL_MESSAGE + 1;
    // A source that is not known, one that sends other bytes, one whose message is not in the log, and none.
    for (source, received) in [(UNKNOWN_RANK, 8), (1, 9), (1, 0), (NOBODY, 0)] {
        let sends: &[MadeCall] = match received {
            0 => &[("MPI_Barrier", 1, 2, NONE)],
            _ => &[("MPI_Send", 30, 31, to(0, 5, 8))],
        };
        let exchange = CallArguments { source, received, ..to(2, 5, large) };
        told(
            &[
                &[("MPI_Sendrecv", 10, 60, exchange)],
                sends,
                &[("MPI_Recv", 50, 61, from(0, 5, large))],
            ],
            |timeline| assert_eq!(time(timeline, 0, TimeClass::LateReceiver), 40, "{source}"),
        );
    }
}

/// A probe waits for the message that the next receive takes, in whatever order both ranks are read.
#[test]
fn a_probe_waits_and_takes_nothing() {
    for began in [20, 1] {
        told(
            &[
                &[
                    ("MPI_Probe", 10, 31, from(1, 5, 0)),
                    ("MPI_Probe", 32, 33, from(1, 5, 0)),
                    ("MPI_Recv", 34, 35, from(1, 5, 8)),
                    ("MPI_Probe", 40, 61, from(1, 5, 0)),
                    ("MPI_Recv", 62, 63, from(1, 5, 9)),
                    // Of a communicator that is not told apart, nothing is known.
                    ("MPI_Probe", 70, 80, CallArguments { communicator: 0, ..from(1, 5, 0) }),
                ],
                &[
                    ("MPI_Barrier", began, began + 1, CallArguments { communicator: 0, ..NONE }),
                    ("MPI_Send", 30, 31, to(0, 5, 8)),
                    ("MPI_Send", 60, 61, to(0, 5, 9)),
                ],
            ],
            |timeline| {
                assert_eq!(time(timeline, 0, TimeClass::LateSender), 40);
                assert_eq!(timeline.untold, 0);
            },
        );
    }
}

/// What blocking sends have shown of a size counts for later exchanges with the same rank, and who is late for both
/// sides is a late sender.
#[test]
fn an_exchange_waits_for_a_receiver_only_where_messages_need_one() {
    let exchange = |bytes| CallArguments { source: 1, received: 8, ..to(1, 5, bytes) };
    // Bytes, when a send of so many ends, whose receive is posted at 20 ms, when rank 1 sends and posts its receive; the
    // waits for sender and receiver of an exchange from 110 to 160 ms.
    for (bytes, ended, sent, posted, waits) in [
        (SMALL_MESSAGE + 1, 2, 130, 150, [20, 0]),
        (SMALL_MESSAGE + 1, 21, 130, 150, [0, 40]),
        (SMALL_MESSAGE + 1, 21, 149, 150, [39, 0]),
        (SMALL_MESSAGE, 2, 130, 150, [20, 0]),
        (SMALL_MESSAGE, 21, 130, 150, [0, 40]),
        // That it ended long after has shown nothing.
        (SMALL_MESSAGE, 70, 130, 150, [20, 0]),
    ] {
        told(
            &[
                &[
                    ("MPI_Send", 1, ended, to(1, 4, bytes)),
                    ("MPI_Sendrecv", 110, 160, exchange(bytes)),
                ],
                &[
                    ("MPI_Recv", 20, 80, from(0, 4, bytes)),
                    ("MPI_Isend", sent, sent, to(0, 5, 8)),
                    ("MPI_Recv", posted, 170, from(0, 5, bytes)),
                ],
            ],
            |timeline| {
                // The first send waited for 19 ms, if it did.
                let exchange = timeline.notes_of(0).iter().filter(|note| note.wait > 0);
                let of = |kind| {
                    let same = exchange.clone().filter(|note| note.kind == kind);
                    same.map(|note| note.wait / MS).filter(|wait| *wait != 19).sum::<u64>()
                };
                let told = [of(NoteKind::Message), of(NoteKind::LateReceiver)];
                assert_eq!(told, waits, "{bytes} B until {ended}, {sent} and {posted} ms");
            },
        );
    }
}
