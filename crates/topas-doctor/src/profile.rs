//! Whether the parts of the MPI profile are there, and the library loads on this node.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use topas_config::Paths;

use crate::sys;

/// The library, and what is wrong.
#[derive(Debug)]
pub struct Profile {
    /// The library that is loaded into programs
    pub library: PathBuf,
    /// Why it does not load, or which part is missing; empty if all is well
    pub faults: Vec<String>,
}

impl Profile {
    /// Looks at an installation. The library is loaded into this process, where it does nothing.
    pub fn of(paths: &Paths) -> Self {
        let library = paths.mpi_library();
        let mut faults: Vec<String> =
            sys::load(library.as_os_str().as_bytes()).err().into_iter().collect();
        let mut parts = vec![paths.mpi_object(), paths.mpi_init_object()];
        if cfg!(target_arch = "x86_64") {
            parts.extend([paths.mpi_wrap_archive(), paths.mpi_wrap_names()]);
        }
        let missing = parts.iter().filter(|part| !part.is_file());
        faults.extend(missing.map(|part| format!("{} is missing", part.display())));
        Profile { library, faults }
    }
}
