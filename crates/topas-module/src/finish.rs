//! After `main`: read everything again, write the line, print it if asked.

use core::ffi::{c_int, c_void};

use topas_format::MAX_LINE;
use topas_format::civil::Civil;
use topas_format::conf::{Settings, words};
use topas_format::escape::Name;
use topas_format::event::{Metric, Why};
use topas_format::field::{Mhz, Operations, Token};
use topas_format::line::{Line, Writer};
use topas_format::number::{Count, Micros};
use topas_format::out::Out;
use topas_format::target::Facts;

use crate::counters::{Counts, Result};
use crate::state::{STATE, State};
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
    let counts = state.counters.finish();

    let (epoch, _) = sys::clock(sys::Clock::Real);
    let local = Civil::from_seconds(epoch + node::utc_offset(epoch));
    let uid = sys::uid();
    let mut host = [0; 390];
    let host = sys::host(&mut host);
    let mut number = [0; 11];
    let mut number = Out::new(&mut number);
    let user = match state.user.get() {
        b"" => number.byte(b'#').dec(uid.into()).text(),
        user => user,
    };
    let mut id = [0; 16];
    let mut id = Out::new(&mut id);
    id.hex(state.rank.id);

    let line = Line {
        date: local.date,
        time: local.time,
        user: Name::new(user),
        exe: Name::new(state.exe.get()),
        pe: state.rank.rank,
        npes: state.rank.size,
        mhz: Mhz(node::mhz()),
        mode: state.mode,
        lang: facts::language(),
        lib: library::library(),
        user_time: millis(usage.user.wrapping_sub(state.usage.user)),
        sys_time: millis(usage.system.wrapping_sub(state.usage.system)),
        wall_time: millis(elapsed(state.begun, ended)),
        ops: Operations { metric: state.metric, count: counts.ops.count },
        l1_miss: counts.misses.count,
        id: Name::new(id.text()),
    };
    let mut buf = [0; MAX_LINE];
    let mut writer = Writer::new(&mut buf, &line);
    writer.number(b"t", epoch as u64).number(b"uid", uid.into());
    if state.status_known {
        writer.extra(b"end", |out| {
            out.put(b"exit:").dec((status & 0xff) as u64);
        });
    }
    if counts.ops.why.is_some() || counts.misses.why.is_some() {
        writer.extra(b"why", |out| {
            reason(out, state.metric, &counts.ops);
            reason(out, Metric::L1Miss, &counts.misses);
        });
    }
    if counts.share < 1000 {
        writer.extra(b"run", |out| {
            out.put(b"0.").dec_wide(counts.share, 3);
        });
    }
    writer.name(b"job", state.job.get()).name(b"step", state.step.get()).name(b"host", host);
    for (key, result) in [(b"cyc", &counts.cycles), (b"ins", &counts.instructions)] {
        if result.count != Count::Missing {
            writer.extra(key, |out| {
                result.count.write(out, 0);
            });
        }
    }
    writer.number(b"rss", usage.resident.wrapping_mul(1024));
    let text = writer.finish();

    start::read_conf(&mut state.conf);
    let settings = Settings::read(state.conf.get());
    let targets = match state.user_log.get() {
        b"" => settings.log,
        _ if !settings.user_log => settings.log,
        own => own,
    };
    let place = Facts { date: local.date, host, uid };
    log::append(words(targets), &place, text.text(), state.verbose);
    if state.print {
        print(state, &line, &counts, host);
    }
}

/// Nanoseconds are more than a line shows: microseconds between two instants.
fn elapsed((s0, n0): (i64, i64), (s1, n1): (i64, i64)) -> u64 {
    ((s1 - s0) * 1_000_000 + (n1 - n0) / 1000).max(0) as u64
}

/// Rounded to the milliseconds that a line shows.
fn millis(micros: u64) -> Micros {
    Micros(micros.saturating_add(500) / 1000 * 1000)
}

/// Appends `f:pmu` after a comma, if there is a reason.
fn reason(out: &mut Out<'_>, metric: Metric, result: &Result) {
    if let Some(why) = result.why {
        if out.text().last() != Some(&b'=') {
            out.byte(b',');
        }
        out.byte(metric.letter()).byte(b':').put(why.word());
    }
}

/// The same facts for a person, on standard error.
fn print(state: &State, line: &Line<'_>, counts: &Counts, host: &[u8]) {
    let mut buf = [0; 2048];
    let mut out = Out::new(&mut buf);
    out.put(b"topas: ").put(state.exe.get()).put(b", PE ").dec(line.pe.into());
    out.put(b" of ").dec(line.npes.into()).put(b" on ").put(host).put(b", launch ");
    out.hex(state.rank.id).byte(b'\n');
    for (label, time) in [
        (b"wall clock time            ", line.wall_time),
        (b"user CPU time              ", line.user_time),
        (b"system CPU time            ", line.sys_time),
    ] {
        out.put(b"topas:   ").put(label);
        time.write(&mut out, 0);
        out.put(b" s\n");
    }
    let operations: &[u8; 27] = match line.ops.metric {
        Metric::IntOps => b"integer operations         ",
        Metric::Loads => b"loads                      ",
        Metric::Stores => b"stores                     ",
        _ => b"floating point operations  ",
    };
    for (label, result) in
        [(operations, &counts.ops), (b"level 1 data cache misses  ", &counts.misses)]
    {
        out.put(b"topas:   ").put(label);
        match (result.count.value(), result.why) {
            (Some(count), _) => {
                if let Count::Estimate(_) = result.count {
                    out.put(b"about ");
                }
                out.dec(count);
                let micros = line.wall_time.0;
                if let (Some(rate), Some(rest)) =
                    (count.checked_div(micros), count.checked_rem(micros))
                {
                    // Operations per microsecond are millions of them per second.
                    let thousandths = (rest.wrapping_mul(1000)).checked_div(micros).unwrap_or(0);
                    out.put(b" (").dec(rate).byte(b'.').dec_wide(thousandths, 3);
                    out.put(b" million per s of wall clock)");
                }
            }
            (None, why) => {
                out.put(b"not measured: ").put(in_words(why));
            }
        }
        out.byte(b'\n');
    }
    say::text(out.text());
}

/// A reason for people.
fn in_words(why: Option<Why>) -> &'static [u8] {
    match why {
        Some(Why::Cpu) => b"this processor is not in the event table",
        Some(Why::Event) => b"this processor has no such event",
        Some(Why::Pmu) => b"this machine shows no hardware counters",
        Some(Why::Paranoid) => b"perf_event_paranoid forbids it",
        Some(Why::Seccomp) => b"a container's seccomp filter forbids it",
        Some(Why::Kernel) => b"the kernel has no perf events",
        Some(Why::Files) => b"no file descriptor was free",
        Some(Why::Shared) => b"the counters were in use all the time",
        Some(Why::Lost) => b"the program closed the counters",
        Some(Why::Refused) | None => b"the kernel refused the event",
    }
}
