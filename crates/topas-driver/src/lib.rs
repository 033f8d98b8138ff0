//! The compiler and launch driver that stands in front of `mpicc`, `mpif90`, `mpiexec`.
//!
//! One call is one path through these modules: [`catalog`] tells from the name whether a compiler,
//! a linker or a launcher is meant; [`search`] finds the real program on PATH, [`circle`] sees to
//! it that it does not call this one again, [`shadow`] names those of an MPI that has a directory
//! of its own; [`cld`] and [`decision`] read the arguments with the tables of [`options`] and the
//! files of [`response`] and say whether an executable is linked or somebody asks how to link one;
//! [`symbols`] tells what its objects call, by `elf_records`; [`plan`] chooses the module and puts
//! the command together; [`execute`] becomes it. [`profile`] adds the library of MPI profiles where
//! that is asked for, as [`mpi_libraries`] says MPI is linked. [`package`] knows questions to
//! pkg-config. [`explain`] prints the plan in place of running it, [`admin`] answers for the driver
//! under its own name, [`links`] makes its names, and [`relocate`] writes another prefix into the
//! [`slot`]s of what goes into programs; [`command`] is `topas`, [`mpi_command`] makes
//! shadows of the MPIs that [`mpis`] finds, [`mod@run`] is `topas-run`, which counts by
//! [`kernel_event`].
//!
//! A build is never harmed: arguments are never rebuilt, at most one thing is added at
//! their end, the word `topas.cld` is taken out, and whatever goes wrong here, a panic
//! included, ends in the real program with the arguments as they came.
#![deny(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod admin;
pub mod catalog;
pub mod circle;
pub mod cld;
pub mod command;
pub mod decision;
mod elf_records;
pub mod execute;
pub mod explain;
pub mod kernel_event;
pub mod launch_id;
pub mod links;
mod message;
pub mod module;
pub mod mpi_command;
pub mod mpi_libraries;
pub mod mpis;
pub mod options;
pub mod package;
pub mod plan;
pub mod profile;
pub mod relocate;
pub mod response;
pub mod run;
pub mod search;
pub mod shadow;
pub mod slot;
pub mod symbols;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use topas_config::paths::{DRIVER, Executable};
use topas_config::{Environment, Paths};

use crate::catalog::{Catalog, Personality};
use crate::message::say;
use crate::options::{COMPILER, LINKER};
use crate::plan::Plan;
use crate::profile::Profile;
use crate::search::NotFound;

/// The option that shows the plan in place of running it.
pub const EXPLAIN: &str = "--topas-explain";

/// Exit code: done, or shown.
pub const EXIT_OK: i32 = 0;
/// Exit code: the answer could not be given: not written on standard output, a link not
/// made, nothing to tell.
pub const EXIT_CANNOT_WRITE: i32 = 1;
/// Exit code: the driver was called under its own name with a wrong option.
pub const EXIT_USAGE: i32 = 2;
/// Exit code: the real program was found and could not be run.
pub const EXIT_CANNOT_RUN: i32 = 126;
/// Exit code: no real program of that name on PATH.
pub const EXIT_NOT_FOUND: i32 = 127;

/// Does what this process was called for. Comes back only if there is nothing to
/// become: after an explanation, an answer under the own name, or an error. `args` is the command
/// line with the own name. Returns the exit code.
pub fn run(args: Vec<OsString>) -> i32 {
    let env = Environment::of_process();
    let argv0 = args.first().cloned().unwrap_or_default();
    let own = Executable::of_this_program(&argv0, &env);
    run_real_program_on_panic(&args, &env, own.as_ref());

    let name = Path::new(&argv0).file_name().unwrap_or_default().to_owned();
    let rest = args.get(1..).unwrap_or_default();
    let paths = own.as_ref().and_then(|own| Paths::around(&own.path));
    if name == OsStr::new(DRIVER) {
        return admin::answer(rest, &env, own.as_ref(), paths.as_ref());
    }
    if name == OsStr::new(run::NAME) {
        return run::run(rest, &env, paths.as_ref());
    }
    if name == OsStr::new(command::NAME) {
        return command::run(rest, &env, own.as_ref(), paths.as_ref());
    }
    let tool = name.to_string_lossy();
    let explained = rest.iter().any(|arg| arg == EXPLAIN);
    if env.is_off() && !explained {
        return off(&argv0, rest, &env, own.as_ref());
    }
    let plan = match Plan::of(&argv0, rest, &env, own.as_ref(), paths.as_ref()) {
        Ok(plan) => plan,
        Err(none) => return not_found(&tool, own.as_ref(), &none),
    };
    if plan.explain {
        return print(&explain::text(&plan));
    }
    if env.is_verbose() {
        if let Some(why) = plan.left_alone() {
            say!("{tool}: note: linked without the TOPAS module: {why}");
        }
        for note in &plan.notes {
            say!("{tool}: note: {note}");
        }
        if let Some(Profile { words: Err(why), .. }) = &plan.profile {
            say!("{tool}: note: linked without the MPI profile: {why}");
        }
    }
    execute::plan(&tool, &plan, &env)
}

/// TOPAS is off: the real program with the arguments as they came, but for the word that
/// only this driver knows.
fn off(argv0: &OsStr, args: &[OsString], env: &Environment, own: Option<&Executable>) -> i32 {
    let name = Path::new(argv0).file_name().unwrap_or_default();
    let tool = name.to_string_lossy();
    let catalog = Catalog::built_in();
    let table = match catalog.personality(name) {
        Some(Personality::Launcher | Personality::PackageQuery) => None,
        Some(Personality::Linker) => Some(LINKER),
        _ => Some(COMPILER),
    };
    match search::real_program(argv0, own, env, &catalog) {
        Ok(real) => {
            let argv0 = catalog.argv0(argv0, &real.path);
            let read = &response::from_file;
            let without = table.and_then(|table| cld::without(args, table, read));
            execute::untouched(&tool, &real, &argv0, without.as_deref().unwrap_or(args), env)
        }
        Err(none) => not_found(&tool, own, &none),
    }
}

/// A defect in this program must not cost anybody a build: should the code above panic,
/// the real program runs after all.
fn run_real_program_on_panic(args: &[OsString], env: &Environment, own: Option<&Executable>) {
    let (args, env, own) = (args.to_vec(), env.clone(), own.cloned());
    std::panic::set_hook(Box::new(move |info| {
        let argv0 = args.first().cloned().unwrap_or_default();
        let name = Path::new(&argv0).file_name().unwrap_or_default();
        if env.is_verbose() {
            say!("{}: warning: defect in topas-driver: {info}", name.to_string_lossy());
        }
        if let Ok(real) = search::real_program(&argv0, own.as_ref(), &env, &Catalog::default()) {
            let told = real.path.clone().into_os_string();
            let rest = args.get(1..).unwrap_or_default();
            execute::untouched(&name.to_string_lossy(), &real, &told, rest, &env);
        }
    }));
}

fn not_found(tool: &str, own: Option<&Executable>, none: &NotFound) -> i32 {
    if let Some(shadow) = none.shadow.as_ref().filter(|_| none.circle.is_none()) {
        say!("{tool}: error: there is no program {}", shadow.real_bin.join(tool).display());
        say!("cause: the MPI has changed or gone since {} was made", shadow.dir.display());
        say!("hint: topas mpi refresh {}", shadow.name().to_string_lossy());
        return EXIT_NOT_FOUND;
    }
    say!("{tool}: error: no program `{tool}` on PATH behind the TOPAS driver of that name");
    if let Some(own) = own {
        say!("the driver: {}", own.path.display());
    }
    match &none.circle {
        Some(last) => {
            say!("cause: {} calls `{tool}` by its name again, and so itself", last.display());
            say!("hint: let it call the real {tool} by a path, or put that behind it on PATH");
        }
        None => say!("hint: load an MPI module, or add the directory of the real {tool} to PATH"),
    }
    EXIT_NOT_FOUND
}

/// Prints on standard output. Returns the exit code.
pub(crate) fn print(text: &OsStr) -> i32 {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => EXIT_OK,
        Err(error) => {
            say!("{DRIVER}: error: cannot write to standard output: {error}");
            EXIT_CANNOT_WRITE
        }
    }
}
