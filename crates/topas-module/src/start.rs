//! Before `main`: does this process measure, and if so, begin.

use core::ffi::{c_char, c_int, c_void};

use topas_format::conf::{Ops, Settings, Switch};
use topas_format::env::is_off;
use topas_format::event::Metric;
use topas_format::field::Mode;
use topas_format::form::{UNKNOWN, Values, mark, number, text};
use topas_format::out::Out;
use topas_format::policy::ProgramFacts;
use topas_launch::extended::Extended;
use topas_launch::hash::spread;
use topas_launch::{Family, Rank, Var, Vars, choice, find, job, marker, named};
use topas_node::proof::{KernelProof, PathRoom};

use crate::claim::claim;
use crate::library::weak;
use crate::say::{Sentence, say, say_by_number};
use crate::state::{ModuleState, STATE, auxiliary, out};
use crate::{extended, facts, filters, finish, library, node, processor, signals, sys};

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
    gather(environment, &mut state.vars, &mut state.extended.vars);
    state.status_known = status_known;
    let verbose = state.vars.is_yes(Var::TopasVerbose);
    state.verbose = verbose;
    if let Err(why) = begin(state)
        && verbose
        && why != Sentence::NotChosen
    {
        say(Sentence::NotMeasured, b"", why);
    }
}

/// Takes what matters from the environment.
fn gather(environment: Environment, vars: &mut Vars<'static>, extended: &mut Extended<'static>) {
    if environment.is_null() {
        return;
    }
    let mut at = environment;
    // SAFETY: as `Environment` says; its strings are those of the process and stay.
    unsafe {
        while !(*at).is_null() {
            if Vars::may_begin(**at as u8) {
                vars.offer(sys::bytes(*at));
                if extended::ON {
                    extended.offer(sys::bytes(*at));
                }
            }
            at = at.add(1);
        }
    }
}

/// Begins to measure, or tells why not.
fn begin(state: &'static mut ModuleState) -> Result<(), Sentence> {
    let vars = &state.vars;
    if is_off(vars.text(Var::Topas)) {
        return Err(Sentence::Off);
    }
    // What a privileged program does must not depend on its caller's environment.
    const AT_SECURE: usize = 23;
    if auxiliary(AT_SECURE) != 0 {
        return Err(Sentence::Privileged);
    }
    let rank = &mut state.rank;
    let mut place = place(vars, rank, &mut state.file);
    if extended::ON {
        state.extended.logs = place.is_ok();
        place = extended::place(place, rank);
    }
    let place = place?;
    state.lowest = place == 0;
    if filters::may_punish(sys::load(filters::FILE, &mut state.file)) {
        return Err(Sentence::Filter);
    }
    state.filters = sys::move_up(sys::open(filters::FILE, sys::O_CLOEXEC, 0), sys::high());
    let pid = sys::pid();
    if marker::is_of_another(vars.text(Var::TopasRank), rank, pid) {
        return Err(Sentence::Child);
    }
    let values = &mut state.record.values;
    describe(vars, rank, values, &mut state.kept, &mut state.file);
    state.print = vars.is_yes(Var::TopasPrint);
    let Some(settings) = state.site.read() else {
        return Err(Sentence::Measure);
    };
    let wanted = wanted(settings, values, rank.size);
    if extended::ON {
        state.extended.logs &= wanted;
        state.extended.begin(rank, &mut state.file);
    } else if !wanted {
        return Err(Sentence::Measure);
    }
    state.metric = metric(vars, settings, place);
    values.marks[mark::METRIC] = state.metric.letter();

    let none = core::ptr::null_mut();
    let at_quick_exit = weak!("__cxa_at_quick_exit");
    // SAFETY: the function lives as long as the program, which is never unloaded. quick_exit
    // passes it the same two arguments.
    unsafe {
        if __cxa_atexit(finish::exit, none, none) != 0 {
            return Err(Sentence::NotChosen);
        }
        if at_quick_exit != 0 {
            let register: extern "C" fn(extern "C" fn(*mut c_void, c_int), *mut c_void) -> c_int =
                core::mem::transmute(at_quick_exit);
            register(finish::exit, none);
        }
    }
    if settings.is(Switch::Signals) {
        signals::catch(settings.is(Switch::Sigterm));
    }
    state.counters.open(state.metric);
    sys::times(&mut state.begun);
    // Last: the handlers do nothing as long as this is zero.
    *state.pid.get_mut() = pid;
    Ok(())
}

/// Notes who runs what: at the end the program may have overwritten its environment.
fn describe(
    vars: &Vars<'_>,
    rank: &Rank,
    values: &mut Values<'static>,
    kept: &'static mut [u8],
    room: &mut [u8],
) {
    let uid = sys::uid().into();
    values.numbers[number::UID] = uid;
    values.numbers[number::PE] = rank.rank.into();
    values.numbers[number::NPES] = if rank.size == 0 { UNKNOWN } else { rank.size.into() };
    values.marks[mark::MODE] = job::mode(vars).letter();
    let out = &mut Out::new(kept);
    values.keep(text::UID, out.byte(b'#').dec(uid));
    node::executable(out, room);
    values.keep(text::EXE, out);
    // A list that is cut would name another file.
    if out.put(vars.text(Var::TopasLog)).is_cut() {
        out.rewind(0);
    }
    values.keep(text::LOG, out);
    for var in [Var::Logname, Var::User] {
        if out.is_empty() {
            out.put(vars.text(var));
        }
    }
    if out.is_empty() {
        out.put(values.text(text::UID));
    }
    values.keep(text::USER, out);
    job::write_id(vars, out);
    values.keep(text::JOB, out);
    job::write_partition(vars, out);
    values.keep(text::PART, out);
    out.put(job::step(vars, rank.family).unwrap_or_default());
    values.keep(text::STEP, out);
}

/// Whether the site wants programs like this one measured.
#[inline(never)]
fn wanted(settings: &Settings<'_>, values: &Values<'_>, size: u32) -> bool {
    let [_, uid @ ..] = values.text(text::UID) else {
        return false;
    };
    let program = ProgramFacts {
        is_batch: values.marks[mark::MODE] == Mode::Batch.letter(),
        ranks: size,
        exe: Some(values.text(text::EXE)),
        user: values.text(text::USER),
        uid,
    };
    settings.answer_if_measured(&program).is_ok()
}

/// What the measuring rank at `place` counts.
#[inline(never)]
fn metric(vars: &Vars<'_>, settings: &Settings<'_>, place: u32) -> Metric {
    let mut ops = settings.ops;
    let word = vars.text(Var::TopasOps);
    if !word.is_empty() {
        if let Some(chosen) = Ops::parse(word) {
            ops = chosen;
        } else if place == 0 {
            // One rank says that the word is none.
            say(Sentence::Ops, word, Sentence::BadOps);
        }
    }
    // Where every rank is measured they are to be compared.
    ops.metric(if extended::ON { 0 } else { place }, processor::counts_integers)
}

/// The text that paths are written to.
struct StatePath;

impl PathRoom for StatePath {
    fn with(&mut self, act: impl FnOnce(&mut Out<'_>) -> u64) -> u64 {
        act(out())
    }
}

/// Finds out which rank this is, and how many measuring ranks are lower than it.
fn place(vars: &Vars<'_>, rank: &mut Rank, room: &mut [u8]) -> Result<u32, Sentence> {
    if find(vars, &mut KernelProof { room, path: StatePath }, rank) && rank.size != 1 {
        return chosen(vars, rank);
    }
    *rank = Rank { family: Family::Own, rank: 0, size: 1, id: 0 };
    if !library::is_pvm() {
        if !facts::serial() {
            return Err(Sentence::NoRank);
        }
        rank.id = own_launch();
        return Ok(0);
    }
    // A user has one virtual machine on a host. The kernel told the user id when it started
    // the program: no call for those that come too late.
    const AT_UID: usize = 11;
    let uid = auxiliary(AT_UID) as u64;
    let first = claim(uid);
    if first == 0 {
        return Err(Sentence::NotChosen);
    }
    rank.size = 0;
    rank.rank = u32::from(first != sys::pid());
    rank.id = spread(uid << 32 ^ u64::from(first));
    Ok(rank.rank)
}

/// The id of a launch of one process, which nobody gave one.
pub fn own_launch() -> u64 {
    spread(sys::clock(sys::REAL_TIME) << 22 ^ u64::from(sys::pid()))
}

/// How many measuring ranks of a launch are lower than this one, if it measures: by name, or
/// by choice.
fn chosen(vars: &Vars<'_>, rank: &Rank) -> Result<u32, Sentence> {
    if rank.rank == 0 {
        tell_unmet(vars);
    }
    let mut place = choice::place(rank.id, rank.size, rank.rank);
    if let Some(list) = vars.get(Var::TopasPe) {
        match named::place(list, rank.size, rank.rank) {
            Ok(named) => place = named,
            Err(fault) if rank.rank == 0 => {
                say_by_number(
                    Sentence::Pe as usize,
                    list,
                    Sentence::NotANumber as usize + fault as usize,
                );
            }
            Err(_) => {}
        }
    }
    place.ok_or(Sentence::NotChosen)
}

/// Says what the user asks of a run and this program was not linked for.
fn tell_unmet(vars: &Vars<'_>) {
    // A marker is a child's, or that of `topas-run`, which measures this program. Where that has
    // loaded us it has spoken.
    if cfg!(topas_run) || vars.get(Var::TopasRank).is_some() {
        return;
    }
    if !extended::ON {
        tell_of_link(vars, Var::TopasMeasureAllPe, Sentence::AllPe);
    }
    if library::lacks_profile() {
        tell_of_link(vars, Var::TopasMpi, Sentence::Mpi);
    }
}

#[inline(never)]
fn tell_of_link(vars: &Vars<'_>, var: Var, subject: Sentence) {
    if vars.is_yes(var) {
        let subject = subject as usize;
        let sentence = subject + (Sentence::MpiAtLink as usize - Sentence::Mpi as usize);
        say_by_number(subject, vars.text(var), sentence);
    }
}

#[cfg(not(topas_run))]
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
