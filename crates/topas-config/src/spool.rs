//! Where the MPI profiles of running programs are on a node.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use topas_format::mpi::{FALLBACK_SPOOL, SPOOL};

use crate::{Conf, Environment};

/// All directories in which programs look for room: what the environment names, the site, and
/// those that are known. The first that can be used is where a program of now is.
pub fn spool_directories(conf: &Conf, env: &Environment) -> Vec<PathBuf> {
    let site = Some(conf.mpi().spool).filter(|site| !site.is_empty());
    let site = site.map(|site| PathBuf::from(OsStr::from_bytes(site)));
    let known = [PathBuf::from(SPOOL), PathBuf::from(FALLBACK_SPOOL)];
    let mut directories: Vec<PathBuf> = Vec::new();
    for directory in env.mpi_spool().into_iter().chain(site).chain(known) {
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
    fn each_directory_once_and_in_order() {
        let mut env = Environment::default();
        let conf = Conf::default();
        let names = |env: &Environment| {
            let directories = spool_directories(&conf, env);
            directories.iter().map(|d| d.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&env), [SPOOL, FALLBACK_SPOOL]);
        env.set("TOPAS_MPI_SPOOL", "/scratch");
        assert_eq!(names(&env), ["/scratch", SPOOL, FALLBACK_SPOOL]);
        env.set("TOPAS_MPI_SPOOL", FALLBACK_SPOOL);
        assert_eq!(names(&env), [FALLBACK_SPOOL, SPOOL]);
    }
}
