//! Writes an event log that is made: `generate-trace RANKS ROUNDS`, to standard output. Ranks exchange
//! messages with both neighbours of a ring, and add up something after every tenth round; some are
//! later than others.

use std::io::{self, BufWriter, Write, stdout};
use std::process::ExitCode;

use topas_trace::{
    BODY, BlockContent, BlockHead, CallArguments, CallEvent, LENGTH, TraceBlock, Writer, checksum,
};

const NAMES: [(u16, &str); 6] = [
    (1, "MPI_Init"),
    (2, "MPI_Irecv"),
    (3, "MPI_Isend"),
    (4, "MPI_Waitall"),
    (5, "MPI_Allreduce"),
    (6, "MPI_Finalize"),
];

/// A round, in ticks of 1 ns.
const ROUND: u64 = 20_000;

fn main() -> ExitCode {
    let args: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [ranks, rounds] = args[..] else {
        eprintln!("generate-trace: error: usage: generate-trace RANKS ROUNDS");
        return ExitCode::from(2);
    };
    let mut out = BufWriter::with_capacity(1 << 20, stdout().lock());
    let written =
        (0..ranks).try_for_each(|rank| write(&mut out, rank as u32, ranks as u32, rounds));
    match written.and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-trace: error: cannot write\n  cause: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Calls of a rank, put into blocks as they come.
struct Blocks<'o, W> {
    out: &'o mut W,
    writer: Box<Writer>,
    block: Option<Box<TraceBlock>>,
    rank: u32,
    number: u64,
    before: u64,
}

impl<W: Write> Blocks<'_, W> {
    fn put(&mut self, event: &CallEvent) -> io::Result<()> {
        if let Some(block) = &mut self.block
            && self.writer.put(block, event)
        {
            return Ok(());
        }
        self.close()?;
        let head = BlockHead {
            process: u64::from(self.rank) + 1,
            rank: self.rank,
            shift: 3,
            number: self.number,
            before: self.before,
            first: event.began,
            ..BlockHead::new(BlockContent::Events)
        };
        self.number += 1;
        let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
        self.writer.begin(&mut block);
        self.writer.put(&mut block, event);
        self.block = Some(block);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(mut block) = self.block.take() else { return Ok(()) };
        self.before += u64::from(block.head.events());
        block.close(self.rank, self.writer.last());
        self.out.write_all(&block.head.encode())?;
        self.out.write_all(&block.body)
    }
}

fn write(out: &mut impl Write, rank: u32, ranks: u32, rounds: u64) -> io::Result<()> {
    let mut blocks =
        Blocks { out, writer: Box::new(Writer::new()), block: None, rank, number: 0, before: 0 };
    let call = |routine, began, ended, arguments| CallEvent { routine, began, ended, arguments };
    let none = CallArguments::NONE;
    blocks.put(&call(1, 1000, 2000, none))?;
    let [right, left] = [(rank + 1) % ranks, (rank + ranks - 1) % ranks];
    let bytes = |round: u64| 64 + 8 * (round % 7);
    let mut state = u64::from(rank) + 1;
    for round in 0..rounds {
        let begin = 10_000 + round * ROUND;
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Who is late is so by up to a third of a round.
        let mut at = begin + 5_000 + (state >> 33) % (ROUND / 3);
        let to = |peer: u32, sent| CallArguments {
            peer: peer as i32,
            tag: 1,
            communicator: 1,
            sent,
            ..CallArguments::NONE
        };
        for peer in [left, right] {
            blocks.put(&call(2, at, at + 80, to(peer, 0)))?;
            at += 120;
        }
        for peer in [left, right] {
            blocks.put(&call(3, at, at + 150, to(peer, bytes(round))))?;
            at += 200;
        }
        let received = CallArguments { received: 2 * bytes(round), ..none };
        blocks.put(&call(4, at, begin + ROUND * 2 / 3, received))?;
        if round % 10 == 9 {
            let all = CallArguments { communicator: 1, sent: 8, received: 8, ..none };
            blocks.put(&call(5, begin + ROUND * 2 / 3 + 100, begin + ROUND * 5 / 6, all))?;
        }
    }
    let end = 10_000 + rounds * ROUND;
    blocks.put(&call(6, end, end + 100, none))?;
    blocks.close()?;
    let mut text = format!("rank {rank}\nranks {ranks}\nhost n{}\nid made\n", rank / 16);
    for at in [("began", 0), ("latest", end + 1000)] {
        text += &format!("{} {} {} {}\n", at.0, at.1, at.1, 1_000_000 + at.1);
    }
    for (number, name) in NAMES {
        text += &format!("routine {number} {name}\n");
    }
    let mut head = BlockHead {
        process: u64::from(rank) + 1,
        rank,
        filled: text.len() as u64,
        ..BlockHead::new(BlockContent::Facts)
    };
    head.check = checksum(&head, text.as_bytes());
    let mut bytes = [&head.encode()[..], text.as_bytes()].concat();
    bytes.resize(LENGTH, 0);
    out.write_all(&bytes)
}
