//! Before `main`: does this process measure, and if so, begin.

use core::ffi::{c_char, c_int, c_void};

use topas_format::conf::{Ops, Settings, Switch};
use topas_format::env::is_off;
use topas_format::event::Metric;
use topas_format::field::Mode;
use topas_format::form::{UNKNOWN, mark, number, text};
use topas_format::out::Out;
use topas_launch::hash::spread;
use topas_launch::{Family, Rank, Var, Vars, choice, job, marker, named, nearest};

use crate::claim::claim;
use crate::library::weak;
use crate::proof::Kernel;
use crate::say::{Sentence, say};
use crate::state::{CONF_MAX, STATE, State, auxiliary};
use crate::sys::PATH_MAX;
use crate::{facts, finish, library, node, signals, sys};

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
    let verbose = state.vars.is_yes(Var::TopasVerbose);
    if let Err(why) = begin(state)
        && verbose
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
            if Vars::may_begin(**at as u8) {
                vars.offer(sys::bytes(*at));
            }
            at = at.add(1);
        }
    }
}

/// Begins to measure, or tells why not. Ok on a rank that just is not chosen.
#[inline(never)]
fn begin(state: &'static mut State) -> Result<(), Sentence> {
    let vars = &state.vars;
    if is_off(vars.text(Var::Topas)) {
        return Err(Sentence::Off);
    }
    // What a privileged program does must not depend on its caller's environment.
    const AT_SECURE: usize = 23;
    if auxiliary(AT_SECURE) != 0 {
        return Err(Sentence::Privileged);
    }
    let Some(place) = place(vars, &mut state.rank, &mut state.path)? else {
        return Ok(());
    };
    let rank = &state.rank;
    let pid = sys::pid();
    if marker::is_of_another(vars.text(Var::TopasRank), rank, pid) {
        return Err(Sentence::Child);
    }

    // Now: at the end the program may have overwritten its environment.
    let values = &mut state.values;
    let mode = job::mode(vars);
    let uid = sys::uid();
    values.numbers[number::UID] = uid.into();
    values.numbers[number::PE] = rank.rank.into();
    values.numbers[number::NPES] = if rank.size == 0 { UNKNOWN } else { rank.size.into() };
    values.marks[mark::MODE] = mode.letter();
    let numeric = Out::new(&mut state.uid).byte(b'#').dec(uid.into()).take();
    values.texts[text::UID] = Some(numeric);
    let mut user = vars.text(Var::Logname);
    if user.is_empty() {
        user = vars.text(Var::User);
    }
    values.texts[text::USER] = Some(if user.is_empty() { numeric } else { user });
    let exe = node::executable(&mut state.exe);
    values.texts[text::EXE] = Some(exe);

    let settings = policy(&mut state.conf, &mut state.conf_len, &mut state.path);
    let Some(settings) = settings.filter(|settings| {
        (mode == Mode::Batch || !settings.is(Switch::BatchOnly))
            && (rank.size == 0 || rank.size >= settings.min_pes)
            && (rank.size != 1 || settings.is(Switch::Serial))
            && settings.allow(exe, [user, numeric.get(1..).unwrap_or_default()])
    }) else {
        return Err(Sentence::Measure);
    };
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
    values.marks[mark::METRIC] = state.metric.letter();
    state.seal = vars.seal();

    let none = core::ptr::null_mut();
    let at_quick_exit = weak!("__cxa_at_quick_exit");
    // SAFETY: the function lives as long as the program, which is never unloaded. quick_exit
    // passes it the same two arguments.
    unsafe {
        if __cxa_atexit(finish::exit, none, none) != 0 {
            return Err(Sentence::NoHandler);
        }
        if at_quick_exit != 0 {
            let register: extern "C" fn(extern "C" fn(*mut c_void, c_int), *mut c_void) -> c_int =
                core::mem::transmute(at_quick_exit);
            register(finish::exit, none);
        }
    }
    if settings.is(Switch::Signals) {
        signals::catch();
    }
    state.counters.open(state.metric);
    sys::times(&mut state.begun);
    // Last: the handlers do nothing as long as this is zero.
    *state.pid.get_mut() = pid;
    Ok(())
}

/// How many measuring ranks are lower than this one; None if this rank does not measure.
/// Finds out which rank this is.
#[inline(never)]
fn place(
    vars: &Vars<'_>,
    rank: &mut Rank,
    path: &mut [u8; PATH_MAX],
) -> Result<Option<u32>, Sentence> {
    if let Some(found) = nearest(vars, &mut Kernel(path))
        && found.size != 1
    {
        *rank = found;
        if let Some(list) = vars.get(Var::TopasPe) {
            match named::place(list, found.size, found.rank) {
                Ok(place) => return Ok(place),
                Err(fault) if found.rank == 0 => say(b"TOPAS_PE=", list, fault as u8),
                Err(_) => {}
            }
        }
        return Ok(choice::place(found.id, found.size, found.rank));
    }
    *rank = Rank { family: Family::Own, rank: 0, size: 1, id: 0 };
    if !library::is_pvm() {
        if !facts::serial() {
            return Err(Sentence::NoRank);
        }
        rank.id = spread(sys::clock(sys::REAL_TIME) << 22 ^ u64::from(sys::pid()));
        return Ok(Some(0));
    }
    // A user has one virtual machine on a host. The kernel told the user id when it started
    // the program: no call for those that come too late.
    const AT_UID: usize = 11;
    let uid = auxiliary(AT_UID) as u64;
    let Some(place) = claim(uid) else {
        return Ok(None);
    };
    rank.size = 0;
    rank.rank = place.number;
    rank.id = spread(uid << 32 ^ u64::from(place.first));
    Ok(Some(place.number))
}

/// What topas.conf says, of the installation or, if that has gone or says nothing, of the
/// system; what it said before if there is none. None if nothing is to be measured.
#[inline(never)]
pub fn policy<'c>(
    conf: &'c mut [u8; CONF_MAX],
    len: &mut usize,
    path: &mut [u8; PATH_MAX],
) -> Option<Settings<'c>> {
    const NAME: &[u8] = b"topas.conf";
    let mut found = 0;
    for file in [facts::conf_path(), b"/etc/topas/topas.conf"] {
        let mut out = Out::new(path);
        out.put(file);
        let dir = out.len().saturating_sub(NAME.len());
        // A file `off` beside it stops everything.
        out.rewind(dir);
        out.put(b"off");
        if sys::exists(sys::path(&mut out)) {
            return None;
        }
        out.rewind(dir);
        out.put(NAME);
        if found == 0 {
            found = sys::load(sys::path(&mut out), conf).len();
        }
    }
    if found > 0 {
        *len = found;
    }
    let settings = Settings::read(sys::written(conf, *len as isize));
    settings.is(Switch::Measure).then_some(settings)
}

/// The environment with the marker of a measuring rank in front, for its children; null
/// on any other rank. The strings stay, the array is a new one.
pub fn marked(environment: Environment) -> Environment {
    // SAFETY: called from the second door only, after `start`.
    let state = unsafe { STATE.get() };
    let none = core::ptr::null();
    let pid = *state.pid.get_mut();
    if pid == 0 || environment.is_null() {
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
        marker::write(&mut out, &state.rank, pid);
        *entries = text.cast();
        // An outer rank's marker, inherited by a nested launch, is hidden by ours.
        for at in 0..count {
            *entries.add(at + 1) = *environment.add(at);
        }
        entries.cast()
    }
}
