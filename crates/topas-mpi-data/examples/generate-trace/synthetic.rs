//! Event logs of a run that was made up: a ring of ranks that exchange messages, of which one computes
//! longer than the others. What everybody waited for is known exactly.

use std::io::{self, Write};

use topas_trace::{
    BlockContent, BlockHead, CallArguments, CallEvent, HEAD, LENGTH, TraceBlock, Writer, checksum,
};

/// Ticks in a nanosecond.
const TICKS: u64 = 3;
/// The tick and the nanosecond at which the run begins.
const BEGAN: (u64, u64) = (1 << 50, 7_000_000_000);
/// 2020-09-13 12:26:40 UTC, in ns.
const REALTIME: u64 = 1_600_000_000_000_000_000;
/// Numbers of routines in the log, with their names.
const ROUTINES: [&str; 6] =
    ["MPI_Init", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Finalize"];

/// A run.
pub struct SyntheticTrace {
    /// Ranks
    pub ranks: u32,
    /// Exchanges
    pub steps: u64,
    /// The rank that computes longer
    pub late: u32,
    /// By how much, in ns for each step
    pub by: u64,
    /// The host
    pub host: &'static str,
    /// The program
    pub exe: &'static str,
    /// The launch
    pub id: &'static str,
}

impl Default for SyntheticTrace {
    fn default() -> Self {
        let (host, exe, id) = ("n001", "/home/user/ring", "made-up-1");
        SyntheticTrace { ranks: 8, steps: 200, late: 5, by: 40_000, host, exe, id }
    }
}

/// What is true of the run, in ns.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SyntheticTruth {
    /// Calls
    pub calls: u64,
    /// Waits for late senders, by rank
    pub late_sender: Vec<u64>,
    /// Waits in collectives, by rank
    pub collective: Vec<u64>,
    /// Messages
    pub messages: u64,
}

/// A rank while the log is made.
struct MadeRank {
    /// Nanoseconds since the beginning
    now: u64,
    block: Box<TraceBlock>,
    writer: Box<Writer>,
    number: u64,
    before: u64,
}

impl SyntheticTrace {
    fn head(&self, rank: u32) -> BlockHead {
        BlockHead {
            rank,
            process: 1000 + u64::from(rank),
            shift: 0,
            ..BlockHead::new(BlockContent::Events)
        }
    }

    /// Writes the log.
    pub fn write(&self, out: &mut impl Write) -> io::Result<SyntheticTruth> {
        let count = self.ranks as usize;
        let zeros = || vec![0; count];
        let mut truth = SyntheticTruth {
            late_sender: zeros(),
            collective: zeros(),
            ..SyntheticTruth::default()
        };
        let mut ranks: Vec<MadeRank> = (0..self.ranks)
            .map(|rank| MadeRank {
                now: 0,
                block: Box::new(TraceBlock { head: self.head(rank), body: [0; LENGTH - HEAD] }),
                writer: Box::new(Writer::new()),
                number: 0,
                before: 0,
            })
            .collect();
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        let none = CallArguments::NONE;
        for rank in &mut ranks {
            let began = next(3000);
            rank.now = began;
            rank.call(out, 0, 50_000, none)?;
        }
        for step in 0..self.steps {
            let mut sent = zeros();
            let mut entered = zeros();
            for (place, rank) in ranks.iter_mut().enumerate() {
                let late = if place as u32 == self.late { self.by } else { 0 };
                rank.now += 10_000 + late + next(2000);
                let left = (place + count - 1) % count;
                let right = (place + 1) % count;
                let tag = (step % 3) as i32;
                let told = CallArguments { tag, communicator: 1, ..none };
                rank.call(out, 1, 200, CallArguments { peer: left as i32, ..told })?;
                rank.now += 50;
                sent[place] = rank.now;
                let to = CallArguments { peer: right as i32, sent: 8000, ..told };
                rank.call(out, 2, 700, to)?;
                rank.now += 30;
                entered[place] = rank.now;
            }
            for (place, rank) in ranks.iter_mut().enumerate() {
                let from = sent[(place + count - 1) % count];
                let wait = from.saturating_sub(entered[place]);
                truth.late_sender[place] += wait;
                truth.messages += 1;
                let taken = CallArguments { received: 8000, ..none };
                rank.call(out, 3, wait + 900, taken)?;
            }
            if step % 4 == 3 {
                for rank in &mut ranks {
                    rank.now += 100;
                }
                let last = ranks.iter().map(|rank| rank.now).max().unwrap_or(0);
                for (place, rank) in ranks.iter_mut().enumerate() {
                    truth.collective[place] += last - rank.now;
                    let told = CallArguments { communicator: 1, sent: 8, received: 8, ..none };
                    rank.call(out, 4, last - rank.now + 2000, told)?;
                }
            }
        }
        let last = ranks.iter().map(|rank| rank.now).max().unwrap_or(0);
        for (place, rank) in ranks.iter_mut().enumerate() {
            truth.collective[place] += last - rank.now;
            rank.call(out, 5, last - rank.now + 100, none)?;
            rank.close(out)?;
            truth.calls += rank.before;
        }
        for rank in 0..self.ranks {
            out.write_all(&self.facts(rank, last + 100))?;
        }
        Ok(truth)
    }

    /// The block of facts of a rank.
    fn facts(&self, rank: u32, ended: u64) -> Vec<u8> {
        let ((ticks, ns), SyntheticTrace { ranks, host, exe, id, .. }) = (BEGAN, self);
        let moment =
            |after: u64| format!("{} {} {}", ticks + after * TICKS, ns + after, REALTIME + after);
        let mut text = format!(
            "rank {rank}\nranks {ranks}\nuid 1000\npid {}\nstate 1\nhost {host}\nuser user\nexe {exe}\n\
             id {id}\nmpi Made up 1.0\nbegan {}\nlatest {}\n",
            4000 + rank,
            moment(0),
            moment(ended),
        );
        for (number, name) in ROUTINES.iter().enumerate() {
            text += &format!("routine {number} {name}\n");
        }
        let mut head = BlockHead {
            filled: text.len() as u64,
            content: BlockContent::Facts as u16,
            ..self.head(rank)
        };
        head.check = checksum(&head, text.as_bytes());
        let mut bytes = [&head.encode()[..], text.as_bytes()].concat();
        bytes.resize(LENGTH, 0);
        bytes
    }
}

impl MadeRank {
    /// A call that begins now and takes so many ns.
    fn call(
        &mut self,
        out: &mut impl Write,
        routine: u16,
        length: u64,
        arguments: CallArguments,
    ) -> io::Result<()> {
        let began = BEGAN.0 + self.now * TICKS;
        self.now += length;
        let event = CallEvent { routine, began, ended: BEGAN.0 + self.now * TICKS, arguments };
        if self.block.head.first != 0 && self.writer.put(&mut self.block, &event) {
            return Ok(());
        }
        if self.block.head.first != 0 {
            self.close(out)?;
        }
        self.block.head.first = began;
        self.block.head.number = self.number;
        self.block.head.before = self.before;
        self.block.head.check = 0;
        self.writer.begin(&mut self.block);
        self.writer.put(&mut self.block, &event);
        Ok(())
    }

    /// Writes the block.
    fn close(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.number += 1;
        self.before += self.writer.events();
        let rank = self.block.head.rank;
        self.block.close(rank, self.writer.last());
        out.write_all(&self.block.head.encode())?;
        out.write_all(&self.block.body)
    }
}
