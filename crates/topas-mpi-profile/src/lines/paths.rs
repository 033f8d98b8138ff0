//! Call paths in the lines of a record.

use topas_format::out::Out;

use super::{Lines, text};
use crate::digits::decimal;
use crate::digits::{part, seconds};
use crate::layout::{
    CallPath, OFFSET_BITS, PATH_MODULES, PATHS, Partner, PathFunction, PathModule, PathTable,
};
use crate::routine::name;
use crate::sums::TickLength;

/// How a path ends, by [`crate::layout::PathEnd`]: outermost, deeper, cut.
pub const PATH_END_LETTERS: [u8; 3] = *b"odc";

impl Lines<'_> {
    /// The paths of a thread that calls came by, in front of them the modules that their frames are
    /// in, and the functions of Python. `first` is the number of both that the record has told
    /// before; how many it has told then.
    pub fn paths(
        &mut self,
        table: &PathTable,
        functions: &[PathFunction],
        first: usize,
        tick: &TickLength,
    ) -> usize {
        let modules = table.module.get(..table.modules as usize).unwrap_or_default();
        for (number, module) in modules.iter().enumerate() {
            self.token(&mut |out| put_module(out, first + number, module));
        }
        let numbers = FrameNumbers { first, functions: first + modules.len() };
        for (number, function) in functions.iter().enumerate() {
            self.token(&mut |out| put_function(out, numbers.functions + number, function));
        }
        let number = table.number as usize * PATHS;
        let paths = table.path.iter().take(table.count as usize).enumerate();
        for (place, path) in paths.filter(|(_, path)| path.calls > 0) {
            self.token(&mut |out| put_path(out, (number + place, path), numbers, tick));
        }
        numbers.functions + functions.len()
    }

    /// Whom a path waited for.
    pub fn partner(&mut self, partner: &Partner, tick: &TickLength) {
        self.token(&mut |out| put_partner(out, partner, tick));
    }
}

/// `m=NUMBER:ID:FILE`: the build id in hexadecimal digits behind a `b`, or the hash of the segments
/// behind an `s`.
fn put_module(out: &mut Out<'_>, number: usize, module: &PathModule) {
    out.put(b"m=").dec(number as u64).byte(b':');
    let id = module.build_id.get(..module.build_id_length as usize).unwrap_or_default();
    if id.is_empty() {
        hex(out.byte(b's'), module.print);
    } else {
        out.byte(b'b');
        for byte in id {
            digit(digit(out, byte >> 4), *byte);
        }
    }
    part(out.byte(b':'), text(&module.name));
}

/// The same of a function of Python, with its name behind its file: `m=NUMBER:ID:FILE:NAME`. Its id is a
/// hash behind a `p`.
fn put_function(out: &mut Out<'_>, number: usize, function: &PathFunction) {
    out.put(b"m=").dec(number as u64).put(b":p");
    hex(out, function.print);
    part(out.byte(b':'), text(&function.file));
    part(out.byte(b':'), text(&function.name));
}

/// The hexadecimal digit of the lower half of a byte.
fn digit<'o, 'b>(out: &'o mut Out<'b>, byte: u8) -> &'o mut Out<'b> {
    out.byte(match byte & 15 {
        low @ 0..10 => b'0' + low,
        high => b'a' + high - 10,
    })
}

/// A number in as many hexadecimal digits as it has.
pub(super) fn hex(out: &mut Out<'_>, n: u64) {
    let digits = (64 - (n | 1).leading_zeros()).div_ceil(4);
    for place in (0..digits).rev() {
        digit(out, (n >> (4 * place)) as u8);
    }
}

/// `q=PATH:RANK:ITS PATH:CALLS:SECONDS:CALLS:SECONDS:CALLS:SECONDS:ON TIME:CLASS=CALLS,...`; a class
/// of messages that were late has a minus.
fn put_partner(out: &mut Out<'_>, partner: &Partner, tick: &TickLength) {
    out.put(b"q=").dec(partner.path.into()).byte(b':').dec(partner.peer.into()).byte(b':');
    out.dec(partner.peer_path.into());
    for figure in [&partner.late, &partner.late_receiver, &partner.collective] {
        decimal(out.byte(b':'), figure.calls.into());
        seconds(out.byte(b':'), tick.nanoseconds(figure.ticks).into());
    }
    out.byte(b':').dec(partner.on_time);
    let mut separator = b':';
    for (sign, classes) in [&b"-"[..], b""].into_iter().zip(&partner.slack) {
        for (class, calls) in classes.iter().enumerate().filter(|(_, calls)| **calls > 0) {
            out.byte(separator).put(sign).dec(class as u64).byte(b'=').dec((*calls).into());
            separator = b',';
        }
    }
}

/// `k=ROUTINE:CALLS:TIME:SENT:RECEIVED:LATE:LATERCV:COLL:END:FRAMES:NUMBER:UNKNOWN`; the others have
/// neither end nor frames.
fn put_path(
    out: &mut Out<'_>,
    (number, path): (usize, &CallPath),
    numbers: FrameNumbers,
    tick: &TickLength,
) {
    let function = usize::from(path.function).checked_sub(1);
    out.put(b"k=").put(function.map_or(&b"-"[..], name));
    out.byte(b':').dec(path.calls);
    seconds(out.byte(b':'), tick.nanoseconds(path.ticks).into());
    out.byte(b':').dec(path.sent).byte(b':').dec(path.received);
    for ticks in path.waits {
        seconds(out.byte(b':'), tick.nanoseconds(ticks).into());
    }
    if function.is_some() {
        put_frames(out, path, numbers);
    }
    out.byte(b':').dec(number as u64);
    seconds(out.byte(b':'), tick.nanoseconds(path.unknown).into());
}

/// The numbers in a record of the first module and of the first function of a thread.
#[derive(Clone, Copy)]
struct FrameNumbers {
    first: usize,
    functions: usize,
}

fn put_frames(out: &mut Out<'_>, path: &CallPath, numbers: FrameNumbers) {
    let end = PATH_END_LETTERS.get(usize::from(path.end)).copied().unwrap_or(b'c');
    out.byte(b':').byte(end).byte(b':');
    for (number, frame) in path.frames.iter().take(path.count.into()).enumerate() {
        if number > 0 {
            out.byte(b',');
        }
        match (frame >> OFFSET_BITS).checked_sub(1) {
            Some(function) if function >= PATH_MODULES as u64 => {
                out.dec(numbers.functions as u64 + function - PATH_MODULES as u64)
            }
            Some(module) => out.dec(numbers.first as u64 + module),
            None => out.byte(b'-'),
        };
        hex(out.byte(b'+'), frame & ((1 << OFFSET_BITS) - 1));
    }
}
