//! After `main`: read everything again, write the line, print it if asked.

use core::ffi::{c_int, c_void};

use topas_format::conf::Settings;
use topas_format::event::{Metric, Why};
use topas_format::field::Mode;
use topas_format::form::{UNKNOWN, Values, m, mark, n, name, number, t, text};
use topas_format::out::Out;
use topas_format::text::{Cursor, Words};

use topas_launch::{Var, job};

use crate::counters::Counters;
use crate::state::{STATE, State};
use crate::{facts, library, log, node, say, start, sys};

/// The exit handler, registered before all others and so run after them.
pub extern "C" fn finish(_: *mut c_void, status: c_int) {
    // SAFETY: exit handlers run one after the other.
    let state: &'static mut State = unsafe { STATE.get() };
    // A forked child that calls exit comes by here, too.
    if state.pid == 0 || state.pid != sys::pid() {
        return;
    }
    state.pid = 0;
    let values = &mut state.values;
    let mut ended = [0; 3];
    values.numbers[number::RESIDENT] = sys::times(&mut ended).wrapping_mul(1024);
    values.marks[mark::COUNTS] = b'=';
    state.counters.finish(values);
    span(values, &state.begun, &ended);
    // A program that overwrote its environment loses its names, not its line.
    if state.vars.seal() != state.seal {
        state.vars.clear();
    }
    let vars = &state.vars;
    let uid = sys::uid().into();
    let epoch = sys::clock(sys::REAL_TIME) / 1_000_000;
    let offset = node::utc_offset(epoch as i64, &mut state.file);
    values.set_time(epoch.wrapping_add_signed(offset));
    values.numbers[number::EPOCH] = epoch;
    values.numbers[number::UID] = uid;
    values.numbers[number::CUT] = UNKNOWN;
    values.numbers[number::STATUS] =
        if state.status_known { (status & 0xff) as u64 } else { UNKNOWN };
    values.numbers[number::PE] = state.rank.rank.into();
    values.numbers[number::NPES] = state.rank.size.into();
    let mut mhz = node::mhz(&mut state.file);
    if mhz == 0 {
        mhz = UNKNOWN;
    } else {
        values.marks[mark::MHZ] = b't';
    }
    values.numbers[number::MHZ] = mhz;

    let mut parts = Out::new(&mut state.parts);
    let mut user = vars.text(Var::Logname);
    if user.is_empty() {
        user = vars.text(Var::User);
    }
    if user.is_empty() {
        user = parts.byte(b'#').dec(uid).take();
    }
    values.texts[text::USER] = Some(user);
    parts.hex(state.rank.id);
    values.texts[text::ID] = Some(parts.take());
    let [ops, misses, ..] = state.counters.why;
    reason(&mut parts, values.marks[mark::METRIC], ops);
    reason(&mut parts, Metric::L1Miss.letter(), misses);
    values.texts[text::WHY] = Some(parts.take());
    job::write_id(vars, &mut parts);
    values.texts[text::JOB] = Some(parts.take());
    values.texts[text::STEP] = job::step(vars, state.rank.family);
    values.texts[text::EXE] = Some(node::executable(&mut state.exe));
    values.texts[text::LANG] = Some(facts::language().token());
    values.texts[text::LIB] = Some(library::library().token());
    sys::uname(&mut state.uname);
    // The second of the texts: the node's name.
    let host = state.uname.get(65..).unwrap_or_default();
    values.texts[text::HOST] = Some(Cursor::new(host).until(0));

    let mut line = Out::new(&mut state.line);
    values.fill_line(&mut line);

    let settings = Settings::read(start::read_conf(&mut state.conf, &mut state.conf_len));
    if vars.is_yes(Var::TopasPrint)
        || (settings.print_batch && values.marks[mark::MODE] == Mode::Batch.letter())
    {
        print(values, &state.counters, state.metric, &mut state.path);
    }
    let own = vars.text(Var::TopasLog);
    let targets = if settings.user_log && !own.is_empty() { own } else { settings.log };
    let verbose = vars.is_yes(Var::TopasVerbose);
    log::append(targets, values, &mut state.path, line.text(), verbose);
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
