//! Logs that are made, of runs whose efficiencies are known in closed form.

use std::io::Write;

use proptest::prelude::*;
use topas_trace::{
    BODY, BlockContent, BlockHead, CallArguments, CallEvent, LENGTH, TraceBlock, Writer, checksum,
};

use super::*;

mod untold;

const INIT: u16 = 1;
const FINALIZE: u16 = 2;
const SEND: u16 = 3;
const RECV: u16 = 4;
const BARRIER: u16 = 5;
const ISEND: u16 = 6;
const IRECV: u16 = 7;
const WAITALL: u16 = 8;
const WAIT: u16 = 9;
const BCAST: u16 = 10;
const REDUCE: u16 = 11;
const TEST: u16 = 12;
const WAITANY: u16 = 13;
const ALLREDUCE: u16 = 14;
const SENDRECV: u16 = 15;
const PCONTROL: u16 = 16;
const START: u16 = 17;
const INEIGHBOR: u16 = 18;
const NAMES: [(u16, &str); 18] = [
    (INIT, "MPI_Init"),
    (FINALIZE, "MPI_Finalize"),
    (SEND, "MPI_Send"),
    (RECV, "MPI_Recv"),
    (BARRIER, "MPI_Barrier"),
    (ISEND, "MPI_Isend"),
    (IRECV, "MPI_Irecv"),
    (WAITALL, "MPI_Waitall"),
    (WAIT, "MPI_Wait"),
    (BCAST, "MPI_Bcast"),
    (REDUCE, "MPI_Reduce"),
    (TEST, "MPI_Test"),
    (WAITANY, "MPI_Waitany"),
    (ALLREDUCE, "MPI_Allreduce"),
    (SENDRECV, "MPI_Sendrecv"),
    (PCONTROL, "MPI_Pcontrol"),
    (START, "MPI_Start"),
    (INEIGHBOR, "MPI_Ineighbor_alltoall"),
];

/// What a millisecond is in ticks: a tick is half a nanosecond.
const TICK: f64 = 0.5e-6;

/// A rank that is made: calls with their beginnings and ends in ms, the first of which is `MPI_Init`
/// from -1 to 0.
struct Made {
    rank: u32,
    calls: Vec<CallEvent>,
    now: f64,
}

fn tick(at: f64) -> u64 {
    ((at + 10.0) / TICK) as u64
}

fn p2p(peer: u32, tag: i32) -> CallArguments {
    CallArguments { peer: peer as i32, tag, communicator: 1, ..CallArguments::NONE }
}

fn sends(peer: u32, bytes: u64) -> CallArguments {
    CallArguments { sent: bytes, ..p2p(peer, 7) }
}

fn receives(peer: u32, bytes: u64) -> CallArguments {
    CallArguments { received: bytes, ..p2p(peer, 7) }
}

fn completes(bytes: u64) -> CallArguments {
    CallArguments { received: bytes, ..CallArguments::NONE }
}

fn world() -> CallArguments {
    CallArguments { communicator: 1, ..CallArguments::NONE }
}

impl Made {
    fn new(rank: u32) -> Made {
        let mut made = Made { rank, calls: Vec::new(), now: -1.0 };
        made.call(INIT, -1.0, 0.0, CallArguments::NONE);
        made
    }

    fn call(&mut self, routine: u16, began: f64, ended: f64, arguments: CallArguments) {
        assert!(began >= self.now && ended >= began, "{began} {ended} after {}", self.now);
        let (began, ended, now) = (tick(began), tick(ended), ended);
        self.calls.push(CallEvent { routine, began, ended, arguments });
        self.now = now;
    }

    /// The blocks of the rank.
    fn bytes(&self, ranks: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let (mut number, mut before) = (0, 0);
        let mut calls = &self.calls[..];
        while !calls.is_empty() {
            let head = BlockHead {
                process: u64::from(self.rank) + 1,
                rank: self.rank,
                number,
                before,
                first: calls[0].began,
                ..BlockHead::new(BlockContent::Events)
            };
            let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
            let mut writer = Box::new(Writer::new());
            writer.begin(&mut block);
            let count = calls.iter().take_while(|event| writer.put(&mut block, event)).count();
            block.close(self.rank, writer.last());
            bytes.extend_from_slice(&block.head.encode());
            bytes.extend_from_slice(&block.body);
            (number, before, calls) = (number + 1, before + count as u64, &calls[count..]);
        }
        let mut text = format!("rank {}\nranks {ranks}\nhost n1\nid run\n", self.rank);
        for (key, at) in [("began", 0.0), ("latest", 1e4)] {
            text += &format!(
                "{key} {} {} {}\n",
                tick(at),
                (at * 1e6) as u64,
                7_000 + (at * 1e6) as u64
            );
        }
        for (number, name) in NAMES {
            text += &format!("routine {number} {name}\n");
        }
        let mut head = BlockHead {
            process: u64::from(self.rank) + 1,
            rank: self.rank,
            filled: text.len() as u64,
            ..BlockHead::new(BlockContent::Facts)
        };
        head.check = checksum(&head, text.as_bytes());
        bytes.extend_from_slice(&head.encode());
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(LENGTH), 0);
        bytes
    }
}

fn log(ranks: &[Made]) -> TraceLog {
    let mut file = tempfile::NamedTempFile::new().expect("file");
    for made in ranks {
        file.write_all(&made.bytes(ranks.len() as u32)).expect("written");
    }
    TraceLog::open(file.path()).expect("a log")
}

fn on(network: &Network, ranks: &[Made]) -> Replay {
    replay(&[log(ranks)], "run", network).expect("replayed")
}

fn perfect(ranks: &[Made]) -> Replay {
    on(&Network::default(), ranks)
}

fn near(told: f64, expected: f64, what: &str) {
    assert!((told - expected).abs() < 2e-3, "{what}: {told} instead of {expected}");
}

/// Load balance, serialisation, transfer.
fn factors(ranks: &[Made], expected: [f64; 3]) -> Replay {
    let told = perfect(ranks);
    assert!(told.as_measured.is_empty(), "{:?}", told.as_measured);
    let pop = told.factors().expect("factors");
    for (value, expected, what) in [
        (pop.load_balance, expected[0], "load balance"),
        (pop.serialisation, expected[1], "serialisation"),
        (pop.transfer, expected[2], "transfer"),
        (pop.communication, expected[1] * expected[2], "communication"),
        (pop.parallel, expected.iter().product(), "parallel"),
    ] {
        near(value, expected, what);
    }
    told
}

fn finish(ranks: &mut [Made], at: f64) {
    let end = ranks.iter().map(|rank| rank.now).fold(at, f64::max);
    ranks.iter_mut().for_each(|rank| rank.call(FINALIZE, rank.now, end, CallArguments::NONE));
}

/// A token goes from rank to rank, each works 1 ms with it, and it takes 0.05 ms.
#[test]
fn a_token_that_is_handed_on_is_serial() {
    const RANKS: u32 = 4;
    const LATENCY: f64 = 0.05;
    let mut ranks: Vec<Made> = (0..RANKS).map(Made::new).collect();
    let mut at = 0.0;
    for r in 0..RANKS {
        let rank = &mut ranks[r as usize];
        if r > 0 {
            rank.call(RECV, 0.0, at + LATENCY, receives(r - 1, 8));
            at += LATENCY;
        }
        at += 1.0;
        if r + 1 < RANKS {
            rank.call(SEND, at, at, sends(r + 1, 8));
        }
        rank.now = at;
    }
    let n = f64::from(RANKS);
    // Who is done waits for the others in MPI_Finalize.
    for rank in &mut ranks {
        rank.call(FINALIZE, rank.now, at, CallArguments::NONE);
    }
    let told = factors(&ranks, [1.0, 1.0 / n, n / (n + (n - 1.0) * LATENCY)]);
    assert_eq!((told.sent, told.received, told.left), (3, 3, 0));
    // With the latency that it had, the run is what it was.
    let same = on(&Network { latency: 1e6 * LATENCY, ..Network::default() }, &ranks);
    let [real, model] = same.elapsed();
    near(model / 1e6, at, "elapsed");
    near(real / 1e6, at, "measured");
    let fast = on(&Network { processors: 2.0, ..Network::default() }, &ranks);
    near(fast.elapsed()[1] / 1e6, n / 2.0, "with processors that are twice as fast");
}

/// Rank r works r + 1 ms, and the barrier takes 0.1 ms when all are there.
#[test]
fn uneven_work_is_load_imbalance() {
    let mut ranks: Vec<Made> = (0..4).map(Made::new).collect();
    for rank in &mut ranks {
        rank.call(BARRIER, f64::from(rank.rank) + 1.0, 4.1, world());
    }
    finish(&mut ranks, 4.1);
    factors(&ranks, [0.625, 1.0, 4.0 / 4.1]);
}

/// In turns one works 1 ms and the others a quarter of that.
#[test]
fn work_in_turns_is_serial() {
    let mut ranks: Vec<Made> = (0..4).map(Made::new).collect();
    for round in 0..10u32 {
        let start = 1.1 * f64::from(round);
        for rank in &mut ranks {
            let work = if round % 4 == rank.rank { 1.0 } else { 0.25 };
            rank.call(BARRIER, start + work, start + 1.1, world());
        }
    }
    finish(&mut ranks, 11.0);
    factors(&ranks, [0.921, 0.475, 10.0 / 11.0]);
}

/// A ring with requests: all work 1 ms, messages of 1 MB take 1.2 ms.
#[test]
fn a_ring_of_large_messages_is_transfer() {
    const RANKS: u32 = 5;
    const ROUNDS: u32 = 300;
    let mut ranks: Vec<Made> = (0..RANKS).map(Made::new).collect();
    for round in 0..ROUNDS {
        let start = 2.2 * f64::from(round);
        for rank in &mut ranks {
            let (right, left) = ((rank.rank + 1) % RANKS, (rank.rank + RANKS - 1) % RANKS);
            let at = start + 1.0;
            rank.call(IRECV, at, at, p2p(left, 7));
            rank.call(ISEND, at, at, sends(right, 1 << 20));
            rank.call(WAITALL, at, at + 1.2, completes(1 << 20));
        }
    }
    finish(&mut ranks, 0.0);
    let told = factors(&ranks, [1.0, 1.0, 1.0 / 2.2]);
    assert_eq!(told.received, u64::from(RANKS * ROUNDS));
    let per_byte = 1.2e6 / f64::from(1 << 20);
    let same = on(&Network { per_byte, ..Network::default() }, &ranks);
    near(same.elapsed()[1] / 1e6, 2.2 * f64::from(ROUNDS), "elapsed");
}

/// A root that is late makes others wait, one that is early waits for nobody; of a reduction the
/// others do not wait.
/// A ring by `MPI_Sendrecv`: all send to the right, receive from the left, and work 2 ms on average. In each step
/// one of three ranks works 4 ms and the others 1 ms. Who waits for the left neighbour alone has the moment
/// `v(r) = max(v(r), v(r - 1))` behind each step.
///
/// If the 4 ms go to the right as the messages do, each step takes 4 ms. If they go to the left, a chain of ranks
/// meets them in every other step.
#[test]
fn a_ring_of_exchanges_waits_for_the_left_neighbour_alone() {
    const RANKS: u32 = 3;
    const STEPS: u32 = 60;
    for (goes_right, perfect) in [(true, 4.0 * 60.0), (false, 2.5 * 60.0)] {
        let mut ranks: Vec<Made> = (0..RANKS).map(Made::new).collect();
        let mut ideal = [0.0f64; RANKS as usize];
        for step in 0..STEPS {
            let place = if goes_right { step } else { RANKS * STEPS - step } % RANKS;
            let work = |rank: u32| if rank == place { 4.0 } else { 1.0 };
            let entered: Vec<f64> = ranks.iter().map(|made| made.now + work(made.rank)).collect();
            let ready: Vec<f64> = (0..RANKS).map(|r| ideal[r as usize] + work(r)).collect();
            for made in &mut ranks {
                let (r, right) = (made.rank as usize, (made.rank + 1) % RANKS);
                let left = (made.rank + RANKS - 1) % RANKS;
                ideal[r] = ready[r].max(ready[left as usize]);
                let told = CallArguments { source: left as i32, received: 8, ..sends(right, 8) };
                let ended = entered[r].max(entered[left as usize]) + 0.05;
                made.call(SENDRECV, entered[r], ended, told);
            }
        }
        finish(&mut ranks, 0.0);
        near(ideal.iter().copied().fold(0.0, f64::max), perfect, "by hand");
        let told = factors(&ranks, [1.0, 2.0 * 60.0 / perfect, perfect / ranks[0].now]);
        assert_eq!(told.received, u64::from(RANKS * STEPS));
    }
}

#[test]
fn roots_are_told_apart() {
    let rooted = |peer: i32| CallArguments { peer, ..world() };
    let mut ranks: Vec<Made> = (0..3).map(Made::new).collect();
    for rank in &mut ranks {
        // The root comes after 3 ms, the others at once; then these work 1 ms and the root reduces.
        let come = if rank.rank == 0 { 3.0 } else { 0.0 };
        rank.call(BCAST, come, 3.0, rooted(0));
        let come = if rank.rank == 0 { 3.0 } else { 4.0 };
        rank.call(REDUCE, come, 4.0, rooted(0));
    }
    finish(&mut ranks, 4.0);
    let told = perfect(&ranks);
    near(told.elapsed()[1] / 1e6, 4.0, "elapsed");
    let modelled = |name: &str| {
        told.routines.iter().find(|one| one.name == name).map(|one| one.modelled / 1e6)
    };
    near(modelled("MPI_Bcast").unwrap(), 6.0, "two wait for the root");
    near(modelled("MPI_Reduce").unwrap(), 1.0, "the root waits for two");
}

/// A worker that asks again and again does not compute meanwhile.
#[test]
fn asking_again_is_no_work() {
    let mut ranks: Vec<Made> = (0..2).map(Made::new).collect();
    ranks[0].call(SEND, 5.0, 5.0, sends(1, 8));
    ranks[1].call(IRECV, 1.0, 1.0, p2p(0, 7));
    for i in 0..1000 {
        let at = 1.0 + 0.004 * f64::from(i);
        ranks[1].call(TEST, at, at + 0.003, completes(0));
    }
    ranks[1].call(TEST, 5.0, 5.0, completes(8));
    finish(&mut ranks, 5.0);
    let told = perfect(&ranks);
    assert_eq!(told.polls, 1000);
    near(told.ranks[1].measured.computing / 1e6, 1.0, "computing");
    near(told.elapsed()[1] / 1e6, 5.0, "elapsed");
}

/// Requests are completed out of order, by sizes; messages of a key in the order of posting.
#[test]
fn requests_are_told_by_their_bytes() {
    let mut ranks: Vec<Made> = (0..2).map(Made::new).collect();
    // 0 sends 8 B after 2 ms and 16 B after 1 ms, with two tags, and 24 B twice with one.
    let with = |tag, sent| CallArguments { tag, ..sends(1, sent) };
    ranks[0].call(SEND, 1.0, 1.0, with(2, 16));
    ranks[0].call(SEND, 2.0, 2.0, with(1, 8));
    ranks[0].call(SEND, 3.0, 3.0, with(3, 24));
    ranks[0].call(SEND, 4.0, 4.0, with(3, 24));
    for tag in 1..=3 {
        ranks[1].call(IRECV, 0.0, 0.0, p2p(0, tag));
    }
    ranks[1].call(WAITANY, 0.0, 1.0, completes(16));
    ranks[1].call(WAIT, 1.0, 2.0, completes(8));
    // The second message with tag 3: the first is that of the open request.
    ranks[1].call(RECV, 2.0, 4.0, CallArguments { tag: 3, ..receives(0, 24) });
    ranks[1].call(WAIT, 4.0, 4.0, completes(24));
    finish(&mut ranks, 4.0);
    let told = perfect(&ranks);
    assert!(told.as_measured.is_empty(), "{:?}", told.as_measured);
    assert_eq!((told.received, told.left), (4, 0));
    let of = |name: &str| told.routines.iter().find(|one| one.name == name).unwrap().modelled / 1e6;
    near(of("MPI_Waitany"), 1.0, "the first");
    near(of("MPI_Wait"), 1.0, "the second, and one that is there");
    near(of("MPI_Recv"), 2.0, "the last");
}

/// From anybody: the message that was sent first is taken.
#[test]
fn receives_from_anybody_take_what_came_first() {
    let mut ranks: Vec<Made> = (0..3).map(Made::new).collect();
    ranks[1].call(SEND, 2.0, 2.0, sends(0, 8));
    ranks[2].call(SEND, 1.0, 1.0, sends(0, 8));
    let any = CallArguments { peer: -2, tag: -1, ..receives(0, 8) };
    ranks[0].call(RECV, 0.0, 1.0, any);
    ranks[0].call(RECV, 1.5, 2.0, any);
    finish(&mut ranks, 2.0);
    let told = perfect(&ranks);
    assert_eq!((told.received, told.left), (2, 0));
    near(
        told.routines.iter().find(|one| one.name == "MPI_Recv").unwrap().modelled / 1e6,
        1.5,
        "wait",
    );
}

/// A rank that was killed is waited for by nobody for ever, and messages that are not in the log are
/// counted.
#[test]
fn what_is_not_in_the_log_takes_as_long_as_it_took() {
    let mut ranks: Vec<Made> = (0..3).map(Made::new).collect();
    ranks[0].call(RECV, 1.0, 3.0, receives(2, 8));
    ranks[1].call(RECV, 1.0, 2.0, receives(0, 8));
    ranks[1].call(SEND, 2.0, 2.0, sends(0, 8));
    ranks[0].call(BARRIER, 4.0, 5.0, world());
    ranks[1].call(BARRIER, 4.0, 5.0, world());
    let told = perfect(&ranks);
    let (reason, calls, time) = told.as_measured[0];
    assert_eq!((reason, calls), (AsMeasured::Unmatched, 4));
    near(time / 1e6, 2.0 + 1.0 + 1.0 + 1.0, "as measured");
    assert_eq!((told.sent, told.left), (1, 1));
    near(told.elapsed()[1] / 1e6, 5.0, "elapsed");
}

/// A log may tell of any rank: what a replay takes does not grow with the number.
#[test]
fn ranks_far_apart_take_no_memory() {
    const FAR: u32 = i32::MAX as u32;
    let mut ranks = [Made::new(7), Made::new(FAR), Made::new(u32::MAX)];
    ranks[0].call(SEND, 5.0, 5.1, sends(FAR, 100));
    ranks[1].call(RECV, 1.0, 5.2, receives(7, 100));
    finish(&mut ranks, 6.0);
    let told = perfect(&ranks);
    assert_eq!((told.ranks.len(), told.received, told.left), (3, 1, 0));
    assert_eq!(told.as_measured, []);
}

/// The members of a communicator are those who use it.
#[test]
fn communicators_have_their_own_members() {
    let mut ranks: Vec<Made> = (0..4).map(Made::new).collect();
    for rank in &mut ranks {
        let comm = 100 + u64::from(rank.rank / 2);
        let args = |number| CallArguments { communicator: comm, number, ..CallArguments::NONE };
        let end = if rank.rank < 2 { 2.0 } else { 8.0 };
        let own = if rank.rank % 2 == 0 { 1.0 } else { end };
        rank.call(ALLREDUCE, own, end, args(1));
        rank.call(ALLREDUCE, end, end, args(2));
        let unknown = CallArguments { communicator: 0, ..CallArguments::NONE };
        rank.call(BARRIER, end, end + 0.5, unknown);
    }
    let told = perfect(&ranks);
    let [_, model] = told.elapsed();
    near(model / 1e6, 8.5, "elapsed");
    near(told.ranks[0].modelled.elapsed / 1e6, 2.5, "the others are not waited for");
    assert_eq!(told.as_measured[0].0, AsMeasured::UnknownCommunicator);
    assert_eq!(told.as_measured[0].1, 4);
}

proptest! {
    /// Whatever is in a log, the replay comes to an end, and no time is negative.
    #[test]
    fn any_log_is_replayed(
        calls in prop::collection::vec(
            (0u32..3, 1u16..15, 0u32..4, 0u32..4, -2i32..4, -1i32..3, 0u64..3, 0u64..4, 0u64..3),
            0..60,
        ),
    ) {
        let mut ranks: Vec<Made> = (0..3).map(Made::new).collect();
        for (rank, routine, gap, length, peer, tag, bytes, communicator, number) in calls {
            let rank = &mut ranks[rank as usize];
            let began = rank.now + f64::from(gap);
            let arguments = CallArguments {
                peer, tag, source: peer, received_tag: -1, path: 0, sent: bytes, received: bytes, communicator,
                number,
            };
            rank.call(routine, began, began + f64::from(length), arguments);
        }
        let told = perfect(&ranks);
        for rank in &told.ranks {
            prop_assert!(rank.measured.computing >= 0.0 && rank.modelled.elapsed >= 0.0);
            prop_assert!(rank.measured.computing <= rank.measured.elapsed + 1.0);
        }
        prop_assert!(told.received <= told.sent);
    }
}

/// Messages of a pair share a link: N messages of B bytes that are under way at the same time take N B / bandwidth and
/// one latency. A link is free for what is sent later, and other pairs have links of their own.
#[test]
fn messages_of_a_pair_do_not_overlap() {
    const MESSAGES: u32 = 40;
    const BYTES: u64 = 1 << 20;
    const LATENCY: f64 = 0.25;
    let transfer = BYTES as f64 / 1e9 * 1e3;
    let network = Network { latency: 1e6 * LATENCY, per_byte: 1.0, ..Network::default() };
    let all = f64::from(MESSAGES) * transfer + LATENCY;
    for receivers in [1, 3] {
        let mut ranks: Vec<Made> = (0..=receivers).map(Made::new).collect();
        for _ in 0..MESSAGES {
            for to in 1..=receivers {
                ranks[0].call(ISEND, 0.0, 0.0, sends(to, BYTES));
            }
        }
        ranks[0].call(WAITALL, 0.0, 1.0, completes(0));
        for to in 1..=receivers {
            let rank = &mut ranks[to as usize];
            (0..MESSAGES).for_each(|_| rank.call(IRECV, 0.0, 0.0, p2p(0, 7)));
            rank.call(WAITALL, 0.0, 1.0, completes(u64::from(MESSAGES) * BYTES));
        }
        // What is sent when the link is free again is alone on it.
        ranks[0].call(SEND, 101.0, 101.0, sends(1, BYTES));
        ranks[1].call(RECV, 1.0, 101.0, receives(0, BYTES));
        finish(&mut ranks, 0.0);
        let told = on(&network, &ranks);
        assert_eq!((told.left, told.as_measured.len()), (0, 0), "{:?}", told.as_measured);
        let modelled = |name: &str| {
            told.routines.iter().find(|one| one.name == name).map(|one| one.modelled / 1e6).unwrap()
        };
        near(modelled("MPI_Waitall"), f64::from(receivers) * all, "all that was under way");
        near(told.elapsed()[1] / 1e6, 100.0 + transfer + LATENCY, "the last one alone");
        near(perfect(&ranks).elapsed()[1] / 1e6, 100.0, "the perfect network");
    }
}

/// Both directions of a pair have links of their own, and blocking sends do not wait for theirs.
#[test]
fn directions_of_a_pair_do_not_share_a_link() {
    const BYTES: u64 = 1_000_000;
    let network = Network { latency: 0.0, per_byte: 1.0, ..Network::default() };
    let mut ranks: Vec<Made> = (0..2).map(Made::new).collect();
    for rank in &mut ranks {
        let other = 1 - rank.rank;
        (0..10).for_each(|_| rank.call(SEND, 0.0, 0.0, sends(other, BYTES)));
        (0..10).for_each(|_| rank.call(RECV, 0.0, 0.0, receives(other, BYTES)));
    }
    finish(&mut ranks, 0.0);
    near(on(&network, &ranks).elapsed()[1] / 1e6, 10.0, "ten messages each way");
}

/// What ranks did while measuring was paused is not known: it is no computing, and no part of the run that is replayed.
#[test]
fn paused_time_counts_as_nothing() {
    let run = |pauses: [f64; 2]| {
        let mut ranks: Vec<Made> = (0..2).map(Made::new).collect();
        for (rank, paused) in ranks.iter_mut().zip(pauses) {
            let own = f64::from(rank.rank) + 1.0;
            rank.call(PCONTROL, own, own, CallArguments::PAUSING);
            rank.call(PCONTROL, own + paused, own + paused, CallArguments::NONE);
            let computed = own + paused + 3.0;
            rank.call(BARRIER, computed, 15.0, world());
        }
        finish(&mut ranks, 15.0);
        perfect(&ranks)
    };
    let even = run([5.0, 5.0]);
    for rank in &even.ranks {
        let own = f64::from(rank.rank) + 1.0;
        near(rank.measured.computing / 1e6, own + 3.0, "computing");
        near(rank.paused / 1e6, 5.0, "paused");
        near(rank.measured.elapsed / 1e6, 10.0, "elapsed");
    }
    let calls = even.routines.iter().find(|routine| routine.name == "MPI_Pcontrol");
    assert_eq!(
        calls.map(|routine| routine.calls),
        Some(2),
        "the profile counts no call that pauses"
    );
    near(even.elapsed()[1] / 1e6, 5.0, "the model");
    near(even.factors().expect("factors").load_balance, 4.5 / 5.0, "load balance");
    assert_eq!(run([5.0, 1.0]).factors(), None);
}
