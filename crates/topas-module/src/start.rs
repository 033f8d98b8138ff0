//! Before `main`: does this process measure, and if so, begin.

use core::ffi::{c_char, c_int, c_void};

use topas_format::conf::{Ops, Settings};
use topas_format::env::is_off;
use topas_format::event::Metric;
use topas_format::form::mark;
use topas_format::out::Out;
use topas_launch::{Rank, Var, Vars, choice, job, marker, named, nearest};

use crate::proof::Kernel;
use crate::say::{Sentence, say};
use crate::state::{CONF_MAX, STATE, State, auxiliary};
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
        say(b"not measured: ", b"", why as u8);
    }
}

/// Takes what matters from the environment.
fn gather(environment: Environment, vars: &mut Vars<'static>) {
    if environment.is_null() {
        return;
    }
    let mut at = environment;
    // SAFETY: as `Environment` says; its strings are those of the process and stay.
    unsafe {
        while !(*at).is_null() {
            let entry: *const u8 = (*at).cast();
            if Vars::may_begin(*entry) {
                // By hand, and volatile so that it stays so: strlen would be one more import.
                let mut len = 0;
                while entry.add(len).read_volatile() != 0 {
                    len += 1;
                }
                vars.offer(core::slice::from_raw_parts(entry, len));
            }
            at = at.add(1);
        }
    }
}

/// Begins to measure, or tells why not. Ok on a rank that just is not chosen.
#[inline(never)]
fn begin(state: &mut State) -> Result<(), Sentence> {
    let vars = &state.vars;
    if is_off(vars.text(Var::Topas)) {
        return Err(Sentence::Off);
    }
    let Some(rank) = nearest(vars, &mut Kernel(&mut state.path)) else {
        return Err(Sentence::NoRank);
    };
    state.rank = rank;
    if state.rank.size < 2 {
        return Err(Sentence::NoRank);
    }
    let Some(place) = place(vars, &state.rank) else {
        return Ok(());
    };

    // What a privileged program does must not depend on its caller's environment.
    const AT_SECURE: usize = 23;
    if auxiliary(AT_SECURE) != 0 {
        return Err(Sentence::Privileged);
    }
    let pid = sys::pid();
    if marker::is_of_another(vars.text(Var::TopasRank), &state.rank, pid) {
        return Err(Sentence::Child);
    }
    let settings = Settings::read(read_conf(&mut state.conf, &mut state.conf_len));
    if !settings.measure {
        return Err(Sentence::Measure);
    }
    let mut ops = settings.ops;
    let word = vars.text(Var::TopasOps);
    if !word.is_empty() {
        match Ops::parse(word) {
            Some(chosen) => ops = chosen,
            // One rank says that the word is none.
            None if place == 0 => say(b"TOPAS_OPS=", word, Sentence::BadOps as u8),
            None => {}
        }
    }
    state.metric = match ops {
        Ops::One(metric) => metric,
        Ops::Both if place % 2 == 0 => Metric::FpOps,
        Ops::Both => Metric::IntOps,
    };
    // Now: at the end the program may have overwritten its environment.
    state.values.marks[mark::MODE] = job::mode(vars).letter();
    state.values.marks[mark::METRIC] = state.metric.letter();
    state.seal = vars.seal();

    // SAFETY: the function lives as long as the program, which is never unloaded.
    let registered =
        unsafe { __cxa_atexit(finish::finish, core::ptr::null_mut(), core::ptr::null_mut()) };
    if registered != 0 {
        return Err(Sentence::NoHandler);
    }
    state.counters.open(state.metric);
    sys::times(&mut state.begun);
    // Last: the handler does nothing as long as this is zero.
    state.pid = pid;
    Ok(())
}

/// How many measuring ranks are lower than this one; None if this rank does not measure.
#[inline(never)]
fn place(vars: &Vars<'_>, rank: &Rank) -> Option<u32> {
    if let Some(list) = vars.get(Var::TopasPe) {
        match named::place(list, rank.size, rank.rank) {
            Ok(place) => return place,
            Err(fault) if rank.rank == 0 => say(b"TOPAS_PE=", list, fault as u8),
            Err(_) => {}
        }
    }
    choice::place(rank.id, rank.size, rank.rank)
}

/// Text of topas.conf of the installation, or of the system if that has gone or says
/// nothing; what was read before if there is none.
#[inline(never)]
pub fn read_conf<'c>(conf: &'c mut [u8; CONF_MAX], len: &mut usize) -> &'c [u8] {
    let mut found = sys::load(facts::conf_path(), conf).len();
    if found == 0 {
        found = sys::load(c"/etc/topas/topas.conf", conf).len();
    }
    if found > 0 {
        *len = found;
    }
    sys::written(conf, *len as isize)
}

/// The environment with the marker of a measuring rank in front, for its children; null
/// on any other rank. The strings stay, the array is a new one.
pub fn marked(environment: Environment) -> Environment {
    // SAFETY: called from the second door only, after `start`.
    let state = unsafe { STATE.get() };
    let none = core::ptr::null();
    if state.pid == 0 || environment.is_null() {
        return none;
    }
    // SAFETY: the array is walked to its end; the new one has room for one entry more,
    // both null pointers, and the marker's text behind it.
    unsafe {
        let mut count = 1;
        while !(*environment.add(count - 1)).is_null() {
            count += 1;
        }
        let bytes = (count + 1) * size_of::<*const c_char>();
        let entries = sys::pages(bytes + marker::SIZE).cast::<*const c_char>();
        if entries.is_null() {
            return none;
        }
        let text = entries.add(count + 1).cast::<u8>();
        let mut out = Out::new(core::slice::from_raw_parts_mut(text, marker::SIZE));
        marker::write(&mut out, &state.rank, state.pid);
        *entries = text.cast();
        // An outer rank's marker, inherited by a nested launch, is hidden by ours.
        for at in 0..count {
            *entries.add(at + 1) = *environment.add(at);
        }
        entries.cast()
    }
}
