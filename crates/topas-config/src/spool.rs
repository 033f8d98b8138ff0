//! Where the MPI profiles of running programs are on a node.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use topas_format::mpi_conf::{FALLBACK_SPOOL, SPOOL};

use crate::{Conf, Environment};

/// The directories in which ranks may have their counters: that which the environment names
/// alone, for whoever names one means no other; else that of the site and those that are known.
/// The first that can be used is where a program of now is.
pub fn spool_directories(conf: &Conf, env: &Environment) -> Vec<PathBuf> {
    if let Some(named) = env.mpi_spool() {
        return vec![named];
    }
    let site = Some(conf.mpi().spool).filter(|site| !site.is_empty());
    let site = site.map(|site| PathBuf::from(OsStr::from_bytes(site)));
    let known = [PathBuf::from(SPOOL), PathBuf::from(FALLBACK_SPOOL)];
    let mut directories: Vec<PathBuf> = Vec::new();
    for directory in site.into_iter().chain(known) {
        if !directories.contains(&directory) {
            directories.push(directory);
        }
    }
    directories
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_directory_alone_or_all_that_are_known() {
        let mut env = Environment::default();
        let conf = Conf::default();
        let names = |env: &Environment| {
            let directories = spool_directories(&conf, env);
            directories.iter().map(|d| d.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&env), [SPOOL, FALLBACK_SPOOL]);
        env.set("TOPAS_MPI_SPOOL", "/scratch");
        assert_eq!(names(&env), ["/scratch"]);
    }
}
