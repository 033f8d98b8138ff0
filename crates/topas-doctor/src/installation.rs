//! Which topas.conf the programs read that are linked with this installation.
//!
//! What goes into programs holds that path, so after an installation was moved or unpacked in
//! another place, its programs may obey a configuration that is none of this installation.

use std::path::PathBuf;

use topas_config::Paths;
use topas_driver::relocate::{conf_named_by, other_conf};

/// An installation, and the topas.conf in its objects.
#[derive(Debug)]
pub struct Installation {
    /// Where it stands
    pub prefix: PathBuf,
    /// The topas.conf that programs read; None if the object cannot be read, or names none
    pub programs_read: Option<PathBuf>,
    /// Files that name the topas.conf of another place: file and topas.conf
    pub elsewhere: Vec<(PathBuf, PathBuf)>,
}

impl Installation {
    /// Looks at one object of each kind.
    pub fn of(paths: &Paths) -> Self {
        let module = paths.module("c");
        let parts = [module.clone(), paths.run_library("c", false), paths.mpi_library()];
        let elsewhere = parts.into_iter().filter_map(|part| {
            let conf = other_conf(&part, paths)?;
            Some((part, conf))
        });
        Installation {
            prefix: paths.prefix().to_owned(),
            programs_read: conf_named_by(&module),
            elsewhere: elsewhere.collect(),
        }
    }
}
