//! The command `topas-run`: measures a program that has no module.
//!
//! A rank that does not measure becomes the program at once. On one that does, what the words
//! of the command lead to (`program`, `elf`) tells how: into most programs a library is
//! loaded that begins before them and puts their `environment` back as it was; static
//! programs, scripts of shells and others into which it cannot be loaded are measured from
//! `outside`. A run is never harmed: what cannot be measured runs all the same.

mod counters;
pub mod elf;
mod environment;
mod launch;
mod log;
mod node;
mod options;
mod outside;
mod profile;
pub mod program;
#[allow(unsafe_code)]
mod sys;
mod user_file;
mod way;

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use nix::errno::Errno;
use nix::unistd::{execvp, execvpe};
use topas_config::{Environment, Paths};
use topas_format::env::{TOPAS_MEASURE_ALL_PE, TOPAS_MPI};

use self::environment::Entries;
use self::options::{Request, Wish};
use self::outside::Measured;
use self::profile::{Profile, Wanted};
use self::program::ExecutableKind;
use self::way::{Decision, Way};
use crate::explain::quoted;
use crate::message::say;
use crate::{EXIT_CANNOT_RUN, EXIT_NOT_FOUND, print};

/// Its name.
pub const NAME: &str = "topas-run";

/// Exit code: wrong options; nothing was run. Programs that run others have no other meaning
/// for it.
pub const EXIT_WRONG_OPTION: i32 = 125;

const HELP: &str = "\
Usage: topas-run [OPTION...] [--] PROGRAM [ARGUMENT...]
       mpirun -n 16 topas-run ./a.out input.dat

topas-run runs a program that was linked without TOPAS and measures the program as if it had been
linked with TOPAS: two ranks of a parallel run are measured, and each writes one line to the log.

Options:
  --all-pe       measure every rank; the lines of the ranks go to topas.out
  --outside      load nothing into the program; measure the program, and all that it starts, from
                 outside
  --mpi          profile the MPI calls of every rank; the profile goes to topas-mpi.out, and its
                 table to topas-mpi.txt
  --mpi=paths[:FRAMES]
                 the same, and tell by which callers the program came to each call: 8, or FRAMES
  --mpi=log[:SIZE]
                 the same, and write each call to an event log, topas-mpi.HOST.trace; a thread keeps
                 its newest 64 MiB, or SIZE (1M to 256M)
  --peers        with --mpi: also count messages and bytes for each pair of ranks
  --comms        with --mpi: also count the calls on each communicator
  --waits        with --mpi: also tell why ranks wait for each other: for senders and receivers that
                 are late, and in collectives; --mpi=waits is the same as --mpi --waits
  --counters     with --mpi: also read hardware counters inside and outside of MPI
  --out FILE     with --mpi: write the profile to FILE, and its table beside FILE
  --explain      say what topas-run would do, and why; the program is not run
  --version      print the version
  --help         print this text

Environment: with TOPAS=off no program is measured. With TOPAS_VERBOSE=1 topas-run says why a
program or a quantity is not measured. The manual page is topas-run(1).
";

/// Becomes the program, or waits for it. Returns the exit code if there is nothing to become.
pub fn run(args: &[OsString], env: &Environment, paths: Option<&Paths>) -> i32 {
    let wish = match options::parse(args) {
        Ok(Request::Run(wish)) => wish,
        Ok(Request::Help) => return print(OsStr::new(HELP)),
        Ok(Request::Version) => {
            return print(OsStr::new(concat!("topas-run ", env!("CARGO_PKG_VERSION"), "\n")));
        }
        Err(what) => {
            say!("{NAME}: error: {what}");
            say!("hint: see {NAME} --help");
            return EXIT_WRONG_OPTION;
        }
    };
    run_program_on_panic(&wish.command);
    if env.is_off() && !wish.explain {
        return become_program(&wish.command);
    }
    let decision = Decision::of(&wish, env, paths);
    // A rank into which nothing is loaded need not be looked at: a door in the program acts.
    let unasked = wish.profile.is_none() && matches!(decision.way, Way::Plain(_));
    let profile = if unasked { Profile::Unwanted } else { Profile::of(&wish, env, paths) };
    if wish.explain {
        return print(&explanation(&decision, &profile, &wish));
    }
    decision.warn(env, wish.all);
    warn_of_variables(&decision, &wish, env);
    if let Profile::Cannot(why) = &profile
        && decision.launch.rank.rank == 0
    {
        say!("{NAME}: warning: no MPI profile: {why}");
    }
    let library = match &decision.way {
        Way::Outside(_) => return from_outside(&decision, &profile, &wish, env),
        Way::Plain(_) => None,
        Way::Inside(library) => Some(library),
    };
    if library.is_none() && profile.library().is_none() && wish.profile.is_none() {
        return become_program(&wish.command);
    }
    let mut entries = Entries::of_process(env);
    if let Some(library) = library {
        let behind = decision.program.as_ref().is_some_and(|program| program.behind);
        // The variable holds the library of the profile, too, when ours leaves it.
        let between = behind || profile.library().is_some();
        entries.preload(library, &decision.launch.rank, std::process::id(), between);
    }
    prepare(&mut entries, &profile, &wish);
    become_measured(&wish, env, entries)
}

/// Says by one rank of a launch which of its options a variable cannot replace. A program that
/// has the module says it itself.
fn warn_of_variables(decision: &Decision, wish: &Wish, env: &Environment) {
    let all = env.measures_all() && !wish.all;
    let profile = env.mpi() == Some(true) && wish.profile.is_none();
    let launch = &decision.launch;
    let speaks = launch.is_parallel() && launch.rank.rank == 0 && !launch.is_child;
    if !speaks || !(all || profile) {
        return;
    }
    let Ok(program) = program::find(&wish.command, env) else { return };
    let ExecutableKind::Elf(facts) = program.kind else { return };
    if facts.has_module {
        return;
    }
    if all {
        say!("{NAME}: warning: {TOPAS_MEASURE_ALL_PE} is for the link: here --all-pe measures all");
    }
    if profile && !facts.has_door && !facts.has_profile {
        say!("{NAME}: warning: {TOPAS_MPI} is for the link: here --mpi profiles");
    }
}

/// Has the MPI profile loaded, and told what is wanted.
fn prepare(entries: &mut Entries, profile: &Profile, wish: &Wish) {
    for (name, value) in wish.profile.iter().flat_map(Wanted::variables) {
        entries.set(name, &value);
    }
    if let Profile::Load { library, between } = profile {
        entries.preload_profile(library, std::process::id(), *between);
    }
}

/// A defect in this program must not cost anybody a run: should the code below panic, the
/// program runs after all.
fn run_program_on_panic(command: &[OsString]) {
    let command = command.to_vec();
    std::panic::set_hook(Box::new(move |info| {
        say!("{NAME}: warning: defect in {NAME}: {info}; the program runs unmeasured");
        std::process::exit(become_program(&command));
    }));
}

/// Becomes the program as the words say, which are searched as a shell searches. Comes back only
/// if that fails, with the exit code; the failure has been reported then.
fn become_program(command: &[OsString]) -> i32 {
    let words: Result<Vec<_>, _> =
        command.iter().map(|word| CString::new(word.as_bytes())).collect();
    let Some((first, words)) = words.ok().and_then(|w| Some((w.first()?.clone(), w))) else {
        return cannot_run(command, Errno::EINVAL);
    };
    let Err(error) = execvp(&first, &words);
    cannot_run(command, error)
}

/// Becomes the program with another environment; without it, should that be too long.
fn become_measured(wish: &Wish, env: &Environment, entries: Entries) -> i32 {
    let words: Result<Vec<_>, _> =
        wish.command.iter().map(|word| CString::new(word.as_bytes())).collect();
    let path = program::find(&wish.command, env).map(|program| program.path.into_os_string());
    if let (Ok(words), Ok(path)) = (words, CString::new(path.unwrap_or_default().into_vec())) {
        // As the plain way, which runs a script without a first line by a shell, and which says
        // what fails here.
        let _ = execvpe(&path, &words, &entries.into_c_strings());
    }
    become_program(&wish.command)
}

/// Measures the program in a child; runs it unmeasured if that cannot be.
fn from_outside(decision: &Decision, profile: &Profile, wish: &Wish, env: &Environment) -> i32 {
    let Some(program) = &decision.program else { return become_program(&wish.command) };
    let mut entries = Entries::of_process(env);
    prepare(&mut entries, profile, wish);
    let measured = Measured {
        command: &wish.command,
        program,
        launch: &decision.launch,
        metric: decision.metric,
        settings: &decision.conf.settings(),
        site_log: decision.conf.site_log(),
        all: wish.all,
        logs: decision.logs,
        env,
        entries,
    };
    match measured.run() {
        Ok(code) => code,
        // What is wrong with the program, the plain way says, too.
        Err(_) => become_program(&wish.command),
    }
}

fn cannot_run(command: &[OsString], error: Errno) -> i32 {
    let name = command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    if error == Errno::ENOENT {
        say!("{NAME}: error: no program `{name}`");
        if name.contains('/') {
            say!("cause: {}, or its interpreter is missing", error.desc());
        }
        say!("hint: give a path such as ./a.out, or a name on PATH");
        return EXIT_NOT_FOUND;
    }
    say!("{NAME}: error: cannot run {name}");
    say!("cause: {}", error.desc());
    say!("hint: check that it is an executable file of this machine");
    EXIT_CANNOT_RUN
}

/// A line `what: value` for each fact, the command last.
fn explanation(decision: &Decision, profile: &Profile, wish: &Wish) -> OsString {
    let mut out = OsString::new();
    let mut fact = |what: &str, value: &OsStr| {
        out.push(format!("{:<15}", format!("{what}:")));
        out.push(value);
        out.push("\n");
    };
    let rank = &decision.launch.rank;
    let of = if rank.size == 0 { "unknown".to_owned() } else { rank.size.to_string() };
    let launch = if decision.launch.is_parallel() {
        format!("rank {} of {of}, launch {:016x}", rank.rank, rank.id)
    } else {
        "none: a program alone".to_owned()
    };
    fact("launch", OsStr::new(&launch));
    match &decision.program {
        Some(program) => {
            fact("program", program.path.as_os_str());
            if program.behind || program.path.file_name() != Some(&program.exe) {
                fact("runs", &program.exe);
            }
        }
        None => fact("program", OsStr::new("not looked at")),
    }
    match &decision.way {
        Way::Plain(why) => {
            fact("decision", OsStr::new(&format!("run without measuring: {why}")));
        }
        Way::Inside(library) => {
            fact("decision", OsStr::new("measure, with a library loaded into it"));
            fact("library", library.as_os_str());
        }
        Way::Outside(why) => {
            fact("decision", OsStr::new(&format!("measure from outside: {why}")));
        }
    }
    match profile {
        Profile::Unwanted => {}
        Profile::Load { library, .. } => fact("MPI profile", library.as_os_str()),
        Profile::Cannot(why) => fact("MPI profile", OsStr::new(&format!("none: {why}"))),
    }
    for note in &decision.notes {
        fact("note", OsStr::new(note));
    }
    let words: Vec<_> = wish.command.iter().map(|word| quoted(word)).collect();
    fact("command", &words.join(OsStr::new(" ")));
    out
}
