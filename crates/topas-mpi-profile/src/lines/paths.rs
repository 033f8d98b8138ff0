//! Call paths in the lines of a record.

use topas_format::out::Out;

use super::{Lines, text};
use crate::digits::decimal;
use crate::digits::{part, seconds};
use crate::layout::{CallPath, OFFSET_BITS, PATHS, Partner, PathModule, PathTable};
use crate::routine::name;
use crate::sums::TickLength;

/// How a path ends, by [`crate::layout::PathEnd`]: outermost, deeper, cut.
pub const PATH_END_LETTERS: [u8; 3] = *b"odc";

impl Lines<'_> {
    /// The paths of a thread that calls came by, in front of them the modules that their frames are
    /// in. `first` is the number of modules that the record has told before.
    pub fn paths(&mut self, table: &PathTable, first: usize, tick: &TickLength) {
        let modules = table.module.iter().take(table.modules as usize);
        for (number, module) in modules.enumerate() {
            self.token(&mut |out| put_module(out, first + number, module));
        }
        let number = table.number as usize * PATHS;
        let paths = table.path.iter().take(table.count as usize).enumerate();
        for (place, path) in paths.filter(|(_, path)| path.calls > 0) {
            self.token(&mut |out| put_path(out, (number + place, path), first, tick));
        }
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
    first: usize,
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
        put_frames(out, path, first);
    }
    out.byte(b':').dec(number as u64);
    seconds(out.byte(b':'), tick.nanoseconds(path.unknown).into());
}

fn put_frames(out: &mut Out<'_>, path: &CallPath, first: usize) {
    let end = PATH_END_LETTERS.get(usize::from(path.end)).copied().unwrap_or(b'c');
    out.byte(b':').byte(end).byte(b':');
    for (number, frame) in path.frames.iter().take(path.count.into()).enumerate() {
        if number > 0 {
            out.byte(b',');
        }
        match (frame >> OFFSET_BITS).checked_sub(1) {
            Some(module) => out.dec(first as u64 + module),
            None => out.byte(b'-'),
        };
        hex(out.byte(b'+'), frame & ((1 << OFFSET_BITS) - 1));
    }
}
