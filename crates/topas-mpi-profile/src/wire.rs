//! Sums as a message from rank to rank: what is zero is not there, numbers are as short as
//! they are small (LEB128, seven bits a byte).

use crate::layout::{BINS, FUNCTIONS};
use crate::sums::{RoutineSums, Sums, WAIT_FIGURES, WaitedSums};

/// Most bytes of a message: every number of every function as long as can be.
pub const MAX_MESSAGE: usize = 320 * 1024;

/// First byte of a message; another for another form of it.
const FORM: u128 = 3;

/// Bytes of the longest number.
const LONGEST: usize = 19;

/// Sums of ranks could not be read: cut, or of another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbled;

struct Message<'b> {
    room: &'b mut [u8],
    len: usize,
    cut: bool,
}

impl Message<'_> {
    fn number(&mut self, n: impl Into<u128>) {
        let mut n = n.into();
        loop {
            let low = (n & 0x7f) as u8;
            n >>= 7;
            let Some(byte) = self.room.get_mut(self.len) else {
                self.cut = true;
                return;
            };
            *byte = if n == 0 { low } else { low | 0x80 };
            self.len += 1;
            if n == 0 {
                return;
            }
        }
    }

    /// Numbers that are not zero, each behind how many zeros stand in front of it; then what
    /// no distance is.
    fn sparse<'n>(&mut self, numbers: impl Iterator<Item = &'n u128>) {
        let mut zeros = 0u64;
        for n in numbers {
            if *n == 0 {
                zeros += 1;
            } else {
                self.number(zeros + 1);
                self.number(*n);
                zeros = 0;
            }
        }
        self.number(0u8);
    }
}

/// Writes sums into `room`: the length of the message. None if it does not fit; into
/// [`MAX_MESSAGE`] bytes any does.
pub fn write(sums: &Sums, room: &mut [u8]) -> Option<usize> {
    let mut to = Message { room, len: 0, cut: false };
    to.number(FORM);
    to.number(sums.ranks);
    to.number(sums.wall);
    to.number(sums.wall_max);
    to.number(sums.mpi);
    to.number(sums.mpi_max);
    to.number(sums.mpi_min);
    to.number(sums.outside_max);
    to.number(sums.overhead);
    to.number(sums.paused);
    to.number(sums.processor);
    to.number(sums.interruptions);
    to.number(sums.processors);
    to.number(sums.threads);
    to.number(sums.level);
    to.number(sums.languages);
    to.number(sums.flags);
    to.sparse(sums.inside.iter());
    to.sparse(sums.outside.iter());
    for waited in &sums.waited {
        to.number(waited.calls);
        to.number(waited.nanoseconds);
    }
    to.sparse(sums.sizes.iter().flatten().flatten());
    let mut last = 0;
    for (number, routine) in (1u64..).zip(&sums.routines) {
        if routine.is_empty() {
            continue;
        }
        to.number(number - last);
        last = number;
        to.number(routine.calls);
        to.number(routine.nanoseconds);
        to.number(routine.longest);
        to.number(routine.count);
        to.number(routine.sends);
        to.number(routine.sent);
        to.number(routine.receives);
        to.number(routine.received);
        to.number(routine.ranks);
        to.number(routine.flags);
    }
    to.number(0u8);
    let mut last = 0;
    for (number, waits) in (1u64..).zip(&sums.waits) {
        if waits.is_empty() {
            continue;
        }
        to.number(number - last);
        last = number;
        for figure in waits.figures() {
            to.number(figure.calls);
            to.number(figure.nanoseconds);
        }
    }
    to.number(0u8);
    (!to.cut).then_some(to.len)
}

struct Reader<'m> {
    rest: &'m [u8],
}

impl Reader<'_> {
    fn number(&mut self) -> Result<u128, Garbled> {
        let mut n = 0;
        for at in 0..LONGEST {
            let (byte, rest) = self.rest.split_first().ok_or(Garbled)?;
            self.rest = rest;
            let low = u128::from(byte & 0x7f);
            // The last of the longest holds two bits.
            if at + 1 == LONGEST && low > 3 {
                return Err(Garbled);
            }
            n |= low << (7 * at);
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(Garbled)
    }

    fn short<T: TryFrom<u128>>(&mut self) -> Result<T, Garbled> {
        T::try_from(self.number()?).map_err(|_| Garbled)
    }

    /// Adds the distance to the next of some numbers; false behind the last.
    fn steps_on(&mut self, number: &mut usize) -> Result<bool, Garbled> {
        let distance = self.short()?;
        *number = number.checked_add(distance).ok_or(Garbled)?;
        Ok(distance != 0)
    }

    fn sparse<'n>(
        &mut self,
        mut numbers: impl Iterator<Item = &'n mut u128>,
    ) -> Result<(), Garbled> {
        loop {
            let distance: usize = self.short()?;
            let Some(zeros) = distance.checked_sub(1) else {
                return Ok(());
            };
            *numbers.nth(zeros).ok_or(Garbled)? = self.number()?;
        }
    }
}

/// Reads a message in place of what `sums` held.
///
/// # Errors
/// [`Garbled`], and `sums` hold anything.
pub fn read(message: &[u8], sums: &mut Sums) -> Result<(), Garbled> {
    sums.clear();
    let mut from = Reader { rest: message };
    if from.number()? != FORM {
        return Err(Garbled);
    }
    sums.ranks = from.short()?;
    sums.wall = from.number()?;
    sums.wall_max = from.short()?;
    sums.mpi = from.number()?;
    sums.mpi_max = from.short()?;
    sums.mpi_min = from.short()?;
    sums.outside_max = from.short()?;
    sums.overhead = from.number()?;
    sums.paused = from.number()?;
    sums.processor = from.number()?;
    sums.interruptions = from.number()?;
    sums.processors = from.short()?;
    sums.threads = from.short()?;
    sums.level = from.short()?;
    sums.languages = from.short()?;
    sums.flags = from.short()?;
    from.sparse(sums.inside.iter_mut())?;
    from.sparse(sums.outside.iter_mut())?;
    for waited in &mut sums.waited {
        *waited = WaitedSums { calls: from.number()?, nanoseconds: from.number()? };
    }
    from.sparse(sums.sizes.iter_mut().flatten().flatten())?;
    let mut number = 0usize;
    while from.steps_on(&mut number)? {
        let routine = sums.routines.get_mut(number - 1).ok_or(Garbled)?;
        *routine = RoutineSums {
            calls: from.number()?,
            nanoseconds: from.number()?,
            longest: from.short()?,
            count: from.number()?,
            sends: from.number()?,
            sent: from.number()?,
            receives: from.number()?,
            received: from.number()?,
            ranks: from.short()?,
            flags: from.short()?,
        };
    }
    let mut number = 0usize;
    while from.steps_on(&mut number)? {
        let waits = sums.waits.get_mut(number - 1).ok_or(Garbled)?;
        for figure in waits.figures_mut() {
            *figure = WaitedSums { calls: from.number()?, nanoseconds: from.number()? };
        }
    }
    if from.rest.is_empty() { Ok(()) } else { Err(Garbled) }
}

/// Ten numbers and a distance for a function, those of its waits, all bins, the rest.
const _: () = assert!(
    FUNCTIONS * (8 * LONGEST + 2 * 10 + 2 * WAIT_FIGURES * LONGEST + 2)
        + 8 * BINS * (LONGEST + 2)
        + 2048
        <= MAX_MESSAGE,
    "the longest message is longer"
);
