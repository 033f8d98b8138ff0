//! Before `main`: does this process measure, and if so, begin.

use core::ffi::{CStr, c_char, c_int, c_void};

use topas_format::conf::{Ops, Settings};
use topas_format::env::is_off;
use topas_format::event::Metric;
use topas_format::out::Out;
use topas_launch::{Rank, Var, Vars, choice, marker, named, nearest};

use crate::proof::Kernel;
use crate::say::{self, say};
use crate::state::{STATE, State, auxiliary};
use crate::{facts, finish, sys};

/// An array of C strings that ends with a null pointer, or null itself.
type Environment = *const *const c_char;

// SAFETY: libc's declaration (Itanium C++ ABI). glibc passes the exit status to the
// function as a second argument; others pass nothing.
unsafe extern "C" {
    fn __cxa_atexit(
        function: extern "C" fn(*mut c_void, c_int),
        argument: *mut c_void,
        library: *mut c_void,
    ) -> c_int;
}

/// Decides, and begins to measure on a measuring rank. A rank that does not measure
/// makes no system call here but those that prove its launch.
pub fn start(environment: Environment, status_known: bool) {
    // SAFETY: called from the two doors only, one after the other.
    let state = unsafe { STATE.get() };
    gather(environment, &mut state.vars);
    state.status_known = status_known;
    if let Err(why) = begin(state)
        && state.vars.is_yes(Var::TopasVerbose)
    {
        say(b"not measured: ", b"", why, b"");
    }
}

/// Takes what matters from the environment.
#[inline(never)]
fn gather(environment: Environment, vars: &mut Vars<'static>) {
    let mut at = environment;
    // SAFETY: as `Environment` says; its strings are those of the process and stay.
    unsafe {
        while !at.is_null() && !(*at).is_null() {
            let entry: *const c_char = *at;
            if Vars::may_begin(*entry as u8) {
                vars.offer(CStr::from_ptr(entry).to_bytes());
            }
            at = at.add(1);
        }
    }
}

/// Begins to measure, or tells why not. Ok on a rank that just is not chosen.
#[inline(never)]
fn begin(state: &mut State) -> Result<(), usize> {
    if state.vars.get(Var::Topas).is_some_and(is_off) {
        return Err(say::OFF);
    }
    let Some(rank) = nearest(&state.vars, &mut Kernel).filter(|rank| rank.size > 1) else {
        return Err(say::NO_RANK);
    };
    let Some(place) = place(&state.vars, &rank) else {
        return Ok(());
    };

    // What a privileged program does must not depend on its caller's environment.
    const AT_SECURE: usize = 23;
    if auxiliary(AT_SECURE) != 0 {
        return Err(say::PRIVILEGED);
    }
    let pid = sys::pid();
    if marker::is_of_another(state.vars.text(Var::TopasRank), &rank, pid) {
        return Err(say::CHILD);
    }
    read_conf(state);
    let mut settings = Settings::read(state.conf.get(..state.conf_len).unwrap_or_default());
    if !settings.measure {
        return Err(say::MEASURE);
    }
    let word = state.vars.text(Var::TopasOps);
    // One rank says that the word is none.
    if !word.is_empty() && !settings.set(b"ops", word) && place == 0 {
        say(b"TOPAS_OPS is ", b"", say::BAD_OPS, word);
    }
    state.metric = match settings.ops {
        Ops::One(metric) => metric,
        Ops::Both if place % 2 == 0 => Metric::FpOps,
        Ops::Both => Metric::IntOps,
    };
    state.rank = rank;
    state.seal = state.vars.seal();

    // SAFETY: the function lives as long as the program, which is never unloaded.
    let registered =
        unsafe { __cxa_atexit(finish::finish, core::ptr::null_mut(), core::ptr::null_mut()) };
    if registered != 0 {
        return Err(say::NO_HANDLER);
    }
    state.counters.open(state.metric);
    state.usage = sys::usage();
    state.begun = sys::clock(sys::Clock::Monotonic);
    // Last: the handler does nothing as long as this is zero.
    state.pid = pid;
    Ok(())
}

/// How many measuring ranks are lower than this one; None if this rank does not measure.
#[inline(never)]
fn place(vars: &Vars<'_>, rank: &Rank) -> Option<usize> {
    if let Some(list) = vars.get(Var::TopasPe) {
        match named::place(list, rank.size, rank.rank) {
            Ok(place) => return place,
            Err(fault) if rank.rank == 0 => {
                say(b"TOPAS_PE ", fault.says(), say::AT_RANDOM, list);
            }
            Err(_) => {}
        }
    }
    let (low, high) = choice::two(rank.id, rank.size)?;
    if rank.rank == low { Some(0) } else { (rank.rank == high).then_some(1) }
}

/// Reads topas.conf of the installation, or of the system if that has gone. Keeps what
/// was read before if there is none.
#[inline(never)]
pub fn read_conf(state: &mut State) {
    let opened = sys::open_to_read(facts::conf_path());
    if let Ok(file) = opened.or_else(|_| sys::open_to_read(b"/etc/topas/topas.conf\0")) {
        state.conf_len = file.read(&mut state.conf).len();
    }
}

/// The environment with the marker of a measuring rank in front, for its children; None
/// on any other rank. The strings stay, the array is a new one.
#[inline(never)]
pub fn marked(environment: Environment) -> Option<Environment> {
    // SAFETY: called from the second door only, after `start`.
    let state = unsafe { STATE.get() };
    if state.pid == 0 || environment.is_null() {
        return None;
    }
    // SAFETY: the array is walked to its end; the new one has room for one entry more,
    // both null pointers, and the marker's text behind it.
    unsafe {
        let mut count = 1;
        while !(*environment.add(count - 1)).is_null() {
            count += 1;
        }
        let bytes = (count + 1) * size_of::<*const c_char>();
        let entries = sys::pages(bytes + marker::SIZE)?.cast::<*const c_char>();
        let text = entries.add(count + 1).cast::<u8>();
        let mut out = Out::new(core::slice::from_raw_parts_mut(text, marker::SIZE));
        marker::write(&mut out, &state.rank, state.pid);
        *entries = text.cast();
        // An outer rank's marker, inherited by a nested launch, is hidden by ours.
        core::ptr::copy_nonoverlapping(environment, entries.add(1), count);
        Some(entries.cast())
    }
}
