//! What the event log says of a process, beside its events: lines of text, each a key and a value.

use topas_format::out::Out;
use topas_trace::RingHead;

use crate::layout::{Block, FUNCTIONS, Header, Moment};
use crate::lines::text;
use crate::routine;

/// Longest value of a text, in B.
const LONGEST: usize = 256;

/// How the clock of a host differs from that of the first host of the world, as ranks have found out
/// at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostClock {
    /// How far the first host is ahead of [`Moment::monotonic`] of this one, in nanoseconds
    pub ahead: i64,
    /// How far that may be from the truth, in nanoseconds
    pub error: u64,
    /// How much faster the clock of this host runs, in 1e-9
    pub drift: i64,
}

/// What tells the process from all others whose events are in a log: a hash, never 0.
pub fn process_key(header: &Header) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let words = [header.began.realtime, header.began.ticks, header.pid.into()];
    let bytes = text(&header.host).iter().map(|byte| u64::from(*byte));
    bytes.chain(words).fold(0, |sum: u64, word| (sum ^ word).wrapping_mul(FACTOR).rotate_left(31))
        | 1
}

/// Writes the facts of a process. `clock` is known if clocks were compared; `blocks` are those of its
/// threads, `ring` tells the ring of one.
/// What there is no room for is left out from the end.
pub fn write_facts<'b>(
    header: &Header,
    clock: Option<HostClock>,
    blocks: impl Iterator<Item = &'b Block> + Clone,
    mut ring: impl FnMut(&Block) -> Option<RingHead>,
    out: &mut Out<'_>,
) {
    for (key, number) in [
        ("rank", header.rank),
        ("ranks", header.ranks),
        ("uid", header.uid),
        ("pid", header.pid),
        ("state", header.state),
    ] {
        out.put(key.as_bytes()).byte(b' ').dec(number.into()).byte(b'\n');
    }
    for (key, value) in [
        ("host", &header.host[..]),
        ("user", &header.user),
        ("exe", &header.exe),
        ("id", &header.id),
        ("job", &header.job),
        ("mpi", &header.mpi),
    ] {
        out.put(key.as_bytes()).byte(b' ').one_line(text(value), LONGEST).byte(b'\n');
    }
    for (key, moment) in
        [("began", &header.began), ("initialized", &header.initialized), ("latest", &header.latest)]
    {
        let Moment { ticks, monotonic, realtime } = *moment;
        out.put(key.as_bytes()).byte(b' ').dec(ticks);
        out.byte(b' ').dec(monotonic).byte(b' ').dec(realtime).byte(b'\n');
    }
    if let Some(HostClock { ahead, error, drift }) = clock {
        signed(out.put(b"clock "), ahead).byte(b' ').dec(error).byte(b' ');
        signed(out, drift).byte(b'\n');
    }
    for block in blocks.clone() {
        let Some(ring) = ring(block) else { continue };
        let kept = ring.begun.min(ring.made.into());
        out.put(b"thread ").dec(ring.thread.into()).byte(b' ').dec(ring.begun);
        out.byte(b' ').dec(kept).byte(b' ').dec(ring.lost).byte(b'\n');
    }
    for block in blocks.clone().filter(|block| block.now.inside != 0) {
        let number = block.now.inside - 1;
        out.put(b"inside ").dec(number.into()).byte(b' ').dec(block.now.since).byte(b'\n');
    }
    for number in 0..FUNCTIONS {
        let calls = |block: &Block| block.rows.get(number).is_some_and(|row| row.calls > 0);
        // What wrote the facts is not counted yet.
        let name = routine::name(number);
        if blocks.clone().any(calls) || name == b"Finalize" {
            out.put(b"routine ").dec(number as u64).put(b" MPI_").put(name).byte(b'\n');
        }
    }
}

fn signed<'o, 'b>(out: &'o mut Out<'b>, number: i64) -> &'o mut Out<'b> {
    if number < 0 {
        out.byte(b'-');
    }
    out.dec(number.unsigned_abs())
}
