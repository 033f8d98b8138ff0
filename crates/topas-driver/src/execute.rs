//! Becoming the real program.
//!
//! The process image is replaced, so exit code, signals, output and standard streams
//! are the real program's own. Nothing of the process is changed before.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::{execvp, execvpe};
use topas_config::Environment;
use topas_format::env::TOPAS_LAUNCH_ID;

use crate::message::say;
use crate::plan::{LaunchId, Plan, Role};
use crate::search::Real;
use crate::{EXIT_CANNOT_RUN, launch_id};

/// Becomes the real program as planned. Comes back only if that fails, with the exit
/// code; the failure has been reported then.
pub fn plan(tool: &str, plan: &Plan, env: &Environment) -> i32 {
    let env = changed(env, plan);
    if !plan.added.is_empty() {
        let args: Vec<_> = plan.args.iter().chain(&plan.added).cloned().collect();
        match become_program(&plan.real, &plan.argv0, &args, env.as_ref()) {
            // One argument too many for the system: without ours they may be just right.
            Errno::E2BIG => {}
            error => return cannot_run(tool, &plan.real, error),
        }
    }
    without_addition(tool, &plan.real, &plan.argv0, &plan.args, env.as_ref())
}

/// Becomes the real program with the arguments as they came; with the environment as it came,
/// too, if there is no room for ours.
fn without_addition(
    tool: &str,
    real: &Path,
    argv0: &OsStr,
    args: &[OsString],
    env: Option<&Environment>,
) -> i32 {
    let mut error = become_program(real, argv0, args, env);
    if error == Errno::E2BIG && env.is_some() {
        error = become_program(real, argv0, args, None);
    }
    cannot_run(tool, real, error)
}

/// Becomes the real program with the arguments as they came.
pub fn untouched(
    tool: &str,
    real: &Real,
    argv0: &OsStr,
    args: &[OsString],
    env: &Environment,
) -> i32 {
    let env = (!real.set.is_empty()).then(|| with(env, &real.set));
    without_addition(tool, &real.path, argv0, args, env.as_ref())
}

/// Becomes another program, with this environment if one is given.
pub fn program(path: &Path, argv0: &OsStr, args: &[OsString], env: &Environment) -> i32 {
    let error = become_program(path, argv0, args, Some(env));
    cannot_run(&argv0.to_string_lossy(), path, error)
}

/// The environment of the real program; `None` if it stays as it is.
fn changed(env: &Environment, plan: &Plan) -> Option<Environment> {
    let unset = plan.set.is_empty();
    let mut env = with(env, &plan.set);
    let fresh = match plan.role {
        Role::Launcher(LaunchId::Fresh) => launch_id::fresh(),
        Role::Launcher(LaunchId::Removed) => None,
        _ => return (!unset).then_some(env),
    };
    match fresh {
        Some(id) => env.set(TOPAS_LAUNCH_ID, id),
        None if !env.remove(TOPAS_LAUNCH_ID) && unset => return None,
        None => {}
    }
    Some(env)
}

/// A copy of the environment with these variables set.
fn with(env: &Environment, set: &[(&'static str, OsString)]) -> Environment {
    let mut env = env.clone();
    set.iter().for_each(|(name, value)| env.set(*name, value.clone()));
    env
}

fn cannot_run(tool: &str, real: &Path, error: Errno) -> i32 {
    say!("{tool}: error: cannot run {}", real.display());
    say!("cause: {}", error.desc());
    if error == Errno::E2BIG {
        say!("hint: put the arguments into a response file: {tool} @file");
    } else {
        say!("hint: check the installation of the real {tool}");
    }
    EXIT_CANNOT_RUN
}

/// The words of a command as the system takes them.
fn c_strings(argv0: &OsStr, args: &[OsString]) -> Result<Vec<CString>, Errno> {
    std::iter::once(argv0).chain(args.iter().map(OsString::as_os_str)).map(c_string).collect()
}

fn c_string(word: &OsStr) -> Result<CString, Errno> {
    CString::new(word.as_bytes()).map_err(|_| Errno::EINVAL)
}

fn become_program(
    real: &Path,
    argv0: &OsStr,
    args: &[OsString],
    env: Option<&Environment>,
) -> Errno {
    let (program, args) = match (c_string(real.as_os_str()), c_strings(argv0, args)) {
        (Ok(program), Ok(args)) => (program, args),
        (Err(error), _) | (_, Err(error)) => return error,
    };
    // The path has a slash, so nothing is searched; a script without #! runs in sh.
    let Some(env) = env else { return execvp(&program, &args).unwrap_err() };
    let env: Vec<CString> = env
        .iter()
        .filter_map(|(name, value)| {
            let mut entry = name.to_owned();
            entry.push("=");
            entry.push(value);
            CString::new(entry.into_vec()).ok()
        })
        .collect();
    execvpe(&program, &args, &env).unwrap_err()
}
