//! Where ranks on this node may have their counters.

use std::path::PathBuf;

use topas_config::{Conf, Environment, Paths, command_line, spool_directories};

/// The configuration of the installation that this program belongs to.
pub fn conf(env: &Environment) -> Conf {
    let argv0 = command_line().into_iter().next().unwrap_or_default();
    Conf::load(Paths::of_this_program(&argv0, env).as_ref(), env)
}

/// The directories that are named, else all in which programs look for room.
pub fn directories(named: &[PathBuf], conf: &Conf, env: &Environment) -> Vec<PathBuf> {
    if named.is_empty() { spool_directories(conf, env) } else { named.to_vec() }
}
