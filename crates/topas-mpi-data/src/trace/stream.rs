//! The events of a thread one by one, for who reads many threads at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::btree_map::Values;
use std::io;

use topas_mpi_profile::layout::Moment;
use topas_trace::{CallArguments, CallEvent, CommunicatorName, EventCursor, UserState, checksum};

use super::{FoundBlock, TraceLog, TraceProcess, TraceSkips};

/// An event, and what is missing in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamedEvent {
    /// The event
    pub event: CallEvent,
    /// Events between the one before and this one are not in the log
    pub after_hole: bool,
}

/// The events of a thread. It takes some 128 KiB, however long the log is.
pub struct EventStream<'l> {
    log: &'l TraceLog,
    blocks: Values<'l, u64, FoundBlock>,
    body: Vec<u8>,
    cursor: Option<Box<EventCursor>>,
    /// Events up to the block that is read
    expected: u64,
    hole: bool,
    /// Events that were written and are not in the log
    pub missing: u64,
    /// What was passed over
    pub skips: TraceSkips,
}

impl TraceLog {
    /// The events of a thread of a process; None if the log has no such thread.
    pub fn stream<'l>(&'l self, process: &'l TraceProcess, thread: u32) -> Option<EventStream<'l>> {
        Some(EventStream {
            log: self,
            blocks: process.threads.get(&thread)?.values(),
            body: Vec::new(),
            cursor: None,
            expected: 0,
            hole: false,
            missing: 0,
            skips: TraceSkips::default(),
        })
    }
}

impl TraceLog {
    /// Calls `each` with the number of the thread and every event of a process, of all threads together
    /// in the order in which calls began. What was passed over is added to `skips`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or what `each` says.
    pub fn events_in_order(
        &self,
        process: &TraceProcess,
        skips: &mut TraceSkips,
        mut each: impl FnMut(u32, &StreamedEvent) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut streams = Vec::new();
        // The next event of each thread, the earliest on top.
        let mut next = BinaryHeap::new();
        let key = |event: &StreamedEvent, place| Reverse((event.event.began, place));
        for thread in process.threads() {
            let Some(mut stream) = self.stream(process, thread.thread) else { continue };
            match stream.next()? {
                Some(event) => {
                    next.push(key(&event, streams.len()));
                    streams.push((thread.thread, stream, event));
                }
                None => skips.damaged += stream.skips.damaged,
            }
        }
        while let Some(Reverse((_, place))) = next.pop() {
            let (thread, stream, event) = &mut streams[place];
            // A thread goes on until another is earlier.
            loop {
                each(*thread, event)?;
                let Some(following) = stream.next()? else {
                    skips.damaged += stream.skips.damaged;
                    break;
                };
                *event = following;
                let own = key(event, place);
                if next.peek().is_some_and(|earliest| *earliest > own) {
                    next.push(own);
                    break;
                }
            }
        }
        Ok(())
    }
}

impl EventStream<'_> {
    /// The next event; None at the end.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    #[inline]
    pub fn next(&mut self) -> io::Result<Option<StreamedEvent>> {
        loop {
            if let Some(cursor) = &mut self.cursor
                && let Some(event) = cursor.next(&self.body)
            {
                match event {
                    Ok(event) => {
                        let after_hole = std::mem::take(&mut self.hole);
                        return Ok(Some(StreamedEvent { event, after_hole }));
                    }
                    Err(damage) => {
                        self.skips.damaged += u64::from(damage.lost);
                        self.hole = true;
                    }
                }
            } else if !self.next_block()? {
                return Ok(None);
            }
        }
    }

    /// Goes to the next block. False if there is none. It makes the cursor, so it is kept out of
    /// [`EventStream::next`]: otherwise each event would pay for the room that a cursor takes on the
    /// stack.
    #[cold]
    #[inline(never)]
    fn next_block(&mut self) -> io::Result<bool> {
        let Some(FoundBlock { offset, head }) = self.blocks.next() else { return Ok(false) };
        let gap = head.before.saturating_sub(self.expected);
        self.missing = self.missing.saturating_add(gap);
        self.hole |= gap > 0;
        self.expected = head.before.saturating_add(head.events().into());
        self.log.read_body(*offset, head, &mut self.body)?;
        if head.check != 0 && head.check != checksum(head, &self.body) {
            self.skips.damaged += u64::from(head.events());
            self.hole = true;
            return Ok(true);
        }
        match &mut self.cursor {
            Some(cursor) => cursor.restart(head),
            none => *none = Some(Box::new(EventCursor::new(head))),
        }
        Ok(true)
    }
}

/// The clock of a process: ticks to nanoseconds since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessClock {
    /// A tick
    pub tick: u64,
    /// When that was, in ns since 1970
    pub realtime: u64,
    /// Length of a tick in ns
    pub length: f64,
}

impl ProcessClock {
    /// A tick in ns since another moment, which is told in ns since 1970.
    #[inline]
    pub fn since(&self, origin: u64, tick: u64) -> f64 {
        let ticks = tick.wrapping_sub(self.tick) as i64;
        self.realtime.wrapping_sub(origin) as i64 as f64 + ticks as f64 * self.length
    }
}

impl TraceProcess {
    /// The state that a program named and that begins or ends with this event; None if the event is
    /// no such.
    pub fn user_state(&self, event: &CallEvent) -> Option<UserState> {
        let state = UserState::of(&event.arguments)?;
        let name = self.routines.get(&event.routine)?;
        (name == "MPI_Pcontrol").then_some(state)
    }

    /// Whether measuring pauses with this event: what its thread did up to its next event is not in the log.
    pub fn pauses(&self, event: &CallEvent) -> bool {
        event.arguments.pauses()
            && self.routines.get(&event.routine).is_some_and(|name| name == "MPI_Pcontrol")
    }

    /// The name that this event gives to a communicator; None if the event is no such.
    pub fn communicator_name(&self, event: &CallEvent) -> Option<CommunicatorName> {
        let named = CommunicatorName::of(&event.arguments)?;
        let name = self.routines.get(&event.routine)?;
        (name == "MPI_Comm_set_name").then_some(named)
    }

    /// What the call of an event was about, without what stands in the place of names.
    pub fn about(&self, event: &CallEvent) -> CallArguments {
        let told = event.arguments;
        let none = CallArguments { path: told.path, ..CallArguments::NONE };
        if self.user_state(event).is_some() || self.pauses(event) {
            none
        } else if let Some(named) = self.communicator_name(event) {
            CallArguments { communicator: named.communicator, ..none }
        } else {
            told
        }
    }

    /// Its clock; None if the log does not tell how long a tick is.
    pub fn clock(&self) -> Option<ProcessClock> {
        let Moment { monotonic, realtime, .. } = self.ticks.first;
        self.has_clock().then(|| ProcessClock {
            tick: self.facts.began.ticks,
            realtime: realtime.wrapping_add(self.began().wrapping_sub(monotonic)),
            length: self.tick_length(),
        })
    }
}
