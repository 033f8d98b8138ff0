//! After `main`: read everything again, write the line, print it if asked.

use core::ffi::{c_int, c_void};

use topas_format::conf::{List, Switch};
use topas_format::event::{Metric, Why};
use topas_format::field::Mode;
use topas_format::form::{UNKNOWN, Values, m, mark, n, name, number, t, text};
use topas_format::out::Out;
use topas_format::text::{Cursor, Words};

use topas_launch::{Var, job};

use crate::counters::Counters;
use crate::start::policy;
use crate::state::{STATE, State, TAG};
use crate::{facts, library, log, node, say, sys};

/// How the program ends.
#[derive(Clone, Copy)]
pub enum End {
    /// By exit, with this status where libc tells it
    Exit(Option<u8>),
    /// By this signal
    Signal(u32),
}

/// The exit handler, registered before all others and so run after them.
pub extern "C" fn exit(_: *mut c_void, status: c_int) {
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
    let pid = sys::pid();
    if !STATE.take(pid) {
        STATE.wait_for_writer(pid);
        return false;
    }
    let held = sys::hold(sys::SIG_SETMASK, u64::MAX);
    write_line(end);
    STATE.written();
    sys::hold(sys::SIG_SETMASK, held);
    true
}

/// Reads everything again, writes the line, prints it if asked.
#[inline(always)]
fn write_line(end: End) {
    // SAFETY: `take` lets one pass.
    let state: &'static mut State = unsafe { STATE.get() };
    let values = &mut state.values;
    let mut ended = [0; 3];
    values.numbers[number::RESIDENT] = sys::times(&mut ended).wrapping_mul(1024);
    values.marks[mark::COUNTS] = b'=';
    state.counters.finish(values);
    span(values, &state.begun, &ended);
    // A program that overwrote its environment loses its names, not its line.
    if state.vars.seal() != state.seal {
        state.vars.clear();
        values.texts[text::USER] = values.texts[text::UID];
    }
    let vars = &state.vars;
    let epoch = sys::clock(sys::REAL_TIME) / 1_000_000;
    let offset = node::utc_offset(epoch as i64, &mut state.file);
    values.set_time(epoch.wrapping_add_signed(offset));
    values.numbers[number::EPOCH] = epoch;
    values.numbers[number::CUT] = UNKNOWN;
    let mut mhz = node::mhz(&mut state.file);
    if mhz == 0 {
        mhz = UNKNOWN;
    } else {
        values.marks[mark::MHZ] = b't';
    }
    values.numbers[number::MHZ] = mhz;

    let mut parts = Out::new(&mut state.parts);
    parts.hex(state.rank.id);
    values.texts[text::ID] = Some(parts.take());
    let [ops, misses, ..] = state.counters.why;
    reason(&mut parts, values.marks[mark::METRIC], ops);
    reason(&mut parts, Metric::L1Miss.letter(), misses);
    values.texts[text::WHY] = Some(parts.take());
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
    values.texts[text::ENDING] = Some(parts.take());
    job::write_id(vars, &mut parts);
    values.texts[text::JOB] = Some(parts.take());
    values.texts[text::STEP] = job::step(vars, state.rank.family);
    values.texts[text::LANG] = Some(facts::language().token());
    // Functions of libraries are not called out of a signal handler.
    let asking = matches!(end, End::Exit(_));
    values.texts[text::LIB] = Some(library::library(asking, &mut parts, &mut state.file).token());
    values.texts[text::MPI] = Some(parts.take());
    sys::uname(&mut state.uname);
    // The second of the texts: the node's name.
    let host = state.uname.get(65..).unwrap_or_default();
    values.texts[text::HOST] = Some(Cursor::new(host).until(0));

    let (tag, room) = state.line.split_at_mut(TAG.len());
    tag.copy_from_slice(TAG);
    let mut line = Out::new(room);
    values.fill_line(&mut line);
    let len = TAG.len() + line.len();

    // Again: the site may have changed its mind.
    let Some(settings) = policy(&mut state.conf, &mut state.conf_len, &mut state.path) else {
        return;
    };
    if vars.is_yes(Var::TopasPrint)
        || (settings.is(Switch::PrintBatch) && values.marks[mark::MODE] == Mode::Batch.letter())
    {
        print(values, &state.counters, state.metric, &mut state.path);
    }
    let own = vars.text(Var::TopasLog);
    let mut targets = settings.list(List::Log);
    if settings.is(Switch::UserLog) && !own.is_empty() {
        targets = own;
    }
    let verbose = vars.is_yes(Var::TopasVerbose);
    let tagged = state.line.get(..len).unwrap_or_default();
    log::append(targets, values, &mut state.path, tagged, verbose);
}

/// Seconds and thousandths between two readings, rounded.
fn span(values: &mut Values<'_>, begun: &[u64; 3], ended: &[u64; 3]) {
    for clock in 0..3 {
        if let (Some(from), Some(to), Some(seconds)) =
            (begun.get(clock), ended.get(clock), values.numbers.get_mut(number::SECONDS + clock))
        {
            let millis = (to.saturating_sub(*from) + 500) / 1000;
            *seconds = millis / 1000;
            if let Some(to) = values.numbers.get_mut(number::MILLIS + clock) {
                *to = millis % 1000;
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
#[inline(never)]
fn print(values: &mut Values<'static>, counters: &Counters, metric: Metric, buf: &mut [u8]) {
    const FORM: &[u8] = topas_format::form![
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
        &[t(text::REASONS), t(text::REASONS + 1)],
        b"\ntopas:   L1 data misses: ",
        &[m(mark::COUNTS + 1), n(number::COUNTS + 1)],
        &[t(text::REASONS + 2), t(text::REASONS + 3), b'\n'],
    ];
    const LABELS: Words = Words(b"FP operations\ninteger operations\nloads\nstores", b'\n');
    values.texts[text::OPERATIONS] = Some(LABELS.at(metric as usize));
    let [ops, misses, ..] = counters.why;
    if values.marks[mark::COUNTS] == b'=' {
        values.marks[mark::COUNTS] = 0;
    }
    for (slot, why) in [(text::REASONS, ops), (text::REASONS + 2, misses)] {
        if let (Some(why), Some([begin, end])) = (why, values.texts.get_mut(slot..slot + 2)) {
            *begin = Some(b" not measured: ");
            *end = Some(why.says());
        }
    }
    let mut out = Out::new(buf);
    values.fill(&mut out, FORM);
    say::text(out.text());
}
