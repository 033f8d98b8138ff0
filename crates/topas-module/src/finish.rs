//! After `main`: read everything again, write the line, print it if asked.

use core::ffi::{c_int, c_void};

use topas_format::MAX_LINE;
use topas_format::civil::Civil;
use topas_format::conf::Settings;
use topas_format::escape::Name;
use topas_format::event::Metric;
use topas_format::field::{Mhz, Mode, Operations, Token};
use topas_format::line::{Line, Writer};
use topas_format::number::Micros;
use topas_format::out::Out;
use topas_format::target::Facts;
use topas_format::text::{Cursor, Words, nth};

use topas_launch::{Var, Vars, job};

use crate::counters::Quantity;
use crate::state::STATE;
use crate::{facts, library, log, node, say, start, sys};

/// The exit handler, registered before all others and so run after them.
pub extern "C" fn finish(_: *mut c_void, status: c_int) {
    // SAFETY: exit handlers run one after the other.
    let state = unsafe { STATE.get() };
    // A forked child that calls exit comes by here, too.
    if state.pid == 0 || state.pid != sys::pid() {
        return;
    }
    state.pid = 0;
    let ended = sys::clock(sys::Clock::Monotonic);
    let usage = sys::usage();
    state.counters.finish();
    // A program that overwrote its environment loses its names, not its line.
    if state.vars.seal() != state.seal {
        state.vars = Vars::new();
    }

    let epoch = sys::clock(sys::Clock::Real) / 1_000_000;
    let local = Civil::from_seconds(epoch as i64 + node::utc_offset(epoch as i64));
    let mut host = [0; 390];
    let facts = Facts { date: local.date, host: sys::host(&mut host), uid: sys::uid() };
    let mut path = [0; sys::PATH_MAX];
    let mut small = [0; 64];
    let vars = &state.vars;
    let [ops, misses, cycles, instructions] = &state.counters.quantities;

    let (uid, rest) = small.split_at_mut(11);
    let (id, rest) = rest.split_at_mut(16);
    let mut uid = Out::new(uid);
    uid.byte(b'#').dec(facts.uid.into());
    let user = vars.get(Var::Logname).or(vars.get(Var::User)).unwrap_or(uid.text());
    let mut id = Out::new(id);
    id.hex(state.rank.id);
    let line = Line {
        date: local.date,
        time: local.time,
        user: Name::new(user),
        exe: Name::new(node::executable(&mut path)),
        pe: state.rank.rank,
        npes: state.rank.size,
        mhz: Mhz(Some(node::mhz()).filter(|mhz| *mhz > 0)),
        mode: job::mode(vars),
        lang: facts::language(),
        lib: library::library(),
        user_time: millis(state.usage.user, usage.user),
        sys_time: millis(state.usage.system, usage.system),
        wall_time: millis(state.begun, ended),
        ops: Operations { metric: state.metric, count: ops.count() },
        l1_miss: misses.count(),
        id: Name::new(id.text()),
    };
    let mut buf = [0; MAX_LINE];
    let mut writer = Writer::new(&mut buf, &line);
    writer.number(b"t", epoch);
    writer.number(b"uid", facts.uid.into());
    if state.status_known {
        let mark = writer.begin(b"end");
        writer.out().put(b"exit:").dec((status & 0xff) as u64);
        writer.end(mark);
    }
    let mark = writer.begin(b"why");
    reason(writer.out(), state.metric, ops);
    reason(writer.out(), Metric::L1Miss, misses);
    writer.end(mark);
    if state.counters.share < 1000 {
        let mark = writer.begin(b"run");
        writer.out().put(b"0.").dec_wide(state.counters.share, 3);
        writer.end(mark);
    }
    let mut job = Out::new(rest);
    job::write_id(vars, &mut job);
    writer.name(b"job", job.text());
    writer.name(b"step", job::step(vars, state.rank.family).unwrap_or_default());
    writer.name(b"host", facts.host);
    for (key, quantity) in [(b"cyc", cycles), (b"ins", instructions)] {
        let mark = writer.begin(key);
        if quantity.why.is_none() {
            quantity.count().write(writer.out(), 0);
        }
        writer.end(mark);
    }
    writer.number(b"rss", usage.resident.wrapping_mul(1024));
    let text = writer.finish();

    start::read_conf(state);
    let settings = Settings::read(state.conf.get(..state.conf_len).unwrap_or_default());
    let vars = &state.vars;
    if vars.is_yes(Var::TopasPrint) || (settings.print_batch && line.mode == Mode::Batch) {
        print(text.text(), &state.counters.quantities);
    }
    let own = vars.text(Var::TopasLog);
    let targets = if settings.user_log && !own.is_empty() { own } else { settings.log };
    log::append(targets, &facts, text.text(), vars.is_yes(Var::TopasVerbose));
}

/// Microseconds between two readings, rounded to the milliseconds that a line shows.
#[inline(never)]
fn millis(from: u64, to: u64) -> Micros {
    Micros((to.saturating_sub(from) + 500) / 1000 * 1000)
}

/// Appends `f:pmu` after a comma, if there is a reason.
#[inline(never)]
fn reason(out: &mut Out<'_>, metric: Metric, quantity: &Quantity) {
    if let Some(why) = quantity.why {
        if out.text().last() != Some(&b'=') {
            out.byte(b',');
        }
        out.byte(metric.letter()).byte(b':').put(why.word());
    }
}

/// The same facts for a person, on standard error: a form filled in with tokens of the
/// line, which the letters after @ count from `A`.
#[inline(never)]
fn print(line: &[u8], quantities: &[Quantity]) {
    const FORM: &[u8] = b"topas: @D, PE @E of @F, launch @P\n\
        topas:   wall clock @M s, CPU time user @K s, system @L s\n";
    const LABELS: Words = Words(
        b"floating point operations\ninteger operations\nloads\nstores\n\
          level 1 data cache misses",
        b'\n',
    );
    let mut buf = [0; 1500];
    let mut out = Out::new(&mut buf);
    let mut form = Cursor::new(FORM);
    loop {
        out.put(form.until(b'@'));
        if form.rest.is_empty() {
            break;
        }
        out.put(nth(line, b' ', form.peek().wrapping_sub(b'A').into()));
        form.skip();
    }
    let ops = nth(line, b' ', 13).first().and_then(|letter| Metric::of_operations(*letter));
    let metrics = [ops.unwrap_or(Metric::FpOps), Metric::L1Miss];
    for (quantity, metric) in quantities.iter().zip(metrics) {
        out.put(b"topas:   ").put(LABELS.at(metric as usize)).byte(b' ');
        match quantity.why {
            Some(why) => {
                out.put(b"not measured: ").put(why.says());
            }
            None => {
                quantity.count().write(&mut out, 0);
            }
        }
        out.byte(b'\n');
    }
    say::text(&out);
}
