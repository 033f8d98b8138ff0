//! The MPIs of a system: on PATH, where variables lead, and in the places where distributions
//! and vendors put them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use topas_config::Environment;

use crate::catalog::Catalog;
use crate::shadow::{Shadow, TELL_BUILDS, holds_mpi, is_system};

/// Where directories of programs of MPIs usually are. A star is any name.
const USUAL: [&str; 11] = [
    "usr/lib64/*/bin",
    "usr/lib64/mpi/gcc/*/bin",
    "usr/lib/*/bin",
    "usr/mpi/*/*/bin",
    "usr/local/*/bin",
    "opt/*/bin",
    "opt/*/*/bin",
    "opt/intel/oneapi/mpi/*/bin",
    "opt/nvidia/hpc_sdk/*/*/comm_libs/mpi/bin",
    "opt/cray/pe/mpich/*/*/*/*/bin",
    "opt/ibm/spectrum_mpi/bin",
];

/// Entries of a directory that are looked at, for a star.
const MOST: usize = 2000;

/// An MPI that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The directory of its programs.
    pub bin: PathBuf,
    /// The prefix, if it is one of its own and can have a shadow; `None` for the system's.
    pub prefix: Option<PathBuf>,
    /// The shadow it has.
    pub shadow: Option<Shadow>,
}

/// The MPIs below `root`, and where `env` leads: each directory of programs once, the first path
/// to it counts.
pub fn find(root: &Path, env: &Environment, catalog: &Catalog, shadows: &[Shadow]) -> Vec<Found> {
    let told = TELL_BUILDS.into_iter().filter_map(|name| env.get(name));
    let told = told.map(|dir| Path::new(dir).join("bin"));
    let usual = USUAL.iter().flat_map(|pattern| expand(root, pattern));
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut found = Vec::new();
    for bin in env.search_path().chain(told).chain(usual).filter(|bin| bin.is_absolute()) {
        let Ok(real) = fs::canonicalize(&bin) else { continue };
        if seen.contains(&real) || Shadow::at(&real.join("..")).is_some() {
            continue;
        }
        seen.push(real);
        if !holds_mpi(&bin, catalog) {
            continue;
        }
        let prefix = bin.parent().map(Path::to_path_buf).filter(|prefix| !is_system(prefix));
        let shadow = shadows.iter().find(|shadow| shadow.is_of(&bin)).cloned();
        found.push(Found { bin, prefix, shadow });
    }
    found
}

/// The directories that a pattern names, sorted.
fn expand(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut dirs = vec![root.to_path_buf()];
    for part in pattern.split('/') {
        dirs = match part {
            "*" => dirs.iter().flat_map(|dir| children(dir)).collect(),
            part => dirs.iter().map(|dir| dir.join(part)).filter(|dir| dir.is_dir()).collect(),
        };
    }
    dirs
}

fn children(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().take(MOST);
    let hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
    let mut dirs: Vec<_> =
        entries.filter(|entry| !hidden(&entry.file_name())).map(|entry| entry.path()).collect();
    dirs.sort();
    dirs
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn mpis_are_found_where_they_usually_are_each_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let place = |prefix: &str, name: &str| {
            let bin = root.join(prefix).join("bin");
            fs::create_dir_all(&bin).unwrap();
            fs::write(bin.join(name), "").unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        };
        place("usr/lib64/openmpi", "mpicc");
        place("opt/intel/oneapi/mpi/2021.14", "mpiicx");
        place("opt/gcc/14", "gcc");
        place("home/mpich", "mpifort");
        symlink("2021.14", root.join("opt/intel/oneapi/mpi/latest")).unwrap();
        let env: Environment = [
            ("PATH", root.join("none").as_os_str()),
            ("MPI_HOME", root.join("home/mpich").as_os_str()),
        ]
        .into_iter()
        .collect();
        let found = find(&root, &env, &Catalog::built_in(), &[]);
        let prefixes: Vec<_> = found.iter().map(|found| found.prefix.clone().unwrap()).collect();
        let expected = ["home/mpich", "usr/lib64/openmpi", "opt/intel/oneapi/mpi/2021.14"];
        assert_eq!(prefixes, expected.map(|prefix| root.join(prefix)));
    }
}
