//! After `main`: read everything again, write the line, print it if asked.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use topas_format::conf::{List, Switch};
use topas_format::event::{Metric, NOT_MEASURED, Why};
use topas_format::field::Mode;
use topas_format::form::{UNKNOWN, Values, m, mark, n, name, number, t, text};
use topas_format::out::Out;
use topas_format::text::{Words, nth};

use crate::counters::Counters;
use crate::processor::landing;
use crate::state::{ModuleState, STATE, out};
use crate::{compiler, extended, filters, language, library, log, node, say, sys};

/// How the program ends.
#[derive(Clone, Copy)]
pub enum End {
    /// By exit, with this status where libc tells it
    Exit(Option<u8>),
    /// By this signal
    Signal(u32),
}

landing!(pub exit(argument: *mut c_void, status: c_int) => at_exit);

/// The exit handler, registered before all others and so run after them.
extern "C" fn at_exit(_: *mut c_void, status: c_int) {
    // SAFETY: only read, and set before `main`.
    let known = unsafe { STATE.get() }.status_known;
    end(End::Exit(known.then_some(status as u8)));
}

/// Writes the line of a process that measures and has not done so yet; whether it was one. A
/// forked child comes by here, too.
///
/// Nothing comes in between: signals to this thread wait, and a thread that ends the process
/// meanwhile, as threads do that run into the same fault, waits in here.
pub fn end(end: End) -> bool {
    // Of its own: several threads may come by here.
    let mut room = MaybeUninit::<[u8; 3072]>::uninit();
    // SAFETY: of the bytes only those are looked at that the kernel wrote; the descriptor is only
    // read, and set before `main`.
    let (room, file) = unsafe { (&mut *room.as_mut_ptr(), STATE.get().filters) };
    if filters::may_punish(sys::read(file, room)) {
        return false;
    }
    let pid = sys::pid();
    // Before the turn is taken: a signal between the two would end the process without a line.
    let held = sys::hold(sys::SIG_SETMASK, u64::MAX);
    let first = STATE.first(pid, || {
        // The log may need the place, where descriptors are few.
        sys::close(file);
        write_line(end);
    });
    sys::hold(sys::SIG_SETMASK, held);
    first
}

/// Reads everything again, writes the line, prints it if asked. Apart from its caller, whose
/// variables would take registers from it.
#[inline(never)]
fn write_line(end: End) {
    // SAFETY: `first` lets one pass.
    let state: &'static mut ModuleState = unsafe { STATE.get() };
    let values = &mut state.record.values;
    let mut ended = [0; 3];
    values.numbers[number::RESIDENT] = sys::times(&mut ended).wrapping_mul(1024);
    values.marks[mark::COUNTS] = b'=';
    state.counters.finish(values);
    span(values, &state.begun, &ended);
    let epoch = sys::clock(sys::REAL_TIME) / 1_000_000;
    let offset = node::utc_offset(epoch as i64, &mut state.file);
    values.set_time(epoch.wrapping_add_signed(offset));
    values.numbers[number::EPOCH] = epoch;
    let mut mhz = node::mhz(state.file.first_chunk_mut());
    if mhz == 0 {
        mhz = UNKNOWN;
    } else {
        values.marks[mark::MHZ] = b't';
    }
    values.numbers[number::MHZ] = mhz;

    let parts = &mut Out::new(&mut state.parts);
    values.keep(text::ID, parts.hex(state.rank.id));
    let [ops, misses, ..] = state.counters.why;
    reason(parts, values.marks[mark::METRIC], ops);
    reason(parts, Metric::L1Miss.letter(), misses);
    values.keep(text::WHY, parts);
    match end {
        End::Exit(None) => {}
        End::Exit(Some(status)) => {
            parts.put(b"exit:").dec(status.into());
        }
        // SIGABRT
        End::Signal(6) => {
            parts.put(b"abort");
        }
        End::Signal(signal) => {
            parts.put(b"sig:").dec(signal.into());
        }
    }
    values.keep(text::ENDING, parts);
    values.texts[text::LANG] = Some(language::language());
    // Functions of libraries are not called out of a signal handler.
    let asking = matches!(end, End::Exit(_));
    values.texts[text::LIB] = Some(library::library(asking, parts, &mut state.file).token());
    values.keep(text::MPI, parts);
    library::accelerators(parts);
    values.texts[text::GPU] = parts.take().get(1..);
    compiler::compiler(parts, &mut state.sections, &mut state.file);
    values.keep(text::CC, parts);
    sys::uname(&mut state.uname);
    // The second of the texts: the node's name.
    let host = state.uname.get(65..).unwrap_or_default();
    values.texts[text::HOST] = Some(nth(host, 0, 0));

    state.record.compose();
    'log: {
        if extended::ON && !state.extended.logs {
            break 'log;
        }
        // Again: the site may have changed its mind.
        let Some(settings) = state.site.read() else {
            break 'log;
        };
        let values = &mut state.record.values;
        if state.print
            || (settings.is(Switch::PrintBatch) && values.marks[mark::MODE] == Mode::Batch.letter())
        {
            print(values, &state.counters, state.metric);
        }
        let own = values.text(text::LOG);
        let site = settings.list(List::Log);
        let targets = &mut Out::new(&mut state.file);
        let mut told = usize::MAX;
        if settings.is(Switch::UserLog) && !own.is_empty() {
            // What a user got wrong is not lost to the site, and one rank says so.
            targets.put(own).byte(b' ');
            if state.lowest {
                told = site.len();
            }
        }
        log::append(targets.put(site).text(), &mut state.record, state.verbose, told);
    }
    if extended::ON {
        let speaks = state.verbose || state.extended.vars.speaks(&state.rank);
        state.extended.write(&mut state.record.values, &state.rank, speaks);
    }
}

/// Seconds and thousandths between two readings, rounded.
#[inline(never)]
fn span(values: &mut Values<'_>, begun: &[u64; 3], ended: &[u64; 3]) {
    for clock in 0..3 {
        if let (Some(from), Some(to), Some(seconds)) =
            (begun.get(clock), ended.get(clock), values.numbers.get_mut(number::SECONDS + clock))
        {
            let micros = to.saturating_sub(*from) + 500;
            *seconds = micros / 1_000_000;
            if let Some(to) = values.numbers.get_mut(number::MILLIS + clock) {
                *to = micros % 1_000_000 / 1000;
            }
        }
    }
}

/// Appends `f:pmu` after a comma, if there is a reason.
#[inline(never)]
fn reason(out: &mut Out<'_>, letter: u8, why: Option<Why>) {
    if let Some(why) = why {
        if !out.is_empty() {
            out.byte(b',');
        }
        out.byte(letter).byte(b':').put(why.word());
    }
}

/// The same facts for a person, on standard error.
fn print(values: &mut Values<'static>, counters: &Counters, metric: Metric) {
    const OPERATIONS: &[u8] = topas_format::form![
        b"topas: ",
        &[name(text::EXE)],
        b", PE ",
        &[n(number::PE)],
        b" of ",
        &[n(number::NPES)],
        b", launch ",
        &[name(text::ID)],
        b"\ntopas:   wall clock ",
        &[n(number::SECONDS + 2), b'.', n(number::MILLIS + 2)],
        b" s, CPU user ",
        &[n(number::SECONDS), b'.', n(number::MILLIS)],
        b" s, system ",
        &[n(number::SECONDS + 1), b'.', n(number::MILLIS + 1)],
        b" s\ntopas:   ",
        &[t(text::OPERATIONS), b':', b' ', m(mark::COUNTS), n(number::COUNTS)],
    ];
    const MISSES: &[u8] = topas_format::form![
        b"\ntopas:   L1 data misses: ",
        &[m(mark::COUNTS + 1), n(number::COUNTS + 1)],
    ];
    const LABELS: Words = Words(b"FP operations\ninteger operations\nloads\nstores", b'\n');
    values.texts[text::OPERATIONS] = Some(LABELS.at(metric as usize));
    if values.marks[mark::COUNTS] == b'=' {
        values.marks[mark::COUNTS] = 0;
    }
    let [ops, misses, ..] = counters.why;
    let out = out();
    values.fill(out, OPERATIONS);
    explain(out, ops);
    values.fill(out, MISSES);
    explain(out, misses);
    say::text(out.byte(b'\n').text());
}

/// Appends why there is no count, if so.
#[inline(never)]
fn explain(out: &mut Out<'_>, why: Option<Why>) {
    if let Some(why) = why {
        out.put(NOT_MEASURED.as_bytes()).put(why.word());
    }
}
