//! The tables for exceptions: what `.eh_frame_hdr` leads to, and the few instructions in it that
//! tell where frames end.

use crate::bytes::{OMITTED, TableBytes, is_one_of};
use crate::module::LoadedModule;
use crate::rule::{FrameEnd, Rule};

/// Numbers of registers in the tables.
const BASE: u64 = 6;
/// See [`BASE`].
const STACK: u64 = 7;
/// See [`BASE`]: of the return address
const RETURN: u64 = 16;

const UNKNOWN: Rule = Rule::plain(FrameEnd::Unknown);

/// The rule of a return address in a module.
#[cold]
#[inline(never)]
pub fn rule(module: &LoadedModule, address: usize) -> Rule {
    // A call that never returns is the last instruction of its function: the address behind it
    // is of the next function.
    let inside = address.wrapping_sub(1);
    description(module, inside).and_then(|entry| interpret(entry, inside)).unwrap_or(UNKNOWN)
}

/// The memory of the segment that an address is in.
fn memory(module: &LoadedModule, address: usize) -> Option<TableBytes> {
    module.loader.segment(address).map(TableBytes::new)
}

/// Finds the description of the function that an address is in: a binary search in the table of
/// `.eh_frame_hdr`.
fn description(module: &LoadedModule, address: usize) -> Option<Entry> {
    let header = module.frame_table;
    let mut table = memory(module, header)?.from(header)?;
    let [version, of_pointer, of_count, of_table] =
        [table.byte()?, table.byte()?, table.byte()?, table.byte()?];
    // Pairs of four bytes each, relative to the header: no linker makes others.
    if version != 1 || of_table != 0x3b || of_count == OMITTED {
        return None;
    }
    if of_pointer != OMITTED {
        table.number(of_pointer)?;
    }
    let count = table.number(of_count)?;
    let pairs = table.part((count as u64).checked_mul(8)?)?;
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let mut pair = pairs.from(pairs.at() + middle * 8)?;
        if header.wrapping_add(pair.word()? as i32 as usize) <= address {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let mut pair = pairs.from(pairs.at() + low.checked_sub(1)? * 8)?;
    pair.word()?;
    let place = header.wrapping_add(pair.word()? as i32 as usize);
    let entry = Entry::read(memory(module, place)?, place)?;
    (entry.start..entry.start.wrapping_add(entry.length)).contains(&address).then_some(entry)
}

/// The description of a function (FDE), with what it has in common with others (CIE).
struct Entry {
    start: usize,
    length: usize,
    instructions: TableBytes,
    common: Common,
}

struct Common {
    code_unit: u64,
    data_unit: i64,
    encoding: u8,
    /// The frame of a signal handler
    signal: bool,
    augmented: bool,
    instructions: TableBytes,
}

/// The contents of an entry, behind its length; None of the end of the table.
fn contents(memory: &mut TableBytes) -> Option<TableBytes> {
    let length = match memory.word()? {
        0 => return None,
        u32::MAX => memory.long()?,
        length => length.into(),
    };
    memory.part(length)
}

impl Entry {
    fn read(segment: TableBytes, place: usize) -> Option<Entry> {
        let mut memory = segment.from(place)?;
        let mut body = contents(&mut memory)?;
        let place = body.at();
        let back = body.word()? as usize;
        let common = Common::read(segment.from(place.checked_sub(back)?)?)?;
        let start = body.address(common.encoding)?;
        let length = body.number(common.encoding & 0x0f)?;
        if common.augmented {
            let skipped = body.unsigned()?;
            body.part(skipped)?;
        }
        Some(Entry { start, length, instructions: body, common })
    }
}

impl Common {
    fn read(mut memory: TableBytes) -> Option<Common> {
        let mut body = contents(&mut memory)?;
        if body.word()? != 0 {
            return None;
        }
        let version = body.byte()?;
        if version != 1 && version != 3 {
            return None;
        }
        let mut text = body;
        while body.byte()? != 0 {}
        let code_unit = body.unsigned()?;
        let data_unit = body.signed()?;
        let register = if version == 1 { body.byte()?.into() } else { body.unsigned()? };
        if register != RETURN {
            return None;
        }
        let mut common = Common {
            code_unit,
            data_unit,
            encoding: 0,
            signal: false,
            augmented: false,
            instructions: body,
        };
        let mut data = body;
        loop {
            let letter = text.byte()?;
            if letter == 0 {
                break;
            }
            // Letters by their places behind `@`.
            let place = letter.wrapping_sub(b'@');
            if is_one_of(place, 1 << (b'z' - b'@')) {
                let length = body.unsigned()?;
                data = body.part(length)?;
                common.augmented = true;
            } else if is_one_of(place, 1 << (b'R' - b'@')) {
                common.encoding = data.byte()?;
            } else if is_one_of(place, 1 << (b'L' - b'@')) {
                data.byte()?;
            } else if is_one_of(place, 1 << (b'P' - b'@')) {
                let encoding = data.byte()?;
                data.number(encoding)?;
            } else if is_one_of(place, 1 << (b'S' - b'@')) {
                common.signal = true;
            } else if !is_one_of(place, 1 << (b'B' - b'@')) {
                return None;
            }
        }
        common.instructions = body;
        Some(common)
    }
}

/// Where a frame ends.
#[derive(Clone, Copy)]
enum End {
    At { register: u64, offset: i64 },
    ByBase(i64),
    Unknown,
}

/// Where the value of a register is that the caller had: how it is told, as
/// [`Rule::new`] has it, and an offset.
#[derive(Clone, Copy, PartialEq)]
struct Saved {
    how: u8,
    from: i64,
}

impl Saved {
    const KEPT: Saved = Saved { how: 0, from: 0 };
    const NOWHERE: Saved = Saved { how: 3, from: 0 };
    const UNKNOWN: Saved = Saved { how: 4, from: 0 };

    fn by_end(from: i64) -> Saved {
        Saved { how: 1, from }
    }

    fn by_base(from: i64) -> Saved {
        Saved { how: 2, from }
    }
}

#[derive(Clone, Copy)]
struct State {
    end: End,
    base: Saved,
    back: Saved,
}

/// As deep as states are remembered.
const REMEMBERED: usize = 8;

struct Interpreter<'a> {
    common: &'a Common,
    state: State,
    initial: State,
    remembered: [State; REMEMBERED],
    depth: usize,
    place: usize,
    until: usize,
}

fn interpret(entry: Entry, address: usize) -> Option<Rule> {
    let state = State { end: End::Unknown, base: Saved::KEPT, back: Saved::UNKNOWN };
    let mut run = Interpreter {
        common: &entry.common,
        state,
        initial: state,
        remembered: [state; REMEMBERED],
        depth: 0,
        place: entry.start,
        until: address,
    };
    if entry.common.signal {
        return None;
    }
    run.all(entry.common.instructions)?;
    run.initial = run.state;
    run.place = entry.start;
    run.all(entry.instructions)?;
    Some(run.state.rule())
}

impl State {
    fn rule(self) -> Rule {
        if self.back == Saved::NOWHERE {
            return Rule::plain(FrameEnd::Outermost);
        }
        if self.back != Saved::by_end(-8) {
            return UNKNOWN;
        }
        let (end, offset) = match self.end {
            End::At { register: STACK, offset } => (FrameEnd::Stack, offset),
            End::At { register: BASE, offset } => (FrameEnd::Base, offset),
            End::ByBase(offset) => (FrameEnd::ByBase, offset),
            End::At { .. } | End::Unknown => return UNKNOWN,
        };
        Rule::new(end, offset, self.base.how, self.base.from)
    }
}

impl Interpreter<'_> {
    fn all(&mut self, mut code: TableBytes) -> Option<()> {
        while !code.is_empty() && self.place <= self.until {
            self.step(&mut code)?;
        }
        Some(())
    }

    fn advance(&mut self, units: u64) {
        self.place = self.place.wrapping_add(units.wrapping_mul(self.common.code_unit) as usize);
    }

    fn set(&mut self, register: u64, saved: Saved) {
        match register {
            BASE => self.state.base = saved,
            RETURN => self.state.back = saved,
            _ => {}
        }
    }

    fn by_end(&self, units: i64) -> Saved {
        Saved::by_end(units.wrapping_mul(self.common.data_unit))
    }

    fn restore(&mut self, register: u64) {
        match register {
            BASE => self.state.base = self.initial.base,
            RETURN => self.state.back = self.initial.back,
            _ => {}
        }
    }

    fn offset(&mut self, new: i64) {
        if let End::At { offset, .. } = &mut self.state.end {
            *offset = new;
        } else {
            self.state.end = End::Unknown;
        }
    }

    fn step(&mut self, code: &mut TableBytes) -> Option<()> {
        let instruction = code.byte()?;
        let low = instruction & 0x3f;
        let high = instruction >> 6;
        if is_one_of(high, 1 << 1) {
            self.advance(low.into());
        } else if is_one_of(high, 1 << 2) {
            let saved = self.by_end(code.unsigned()? as i64);
            self.set(low.into(), saved);
        } else if is_one_of(high, 1 << 3) {
            self.restore(low.into());
        } else {
            self.long(low, code)?;
        }
        Some(())
    }

    /// An instruction of a whole byte: first its operands, then what it does.
    fn long(&mut self, instruction: u8, code: &mut TableBytes) -> Option<()> {
        use instruction::*;
        let is = |set: u64| is_one_of(instruction, set);
        if !is(KNOWN) {
            return None;
        }
        if is(SET_PLACE) {
            self.place = code.address(self.common.encoding)?;
            return Some(());
        }
        if is(ADVANCE_1) {
            let units = code.byte()?;
            self.advance(units.into());
            return Some(());
        }
        if is(ADVANCE_2) {
            let units = code.half()?;
            self.advance(units.into());
            return Some(());
        }
        if is(ADVANCE_4) {
            let units = code.word()?;
            self.advance(units.into());
            return Some(());
        }
        if is(REMEMBER) {
            *self.remembered.get_mut(self.depth)? = self.state;
            self.depth += 1;
            return Some(());
        }
        if is(RESTORE_STATE) {
            self.depth = self.depth.checked_sub(1)?;
            self.state = *self.remembered.get(self.depth)?;
            return Some(());
        }
        let register = if is(WITH_REGISTER) { code.unsigned()? } else { u64::MAX };
        let unsigned = if is(WITH_UNSIGNED) { code.unsigned()? as i64 } else { 0 };
        let signed = if is(WITH_SIGNED) { code.signed()? } else { 0 };
        let mut expression = None;
        if is(WITH_EXPRESSION) {
            let length = code.unsigned()?;
            expression = base_and_offset(code.part(length)?);
        }
        let units = self.common.data_unit;
        if is(RESTORE) {
            self.restore(register);
        }
        if is(SAVED) {
            let saved = self.by_end(if is(WITH_SIGNED) { signed } else { unsigned });
            self.set(register, saved);
        }
        if is(NOWHERE) {
            self.set(register, Saved::NOWHERE);
        }
        if is(KEPT) {
            self.set(register, Saved::KEPT);
        }
        if is(ELSEWHERE) {
            self.set(register, Saved::UNKNOWN);
        }
        if is(SAVED_BY_EXPRESSION) {
            let place = expression.filter(|(_, word)| !word);
            self.set(register, place.map_or(Saved::UNKNOWN, |(offset, _)| Saved::by_base(offset)));
        }
        if is(END) {
            let offset = if is(WITH_SIGNED) { signed.wrapping_mul(units) } else { unsigned };
            self.state.end = End::At { register, offset };
        }
        if is(END_REGISTER) {
            match &mut self.state.end {
                End::At { register: old, .. } => *old = register,
                end => *end = End::Unknown,
            }
        }
        if is(END_OFFSET) {
            self.offset(if is(WITH_SIGNED) { signed.wrapping_mul(units) } else { unsigned });
        }
        if is(END_BY_EXPRESSION) {
            let place = expression.filter(|(_, word)| *word);
            self.state.end = place.map_or(End::Unknown, |(offset, _)| End::ByBase(offset));
        }
        Some(())
    }
}

/// Sets of instructions (DWARF 5, 6.4.2), by their numbers.
mod instruction {
    pub const SET_PLACE: u64 = 1 << 0x01;
    pub const ADVANCE_1: u64 = 1 << 0x02;
    pub const ADVANCE_2: u64 = 1 << 0x03;
    pub const ADVANCE_4: u64 = 1 << 0x04;
    /// Also with a sign
    pub const SAVED: u64 = 1 << 0x05 | 1 << 0x11;
    pub const RESTORE: u64 = 1 << 0x06;
    pub const NOWHERE: u64 = 1 << 0x07;
    pub const KEPT: u64 = 1 << 0x08;
    /// In a register; or the value is told, not where it is
    pub const ELSEWHERE: u64 = 1 << 0x09 | 1 << 0x14 | 1 << 0x15 | 1 << 0x16;
    pub const REMEMBER: u64 = 1 << 0x0a;
    pub const RESTORE_STATE: u64 = 1 << 0x0b;
    pub const END: u64 = 1 << 0x0c | 1 << 0x12;
    pub const END_REGISTER: u64 = 1 << 0x0d;
    pub const END_OFFSET: u64 = 1 << 0x0e | 1 << 0x13;
    pub const END_BY_EXPRESSION: u64 = 1 << 0x0f;
    pub const SAVED_BY_EXPRESSION: u64 = 1 << 0x10;
    /// Size of arguments, an extension of GNU, which changes nothing here
    const ARGUMENTS: u64 = 1 << 0x2e;
    const NOTHING: u64 = 1 << 0x00;

    pub const WITH_REGISTER: u64 =
        SAVED | RESTORE | NOWHERE | KEPT | ELSEWHERE | END | END_REGISTER | SAVED_BY_EXPRESSION;
    /// Behind the register, if there is one
    pub const WITH_UNSIGNED: u64 =
        1 << 0x05 | 1 << 0x09 | 1 << 0x0c | 1 << 0x0e | 1 << 0x14 | ARGUMENTS;
    /// As above
    pub const WITH_SIGNED: u64 = 1 << 0x11 | 1 << 0x12 | 1 << 0x13 | 1 << 0x15;
    /// As above
    pub const WITH_EXPRESSION: u64 = END_BY_EXPRESSION | SAVED_BY_EXPRESSION | 1 << 0x16;
    pub const KNOWN: u64 = NOTHING
        | SET_PLACE
        | ADVANCE_1
        | ADVANCE_2
        | ADVANCE_4
        | REMEMBER
        | RESTORE_STATE
        | WITH_REGISTER
        | END_OFFSET
        | END_BY_EXPRESSION
        | ARGUMENTS;
}

/// An expression that is `rbp` and an offset, and whether the word there is meant.
fn base_and_offset(mut expression: TableBytes) -> Option<(i64, bool)> {
    const BASE_AND_OFFSET: u8 = 0x76;
    const WORD_THERE: u8 = 0x06;
    if expression.byte()? != BASE_AND_OFFSET {
        return None;
    }
    let offset = expression.signed()?;
    match expression.byte() {
        None => Some((offset, false)),
        Some(WORD_THERE) if expression.is_empty() => Some((offset, true)),
        Some(_) => None,
    }
}
