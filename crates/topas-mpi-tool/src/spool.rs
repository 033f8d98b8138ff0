//! Where ranks on this node may have their counters.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use topas_config::{Conf, Environment, Paths, command_line};
use topas_format::mpi::{FALLBACK_SPOOL, SPOOL};

/// The configuration of the installation that this program belongs to.
pub fn conf(env: &Environment) -> Conf {
    let argv0 = command_line().into_iter().next().unwrap_or_default();
    Conf::load(Paths::of_this_program(&argv0, env).as_ref(), env)
}

/// The directories that are named, else all in which programs look for room.
pub fn directories(named: &[PathBuf], conf: &Conf, env: &Environment) -> Vec<PathBuf> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let site = conf.mpi().spool;
    let site = (!site.is_empty()).then(|| Path::new(OsStr::from_bytes(site)).to_owned());
    let known = [PathBuf::from(SPOOL), PathBuf::from(FALLBACK_SPOOL)];
    let mut directories: Vec<PathBuf> = Vec::new();
    for directory in env.mpi_spool().into_iter().chain(site).chain(known) {
        if !directories.contains(&directory) {
            directories.push(directory);
        }
    }
    directories
}
