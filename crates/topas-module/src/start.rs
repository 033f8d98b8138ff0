//! Before `main`: does this process measure, and if so, begin.

use core::ffi::{CStr, c_char, c_int, c_void};

use topas_format::conf::{Ops, Settings};
use topas_format::env::{is_off, is_yes};
use topas_format::event::Metric;
use topas_format::field::Mode;
use topas_format::out::Out;
use topas_launch::named::Named;
use topas_launch::{Rank, Var, Vars, choice, job, marker, nearest};

use crate::proof::Kernel;
use crate::state::{CONF_MAX, STATE, State, Text, auxiliary};
use crate::{facts, finish, node, say, sys};

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
    let mut vars = Vars::default();
    gather(environment, &mut vars);
    let verbose = vars.get(Var::TopasVerbose).is_some_and(is_yes);
    let refuse = |why: &[u8]| {
        if verbose {
            say::line(&[b"not measured: ", why]);
        }
    };

    if vars.get(Var::Topas).is_some_and(is_off) {
        return refuse(b"TOPAS is off");
    }
    let Some(rank) = nearest(&vars, &mut Kernel).filter(|rank| rank.size > 1) else {
        return refuse(b"not a rank of a parallel run");
    };
    let Some((place, last)) = place(&vars, &rank) else {
        return;
    };

    // What a privileged program does must not depend on its caller's environment.
    const AT_SECURE: usize = 23;
    if auxiliary(AT_SECURE) != 0 {
        return refuse(b"the program has privileges of its own");
    }
    let pid = sys::pid();
    let marked = vars.get(Var::TopasRank);
    if marked.is_some_and(|value| marker::is_of_another(value, rank.id, rank.rank, pid)) {
        return refuse(b"a child of a measuring rank");
    }
    read_conf(&mut state.conf);
    let settings = Settings::read(state.conf.get());
    if !settings.measure {
        return refuse(b"topas.conf says measure = no");
    }

    let ops = chosen_ops(&vars, place == 0).unwrap_or(settings.ops);
    state.metric = match ops {
        Ops::One(metric) => metric,
        Ops::Both if place % 2 == 0 => Metric::FpOps,
        Ops::Both => Metric::IntOps,
    };
    // A run in which one rank alone measures counts what matters most.
    if last && place == 0 && ops == Ops::Both {
        state.metric = Metric::FpOps;
    }
    state.mode = job::mode(&vars);
    state.print = vars.get(Var::TopasPrint).is_some_and(is_yes)
        || (settings.print_batch && state.mode == Mode::Batch);
    state.verbose = verbose;
    state.status_known = status_known;
    state.rank = rank;
    keep_texts(state, &vars);

    // SAFETY: the function lives as long as the program, which is never unloaded.
    let registered = unsafe {
        __cxa_atexit(finish::finish, core::ptr::null_mut(), core::ptr::null_mut())
    };
    if registered != 0 {
        return refuse(b"no room for an exit handler");
    }
    state.counters.open(state.metric);
    state.usage = sys::usage();
    state.begun = sys::clock(sys::Clock::Monotonic);
    // Last: the handler does nothing as long as this is zero.
    state.pid = pid;
}

/// Takes what matters from the environment.
fn gather<'a>(environment: Environment, vars: &mut Vars<'a>) {
    let mut at = environment;
    // SAFETY: the environment is an array of C strings that ends with a null pointer, or
    // is null itself; its strings outlive every constructor.
    unsafe {
        while !at.is_null() && !(*at).is_null() {
            let entry: *const c_char = *at;
            if Vars::may_begin(*entry as u8) {
                let entry: &'a CStr = CStr::from_ptr(entry);
                vars.offer(entry.to_bytes());
            }
            at = at.add(1);
        }
    }
}

/// How many measuring ranks are lower than this one, and whether none is higher; None
/// if this rank does not measure.
fn place(vars: &Vars<'_>, rank: &Rank) -> Option<(usize, bool)> {
    if let Some(list) = vars.get(Var::TopasPe) {
        match Named::parse(list, rank.size) {
            Ok(named) => {
                let place = named.place(rank.rank)?;
                return Some((place, place + 1 == named.ranks().count()));
            }
            Err(fault) if rank.rank == 0 => {
                let shown = list.get(..40).unwrap_or(list);
                let dots: &[u8] = if list.len() > shown.len() { b"..." } else { b"" };
                say::line(&[
                    b"TOPAS_PE=",
                    shown,
                    dots,
                    b" ",
                    fault.says(),
                    b"; two ranks are chosen at random",
                ]);
            }
            Err(_) => {}
        }
    }
    let (low, high) = choice::two(rank.id, rank.size)?;
    match rank.rank {
        r if r == low => Some((0, false)),
        r if r == high => Some((1, true)),
        _ => None,
    }
}

/// What `TOPAS_OPS` asks for. One rank says so if it is none of the words.
fn chosen_ops(vars: &Vars<'_>, speaks: bool) -> Option<Ops> {
    let word = vars.get(Var::TopasOps)?;
    let ops = Ops::parse(word);
    if ops.is_none() && speaks {
        let shown = word.get(..40).unwrap_or(word);
        say::line(&[b"TOPAS_OPS=", shown, b" is none of fpops, intops, loads, stores; not used"]);
    }
    ops
}

/// Reads topas.conf of the installation, or of the system if that has gone. Keeps what
/// was read before if there is none.
pub fn read_conf(conf: &mut Text<CONF_MAX>) {
    let installed = facts::conf_path();
    for path in [installed.as_slice(), b"/etc/topas/topas.conf\0"] {
        if let Ok(file) = sys::open(path, sys::O_RDONLY | sys::O_CLOEXEC, 0) {
            let (buffer, len) = conf.buffer();
            *len = file.read(buffer).len();
            return;
        }
    }
}

/// Keeps what the program may overwrite or unset while it runs.
fn keep_texts(state: &mut State, vars: &Vars<'_>) {
    let user = [Var::Logname, Var::User].iter().find_map(|var| vars.get(*var));
    state.user.set(user.unwrap_or_default());
    state.step.set(job::step(vars, state.rank.family).unwrap_or_default());
    state.user_log.set(vars.get(Var::TopasLog).unwrap_or_default());
    let mut id = [0; 64];
    let mut id = Out::new(&mut id);
    job::write_id(vars, &mut id);
    state.job.set(id.text());
    node::executable(&mut state.exe);
}

/// The environment with the marker of a measuring rank, for its children; None on any
/// other rank. The strings stay, the array is a new one.
pub fn marked(environment: Environment) -> Option<Environment> {
    // SAFETY: called from the second door only, after `start`.
    let state = unsafe { STATE.get() };
    if state.pid == 0 || environment.is_null() {
        return None;
    }
    let mut count = 0;
    // SAFETY: as in `gather`; the new array has room for all entries, one more, a null
    // pointer and the marker's text behind it.
    unsafe {
        while !(*environment.add(count)).is_null() {
            count += 1;
        }
        let array = sys::pages((count + 2) * size_of::<*const c_char>() + marker::MAX)?;
        let entries = array.cast::<*const c_char>();
        let text = entries.add(count + 2).cast::<u8>();
        let mut out = Out::new(core::slice::from_raw_parts_mut(text, marker::MAX));
        marker::write(&mut out, state.rank.id, state.rank.rank, state.pid);
        let mut to = entries;
        for i in 0..count {
            let entry = *environment.add(i);
            // An outer rank's marker, inherited by a nested launch, gives way.
            if !CStr::from_ptr(entry).to_bytes().starts_with(b"TOPAS_RANK=") {
                *to = entry;
                to = to.add(1);
            }
        }
        *to = text.cast();
        Some(entries.cast())
    }
}
