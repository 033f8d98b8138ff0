//! Opens a log: finds its blocks, checks them, and puts them to the processes that wrote them.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use topas_data::{data_from, read_at_most};
use topas_trace::{BlockContent, BlockHead, BlockHeadError, HEAD, LENGTH, MAGIC};

use super::check::{BlockCheck, check_blocks};
use super::damage::{self, TraceCut};
use super::{
    FoundBlock, TraceFacts, TraceLog, TraceProcess, TraceSkips, host_ticks, is_identifier, lent,
};

/// The blocks of events of a process that can be read, with the tick at which their last event ended.
type Ends = BTreeMap<u64, u64>;

impl TraceLog {
    /// Opens a log, reads its blocks, and checks them: readers get those that can be read, and
    /// [`TraceProcess::damage`] tells of the others.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or read.
    pub fn open(path: &Path) -> io::Result<TraceLog> {
        let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
        }
        let skips = TraceSkips::default();
        let mut log = TraceLog { file, processes: Vec::new(), skips, cut: None };
        let (mut offset, length) = (0, about.len());
        let mut blocks = Vec::new();
        while offset < length {
            offset += log.block(offset, length, &mut blocks)?;
        }
        if offset > length {
            log.cut = Some(TraceCut { found: length, least: offset });
        }
        let checks = check_blocks(&log.file, &blocks)?;
        log.sort(blocks, &checks)?;
        Ok(log)
    }

    /// Looks for a block at an offset: how many bytes further the next may be.
    fn block(&mut self, offset: u64, length: u64, blocks: &mut Vec<FoundBlock>) -> io::Result<u64> {
        let mut bytes = [0; HEAD];
        let read = read_at_most(&self.file, &mut bytes, offset)?;
        match BlockHead::decode(&bytes[..read]) {
            Ok(head) => blocks.push(FoundBlock { offset, head }),
            Err(BlockHeadError::Version(_)) => self.skips.versions += 1,
            Err(_) => {
                let next = self.next_block(offset + 1, length)?;
                self.skips.bytes += next - offset;
                // The file ends within the head of a block.
                let is_cut = next == length && !blocks.is_empty() && read < HEAD;
                return Ok(if is_cut { LENGTH as u64 } else { next - offset });
            }
        }
        Ok(LENGTH as u64)
    }

    /// Where the next block begins; the end of the file without one.
    fn next_block(&self, from: u64, length: u64) -> io::Result<u64> {
        let mut bytes = vec![0; LENGTH];
        let mut offset = from;
        while offset < length {
            // A hole of a terabyte costs nobody anything to make.
            let data = data_from(&self.file, offset, length);
            if data > offset {
                offset = data;
                continue;
            }
            let read = read_at_most(&self.file, &mut bytes, offset)?;
            let found = bytes[..read].windows(MAGIC.len()).position(|window| window == MAGIC);
            if let Some(found) = found {
                return Ok(offset + found as u64);
            }
            if read < LENGTH {
                break;
            }
            // The beginning of a block may be cut in two.
            offset += (LENGTH - (MAGIC.len() - 1)) as u64;
        }
        Ok(length)
    }

    /// Puts blocks to the processes that wrote them.
    fn sort(&mut self, blocks: Vec<FoundBlock>, checks: &[BlockCheck]) -> io::Result<()> {
        let mut processes: BTreeMap<u64, TraceProcess> = BTreeMap::new();
        let mut ends = Ends::new();
        let mut damaged = Vec::new();
        for (block, check) in blocks.into_iter().zip(checks) {
            let FoundBlock { offset, head } = block;
            let (ended, cut_off) = match *check {
                BlockCheck::Whole(ended) => (ended, 0),
                BlockCheck::Partial(ended, events) => (ended, events),
                BlockCheck::Damaged => {
                    damaged.push(block);
                    continue;
                }
            };
            let process = processes.entry(head.process).or_default();
            if process.facts.value("rank").is_empty() {
                process.rank = head.rank;
            }
            if head.content == BlockContent::Facts as u16 {
                process.tell(TraceFacts::parse(&self.body(offset, &head)?));
                continue;
            }
            ends.insert(offset, ended);
            let lost = process.lost.entry(head.thread).or_default();
            lost.cut_off += u64::from(cut_off);
            let blocks = process.threads.entry(head.thread).or_default();
            if blocks.insert(head.number, block).is_some() {
                self.skips.repeated += 1;
            }
        }
        let mut strays = Vec::new();
        for block in damaged {
            match processes.get_mut(&block.head.process) {
                Some(process) => process.put_damaged(&block.head),
                None => strays.push(block.head),
            }
        }
        for process in processes.values_mut() {
            process.put_out_impossible(&ends);
        }
        self.skips.strays += lent::lend(&mut processes, strays);
        self.processes = processes.into_values().collect();
        self.processes.sort_by_key(|process: &TraceProcess| process.rank);
        host_ticks::share(&mut self.processes);
        for process in &mut self.processes {
            damage::tell_lost(process, &ends);
        }
        Ok(())
    }
}

impl TraceProcess {
    /// What the process says of itself.
    fn tell(&mut self, facts: TraceFacts) {
        let names = facts.values("routine").filter_map(|line| {
            let (number, name) = line.split_once(' ')?;
            is_identifier(name).then_some(())?;
            Some((number.parse().ok()?, name.to_owned()))
        });
        self.routines = names.collect();
        self.facts = facts;
        // Heads with right sums may have been changed all the same.
        let told = self.facts.value("rank").parse().ok();
        let size = self.facts.value("ranks").parse::<u32>().ok();
        let possible = |rank: &u32| size.is_none_or(|size| *rank < size);
        if let Some(rank) = told.filter(possible) {
            self.rank = rank;
        }
    }

    /// Notes a block that cannot be read, unless the same block can be read elsewhere in the file.
    pub(super) fn put_damaged(&mut self, head: &BlockHead) {
        let read = self.threads.get(&head.thread);
        let is_there = read.is_some_and(|blocks| blocks.contains_key(&head.number));
        if head.content == BlockContent::Events as u16 && !is_there {
            self.damaged.entry(head.thread).or_default().insert(head.number, *head);
        }
    }

    /// Takes out blocks whose times are outside of the run, or before those of an earlier block: a log may have
    /// right sums and be changed all the same.
    fn put_out_impossible(&mut self, ends: &Ends) {
        let Some((from, to, second)) = damage::life(&self.facts) else { return };
        let mut bad = Vec::new();
        for blocks in self.threads.values() {
            let mut clock = from;
            for block in blocks.values() {
                let ended = ends.get(&block.offset).copied().unwrap_or(u64::MAX);
                // Processors of a host may count ticks that differ a little.
                if block.head.first.saturating_add(second) < clock || ended > to {
                    bad.push(block.head);
                } else {
                    clock = ended;
                }
            }
        }
        for head in bad {
            if let Some(blocks) = self.threads.get_mut(&head.thread) {
                blocks.remove(&head.number);
            }
            self.put_damaged(&head);
        }
        self.threads.retain(|_, blocks| !blocks.is_empty());
    }
}
